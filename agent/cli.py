"""The `sgam` command.  Each command loads only what it needs, so that help and reads need no model library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

import typer

from ..memory_store.errors import BackendError, SgamError, StoreError
from .commands import ingest, read, scenario, schema, settle, write
from .commands.common import complain

OK: Final = 0
BUG: Final = 70
INTERRUPTED: Final = 130
_EXIT_CODES: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (StoreError, 4),
    (BackendError, 5),
    (SgamError, 3),
    (OSError, 3),
)
_Usage: Final[type[Exception]] = typer.BadParameter.__mro__[1]  # typer brings its own click, or takes the installed one

_HELP: Final = """Typed facts that stay correct when they change.

Every command takes --db URL (or the variable SGAM_DB) and --tenant ID; those that read take --json: lists are arrays,
single things are an object or null, times are ISO 8601 in UTC.

\b
Exit codes:
  0    done; also when nothing is known
  1    done, but: an expectation of a scenario does not hold, a stored
       schema differs, an episode of `ingest` wants another run
  2    the command line is wrong
  3    bad input: a file, a line, a schema, a name, a number
  4    the store failed or is not there
  5    the model failed or is not there
  70   a bug in sgam
  130  interrupted; what was committed is kept
"""

app = typer.Typer(name="sgam", help=_HELP, rich_markup_mode=None, add_completion=False)

_COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "ingest": ingest.ingest,
    "current": read.current,
    "at": read.at,
    "history": read.history,
    "facts": read.facts,
    "subjects": read.subjects,
    "explain": read.explain,
    "holds": settle.holds,
    "confirm": settle.confirm,
    "dismiss": settle.dismiss,
    "quarantine": settle.quarantine,
    "retry": settle.retry,
    "set": write.set_value,
    "retract": write.retract,
    "forget": write.forget,
    "scenario": scenario.scenario,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
app.add_typer(schema.app, name="schema")


@app.callback(invoke_without_command=True)
def _sgam(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    _prepare_streams()
    try:
        code = app(args=arguments, prog_name="sgam", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit must not fail again
        return 1
    except BaseException as error:  # noqa: BLE001 - a user sees one line, whatever it was
        return _failed(error)
    if code == INTERRUPTED:
        return _failed(KeyboardInterrupt())
    return code if isinstance(code, int) else OK


def _prepare_streams() -> None:
    """Make output possible where a stream is closed or knows few letters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _failed(error: BaseException) -> int:
    """Say what went wrong; the exit code.  A bug keeps its traceback for those who ask for it."""
    if isinstance(error, SystemExit):
        raise error
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        complain("interrupted", "what was committed is kept; run the same command again to go on")
        return INTERRUPTED
    if isinstance(error, _Usage):
        complain(getattr(error, "format_message", error.__str__)(), "see `sgam --help` and `sgam COMMAND --help`")
        return 2
    for kind, code in _EXIT_CODES:
        if isinstance(error, kind):
            complain(str(error), getattr(error, "hint", ""))
            return code
    if os.environ.get("SGAM_DEBUG"):
        raise error
    complain(f"a bug in sgam: {type(error).__name__}: {error}", "set SGAM_DEBUG=1 to see where, and report it")
    return BUG


if __name__ == "__main__":
    sys.exit(main())

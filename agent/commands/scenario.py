"""The command that replays scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ...memory_store.errors import InvalidUrl, SgamError
from ...memory_store.store import redacted
from ..text import printable
from .common import complain

if TYPE_CHECKING:
    from ...memory_store.store import Store


def scenario(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Scenarios in JSON.")],
    *,
    store: Annotated[
        str, typer.Option("--store", metavar="URL", help="memory: or sqlite:///NAME (see above).")
    ] = "memory:",
) -> None:
    """Replay scenarios and compare with what they expect.

    A scenario is a schema and a list of steps against an empty store; no model is asked.

    Prints a line per file, and one for each expectation that did not hold. Each scenario starts from an empty store of
    its own: of a SQLite URL only the file's name is used, in a temporary folder, so that no database is touched.

    Exits 0 when every expectation holds, 1 when one does not, 3 when a file is no scenario.

    A scenario is {"name", "why", "schema", "steps"}; a step is one of commit, read, timeline, mark, retract, forget,
    confirm, dismiss, now, reopen and tenant, with "expect" beside it.

    Example: sgam scenario tests/scenarios/*.json --store sqlite:///scenario.db
    """
    codes = [_play(file, store) for file in files]
    if len(files) > 1:
        typer.echo(f"{codes.count(0)} of {len(files)} hold", err=True)
    if any(codes):
        raise typer.Exit(max(codes))


def _play(file: Path, url: str) -> int:
    from ..scenario import load, run

    with _workplace(url) as place:
        try:
            played = load(file)
        except SgamError as error:
            complain(f"{file}: {error}", error.hint)
            return 3
        failures = run(played, place.open, folder=place.folder)
    typer.echo(f"{'FAIL' if failures else 'ok  '}  {printable(file)}  {printable(played.why or played.name)}")
    for failure in failures:
        typer.echo(f"      {printable(failure)}")
    return 1 if failures else 0


@dataclass(slots=True)
class _Workplace:
    """Opens one empty store, and the same one again."""

    url: str
    folder: Path | None = None
    kept: Store | None = None

    def open(self) -> Store:
        from ...memory_store.store import open_store

        if self.folder is not None:
            return open_store(self.url)
        if self.kept is None:  # a store in memory lives as long as the object
            self.kept = open_store(self.url)
        return self.kept


@contextmanager
def _workplace(url: str) -> Iterator[_Workplace]:
    scheme, _, rest = url.partition(":")
    if scheme == "memory":
        yield _Workplace(url)
        return
    if scheme != "sqlite" or not rest.startswith("///") or not Path(rest[3:]).name:
        raise InvalidUrl(f"store {redacted(url)!r}: scenarios cannot run there", hint="use memory: or sqlite:///NAME")
    with TemporaryDirectory(prefix="sgam-scenario-") as folder:
        file = Path(folder) / Path(rest[3:]).name
        yield _Workplace(f"sqlite:///{file}", Path(folder))

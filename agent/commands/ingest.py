"""The command that turns a conversation into facts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from ...memory_store.errors import InvalidInput, SgamError
from .common import AsJson, Db, Model, SchemaFile, TenantId, answer, complain, opened, read_schema

if TYPE_CHECKING:
    from ...memory_store.schema import MemorySchema
    from ..ingest import Gate, Ingest, Line, Tally


def ingest(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Episodes as JSON Lines; - reads standard input.")],
    *,
    db: Db,
    model: Model,
    schema: SchemaFile = None,
    tenant: TenantId = "default",
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="Take lines of other tenants too.")] = False,
    trust_source: Annotated[bool, typer.Option("--trust-source", help="Take the source user_confirmed.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Stop after N episodes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Extract from each episode of a file, decide and store.

    A line is {"observed_at", "text", "episode_id"?, "speaker"?, "source"?, "session_id"?, "zone"?, "tenant_id"?,
    "retention"?}. A file is checked as a whole before anything is written; standard input is checked line by line.

    May be stopped at any point: the next run goes on from there and does nothing twice. Exits 1 when the model gave
    nothing usable for an episode (run again), 3 when the store refused one.

    Example: sgam ingest chat.jsonl --schema schema.json --model local --db sqlite:///memory.db
    """
    from ..ingest import Gate, Ingest

    known = read_schema(schema) or _stored_schema(db)
    gate = Gate(schema=known, tenant=tenant, all_tenants=all_tenants, trust_source=trust_source)
    total = None if _is_stream(file) else _checked(file, gate)
    with opened(db, schema=known, model=model) as memory:
        job = Ingest(memory, _problem)
        started, finished = time.monotonic(), False
        try:
            _run(job, file, gate, total=_least(total, limit), limit=limit)
            finished = True
        finally:
            _report(job.tally, time.monotonic() - started, finished=finished, as_json=as_json)
    if code := _code(job.tally):
        raise typer.Exit(code)


def _stored_schema(db: str) -> MemorySchema:
    with opened(db) as memory:
        return memory.schema


def _is_stream(file: str) -> bool:
    return file == "-" or (Path(file).exists() and not Path(file).is_file())


def _least(total: int | None, limit: int | None) -> int | None:
    known = [number for number in (total, limit) if number is not None]
    return min(known, default=None)


@contextmanager
def _source(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below; only its opening is judged here
    except OSError as error:
        raise InvalidInput(f"{file}: {error.strerror}", hint="name a JSON Lines file") from error
    with stream:
        yield stream


def _checked(file: str, gate: Gate) -> int:
    """The number of episodes, all of them sound."""
    from ..ingest import read_lines

    with _source(file) as stream:
        return sum(1 for _ in read_lines(stream, file, gate))


def _run(job: Ingest, file: str, gate: Gate, *, total: int | None, limit: int | None) -> None:
    from itertools import islice

    from ..ingest import read_lines

    with _source(file) as stream, _progress(total) as step:
        for line in job.run(islice(read_lines(stream, file if file != "-" else "standard input", gate), limit)):
            step(line)


@contextmanager
def _progress(total: int | None) -> Iterator[Any]:
    """Something to call after each episode: a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield _no_progress
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ..render import console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(sys.stderr), transient=True) as progress:
        task = progress.add_task("episodes", total=total)
        yield lambda line: progress.advance(task)


def _no_progress(line: Line) -> None:
    pass


def _problem(line: Line, error: SgamError) -> None:
    complain(f"line {line.number}, episode {line.episode.episode_id}: {error}", error.hint)


def _report(tally: Tally, seconds: float, *, finished: bool, as_json: bool) -> None:
    if as_json:
        answer(_summary(tally, seconds, finished=finished))
        return
    if not tally.episodes:  # it ended before the first one, and the error says why
        return
    from .. import render

    fresh = tally.episodes.total() - tally.done_before
    each = f", {seconds / fresh:.2f} s per new episode" if fresh else ""
    render.show(*render.tally(tally), f"time:       {seconds:.1f} s{each}")
    if tally.episodes["partial"]:
        render.show(f"{tally.episodes['partial']} answers were cut; `sgam retry EPISODE` asks again")


def _summary(tally: Tally, seconds: float, *, finished: bool) -> dict[str, Any]:
    from ..ingest import FATES, STATUSES

    return {
        "finished": finished,
        "episodes": {"total": tally.episodes.total(), **{name: tally.episodes[name] for name in STATUSES}},
        "done_before": tally.done_before,
        "candidates": {"total": tally.candidates, **{name: tally.fates[name] for name in FATES}},
        "usage": dict(tally.usage),
        "seconds": round(seconds, 3),
    }


def _code(tally: Tally) -> int:
    if tally.episodes["refused"]:
        return 3
    return 1 if tally.episodes["failed"] or tally.episodes["captured"] else 0

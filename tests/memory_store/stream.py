"""A stream of episodes that is the same in every process, for tests that kill one or run several.

As a program it forks a writer for each line of its input, a JSON list: the file for what the writer prints, then the
arguments of `write`.  It answers with the writer's process id.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sgam.memory_store.ledger import Ledger
from sgam.memory_store.model import Candidate, Episode, Evidence, Key, Outcome, Quarantined, QuarantineReason
from sgam.memory_store.schema import MemorySchema
from sgam.memory_store.sqlite import SqliteStore
from sgam.memory_store.values import encode

STREAM_SCHEMA = MemorySchema.from_json(
    {
        "name": "stream",
        "version": 1,
        "types": {
            "person": {
                "attributes": {
                    "home": {"type": "text", "on_equal_time": "last_recorded"},
                    "work": {"type": "text"},
                    "habit": {"type": "text", "promote_after": 2},
                }
            }
        },
    }
)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def stream(first: int, last: int, *, keys: int = 3, who: str = "e") -> Iterator[tuple[Episode, Outcome]]:
    """The episodes `first` to `last` (exclusive), each with zero to three candidates and sometimes a quarantine row."""
    for number in range(first, last):
        chance = random.Random(f"{number} {who}")
        said = Episode(
            text=f"{who} says number {number}", observed_at=BEGIN + timedelta(hours=number), episode_id=f"{who}{number}"
        )
        lost = Quarantined(reason=QuarantineReason.MALFORMED, message="no JSON", raw="{")
        made = tuple(_candidate(chance, said, keys) for _ in range(chance.randrange(1, 4)))
        yield said, Outcome(candidates=made, quarantined=(lost,) * chance.randrange(2))


def _candidate(chance: random.Random, said: Episode, keys: int) -> Candidate:
    since = BEGIN + timedelta(hours=chance.randrange(500))
    lasts = chance.choice([None, None, chance.randrange(1, 90)])
    value = chance.choice(["Porto", "Lisbon", "Faro", "Braga", None])
    return Candidate(
        key=Key("person", f"p{chance.randrange(keys)}", chance.choice(["home", "home", "work", "habit"])),
        value=None if value is None else encode(value),
        valid_from=since,
        source="user",
        evidence=(Evidence(episode_id=said.episode_id, start=0, end=4, quote=said.text[:4]),),
        valid_until=None if lasts is None else since + timedelta(hours=lasts),
    )


def write(file: str, first: int, last: int, keys: int, who: str) -> None:
    """Commit a part of the stream to a database file and print a line for each episode, then `done`."""
    ledger = Ledger(SqliteStore(Path(file)), STREAM_SCHEMA)
    for said, outcome in stream(first, last, keys=keys, who=who):
        receipt = ledger.commit("t", said, outcome)
        print(said.episode_id, receipt.known_at and receipt.known_at.isoformat(), flush=True)
    print("done", flush=True)


def nursery() -> None:
    """See the module; a forked writer has everything loaded, which takes a fresh one half a second."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        output, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            _be_writer(Path(output), arguments)
        print(child, flush=True)


def _be_writer(output: Path, arguments: list[Any]) -> None:
    with output.open("w", encoding="utf-8") as stream_of_lines, contextlib.redirect_stdout(stream_of_lines):
        try:
            write(*arguments)
        except Exception:  # noqa: BLE001 - whatever it is, the test shows it
            traceback.print_exc(file=stream_of_lines)
        stream_of_lines.flush()
        os._exit(0)


if __name__ == "__main__":
    nursery()

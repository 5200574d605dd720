"""A writer that is killed at any moment leaves whole episodes, and the rest can follow."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.sqlite import SqliteStore
from sgam.memory_store.store import Belief, FactFilter, View
from sgam.memory_store.timeline import timeline
from sgam.memory_store.writer import key_state

from .stream import STREAM_SCHEMA, stream
from .writers import Nursery, Writer

KILLS = 50
PER_FILE = 10
"""Kills before a file is finished and a new one begun."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    ledger = Ledger(SqliteStore(path), STREAM_SCHEMA)
    yield ledger
    ledger.store.close()


def whole_episodes(path: Path, total: int) -> int:
    """How many episodes are there, after a check that each of them is there as a whole and the file is sound."""
    sound = sqlite3.connect(path)
    assert sound.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert sound.execute("pragma foreign_key_check").fetchall() == []
    sound.close()
    with opened(path) as ledger:
        return ledger.store.read("t", lambda view: count_whole(view, total))


def count_whole(view: View, total: int) -> int:
    there = 0
    for said, outcome in stream(0, total):
        row = view.episode(said.episode_id)
        if row is None:
            continue
        made = view.candidates_of_episode(row.episode_no)
        assert row.status == "complete"
        assert len(made) == len(outcome.candidates)
        assert len(view.quarantine(row.episode_no)) == len(outcome.quarantined)
        assert all(view.decisions(candidate.candidate_id) for candidate in made)
        assert all(view.evidence(candidate.candidate_id) for candidate in made)
        assert there == said_before(said.episode_id), "an episode is there, but not the one before it"
        there += 1
    check_facts(view)
    return there


def said_before(episode_id: str) -> int:
    return int(episode_id.removeprefix("e"))


def check_facts(view: View) -> None:
    rows = [row for entry in view.episodes() for row in view.candidates_of_episode(entry.episode_no)]
    for key in {row.key for row in rows}:
        wanted = timeline(key_state(view.key_status(key)).live)
        assert [(fact.valid_from, fact.valid_to, fact.value) for fact in view.open_facts(key)] == [
            (stretch.start, stretch.end, stretch.value) for stretch in wanted
        ]


def beliefs(path: Path) -> list[Any]:
    """All that was ever believed, without the times at which it was."""
    with opened(path) as ledger:
        found = ledger.store.read("t", lambda view: view.facts(FactFilter(), Belief(ever=True)))
    return [
        (
            r.fact.fact_id,
            r.fact.subject,
            r.fact.attribute,
            r.fact.value,
            r.fact.valid_from,
            r.fact.valid_to,
            r.episode_id,
        )
        for r in found
    ]


def kill(writer: Writer, pause: float, *, early: bool) -> int:
    """Kill a writer, unless `early` after it committed a little; how many episodes it had acknowledged before."""
    writer.wait_for_lines(0 if early else 1)
    time.sleep(pause)
    lines = writer.kill()
    assert "done" not in lines, "the stream ended before the kill"
    return len(lines)


def test_after_each_of_fifty_kills_the_store_is_before_or_after_an_episode(nursery: Nursery, tmp_path: Path) -> None:
    chance = random.Random(11)
    done, path = 0, tmp_path / "0.db"
    for number in range(KILLS):
        early = number % PER_FILE in {0, 1, 5}  # so early that there may be no file, or no table, yet
        acknowledged = kill(nursery.writer(path, done, done + 10_000), chance.random() * 0.05, early=early)
        there = whole_episodes(path, done + acknowledged + 2)

        assert there in {done + acknowledged, done + acknowledged + 1}
        done = there
        if number % PER_FILE == PER_FILE - 1:
            finish(path, done + 5)
            finish(tmp_path / "uninterrupted.db", done + 5)

            assert beliefs(path) == beliefs(tmp_path / "uninterrupted.db")
            (tmp_path / "uninterrupted.db").unlink()
            done, path = 0, tmp_path / f"{number}.db"


def finish(path: Path, total: int) -> None:
    """Commit the whole stream from its beginning, as a caller would who does not know how far it got."""
    with opened(path) as ledger:
        for said, outcome in stream(0, total):
            ledger.commit("t", said, outcome)


def test_a_log_that_was_left_behind_is_read(nursery: Nursery, tmp_path: Path) -> None:
    writer = nursery.writer(tmp_path / "ledger.db", 0, 10_000)
    writer.wait_for_lines(5)
    writer.kill()

    assert (tmp_path / "ledger.db-wal").stat().st_size > 0
    assert whole_episodes(tmp_path / "ledger.db", 2_000) >= 5


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.99])
def test_a_log_that_was_torn_gives_whole_episodes(tmp_path: Path, cut: float) -> None:
    with opened(tmp_path / "ledger.db") as ledger:
        for said, outcome in stream(0, 8):
            ledger.commit("t", said, outcome)
        (tmp_path / "torn").mkdir()
        for name in ("ledger.db", "ledger.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / "torn" / name)
    log = tmp_path / "torn" / "ledger.db-wal"
    content = log.read_bytes()
    log.write_bytes(content[: int(len(content) * cut)])

    assert whole_episodes(tmp_path / "torn" / "ledger.db", 8) <= 8

"""Eight processes and one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.records import EpisodeRow
from sgam.memory_store.sqlite import SqliteStore, connection
from sgam.memory_store.store import Belief, FactFilter, View, open_store
from sgam.memory_store.timeline import timeline
from sgam.memory_store.writer import key_state

from .ledgers import Claim, Notebook, day, episode
from .stream import STREAM_SCHEMA, stream
from .writers import Nursery, Writer

PROCESSES = 8
EACH = 10


def printed(writers: list[Writer]) -> list[list[str]]:
    """The lines that each process printed; all run at the same time, and all must reach their end."""
    lines = [writer.wait() for writer in writers]
    assert [written[-1:] for written in lines] == [["done"]] * len(writers), lines
    return [written[:-1] for written in lines]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    made = Ledger(SqliteStore(path), STREAM_SCHEMA)
    yield made
    made.store.close()


def whole(view: View) -> dict[str, Any]:
    """The rows of a tenant that matter here."""
    episodes = view.episodes()
    rows = [row for entry in episodes for row in view.candidates_of_episode(entry.episode_no)]
    return {
        "episodes": episodes,
        "candidates": rows,
        "decided": [len(view.decisions(row.candidate_id)) for row in rows],
        "quarantine": view.quarantine(),
        "facts": {key: view.open_facts(key) for key in {row.key for row in rows}},
        "states": {key: key_state(view.key_status(key)) for key in {row.key for row in rows}},
    }


@pytest.mark.parametrize("keys", [1, 5], ids=["one key", "several keys"])
def test_nothing_is_lost_and_nothing_overlaps(nursery: Nursery, path: Path, keys: int) -> None:
    writers = [nursery.writer(path, 0, EACH, keys=keys, who=f"writer{who}-") for who in range(PROCESSES)]
    lines = printed(writers)
    ledger = Ledger(SqliteStore(path), STREAM_SCHEMA)
    found = ledger.store.read("t", whole)
    ledger.store.close()
    told = [outcome for who in range(PROCESSES) for _, outcome in stream(0, EACH, keys=keys, who=f"writer{who}-")]
    times = [line.split()[1] for written in lines for line in written]

    assert len(found["episodes"]) == PROCESSES * EACH
    assert len(found["candidates"]) == sum(len(outcome.candidates) for outcome in told)
    assert len(found["quarantine"]) == sum(len(outcome.quarantined) for outcome in told)
    assert all(found["decided"])
    assert len(set(times)) == PROCESSES * EACH
    for key, facts in found["facts"].items():
        assert all(one.valid_to is not None and one.valid_to <= two.valid_from for one, two in pairwise(facts))
        wanted = timeline(found["states"][key].live)
        assert [(fact.valid_from, fact.valid_to, fact.value) for fact in facts] == [
            (stretch.start, stretch.end, stretch.value) for stretch in wanted
        ]


def test_each_writer_sees_its_own_times_grow(nursery: Nursery, path: Path) -> None:
    lines = printed([nursery.writer(path, 0, 5, keys=1, who=f"writer{who}-") for who in range(2)])
    times = [[line.split()[1] for line in written] for written in lines]

    assert times == [sorted(written) for written in times]


def test_the_same_episodes_from_all_are_decided_once_and_all_get_the_same_receipt(
    nursery: Nursery, path: Path, ledger: Ledger
) -> None:
    lines = printed([nursery.writer(path, 0, 10, keys=2, who="same-") for _ in range(PROCESSES)])
    found = ledger.store.read("t", whole)

    assert lines == [lines[0]] * PROCESSES
    assert len(found["episodes"]) == 10
    assert len(found["candidates"]) == sum(len(outcome.candidates) for _, outcome in stream(0, 10, keys=2, who="same-"))


def test_all_may_open_a_new_file_at_once(nursery: Nursery, path: Path) -> None:
    for number in range(5):
        writers = [nursery.writer(path.with_name(f"{number}.db"), 0, 0) for _ in range(PROCESSES)]

        assert printed(writers) == [[]] * PROCESSES


def test_a_file_that_another_process_makes_meanwhile_is_ours(path: Path) -> None:
    real = sqlite3.connect(path)

    class Overtaken:
        """A connection whose first answer is out of date when it arrives."""

        def execute(self, statement: str) -> sqlite3.Cursor:
            (answer,) = real.execute(statement).fetchone()
            SqliteStore(path).close()
            return sqlite3.connect(":memory:").execute("select ?", (answer,))

    connection._recognise(cast("sqlite3.Connection", Overtaken()), path)
    real.close()


@pytest.mark.parametrize("url", ["memory:", "sqlite"])
def test_threads_may_share_a_store(url: str, path: Path) -> None:
    ledger = Ledger(open_store(f"sqlite:///{path}" if url == "sqlite" else url), STREAM_SCHEMA)

    def tell(who: int) -> None:
        for said, outcome in stream(0, 10, keys=1, who=f"thread{who}-"):
            ledger.commit("t", said, outcome)
            ledger.store.read("t", lambda view: view.facts(FactFilter(), Belief()))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tell, range(4)))
    episodes = ledger.store.read("t", lambda view: view.episodes())

    assert len(episodes) == 40
    assert known_times(episodes) == sorted(set(known_times(episodes)))
    ledger.store.close()


def known_times(episodes: list[EpisodeRow]) -> list[str]:
    return [row.known_at.isoformat() for row in episodes if row.known_at is not None]


def test_known_time_grows_though_the_clock_stands_still_or_goes_back(book: Notebook) -> None:
    times = []
    for step in (0, 0, -5, 3, -3):
        book.clock.now = day(1000 + step)
        book.tell("Porto", since=step + 10)
        times.append(book.known())

    assert times == sorted(set(times))
    assert times[3] == day(1003)


def test_a_write_that_changes_nothing_draws_no_known_time(book: Notebook) -> None:
    said = episode("e1")
    book.commit(said, Claim(value="Porto"))
    before = book.known()
    book.commit(said, Claim(value="Porto"))
    book.ledger.capture("t", said)

    assert book.known() == before
    assert replace(book, tenant="u").records() == []

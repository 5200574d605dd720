from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sgam.memory_store.store import View, open_store

from .conftest import Sgam, update

EPISODES = 12
KILLS = 50
CHILD = """
import sys
from sgam.agent.cli import main
import sgam.agent.memory, sgam.agent.ingest, sgam.agent.models, sgam.agent.render, sgam.memory_store.sqlite
print("ready", flush=True)
sys.exit(main(sys.argv[1:]))
"""
ARGUMENTS = ("ingest", "chat.jsonl", "--schema", "schema.json", "--model", "scripted:script.jsonl")


@pytest.fixture
def conversation(home: Path) -> None:
    """Every episode moves the deadline and the home, so that each commit ends facts and opens others."""
    episodes, answers = [], []
    for number in range(1, EPISODES + 1):
        deadline, city = f"2027-01-{number:02}", f"City{number}"
        text = f"Deadline {deadline}, and I live in {city} now."
        when = f"2026-06-{number:02}T09:00:00Z"
        episodes.append({"episode_id": f"e{number}", "observed_at": when, "text": text, "speaker": "mira"})
        before = (f"2027-01-{number - 1:02}", f"City{number - 1}")
        made = [
            update(value, name, value, **({} if number == 1 else {"current_value": old, "change": "update"}))
            for name, value, old in zip(("passport_deadline", "home_city"), (deadline, city), before, strict=True)
        ]
        answers.append({"source": text, "answer": {"updates": made}})
    for name, entries in (("chat.jsonl", episodes), ("script.jsonl", answers)):
        (home / name).write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def killed_after(seconds: float, url: str) -> bool:
    """Whether the ingest was still running when it was killed, counted from when all was loaded."""
    run = [sys.executable, "-c", CHILD, *ARGUMENTS, "--db", url]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.kill()
    return process.returncode < 0


def whole_or_absent(view: View) -> list[tuple[str, int]]:
    """How many candidates each episode has that stands in the store."""
    rows = view.episodes()
    return [(row.status, len(view.candidates_of_episode(row.episode_no))) for row in rows]


def believed(sgam: Sgam, url: str) -> list[list[object]]:
    facts = [fact for name in ("passport_deadline", "home_city") for fact in history(sgam, name, url)]
    names = ("attribute", "value", "valid_from", "valid_to", "episode_id")
    return [[*(fact[name] for name in names), fact["known_to"] is None] for fact in facts]


def history(sgam: Sgam, attribute: str, url: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = sgam("history", "mira", attribute, "--db", url, "--json").json
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("conversation")
def test_an_ingest_killed_anywhere_leaves_whole_episodes_and_goes_on_to_the_same_facts(sgam: Sgam, home: Path) -> None:
    started = time.monotonic()
    assert sgam(*ARGUMENTS, "--db", "sqlite:///whole.db").code == 0
    duration = time.monotonic() - started
    expected = believed(sgam, "sqlite:///whole.db")
    chance, interrupted = random.Random(1), 0

    for number in range(KILLS):
        url = f"sqlite:///killed{number}.db"
        interrupted += killed_after(chance.uniform(0, duration), url)
        if (home / f"killed{number}.db").exists():
            store = open_store(url)
            assert set(store.read("default", whole_or_absent)) <= {("captured", 0), ("complete", 2)}
            store.close()
        summary = sgam(*ARGUMENTS, "--db", url, "--json").json

        assert summary["candidates"]["total"] == 2 * EPISODES
        assert believed(sgam, url) == expected

    assert interrupted >= KILLS // 2

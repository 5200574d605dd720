from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Ran, Sgam, update

TURNS: list[tuple[str, list[dict[str, object]]]] = [
    ("My passport deadline is 2026-07-15.", [update("2026-07-15", "passport_deadline", "2026-07-15")]),
    (
        "Keep it concise, I live in Oslo.",
        [update("concise", "answer_style", "concise"), update("Oslo", "home_city", "Oslo")],
    ),
    (
        "The deadline moved to 2026-06-30.",
        [update("2026-06-30", "passport_deadline", "2026-06-30", current_value="2026-07-15", change="update")],
    ),
    ("My IBAN is XX12.", [update("XX12", "iban", "XX12")]),
    ("Nothing new.", []),
]
Ingest = Callable[..., Ran]


def episode(number: int, text: str, **more: Any) -> dict[str, Any]:
    when = f"2026-06-{number:02}T09:00:00Z"
    return {"episode_id": f"e{number}", "observed_at": when, "text": text, "speaker": "mira", **more}


def write(file: Path, *entries: object) -> None:
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


@pytest.fixture
def ingest(sgam: Sgam, home: Path) -> Ingest:
    """Ingest `chat.jsonl`, which holds the turns above, with a script that knows them."""
    write(home / "chat.jsonl", *(episode(number, text) for number, (text, _) in enumerate(TURNS, start=1)))
    write(home / "script.jsonl", *({"source": text, "answer": {"updates": made}} for text, made in TURNS))

    def run(*arguments: str, file: str = "chat.jsonl") -> Ran:
        return sgam("ingest", file, "--schema", "schema.json", "--model", "scripted:script.jsonl", *arguments)

    return run


def beliefs(sgam: Sgam) -> list[list[Any]]:
    names = ("subject", "attribute", "item", "value", "valid_from", "valid_to", "episode_id")
    return [[fact[name] for name in names] for fact in sgam("facts", "--json").json]


class TestReport:
    def test_every_episode_and_every_candidate_is_accounted_for(self, ingest: Ingest) -> None:
        ran = ingest()

        assert (ran.code, ran.err) == (0, "")
        assert "episodes:   5 = 5 complete + 0 partial + 0 failed + 0 context + 0 captured + 0 refused\n" in ran.out
        assert "candidates: 5 = 3 new + 1 supersede + 0 no_change + 1 hold + 0 reject + 0 quarantined\n" in ran.out

    def test_each_decision_stands_in_a_table(self, ingest: Ingest) -> None:
        rows = [line.split()[:4] for line in ingest().out.splitlines()[2:7]]

        assert rows == [
            ["new", "mira.passport_deadline", "2026-07-15", "no_value_then"],
            ["new", "mira.answer_style", "concise", "no_value_then"],
            ["new", "mira.home_city", "Oslo", "no_value_then"],
            ["supersede", "mira.passport_deadline", "2026-06-30", "other_value_then"],
            ["hold", "mira.iban", "XX12", "needs_confirmation"],
        ]

    def test_many_decisions_are_counted_by_attribute(self, ingest: Ingest, home: Path) -> None:
        foods = [f"food{number}" for number in range(45)]
        write(home / "chat.jsonl", *(episode(1, f"I cannot eat {food}.", episode_id=food) for food in foods))
        write(home / "script.jsonl", *({"updates": [update(food, "allergies", food)]} for food in foods))
        lines = ingest().out.splitlines()

        assert lines[0].split() == ["attribute", "new", "supersede", "no_change", "hold", "reject", "quarantined"]
        assert lines[2].split() == ["allergies", "45", "0", "0", "0", "0", "0"]

    def test_its_json_has_stable_keys(self, ingest: Ingest) -> None:
        summary = ingest("--json").json

        assert list(summary) == ["finished", "episodes", "done_before", "candidates", "usage", "seconds"]
        assert (summary["finished"], summary["episodes"]["total"], summary["candidates"]["total"]) == (True, 5, 5)

    def test_what_cannot_be_used_is_quarantined_and_counted(self, ingest: Ingest, home: Path, sgam: Sgam) -> None:
        made = [update("2026-07-16", "passport_deadline", "2026-07-16"), update("Oslo", "home_city", "Oslo")]
        write(home / "chat.jsonl", episode(1, "I live in Oslo."))
        write(home / "script.jsonl", {"updates": made})
        counts = ingest("--json").json["candidates"]

        assert (counts["total"], counts["new"], counts["quarantined"]) == (2, 1, 1)
        [lost] = sgam("quarantine", "--json").json
        assert (lost["episode_id"], lost["reason"]) == ("e1", "ungrounded")

    def test_a_model_is_named_where_a_fact_is_explained(self, ingest: Ingest, sgam: Sgam) -> None:
        ingest()
        told = sgam("explain", "mira", "home_city").out

        assert "  Keep it concise, I live in >>Oslo<<.\n" in told
        assert "\nmodel: " in told
        assert "scripted@" in told


class TestResumption:
    def test_a_second_run_does_nothing_twice(self, ingest: Ingest, sgam: Sgam) -> None:
        first, known = ingest("--json").json, sgam("facts", "--json").json
        second = ingest("--json").json

        assert second["candidates"] == first["candidates"]
        assert (second["done_before"], second["usage"]) == (5, {})
        assert sgam("facts", "--json").json == known

    @pytest.mark.parametrize("stop", [1, 2, 3, 4])
    def test_a_run_that_stopped_goes_on_to_the_same_facts(
        self, stop: int, ingest: Ingest, sgam: Sgam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ingest("--limit", str(stop))
        rest = ingest("--json").json
        resumed = beliefs(sgam)
        monkeypatch.setenv("SGAM_DB", "sqlite:///other.db")
        ingest()

        assert (rest["done_before"], rest["episodes"]["complete"]) == (stop, 5)
        assert resumed == beliefs(sgam)

    def test_the_stored_schema_serves_the_next_run(self, ingest: Ingest, sgam: Sgam) -> None:
        ingest("--limit", "1")
        ran = sgam("ingest", "chat.jsonl", "--model", "scripted:script.jsonl", "--json")

        assert (ran.code, ran.json["done_before"], ran.json["episodes"]["complete"]) == (0, 1, 5)


class TestRefusal:
    def test_a_bad_last_line_is_told_before_anything_is_written(self, ingest: Ingest, home: Path) -> None:
        with (home / "chat.jsonl").open("a") as chat:
            chat.write('{"text": "no time"}\n')
        ran = ingest()

        assert (ran.code, ran.out, (home / "memory.db").exists()) == (3, "", False)
        assert ran.err == "error: chat.jsonl line 6: observed_at: missing\n"

    def test_a_bad_line_of_standard_input_ends_the_run_and_keeps_what_came_before(
        self, ingest: Ingest, home: Path, sgam: Sgam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stdin = io.TextIOWrapper(io.BytesIO((home / "chat.jsonl").read_bytes() + b"{\n"))
        monkeypatch.setattr(sys, "stdin", stdin)
        ran = ingest(file="-")

        assert ran.code == 3
        assert ran.err.startswith("error: standard input line 6: not JSON: ")
        assert "episodes:   5 = 5 complete" in ran.out
        assert len(sgam("facts", "--json").json) == 3

    @pytest.mark.parametrize(
        ("more", "options", "code"),
        [
            ({"tenant_id": "other"}, (), 3),
            ({"tenant_id": "other"}, ("--all-tenants",), 0),
            ({"tenant_id": "other"}, ("--tenant", "other"), 0),
            ({"source": "user_confirmed"}, (), 3),
            ({"source": "user_confirmed"}, ("--trust-source",), 0),
            ({"source": "rumour"}, ("--trust-source",), 3),
        ],
    )
    def test_tenants_and_sources_are_taken_only_when_asked_for(
        self, more: dict[str, str], options: tuple[str, ...], code: int, ingest: Ingest, home: Path
    ) -> None:
        write(home / "chat.jsonl", episode(5, "Nothing new.", **more))

        assert ingest(*options).code == code

    def test_lines_of_all_tenants_go_to_their_own_memories(self, ingest: Ingest, home: Path, sgam: Sgam) -> None:
        text = TURNS[1][0]
        write(home / "chat.jsonl", episode(1, text, tenant_id="a"), episode(1, text, tenant_id="a%"))
        ingest("--all-tenants")

        found = {tenant: len(sgam("facts", "--tenant", tenant, "--json").json) for tenant in ("a", "a%", "default")}
        assert found == {"a": 2, "a%": 2, "default": 0}

    def test_an_episode_that_the_store_refuses_is_told_and_the_rest_goes_on(self, ingest: Ingest, home: Path) -> None:
        entries = [episode(n, text) for n, (text, _) in enumerate(TURNS, start=1)]
        write(home / "chat.jsonl", *entries[:2], {**entries[0], "text": "Nothing new."}, *entries[2:])
        ran = ingest()

        assert ran.code == 3
        assert ran.err.startswith("error: line 3, episode e1: episode 'e1' is known with other content\nhint: ")
        assert "episodes:   6 = 5 complete + 0 partial + 0 failed + 0 context + 0 captured + 1 refused\n" in ran.out

    def test_a_forgotten_episode_does_not_come_back(self, ingest: Ingest, sgam: Sgam) -> None:
        ingest()
        sgam("forget", "--episode", "e2", "--yes")
        ran = ingest()

        assert ran.code == 3
        assert "error: line 2, episode e2: episode 'e2' was forgotten and may not come back\n" in ran.err
        assert sgam("current", "mira", "home_city").out == "nothing known\n"

    @pytest.mark.parametrize(
        ("model", "code", "message"),
        [
            ("gpt", 3, "model 'gpt': unknown kind"),
            ("", 3, "model '': unknown kind"),
            ("local:", 3, "model 'local:': nothing follows the colon"),
            ("scripted", 3, "model 'scripted': no file is named"),
            ("scripted:nowhere", 5, "the script nowhere cannot be read"),
            ("openai:gpt-5", 5, "model openai:gpt-5: openai models are not supported yet"),
            ("instructor:anthropic/x", 5, "model instructor:anthropic/x: instructor models are not supported yet"),
        ],
    )
    def test_a_model_that_cannot_be_had_is_told_before_a_store_is_made(
        self, model: str, code: int, message: str, ingest: Ingest, sgam: Sgam, home: Path
    ) -> None:
        ran = sgam("ingest", "chat.jsonl", "--schema", "schema.json", "--model", model)

        assert (ran.code, (home / "memory.db").exists()) == (code, False)
        assert ran.err.startswith(f"error: {message}")

    @pytest.mark.parametrize("file", ["nowhere.jsonl", "."])
    def test_a_file_that_cannot_be_read_is_named(self, file: str, ingest: Ingest) -> None:
        ran = ingest(file=file)

        assert ran.code == 3
        assert ran.err.startswith(f"error: {file}: ")


class TestFailures:
    def test_a_model_that_is_gone_ends_the_run_and_the_next_goes_on(
        self, ingest: Ingest, home: Path, sgam: Sgam
    ) -> None:
        script = (home / "script.jsonl").read_text().splitlines(keepends=True)
        (home / "script.jsonl").write_text("".join(script[:2]))
        ran = ingest()

        assert ran.code == 5
        assert ran.err.startswith("error: the script has no answer to request 3")
        assert "episodes:   3 = 2 complete + 0 partial + 0 failed + 0 context + 1 captured + 0 refused\n" in ran.out
        assert len(sgam("facts", "--json").json) == 3

    def test_an_answer_that_cannot_be_used_fails_the_episode_and_can_be_retried(
        self, ingest: Ingest, home: Path, sgam: Sgam
    ) -> None:
        write(home / "chat.jsonl", episode(1, "I live in Oslo."))
        write(home / "script.jsonl", "this is not JSON", "nor is this")
        ran = ingest()
        write(home / "script.jsonl", {"updates": [update("Oslo", "home_city", "Oslo")]})
        retried = sgam("retry", "e1", "--model", "scripted:script.jsonl", "--json")

        assert (ran.code, "1 failed" in ran.out) == (1, True)
        assert (retried.code, retried.json["status"], retried.json["counts"]["new"]) == (0, "complete", 1)
        assert sgam("current", "mira", "home_city", "--json").json["value"] == "Oslo"

    def test_retrying_an_unknown_episode_is_refused(self, ingest: Ingest, sgam: Sgam) -> None:
        ingest()
        ran = sgam("retry", "nope", "--model", "scripted:script.jsonl")

        assert (ran.code, ran.err) == (3, "error: no episode 'nope'\n")

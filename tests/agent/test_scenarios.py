from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sgam.agent.cli import main
from sgam.agent.scenario import parse, run
from sgam.memory_store.errors import InvalidInput, SgamError
from sgam.memory_store.in_memory import InMemoryStore
from sgam.memory_store.store import redacted

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.json"))
SCHEMA = {
    "name": "s",
    "version": 1,
    "types": {
        "person": {
            "description": "",
            "attributes": {"city": {"type": "text"}, "iban": {"type": "text", "confirm": True}},
        }
    },
}
OSLO = {
    "commit": {
        "episode": {"episode_id": "a", "observed_at": "2026-01-01T00:00:00Z", "text": "I live in Oslo."},
        "facts": [{"subject": "ana", "attribute": "city", "value": "Oslo", "quote": "Oslo"}],
    }
}
CITY = {"subject": "ana", "attribute": "city"}


def failures(*steps: dict[str, Any]) -> list[str]:
    store = InMemoryStore()
    return [str(failure) for failure in run(parse({"schema": SCHEMA, "steps": [*steps]}), lambda: store)]


def write(path: Path, *steps: dict[str, Any], **more: Any) -> str:
    path.write_text(json.dumps({"name": "n", "why": "because", "schema": SCHEMA, "steps": [*steps], **more}))
    return str(path)


@pytest.mark.parametrize("store", ["memory:", "sqlite:///scenario.db"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_scenario_holds_on_every_store(file: Path, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["scenario", str(file), "--store", store])

    assert (code, capsys.readouterr().out.splitlines()[1:]) == (0, [])


def test_the_scenarios_are_all_there() -> None:
    assert len(FILES) >= 24


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            {**OSLO, "expect": {"decisions": ["hold"], "quarantined": 0}},
            'step 1 (commit): decisions: expected ["hold"], got ["new"]',
        ),
        ({**OSLO, "expect": {"quarantined": 2}}, "step 1 (commit): quarantined: expected 2, got 0"),
        (
            {**OSLO, "expect": {"error": "EpisodeConflict"}},
            'step 1 (commit): error: expected "EpisodeConflict", got null',
        ),
    ],
)
def test_a_commit_that_comes_out_differently_fails(step: dict[str, Any], message: str) -> None:
    assert failures(step) == [message]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"read": CITY, "expect": {"value": "Rome"}}, 'step 2 (read): value: expected "Rome", got "Oslo"'),
        ({"read": CITY, "expect": {"value": None}}, 'step 2 (read): value: expected null, got "Oslo"'),
        ({"read": CITY, "expect": {"value": "oslo"}}, 'step 2 (read): value: expected "oslo", got "Oslo"'),
        ({"read": CITY, "expect": {"episode": "b"}}, 'step 2 (read): episode: expected "b", got "a"'),
        ({"read": CITY, "expect": {"supersedes": "Rome"}}, 'step 2 (read): supersedes: expected "Rome", got null'),
        (
            {"read": {**CITY, "valid_at": "2025-01-01T00:00:00Z"}, "expect": {"value": "Oslo"}},
            'step 2 (read): value: expected "Oslo", got null',
        ),
        (
            {"timeline": CITY, "expect": {"intervals": []}},
            'step 2 (timeline): intervals: expected [], got [["2026-01-01T00:00:00Z", null, "Oslo"]]',
        ),
        (
            {"retract": {"episode_id": "z"}},
            "step 2 (retract): error: expected null, got \"UnknownRecord: no episode 'z'\"",
        ),
        (
            {"confirm": {"subject": "bo", "attribute": "iban", "value": "X"}},
            'step 2 (confirm): error: expected null, got "InvalidInput: no hold on bo.iban with that value is pending"',
        ),
        (
            {"read": {"subject": "ana", "attribute": "shoe"}, "expect": {"error": "EpisodeConflict"}},
            (
                'step 2 (read): error: expected "EpisodeConflict", got '
                "\"UnknownAttribute: no attribute 'shoe' in the schema\""
            ),
        ),
    ],
)
def test_a_read_that_comes_out_differently_fails(step: dict[str, Any], message: str) -> None:
    assert failures(OSLO, step) == [message]


def test_what_should_be_gone_and_still_stands_somewhere_fails() -> None:
    bo = {
        "commit": {
            "episode": {"episode_id": "b", "observed_at": "2026-01-01T00:00:00Z", "text": "Bo lives in Oslo too."},
            "facts": [{"subject": "bo", "attribute": "city", "value": "Oslo", "quote": "Oslo"}],
        }
    }

    told = failures(OSLO, bo, {"forget": {"subject": "ana"}, "expect": {"gone": ["I live in", "Oslo"]}})

    assert told == ['step 3 (forget): gone: expected [], got ["Oslo"]']


def test_a_file_beside_the_store_that_holds_what_should_be_gone_fails(tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(b"..I live in Oslo..")
    store = InMemoryStore()
    scenario = parse(
        {"schema": SCHEMA, "steps": [OSLO, {"forget": {"everything": True}, "expect": {"gone": ["in Oslo"]}}]}
    )

    told = run(scenario, lambda: store, folder=tmp_path)

    assert [failure.got for failure in told] == [["in Oslo"]]


def test_an_error_is_expected_by_its_class_or_one_above_it() -> None:
    other = json.loads(json.dumps(OSLO).replace("I live", "We live"))

    assert failures(OSLO, {**other, "expect": {"error": "EpisodeConflict"}}) == []
    assert failures(OSLO, {**other, "expect": {"error": "SgamError"}}) == []


def test_steps_after_a_failed_one_still_run() -> None:
    told = failures(OSLO, {"read": CITY, "expect": {"value": "Rome"}}, {"read": CITY, "expect": {"value": "Bonn"}})

    assert len(told) == 2


def test_a_mark_before_the_first_commit_sees_nothing_and_each_tenant_has_its_own_time() -> None:
    seen = {**CITY, "known_at": "k"}
    told = failures(
        {"mark": "k"},
        OSLO,
        {"read": seen, "expect": {"value": None}},
        {"tenant": "u"},
        OSLO,
        {"mark": "k"},
        {"read": seen, "expect": {"value": "Oslo"}},
        {"tenant": "t"},
        {"read": seen, "expect": {"value": "Oslo"}},
    )

    assert told == []


def test_values_are_compared_by_type_and_times_by_instant() -> None:
    told = failures(
        OSLO,
        {"read": CITY, "expect": {"value": "  Oslo "}},
        {"timeline": CITY, "expect": {"intervals": [["2026-01-01T01:00:00+01:00", None, "Oslo"]]}},
    )

    assert told == []


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ([], "scenario: expected an object, got []"),
        ({"steps": []}, "scenario: schema is missing"),
        ({"schema": SCHEMA}, "scenario: steps is missing"),
        ({"schema": SCHEMA, "steps": {}}, "steps: expected a list"),
        ({"schema": SCHEMA, "steps": [], "step": []}, "scenario: unknown key 'step'"),
        ({"schema": {"name": "s"}, "steps": []}, "version: Field required (and 1 more)"),
    ],
)
def test_a_malformed_scenario_is_refused(scenario: Any, message: str) -> None:
    with pytest.raises(SgamError) as caught:
        parse(scenario)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("read", "step 1: expected an object, got 'read'"),
        ({"expect": {}}, "step 1: expected one action, got 0"),
        ({"remember": {}}, "step 1: unknown step 'remember'"),
        ({"reopen": True, "now": "2026-01-01T00:00:00Z"}, "step 1: expected one action, got 2"),
        ({"read": {"subject": "a"}}, "step 1 (read): attribute is missing"),
        ({"read": {**CITY, "when": 1}}, "step 1 (read): unknown key 'when'"),
        ({"read": {**CITY, "known_at": "k"}}, "step 1 (read): no mark 'k' was set before"),
        ({"read": {**CITY, "valid_at": "today"}}, "step 1 (read) valid_at: expected an ISO 8601 time, got 'today'"),
        ({"read": CITY, "expect": {"valeu": 1}}, "step 1 (read) expect: unknown key 'valeu'"),
        ({"read": CITY, "expect": []}, "step 1 (read) expect: expected an object, got []"),
        ({"now": 5}, "step 1 (now): expected a str, got 5"),
        ({"now": "soon"}, "step 1 (now): expected an ISO 8601 time, got 'soon'"),
        ({"mark": {}}, "step 1 (mark): expected a str, got {}"),
        ({"forget": {}}, "step 1 (forget): expected one of episode_id, subject, everything"),
        (
            {"timeline": CITY, "expect": {"intervals": [["2026-01-01T00:00:00Z", "Oslo"]]}},
            "step 1 (timeline) expect intervals: expected a list of [from, to or null, value]",
        ),
        ({"commit": {"episode": {}, "facts": {}}}, "step 1 (commit) facts: expected a list"),
        ({"commit": {"episode": {}, "facts": [{}]}}, "step 1 (commit) fact 1: attribute is missing"),
    ],
)
def test_a_malformed_step_is_refused_before_any_step_runs(step: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse({"schema": SCHEMA, "steps": [step]})

    assert str(caught.value) == message


class TestCommand:
    def test_it_prints_a_line_for_a_file_that_holds(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = write(tmp_path / "a.json", OSLO)

        code = main(["scenario", file])

        assert (code, capsys.readouterr().out) == (0, f"ok    {file}  because\n")

    def test_it_exits_1_and_names_file_step_expected_and_got(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        good = write(tmp_path / "a.json", OSLO)
        bad = write(tmp_path / "b.json", OSLO, {"read": CITY, "expect": {"value": "Rome"}})

        code = main(["scenario", bad, good])

        assert (code, capsys.readouterr().out.splitlines()) == (
            1,
            [
                f"FAIL  {bad}  because",
                '      step 2 (read): value: expected "Rome", got "Oslo"',
                f"ok    {good}  because",
            ],
        )

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"{", "no JSON: Expecting property name"),
            (b"", "no JSON: Expecting value"),
            (b"\xff\xfe", "no JSON: "),
            (b"[" * 100_000, "no JSON: "),
            (b'{"schema": {}, "steps": [{"fly": true}]}', "step 1: unknown step 'fly'"),
        ],
    )
    def test_it_exits_3_for_a_file_that_is_no_scenario_and_plays_the_others(
        self, content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        broken = tmp_path / "broken.json"
        broken.write_bytes(content)
        good = write(tmp_path / "a.json", OSLO)

        code = main(["scenario", str(broken), good])

        out, err = capsys.readouterr()
        assert (code, out) == (3, f"ok    {good}  because\n")
        assert err.startswith(f"error: {broken}: {message}")

    def test_it_exits_3_for_a_file_that_is_not_there(self, capsys: pytest.CaptureFixture[str]) -> None:
        code = main(["scenario", "nowhere.json"])

        assert (code, capsys.readouterr().err) == (
            3,
            "error: nowhere.json: cannot be read: No such file or directory\n",
        )

    @pytest.mark.parametrize("url", ["postgresql://x/y", "sqlite:", "sqlite:///", "x.db", ""])
    def test_it_exits_3_for_a_store_that_it_cannot_make(
        self, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code = main(["scenario", write(tmp_path / "a.json", OSLO), "--store", url])

        assert code == 3
        assert capsys.readouterr().err.startswith(f"error: store {redacted(url)!r}: scenarios cannot run there\n")

    def test_it_touches_no_database_of_the_user_and_leaves_nothing_behind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine, temporary = tmp_path / "mine.db", tmp_path / "tmp"
        mine.write_bytes(b"precious")
        temporary.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))

        code = main(["scenario", write(tmp_path / "a.json", OSLO), "--store", f"sqlite:///{mine}"])

        assert (code, mine.read_bytes(), list(temporary.iterdir())) == (0, b"precious", [])

    def test_it_opens_the_store_again_where_a_scenario_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = write(tmp_path / "a.json", OSLO, {"reopen": True}, {"read": CITY, "expect": {"value": "Oslo"}})

        assert [main(["scenario", file, "--store", url]) for url in ("memory:", "sqlite:///a.db")] == [0, 0]

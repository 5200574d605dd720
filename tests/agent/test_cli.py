from __future__ import annotations

import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from sgam.agent import cli

from .conftest import Sgam

FACT_KEYS = [
    "fact_id",
    "memory_type",
    "subject",
    "attribute",
    "item",
    "value",
    "valid_from",
    "valid_to",
    "known_from",
    "known_to",
    "expires_at",
    "assertion_id",
    "episode_id",
    "speaker",
    "source",
    "quote",
    "supersedes_fact_id",
]
COMMANDS = [*cli._COMMANDS, "schema show", "schema check"]
READING = {
    "current": ("mira", "home_city"),
    "at": ("mira", "home_city"),
    "history": ("mira", "home_city"),
    "facts": (),
    "subjects": (),
    "explain": ("mira", "home_city"),
    "holds": (),
    "quarantine": (),
    "schema show": (),
}


def error_of(err: str) -> str:
    """The one error line, after a check that there is a hint at most and no traceback."""
    lines = err.splitlines()
    assert lines[0].startswith("error: "), err
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: ")), err
    return lines[0].removeprefix("error: ")


class TestCurrent:
    def test_it_shows_value_times_source_and_fact(self, mira: Sgam) -> None:
        lines = mira("current", "mira", "home_city").out.splitlines()

        assert lines[0] == "mira.home_city = Rome"
        assert lines[1] == "  valid   from 2024-01-01T00:00:00Z"
        assert lines[3].startswith("  source  user in episode ")
        assert re.fullmatch(r"  fact    \d+, supersedes fact \d+", lines[4])

    def test_its_json_has_stable_keys_utc_times_and_a_canonical_value(self, mira: Sgam) -> None:
        fact = mira("current", "Mira", "traveller.passport_deadline", "--json").json

        assert list(fact) == FACT_KEYS
        assert (fact["subject"], fact["value"], fact["valid_from"]) == ("mira", "2026-07-15", "2026-06-01T09:00:00Z")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", fact["known_from"])
        assert (fact["item"], fact["valid_to"], fact["known_to"], fact["supersedes_fact_id"]) == (None,) * 4

    @pytest.mark.parametrize("arguments", [("bo", "home_city"), ("mira", "answer_style"), ("mira", "iban")])
    def test_nothing_known_is_an_answer(self, arguments: tuple[str, str], mira: Sgam) -> None:
        told, data = mira("current", *arguments), mira("current", *arguments, "--json")

        assert (told.code, told.out, told.err) == (0, "nothing known\n", "")
        assert (data.code, data.out) == (0, "null\n")

    def test_another_tenant_knows_nothing(self, mira: Sgam) -> None:
        assert mira("current", "mira", "home_city", "--tenant", "defaul%").out == "nothing known\n"

    def test_an_attribute_that_holds_many_answers_with_all_or_one_of_them(self, mira: Sgam) -> None:
        every = mira("current", "mira", "allergies", "--json").json
        one = mira("current", "mira", "allergies", "--item", "Milk", "--json").json

        assert [fact["value"] for fact in every] == ["milk", "nuts"]
        assert (one["value"], one["item"]) == ("milk", "milk")

    def test_an_unknown_attribute_is_named_beside_the_known_ones(self, mira: Sgam) -> None:
        ran = mira("current", "mira", "shoe_size")

        assert (ran.code, error_of(ran.err)) == (3, "no attribute 'shoe_size' in the schema")
        assert "traveller.passport_deadline, traveller.answer_style" in ran.err


class TestAt:
    def test_it_reads_an_earlier_valid_time(self, mira: Sgam) -> None:
        fact = mira("at", "mira", "home_city", "--valid-at", "2023-06-01T02:00:00+02:00", "--json").json

        assert (fact["value"], fact["valid_to"]) == ("Oslo", "2024-01-01T00:00:00Z")

    def test_it_reads_an_earlier_known_time(self, mira: Sgam) -> None:
        first, second, third = mira("history", "mira", "home_city", "--json").json
        known = mira("at", "mira", "home_city", "--known-at", first["known_from"], "--json").json

        assert (known["value"], known["fact_id"]) == ("Oslo", first["fact_id"])
        assert [second["value"], third["value"]] == ["Oslo", "Rome"]

    def test_nothing_was_known_before_the_store_began(self, mira: Sgam) -> None:
        assert mira("at", "mira", "home_city", "--known-at", "2020-01-01T00:00:00Z", "--json").out == "null\n"

    @pytest.mark.parametrize(
        ("time", "message"),
        [
            ("2026-06-04", "--valid-at: 2026-06-04T00:00:00 has no offset"),
            ("2026-06-04T10:00:00", "--valid-at: 2026-06-04T10:00:00 has no offset"),
            ("tomorrow", "--valid-at: 'tomorrow' is no ISO 8601 time"),
            ("", "--valid-at: '' is no ISO 8601 time"),
            ("9999-12-31T23:59:59-10:00", "--valid-at: 9999-12-31T23:59:59-10:00 is out of the calendar's range"),
        ],
    )
    def test_a_time_that_is_none_is_refused(self, time: str, message: str, mira: Sgam) -> None:
        ran = mira("at", "mira", "home_city", "--valid-at", time)

        assert (ran.code, error_of(ran.err)) == (3, message)


class TestListings:
    def test_history_is_every_belief_in_known_order(self, mira: Sgam) -> None:
        facts = mira("history", "mira", "home_city", "--json").json

        assert [(fact["value"], fact["known_to"] is None) for fact in facts] == [
            ("Oslo", False),
            ("Oslo", True),
            ("Rome", True),
        ]
        assert [list(fact) for fact in facts] == [FACT_KEYS] * 3

    def test_facts_are_what_holds_now_and_can_be_narrowed(self, mira: Sgam) -> None:
        def values(*arguments: str) -> list[str]:
            return [fact["value"] for fact in mira("facts", *arguments, "--json").json]

        assert values() == ["milk", "nuts", "Rome", "2026-07-15"]
        assert values("--attribute", "home_city") == ["Rome"]
        assert values("--subject", "bo") == []
        assert values("--type", "traveller", "--valid-at", "2023-06-01T00:00:00Z") == ["Oslo"]

    def test_an_unknown_type_is_refused(self, mira: Sgam) -> None:
        assert error_of(mira("facts", "--type", "pet").err) == "no memory type 'pet' in the schema"
        assert mira("subjects", "--type", "pet").code == 3

    def test_subjects_are_listed(self, mira: Sgam) -> None:
        assert mira("subjects", "--json").json == ["mira"]
        assert mira("subjects", "--tenant", "other").out == "nothing known\n"

    def test_tables_are_not_cut_when_they_go_to_a_file(self, mira: Sgam) -> None:
        mira("set", "mira", "home_city", "x" * 300)

        assert "x" * 300 in mira("facts").out


class TestExplain:
    def test_it_marks_the_evidence_and_names_decision_reason_model_and_prompt(self, mira: Sgam) -> None:
        number = mira("current", "mira", "home_city", "--json").json["fact_id"]
        told = mira("explain", str(number)).out

        assert '  >>{"subject": "mira", "attribute": "traveller.home_city", "item": null, "value": "Rome"}<<\n' in told
        assert "supersede: mira.home_city = Rome (other_value_then)\n" in told
        assert "model: none (given by the application)\nprompt: none\n" in told

    def test_a_subject_and_an_attribute_stand_for_the_current_fact(self, mira: Sgam) -> None:
        told = mira("explain", "mira", "home_city", "--json").json

        assert told["fact"]["value"] == "Rome"
        assert told["decisions"][0]["decision"] == "supersede"
        assert list(told) == [
            "fact",
            "episode",
            "evidence",
            "supports",
            "decisions",
            "settlements",
            "extractor",
            "prompt_hash",
            "time_rule",
        ]
        [span] = told["evidence"]
        assert told["episode"]["text"][span["start"] : span["end"]] == span["quote"]

    @pytest.mark.parametrize("fact", ["9999", "0", "9" * 30, "mira", "-1", "1.5", "²", ""])
    def test_a_fact_that_is_not_there_is_refused(self, fact: str, mira: Sgam) -> None:
        ran = mira("explain", "--", fact)

        assert ran.code == 3
        assert error_of(ran.err).startswith("no fact ")


class TestHolds:
    def test_a_hold_is_listed_confirmed_and_gone(self, mira: Sgam) -> None:
        [hold] = mira("holds", "--json").json
        confirmed = mira("confirm", str(hold["hold_id"]), "--by", "mira", "--json").json

        assert (hold["attribute"], hold["value"], hold["reason"]) == ("iban", "XX12", "needs_confirmation")
        assert (confirmed["decision"], confirmed["reason"], confirmed["by"]) == ("new", "confirmed", "mira")
        assert mira("current", "mira", "iban", "--json").json["value"] == "XX12"
        assert mira("holds").out == "nothing waits\n"

    def test_a_dismissed_hold_never_counts(self, mira: Sgam) -> None:
        [hold] = mira("holds", "--subject", "mira", "--json").json
        dismissed = mira("dismiss", str(hold["hold_id"]))

        assert dismissed.out == f"hold {hold['hold_id']} was dismissed\n"
        assert (mira("holds", "--json").json, mira("current", "mira", "iban", "--json").json) == ([], None)

    @pytest.mark.parametrize("command", ["confirm", "dismiss"])
    def test_a_hold_that_does_not_wait_is_refused(self, command: str, mira: Sgam) -> None:
        ran = mira(command, "1")

        assert (ran.code, error_of(ran.err)) == (3, "no hold 1 is pending")


class TestSet:
    def test_it_says_what_was_decided(self, mira: Sgam) -> None:
        assert (
            mira("set", "mira", "answer_style", "concise").out == "new: mira.answer_style = concise (no_value_then)\n"
        )

    def test_a_revocation_needs_no_value(self, mira: Sgam) -> None:
        assert mira("set", "mira", "home_city", "--revoke").code == 0
        assert mira("current", "mira", "home_city").out == "nothing known\n"

    def test_an_item_of_a_map_is_named(self, mira: Sgam) -> None:
        mira("set", "mira", "rating", "like", "--item", "Opera")

        assert mira("current", "mira", "rating", "--item", "opera", "--json").json["value"] == "like"

    def test_a_decimal_keeps_its_canonical_form(self, mira: Sgam) -> None:
        mira("set", "mira", "fare_limit", "0250.00")

        assert mira("current", "mira", "fare_limit", "--json").json["value"] == "250"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("passport_deadline", "soon"), "traveller.passport_deadline: expected a date as YYYY-MM-DD, got 'soon'"),
            (("answer_style", "long"), "traveller.answer_style: expected one of concise, detailed; got 'long'"),
            (("fare_limit", "NaN"), "traveller.fare_limit: expected a finite decimal of a sane size, got 'NaN'"),
            (("home_city", ""), "traveller.home_city: expected text, got nothing"),
            (("shoe_size", "38"), "no attribute 'shoe_size' in the schema"),
            (("rating", "like"), "traveller.rating holds many values"),
            (("allergies", "--revoke"), "traveller.allergies holds many values"),
            (("home_city", "Oslo", "--source", "rumour"), "source 'rumour' is none of "),
            (("home_city", "Oslo", "--valid-from", "2026-01-01"), "--valid-from: 2026-01-01T00:00:00 has no offset"),
        ],
    )
    def test_what_cannot_be_used_is_refused_before_anything_is_written(
        self, arguments: tuple[str, ...], message: str, mira: Sgam
    ) -> None:
        ran = mira("set", "mira", *arguments)

        assert (ran.code, mira("quarantine", "--json").json) == (3, [])
        assert error_of(ran.err).startswith(message)

    @pytest.mark.parametrize("arguments", [(), ("Oslo", "--revoke")])
    def test_a_value_and_a_revocation_exclude_each_other(self, arguments: tuple[str, ...], mira: Sgam) -> None:
        ran = mira("set", "mira", "home_city", *arguments)

        assert ran.code == 2
        assert "give either a VALUE or --revoke" in error_of(ran.err)


class TestRetract:
    def test_what_an_episode_said_is_taken_back_and_what_it_hid_returns(self, mira: Sgam) -> None:
        said = mira("current", "mira", "home_city", "--json").json
        ran = mira("retract", "--episode", said["episode_id"])

        assert (ran.code, ran.out.splitlines()[0]) == (0, "retracted")
        assert mira("current", "mira", "home_city", "--json").json["value"] == "Oslo"
        assert mira("at", "mira", "home_city", "--known-at", said["known_from"], "--json").json["value"] == "Rome"

    def test_one_assertion_can_be_taken_back(self, mira: Sgam) -> None:
        said = mira("current", "mira", "home_city", "--json").json
        mira("retract", "--assertion", str(said["assertion_id"]))

        assert mira("current", "mira", "home_city", "--json").json["value"] == "Oslo"

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [((), 2), (("--episode", "a", "--assertion", "1"), 2), (("--episode", "nope"), 3), (("--assertion", "1"), 3)],
    )
    def test_what_is_not_there_is_refused(self, arguments: tuple[str, ...], code: int, mira: Sgam) -> None:
        ran = mira("retract", *arguments)

        assert ran.code == code
        assert error_of(ran.err)


class TestForget:
    def test_a_subject_is_erased_with_a_receipt(self, mira: Sgam, home: Path) -> None:
        erasure = mira("forget", "--subject", "mira", "--yes", "--json").json

        assert erasure["removed"]["facts"] >= 4
        assert mira("facts", "--json").json == []
        assert b"XX12" not in b"".join(file.read_bytes() for file in home.glob("memory.db*"))

    def test_without_a_terminal_it_wants_yes_and_does_nothing(
        self, mira: Sgam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
        ran = mira("forget", "--everything")

        assert (ran.code, error_of(ran.err)) == (3, "forgetting cannot be undone and nobody can be asked")
        assert len(mira("facts", "--json").json) == 4

    @pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 4), ("\n", 1, 4)])
    def test_on_a_terminal_it_asks(
        self, typed: str, code: int, left: int, mira: Sgam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        terminal = io.StringIO(typed)
        monkeypatch.setattr(terminal, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdin", terminal)

        ran = mira("forget", "--subject", "mira")

        assert ran.code == code
        assert len(mira("facts", "--json").json) == left

    @pytest.mark.parametrize("arguments", [(), ("--subject", "a", "--everything")])
    def test_it_wants_to_know_what(self, arguments: tuple[str, ...], mira: Sgam) -> None:
        assert mira("forget", "--yes", *arguments).code == 2

    def test_an_unknown_episode_is_refused(self, mira: Sgam) -> None:
        assert mira("forget", "--episode", "nope", "--yes").code == 3


class TestSchema:
    def test_the_stored_schema_comes_back_in_the_form_that_is_read(self, mira: Sgam, home: Path) -> None:
        shown = mira("schema", "show", "--json").out
        (home / "shown.json").write_text(shown, encoding="utf-8")

        assert mira("schema", "check", "shown.json", "--json").json == {
            "name": "travel",
            "version": 1,
            "ok": True,
            "stored": {"version": 1, "same_version": True, "differences": []},
        }
        assert "traveller.iban" in mira("schema", "show").out

    def test_a_sound_file_is_ok_without_a_store(self, sgam: Sgam, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SGAM_DB")

        assert sgam("schema", "check", "schema.json").out == "ok: travel version 1: 1 types, 7 attributes\n"

    def test_another_schema_of_the_same_version_is_told_apart(self, mira: Sgam, home: Path) -> None:
        text = (home / "schema.json").read_text(encoding="utf-8")
        (home / "schema.json").write_text(text.replace("home_city", "home_town"), encoding="utf-8")
        checked, used = mira("schema", "check", "schema.json"), mira("set", "a", "iban", "X", "--schema", "schema.json")

        assert (checked.code, used.code) == (1, 3)
        assert "  traveller.home_city was removed\n  traveller.home_town was added\n" in checked.out
        assert error_of(used.err).startswith("schema travel version 1 differs from the stored one: traveller.home_city")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "bad.json: schema: Invalid JSON"),
            (b"{}", "bad.json: name: Field required"),
            (b"\xff", "bad.json: invalid UTF-8 at byte 1"),
            (b'{"name": "a", "version": 1, "types": {}}', "bad.json: types: a schema needs at least one memory type"),
            (
                b'{"name": "a", "version": 1, "types": {"p": {"attributes": {"x": {"type": "txt"}}}}}',
                "bad.json: types.p.",
            ),
        ],
    )
    def test_a_file_that_is_no_schema_is_refused(self, content: bytes, message: str, sgam: Sgam, home: Path) -> None:
        (home / "bad.json").write_bytes(content)
        ran = sgam("schema", "check", "bad.json")

        assert ran.code == 3
        assert error_of(ran.err).startswith(message)

    def test_a_file_that_is_not_there_is_refused(self, sgam: Sgam) -> None:
        ran = sgam("schema", "check", "nowhere.json")

        assert (ran.code, error_of(ran.err)) == (3, "nowhere.json: No such file or directory")


class TestStores:
    @pytest.mark.parametrize("command", sorted(READING))
    def test_a_reading_command_makes_no_database(self, command: str, sgam: Sgam, home: Path) -> None:
        ran = sgam(*command.split(), *READING[command])

        assert (ran.code, error_of(ran.err)) == (4, "no database at memory.db")
        assert not (home / "memory.db").exists()

    @pytest.mark.parametrize("command", sorted(READING))
    def test_a_reading_command_answers_in_json_and_in_words(self, command: str, mira: Sgam) -> None:
        told, data = (mira(*command.split(), *READING[command], *more) for more in ([], ["--json"]))

        assert (told.code, told.err, data.code, data.err) == (0, "", 0, "")
        assert isinstance(data.json, list | dict)

    @pytest.mark.parametrize(
        ("url", "code", "message"),
        [
            ("mysql://x", 3, "store 'mysql:...': unknown scheme"),
            ("sqlite:memory.db", 3, "store sqlite:memory.db: no file is named"),
            ("sqlite:///", 3, "store sqlite:///: no file is named"),
            ("postgresql://u:secret@host/db", 3, "store postgresql:...: not supported yet"),
            ("memory:", 3, "the store holds no schema yet"),
            ("sqlite:///nowhere/x.db", 4, "no database at nowhere/x.db"),
            ("", 3, "store '': unknown scheme"),
        ],
    )
    def test_a_url_that_names_no_store_is_refused(self, url: str, code: int, message: str, sgam: Sgam) -> None:
        ran = sgam("facts", "--db", url)

        assert (ran.code, error_of(ran.err)) == (code, message)

    def test_a_file_of_another_kind_is_refused_and_left_alone(self, sgam: Sgam, home: Path) -> None:
        (home / "memory.db").write_bytes(b"Dear diary, this is no database. " * 50)
        ran = sgam("facts")

        assert (ran.code, (home / "memory.db").read_bytes()[:10]) == (4, b"Dear diary")
        assert error_of(ran.err).startswith("memory.db: ")

    def test_a_database_of_another_program_is_refused(self, sgam: Sgam, home: Path) -> None:
        database = sqlite3.connect(home / "memory.db")
        database.execute("create table notes (text)")
        database.close()
        ran = sgam("facts")

        assert (ran.code, error_of(ran.err)) == (4, "memory.db: this database belongs to another program")

    def test_a_database_of_a_newer_version_is_refused(self, mira: Sgam, home: Path) -> None:
        database = sqlite3.connect(home / "memory.db")
        database.execute("pragma user_version = 9999")
        database.close()
        ran = mira("facts")

        assert ran.code == 4
        assert error_of(ran.err).startswith("memory.db: written by a newer sgam")

    def test_the_folder_of_a_new_database_must_exist(self, sgam: Sgam) -> None:
        ran = sgam("set", "a", "home_city", "b", "--schema", "schema.json", "--db", "sqlite:///nowhere/x.db")

        assert (ran.code, error_of(ran.err)) == (4, "nowhere/x.db: the folder does not exist")


class TestHostileText:
    def test_what_is_shown_cannot_steer_the_terminal_or_be_taken_for_markup(self, mira: Sgam) -> None:
        mira("set", "mira", "home_city", "\x1b[31m[bold]Oslo[/bold]\x07\u202e:smile:")

        for command in ("current", "history", "explain"):
            out = mira(command, "mira", "home_city").out
            assert "\x1b" not in out
            assert "\\x1b[31m[bold]Oslo[/bold]\\x07\\u202e:smile:" in out

    def test_an_error_stays_on_one_line(self, mira: Sgam) -> None:
        assert "\\nerror: b\\x1b" in error_of(mira("current", "mira", "a\nerror: b\x1b").err)

    @pytest.mark.parametrize("subject", ["", "  ", "a\x00b", "a\nb" * 3, "\udcff", "x" * 501])
    def test_a_subject_that_is_no_id_is_refused_or_normalised(self, subject: str, mira: Sgam) -> None:
        ran = mira("current", subject, "home_city")

        assert ran.code in {0, 3}
        assert ran.err == "" or error_of(ran.err).startswith("subject: ")

    @pytest.mark.parametrize("tenant", ["a\x00b", "\udcff"])
    def test_a_tenant_that_cannot_be_stored_is_refused(self, tenant: str, mira: Sgam) -> None:
        ran = mira("facts", "--tenant", tenant)

        assert ran.code == 3
        assert error_of(ran.err).startswith("tenant: ")

    def test_letters_of_any_script_come_out_as_they_went_in(self, mira: Sgam) -> None:
        mira("set", "mira", "home_city", "Zürich 東京 🙂")

        assert "Zürich 東京 🙂" in mira("current", "mira", "home_city").out
        assert mira("current", "mira", "home_city", "--json").json["value"] == "Zürich 東京 🙂"


class TestMain:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_help_of_a_command_has_an_example(self, command: str, sgam: Sgam) -> None:
        ran = sgam(*command.split(), "--help")

        assert ran.code == 0
        assert f"Example: sgam {command} " in " ".join(ran.out.split())

    def test_the_help_documents_the_exit_codes(self, sgam: Sgam) -> None:
        out = sgam("--help").out

        assert re.findall(r"^    (\d+) ", out, re.MULTILINE) == ["0", "1", "2", "3", "4", "5", "70", "130"]

    def test_no_command_shows_the_help_and_is_wrong(self, sgam: Sgam) -> None:
        ran = sgam()

        assert (ran.code, ran.out.startswith("Usage: sgam ")) == (2, True)

    @pytest.mark.parametrize(
        "arguments", [("fly",), ("current",), ("current", "a"), ("facts", "--fly"), ("confirm", "x"), ("schema",)]
    )
    def test_a_wrong_command_line_exits_2_with_one_line(self, arguments: tuple[str, ...], sgam: Sgam) -> None:
        ran = sgam(*arguments)

        assert ran.code == 2
        assert error_of(ran.err)

    def test_a_store_must_be_named(self, sgam: Sgam, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SGAM_DB")
        ran = sgam("facts")

        assert ran.code == 2
        assert "--db" in error_of(ran.err)

    @pytest.mark.parametrize(
        ("raised", "code", "message"),
        [
            (KeyboardInterrupt(), 130, "interrupted"),
            (typer.Abort(), 130, "interrupted"),
            (PermissionError(13, "Permission denied", "x"), 3, "[Errno 13] Permission denied: 'x'"),
            (ZeroDivisionError("by\nzero"), 70, "a bug in sgam: ZeroDivisionError: by\\nzero"),
            (RecursionError("deep"), 70, "a bug in sgam: RecursionError: deep"),
        ],
    )
    def test_whatever_happens_is_told_in_one_line(
        self, raised: BaseException, code: int, message: str, sgam: Sgam, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(**_: object) -> int:
            raise raised

        monkeypatch.setattr(cli, "app", fail)
        ran = sgam("facts")

        assert (ran.code, error_of(ran.err)) == (code, message)


@pytest.fixture
def environment(mira: Sgam) -> dict[str, str]:
    return {**os.environ, "PYTHONIOENCODING": "utf-8"}


class TestProcess:
    def test_the_help_loads_no_model_library_and_no_store(self) -> None:
        code = (
            "import sys; from sgam.agent.cli import main; main(['--help'])\n"
            "print(sorted({'torch', 'transformers', 'pydantic', 'sqlite3', 'sgam.agent.memory'} & set(sys.modules)))"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

        assert ran.stdout.splitlines()[-1] == "[]", ran.stderr

    def test_a_closed_pipe_ends_it_without_a_word(self, environment: dict[str, str]) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        run = [sys.executable, "-m", "sgam.agent.cli", "facts"]
        ran = subprocess.run(run, stdout=writer, stderr=subprocess.PIPE, env=environment)
        os.close(writer)

        assert (ran.returncode, ran.stderr) == (1, b"")

    def test_a_terminal_that_knows_only_ascii_gets_sound_json(self, environment: dict[str, str]) -> None:
        run = [sys.executable, "-m", "sgam.agent.cli"]
        subprocess.run([*run, "set", "mira", "home_city", "Zürich"], env=environment, check=True, capture_output=True)
        ascii_only = {**environment, "PYTHONIOENCODING": "ascii"}
        ran = subprocess.run([*run, "facts", "--json"], env=ascii_only, capture_output=True)
        told = subprocess.run([*run, "facts"], env=ascii_only, capture_output=True)

        assert "Zürich" in [fact["value"] for fact in json.loads(ran.stdout)]
        assert (told.returncode, b"Z\\xfcrich" in told.stdout) == (0, True)

    def test_an_interrupt_exits_130(self, environment: dict[str, str]) -> None:
        code = (
            "import os, signal, sys; from sgam.agent import cli; from sgam.agent.memory import Memory\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background begins without it\n"
            "Memory.open = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
            "sys.exit(cli.main(['facts']))"
        )
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

        assert (ran.returncode, error_of(ran.stderr)) == (130, "interrupted")

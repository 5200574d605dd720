from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from sgam.evals.extraction import Counts, Said, Turn, drawn, figures, intervals, tally, turns_of
from sgam.extraction.backends.scripted import ScriptedBackend
from sgam.extraction.extractor import Extractor
from sgam.memory_store.errors import InvalidInput
from sgam.memory_store.model import Outcome, Quarantined, QuarantineReason

CITY, NIGHTS = ("", "hotel.city", ""), ("", "hotel.nights", "")


def said(key: tuple[str, str, str], *values: str, change: str = "new", **more: Any) -> Said:
    return Said(key=key, change=change, values=frozenset(values), **more)


def turn(gold: Sequence[Said], predicted: Sequence[Said], *, case: str = "c", quarantined: int = 0) -> Turn:
    row = Quarantined(reason=QuarantineReason.UNGROUNDED, message="", raw="")
    outcome = Outcome(quarantined=(row,) * quarantined)
    return Turn(case_id=case, episode_id="e", text="", gold=tuple(gold), predicted=tuple(predicted), outcome=outcome)


class TestTally:
    def test_a_value_that_gold_accepts_is_found(self) -> None:
        got = tally(turn([said(CITY, "oslo", "oslo, norway")], [said(CITY, "oslo, norway")]))

        assert got.all == Counts(found=1, gold=1, told=1)

    def test_another_value_or_another_key_is_wrong_and_leaves_gold_unfound(self) -> None:
        assert tally(turn([said(CITY, "oslo")], [said(CITY, "rome")])).all == Counts(0, 1, 1)
        assert tally(turn([said(CITY, "oslo")], [said(NIGHTS, "oslo")])).all == Counts(0, 1, 1)

    def test_the_same_update_told_twice_counts_once(self) -> None:
        assert tally(turn([said(CITY, "oslo")], [said(CITY, "oslo")] * 2)).all == Counts(1, 1, 2)

    def test_a_revocation_is_found_by_a_revocation_alone(self) -> None:
        gone = said(CITY, change="revoke")

        assert tally(turn([gone], [gone])).all == Counts(1, 1, 1)
        assert tally(turn([gone], [said(CITY, "oslo")])).all == Counts(0, 1, 1)

    def test_the_change_is_judged_where_the_value_is_right(self) -> None:
        gold = [said(CITY, "oslo", change="update"), said(NIGHTS, "2")]
        got = tally(turn(gold, [said(CITY, "oslo"), said(NIGHTS, "2")]))

        assert (got.all.found, got.right_change) == (2, 1)

    def test_classes_and_kinds_of_evidence_are_counted_apart(self) -> None:
        gold = [said(CITY, "oslo", kind="user_span"), said(NIGHTS, "2", change="update", kind="implicit")]
        got = tally(turn(gold, [said(CITY, "oslo")]))

        assert got.changes == {"new": Counts(1, 1, 1), "update": Counts(0, 1, 0)}
        assert (got.kinds["user_span"].recall, got.kinds["implicit"].recall) == (1.0, 0.0)

    def test_a_paraphrase_is_counted_apart_and_is_no_error_to_give(self) -> None:
        gold = [said(CITY, "oslo", fuzzy=True)]

        assert tally(turn(gold, [said(CITY, "oslo")])).all == Counts()
        assert tally(turn(gold, [said(CITY, "oslo")])).fuzzy.recall == 1.0
        assert tally(turn(gold, [said(CITY, "the capital")])).all == Counts()

    def test_an_optional_update_is_neither_wrong_to_give_nor_to_leave_out(self) -> None:
        gold = [said(CITY, "oslo", optional=True)]

        assert tally(turn(gold, [])).all == tally(turn(gold, [said(CITY, "oslo")])).all == Counts()

    def test_whatever_is_told_of_a_turn_with_nothing_to_store_is_a_false_write(self) -> None:
        got = tally(turn([], [said(CITY, "oslo"), said(NIGHTS, "2")])) + tally(turn([], []))

        assert (got.empty, got.false_writes) == (2, 2)
        assert figures(got)["negatives.false_writes_per_100"] == 100.0


class TestFigures:
    def test_precision_recall_and_f1_are_micro_averaged(self) -> None:
        got = figures(tally(turn([said(CITY, "oslo"), said(NIGHTS, "2")], [said(CITY, "oslo"), said(CITY, "rome")])))

        assert (got["extraction.precision"], got["extraction.recall"], got["extraction.f1"]) == (0.5, 0.5, 0.5)

    def test_nothing_at_all_gives_zeros(self) -> None:
        assert figures(tally(turn([], [])))["extraction.f1"] == 0.0

    def test_an_interval_holds_its_figure_and_is_wider_over_fewer_cases(self) -> None:
        hit, miss = [said(CITY, "oslo")], [said(CITY, "rome")]

        def width(cases: int) -> float:
            turns = [turn(hit, hit if number % 2 else miss, case=str(number)) for number in range(cases)]
            got = intervals(turns)
            assert got["extraction.f1.low"] <= got["extraction.f1"] <= got["extraction.f1.high"]
            return got["extraction.f1.high"] - got["extraction.f1.low"]

        assert width(100) < 0.6 * width(10)


def case() -> dict[str, Any]:
    """Oslo is said and read back; then thanks."""
    lines = [("user", "A hotel in Oslo, please."), ("assistant", "In Oslo?"), ("user", "Yes."), ("user", "Thanks!")]
    evidence = {"episode_id": "e0", "text": "Oslo", "start": 11, "end": 15, "kind": "user_span"}
    update = {"subject": "h", "attribute": "city", "value": "Oslo", "accept": ["Oslo"], "evidence": evidence}
    return {
        "case_id": "hotel",
        "tenant": "t",
        "schema": {"name": "s", "version": 1, "types": {"hotel": {"attributes": {"city": {"type": "text"}}}}},
        "subjects": {"h": "hotel"},
        "episodes": [
            {"episode_id": f"e{n}", "observed_at": f"2026-06-01T09:0{n}:00Z", "speaker": s, "source": s, "text": text}
            for n, (s, text) in enumerate(lines)
        ],
        "updates": [
            {**update, "episode_id": "e0", "change": "new", "current_value": None},
            {**update, "episode_id": "e2", "change": "no_change", "current_value": "Oslo"},
        ],
    }


class TestTurns:
    def answers(self) -> list[str]:
        head = {"evidence": "in Oslo", "subject": "user", "attribute": "city", "current_value": None}
        new = {**head, "change": "new", "value": "Oslo", "when": None, "until": None}
        again = {**new, "evidence": "Yes.", "current_value": "Oslo", "change": "no_change", "value": None}
        return [json.dumps({"updates": items}) for items in ([new], [again], [])]

    def test_each_turn_is_asked_about_with_gold_on_record(self) -> None:
        backend = ScriptedBackend(self.answers())
        got = list(turns_of([case()], lambda schema: Extractor(schema, backend)))

        assert [len(turn.predicted) for turn in got] == [1, 1, 0]
        assert sum((tally(turn) for turn in got[1:]), tally(got[0])).all == Counts(2, 2, 2)
        assert "On record" not in backend.requests[0].messages[-1].content
        assert 'On record about user: {"city":"Oslo"}' in backend.requests[1].messages[-1].content

    def test_cases_are_drawn_by_type_until_there_are_enough_turns(self) -> None:
        cases = [{**case(), "case_id": str(number)} for number in range(10)]

        assert len(drawn(cases, only=["hotel"], turns=7, seed=0)) == 3
        assert drawn(cases, only=["hotel"], turns=7, seed=0) == drawn(cases, only=["hotel"], turns=7, seed=0)
        assert drawn(cases, only=["flight"], turns=7, seed=0) == []


def test_counts_of_nothing_are_zero() -> None:
    assert (Counts().precision, Counts().recall, Counts().f1) == (0.0, 0.0, 0.0)


def test_no_turns_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no turns to score"):
        intervals([])

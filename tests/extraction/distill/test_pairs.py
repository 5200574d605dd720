from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from sgam.extraction.distill import plan
from sgam.extraction.distill.pairs import DECISION, FORCED, Form, Pair, changes, pairs, weights

from .conftest import hotel_case

OWN = Form(speaker="mira", own=True)


def answers(form: Form = OWN) -> list[list[dict[str, Any]]]:
    return [json.loads(pair.answer)["updates"] for pair in pairs(hotel_case(), form)]


def test_there_is_a_pair_for_each_turn_of_the_user() -> None:
    assert [pair.episode_id for pair in pairs(hotel_case(), OWN)] == ["e0", "e2", "e4", "e6"]


def test_updates_stand_in_the_order_in_which_the_turn_says_them() -> None:
    assert [item["attribute"] for item in answers()[0]] == ["price", "city", "nights"]


def test_the_evidence_is_the_value_with_a_few_words_around_it() -> None:
    assert [item["evidence"] for item in answers()[0]] == [
        "Please find me a cheap hotel in",
        "a cheap hotel in Oslo",
        "for two nights",
    ]


def test_quoted_values_are_in_the_words_of_the_turn_and_enums_are_members() -> None:
    assert [item["value"] for item in answers()[0]] == ["low", "Oslo", "two"]


def test_what_is_affirmed_is_proved_by_the_affirmation() -> None:
    name, city = answers()[1]

    assert (name["evidence"], name["change"], name["value"]) == ("Yes, that's right.", "new", "Grand Hotel")
    assert (city["change"], city["current_value"], city["value"]) == ("no_change", "Oslo", None)


def test_a_change_shows_the_value_on_record() -> None:
    [nights] = answers()[2]

    assert (nights["current_value"], nights["change"], nights["value"]) == (2, "update", "three")


def test_a_turn_with_nothing_to_store_has_an_empty_answer() -> None:
    assert pairs(hotel_case(), OWN)[-1].answer == '{"updates":[]}'


def test_facts_are_the_speakers_or_those_of_the_subjects_of_the_case() -> None:
    own, theirs = pairs(hotel_case(), OWN)[1], pairs(hotel_case(), Form(speaker="mira"))[1]

    assert 'On record about mira: {"' in own.prompt.question.content
    assert "Subjects: mira, hotel_1\nOn record about hotel_1:" in theirs.prompt.question.content
    assert {item["subject"] for item in answers(Form(speaker="mira"))[0]} == {"hotel_1"}


def test_the_seed_changes_the_order_of_the_attributes_and_nothing_else() -> None:
    constants = {pairs(hotel_case(), Form(own=True, seed=seed))[0].prompt.constant[0].content for seed in range(20)}

    assert len(constants) > 3
    assert len({"".join(sorted(constant)) for constant in constants}) == 1


def test_a_gold_update_that_would_be_refused_is_missed_not_taught() -> None:
    case = hotel_case()
    case["updates"][0]["raw_value"] = case["updates"][0]["evidence"]["text"] = "nine"
    first = pairs(case, OWN)[0]

    assert first.missed == 1
    assert [item["attribute"] for item in json.loads(first.answer)["updates"]] == ["price", "city"]


def test_only_what_the_model_decides_counts_in_training() -> None:
    answer = '{"updates":[{"evidence":"a","attribute":"b","current_value":null,"change":"new","value":"c"}]}'
    counted = "".join(char for char, count in zip(answer, weights(answer), strict=True) if count > FORCED)

    assert counted == '{:"a":"b":"new":"c"}]'
    assert weights('{"updates":[]}') == [FORCED] * 12 + [DECISION, FORCED]


def test_changes_are_counted() -> None:
    assert changes(pairs(hotel_case(), OWN)) == {"missed": 0, "new": 4, "no_change": 1, "update": 1, "nothing": 1}


class TestPlan:
    def plan(self, seed: int = 0, count: int = 40) -> list[list[Pair]]:
        cases = [{**hotel_case(), "case_id": f"hotel{number}"} for number in range(12)]
        return plan.plan(cases, count, random.Random(seed), size=4)

    def test_the_pairs_of_a_batch_share_the_constant_part(self) -> None:
        assert all(len({pair.prompt.constant for pair in batch}) == 1 for batch in self.plan())

    def test_no_batch_is_too_large(self) -> None:
        assert {len(batch) for batch in self.plan()} <= {1, 2, 3, 4}

    def test_the_same_seed_gives_the_same_plan(self) -> None:
        assert self.plan(3) == self.plan(3)
        assert self.plan(3) != self.plan(4)

    def test_turns_with_nothing_to_store_do_not_prevail(self) -> None:
        kinds = [plan.kind_of(pair) for batch in self.plan() for pair in batch]

        assert 0.1 < kinds.count("nothing") / len(kinds) < 0.4

    def test_it_survives_being_written(self, tmp_path: Path) -> None:
        plan.write(self.plan(), tmp_path / "pairs.jsonl")
        read = plan.read(tmp_path / "pairs.jsonl")

        assert [[(pair.prompt, pair.answer) for pair in batch] for batch in read] == [
            [(pair.prompt, pair.answer) for pair in batch] for batch in self.plan()
        ]

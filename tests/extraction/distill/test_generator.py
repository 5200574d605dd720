from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import pytest
from sgam.extraction import dates, grounding
from sgam.extraction.distill.catalogue import Spec
from sgam.extraction.distill.generator import Case, generate
from sgam.extraction.distill.schemas import CATALOGUE
from sgam.memory_store.model import Episode
from sgam.memory_store.schema import MemorySchema
from sgam.memory_store.values import fold

Update = dict[str, Any]
Key = tuple[str, str, str]


@cache
def cases() -> list[Case]:
    return list(generate(150, seed=11))


def updates() -> Iterator[tuple[Case, Update, dict[str, Any]]]:
    for case in cases():
        episodes = {episode["episode_id"]: episode for episode in case["episodes"]}
        for update in case["updates"]:
            yield case, update, episodes


def key_of(update: Update) -> Key:
    return update["subject"], update["attribute"], fold(str(update.get("item") or ""))


def test_the_same_seed_gives_the_same_cases() -> None:
    assert list(generate(5, seed=3)) == list(generate(5, seed=3))


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    assert list(generate(3, seed=3)) == list(generate(9, seed=3))[:3]


def test_no_two_seeds_are_alike() -> None:
    texts = [[e["text"] for case in generate(4, seed=seed) for e in case["episodes"]] for seed in range(20)]

    assert not any(a == b for a, b in itertools.combinations(texts, 2))


def test_schemas_and_episodes_are_those_of_the_library() -> None:
    for case in cases():
        attributes = MemorySchema.from_json(case["schema"]).attributes()
        times = [Episode.from_json(episode).observed_at for episode in case["episodes"]]

        assert 3 <= len(attributes) <= 12
        assert times == sorted(times)
        assert 4 <= len(times) <= 10


def test_turns_are_short() -> None:
    assert max(len(e["text"].split()) for case in cases() for e in case["episodes"]) <= 50


def test_evidence_stands_where_it_says() -> None:
    for _, update, episodes in updates():
        evidence = update["evidence"]
        text = episodes[evidence["episode_id"]]["text"]

        assert text[evidence["start"] : evidence["end"]] == evidence["text"] != ""


@pytest.mark.parametrize("quote", ["raw_value", "when", "until"])
def test_quotes_stand_in_the_turn_in_whole_words(quote: str) -> None:
    for _, update, episodes in updates():
        if update[quote] is None:
            continue
        text = episodes[update["evidence"]["episode_id"]]["text"]
        span = grounding.find(update[quote], text)

        assert span is not None
        assert span.match == "exact"
        assert not grounding.cuts_word(text, span)


def test_what_is_read_back_is_affirmed() -> None:
    for _, update, episodes in updates():
        if update["evidence"]["kind"] == "system_span":
            assert grounding.affirms(episodes[update["episode_id"]]["text"])


def test_phrases_of_time_resolve_to_the_times_that_the_updates_have() -> None:
    for _, update, episodes in updates():
        episode = episodes[update["episode_id"]]
        scene = {"anchor": datetime.fromisoformat(episode["observed_at"]), "zone": episode["zone"]}
        start = dates.resolve(update["when"], **scene) if update["when"] else None
        expected = start.start if start else scene["anchor"]

        assert datetime.fromisoformat(update["valid_from"]) == expected
        assert update["until"] is None or dates.resolve_end(update["until"], **scene)


def test_values_are_canonical() -> None:
    for case, update, _ in updates():
        kind = case["subjects"][update["subject"]]
        attribute = MemorySchema.from_json(case["schema"]).attribute(f"{kind}.{update['attribute']}")
        if update["value"] is not None:
            decoded = attribute.type.parse(update["value"])

            assert fold(str(update["value"])) in map(fold, map(str, update["accept"]))
            assert attribute.type.canonical(decoded) == attribute.type.canonical(update["value"])


def test_changes_agree_with_a_replay() -> None:
    for case in cases():
        record: dict[Key, Any] = {}
        for update in case["updates"]:
            assert update["current_value"] == record.get(key_of(update))
            assert update["change"] == _expected(update["current_value"], update["value"])

            record[key_of(update)] = update["value"]


def _expected(current: Any, value: Any) -> str:
    if value is None:
        return "revoke"
    if current is None:
        return "new"
    return "no_change" if fold(str(current)) == fold(str(value)) else "update"


def test_a_fair_share_of_the_turns_has_nothing_to_remember() -> None:
    told = Counter[bool]()
    for case in cases():
        with_update = {update["episode_id"] for update in case["updates"]}
        told.update(e["episode_id"] in with_update for e in case["episodes"] if e["source"] == "user")

    assert 0.3 < told[False] / told.total() < 0.5


def test_all_changes_and_value_types_occur() -> None:
    changes = {update["change"] for _, update, _ in updates()}
    kinds = {(spec.kind, spec.many) for spec in map(_declared, updates())}

    assert changes == {"new", "update", "revoke", "no_change"}
    assert {kind for kind, _ in kinds} == {
        *("text", "integer", "number", "decimal", "boolean", "date", "time", "datetime", "enum")
    }
    assert {many for _, many in kinds} == {None, "set", "map"}


def _declared(row: tuple[Case, Update, dict[str, Any]]) -> Any:
    case, update, _ = row
    schema = MemorySchema.from_json(case["schema"])
    attribute = schema.attribute(f"{case['subjects'][update['subject']]}.{update['attribute']}")
    return Spec(names=(), about=(), spoken=(), kind=attribute.type.name, many=attribute.many)


def test_the_end_state_is_what_was_said_last() -> None:
    for case in cases():
        for row in case["end_state"]:
            said = [u for u in case["updates"] if key_of(u) == key_of(row)]

            assert identity_of(row["value"]) in {identity_of(update["value"]) for update in said}


def identity_of(value: Any) -> str:
    return fold(value) if isinstance(value, str) else json.dumps(value)


def test_the_catalogue_is_large() -> None:
    templates = {t for spec in CATALOGUE for t in (*spec.say, *spec.update, *spec.drop)}
    templates |= {t for spec in CATALOGUE for member in spec.members for t in member.says}

    assert len(CATALOGUE) >= 60
    assert len(templates) >= 400

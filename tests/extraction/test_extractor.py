from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.backends.base import Budget, Certainty, Completion, Request, Usage
from sgam.extraction.backends.scripted import ScriptedBackend
from sgam.extraction.extractor import MAX_ITEMS_IN_PLAY, ExtractionTask, Extractor
from sgam.memory_store.errors import BackendError, GrammarError, InvalidInput
from sgam.memory_store.model import Outcome
from sgam.memory_store.schema import MemorySchema

from .conftest import SCHEMA, fact, fields, key, said, task

OSLO = fields("I live in Oslo", "city", "Oslo")


def updates(*given: object) -> dict[str, Any]:
    return {"updates": list(given)}


def extract(answer: Any, asked: ExtractionTask, **more: Any) -> Outcome:
    return Extractor(SCHEMA, ScriptedBackend(answer if isinstance(answer, list) else [answer]), **more).extract(asked)


def last_question(asked: ExtractionTask, **more: Any) -> Request:
    """What the backend is asked."""
    backend = ScriptedBackend([updates()])
    Extractor(SCHEMA, backend, **more).extract(asked)
    return backend.requests[-1]


class Mute:
    """Fails each request whose source says so, and with it the batch that it is in."""

    name = "mute"
    compact = False
    repairs = False

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        if any("fail" in request.source for request in requests):
            raise BackendError("the server is away")
        return [Completion(text='{"updates": []}', usage=Usage(calls=1)) for _ in requests]


class TestOutcome:
    def test_a_good_answer_becomes_candidates(self) -> None:
        got = extract(updates(OSLO), task("I live in Oslo."))

        assert got.status == "complete"
        assert [(candidate.key, candidate.value) for candidate in got.candidates] == [(key("city"), '"Oslo"')]
        assert (got.quarantined, got.error) == ((), None)

    def test_one_bad_item_costs_no_other(self) -> None:
        got = extract(updates({**OSLO, "value": "Rome"}, OSLO), task("I live in Oslo."))

        assert [candidate.value for candidate in got.candidates] == ['"Oslo"']
        [row] = got.quarantined
        assert row.reason == "ungrounded"
        assert json.loads(row.raw) == {**OSLO, "value": "Rome"}

    def test_what_is_said_twice_counts_once_and_is_accounted_for(self) -> None:
        got = extract(updates(OSLO, {**OSLO, "evidence": "Oslo"}), task("I live in Oslo."))

        assert len(got.candidates) == 1
        assert [row.reason for row in got.quarantined] == ["duplicate"]

    def test_usage_is_added_up(self) -> None:
        used = Usage(calls=1, prompt_tokens=100, completion_tokens=20, seconds=0.5)
        answers = [Completion(text="what?", usage=used), Completion(text='{"updates": []}', usage=used)]
        got = extract(answers, task("Hi"))

        cost = {"calls": 2, "prompt_tokens": 200, "completion_tokens": 40, "seconds": 1.0}
        assert got.usage == {**cost, "failures.malformed": 1}

    def test_a_cut_answer_is_partial_and_keeps_what_is_whole(self) -> None:
        text = json.dumps(updates(OSLO, OSLO))
        got = extract(Completion(text=text[:-40], finish="length"), task("I live in Oslo."))

        assert (got.status, len(got.candidates), len(got.quarantined)) == ("partial", 1, 1)
        assert got.error == "the answer breaks off; what stands before is kept"

    @given(entries=st.lists(st.sampled_from([OSLO, {**OSLO, "value": "Rome"}, {}, 7, None]), max_size=9))
    def test_every_entry_is_a_candidate_or_a_row(self, entries: list[Any]) -> None:
        got = extract(updates(*entries), task("I live in Oslo."))

        assert len(got.candidates) + len(got.quarantined) == len(entries)


class TestAttempts:
    def test_an_unusable_answer_is_asked_for_again_and_kept_in_quarantine(self) -> None:
        got = extract(["I am sorry", updates(OSLO)], task("I live in Oslo."))

        assert (got.status, len(got.candidates)) == ("complete", 1)
        assert [row.raw for row in got.quarantined] == ["I am sorry"]

    def test_when_the_attempts_are_used_up_it_failed(self) -> None:
        got = extract(["one", "two", updates(OSLO)], task("I live in Oslo."))

        assert (got.status, got.candidates, got.error) == ("failed", (), "the answer could not be used")
        assert [row.raw for row in got.quarantined] == ["one", "two"]

    def test_when_the_seconds_are_used_up_it_failed(self) -> None:
        slow = Completion(text="what?", usage=Usage(calls=1, seconds=5))
        backend = ScriptedBackend([slow, updates(OSLO)])
        got = Extractor(SCHEMA, backend, budget=Budget(seconds=4)).extract(task("Hi"))

        assert (got.status, backend.left) == ("failed", 1)

    def test_what_is_left_of_the_seconds_is_for_the_next_attempt(self) -> None:
        slow = Completion(text="what?", usage=Usage(calls=1, seconds=5))
        backend = ScriptedBackend([slow, updates()])
        Extractor(SCHEMA, backend, budget=Budget(seconds=7)).extract(task("Hi"))

        assert [request.budget.seconds for request in backend.requests] == [7, 2]

    def test_a_cut_answer_without_an_item_is_not_asked_for_again(self) -> None:
        backend = ScriptedBackend([Completion(text='{"updates": [{', finish="length"), updates(OSLO)])
        got = Extractor(SCHEMA, backend).extract(task("I live in Oslo."))

        assert (got.status, backend.left, len(got.quarantined)) == ("failed", 1, 1)


class TestErrors:
    def test_a_retryable_error_is_a_failed_outcome(self) -> None:
        got = extract(BackendError("the server is away"), task("Hi"))

        assert (got.status, got.error) == ("failed", "the server is away")

    def test_an_error_after_an_unusable_answer_keeps_both(self) -> None:
        got = extract(["what?", BackendError("the server is away")], task("Hi"))

        assert (got.status, got.error, got.usage["calls"]) == ("failed", "the server is away", 1)
        assert [row.raw for row in got.quarantined] == ["what?"]

    def test_an_error_that_will_not_go_away_is_raised(self) -> None:
        with pytest.raises(GrammarError):
            extract(GrammarError("cannot enforce it"), task("Hi"))

    def test_one_request_of_a_batch_that_fails_costs_no_other(self) -> None:
        got = Extractor(SCHEMA, Mute()).extract_many([task("Hi"), task("please fail"), task("Hello")])

        assert [outcome.status for outcome in got] == ["complete", "failed", "complete"]


class TestSources:
    BOT = said("You live in Oslo.", source="assistant", speaker="bot")
    PICKY = MemorySchema.from_json(
        {
            "name": "picky",
            "version": 1,
            "types": {
                "person": {
                    "attributes": {"city": {"type": "text"}, "iban": {"type": "text", "min_source": "user_confirmed"}}
                }
            },
        }
    )

    def test_a_turn_of_the_assistant_is_context_and_not_asked_about(self) -> None:
        backend = ScriptedBackend([updates()])
        got = Extractor(SCHEMA, backend).extract(ExtractionTask(episode=self.BOT))

        assert (got.status, got.candidates, backend.requests) == ("context", (), [])
        assert got.extractor == Extractor(SCHEMA, backend).version

    def test_it_keeps_its_place_among_others(self) -> None:
        backend = ScriptedBackend([updates(OSLO), updates()])
        tasks = [ExtractionTask(episode=self.BOT), task("I live in Oslo."), task("Hi")]

        assert [len(outcome.candidates) for outcome in Extractor(SCHEMA, backend).extract_many(tasks)] == [0, 1, 0]

    def test_only_attributes_that_allow_the_source_are_offered(self) -> None:
        backend = ScriptedBackend([updates(fields("XX12", "iban", "XX12"))])
        got = Extractor(self.PICKY, backend).extract(task("My IBAN is XX12."))

        assert [row.reason for row in got.quarantined] == ["outside_schema"]
        assert "iban" not in json.dumps(backend.requests[0].schema)
        assert "iban" not in backend.requests[0].messages[0].content


class TestRequest:
    def test_the_source_is_the_text_of_the_episode(self) -> None:
        assert last_question(task("I live in Oslo.")).source == "I live in Oslo."

    def test_what_is_on_record_is_shown_and_a_constant(self) -> None:
        request = last_question(task("Hi", stored=[fact("city", "Oslo"), fact("ratings", "like", item="Tea")]))

        assert 'On record about mira: {"city":"Oslo","ratings":{"Tea":"like"}}\n' in request.messages[-1].content
        members = request.schema["properties"]["updates"]["items"]["anyOf"]
        assert "Oslo" in [member["properties"]["current_value"].get("const") for member in members]

    def test_a_fact_that_the_schema_no_longer_knows_is_left_out(self) -> None:
        request = last_question(task("Hi", stored=[fact("shoe_size", 38), fact("deadline", "soon")]))

        assert "On record" not in request.messages[-1].content

    def test_the_last_turns_before_are_shown(self) -> None:
        turns = [said(f"turn {number}", speaker="bot") for number in range(4)]
        question = last_question(task("Hi", context=turns), context_turns=2).messages[-1].content

        assert question == 'Earlier, bot said: "turn 2"\nEarlier, bot said: "turn 3"\nmira says: "Hi"'
        assert "Earlier" not in last_question(task("Hi", context=turns), context_turns=0).messages[-1].content

    def test_of_very_many_entries_those_that_the_text_names_are_in_play(self) -> None:
        foods = [f"food{number:03}" for number in range(MAX_ITEMS_IN_PLAY + 1)]
        request = last_question(task("I eat food007.", stored=[fact("allergies", f, item=f) for f in foods]))
        question = request.messages[-1].content

        assert 'On record about mira: {"allergies":["food007"]}\n' in question

    def test_the_speaker_is_always_a_known_subject(self) -> None:
        request = last_question(ExtractionTask(episode=said("Hi", speaker="Zoë Ray"), subjects=("leo",)))

        assert '"enum": ["zo\\u00eb_ray", "leo"]' in json.dumps(request.schema)
        assert '["user"]' in json.dumps(last_question(ExtractionTask(episode=said("Hi", speaker=None))).schema)

    def test_the_constant_part_is_the_same_whatever_is_said(self) -> None:
        one, other = (last_question(task(text, stored=[fact("city", text)])) for text in ("Oslo", "Rome"))

        assert one.messages[:-1] == other.messages[:-1]
        assert one.messages[-1] != other.messages[-1]


class TestVersion:
    def test_it_is_the_same_for_the_same_extractor(self) -> None:
        assert Extractor(SCHEMA, Mute()).version == Extractor(SCHEMA, Mute()).version
        assert Extractor(SCHEMA, Mute()).version.startswith("mute travel@1 ")

    def test_a_change_of_model_schema_or_settings_changes_it(self) -> None:
        other = MemorySchema.from_json({**SCHEMA.to_dict(), "version": 2})
        versions = {
            Extractor(SCHEMA, Mute()).version,
            Extractor(SCHEMA, ScriptedBackend()).version,
            Extractor(other, Mute()).version,
            Extractor(SCHEMA, Mute(), max_updates=1).version,
            Extractor(SCHEMA, Mute(), context_turns=0).version,
            Extractor(SCHEMA, Mute(), new_subjects=True).version,
        }

        assert len(versions) == 6

    def test_outcomes_carry_it_with_the_hash_of_the_prompt(self) -> None:
        got = extract(updates(), task("Hi"))
        other = extract(updates(), task("Something else"))

        assert got.prompt_hash == other.prompt_hash
        assert got.prompt_hash is not None
        assert len(got.prompt_hash) == 16


class TestLongTexts:
    FILLER = "It rains again and again. " * 40

    def test_a_long_text_is_asked_about_in_parts(self) -> None:
        backend = ScriptedBackend([updates(), updates(OSLO)])
        text = self.FILLER + "I live in Oslo."
        got = Extractor(SCHEMA, backend, chunk=800).extract(task(text))
        evidence = got.candidates[0].evidence[0]

        assert text[evidence.start : evidence.end] == "I live in Oslo"
        assert [len(request.source) <= 800 for request in backend.requests] == [True, True]
        assert (got.usage["chunks"], got.usage["coverage"]) == (2, 1.0)

    def test_a_quote_means_its_own_part(self) -> None:
        text = "I live in Oslo. " + self.FILLER + "Again: I live in Oslo."
        got = extract([updates(), updates(OSLO)], task(text), chunk=800)

        assert got.candidates[0].evidence[0].start == text.rindex("I live in Oslo")

    def test_words_of_another_part_are_no_evidence(self) -> None:
        text = "Modern art is not for me. " + self.FILLER + "We start at nine."
        got = extract([updates(), updates({**OSLO, "evidence": "art", "value": "art"})], task(text), chunk=800)

        assert got.candidates == ()

    def test_a_part_too_short_to_be_read_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="chunk: -5 code points are too few"):
            extract(updates(), task("Hi"), chunk=-5)

    def test_what_two_parts_say_is_told_once(self) -> None:
        got = extract(
            [updates(OSLO), updates(OSLO)], task("I live in Oslo. " + self.FILLER + "I live in Oslo."), chunk=800
        )

        assert len(got.candidates) == 1
        assert [row.reason.value for row in got.quarantined] == ["duplicate"]

    def test_a_part_that_is_lost_leaves_the_others(self) -> None:
        text = "I live in Oslo. " + self.FILLER
        got = extract([updates(OSLO), "?", "?"], task(text), chunk=800)

        assert (got.status, len(got.candidates)) == ("partial", 1)
        assert 0.5 < got.usage["coverage"] < 1

    def test_a_short_text_is_one_part(self) -> None:
        assert "coverage" not in extract(updates(OSLO), task("I live in Oslo.")).usage


class TestConfidence:
    def extract(self, *sure: Certainty, **more: Any) -> Outcome:
        completion = Completion(text=json.dumps(updates(OSLO)), confidence=sure, **more)
        return extract([completion], task("I live in Oslo."))

    def test_how_sure_the_model_is_goes_into_the_candidate(self) -> None:
        assert self.extract(Certainty(value=0.25)).candidates[0].confidence == 0.25

    def test_a_backend_that_does_not_tell_leaves_none(self) -> None:
        assert self.extract().candidates[0].confidence is None

    def test_an_answer_that_was_closed_early_is_partial(self) -> None:
        got = self.extract(finish="closed")

        assert (got.status, len(got.candidates)) == ("partial", 1)

"""Every row and reason of the table of decisions, and the laws that hold for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.memory_store.model import DecisionKind
from sgam.memory_store.policy import (
    BY_HAND,
    Event,
    EventKind,
    KeyState,
    Ruling,
    Terms,
    chronicle,
    confirm,
    decide,
    drop,
    enact,
    replay,
)
from sgam.memory_store.schema import SOURCES, Rules
from sgam.memory_store.timeline import Assertion, timeline

from .histories import histories, said
from .ledgers import Notebook, cases, day

NOTHING = KeyState()


def terms(*, from_memory: bool = False, **rules: Any) -> Terms:
    return Terms(rules=Rules(**rules), sources=SOURCES, from_memory=from_memory)


def after(*history: Assertion, **rules: Any) -> KeyState:
    """The state after these candidates, in this order, under these rules."""
    state = NOTHING
    for candidate in history:
        state = enact(state, candidate, decide(state, candidate, terms(**rules)))
    return state


def verdict(state: KeyState, candidate: Assertion, judged_by: Terms | None = None) -> str:
    ruling = decide(state, candidate, judged_by or terms())
    return f"{ruling.decision.value} {ruling.reason.value}"


def shape(state: KeyState) -> list[tuple[datetime, datetime | None, str]]:
    return [(stretch.start, stretch.end, stretch.identity) for stretch in timeline(state.live)]


def live(state: KeyState) -> list[int]:
    return [assertion.id for assertion in state.live]


def waiting(state: KeyState) -> list[tuple[int, str]]:
    return [(entry.assertion.id, entry.reason.value) for entry in state.waiting]


class TestReject:
    def test_what_the_assistant_says_is_no_source(self) -> None:
        assert verdict(NOTHING, said(1, "a", 1, source="assistant")) == "reject source_not_trusted"

    @pytest.mark.parametrize("source", ["user_confirmed", "user", "tool", "document"])
    def test_every_better_source_is_one(self, source: str) -> None:
        assert verdict(NOTHING, said(1, "a", 1, source=source)) == "new no_value_then"

    def test_an_attribute_may_allow_the_assistant(self) -> None:
        allowed = terms(min_source="assistant")

        assert verdict(NOTHING, said(1, "a", 1, source="assistant"), allowed) == "new no_value_then"

    def test_what_came_out_of_memory_does_not_go_in_again(self) -> None:
        assert verdict(NOTHING, said(1, "a", 1), terms(from_memory=True)) == "reject from_memory"

    def test_it_comes_before_no_change(self) -> None:
        known = after(said(1, "a", 1))

        assert verdict(known, said(2, "a", 2, source="assistant")) == "reject source_not_trusted"

    def test_it_leaves_the_state_as_it_was(self) -> None:
        known = after(said(1, "a", 1))

        assert after(said(1, "a", 1), said(2, "b", 2, source="assistant")) == known


class TestNoChange:
    def test_the_value_in_force_said_again_is_repeated(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "A", 5)) == "no_change repeated"

    def test_it_is_stored_as_evidence_all_the_same(self) -> None:
        assert live(after(said(1, "a", 1), said(2, "a", 5))) == [1, 2]

    def test_an_end_that_is_known_already_is_without_effect(self) -> None:
        assert verdict(after(said(1, "a", 1, 9)), said(2, "a", 5, 9)) == "no_change without_effect"

    def test_a_revocation_of_nothing_is_without_effect(self) -> None:
        assert verdict(NOTHING, said(1, None, 1)) == "no_change without_effect"

    def test_a_revocation_of_nothing_ends_an_older_value_that_comes_later(self) -> None:
        assert shape(after(said(1, None, 5), said(2, "a", 1))) == [(day(1), day(5), "a")]

    def test_it_comes_before_confirmation(self) -> None:
        known = after(said(1, "a", 1, source="user_confirmed"), confirm=True)

        assert verdict(known, said(2, "a", 5), terms(confirm=True)) == "no_change repeated"

    def test_it_comes_before_recurrence(self) -> None:
        known = after(said(1, "a", 1), said(2, "a", 2), promote_after=2)

        assert verdict(known, said(3, "a", 5), terms(promote_after=2)) == "no_change repeated"

    def test_what_loses_to_a_better_source_of_the_same_time_is_without_effect(self) -> None:
        ranked = terms(on_equal_time="source_rank")
        known = after(said(1, "a", 1, source="user"), on_equal_time="source_rank")

        assert verdict(known, said(2, "b", 1, source="tool"), ranked) == "no_change without_effect"


class TestConfirmation:
    def test_a_first_value_waits(self) -> None:
        assert verdict(NOTHING, said(1, "a", 1), terms(confirm=True)) == "hold needs_confirmation"

    def test_a_revocation_waits(self) -> None:
        known = after(said(1, "a", 1, source="user_confirmed"), confirm=True)

        assert verdict(known, said(2, None, 2), terms(confirm=True)) == "hold needs_confirmation"

    def test_a_source_that_is_a_confirmation_does_not(self) -> None:
        asked = terms(confirm=True)

        assert verdict(NOTHING, said(1, "a", 1, source="user_confirmed"), asked) == "new no_value_then"

    def test_it_comes_before_recurrence_and_equal_time(self) -> None:
        known = after(said(1, "a", 1, source="user_confirmed"), confirm=True)

        assert verdict(known, said(2, "b", 1), terms(confirm=True, promote_after=2)) == "hold needs_confirmation"

    def test_what_waits_changes_nothing(self) -> None:
        state = after(said(1, "a", 1), confirm=True)

        assert shape(state) == []
        assert waiting(state) == [(1, "needs_confirmation")]

    def test_a_confirmed_one_counts_and_waits_no_more(self) -> None:
        state = confirm(after(said(1, "a", 1), confirm=True), said(1, "a", 1))

        assert shape(state) == [(day(1), None, "a")]
        assert waiting(state) == []

    def test_each_confirmed_one_stands_above_those_before(self) -> None:
        first = confirm(after(said(1, "a", 1), said(2, "b", 1), said(3, "c", 1)), said(2, "b", 1))
        second = confirm(first, said(3, "c", 1))

        assert [entry.precedence for entry in second.live] == [0, BY_HAND, BY_HAND + 1]
        assert shape(second) == [(day(1), None, "c")]


class TestConfidence:
    def test_what_the_model_is_not_sure_of_waits(self) -> None:
        doubtful = replace(said(1, "a", 1), confidence=0.4)

        assert verdict(NOTHING, doubtful, terms(min_confidence=0.5)) == "hold low_confidence"
        assert verdict(NOTHING, doubtful, terms(min_confidence=0.4)) == "new no_value_then"

    def test_who_states_no_confidence_does_not_wait(self) -> None:
        assert verdict(NOTHING, said(1, "a", 1), terms(min_confidence=1.0)) == "new no_value_then"

    @pytest.mark.parametrize("value", ["a", None])
    def test_nor_does_a_doubtful_repetition_or_revocation_count(self, value: str | None) -> None:
        doubtful = replace(said(2, value, 2), confidence=0.1)

        assert verdict(after(said(1, "a", 1)), doubtful, terms(min_confidence=0.5)) == "hold low_confidence"
        assert verdict(NOTHING, doubtful, terms(min_confidence=0.5)) == "hold low_confidence"


class TestRecurrence:
    def test_one_episode_is_too_few(self) -> None:
        assert verdict(NOTHING, said(1, "a", 1), terms(promote_after=2)) == "hold needs_recurrence"

    def test_with_the_last_episode_all_become_live_each_at_its_own_time(self) -> None:
        state = after(said(1, "a", 5), said(2, "a", 3), said(3, "a", 7), promote_after=3)

        assert sorted(live(state)) == [1, 2, 3]
        assert shape(state) == [(day(3), None, "a")]

    def test_the_last_of_them_is_new_and_the_others_are_promoted(self) -> None:
        _, rulings = replay([candidate(said(1, "a", 1), promote_after=2), candidate(said(2, "a", 2), promote_after=2)])

        assert [(made.id, made.decision.value, made.reason.value) for made in rulings] == [
            (1, "hold", "needs_recurrence"),
            (2, "new", "no_value_then"),
            (1, "new", "promoted"),
        ]

    def test_the_same_episode_counts_once(self) -> None:
        state = after(said(1, "a", 1, episode=7), said(2, "a", 2, episode=7), promote_after=2)

        assert [number for number, _ in waiting(state)] == [1, 2]

    def test_another_value_does_not_count(self) -> None:
        assert verdict(after(said(1, "a", 1), promote_after=2), said(2, "b", 2), terms(promote_after=2)) == (
            "hold needs_recurrence"
        )

    def test_what_was_said_before_the_value_in_force_began_does_not_count(self) -> None:
        early = said(1, "b", 1)
        known = after(early, said(2, "a", 3), said(3, "a", 4), promote_after=2)

        assert verdict(known, said(4, "b", 5), terms(promote_after=2)) == "hold needs_recurrence"

    def test_what_was_said_since_counts(self) -> None:
        known = after(said(1, "a", 3), said(2, "a", 4), said(3, "b", 5), promote_after=2)

        assert verdict(known, said(4, "b", 6), terms(promote_after=2)) == "supersede other_value_then"

    def test_revocations_recur_as_well(self) -> None:
        known = after(said(1, "a", 3), said(2, "a", 4), said(3, None, 5), promote_after=2)

        assert verdict(known, said(4, None, 6), terms(promote_after=2)) == "supersede revoked"

    def test_it_comes_before_equal_time(self) -> None:
        known = after(said(1, "a", 3), said(2, "a", 3), promote_after=2)

        assert verdict(known, said(4, "b", 3), terms(promote_after=2)) == "hold needs_recurrence"

    def test_one_that_another_value_contests_from_the_same_time_stays_behind(self) -> None:
        known = after(said(1, "a", 3), said(2, "a", 4), said(3, "b", 4), said(4, "b", 5), promote_after=2)

        assert 3 not in live(known)


class TestEqualTime:
    def test_another_value_from_the_same_instant_waits(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "b", 1)) == "hold equal_time"

    def test_a_revocation_from_the_same_instant_waits(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, None, 1)) == "hold equal_time"

    def test_another_instant_does_not(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "b", 1.00001)) == "supersede other_value_then"

    def test_a_better_source_wins_under_source_rank(self) -> None:
        ranked = terms(on_equal_time="source_rank")
        known = after(said(1, "a", 1, source="tool"), on_equal_time="source_rank")

        assert verdict(known, said(2, "b", 1, source="user"), ranked) == "supersede other_value_then"

    def test_an_equal_source_waits_under_source_rank(self) -> None:
        ranked = terms(on_equal_time="source_rank")
        known = after(said(1, "a", 1), on_equal_time="source_rank")

        assert verdict(known, said(2, "b", 1), ranked) == "hold equal_time"

    def test_under_source_rank_the_best_source_counts_whatever_came_first(self) -> None:
        tool, user = said(1, "a", 1, source="tool"), said(2, "b", 1, source="user")
        ranked: dict[str, Any] = {"on_equal_time": "source_rank"}

        assert shape(after(tool, user, **ranked)) == shape(after(user, tool, **ranked)) == [(day(1), None, "b")]

    def test_a_person_outranks_a_user_after_a_confirmation(self) -> None:
        ranked = terms(on_equal_time="source_rank")
        known = confirm(after(said(1, "a", 1, source="tool"), on_equal_time="source_rank"), said(2, "b", 1))

        assert verdict(known, said(3, "c", 1, source="user"), ranked) == "no_change without_effect"

    def test_the_last_recorded_wins_under_that_rule(self) -> None:
        state = after(said(1, "a", 1), said(2, "b", 1), said(3, "c", 1), on_equal_time="last_recorded")

        assert shape(state) == [(day(1), None, "c")]

    def test_the_last_recorded_wins_over_a_confirmed_one_too(self) -> None:
        state = confirm(after(said(1, "a", 1)), said(2, "b", 1))
        recorded = terms(on_equal_time="last_recorded")
        newest = said(3, "c", 1)

        assert shape(enact(state, newest, decide(state, newest, recorded))) == [(day(1), None, "c")]

    def test_the_value_of_the_winner_said_again_does_not_wait(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "a", 1)) == "no_change repeated"


class TestImpreciseOrder:
    def test_a_month_that_covers_the_start_of_another_value_waits(self) -> None:
        known = after(said(1, "a", 10))

        assert verdict(known, said(2, "b", 0, precision="month")) == "hold imprecise_order"

    def test_a_day_that_lies_in_the_month_of_another_value_waits(self) -> None:
        known = after(said(1, "a", 0, precision="month"))

        assert verdict(known, said(2, "b", 10, precision="day")) == "hold imprecise_order"

    def test_an_exact_time_does_not_wait_though_it_lies_in_the_month_of_another_value(self) -> None:
        known = after(said(1, "a", 0, precision="month"))

        assert verdict(known, said(2, "b", 10)) == "supersede other_value_then"

    @pytest.mark.parametrize("other", [31, 40], ids=["at the end of the month", "after the month"])
    def test_a_month_that_ends_before_the_other_value_does_not_wait(self, other: float) -> None:
        known = after(said(1, "a", other))

        assert verdict(known, said(2, "b", 0, precision="month")) == "new no_value_then"

    def test_an_equal_value_in_the_month_is_no_conflict(self) -> None:
        known = after(said(1, "a", 10))

        assert verdict(known, said(2, "a", 0, precision="month")) == "new no_value_then"

    def test_a_coarse_revocation_in_the_month_of_a_value_waits(self) -> None:
        known = after(said(1, "a", 10))

        assert verdict(known, said(2, None, 0, precision="month")) == "no_change without_effect"
        assert verdict(after(said(1, "a", 0, precision="month")), said(2, None, 10, precision="day")) == (
            "hold imprecise_order"
        )


class TestAccept:
    def test_a_key_without_a_value_at_that_time_gets_a_new_one(self) -> None:
        assert verdict(after(said(1, "a", 5)), said(2, "b", 1)) == "new no_value_then"

    def test_another_value_at_that_time_is_superseded(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "b", 5)) == "supersede other_value_then"

    def test_a_revocation_supersedes(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, None, 5)) == "supersede revoked"

    def test_the_end_of_the_value_in_force_learned_later_supersedes(self) -> None:
        assert verdict(after(said(1, "a", 1)), said(2, "a", 5, 9)) == "supersede end_learned"

    def test_the_value_in_force_at_that_time_is_recorded(self) -> None:
        known = after(said(1, "A", 1), said(2, "b", 9))

        assert decide(known, said(3, "c", 5), terms()).current_value == "A"

    def test_a_value_after_the_end_of_another_is_new(self) -> None:
        assert verdict(after(said(1, "a", 1, 3)), said(2, "b", 3)) == "new no_value_then"


SOME_RULES = st.builds(
    Rules,
    on_equal_time=st.sampled_from(["hold", "source_rank", "last_recorded"]),
    confirm=st.booleans(),
    promote_after=st.sampled_from([1, 1, 2]),
    min_source=st.sampled_from(["document", "user"]),
)


@st.composite
def candidates(draw: st.DrawFn) -> list[Assertion]:
    """Candidates from several sources, some of them coarse."""
    return [
        replace(
            entry,
            precedence=0,
            source=draw(st.sampled_from(SOURCES)),
            valid_from_end=draw(st.sampled_from([None, None, day(3)])),
        )
        for entry in draw(histories())
    ]


def candidate(assertion: Assertion, **rules: Any) -> Event:
    return event("candidate", assertion, terms(**rules))


def event(kind: EventKind, assertion: Assertion, judged_by: Terms, known: float = 0) -> Event:
    return Event(kind=kind, known_at=day(known or 1000 + assertion.id), assertion=assertion, terms=judged_by)


def events_of(history: Sequence[Assertion], rules: Rules) -> list[Event]:
    return [event("candidate", entry, Terms(rules=rules, sources=SOURCES)) for entry in history]


class TestLaws:
    @cases(300)
    @given(candidates(), SOME_RULES)
    def test_no_change_never_changes_the_timeline(self, history: list[Assertion], rules: Rules) -> None:
        state = NOTHING
        for entry in history:
            ruling = decide(state, entry, Terms(rules=rules, sources=SOURCES))
            following = enact(state, entry, ruling)
            kept = {DecisionKind.NO_CHANGE, DecisionKind.HOLD, DecisionKind.REJECT}

            assert shape(following) == shape(state) or ruling.decision not in kept
            state = following

    @cases(300)
    @given(candidates(), SOME_RULES)
    def test_what_is_accepted_changes_the_timeline(self, history: list[Assertion], rules: Rules) -> None:
        state = NOTHING
        for entry in history:
            ruling = decide(state, entry, Terms(rules=rules, sources=SOURCES))
            following = enact(state, entry, ruling)

            assert shape(following) != shape(state) or ruling.decision not in {DecisionKind.NEW, DecisionKind.SUPERSEDE}
            state = following

    @cases(150)
    @given(candidates(), SOME_RULES)
    def test_the_same_arguments_give_the_same_ruling(self, history: list[Assertion], rules: Rules) -> None:
        def rulings() -> list[Ruling]:
            return replay(events_of(history, rules))[1]

        assert rulings() == rulings()

    @cases(150)
    @given(candidates(), SOME_RULES)
    def test_a_history_replayed_is_the_history_as_it_went(self, history: list[Assertion], rules: Rules) -> None:
        events = events_of(history, rules)
        steps = list(chronicle(events))
        last = steps[-1].state if steps else NOTHING

        assert replay(events)[0] == last
        assert [made for step in steps for made in step.rulings] == replay(events)[1]

    @cases(150)
    @given(candidates(), SOME_RULES, st.data())
    def test_to_retract_is_never_to_have_had_it(
        self, history: list[Assertion], rules: Rules, data: st.DataObject
    ) -> None:
        gone = data.draw(st.sets(st.sampled_from(history or [said(1, "a", 1)])))
        events = events_of(history, rules)
        known_by_number = {entry.assertion.id: entry for entry in events}
        taken = [replace(known_by_number[entry.id], kind="retract") for entry in gone if entry.id in known_by_number]
        remaining = [entry for entry in history if entry not in gone]

        assert replay([*events, *taken])[0] == replay(events_of(remaining, rules))[0]

    @cases(150)
    @given(candidates(), SOME_RULES)
    def test_everything_accepted_or_waiting_is_in_the_state_once(self, history: list[Assertion], rules: Rules) -> None:
        state, rulings = replay(events_of(history, rules))
        rejected = {made.id for made in rulings if made.decision is DecisionKind.REJECT}
        there = [*live(state), *(number for number, _ in waiting(state))]

        assert sorted(there) == sorted(entry.id for entry in history if entry.id not in rejected)


class TestSettledHistories:
    def test_a_confirmed_candidate_stands_when_history_is_decided_again(self) -> None:
        judged = terms()
        first, second = said(1, "a", 1), said(2, "b", 1)
        history = [
            event("candidate", first, judged, 1),
            event("candidate", second, judged, 2),
            event("confirm", second, judged, 3),
            event("retract", first, judged, 4),
        ]

        assert shape(replay(history)[0]) == [(day(1), None, "b")]

    def test_a_dismissed_candidate_never_counts_again(self) -> None:
        judged = terms()
        first, second = said(1, "a", 1), said(2, "b", 1)
        history = [
            event("candidate", first, judged, 1),
            event("candidate", second, judged, 2),
            event("dismiss", second, judged, 3),
            event("retract", first, judged, 4),
        ]

        assert replay(history)[0] == NOTHING

    def test_a_dismissed_candidate_stands_in_nobody_s_way(self) -> None:
        judged = terms()
        first, second, third = said(1, "a", 1), said(2, "b", 1), said(3, "c", 1)
        history = [
            event("candidate", first, judged, 1),
            event("candidate", second, judged, 2),
            event("candidate", third, judged, 3),
            event("dismiss", second, judged, 4),
            event("retract", first, judged, 5),
        ]

        assert shape(replay(history)[0]) == [(day(1), None, "c")]

    def test_a_held_candidate_is_decided_again_when_its_rival_is_retracted(self) -> None:
        judged = terms()
        first, second = said(1, "a", 1), said(2, "b", 1)
        history = [
            event("candidate", first, judged, 1),
            event("candidate", second, judged, 2),
            event("retract", first, judged, 3),
        ]

        assert shape(replay(history)[0]) == [(day(1), None, "b")]

    def test_the_states_on_the_way_are_those_of_their_time(self) -> None:
        judged = terms()
        first, second = said(1, "a", 1), said(2, "b", 1)
        history = [
            event("candidate", first, judged, 1),
            event("candidate", second, judged, 2),
            event("retract", first, judged, 3),
        ]

        assert [shape(step.state) for step in chronicle(history)] == [
            [(day(1), None, "a")],
            [(day(1), None, "a")],
            [(day(1), None, "b")],
        ]

    def test_a_dropped_candidate_neither_counts_nor_waits(self) -> None:
        state = after(said(1, "a", 1), said(2, "b", 1), said(3, "c", 2))

        assert drop(state, frozenset({1, 2})) == after(said(3, "c", 2))


class TestInALedger:
    def test_each_kind_of_decision_is_recorded_with_its_reason(self, book: Notebook) -> None:
        made = [
            book.tell("Porto", since=1),
            book.tell("porto", since=2),
            book.tell("Lisbon", since=3),
            book.tell("Faro", since=3),
            book.tell(None, since=9),
            book.tell("Braga", since=11, source="assistant"),
            book.tell("Braga", since=11, from_memory=True),
            book.tell("vegan", "diet"),
            book.tell("tea", "habit"),
        ]

        assert made == [
            "new no_value_then",
            "no_change repeated",
            "supersede other_value_then",
            "hold equal_time",
            "supersede revoked",
            "reject source_not_trusted",
            "reject from_memory",
            "hold needs_confirmation",
            "hold needs_recurrence",
        ]

    def test_recurrence_makes_each_live_at_its_own_time(self, book: Notebook) -> None:
        book.tell("tea", "habit", since=5)
        book.tell("tea", "habit", since=2)

        assert book.timeline("habit") == [(day(2), None, "tea")]
        assert book.holds() == []

    def test_what_a_person_confirmed_counts(self, book: Notebook) -> None:
        book.tell("vegan", "diet")
        (hold,) = book.holds()
        decision = book.ledger.confirm(book.tenant, hold.candidate.candidate_id, by="ana")

        assert (decision.decision.value, decision.reason.value, decision.by) == ("new", "confirmed", "ana")
        assert book.timeline("diet") == [(day(0), None, "vegan")]

    def test_what_a_person_dismissed_never_counts(self, book: Notebook) -> None:
        book.tell("vegan", "diet")
        (hold,) = book.holds()
        book.ledger.dismiss(book.tenant, hold.candidate.candidate_id)

        assert book.timeline("diet") == []
        assert book.holds() == []

    def test_after_the_time_to_live_a_value_is_read_no_more_and_nothing_older_resumes(self, book: Notebook) -> None:
        book.tell("calm", "mood", since=1, at=1)
        book.tell("merry", "mood", since=2, at=2)

        assert book.current("mood", at=day(31.9)) == "merry"
        assert book.current("mood", at=day(32)) is None

    def test_a_repetition_prolongs_the_time_to_live(self, book: Notebook) -> None:
        book.tell("calm", "mood", since=1, at=1)
        book.tell("calm", "mood", since=20, at=20)

        assert book.current("mood", at=day(49)) == "calm"

    def test_retracting_a_rival_lets_the_held_one_in(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=1)
        (changed,) = book.ledger.retract(book.tenant, episode_id="e1")

        assert (changed.decision.value, changed.reason.value) == ("new", "no_value_then")
        assert book.timeline() == [(day(1), None, "Faro")]

    def test_what_was_retracted_still_stands_at_an_earlier_known_time(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        before = book.known()
        book.ledger.retract(book.tenant, episode_id="e1")

        assert book.current(known_at=before) == "Porto"
        assert book.current() is None

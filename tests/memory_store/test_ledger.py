"""The write path: what is final, what may be done again, and what a retraction leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sgam.memory_store.errors import (
    EpisodeConflict,
    EpisodeDecided,
    InvalidInput,
    SchemaError,
    UnknownAttribute,
    UnknownHold,
    UnknownRecord,
)
from sgam.memory_store.ledger import Ledger, utc_now
from sgam.memory_store.model import Episode, Outcome, Quarantined, QuarantineReason
from sgam.memory_store.reads import explanation_of, fact_of, receipt_of
from sgam.memory_store.schema import MemorySchema
from sgam.memory_store.store import Belief, FactFilter, View

from .ledgers import SCHEMA, Claim, Notebook, day, episode

LOST = Quarantined(reason=QuarantineReason.MALFORMED, message="no JSON", raw="{")


def other_rules(**rules: object) -> MemorySchema:
    """The next version of the schema, in which `home` has other rules."""
    data = SCHEMA.to_dict()
    data["version"] = 2
    data["types"]["person"]["attributes"]["home"] |= rules
    return MemorySchema.from_json(data)


class TestCapture:
    def test_it_makes_an_episode_durable_before_anything_is_made_of_it(self, book: Notebook) -> None:
        book.ledger.capture("t", episode("e1"))
        (row,) = book.ledger.store.read("t", lambda view: view.episodes("captured"))

        assert (row.episode_id, row.status, row.known_at) == ("e1", "captured", None)

    def test_a_commit_completes_it(self, book: Notebook) -> None:
        first = book.ledger.capture("t", episode("e1"))
        book.commit(episode("e1"), Claim(value="Porto"))
        (row,) = book.ledger.store.read("t", lambda view: view.episodes())

        assert (row.status, row.captured_at, row.episode_no) == ("complete", first.captured_at, first.episode_no)

    def test_other_content_under_the_same_id_is_a_conflict(self, book: Notebook) -> None:
        book.ledger.capture("t", episode("e1"))

        with pytest.raises(EpisodeConflict, match="'e1' is known with other content"):
            book.ledger.capture("t", episode("e1", text="something else"))

    def test_a_source_that_the_schema_does_not_list_is_refused(self, book: Notebook) -> None:
        with pytest.raises(SchemaError, match="source 'gossip'"):
            book.ledger.capture("t", episode("e1", source="gossip"))


class TestTheSameAgain:
    def test_the_same_candidates_give_the_first_receipt(self, book: Notebook) -> None:
        said, claims = episode("e1"), (Claim(value="Porto"), Claim(value="tea", attribute="habit"))
        first = book.commit(said, *claims, quarantined=(LOST,))
        book.written = 1
        book.tell("Faro", since=5)

        assert book.commit(said, *claims, quarantined=(LOST,)) == first

    def test_the_receipt_stands_though_a_hold_was_settled_since(self, book: Notebook) -> None:
        first = book.commit(episode("e1"), Claim(value="vegan", attribute="diet"))
        book.ledger.confirm("t", first.decisions[0].candidate_id)

        assert book.commit(episode("e1"), Claim(value="vegan", attribute="diet")) == first

    def test_other_candidates_are_refused(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"))

        with pytest.raises(EpisodeDecided):
            book.commit(episode("e1"), Claim(value="Faro"))
        assert book.current() == "Porto"

    def test_an_extractor_does_not_replace_the_candidates_of_a_caller(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"))

        with pytest.raises(EpisodeDecided):
            book.commit(episode("e1"), Claim(value="Faro"), extractor="small")

    def test_a_caller_does_not_replace_those_of_an_extractor(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"), extractor="small")

        with pytest.raises(EpisodeDecided):
            book.commit(episode("e1"), Claim(value="Faro"))

    def test_the_same_extractor_again_gives_the_first_receipt_whatever_it_says(self, book: Notebook) -> None:
        first = book.commit(episode("e1"), Claim(value="Porto"), extractor="small")

        assert book.commit(episode("e1"), Claim(value="Faro"), extractor="small") == first


class TestExtractingAnew:
    def test_another_extractor_takes_back_what_the_first_one_made(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"), extractor="small")
        marked = book.known()
        receipt = book.commit(episode("e1"), Claim(value="Faro"), extractor="large")

        assert receipt.extractor == "large"
        assert [decision.value for decision in receipt.decisions] == ['"Faro"']
        assert (book.current(known_at=marked), book.current()) == ("Porto", "Faro")

    def test_the_same_again_then_gives_the_receipt_of_the_last_one(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"), extractor="small", quarantined=(LOST,))
        last = book.commit(episode("e1"), Claim(value="Faro"), extractor="large")

        assert book.commit(episode("e1"), extractor="large") == last

    def test_the_change_is_one_belief_without_a_gap(self, book: Notebook) -> None:
        book.commit(episode("e1"), Claim(value="Porto"), extractor="small")
        book.commit(episode("e1"), Claim(value="Faro"), extractor="large")
        old, new = (record.fact for record in book.records(belief=Belief(ever=True)))

        assert old.known_to == new.known_from

    @pytest.mark.parametrize("status", ["failed", "partial"])
    def test_an_incomplete_outcome_may_be_tried_again(self, book: Notebook, status: str) -> None:
        said = episode("e1")
        broken = Outcome(status=status, extractor="small", error="cut", quarantined=(LOST,))  # type: ignore[arg-type]
        book.ledger.commit("t", said, broken)
        again = Outcome(candidates=(Claim(value="Porto").candidate(said),), extractor="small")
        receipt = book.ledger.commit("t", said, again, anew=True)

        assert (receipt.status, receipt.error, receipt.quarantined) == ("complete", None, ())
        assert book.current() == "Porto"

    def test_a_failed_one_is_tried_again_without_being_asked(self, book: Notebook) -> None:
        said = episode("e1")
        book.ledger.commit("t", said, Outcome(status="failed", extractor="small", error="no answer"))

        assert book.commit(said, Claim(value="Porto"), extractor="small").status == "complete"

    def test_its_quarantine_is_kept_beside_the_first(self, book: Notebook) -> None:
        book.commit(episode("e1"), extractor="small", quarantined=(LOST,))
        receipt = book.commit(episode("e1"), extractor="large", quarantined=(replace(LOST, raw="["),))

        assert [item.raw for item in receipt.quarantined] == ["["]
        assert [row.raw for row in book.ledger.store.read("t", lambda view: view.quarantine())] == ["{", "["]


class TestOneTransaction:
    def test_a_candidate_that_cannot_be_written_undoes_the_whole_episode(self, book: Notebook) -> None:
        with pytest.raises(UnknownAttribute):
            book.commit(episode("e1"), Claim(value="Porto"), Claim(value="x", attribute="shoe_size"))

        assert book.records() == []
        assert book.ledger.store.read("t", lambda view: view.episodes()) == []

    def test_so_does_one_from_a_source_that_the_schema_does_not_list(self, book: Notebook) -> None:
        with pytest.raises(SchemaError, match="source 'gossip'"):
            book.commit(episode("e1"), Claim(value="Porto"), Claim(value="Faro", source="gossip"))

        assert book.records() == []

    def test_evidence_in_an_unknown_episode_undoes_it(self, book: Notebook) -> None:
        with pytest.raises(UnknownRecord, match="evidence lies in episode 'nowhere'"):
            book.commit(episode("e1"), Claim(value="Porto"), Claim(value="Faro", also_in="nowhere"))

        assert book.records() == []

    def test_all_of_an_episode_becomes_known_at_once(self, book: Notebook) -> None:
        receipt = book.commit(episode("e1"), Claim(value="Porto"), Claim(value="Faro", attribute="city"))

        assert {record.fact.known_from for record in book.records()} == {receipt.known_at}


class TestSettling:
    def test_a_hold_is_settled_once(self, book: Notebook) -> None:
        receipt = book.commit(episode("e1"), Claim(value="vegan", attribute="diet"))
        number = receipt.decisions[0].candidate_id
        book.ledger.confirm("t", number)

        with pytest.raises(UnknownHold, match=f"no hold {number} is pending"):
            book.ledger.confirm("t", number)
        with pytest.raises(UnknownHold):
            book.ledger.dismiss("t", number)

    def test_what_is_no_hold_cannot_be_settled(self, book: Notebook) -> None:
        receipt = book.commit(episode("e1"), Claim(value="Porto"))

        with pytest.raises(UnknownHold):
            book.ledger.confirm("t", receipt.decisions[0].candidate_id)
        with pytest.raises(UnknownHold):
            book.ledger.confirm("t", 10**18)

    def test_a_confirmed_conflict_wins_and_retracts_nothing(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=1)
        (hold,) = book.holds()
        decision = book.ledger.confirm("t", hold.candidate.candidate_id)
        rows = book.ledger.store.read("t", lambda view: view.key_status(hold.candidate.key))

        assert decision.decision.value == "supersede"
        assert book.timeline() == [(day(1), None, "Faro")]
        assert [row.precedence is not None for row in rows] == [True, True]


class TestRetracting:
    def test_one_assertion_goes_and_the_rest_of_its_episode_stays(self, book: Notebook) -> None:
        receipt = book.commit(episode("e1"), Claim(value="Porto"), Claim(value="Faro", attribute="city"))
        book.ledger.retract("t", assertion_id=receipt.decisions[0].candidate_id)

        assert [record.fact.value for record in book.records()] == ['"Faro"']

    def test_with_an_episode_goes_what_rests_on_it(self, book: Notebook) -> None:
        book.commit(episode("e1"))
        book.commit(episode("e2"), Claim(value="Porto", also_in="e1"))
        book.ledger.retract("t", episode_id="e1")

        assert book.records() == []

    def test_the_older_value_holds_again(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=2)
        book.ledger.retract("t", episode_id="e2")

        assert book.timeline() == [(day(1), None, "Porto")]

    def test_what_was_promoted_with_it_waits_again(self, book: Notebook) -> None:
        book.tell("tea", "habit", since=1)
        book.tell("tea", "habit", since=2)
        (changed,) = book.ledger.retract("t", episode_id="e2")

        assert (changed.decision.value, changed.reason.value) == ("hold", "needs_recurrence")
        assert book.timeline("habit") == []
        assert len(book.holds()) == 1

    def test_twice_is_once(self, book: Notebook) -> None:
        book.tell("Porto")
        book.ledger.retract("t", episode_id="e1")
        before = book.known()

        assert book.ledger.retract("t", episode_id="e1") == []
        assert book.known() == before

    def test_a_retracted_episode_is_still_decided(self, book: Notebook) -> None:
        first = book.commit(episode("e1"), Claim(value="Porto"))
        book.ledger.retract("t", episode_id="e1")

        assert book.commit(episode("e1"), Claim(value="Porto")) == first
        assert book.records() == []

    def test_what_is_not_there_cannot_be_retracted(self, book: Notebook) -> None:
        with pytest.raises(UnknownRecord, match="no episode 'e1'"):
            book.ledger.retract("t", episode_id="e1")
        with pytest.raises(UnknownRecord, match="no assertion 7"):
            book.ledger.retract("t", assertion_id=7)
        with pytest.raises(InvalidInput, match="give an episode_id or an assertion_id"):
            book.ledger.retract("t")


class TestRulesOfItsTime:
    def test_what_was_decided_under_an_older_schema_is_decided_again_under_it(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=1)
        newer = replace(book, ledger=Ledger(book.ledger.store, other_rules(confirm=True), clock=book.clock))
        newer.tell("Braga", since=1)
        newer.ledger.retract("t", episode_id="e1")

        assert newer.timeline() == [(day(1), None, "Faro")]
        assert [(hold.candidate.value, hold.waits and hold.waits.reason) for hold in newer.holds()] == [
            ('"Braga"', "needs_confirmation")
        ]

    def test_a_candidate_carries_the_version_it_was_written_under(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        newer = replace(book, ledger=Ledger(book.ledger.store, other_rules(ttl="P1D"), clock=book.clock))
        newer.tell("Faro", since=2)
        rows = book.ledger.store.read("t", lambda view: view.candidates_of_subject("mira"))

        assert [row.schema_version for row in rows] == [1, 2]


class TestReading:
    def test_a_fact_names_the_one_that_it_supersedes(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=2)
        old, new = book.records()

        assert (old.supersedes, new.supersedes) == (None, old.fact.fact_id)

    def test_a_fact_after_a_gap_supersedes_none(self, book: Notebook) -> None:
        book.tell("Porto", since=1, until=2)
        book.tell("Faro", since=3)

        assert [record.supersedes for record in book.records()] == [None, None]

    def test_the_fact_superseded_is_that_of_the_same_belief(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("Faro", since=5)
        marked = book.known()
        book.tell("Braga", since=3)
        then = book.records(belief=Belief(valid_at=day(6), known_at=marked))
        now = book.records(belief=Belief(valid_at=day(6)))
        values = {record.fact.fact_id: record.fact.value for record in book.records(belief=Belief(ever=True))}

        assert values[then[0].supersedes or 0] == '"Porto"'
        assert values[now[0].supersedes or 0] == '"Braga"'

    def test_a_fact_is_explained_by_its_episode_evidence_and_decisions(self, book: Notebook) -> None:
        book.tell("Porto", since=1)
        book.tell("porto", since=2)
        (record,) = book.records()
        fact = fact_of(record, SCHEMA.attribute("home"))
        explained = book.ledger.store.read("t", lambda view: explanation_of(view, record, fact))

        assert explained.episode == episode("e1")
        assert [span.quote for span in explained.evidence] == ["said in e1"]
        assert [decision.reason.value for decision in explained.decisions] == ["no_value_then"]
        assert len(explained.supports) == 1

    def test_turns_before_are_those_of_the_same_session_in_order(self, book: Notebook) -> None:
        for number, session in enumerate(["s", "s", "other", "s", None, "s"]):
            said = Episode(text=f"turn {number}", observed_at=day(number), episode_id=f"e{number}", session_id=session)
            book.ledger.capture("t", said)

        def turns(limit: int) -> list[str | None]:
            def read(view: View) -> list[str | None]:
                last = view.episode("e5")
                assert last is not None
                return [row.text for row in view.turns_before(last, limit)]

            return book.ledger.store.read("t", read)

        assert turns(2) == ["turn 1", "turn 3"]
        assert turns(9) == ["turn 0", "turn 1", "turn 3"]
        assert turns(0) == []

    @pytest.mark.parametrize("known", [-1, 1000, 2000], ids=["before all", "at the first", "after all"])
    def test_a_belief_is_that_of_the_newest_transaction_by_then(self, book: Notebook, known: float) -> None:
        book.tell("Porto", since=1)

        assert book.current(known_at=day(known)) == (None if known < 0 else "Porto")

    @pytest.mark.parametrize("where", [FactFilter(), FactFilter(subject="mira")], ids=["all", "of a subject"])
    def test_a_belief_that_ended_before_is_not_seen_then(self, book: Notebook, where: FactFilter) -> None:
        book.tell("Porto", since=1)
        book.ledger.retract("t", episode_id="e1")
        book.tell("Faro", since=1)
        marked = book.known()
        book.tell("Braga", since=2)
        then = book.records(where, Belief(valid_at=day(9), known_at=marked))

        assert [record.fact.value for record in then] == ['"Faro"']

    def test_a_filter_restricts_by_each_of_its_parts(self, book: Notebook) -> None:
        book.tell("Porto", subject="mira")
        book.tell("Faro", subject="noor")
        book.tell("Rome", "city", subject="mira")

        def values(where: FactFilter) -> list[str]:
            return [record.fact.value.strip('"') for record in book.records(where)]

        assert values(FactFilter(subject="mira")) == ["Rome", "Porto"]
        assert values(FactFilter(attribute="home")) == ["Porto", "Faro"]
        assert values(FactFilter(memory_type="pet")) == []
        assert values(FactFilter(item="x")) == []


def test_items_of_an_attribute_that_holds_many_have_timelines_of_their_own(book: Notebook) -> None:
    book.commit(
        episode("e1"),
        Claim(value="nuts", attribute="allergies", item="Nuts", since=day(1)),
        Claim(value="fish", attribute="allergies", item="fish", since=day(1)),
    )
    book.commit(episode("e2"), Claim(value=None, attribute="allergies", item="NUTS", since=day(5)))

    assert book.timeline("allergies", item="nuts") == [(day(1), day(5), "nuts")]
    assert book.timeline("allergies", item="fish") == [(day(1), None, "fish")]


def test_a_receipt_is_read_back_as_it_was_given(book: Notebook) -> None:
    given = book.commit(episode("e1"), Claim(value="Porto"), quarantined=(LOST,))

    def read(view: View) -> object:
        row = view.episode("e1")
        assert row is not None
        return receipt_of(view, row)

    assert book.ledger.store.read("t", read) == given


def test_the_clock_of_the_system_is_in_utc() -> None:
    assert utc_now().tzinfo is not None

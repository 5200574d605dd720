from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.answer import Item
from sgam.extraction.items import candidate_from_item
from sgam.extraction.response import FIELDS, Offer, Stored
from sgam.memory_store.model import Candidate, Evidence, Quarantined

from .conftest import MORNING, SCHEMA, item, key, offer, said

OSLO = {key("city"): Stored(value='"Oslo"')}
NUTS = {key("allergies", "nuts"): Stored(value='"Nuts"', item="Nuts")}
TEA = {key("ratings", "tea"): Stored(value='"like"', item="Tea")}


def made(given: Item, asked: Offer) -> Candidate:
    got = candidate_from_item(given, asked)

    assert isinstance(got, Candidate), got
    return got


def refused(given: Item, asked: Offer) -> str:
    got = candidate_from_item(given, asked)

    assert isinstance(got, Quarantined), got
    assert got.raw == given.raw
    return got.reason


def read(text: str, evidence: str, attribute: str, value: object, **more: Any) -> Candidate:
    return made(item(evidence, attribute, value, **more), offer(said(text, episode_id="e1")))


class TestValues:
    @pytest.mark.parametrize(
        ("attribute", "text", "value", "canonical"),
        [
            ("deadline", "I must renew it by June 30.", "June 30", '"2026-06-30"'),
            ("deadline", "I must renew it next Friday.", "next Friday", '"2026-06-12"'),
            ("city", "I live in Oslo.", "Oslo", '"Oslo"'),
            ("children", "We have three kids.", "three", "3"),
            ("budget", "At most 80.50 a night.", "80.50", '"80.5"'),
            ("height", "I am 1.75 m tall.", "1.75", "1.75"),
            ("wakes", "Call at 5 pm.", "5 pm", '"17:00"'),
            ("checkin", "We come on 2026-07-01 at 15:00.", "2026-07-01 at 15:00", '"2026-07-01T13:00:00Z"'),
        ],
    )
    def test_quoted_words_are_read_by_code_in_the_time_and_zone_of_the_episode(
        self, attribute: str, text: str, value: str, canonical: str
    ) -> None:
        got = read(text, text[:-1], attribute, value)

        assert got.value == canonical
        assert [span.quote for span in got.evidence] == [text[:-1], value]
        assert [span.role for span in got.evidence] == ["evidence", "value"]

    @pytest.mark.parametrize(("attribute", "value", "canonical"), [("style", "concise", '"concise"')])
    def test_a_member_of_a_closed_set_is_chosen(self, attribute: str, value: object, canonical: str) -> None:
        assert read("Please be brief.", "be brief", attribute, value).value == canonical

    def test_a_boolean_is_chosen(self) -> None:
        assert read("I eat meat again.", "I eat meat", "vegetarian", False).value == "false"

    def test_a_paraphrase_needs_no_span_of_its_own(self) -> None:
        got = read("I could hug the world!", "i could HUG", "mood", "happy")

        assert (got.value, got.evidence[0].match, got.evidence[0].quote) == ('"happy"', "folded", "I could hug")

    def test_the_words_of_a_verbatim_value_must_stand_there(self) -> None:
        asked = offer(said("I live in the capital of Norway."))

        assert refused(item("I live", "city", "Oslo"), asked) == "ungrounded"

    @pytest.mark.parametrize(
        ("attribute", "value"), [("deadline", "soon"), ("children", "soon"), ("wakes", "soon"), ("style", "soon")]
    )
    def test_words_of_another_type(self, attribute: str, value: str) -> None:
        assert refused(item("soon", attribute, value), offer(said("It is soon."))) == "wrong_type"

    def test_a_quote_that_cuts_a_word_is_none(self) -> None:
        asked = offer(said("I like Osloer Brot."))

        assert refused(item("I like", "city", "Oslo"), asked) == "ungrounded"
        assert refused(item("er Brot", "city", "Brot"), asked) == "ungrounded"

    @pytest.mark.parametrize(
        ("text", "quote"), [("I like Osloer Brot.", "I like Oslo"), ('I call it "home" now.', "I call it")]
    )
    def test_a_quote_that_closes_too_soon_is_told_apart(self, text: str, quote: str) -> None:
        assert refused(item(quote, "city", "Oslo"), offer(said(text))) == "early_quote_close"

    def test_a_quote_may_stop_before_the_words_of_another(self) -> None:
        assert read('Oslo. "Really?" Yes.', "Oslo.", "city", "Oslo").value == '"Oslo"'

    def test_the_evidence_next_to_the_value_is_taken(self) -> None:
        got = read("No. About home: no, Oslo.", "home", "city", "Oslo")
        again = read("My city. Well, my home is my city: Oslo.", "my", "city", "Oslo")

        assert got.evidence[1].start == 20
        assert (again.evidence[0].start, again.evidence[0].occurrences) == (26, 2)


class TestEvidence:
    def test_words_that_only_the_context_or_the_memory_holds_are_no_evidence(self) -> None:
        asked = offer(said("Hello!"), context=[said("I live in Oslo.")], stored=OSLO)

        assert refused(item("I live in Oslo", "mood", "settled"), asked) == "ungrounded"
        assert refused(item("Oslo", "mood", "settled"), asked) == "ungrounded"

    def test_a_weaker_match_is_refused_unless_the_attribute_allows_it(self) -> None:
        asked = offer(said("I live in Oslo."))

        assert refused(item("i live in oslo", "city", "Oslo"), asked) == "ungrounded"

    @pytest.mark.parametrize("evidence", [None, 7, "", " "])
    def test_nothing_is_no_evidence(self, evidence: Any) -> None:
        assert refused(item(evidence, "city", "Oslo"), offer(said("I live in Oslo."))) == "ungrounded"


class TestContext:
    BOT = said("Shall I note Oslo as your home since May?", episode_id="c1", source="assistant", speaker="bot")
    TOOL = said("Address: Oslo", episode_id="c2", source="tool", speaker="crm")

    def test_an_affirmed_value_is_a_second_span_in_the_turn_before(self) -> None:
        asked = offer(said("Yes, please do.", episode_id="e1"), context=[self.BOT])
        got = made(item("Yes", "city", "Oslo"), asked)

        assert (got.value, got.source) == ('"Oslo"', "user")
        assert got.evidence == (
            Evidence(episode_id="e1", start=0, end=3, quote="Yes"),
            Evidence(episode_id="c1", start=13, end=17, quote="Oslo", role="value"),
        )

    def test_the_time_may_be_affirmed_as_well(self) -> None:
        asked = offer(said("Yes.", episode_id="e1"), context=[self.BOT])
        got = made(item("Yes", "city", "Oslo", when="since May"), asked)

        assert (got.valid_from, got.precision) == (datetime(2026, 4, 30, 22, tzinfo=UTC), "month")

    def test_words_of_a_tool_keep_their_own_rank(self) -> None:
        asked = offer(said("Yes, that is right."), context=[self.TOOL])

        assert made(item("Yes", "city", "Oslo"), asked).source == "tool"

    def test_the_latest_turn_that_says_so_counts(self) -> None:
        asked = offer(said("Yes."), context=[self.TOOL, self.BOT])

        assert made(item("Yes", "city", "Oslo"), asked).evidence[1].episode_id == "c1"

    @pytest.mark.parametrize("text", ["Thanks a lot.", "No, not there.", "Is it?"])
    def test_a_value_that_was_not_affirmed_is_ungrounded(self, text: str) -> None:
        asked = offer(said(text), context=[self.BOT])

        assert refused(item(text, "city", "Oslo"), asked) == "ungrounded"


class TestTimes:
    def test_without_words_about_time_it_holds_from_when_it_was_said(self) -> None:
        got = read("I live in Oslo.", "I live", "city", "Oslo")

        assert (got.valid_from, got.precision, got.time_rule) == (MORNING, "exact", "default")

    def test_since_when_is_resolved_with_its_precision(self) -> None:
        got = read("Since 2023 I live in Oslo.", "I live", "city", "Oslo", when="Since 2023")

        assert (got.valid_from, got.precision) == (datetime(2022, 12, 31, 23, tzinfo=UTC), "year")
        assert got.valid_from_end == datetime(2023, 12, 31, 23, tzinfo=UTC)
        assert got.evidence[2].role == "when"

    def test_until_when_is_resolved(self) -> None:
        got = read("I am in Rome until Friday.", "in Rome", "city", "Rome", until="until Friday")

        assert got.valid_until == datetime(2026, 6, 4, 22, tzinfo=UTC)
        assert got.time_rule.startswith("default, until ")

    def test_words_that_tell_no_time_are_recorded_and_change_nothing(self) -> None:
        got = read("Whatever, Oslo it is.", "Oslo it is", "city", "Oslo", when="Whatever", until="it is")

        assert (got.valid_from, got.valid_until) == (MORNING, None)
        assert got.time_rule == "unresolved, until unresolved"

    def test_a_date_that_is_the_value_says_not_when_it_holds(self) -> None:
        got = read("The deadline is July 15.", "deadline is July 15", "deadline", "July 15", when="July 15")
        other = read("The deadline is on July 15.", "deadline", "deadline", "July 15", until="on July 15")

        assert (got.valid_from, got.time_rule) == (MORNING, "is_the_value")
        assert (other.valid_until, other.time_rule) == (None, "default, until is_the_value")

    def test_a_repeated_date_says_not_when_it_holds(self) -> None:
        asked = offer(said("It is still July 15."), stored={key("deadline"): Stored(value='"2026-07-15"')})
        given = item("still", "deadline", None, current_value="2026-07-15", change="no_change", when="July 15")

        assert made(given, asked).valid_from == MORNING

    def test_words_about_time_must_be_quoted(self) -> None:
        asked = offer(said("I live in Oslo."))

        assert refused(item("I live", "city", "Oslo", when="since 2023"), asked) == "ungrounded"
        assert refused(item("I live", "city", "Oslo", when=2023), asked) == "wrong_type"

    def test_an_end_before_the_beginning_is_refused(self) -> None:
        asked = offer(said("Until 2020 I lived in Oslo."))

        assert refused(item("I lived in Oslo", "city", "Oslo", until="Until 2020"), asked) == "empty_interval"

    def test_a_phrase_about_today_holds_from_when_it_was_said(self) -> None:
        late = MORNING + timedelta(hours=3)
        asked = offer(said("Today I moved to Oslo.", observed_at=late))

        assert made(item("moved to Oslo", "city", "Oslo", when="Today"), asked).valid_from == late


class TestComparison:
    def test_an_update_names_the_value_on_record(self) -> None:
        asked = offer(said("I moved to Rome."), stored=OSLO)
        got = made(item("moved to Rome", "city", "Rome", current_value="Oslo", change="update"), asked)

        assert (got.value, got.change) == ('"Rome"', "update")

    @pytest.mark.parametrize(
        ("stored", "more"),
        [
            (OSLO, {}),
            (OSLO, {"current_value": "oslo", "change": "update"}),
            (OSLO, {"current_value": "Oslo", "change": "new"}),
            ({}, {"current_value": "Oslo", "change": "update"}),
            ({}, {"change": "update"}),
            ({}, {"change": "no_change", "value": None}),
            ({}, {"change": "revoke"}),
            ({}, {"value": None}),
            (OSLO, {"current_value": "Oslo", "change": "no_change"}),
            (OSLO, {"current_value": "Oslo", "change": "forget"}),
            (OSLO, {"current_value": "Oslo", "change": None}),
        ],
    )
    def test_what_does_not_fit_the_record_or_itself_is_outside_the_schema(
        self, stored: dict[Any, Stored], more: dict[str, Any]
    ) -> None:
        given = item("moved to Rome", "city", "Rome")
        asked = offer(said("I moved to Rome."), stored=stored)

        assert refused(Item(fields={**given.fields, **more}, raw="raw"), asked) == "outside_schema"

    def test_no_change_asserts_the_value_on_record_again(self) -> None:
        given = item("still here", "city", None, current_value="Oslo", change="no_change")

        assert made(given, offer(said("I am still here."), stored=OSLO)).value == '"Oslo"'

    def test_a_revocation_has_no_value(self) -> None:
        given = item("no home", "city", None, current_value="Oslo", change="revoke")

        assert made(given, offer(said("I have no home."), stored=OSLO)).value is None

    def test_one_is_not_true(self) -> None:
        asked = offer(said("I eat meat."), stored={key("vegetarian"): Stored(value="true")})
        given = item("I eat meat", "vegetarian", False, current_value=1, change="update")

        assert refused(given, asked) == "outside_schema"


class TestSubjects:
    def test_a_name_is_normalised(self) -> None:
        got = made(item("I live in Oslo", "city", "Oslo", subject="Mira"), offer(said("I live in Oslo.")))

        assert got.key == key("city")

    @pytest.mark.parametrize("subject", ["leo", "", 7, None])
    def test_a_subject_that_was_not_offered(self, subject: object) -> None:
        given = item("Leo lives in Oslo", "city", "Oslo", subject=subject)

        assert refused(given, offer(said("Leo lives in Oslo."))) == "outside_schema"

    def test_a_new_subject_must_be_named(self) -> None:
        asked = offer(said("My dad Leo lives in Oslo."), new_subjects=True)

        assert made(item("lives in Oslo", "city", "Oslo", subject="my_dad"), asked).key.subject == "my_dad"
        assert refused(item("lives in Oslo", "city", "Oslo", subject="le"), asked) == "ungrounded"
        assert refused(item("lives in Oslo", "city", "Oslo", subject="oslo!"), asked) == "outside_schema"

    def test_an_attribute_that_was_not_offered(self) -> None:
        asked = offer(said("I live in Oslo."), attributes=(SCHEMA.attribute("style"),))

        assert refused(item("I live in Oslo", "city", "Oslo"), asked) == "outside_schema"
        assert refused(item("I live in Oslo", "shoe_size", "Oslo"), asked) == "outside_schema"
        assert refused(item("I live in Oslo", None, "Oslo"), asked) == "outside_schema"  # type: ignore[arg-type]


class TestMany:
    @pytest.mark.parametrize("more", [{"item": "milk", "value": None}, {"value": "milk"}, {"item": "milk"}])
    def test_an_entry_of_a_set_is_named_by_its_item_or_its_value(self, more: dict[str, Any]) -> None:
        given = Item(fields={**item("allergic to milk", "allergies", "milk").fields, **more}, raw="raw")
        got = made(given, offer(said("I am allergic to milk.")))

        assert (got.key, got.value, got.item_text) == (key("allergies", "milk"), '"milk"', "milk")
        assert [span.quote for span in got.evidence] == ["allergic to milk", "milk"]

    def test_item_and_value_of_a_set_must_not_differ(self) -> None:
        asked = offer(said("I am allergic to milk and nuts."))

        assert refused(item("allergic to milk", "allergies", "milk", item="nuts"), asked) == "outside_schema"

    def test_an_entry_on_record_is_revoked_or_repeated_by_name(self) -> None:
        asked = offer(said("They are fine now."), stored=NUTS)
        common = {"item": "Nuts", "current_value": "Nuts"}

        assert made(item("fine now", "allergies", None, change="revoke", **common), asked).value is None
        assert made(item("fine now", "allergies", None, change="no_change", **common), asked).value == '"Nuts"'
        assert refused(item("fine now", "allergies", None, change="update", **common), asked) == "outside_schema"

    def test_an_entry_on_record_may_be_told_as_a_new_one(self) -> None:
        got = made(item("nuts", "allergies", None, item="nuts"), offer(said("Mind the nuts."), stored=NUTS))

        assert (got.key, got.value) == (key("allergies", "nuts"), '"nuts"')

    def test_an_entry_of_a_map_has_a_name_that_is_quoted_and_a_value(self) -> None:
        asked = offer(said("I love green tea."), stored=TEA)
        got = made(item("I love", "ratings", "like", item="green tea"), asked)

        assert (got.key.item, got.item_text, got.value) == ("green tea", "green tea", '"like"')
        assert refused(item("I love", "ratings", "like", item="coffee"), asked) == "ungrounded"
        assert refused(item("I love", "ratings", "like"), asked) == "missing_field"

    def test_an_entry_of_a_map_on_record_need_not_be_named_again(self) -> None:
        given = item("hate it", "ratings", "dislike", item="Tea", current_value="like", change="update")

        assert made(given, offer(said("I hate it now."), stored=TEA)).key.item == "tea"

    def test_an_entry_of_a_set_of_numbers_is_read(self) -> None:
        got = made(item("seven", "lucky", None, item="seven"), offer(said("I like seven.")))

        assert (got.key.item, got.value) == ("7", "7")

    def test_an_attribute_with_one_value_has_no_item(self) -> None:
        assert refused(item("Oslo", "city", "Oslo", item="Oslo"), offer(said("Oslo"))) == "outside_schema"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["Oslo", "new", "mira"])


@given(
    values=st.lists(SCALARS, min_size=9, max_size=9),
    attribute=st.sampled_from([attr.name for attr in SCHEMA.attributes()]),
    text=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(str.strip),
)
def test_no_item_raises_and_every_span_quotes_its_episode(values: list[Any], attribute: str, text: str) -> None:
    given = {**dict(zip(FIELDS, values, strict=True)), "attribute": attribute, "subject": "mira", "evidence": text[:9]}
    got = candidate_from_item(Item(fields=given, raw="raw"), offer(said(text), stored=OSLO))

    if isinstance(got, Candidate):
        assert all(text[span.start : span.end] == span.quote for span in got.evidence)
    else:
        assert got.message.encode()

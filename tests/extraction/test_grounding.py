from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.grounding import Span, affirms, affirms_at, cuts_word, find

ANY_TEXT = st.text(st.characters(), max_size=60)


def where(quote: str, text: str, near: Span | None = None) -> tuple[int, int] | None:
    span = find(quote, text, near)
    return None if span is None else (span.start, span.end)


class TestExact:
    @given(before=ANY_TEXT, quote=ANY_TEXT, after=ANY_TEXT)
    def test_whatever_stands_in_a_text_is_found_exactly(self, before: str, quote: str, after: str) -> None:
        text = before + quote + after
        span = find(quote, text)

        if not quote.strip():
            assert span is None
        else:
            assert span is not None
            assert (span.match, text[span.start : span.end], span.quote) == ("exact", quote, quote)
            assert span.occurrences == text.count(quote)

    @given(quote=ANY_TEXT, text=ANY_TEXT)
    def test_a_span_always_quotes_the_text(self, quote: str, text: str) -> None:
        span = find(quote, text)

        assert span is None or text[span.start : span.end] == span.quote

    @pytest.mark.parametrize("quote", ["", "  ", "\n"])
    def test_nothing_is_found_for_blank_words(self, quote: str) -> None:
        assert find(quote, "a  b\n") is None

    def test_offsets_count_code_points(self) -> None:
        assert where("Oslo", "🧳👩‍👩‍👧 Oslo") == (7, 11)

    def test_of_many_occurrences_the_one_nearest_to_a_span_is_taken_and_all_are_counted(self) -> None:
        text = "tea, but not milk; tea"
        milk = find("milk", text)

        assert where("tea", text) == (0, 3)
        assert find("tea", text, milk) == Span(start=19, end=22, quote="tea", occurrences=2)

    def test_one_inside_the_span_is_nearest(self) -> None:
        text = "Oslo? I live in Oslo. Oslo!"

        assert where("Oslo", text, find("I live in Oslo", text)) == (16, 20)

    def test_one_of_whole_words_goes_before_one_inside_a_word(self) -> None:
        assert where("no", "I know: no") == (8, 10)


class TestFolded:
    @pytest.mark.parametrize(
        ("quote", "text", "there"),
        [
            ("i LIVE in oslo", "Well, I live in Oslo.", "I live in Oslo"),
            ("I live in Oslo", "I  live\n in\u00a0Oslo", "I  live\n in\u00a0Oslo"),
            ('Mira\'s "home"', "Mira\u2019s \u201chome\u201d", "Mira\u2019s \u201chome\u201d"),
            ("Zu\u0308rich", "in Z\u00fcrich.", "Z\u00fcrich"),
            ("Z\u00fcrich", "in Zu\u0308rich.", "Zu\u0308rich"),
            (
                "\ud55c\uad6d",
                unicodedata.normalize("NFD", "\ud55c\uad6d"),
                unicodedata.normalize("NFD", "\ud55c\uad6d"),
            ),
            ("STRASSE", "Stra\u00dfe", "Stra\u00dfe"),
            (" Oslo ", "Oslo", "Oslo"),
        ],
    )
    def test_it_ignores_case_white_space_quotation_marks_and_normal_form(
        self, quote: str, text: str, there: str
    ) -> None:
        span = find(quote, text)

        assert span is not None
        assert (span.match, span.quote) == ("folded", there)

    def test_it_takes_no_part_of_a_character(self) -> None:
        assert find("S", "\u00df") is None

    @given(text=st.text(st.characters(codec="utf-8"), max_size=40))
    def test_a_text_in_another_normal_form_is_found(self, text: str) -> None:
        other = unicodedata.normalize("NFD", text)

        assert not text.strip() or find(other, text) is not None

    def test_other_words_are_not_found(self) -> None:
        assert find("Rome", "I live in Oslo.") is None


class TestSize:
    """Quotes and texts on which a careless search takes minutes; together they take a moment."""

    def test_long_repetitive_texts_are_searched_in_one_pass(self) -> None:
        text = "a" * 100_000
        found = find("a" * 50_000, text)

        assert found is not None
        assert found.occurrences == 2
        assert find("a" * 50_000 + "B", text) is None
        assert find("a", text + "b") is not None

    def test_a_character_with_very_many_marks_is_no_trap(self) -> None:
        assert find("x", "a" + "\u0301\u0323" * 50_000) is None


class TestWords:
    @pytest.mark.parametrize(
        ("quote", "text", "cuts"),
        [
            ("no", "know", True),
            ("peanut", "peanuts", True),
            ("20", "2026", True),
            ("e", "e\u0301", True),
            ("July", "July 15", False),
            ("10", "10am", False),
            ("\u6771\u4eac", "\u6771\u4eac\u306b\u4f4f\u3080", False),
        ],
    )
    def test_a_span_must_not_end_inside_a_word(self, quote: str, text: str, cuts: bool) -> None:
        start = text.find(quote)

        assert cuts_word(text, Span(start=start, end=start + len(quote), quote=quote)) is cuts


class TestAffirmation:
    @pytest.mark.parametrize(
        "text",
        ["Yes", "yes, that one.", "Sounds good!", "The second one, please", "That\u2019s right.", "Hm. OK then."],
    )
    def test_consent(self, text: str) -> None:
        assert affirms(text)

    @pytest.mark.parametrize(
        "text",
        [
            "Thanks",
            "No, not that one.",
            "Is that right?",
            "That's not right",
            "Yes? No!",
            "I don't think that is it",
            "",
        ],
    )
    def test_no_consent(self, text: str) -> None:
        assert not affirms(text)

    def test_only_the_sentences_that_are_touched_count(self) -> None:
        text = "I'm not sure about the hotel. Yes, that one."

        assert affirms_at(text, Span(start=30, end=33, quote="Yes"))
        assert not affirms_at(text, Span(start=0, end=8, quote="I'm not "))


class TestConsent:
    @pytest.mark.parametrize(
        "text",
        [
            "Yes, that's right.",
            "Perfect, thanks.",
            "Great and what is the phone number?",
            "Yes, what is their address?",
            "That is fine with me.",
            "Okay, that works.",
            "Correct!",
            "I'll take it.",
        ],
    )
    def test_it_is_found(self, text: str) -> None:
        assert affirms(text)

    @pytest.mark.parametrize(
        "text",
        [
            "Ok, could you change it to Bergen?",
            "Good, can you make it Bergen?",
            "Sure, are you kidding?",
            "Good morning!",
            "Right, as if.",
            "It's cool in Oslo",
            "Nah, that's fine.",
            "I doubt that's right.",
            "Please correct that.",
            "Cancel that one",
            "dont do that",
            "I want a great restaurant.",
            "Is that right?",
            "Okay?",
        ],
    )
    def test_what_is_none_is_not_taken_for_it(self, text: str) -> None:
        assert not affirms(text)

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.chunks import chunks

TEXTS = st.text(st.sampled_from("ab .!?\n\"'"), max_size=400)


@given(text=TEXTS, limit=st.integers(3, 80), share=st.floats(0, 0.49))
def test_the_fresh_parts_are_the_text(text: str, limit: int, share: float) -> None:
    found = chunks(text, limit, int(share * limit))

    assert "".join(text[chunk.fresh : chunk.end] for chunk in found) == text


@given(text=TEXTS, limit=st.integers(3, 80), share=st.floats(0, 0.49))
def test_no_chunk_is_too_long_nor_overlaps_too_much(text: str, limit: int, share: float) -> None:
    overlap = int(share * limit)
    found = chunks(text, limit, overlap)

    assert all(chunk.end - chunk.start <= limit for chunk in found)
    assert all(0 <= chunk.fresh - chunk.start <= overlap for chunk in found)
    assert len(found) == 1 or all(chunk.end > chunk.fresh for chunk in found)


def test_borders_lie_between_sentences() -> None:
    text = "I live in Oslo. My cat is Tom. I like tea! Do you?"

    assert [text[chunk.start : chunk.end] for chunk in chunks(text, 32, 0)] == [
        "I live in Oslo. My cat is Tom. ",
        "I like tea! Do you?",
    ]


def test_a_chunk_begins_with_the_last_sentence_of_the_one_before() -> None:
    text = "I live in Oslo. My cat is Tom. I like tea! Do you?"

    assert [text[chunk.start : chunk.end] for chunk in chunks(text, 40, 15)] == [
        "I live in Oslo. My cat is Tom. ",
        "My cat is Tom. I like tea! Do you?",
    ]


def test_a_long_sentence_is_cut_between_words() -> None:
    assert [chunk.end for chunk in chunks("word " * 10, 22, 0)] == [20, 40, 50]


def test_a_point_inside_a_number_or_a_name_is_no_border() -> None:
    text = "I take 3.5 mg of it. See sgam.extraction for more! Yes."

    assert [text[chunk.start : chunk.end] for chunk in chunks(text, 32, 0)] == [
        "I take 3.5 mg of it. ",
        "See sgam.extraction for more! ",
        "Yes.",
    ]


def test_a_word_without_end_is_cut_anywhere() -> None:
    assert [chunk.end for chunk in chunks("x" * 50, 20, 0)] == [20, 40, 50]


def test_an_overlap_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="an overlap of 10 does not fit"):
        chunks("text", 20, 10)


def test_the_time_is_linear() -> None:
    def seconds(times: int) -> float:
        text, start = "It rains again. " * times, time.process_time()
        chunks(text, 600, 120)
        return time.process_time() - start

    seconds(100)
    assert seconds(40_000) < 30 * max(seconds(4_000), 1e-3)

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.backends.local import watch
from sgam.extraction.backends.local.outline import Outline, bytes_before, items, overlapping

ONE, TWO = '{"change":"new","value":"a ]} \\" b"}', '{"change":"revoke","value":null}'


def spelled(*parts: str) -> str:
    return '{"updates":[' + ",".join(parts)


@pytest.mark.parametrize("data", ["[", "[]", '[{"', "]", "},", "}]}"])
def test_what_a_piece_of_text_decides_about_the_list_depends_on_what_stands_before(data: str) -> None:
    decided = {}
    for before in ('{"updates":', '{"updates":[', '{"updates":[{"a":1', '{"updates":[{"a":"1'):
        outline = Outline()
        outline.read(before.encode())
        decided[before[-2:]] = outline.peek(data.encode())

    expected: dict[str, dict[str, str | None]] = {
        "[": {"s\":": None}, "[]": {'":': "end"}, '[{"': {'":': "more"},
        "]": {":[": "end"}, "},": {":1": "more", '"1': None}, "}]}": {":1": "end", '"1': None},
    }  # fmt: skip
    wanted = {('":' if key == 's":' else key): value for key, value in expected[data].items()}
    assert {key: decided[key] for key in wanted} == wanted


def test_items_that_have_begun_are_counted() -> None:
    outline = Outline()
    outline.read(spelled(ONE, TWO[:9]).encode())

    assert outline.begun == 2
    assert not outline.between


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text() | st.integers() | st.none(), max_size=3), max_size=4))
def test_whole_items_are_found_with_the_spans_of_their_values(given_items: list[dict[str, object]]) -> None:
    text = json.dumps({"updates": given_items}, ensure_ascii=False, separators=(",", ":"))
    found = items(text)

    assert [json.loads(text[slice(*item.span)]) for item in found] == given_items
    assert [{k: json.loads(text[slice(*s)]) for k, s in item.fields.items()} for item in found] == given_items


@given(st.integers(0, len(spelled(ONE, TWO)) + 2))
def test_of_a_cut_answer_the_whole_items_are_found(length: int) -> None:
    text = (spelled(ONE, TWO) + "]}")[:length]
    ends = [len(spelled(ONE)), len(spelled(ONE, TWO))]

    assert len(items(text)) == sum(length >= end for end in ends)


def test_bytes_and_tokens_of_a_span() -> None:
    assert bytes_before("aé😀") == [0, 1, 3, 7]
    assert overlapping([2, 5, 9], 2, 5) == [1]
    assert overlapping([2, 5, 9], 1, 6) == [0, 1, 2]
    assert overlapping([2, 5, 9], 0, 0) == []


def test_an_item_said_twice_is_a_repetition() -> None:
    assert watch.repeats_item(spelled(ONE, TWO, ONE))
    assert not watch.repeats_item(spelled(ONE, TWO))
    assert not watch.repeats_item(spelled(ONE, ONE[:-1]))


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("and so on " * 6, True),
        ("a" * 60, True),
        ("a" * 40, False),
        ("ha ha ha", False),
        ("It was the best of times, it was the worst of times, it was the age of wisdom", False),
        ("", False),
    ],
)
def test_a_passage_that_repeats_itself_is_a_loop(text: str, is_loop: bool) -> None:
    assert watch.loops('{"note":"so: ' + text) is is_loop


def nothing_forced(text: str) -> str | None:
    return ""


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_an_early_end_keeps_whole_items_once() -> None:
    assert watch.closed(spelled(ONE, TWO, ONE, '{"ch'), nothing_forced, is_json) == spelled(ONE, TWO) + "]}"


def test_a_list_without_a_whole_item_is_not_closed() -> None:
    assert watch.closed(spelled('{"change":"n'), nothing_forced, is_json) is None
    assert watch.closed("", nothing_forced, is_json) is None


def test_a_record_is_closed_where_its_string_is() -> None:
    def force(text: str) -> str | None:
        whole = '{"note":"so it is","end":null}'
        return "" if text == '{"note":"so it' or whole.replace(" is", "").startswith(text) else None

    assert watch.closed('{"note":"so it', force, lambda text: is_json(text) or text.endswith('it"')) is not None

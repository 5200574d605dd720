from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.answer import Item, parse
from sgam.memory_store.model import Quarantined

from .conftest import fields

ONE = fields("Oslo", "city", "Oslo")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def answer(*updates: object) -> str:
    return json.dumps({"updates": updates}, ensure_ascii=False)


def reasons(text: str, finish: Any = "complete", **more: Any) -> list[str]:
    return [str(e.reason) if isinstance(e, Quarantined) else "item" for e in parse(text, finish, **more).entries]


class TestWhole:
    def test_items_come_in_order_with_their_raw_text(self) -> None:
        two = fields("Rome", "city", "Rome")
        got = parse(answer(ONE, two))

        assert got.status == "complete"
        assert [entry.fields for entry in got.entries if isinstance(entry, Item)] == [ONE, two]
        assert json.loads(got.entries[1].raw) == two

    @pytest.mark.parametrize("text", ['{"updates": []}', ' {\n"updates":[ ]\n} '])
    def test_no_updates_are_a_whole_answer(self, text: str) -> None:
        got = parse(text)

        assert (got.status, got.entries) == ("complete", ())

    def test_item_may_be_left_out(self) -> None:
        assert reasons(answer({name: entry for name, entry in ONE.items() if name != "item"})) == ["item"]

    def test_updates_above_the_limit_are_quarantined(self) -> None:
        assert reasons(answer(ONE, ONE, ONE), max_updates=2) == ["item", "item", "outside_schema"]

    def test_words_after_the_answer_are_quarantined(self) -> None:
        got = parse(answer(ONE) + " Here you are!")

        assert (got.status, got.entries[1].raw) == ("complete", "} Here you are!")


class TestItems:
    def test_a_sorted_object_is_out_of_order(self) -> None:
        assert reasons(answer(dict(sorted(ONE.items())), ONE)) == ["wrong_order", "item"]

    def test_a_lacking_field_is_named(self) -> None:
        [row] = parse(answer({name: ONE[name] for name in ONE if name != "until"})).entries

        assert isinstance(row, Quarantined)
        assert (row.reason, row.message) == ("missing_field", "lacks until")

    def test_an_unknown_field_is_outside_the_schema(self) -> None:
        assert reasons(answer({**ONE, "tenant": "acme"})) == ["outside_schema"]

    def test_a_repeated_key_is_malformed(self) -> None:
        text = answer(ONE).replace('"value"', '"value": "Rome", "value"')

        assert reasons(text) == ["malformed"]

    @pytest.mark.parametrize("entry", ["Oslo", 7, None, [ONE], [], {}])
    def test_what_is_no_update_costs_no_other(self, entry: object) -> None:
        expected = "missing_field" if entry == {} else "malformed"

        assert reasons(answer(entry, ONE)) == [expected, "item"]

    @pytest.mark.parametrize("value", ["NaN", "-Infinity", "1" * 5_000, '{"a": 1}', "[" * 50 + "]" * 50])
    def test_a_value_that_is_no_scalar_costs_no_other_item(self, value: str) -> None:
        hostile = json.dumps(ONE).replace('"Oslo", "when"', f'{value}, "when"')

        assert reasons(f'{{"updates": [{hostile}, {json.dumps(ONE)}]}}') == ["malformed", "item"]


class TestCut:
    def test_complete_items_are_kept_and_the_rest_is_quarantined(self) -> None:
        text = answer(ONE, ONE)[:-30]
        got = parse(text, "length")

        assert got.status == "partial"
        assert reasons(text, "length") == ["item", "cut"]
        assert text.endswith(got.entries[1].raw)

    def test_an_answer_cut_in_its_first_item_failed(self) -> None:
        got = parse('{"updates": [{"evidence": "Os', "deadline")

        assert (got.status, len(got.entries)) == ("failed", 1)

    def test_an_answer_that_is_whole_in_spite_of_the_cut_is_complete(self) -> None:
        assert parse(answer(ONE), "length").status == "complete"

    @given(cut=st.integers(0, len(answer(ONE, ONE)) - 1))
    def test_no_cut_lets_a_broken_item_through(self, cut: int) -> None:
        got = parse(answer(ONE, ONE)[:cut], "length")
        kept = [entry for entry in got.entries if isinstance(entry, Item)]

        assert all(entry.fields == ONE for entry in kept)
        assert len(got.entries) == len(kept) + 1


class TestGarbage:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "I am sorry, I cannot do that.",
            "[]",
            "{}",
            '{"updates": {}}',
            '{"updates": null}',
            "null",
            '{"updates": [',
            "[" * 100_000,
            '{"updates": ' + "[" * 100_000,
            "1" * 1_000_000,
            '"\ud800',
            "\x00",
        ],
    )
    def test_it_fails_with_one_row_that_a_store_can_keep(self, text: str) -> None:
        got = parse(text)
        [row] = got.entries

        assert got.status == "failed"
        assert isinstance(row, Quarantined)
        assert row.raw.encode().decode() == row.raw
        assert "\x00" not in row.raw

    @given(text=st.text(st.characters()), finish=st.sampled_from(["complete", "length", "deadline"]))
    def test_no_text_raises(self, text: str, finish: Any) -> None:
        for hostile in (text, '{"updates": [' + text, answer(ONE)[:-2] + text):
            got = parse(hostile, finish)

            assert got.entries or got.status == "complete"

    @given(entries=st.lists(JSON, max_size=4))
    def test_each_entry_of_any_list_is_accounted_for(self, entries: list[Any]) -> None:
        got = parse(json.dumps({"updates": entries}))

        assert (got.status, len(got.entries)) == ("complete", len(entries))

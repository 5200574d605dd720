from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sgam.extraction.backends.local.grammar import IDENTIFIER, has_quotes, translate, translate_shape
from sgam.memory_store.errors import GrammarError

xgrammar = pytest.importorskip("xgrammar")

QUOTE = {"type": "string", "x-substring": True}
IDENTIFIER_SCHEMA = {"type": "string", "pattern": IDENTIFIER}


def record(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def accepts(schema: dict[str, Any], text: str, source: str = "the source", context: tuple[str, ...] = ()) -> bool:
    """Whether the grammars together admit exactly `text`."""
    grammars = [translate(schema, source, context)] + [translate_shape(schema, source, context)] * has_quotes(schema)
    return all(_matches(grammar, text) for grammar in grammars)


def _matches(grammar: str, text: str) -> bool:
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(["a"]), cache_enabled=False)
    matcher = xgrammar.GrammarMatcher(compiler.compile_grammar(grammar))
    return bool(matcher.accept_string(text)) and bool(matcher.is_completed())


def spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"const": 'say "hi"\n'}, [r'"say \"hi\"\n"'], ['"say"', "null"]),
        ({"const": None}, ["null"], ['"null"', ""]),
        ({"const": 2.5, "type": "number"}, ["2.5"], ["2.50", "2"]),
        ({"enum": ["a", "b c", 1, True, "日本"]}, ['"a"', '"b c"', "1", "true", '"日本"'], ['"c"', "false", "a"]),
        ({"type": "boolean"}, ["true", "false"], ["True", "null", '"true"']),
        ({"type": "null"}, ["null"], ["None", ""]),
        ({"type": "integer"}, ["0", "-7", "1200"], ["01", "+1", "1.0", "-"]),
        ({"type": "number"}, ["0", "-7.25", "1e9", "1.5E-3"], [".5", "1.", "01", "NaN"]),
        (IDENTIFIER_SCHEMA, ['"mira"', '"a_1"', f'"{"a" * 64}"'], ['""', '"Mira"', '"1a"', f'"{"a" * 65}"', '"a b"']),
        ({"type": "string"}, ['""', r'"a \"b\" \n \u0007 é 😀"'], ['"a', r'"\x"', r'"\ud800"', '"line\nbreak"']),
        ({"anyOf": [{"type": "null"}, {"enum": ["x"]}]}, ["null", '"x"'], ['"null"', '"y"']),
    ],
)
def test_a_scalar_is_spelled_in_json(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not accepts(schema, text)] == []
    assert [text for text in bad if accepts(schema, text)] == []


def test_properties_stand_in_their_declared_order_and_none_is_left_out() -> None:
    schema = record(b={"type": "null"}, a={"type": "boolean"}) | {"required": ["a", "b"]}

    assert accepts(schema, '{"b":null,"a":true}')
    assert not accepts(schema, '{"a":true,"b":null}')
    assert not accepts(schema, '{"b":null}')
    assert not accepts(schema, '{"b":null,"a":true,"c":1}')
    assert not accepts(schema, '{"b": null, "a": true}')


def test_an_object_without_properties_is_empty() -> None:
    assert accepts(record(), "{}")


@pytest.mark.parametrize(
    ("bounds", "lengths"),
    [
        ({}, {0, 1, 2, 3, 4}),
        ({"maxItems": 2}, {0, 1, 2}),
        ({"minItems": 1}, {1, 2, 3, 4}),
        ({"minItems": 2, "maxItems": 3}, {2, 3}),
        ({"maxItems": 0}, {0}),
        ({"maxItems": 1}, {0, 1}),
    ],
)
def test_an_array_keeps_its_bounds(bounds: dict[str, int], lengths: set[int]) -> None:
    schema = {"type": "array", "items": {"type": "null"}, **bounds}

    assert {length for length in range(5) if accepts(schema, spelled([None] * length))} == lengths


def test_members_of_a_union_with_a_common_beginning_stay_apart_after_it() -> None:
    members = [
        record(evidence=QUOTE, attribute={"const": "city"}, value=QUOTE),
        record(evidence=QUOTE, attribute={"const": "style"}, value={"enum": ["concise", "detailed"]}),
        record(evidence=QUOTE),
    ]
    schema = {"type": "array", "items": {"anyOf": members}, "maxItems": 2}

    assert accepts(schema, '[{"evidence":"source","attribute":"city","value":"the"},{"evidence":"s"}]')
    assert accepts(schema, '[{"evidence":"source","attribute":"style","value":"concise"}]')
    assert not accepts(schema, '[{"evidence":"source","attribute":"style","value":"the"}]')
    assert not accepts(schema, '[{"evidence":"source","attribute":"city","value":"concise"}]')


def test_a_common_quote_is_written_once_however_many_members_there_are() -> None:
    members = [record(evidence=QUOTE, attribute={"const": f"a{number}"}) for number in range(50)]

    assert translate({"anyOf": members}, "the source").count("Substring(") == 1


def test_a_reference_is_followed_even_when_it_is_recursive() -> None:
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"anyOf": [{"type": "null"}, record(next={"$ref": "#/$defs/node"})]}},
    }

    assert accepts(schema, '{"next":{"next":null}}')
    assert not accepts(schema, '{"next":{"next":1}}')


def test_a_reference_to_an_object_may_be_a_member_of_a_union() -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {
            "a": record(evidence=QUOTE, kind={"const": "a"}, value={"type": "boolean"}),
            "b": record(evidence=QUOTE, kind={"const": "b"}),
        },
    }

    assert accepts(schema, '{"evidence":"so","kind":"a","value":true}')
    assert not accepts(schema, '{"evidence":"so","kind":"b","value":true}')


@settings(max_examples=60, deadline=None)
@given(source=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40), data=st.data())
@example(source='"', data=None)
@example(source='He said: "no\\pe"\n\t\x00\x7f 😀👩‍👩‍👧 日本語 \u2028 <|im_end|>', data=None)
def test_every_non_empty_substring_is_a_quote_and_nothing_else_is(source: str, data: st.DataObject | None) -> None:
    start = 0 if data is None else data.draw(st.integers(0, len(source) - 1))
    end = len(source) if data is None else data.draw(st.integers(start + 1, len(source)))

    assert accepts(QUOTE, spelled(source[start:end]), source)
    assert not accepts(QUOTE, '""', source)
    assert not accepts(QUOTE, spelled(source + "x"), source)
    assert not accepts(QUOTE, spelled("\ue123"), source.replace("\ue123", "x"))


def test_a_quote_of_the_turns_may_come_from_any_of_them_but_from_one_only() -> None:
    turns = {"type": "string", "x-substring": "turns"}
    schema = record(evidence=QUOTE, value=turns)
    context = ('at "Juno"', "", "on Monday")

    assert accepts(schema, '{"evidence":"Yes","value":"Monday"}', "Yes, that", context)
    assert accepts(schema, r'{"evidence":"Yes","value":"at \"Ju"}', "Yes, that", context)
    assert accepts(schema, '{"evidence":"Yes","value":"that"}', "Yes, that", context)
    assert not accepts(schema, '{"evidence":"Monday","value":"Monday"}', "Yes, that", context)
    assert not accepts(schema, '{"evidence":"Yes","value":"Mondaythat"}', "Yes, that", context)
    assert not accepts(schema, '{"evidence":"Yes","value":""}', "Yes, that", context)
    assert not accepts(schema, '{"evidence":"Yes","value":"Monday"}', "Yes, that")
    assert accepts(turns, '"Monday"', "", context)


def test_a_quote_from_an_empty_source_is_refused() -> None:
    with pytest.raises(GrammarError, match="source text is empty"):
        translate(record(evidence=QUOTE), "")


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "string", "maxLength": 5}, "'maxLength' at #"),
        ({"type": "string", "format": "date"}, "'format' at #"),
        ({"type": "string", "pattern": "^a+$"}, "pattern '^a+$'"),
        ({"type": "string", "x-substring": True, "maxLength": 5}, "'maxLength' at #"),
        ({"type": "string", "x-substring": "turn"}, "x-substring 'turn' at #"),
        ({"type": "integer", "minimum": 0}, "'minimum' at #"),
        ({"type": ["string", "null"]}, "type ['string', 'null'] at #"),
        ({"type": "strnig"}, "type 'strnig' at #"),
        ({}, "a schema without type at #"),
        ({"oneOf": [{"type": "null"}]}, "a schema without type at #"),
        ({"allOf": [{"type": "null"}], "type": "null"}, "'allOf' at #"),
        ({"anyOf": []}, "anyOf without members at #"),
        ({"anyOf": [{"type": "null"}], "type": "null"}, "'type' at #"),
        ({"enum": []}, "enum without values at #/enum"),
        ({"const": "x", "type": "integer"}, "beside type 'integer' at #/const"),
        ({"const": True, "type": "integer"}, "beside type 'integer' at #/const"),
        ({"const": float("nan")}, "no JSON at #/const"),
        ({"type": "array"}, "array without items at #"),
        ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, "'uniqueItems' at #"),
        ({"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 2}, "maxItems 2 below minItems 3"),
        ({"type": "array", "items": {"type": "null"}, "maxItems": -1}, "maxItems -1 at #"),
        ({"$ref": "https://example.org/x"}, "$ref 'https://example.org/x' at #"),
        ({"$ref": "#/$defs/absent"}, "$ref '#/$defs/absent' at #"),
        (record(a={"type": "null"}) | {"required": []}, "required that does not list every property at #"),
        (record(a={"type": "null"}) | {"additionalProperties": True}, "additionalProperties"),
        (record(a={"type": "null"}) | {"minProperties": 1}, "'minProperties' at #"),
        (record(a=record(b={"anyOf": [{"not": {}}]})), "at #/properties/a/properties/b/anyOf/0"),
        (record(a=True), "the schema True at #/properties/a"),
    ],
)
def test_what_cannot_be_enforced_is_refused_by_name_and_path(schema: dict[str, Any], named: str) -> None:
    with pytest.raises(GrammarError) as caught:
        translate(schema, "source")

    assert named in str(caught.value)
    assert not caught.value.retryable


def test_annotations_change_nothing() -> None:
    noted = {"type": "boolean", "title": "A", "description": "B", "examples": [True], "default": False, "$comment": "C"}

    assert translate(noted, "x") == translate({"type": "boolean"}, "x")


def test_translation_is_a_function_of_its_arguments() -> None:
    schema = record(evidence=QUOTE, who=IDENTIFIER_SCHEMA, note={"type": "string"})

    assert translate(schema, "a b") == translate(schema, "a b")

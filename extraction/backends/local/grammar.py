r"""From a response schema to an XGrammar grammar.

`translate` is a pure function over exactly the part of JSON Schema that response schemas use.  Whatever lies outside it
raises `GrammarError`: a keyword that the grammar ignored would be a promise that nobody keeps.

The grammar fixes one spelling of each answer: properties in their declared order, `,` and `:` as separators, no white
space around them, text literally rather than as `\uXXXX`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ....memory_store.errors import GrammarError

Schema = dict[str, Any]

IDENTIFIER = "^[a-z][a-z0-9_]{0,63}$"

_ANNOTATIONS = {"title", "description", "default", "examples", "$comment", "$schema", "$id", "$defs", "x-state"}
_FREE_TEXT = r"""
text_tail ::= "\"" | [^"\\\x00-\x1f\ud800-\udfff] text_tail | "\\" text_escape text_tail
text_escape ::= ["\\/bfnrt] | "u00" [01] [0-9a-f]
"""
_QUOTE_SHAPE = r"""
quote ::= "\"" ([^"\\\x00-\x1f] | "\\" quote_escape) quote_tail
quote_tail ::= "\"" | [^"\\\x00-\x1f] quote_tail | "\\" quote_escape quote_tail
quote_escape ::= ["\\/bfnrtu]
"""
_INTEGER = r'"-"? ("0" | [1-9] [0-9]*)'
_SIMPLE = {
    "boolean": '("true" | "false")',
    "null": '"null"',
    "integer": f"({_INTEGER})",
    "number": rf'({_INTEGER} ("." [0-9]+)? ([eE] [+-]? [0-9]+)?)',
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "object": (dict,),
    "array": (list,),
}


def translate(schema: Schema, source: str, context: Sequence[str] = ()) -> str:
    """The grammar (XGrammar EBNF, root rule `root`) of the answers to `schema` whose quotes are substrings of `source`.

    A string marked `"x-substring": "turns"` may be a substring of one of the texts of `context` instead.
    It still admits the empty quote, which XGrammar's `Substring` cannot exclude; `translate_shape` does.
    Raises `GrammarError`, which names the keyword and its path, for anything that cannot be enforced.
    """
    return _Translator(schema, _exact_rules(source, context)).grammar()


def translate_shape(schema: Schema, source: str, context: Sequence[str] = ()) -> str:
    """The grammar of the answers to `schema` whose quotes are any non-empty strings.

    An answer that both grammars accept has non-empty substrings of `source` as its quotes, and no prefix that both
    accept leads to a dead end.
    """
    rules = {True: [_QUOTE_SHAPE] if source else [], "turns": [_QUOTE_SHAPE] if source or any(context) else []}
    return _Translator(schema, rules).grammar()


def has_quotes(schema: Any) -> bool:
    """Whether some string of the schema is marked as a substring of the source."""
    if isinstance(schema, dict):
        return schema.get("x-substring") in (True, "turns") or any(map(has_quotes, schema.values()))
    return isinstance(schema, list) and any(map(has_quotes, schema))


def _exact_rules(source: str, context: Sequence[str]) -> dict[Any, list[str]]:
    """For each mark, the rules of its quotes (the first is the quote's own); none where no text could be quoted."""
    texts = dict.fromkeys(filter(None, (source, *context)))
    parts = {text: f"part{index} ::= {_substring(text)}" for index, text in enumerate(texts)}
    names = " | ".join(f"part{index}" for index in range(len(parts)))
    turns = [f'turn_quote ::= "\\"" ({names}) "\\""', *parts.values()] if parts else []
    own = ['quote ::= "\\"" part0 "\\""', parts[source]] if source else []
    return {True: own, "turns": turns}


def _substring(text: str) -> str:
    return f"Substring({','.join(literal(json_text(char)) for char in text)})"


def literal(text: str) -> str:
    """`text` as an EBNF string literal."""
    return '"' + "".join(map(_escape, text)) + '"'


def json_text(value: str) -> str:
    """`value` as it stands between the quotes of a JSON string."""
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if " " <= char <= "~" else f"\\U{ord(char):08x}"


class _Translator:
    """One translation: the rules written so far, and where in the schema we are."""

    def __init__(self, schema: Schema, quote_rules: dict[Any, list[str]]) -> None:
        self._schema = schema
        self._quote_rules = quote_rules
        self._rules: list[str] = []
        self._names: dict[str, str] = {}
        self._refs: dict[str, str] = {}
        self._shared: set[str] = set()

    def grammar(self) -> str:
        root = self._value(self._schema, "#")
        return "\n".join([f"root ::= {root}", *self._rules, *sorted(self._shared)]) + "\n"

    def _value(self, schema: Any, path: str) -> str:
        if not isinstance(schema, dict):
            raise _unsupported(f"the schema {schema!r}", path)
        for keyword, translate_keyword in self._forms().items():
            if keyword in schema:
                return translate_keyword(schema, path)
        return self._typed(schema, path)

    def _forms(self) -> dict[str, Callable[[Schema, str], str]]:
        return {"$ref": self._reference, "anyOf": self._union, "const": self._const, "enum": self._enum}

    def _typed(self, schema: Schema, path: str) -> str:
        kind = schema.get("type")
        if kind == "object":
            return self._objects([(schema, path)])
        if kind == "array":
            return self._array(schema, path)
        if kind == "string":
            return self._string(schema, path)
        if isinstance(kind, str) and kind in _SIMPLE:
            _allow(schema, path, "type")
            return _SIMPLE[kind]
        raise _unsupported(f"type {kind!r}" if "type" in schema else "a schema without type", path)

    def _const(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "const", "type")
        return _json_literal(schema["const"], schema, f"{path}/const")

    def _enum(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "enum", "type")
        values = schema["enum"]
        if not isinstance(values, list) or not values:
            raise _unsupported("an enum without values", f"{path}/enum")
        return "(" + " | ".join(_json_literal(value, schema, f"{path}/enum") for value in values) + ")"

    def _string(self, schema: Schema, path: str) -> str:
        if schema.get("x-substring"):
            return self._quote(schema, path)
        _allow(schema, path, "type", "pattern", "x-substring")
        if "pattern" not in schema:
            self._shared.add(_FREE_TEXT.strip())
            return r'("\"" text_tail)'
        if schema["pattern"] != IDENTIFIER:
            raise _unsupported(f"pattern {schema['pattern']!r} (only {IDENTIFIER!r})", path)
        return self._named(r'"\"" [a-z] [a-z0-9_]{0,63} "\""')

    def _quote(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "type", "x-substring")
        mark = schema["x-substring"]
        if mark is not True and mark != "turns":
            raise _unsupported(f"x-substring {mark!r}", path)
        if not self._quote_rules[mark]:
            raise GrammarError(f"x-substring at {path} cannot be satisfied: the source text is empty")
        self._shared.update(rule.strip() for rule in self._quote_rules[mark])
        return self._quote_rules[mark][0].split()[0]

    def _array(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "type", "items", "minItems", "maxItems")
        if "items" not in schema:
            raise _unsupported("an array without items", path)
        low, high = _bound(schema, "minItems", 0, path), _bound(schema, "maxItems", None, path)
        if high is not None and high < (low or 0):
            raise _unsupported(f"maxItems {high} below minItems {low}", path)
        if high == 0:
            return '"[]"'
        item = self._named(self._value(schema["items"], f"{path}/items"))
        more = f'("," {item}){{{max((low or 0) - 1, 0)},{"" if high is None else high - 1}}}'
        filled = f'"[" {item} {more} "]"'
        return f"({filled})" if low else f'("[]" | {filled})'

    def _reference(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "$ref")
        ref = schema["$ref"]
        if ref not in self._refs:
            self._refs[ref] = name = f"ref{len(self._refs)}"
            self._rules.append(f"{name} ::= {self._value(self._resolve(ref, path), ref)}")
        return self._refs[ref]

    def _resolve(self, ref: Any, path: str) -> Any:
        prefix, _, name = str(ref).rpartition("/")
        if prefix != "#/$defs" or name not in self._schema.get("$defs", {}):
            raise _unsupported(f"$ref {ref!r}", path)
        return self._schema["$defs"][name]

    def _union(self, schema: Schema, path: str) -> str:
        _allow(schema, path, "anyOf")
        members = schema["anyOf"]
        if not isinstance(members, list) or not members:
            raise _unsupported("an anyOf without members", path)
        pairs = [self._followed(member, f"{path}/anyOf/{index}") for index, member in enumerate(members)]
        objects = [pair for pair in pairs if _is_object(pair[0])]
        others = [self._value(*pair) for pair in pairs if not _is_object(pair[0])]
        return "(" + " | ".join(([self._objects(objects)] if objects else []) + others) + ")"

    def _followed(self, schema: Any, path: str) -> tuple[Any, str]:
        """A union member, with a reference to an object replaced by the object, so that equal beginnings are seen."""
        if isinstance(schema, dict) and set(schema) == {"$ref"}:
            target = self._resolve(schema["$ref"], path)
            if _is_object(target) and schema["$ref"] not in self._refs and not _refers(target):
                return target, schema["$ref"]
        return schema, path

    def _objects(self, members: Sequence[tuple[Schema, str]]) -> str:
        fields = [self._fields(schema, path) for schema, path in members]
        return f'("{{" {self._branches(fields, first=True)})'

    def _fields(self, schema: Schema, path: str) -> list[str]:
        """The `"key": value` expressions of an object, in order."""
        _allow(schema, path, "type", "properties", "required", "additionalProperties")
        properties = schema.get("properties", {})
        if sorted(schema.get("required", [])) != sorted(properties):
            raise _unsupported("required that does not list every property", path)
        if schema.get("additionalProperties", False) is not False:
            raise _unsupported("additionalProperties other than false", path)
        return [
            literal(json.dumps(key, ensure_ascii=False) + ":") + " " + self._value(value, f"{path}/properties/{key}")
            for key, value in properties.items()
        ]

    def _branches(self, members: Sequence[list[str]], *, first: bool = False) -> str:
        """The union of field lists, with equal beginnings written once.

        A matcher walks every open branch: a `Substring` that all members of a union begin with would be walked once
        for each.
        """
        ends = ['"}"'] if any(not fields for fields in members) else []
        groups: dict[str, list[list[str]]] = {}
        for fields in filter(None, members):
            groups.setdefault(fields[0], []).append(fields[1:])
        separator = "" if first else '"," '
        branches = [f"{separator}{head} {self._branches(tails)}" for head, tails in groups.items()]
        return ends[0] if not branches else self._named(" | ".join(ends + branches))

    def _named(self, expression: str) -> str:
        """The name of the rule for an expression; equal expressions share one."""
        if expression not in self._names:
            self._names[expression] = f"rule{len(self._names)}"
            self._rules.append(f"{self._names[expression]} ::= {expression}")
        return self._names[expression]


def _is_object(schema: Any) -> bool:
    return (
        isinstance(schema, dict) and schema.get("type") == "object" and "const" not in schema and "enum" not in schema
    )


def _refers(schema: Any) -> bool:
    if isinstance(schema, dict):
        return "$ref" in schema or any(map(_refers, schema.values()))
    return isinstance(schema, list) and any(map(_refers, schema))


def _allow(schema: Schema, path: str, *keywords: str) -> None:
    for keyword in schema:
        if keyword not in keywords and keyword not in _ANNOTATIONS:
            raise _unsupported(f"keyword {keyword!r}", path)


def _bound(schema: Schema, keyword: str, default: int | None, path: str) -> int | None:
    value = schema.get(keyword, default)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise _unsupported(f"{keyword} {value!r}", path)
    return value


def _json_literal(value: Any, schema: Schema, path: str) -> str:
    kind = schema.get("type")
    if kind is not None and not _is_of_type(value, kind):
        raise _unsupported(f"the value {value!r} beside type {kind!r}", path)
    try:
        return literal(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError) as error:
        raise _unsupported(f"the value {value!r}, which is no JSON", path) from error


def _is_of_type(value: Any, kind: Any) -> bool:
    types = _PYTHON_TYPES.get(kind) if isinstance(kind, str) else None
    return types is not None and isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _unsupported(what: str, path: str) -> GrammarError:
    return GrammarError(
        f"the grammar cannot enforce {what} at {path}",
        hint="use an object, array, const, enum, boolean, integer, number, string or null without further keywords",
    )

"""A response schema in the form that a backend takes, and a report of what that form no longer enforces.  Pure.

No two structured-output engines enforce the same part of JSON Schema, and most of them ignore in silence what they do
not know.  So the schema is rewritten here, for one `Dialect` at a time, and each keyword that constrains an answer has
one note: it is kept, weakened (something laxer stands in its place) or dropped.  What is weakened or dropped has to be
checked on the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..memory_store.errors import SchemaError

Json = dict[str, Any]
Fate = Literal["kept", "weakened", "dropped"]

ANNOTATIONS: Final = frozenset({"title", "description", "examples", "$comment", "$schema", "$id", "$defs", "x-state"})
"""Keywords that constrain no answer."""
_SCALARS: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """What a structured-output engine takes.

    `union`: members of `anyOf` may be objects that share their first key; without, they are merged into one flat
    object.  A merged schema is the same whatever the store holds (`x-state`), so that an engine which compiles each
    schema that it has not seen does so once.  `const`: the keyword is known; without, it becomes an `enum` of one.
    `keywords` are those that are known beside `type`, `properties`, `required`, `additionalProperties`, `items`,
    `anyOf` and `enum`.
    """

    name: str
    union: bool = True
    const: bool = True
    keywords: frozenset[str] = frozenset()


_BOUNDS: Final = frozenset({"minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})

OPENAI: Final = Dialect(name="openai", union=False, keywords=_BOUNDS | {"pattern", "format", "multipleOf"})
"""Strict mode of OpenAI, as its documentation lists it; it refuses union members with the same first key."""
COMPATIBLE: Final = Dialect(name="compatible", keywords=frozenset({"pattern", "minItems", "maxItems"}))
"""What llama.cpp, vLLM, SGLang and Ollama enforce alike."""
PORTABLE: Final = Dialect(name="portable", union=False, const=False)
"""What every provider's tool calling takes."""
XGRAMMAR: Final = Dialect(name="xgrammar", keywords=frozenset({"pattern", "maxItems", "x-substring"}))
"""What the local backend's grammar enforces."""
DIALECTS: Final = {dialect.name: dialect for dialect in (OPENAI, COMPATIBLE, PORTABLE, XGRAMMAR)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """What became of a keyword: `path` is its place in the original schema, as a JSON pointer."""

    path: str
    keyword: str
    fate: Fate
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lowered:
    """A schema in the form of a dialect, and the notes on every keyword that constrains an answer."""

    dialect: str
    schema: Json
    notes: tuple[Note, ...]

    @property
    def lost(self) -> tuple[Note, ...]:
        """What is not enforced any more, or not in full."""
        return tuple(note for note in self.notes if note.fate != "kept")


def lower(schema: Json, dialect: Dialect) -> Lowered:
    """The schema in the form of a dialect.

    Objects must list all their properties as required and have no default: a step that has one is a step that a model
    may skip.  Raises SchemaError, which names the path, for such a schema, for one whose objects take any key, and for
    a reference that leads nowhere or back to itself.
    """
    lowering = _Lowering(dialect, schema.get("$defs", {}))
    made = lowering.lower(schema, "")
    return Lowered(dialect=dialect.name, schema=made, notes=tuple(lowering.notes))


@dataclass
class _Lowering:
    """One run: the notes so far, and the references that are being followed."""

    dialect: Dialect
    definitions: Mapping[str, Any]
    notes: list[Note] = field(default_factory=list)
    following: tuple[str, ...] = ()

    def lower(self, schema: Any, path: str) -> Json:
        if not isinstance(schema, dict):
            raise SchemaError(f"{path or '/'}: {schema!r} is no schema that can be enforced")
        if "$ref" in schema:
            return self._reference(schema, path)
        if "oneOf" in schema:
            self._note(path, "oneOf", "weakened", "more than one member may fit")
            schema = {"anyOf": schema["oneOf"], **{k: v for k, v in schema.items() if k != "oneOf"}}
        made: Json = {}
        for keyword, value in schema.items():
            made |= self._keyword(schema, keyword, value, path)
        return _typed(made)

    def _keyword(self, schema: Json, keyword: str, value: Any, path: str) -> Json:
        if keyword in _NESTED:
            return _NESTED[keyword](self, schema, path)
        if keyword in {"description", "title"}:
            return {keyword: value}
        if keyword in ANNOTATIONS:
            return {}
        if keyword == "const" and not self.dialect.const:
            self._note(path, keyword, "kept", "as an enum of one")
            return {"enum": [value]}
        if keyword in _CORE or keyword in self.dialect.keywords:
            self._note(path, keyword, "kept")
            return {keyword: value}
        self._note(path, keyword, "dropped", f"{self.dialect.name} does not know it")
        return {}

    def _object(self, schema: Json, path: str) -> Json:
        properties, required = schema["properties"], schema.get("required", [])
        for name, part in properties.items():
            if isinstance(part, dict) and "default" in part:
                raise SchemaError(
                    f"{path}/properties/{name}: has a default, so a model may skip it",
                    hint="make it required and let it be null",
                )
            if name not in required:
                raise SchemaError(
                    f"{path}/properties/{name}: is not required, so a model may skip it",
                    hint="list it under required and let it be null",
                )
        self._note(path, "properties", "kept")
        return {"properties": {name: self.lower(properties[name], f"{path}/properties/{name}") for name in properties}}

    def _required(self, schema: Json, path: str) -> Json:
        self._note(path, "required", "kept")
        names = list(schema["properties"] if "properties" in schema else schema["required"])
        return {"required": names, "additionalProperties": False}

    def _closed(self, schema: Json, path: str) -> Json:
        if schema["additionalProperties"] is not False:
            raise SchemaError(f"{path or '/'}: takes any key", hint="use an array of objects with a key and a value")
        self._note(path, "additionalProperties", "kept")
        return {"additionalProperties": False}

    def _items(self, schema: Json, path: str) -> Json:
        return {"items": self.lower(schema["items"], f"{path}/items")}

    def _union(self, schema: Json, path: str) -> Json:
        members = [self._resolved(member, f"{path}/anyOf/{n}") for n, member in enumerate(schema["anyOf"])]
        if self.dialect.union or not _alike(members):
            self._note(path, "anyOf", "kept")
            return {"anyOf": [self.lower(member, f"{path}/anyOf/{n}") for n, member in enumerate(members)]}
        why = "one flat object: which values go together is not enforced"
        self._note(path, "anyOf", "weakened", why)
        return self.lower(self._merged(members, path), path)

    def _merged(self, members: Sequence[Json], path: str) -> Json:
        properties = {}
        for name in _in_order([list(member["properties"]) for member in members]):
            where = f"{path}/properties/{name}"
            parts = [member["properties"].get(name, {"type": "null"}) for member in members]
            if any("x-state" in part for part in parts):
                self._note(where, "x-state", "weakened", "what the store holds is not enforced")
            properties[name] = _either(parts)
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    def _reference(self, schema: Json, path: str) -> Json:
        target = self._resolved(schema, path)
        name = schema["$ref"]
        if name in self.following:
            raise SchemaError(f"{path or '/'}: {name} refers to itself", hint="bound its depth")
        inner = _Lowering(self.dialect, self.definitions, self.notes, (*self.following, name))
        return inner.lower(target, path)

    def _resolved(self, schema: Any, path: str) -> Any:
        """What a reference stands for, with the keywords beside it."""
        if not (isinstance(schema, dict) and "$ref" in schema):
            return schema
        name = str(schema["$ref"])
        target = self.definitions.get(name.removeprefix("#/$defs/"))
        if not isinstance(target, dict):
            raise SchemaError(f"{path or '/'}: nothing stands at {name}")
        return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}

    def _note(self, path: str, keyword: str, fate: Fate, why: str = "") -> None:
        note = Note(path=path or "/", keyword=keyword, fate=fate, why=why)
        if note not in self.notes:
            self.notes.append(note)


_CORE: Final = frozenset({"type", "enum", "const"})
_NESTED: Final = {
    "properties": _Lowering._object,
    "required": _Lowering._required,
    "additionalProperties": _Lowering._closed,
    "items": _Lowering._items,
    "anyOf": _Lowering._union,
}


def _alike(members: Iterable[Any]) -> bool:
    """Whether they are objects."""
    return all(isinstance(member, dict) and "properties" in member for member in members)


def _in_order(orders: Iterable[Sequence[str]]) -> list[str]:
    """All names in an order that agrees with each of the given ones, where they agree with one another."""
    merged: list[str] = []
    for names in orders:
        at = 0
        for name in names:
            if name not in merged:
                merged.insert(at, name)
            at = merged.index(name) + 1
    return merged


def _either(parts: Iterable[Json]) -> Json:
    """One schema for what any of the parts admits, whatever the store holds; literals of an open type go into it."""
    opened: dict[str, Json] = {}
    literals: list[Any] = []
    for part in _alternatives(parts):
        if "const" in part or "enum" in part:
            literals += [value for value in part.get("enum", [part.get("const")]) if not _contains(literals, value)]
        else:
            kind = str(part["type"])
            opened[kind] = part if kind not in opened or opened[kind] == part else {"type": kind}
    plain = {kind for kind, part in opened.items() if "pattern" not in part}
    closed = _by_type([value for value in literals if _SCALARS[type(value)] not in plain])
    choices = [*closed, *opened.values()]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _alternatives(parts: Iterable[Json]) -> Iterator[Json]:
    for given in parts:
        part = given.get("x-state", given)
        if "anyOf" in part:
            yield from _alternatives(part["anyOf"])
        else:
            yield part


def _contains(values: Iterable[Any], value: Any) -> bool:
    return any(type(other) is type(value) and other == value for other in values)


def _by_type(literals: Sequence[Any]) -> list[Json]:
    kinds = dict.fromkeys(_SCALARS[type(value)] for value in literals)
    return [_closed(kind, [value for value in literals if _SCALARS[type(value)] == kind]) for kind in kinds]


def _closed(kind: str, values: list[Any]) -> Json:
    return {"type": "null"} if kind == "null" else {"type": kind, "enum": values}


def _typed(schema: Json) -> Json:
    """The schema with the type of its literals, which strict engines want to see, where they have one in common."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    kinds = {_SCALARS[type(value)] for value in values if type(value) in _SCALARS}
    return {"type": kinds.pop(), **schema} if len(kinds) == 1 and "type" not in schema else schema

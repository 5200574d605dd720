"""What may be remembered: memory types, their attributes, value types and rules; from typed classes or from JSON.

A schema is declared once, either way:

    class Traveller(MemoryType):
        '''A person we book travel for.'''
        passport_deadline: Attribute[date] = attribute("Day by which the passport must be renewed")

    MemorySchema("travel", version=1, types=[Traveller])
    MemorySchema.from_json('{"name": "travel", "version": 1, "types": {...}}')

Both give the same object.  A schema version is immutable: a store keeps its JSON and refuses another under the same
name and version.
"""

from __future__ import annotations

import builtins
import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import SchemaError, UnknownAttribute
from .values import Scalar, TypeName, ValueType, fold

T = TypeVar("T")
Many = Literal["set", "map"]
OnEqualTime = Literal["hold", "source_rank", "last_recorded"]

SOURCES: Final = ("user_confirmed", "user", "tool", "document", "assistant")
"""Kinds of source, the most trusted first."""
CONFIRMATION: Final = "user_confirmed"
"""The kind of source that settles what an attribute wants confirmed."""
MAX_VERSION: Final = 1_000_000_000
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_DURATION: Final = TypeAdapter(timedelta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the policy and the extraction obey for one attribute.

    `on_equal_time` settles two values that hold from the same instant.  `confirm` holds every change until a person
    confirms it.  `promote_after` is the number of distinct episodes that must assert a value before it counts.
    `min_source` is the least trusted source that may write.  `ttl` is how long after the newest supporting episode a
    value may still be read.  `verbatim` demands that a text value is a span of the episode.  `retention` names a
    retention class.  `min_confidence` (0 to 1) holds what a model is less sure of; a caller's own candidates and models
    that state no confidence are not held.
    """

    on_equal_time: OnEqualTime = "hold"
    confirm: bool = False
    promote_after: int = 1
    min_source: str = "document"
    ttl: timedelta | None = None
    verbatim: bool = True
    retention: str | None = None
    min_confidence: float = 0.0


DEFAULT_RULES: Final = Rules()


@dataclass(frozen=True, kw_only=True)
class Attribute(Generic[T]):
    """One attribute of a memory type; as a class attribute it is a typed reference to it."""

    name: str = ""
    memory_type: str = ""
    description: str = ""
    type: ValueType = field(default_factory=lambda: ValueType(name="text"))
    many: Many | None = None
    rules: Rules = DEFAULT_RULES
    python: builtins.type[enum.Enum] | None = None

    def __str__(self) -> str:
        return f"{self.memory_type}.{self.name}"

    def value(self, canonical: str) -> Scalar | enum.Enum:
        """The Python value of a stored canonical text."""
        value = self.type.decode(canonical)
        return value if self.python is None else self.python(value)


def attribute(
    description: str,
    *,
    on_equal_time: OnEqualTime = "hold",
    confirm: bool = False,
    promote_after: int = 1,
    min_source: str = "document",
    ttl: timedelta | str | None = None,
    verbatim: bool = True,
    retention: str | None = None,
    min_confidence: float = 0.0,
) -> Any:
    """Describe an attribute of a `MemoryType`; the annotation gives its type.  `ttl` may be an ISO 8601 duration."""
    rules = Rules(
        on_equal_time=on_equal_time,
        confirm=confirm,
        promote_after=promote_after,
        min_source=min_source,
        ttl=_duration(ttl),
        verbatim=verbatim,
        retention=retention,
        min_confidence=min_confidence,
    )
    return Attribute(description=description, rules=rules)


def _duration(ttl: timedelta | str | None) -> timedelta | None:
    try:
        return None if ttl is None else _DURATION.validate_python(ttl)
    except ValidationError:
        raise SchemaError(f"ttl: expected an ISO 8601 duration such as P7D, got {ttl!r}") from None


class MemoryType:
    """Base of a declared memory type: the docstring describes it, `Attribute[...]` annotations say what it holds."""

    memory_type: ClassVar[str]
    attributes: ClassVar[dict[str, Attribute[Any]]]

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        cls.memory_type = name or _snake(cls.__name__)
        cls.attributes = {}
        if taken := {"attributes", "memory_type"} & inspect.get_annotations(cls).keys():
            raise SchemaError(f"{cls.__name__}: {min(taken)} cannot be the name of an attribute")
        for attr, hint in _hints(cls).items():
            if typing.get_origin(hint) is Attribute:
                declared: Attribute[Any] = getattr(cls, attr, Attribute())
                bound = _bind(declared, attr, cls.memory_type, typing.get_args(hint)[0])
                cls.attributes[attr] = bound
                setattr(cls, attr, bound)


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except NameError as error:
        hint = "declare the types that it names at module level"
        raise SchemaError(f"{cls.__name__}: cannot resolve an annotation: {error}", hint=hint) from error


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_SCALARS: Final[dict[Any, TypeName]] = {
    str: "text",
    int: "integer",
    float: "number",
    Decimal: "decimal",
    bool: "boolean",
    date: "date",
    time: "time",
    datetime: "datetime",
}


def _bind(declared: Attribute[Any], name: str, memory_type: str, hint: Any) -> Attribute[Any]:
    many, scalar = _split(hint, f"{memory_type}.{name}")
    python = scalar if isinstance(scalar, type) and issubclass(scalar, enum.Enum) else None
    value_type = _value_type(scalar, f"{memory_type}.{name}")
    return replace(declared, name=name, memory_type=memory_type, type=value_type, many=many, python=python)


def _split(hint: Any, where: str) -> tuple[Many | None, Any]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is set:
        return "set", args[0]
    if origin is dict:
        if args[0] is not str:
            raise SchemaError(f"{where}: the items of a dict attribute are named by str")
        return "map", args[1]
    if origin in {types.UnionType, typing.Union}:
        raise SchemaError(f"{where}: an attribute has one type; that it may be unknown goes without saying")
    return None, hint


def _value_type(scalar: Any, where: str) -> ValueType:
    if typing.get_origin(scalar) is Literal:
        return _closed(list(typing.get_args(scalar)), where)
    if isinstance(scalar, type) and issubclass(scalar, enum.Enum):
        return _closed([member.value for member in scalar], where)
    if scalar in _SCALARS:
        return ValueType(name=_SCALARS[scalar])
    names = "str, int, float, Decimal, bool, date, time, datetime, Literal, Enum, set[...] and dict[str, ...]"
    raise SchemaError(f"{where}: {scalar!r} is no value type", hint=f"value types are {names}")


def _closed(values: list[Any], where: str) -> ValueType:
    if not all(isinstance(value, str) for value in values):
        raise SchemaError(f"{where}: the members of an enum are texts")
    return ValueType(name="enum", values=tuple(map(str, values)))


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeDefinition:
    """A memory type of a schema: name, description, attributes by name."""

    name: str
    description: str
    attributes: Mapping[str, Attribute[Any]]


class MemorySchema:
    """The declaration of what may be remembered, immutable, with a name and a version."""

    def __init__(
        self,
        name: str,
        *,
        version: int = 1,
        types: Iterable[type[MemoryType] | TypeDefinition],
        sources: Iterable[str] = SOURCES,
    ) -> None:
        self.name = name
        self.version = version
        self.sources = tuple(sources)
        definitions = [_definition(kind) for kind in types]
        self.types: Mapping[str, TypeDefinition] = {kind.name: kind for kind in definitions}
        _check_names([kind.name for kind in definitions], "types")
        _check_names(self.sources, "sources")
        _check(self)

    def __repr__(self) -> str:
        return f"MemorySchema({self.name!r}, version={self.version})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySchema) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    def attribute(self, reference: Attribute[Any] | str) -> Attribute[Any]:
        """The attribute that a reference, `"type.attribute"` or a unique `"attribute"` names, or UnknownAttribute."""
        found = self._matches(str(reference))
        if not found:
            hint = f"the schema {self.name} has {', '.join(map(str, self.attributes()))}"
            raise UnknownAttribute(f"no attribute {str(reference)!r} in the schema", hint=hint)
        if len(found) > 1:
            raise UnknownAttribute(f"{reference!s} is ambiguous", hint=f"say one of {', '.join(map(str, found))}")
        return found[0]

    def _matches(self, reference: str) -> list[Attribute[Any]]:
        memory_type, _, name = reference.rpartition(".")
        kinds = [kind for kind in self.types.values() if memory_type in {"", kind.name}]
        return [kind.attributes[name] for kind in kinds if name in kind.attributes]

    def attributes(self) -> list[Attribute[Any]]:
        """All attributes, in the order of declaration."""
        return [attr for kind in self.types.values() for attr in kind.attributes.values()]

    def rank(self, source: str) -> int:
        """Trust in a source; greater is more.  Raises SchemaError for a source that the schema does not list."""
        if source not in self.sources:
            raise SchemaError(f"source {source!r} is none of {', '.join(self.sources)}")
        return len(self.sources) - self.sources.index(source)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form as Python objects; what equals a default is left out."""
        data: dict[str, Any] = {"name": self.name, "version": self.version}
        data["types"] = {kind.name: _type_to_dict(kind) for kind in self.types.values()}
        if self.sources != SOURCES:
            data["sources"] = list(self.sources)
        return data

    def to_json(self, *, indent: int | None = None) -> str:
        """The JSON form, which `from_json` reads back to an equal schema."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, source: str | bytes | Path | Mapping[str, Any]) -> MemorySchema:
        """Read the JSON form from text, a file or parsed JSON.  Raises SchemaError that names what is wrong."""
        if isinstance(source, Path):
            source = _read(source)
        try:
            parsed = _SchemaJson.model_validate_json(source) if isinstance(source, str | bytes) else _parse(source)
        except ValidationError as error:
            raise SchemaError(_first_problem(error)) from error
        kinds = [kind.definition(name) for name, kind in parsed.types.items()]
        return cls(parsed.name, version=parsed.version, types=kinds, sources=parsed.sources)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of the JSON form."""
        return _SchemaJson.model_json_schema(by_alias=True)


def differences(old: MemorySchema, new: MemorySchema) -> list[str]:
    """What differs in meaning, one line each; descriptions are advice to a model and do not count."""
    lines = [] if old.sources == new.sources else [f"sources: {list(old.sources)} became {list(new.sources)}"]
    before = {str(attr): attr for attr in old.attributes()}
    after = {str(attr): attr for attr in new.attributes()}
    lines += [f"type {name} was removed" for name in old.types.keys() - new.types.keys()]
    lines += [f"type {name} was added" for name in new.types.keys() - old.types.keys()]
    lines += [f"{name} was removed" for name in before.keys() - after.keys()]
    lines += [f"{name} was added" for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        lines += _attribute_differences(name, before[name], after[name])
    return sorted(lines)


def _attribute_differences(name: str, old: Attribute[Any], new: Attribute[Any]) -> list[str]:
    a, b = _attribute_to_dict(old), _attribute_to_dict(new)
    changed = sorted(key for key in a.keys() | b.keys() if key != "description" and a.get(key) != b.get(key))
    return [f"{name}: {key} {a.get(key)!r} became {b.get(key)!r}" for key in changed]


def _definition(kind: type[MemoryType] | TypeDefinition) -> TypeDefinition:
    if isinstance(kind, TypeDefinition):
        return kind
    description = " ".join((kind.__doc__ or kind.memory_type).split())
    return TypeDefinition(name=kind.memory_type, description=description, attributes=dict(kind.attributes))


def _check_names(names: Sequence[str], where: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaError(f"{where}: {twice[0]} is declared twice")


def _check(schema: MemorySchema) -> None:
    if not re.fullmatch(r"[\w.-]{1,100}", schema.name):
        raise SchemaError(f"name: expected letters, digits, _, . and -, got {schema.name!r}")
    if not 1 <= schema.version <= MAX_VERSION:
        raise SchemaError(f"version: expected 1 to {MAX_VERSION}, got {schema.version}")
    if not schema.types:
        raise SchemaError("types: a schema needs at least one memory type")
    for kind in schema.types.values():
        if not _NAME.match(kind.name):
            raise SchemaError(f"types: {kind.name!r} is no name (letters, digits and _)")
        if not kind.attributes:
            raise SchemaError(f"types.{kind.name}: a memory type needs at least one attribute")
    for attr in schema.attributes():
        _check_attribute(attr, schema.sources)


def _check_attribute(attr: Attribute[Any], sources: tuple[str, ...]) -> None:
    if not _NAME.match(attr.name):
        raise SchemaError(f"{attr}: an attribute's name is made of letters, digits and _")
    if attr.type.name == "enum" and not attr.type.values:
        raise SchemaError(f"{attr}: an enum needs values")
    if attr.type.name == "enum" and len(set(map(fold, attr.type.values))) < len(attr.type.values):
        raise SchemaError(f"{attr}: the values of an enum must differ, and in more than case or white space")
    if attr.type.name != "enum" and attr.type.values:
        raise SchemaError(f"{attr}: only an enum has values")
    if attr.rules.promote_after < 1:
        raise SchemaError(f"{attr}: promote_after is 1 or more")
    if not 0 <= attr.rules.min_confidence <= 1:
        raise SchemaError(f"{attr}: min_confidence is a probability, from 0 to 1")
    if attr.rules.ttl is not None and attr.rules.ttl <= timedelta():
        raise SchemaError(f"{attr}: ttl must be longer than nothing")
    if attr.rules.min_source not in sources:
        raise SchemaError(f"{attr}: min_source is one of {', '.join(sources)}")


def _type_to_dict(kind: TypeDefinition) -> dict[str, Any]:
    attributes = {name: _attribute_to_dict(attr) for name, attr in kind.attributes.items()}
    return {"description": kind.description, "attributes": attributes}


def _attribute_to_dict(attr: Attribute[Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"type": attr.type.name, "description": attr.description}
    if attr.type.values:
        data["values"] = list(attr.type.values)
    if attr.many:
        data["many"] = attr.many
    for rule in fields(Rules):
        value = getattr(attr.rules, rule.name)
        if value != getattr(DEFAULT_RULES, rule.name):
            data[rule.name] = _DURATION.dump_python(value, mode="json") if rule.name == "ttl" else value
    return data


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", title=None)


class _AttributeJson(_Strict):
    type: TypeName
    description: str = ""
    values: list[str] = []
    many: Many | None = None
    on_equal_time: OnEqualTime = "hold"
    confirm: bool = False
    promote_after: int = 1
    min_source: str = "document"
    ttl: timedelta | None = None
    verbatim: bool = True
    retention: str | None = None
    min_confidence: float = 0.0

    def definition(self, name: str, memory_type: str) -> Attribute[Any]:
        rules = Rules(**{rule.name: getattr(self, rule.name) for rule in fields(Rules)})
        value_type = ValueType(name=self.type, values=tuple(self.values))
        return Attribute(
            name=name,
            memory_type=memory_type,
            description=self.description,
            type=value_type,
            many=self.many,
            rules=rules,
        )


class _TypeJson(_Strict):
    description: str = ""
    attributes: dict[str, _AttributeJson]

    def definition(self, name: str) -> TypeDefinition:
        attributes = {key: attr.definition(key, name) for key, attr in self.attributes.items()}
        return TypeDefinition(name=name, description=self.description, attributes=attributes)


class _SchemaJson(_Strict):
    name: str
    version: int = Field(strict=True)
    types: dict[str, _TypeJson]
    sources: list[str] = list(SOURCES)


def _parse(source: Mapping[str, Any]) -> _SchemaJson:
    return _SchemaJson.model_validate(dict(source))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path}: cannot read the schema: {error}") from error


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "schema"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{where}: {first['msg']}{more}"

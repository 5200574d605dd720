"""The parts of a candidate, each read from raw data or refused with a reason."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ..memory_store.errors import InvalidInput, UnknownAttribute
from ..memory_store.model import (
    MAX_ID_LENGTH,
    Episode,
    Evidence,
    Precision,
    Quarantined,
    QuarantineReason,
    end_of_stretch,
    subject_id,
)
from ..memory_store.schema import Attribute, MemorySchema
from ..memory_store.values import MAX_VALUE_LENGTH, Scalar, check_text, encode, fold, identity, to_json
from .answer import storable
from .grounding import Span

Role = Literal["evidence", "value", "when", "until"]


class Refused(Exception):
    """Why something cannot become a candidate; the message begins with the field that is to blame, if it is one."""

    def __init__(self, reason: QuarantineReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def field(self) -> str:
        """The field that is to blame, or the empty string."""
        name, colon, _ = str(self).partition(":")
        return name if colon and name.isidentifier() else ""

    def row(self, raw: str) -> Quarantined:
        """The quarantine row."""
        return Quarantined(reason=self.reason, message=storable(str(self))[:300], raw=storable(raw))


class Entry(NamedTuple):
    """The entry of an attribute that holds many, as it was said and as it is keyed; both empty for the others."""

    said: str | None = None
    key: str = ""


def read_attribute(name: str, schema: MemorySchema) -> Attribute[Any]:
    """The attribute of the schema that is named."""
    try:
        return schema.attribute(name)
    except UnknownAttribute as error:
        raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"attribute: {error}") from None


def read_subject(raw: object) -> str:
    """The normalised id of a subject."""
    try:
        if isinstance(raw, str):
            return subject_id(raw)
    except InvalidInput as error:
        raise Refused(QuarantineReason.OUTSIDE_SCHEMA, str(error)) from None
    raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"subject: expected text, got {raw!r}")


def read_value(attr: Attribute[Any], raw: object) -> Scalar:
    """The typed value; one that could not be written as JSON is refused as well."""
    if isinstance(raw, str) and len(raw) > MAX_VALUE_LENGTH:
        raise Refused(QuarantineReason.TOO_LONG, f"value: longer than {MAX_VALUE_LENGTH} characters")
    try:
        value = attr.type.parse(raw)
        encode(value)
    except ValueError as error:
        raise Refused(QuarantineReason.WRONG_TYPE, f"value: {error}") from None
    return value


def read_entry(attr: Attribute[Any], item: str | None, value: Scalar | None) -> Entry:
    """The entry that an item, or for a set its value, names."""
    if not attr.many:
        if item is not None:
            raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"item: {attr} holds one value")
        return Entry()
    if attr.many == "set":
        item = _set_item(attr, item, value)
    if item is None or not item.strip():
        raise Refused(QuarantineReason.MISSING_FIELD, f"item: {attr} holds many, say which")
    if len(item) > MAX_ID_LENGTH:
        raise Refused(QuarantineReason.TOO_LONG, f"item: longer than {MAX_ID_LENGTH} characters")
    try:
        check_text(item)
    except ValueError as error:
        raise Refused(QuarantineReason.MALFORMED, f"item: {error}") from None
    return Entry(item.strip(), fold(item))


def _set_item(attr: Attribute[Any], item: str | None, value: Scalar | None) -> str | None:
    if item is None:
        return None if value is None else _name(value)
    named = read_value(attr, item)
    if value is not None and identity(encode(named)) != identity(encode(value)):
        raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"item: {item!r} is not the value {value!s}")
    return _name(named)


def _name(value: Scalar) -> str:
    form = to_json(value)
    return form if isinstance(form, str) else json.dumps(form)


def read_end(start: datetime, precision: Precision, until: datetime | None, zone: str) -> datetime | None:
    """The exclusive end of the stretch that `start` opens.  Refuses an interval that is empty."""
    if until is not None and until <= start:
        message = f"ends at {until.isoformat()}, but begins at {start.isoformat()}"
        raise Refused(QuarantineReason.EMPTY_INTERVAL, message)
    try:
        return end_of_stretch(start, precision, zone)
    except (OverflowError, ValueError):
        message = f"the {precision} of {start.isoformat()} ends out of the calendar's range"
        raise Refused(QuarantineReason.UNRESOLVED_TIME, message) from None


def evidence_of(span: Span, episode: Episode, role: Role) -> Evidence:
    """A span as the evidence that is stored."""
    return Evidence(
        episode_id=episode.episode_id,
        start=span.start,
        end=span.end,
        quote=span.quote,
        role=role,
        match=span.match,
        occurrences=span.occurrences,
    )

"""Rows to parameters and back."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from ..records import CandidateRow, FactRecord, FactRow, HoldRow, Row, StatusRow

AnyRow = TypeVar("AnyRow", bound=Row)
Cell = str | int | float | bytes | None
Columns = tuple[tuple[str, Callable[[Any], Any] | None], ...]
_CACHE: dict[type[Any], Columns] = {}


def stamp(when: datetime) -> str:
    """A time in UTC as text that sorts."""
    return when.isoformat(timespec="microseconds")[:26] + "Z"


def cell(value: object) -> Cell:
    """One value as SQLite keeps it."""
    if isinstance(value, datetime):
        return stamp(value)
    return typing.cast("Cell", value)


def parameters(row: Row) -> dict[str, Cell]:
    """The columns of a row by name."""
    return {name: cell(getattr(row, name)) for name, _ in _columns(type(row))}


def _columns(kind: type[AnyRow]) -> Columns:
    if kind not in _CACHE:
        hints = typing.get_type_hints(kind)
        _CACHE[kind] = tuple((field.name, _reader(hints[field.name])) for field in fields(kind))
    return _CACHE[kind]


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    kinds = typing.get_args(hint) or (hint,)
    if datetime in kinds:
        return datetime.fromisoformat
    return bool if bool in kinds else None


def load(kind: type[AnyRow], cells: Sequence[Any]) -> AnyRow:
    """A row from its columns in order."""
    return kind(
        **{
            name: value if read is None or value is None else read(value)
            for (name, read), value in zip(_columns(kind), cells, strict=True)
        }
    )


def load_status(cells: Sequence[Any]) -> StatusRow:
    """A row of the view `candidate_status` without its tenant."""
    width = len(_columns(CandidateRow))
    candidate = load(CandidateRow, cells[:width])
    precedence, *hold = cells[width:]
    return StatusRow(
        candidate=candidate, precedence=precedence, waits=load(HoldRow, hold) if hold[0] is not None else None
    )


def load_record(fact: FactRow, about: Sequence[Any], supersedes: int | None) -> FactRecord:
    """A fact with the further columns of the view `fact_records`."""
    schema_name, schema_version, item_text, source, episode_id, speaker, quote = about
    return FactRecord(
        fact=fact,
        schema_name=schema_name,
        schema_version=schema_version,
        item_text=item_text,
        source=source,
        episode_id=episode_id,
        speaker=speaker,
        quote=quote,
        supersedes=supersedes,
    )

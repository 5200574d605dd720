"""From what a caller proposes to a candidate, or to a quarantine row that says why not.  Pure."""

from __future__ import annotations

import json
from typing import get_args

from ..memory_store.model import (
    Candidate,
    Change,
    Episode,
    Key,
    Precision,
    Proposal,
    Quarantined,
    QuarantineReason,
    utc,
)
from ..memory_store.schema import MemorySchema
from ..memory_store.values import encode
from . import grounding
from .grounding import Span
from .parts import Refused, evidence_of, read_attribute, read_end, read_entry, read_subject, read_value


def candidate_from_proposal(proposal: Proposal, episode: Episode, schema: MemorySchema) -> Candidate | Quarantined:
    """Type and ground what a caller proposes.

    The quote must stand in the episode exactly; the value, which the caller vouches for, need not.  An entry of a set
    is its own value: `item` and `value` name the same, and a revocation is told by `item`.  Raises InvalidInput for a
    naive datetime.
    """
    try:
        return _read(proposal, episode, schema)
    except Refused as refused:
        return refused.row(_raw(proposal))


def _read(proposal: Proposal, episode: Episode, schema: MemorySchema) -> Candidate:
    _check_forms(proposal)
    attr = read_attribute(proposal.attribute, schema)
    subject = read_subject(proposal.subject)
    value = None if proposal.value is None else read_value(attr, proposal.value)
    entry = read_entry(attr, proposal.item, value)
    start = episode.observed_at if proposal.valid_from is None else utc(proposal.valid_from, "valid_from")
    until = None if proposal.valid_until is None else utc(proposal.valid_until, "valid_until")
    return Candidate(
        key=Key(attr.memory_type, subject, attr.name, entry.key),
        value=None if value is None else encode(value),
        valid_from=start,
        source=episode.source,
        evidence=(evidence_of(_ground(proposal.quote, episode), episode, "evidence"),),
        item_text=entry.said,
        precision=proposal.precision,
        valid_from_end=read_end(start, proposal.precision, until, episode.zone),
        valid_until=until,
        change=proposal.change,
        time_rule="default" if proposal.valid_from is None else "given",
    )


def _check_forms(proposal: Proposal) -> None:
    for name in ("subject", "attribute", "quote", "item"):
        entry = getattr(proposal, name)
        if not isinstance(entry, str) and not (name == "item" and entry is None):
            raise Refused(QuarantineReason.MALFORMED, f"{name}: expected text, got {type(entry).__name__}")
    if proposal.precision not in get_args(Precision):
        raise Refused(QuarantineReason.MALFORMED, f"precision: {proposal.precision!r} is none")
    if proposal.change not in (None, *get_args(Change)):
        raise Refused(QuarantineReason.MALFORMED, f"change: {proposal.change!r} is none")


def _ground(quote: str, episode: Episode) -> Span:
    span = grounding.find(quote, episode.text)
    if span is None:
        raise Refused(QuarantineReason.UNGROUNDED, f"quote: the episode does not say {quote!r}")
    if span.match != "exact":
        raise Refused(QuarantineReason.UNGROUNDED, f"quote: the episode says {span.quote!r}, not {quote!r}")
    return span


def _raw(proposal: Proposal) -> str:
    names = ("quote", "subject", "attribute", "item", "change", "value", "valid_from", "precision", "valid_until")
    fields = {name: _plain(getattr(proposal, name)) for name in names}
    return json.dumps({name: entry for name, entry in fields.items() if entry is not None}, ensure_ascii=False)


def _plain(entry: object) -> str | int | float | None:
    if isinstance(entry, int) and entry.bit_length() > 10_000:
        return f"an integer of {entry.bit_length()} bits"  # Python refuses to write it in decimal
    return entry if entry is None or isinstance(entry, str | int | float) else str(entry)

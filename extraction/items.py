"""From an item of a model's answer to a candidate, or to a quarantine row that says why not.  Pure.

The model only points: the values and times that it quotes are read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ..memory_store.model import Candidate, Change, Episode, Evidence, Key, Precision, Quarantined, QuarantineReason
from ..memory_store.schema import Attribute
from ..memory_store.values import MAX_VALUE_LENGTH, Scalar, encode, fold
from . import dates, grounding, numbers
from .answer import Item
from .grounding import Span
from .parts import Entry, Refused, Role, evidence_of, read_attribute, read_end, read_entry, read_subject, read_value
from .response import NEW_SUBJECT, Offer, Stored

_PEOPLE: Final = frozenset({"user_confirmed", "user", "assistant"})
"""Sources whose words, once affirmed, count as the words of the one who affirms."""

Fields = dict[str, Any]


def candidate_from_item(item: Item, offer: Offer) -> Candidate | Quarantined:
    """Type and ground one item of an answer.

    * The evidence stands in the episode.  A quoted value, item, `when` or `until` does, too, or it stands in a turn
      before that the words of the evidence affirm: words of a tool or a document then count as theirs, others as the
      speaker's.  No quote cuts a word.
    * The item says what the offer admits: the value on record as `current_value`, a change that fits it, a value that
      fits the change.  For an attribute that holds many, an entry on record may be told as a new one.
    * `valid_from` is the resolved `when`.  Without one (`default`), with one that cannot be resolved (`unresolved`) or
      that is the value itself (`is_the_value`), it is `observed_at`.  An end that cannot be resolved is left open.
    * `no_change` asserts the value on record again.
    """
    try:
        return read_item(item, offer)
    except Refused as refused:
        return refused.row(item.raw)


def read_item(item: Item, offer: Offer) -> Candidate:
    """The same, where an item that says anything else is refused with the field that is to blame."""
    fields = item.fields
    attr = _offered(fields, offer)
    desk = _Desk(offer=offer, attr=attr, evidence=_own_words(fields["evidence"], offer, attr))
    told = desk.entry(fields)
    key = Key(attr.memory_type, desk.subject(fields["subject"]), attr.name, told.entry.key)
    stored = offer.stored.get(key)
    change = _change(fields, attr, stored)
    value = desk.value(fields, change, stored, told)
    said = [quote for quote in (told.quote, value.quote) if quote is not None]
    times = desk.times(fields, value.value, said)
    quotes = [*said, *(quote for quote in (times.when, times.until) if quote is not None)]
    return Candidate(
        key=key,
        value=None if value.value is None else encode(value.value),
        valid_from=times.start,
        source=_source(quotes, offer.episode),
        evidence=desk.spans(quotes),
        item_text=told.entry.said,
        precision=times.precision,
        valid_from_end=read_end(times.start, times.precision, times.end, times.zone),
        valid_until=times.end,
        change=change,
        time_rule=times.rule,
    )


def _offered(fields: Fields, offer: Offer) -> Attribute[Any]:
    attr = read_attribute(_text(fields, "attribute"), offer.schema)
    if attr not in offer.attributes:
        raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"attribute: the source {offer.episode.source} may not write it")
    return attr


def _text(fields: Fields, name: str) -> str:
    if isinstance(fields[name], str):
        return str(fields[name])
    raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"{name}: expected text, got {fields[name]!r}")


def _own_words(quote: object, offer: Offer, attr: Attribute[Any]) -> Span:
    episode = offer.episode
    span = grounding.find(quote, episode.text, within=offer.place) if isinstance(quote, str) else None
    if span is None:
        raise Refused(QuarantineReason.UNGROUNDED, f"evidence: the episode does not say {quote!r}")
    if span.match != "exact" and attr.rules.verbatim:
        raise Refused(QuarantineReason.UNGROUNDED, f"evidence: the episode says {span.quote!r}, not {quote!r}")
    if grounding.closes_early(episode.text, span):
        raise Refused(QuarantineReason.EARLY_QUOTE_CLOSE, f"evidence: {quote!r} ends too early")
    if grounding.cuts_word(episode.text, span):
        raise Refused(QuarantineReason.UNGROUNDED, f"evidence: {quote!r} cuts a word")
    return span


def _change(fields: Fields, attr: Attribute[Any], stored: Stored | None) -> Change:
    """The change, where it fits what is on record and `current_value` says that as well."""
    current = fields["current_value"]
    if attr.many and current is None:
        stored = None
    expected = None if stored is None else stored.json
    if not _same(current, expected):
        raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"current_value: on record is {expected!r}, not {current!r}")
    for change in _changes(attr, stored):
        if change == fields["change"]:
            return change
    raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"change: {fields['change']!r} does not fit what is on record")


def _changes(attr: Attribute[Any], stored: Stored | None) -> tuple[Change, ...]:
    if stored is None:
        return ("new", "revoke")
    return ("revoke", "no_change") if attr.many == "set" else ("update", "revoke", "no_change")


def _same(a: object, b: object) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class _Quote(NamedTuple):
    """Words that the model pointed at, and the turn that says them."""

    span: Span
    home: Episode
    role: Role


class _Value(NamedTuple):
    """A typed value, and where it is said."""

    value: Scalar | None = None
    quote: _Quote | None = None


class _Told(NamedTuple):
    """An entry, where it is said, and for a set the value that it is."""

    entry: Entry
    quote: _Quote | None = None
    value: Scalar | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Times:
    """When a candidate holds, by which rule, and the words that say so."""

    start: datetime
    zone: str
    end: datetime | None = None
    precision: Precision = "exact"
    rule: str = "default"
    when: _Quote | None = None
    until: _Quote | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Desk:
    """Reads the fields of one item next to its evidence."""

    offer: Offer
    attr: Attribute[Any]
    evidence: Span

    def subject(self, raw: object) -> str:
        subject = read_subject(raw)
        if subject in self.offer.subjects_of(self.attr):
            return subject
        if not self.offer.new_subjects or subject in self.offer.subjects or not re.fullmatch(NEW_SUBJECT, subject):
            raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"subject: {subject!r} is none of those offered")
        words = subject.replace("_", " ")
        turns = (fold(turn.text) for turn in (self.offer.episode, *self.offer.context))
        if not any(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", turn) for turn in turns):
            raise Refused(QuarantineReason.UNGROUNDED, f"subject: no turn names {subject!r}")
        return subject

    def entry(self, fields: Fields) -> _Told:
        """The entry that the item names, with an attribute that holds one value an empty one."""
        raw = fields.get("item")
        if self.attr.many == "set":
            return self._set_entry(fields, raw)
        entry = read_entry(self.attr, None if raw is None else _text(fields, "item"), None)
        return _Told(entry, self._named(entry) if self.attr.many else None)

    def _named(self, entry: Entry) -> _Quote | None:
        """Where the name of an entry of a map is said; one on record need not be, and a paraphrase cannot."""
        words = entry.said or ""
        if self.attr.rules.verbatim and not self._on_record(entry.key):
            return self.quote(words, "value")
        return self.look(words, "value")

    def _set_entry(self, fields: Fields, raw: object) -> _Told:
        value = fields["value"]
        raw = value if raw is None else raw
        if value is not None and not _same(value, raw):
            raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"value: an entry of a set is its own value, not {value!r}")
        if isinstance(raw, str) and fields["current_value"] is not None and self._on_record(fold(raw)):
            return _Told(Entry(raw, fold(raw)), self.look(raw, "value"))
        if raw is None:
            return _Told(read_entry(self.attr, None, None))
        typed = self.typed(raw)
        return _Told(read_entry(self.attr, None, typed.value), typed.quote, typed.value)

    def _on_record(self, item: str) -> bool:
        return any(key.item == item for key, _ in self.offer.on_record(self.attr))

    def value(self, fields: Fields, change: Change, stored: Stored | None, told: _Told) -> _Value:
        """The value that is asserted, none for a revocation."""
        if change == "no_change" and stored is not None:
            asserted = _Value(self.attr.type.decode(stored.value))
        elif change == "revoke":
            asserted = _Value()
        elif self.attr.many == "set":
            return _Value(told.value)
        elif fields["value"] is None:
            raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"value: {change} needs one")
        else:
            return self.typed(fields["value"])
        if fields["value"] is not None and self.attr.many != "set":
            raise Refused(QuarantineReason.OUTSIDE_SCHEMA, f"value: {change} takes none, got {fields['value']!r}")
        return asserted

    def typed(self, raw: object) -> _Value:
        """A value read from what the model chose or quoted."""
        kind = self.attr.type.name
        if kind in {"enum", "boolean"} or (kind == "text" and not self.attr.rules.verbatim):
            value = read_value(self.attr, raw)
            return _Value(value, self.look(raw, "value") if isinstance(raw, str) else None)
        if isinstance(raw, str) and len(raw) > MAX_VALUE_LENGTH:
            raise Refused(QuarantineReason.TOO_LONG, f"value: longer than {MAX_VALUE_LENGTH} characters")
        quote = self.quote(raw, "value")
        value_said = _read_quote(self.attr, quote)
        if value_said is None:
            raise Refused(QuarantineReason.WRONG_TYPE, f"value: cannot read {raw!r} as a {kind}")
        return _Value(value_said, quote)

    def quote(self, raw: object, role: Role) -> _Quote:
        """Where words are said, in the episode or in what it affirms; refused where they are not."""
        if not isinstance(raw, str):
            raise Refused(QuarantineReason.WRONG_TYPE, f"{role}: expected a quote, got {raw!r}")
        found = self.look(raw, role)
        if found is None:
            raise Refused(QuarantineReason.UNGROUNDED, f"{role}: the episode does not say {raw!r} in whole words")
        return found

    def look(self, words: str, role: Role) -> _Quote | None:
        """Where whole words are said exactly: next to the evidence, else in the latest turn that it affirms."""
        episode = self.offer.episode
        for home in (episode, *self._affirmed()):
            own = home is episode
            near, within = (self.evidence, self.offer.place) if own else (None, None)
            span = grounding.find(words.strip(), home.text, near, within=within)
            if span is not None and span.match == "exact" and not grounding.cuts_word(home.text, span):
                return _Quote(span, home, role)
        return None

    def _affirmed(self) -> Sequence[Episode]:
        affirmed = grounding.affirms_at(self.offer.episode.text, self.evidence)
        return self.offer.context[::-1] if affirmed else ()

    def times(self, fields: Fields, value: Scalar | None, said: Sequence[_Quote]) -> _Times:
        """When the value holds; a phrase that is just the value again, as weak models have it, says nothing."""
        times = _Times(start=self.offer.episode.observed_at, zone=self.offer.episode.zone)
        if fields["when"] is not None:
            when = self.quote(fields["when"], "when")
            repeats = self._repeats(when, value, said)
            times = replace(times, rule="is_the_value") if repeats else _since(times, when)
        if fields["until"] is not None:
            until = self.quote(fields["until"], "until")
            repeats = self._repeats(until, value, said)
            times = replace(times, rule=f"{times.rule}, until is_the_value") if repeats else _until(times, until)
        return times

    def _repeats(self, time: _Quote, value: Scalar | None, said: Sequence[_Quote]) -> bool:
        if any(fold(quote.span.quote) == fold(time.span.quote) for quote in said):
            return True
        is_time = self.attr.type.name in {"date", "time", "datetime"} and value is not None
        return is_time and _read_quote(self.attr, time) == value

    def spans(self, quotes: Sequence[_Quote]) -> tuple[Evidence, ...]:
        """The evidence, at its occurrence nearest to the value, then the other quotes."""
        episode, span = self.offer.episode, self.evidence
        single = next((q.span for q in quotes if q.home is episode and q.span.occurrences == 1), None)
        if span.occurrences > 1 and span.match == "exact":
            span = grounding.find(span.quote, episode.text, single, within=self.offer.place) or span
        return (evidence_of(span, episode, "evidence"), *(evidence_of(q.span, q.home, q.role) for q in quotes))


def _since(times: _Times, when: _Quote) -> _Times:
    moment = dates.resolve(when.span.quote, anchor=when.home.observed_at, zone=when.home.zone)
    if moment is None:
        return replace(times, rule="unresolved")
    return replace(
        times, start=moment.start, precision=moment.precision, rule=moment.rule, zone=when.home.zone, when=when
    )


def _until(times: _Times, until: _Quote) -> _Times:
    moment = dates.resolve_end(until.span.quote, anchor=until.home.observed_at, zone=until.home.zone)
    if moment is None:
        return replace(times, rule=f"{times.rule}, until unresolved")
    return replace(times, end=moment.start, rule=f"{times.rule}, until {moment.rule}", until=until)


def _source(quotes: Sequence[_Quote], episode: Episode) -> str:
    others = (quote.home.source for quote in quotes if quote.home is not episode)
    return next((source for source in others if source not in _PEOPLE), episode.source)


def _read_quote(attr: Attribute[Any], quote: _Quote) -> Scalar | None:
    """The value that quoted words stand for, or None."""
    kind, words = attr.type.name, quote.span.quote
    if kind == "text":
        return read_value(attr, words)
    if kind == "time":
        return dates.to_time(words)
    if kind in {"date", "datetime"}:
        read = dates.to_date if kind == "date" else dates.to_datetime
        return read(words, anchor=quote.home.observed_at, zone=quote.home.zone)
    number = numbers.to_number(words)
    if kind == "integer" and isinstance(number, Decimal) and number == int(number):
        number = int(number)
    return None if number is None else read_value(attr, number)

"""What an agent plugs in: the write path and the read path of one memory, tenant by tenant."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload

from ..extraction.backends.base import Backend
from ..extraction.candidates import candidate_from_proposal
from ..extraction.extractor import ExtractionTask, Extractor
from ..memory_store.erasure import forget
from ..memory_store.errors import BackendUnavailable, InvalidInput, SchemaError, UnknownRecord
from ..memory_store.ledger import MAX_ID, Clock, Ledger, is_decided, utc_now
from ..memory_store.model import (
    Candidate,
    Decision,
    Episode,
    ErasureReceipt,
    Explanation,
    Fact,
    Hold,
    Outcome,
    Proposal,
    Quarantined,
    Receipt,
    fingerprint_of,
    subject_id,
    utc,
)
from ..memory_store.reads import episode_of, explanation_of, fact_of, hold_of, quarantined_of, receipt_of
from ..memory_store.records import EpisodeRow, FactRecord
from ..memory_store.schema import Attribute, MemorySchema
from ..memory_store.store import Belief, FactFilter, Store, View, open_store
from ..memory_store.values import Scalar, check_text, fold, to_json

T = TypeVar("T")
_WORD: Final = re.compile(r"\w+")
MAX_KNOWN_SUBJECTS: Final = 20
"""Subjects that are offered to the model; with more in memory, those that the text names."""


class Memory:
    """A store, a schema and, for `remember`, a model.

    `with Memory.open("sqlite:///memory.db", schema=schema, backend=LocalBackend()) as memory: ...`
    """

    def __init__(
        self, store: Store, schema: MemorySchema, *, backend: Backend | None = None, clock: Clock = utc_now
    ) -> None:
        self.ledger = Ledger(store, schema, clock=clock)
        self.schema = schema
        self.extractor = None if backend is None else Extractor(schema, backend)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        schema: MemorySchema | None = None,
        backend: Backend | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """Open or create the store at `url`; without a schema, the one that was registered last is used.

        Raises InvalidUrl, StoreError, SchemaConflict, or SchemaError when no schema is given or stored.
        """
        store = open_store(url)
        try:
            return cls(store, schema or _stored_schema(store), backend=backend, clock=clock)
        except BaseException:
            store.close()
            raise

    def tenant(self, tenant_id: str) -> Tenant:
        """The scope of one tenant; ids are compared whole and as they are."""
        try:
            check_text(tenant_id)
        except ValueError as error:
            raise InvalidInput(f"tenant: {error}") from None
        return Tenant(self, tenant_id)

    def tenants(self) -> list[str]:
        """Ids of all tenants that have anything."""
        return self.ledger.store.tenants()

    def close(self) -> None:
        """Close the store."""
        self.ledger.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _stored_schema(store: Store) -> MemorySchema:
    stored = store.schemas()
    if not stored:
        raise SchemaError(
            "the store holds no schema yet", hint="give one with schema=... (on the command line --schema)"
        )
    return MemorySchema.from_json(stored[-1][2])


@dataclass(frozen=True, slots=True)
class Context:
    """Cited facts for a prompt; `str(context)` is the text."""

    facts: tuple[Fact[Any], ...]

    def __str__(self) -> str:
        return "\n".join(map(_cite, self.facts))


def _cite(fact: Fact[Any]) -> str:
    name = f"{fact.subject}.{fact.attribute}" + (f"[{fact.item}]" if fact.item else "")
    said = "source erased" if fact.episode_id is None else f"{fact.source} {fact.episode_id}: {fact.quote!r}"
    return f"{name} = {fact.value}  (since {fact.valid_from.isoformat()}; {said})"


class Tenant:
    """Everything that one tenant may do; no call reaches another tenant's memory."""

    def __init__(self, memory: Memory, tenant_id: str) -> None:
        self.tenant_id = tenant_id
        self._memory = memory
        self._ledger = memory.ledger
        self._schema = memory.schema

    # -- write path

    def remember(
        self,
        text: str | Episode,
        *,
        speaker: str | None = None,
        source: str = "user",
        observed_at: datetime | None = None,
        session_id: str | None = None,
        zone: str = "UTC",
        episode_id: str = "",
        retention: str | None = None,
    ) -> Receipt:
        """Capture an episode, extract from it, decide and commit; the receipt accounts for all the model returned.

        `observed_at` defaults to now.  The same episode again returns the first receipt without asking the model.
        Raises InvalidEpisode, EpisodeConflict, EpisodeDecided, EpisodeForgotten, BackendError or StoreError; a captured
        episode whose extraction failed can be given again.
        """
        if isinstance(text, Episode):
            episode = text
        else:
            episode = Episode(
                text=text,
                observed_at=observed_at or self._ledger.clock(),
                episode_id=episode_id,
                source=source,
                speaker=speaker,
                session_id=session_id,
                zone=zone,
                retention=retention,
            )
        extractor = self._extractor()
        row = self._ledger.capture(self.tenant_id, episode)
        if is_decided(row, fingerprint_of(extractor.version)):
            return self._read(lambda view: receipt_of(view, row))
        return self._extract(row, extractor)

    def capture(self, episode: Episode) -> str:
        """Make an episode durable for later extraction; its id."""
        self._ledger.capture(self.tenant_id, episode)
        return episode.episode_id

    def retry(self, episode_id: str) -> Receipt:
        """Extract a captured, failed or partial episode anew.  Raises UnknownRecord."""
        row = self._read(lambda view: view.episode(episode_id))
        if row is None:
            raise UnknownRecord(f"no episode {episode_id!r}")
        extractor, anew = self._extractor(), row.status in {"partial", "failed"}
        if not anew and is_decided(row, fingerprint_of(extractor.version)):
            return self._read(lambda view: receipt_of(view, row))
        return self._extract(row, extractor, anew=anew)

    def commit(self, episode: Episode, candidates: Iterable[Proposal]) -> Receipt:
        """The same write path without a model: type, ground, decide and commit a caller's own proposals."""
        made = [candidate_from_proposal(proposal, episode, self._schema) for proposal in candidates]
        outcome = Outcome(
            candidates=tuple(entry for entry in made if isinstance(entry, Candidate)),
            quarantined=tuple(entry for entry in made if isinstance(entry, Quarantined)),
        )
        return self._ledger.commit(self.tenant_id, episode, outcome)

    def set(
        self,
        subject: str,
        attribute: Attribute[Any] | str,
        value: object,
        *,
        item: str | None = None,
        source: str = "user",
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        observed_at: datetime | None = None,
        speaker: str | None = None,
    ) -> Receipt:
        """State a value outright: a form, an import, an application event.  None revokes.

        The event itself becomes the episode, and its text is the evidence.
        """
        attr = self._schema.attribute(attribute)
        stated = None if value is None else to_json(_parsed(attr, value))
        event = {"subject": subject, "attribute": str(attr), "item": item, "value": stated}
        text = json.dumps(event, ensure_ascii=False)
        when = observed_at or self._ledger.clock()
        episode = Episode(text=text, observed_at=when, source=source, speaker=speaker)
        proposal = Proposal(
            subject=subject,
            attribute=str(attr),
            value=value,
            quote=text,
            item=item,
            valid_from=valid_from,
            valid_until=valid_until,
        )
        return self.commit(episode, [proposal])

    def confirm(self, hold_id: int, *, by: str | None = None) -> Decision:
        """Let a waiting candidate count.  Raises UnknownHold."""
        return self._ledger.confirm(self.tenant_id, hold_id, by=by)

    def dismiss(self, hold_id: int, *, by: str | None = None) -> None:
        """Let a waiting candidate never count.  Raises UnknownHold."""
        self._ledger.dismiss(self.tenant_id, hold_id, by=by)

    def retract(
        self, *, episode_id: str | None = None, assertion_id: int | None = None, by: str | None = None
    ) -> list[Decision]:
        """We were wrong: take back an episode's assertions, or one.  Reads at an earlier `known_at` still show it.

        Returns the decisions on other candidates that came out differently.  Raises UnknownRecord.
        """
        return self._ledger.retract(self.tenant_id, episode_id=episode_id, assertion_id=assertion_id, by=by)

    def forget(
        self, *, subject: str | None = None, episode_id: str | None = None, everything: bool = False
    ) -> ErasureReceipt:
        """Erase for good, at every known time and in every byte of the store.  Raises ErasureIncomplete."""
        ledger, tenant = self._ledger, self.tenant_id
        return forget(ledger, tenant, subject=subject, episode_id=episode_id, everything=everything)

    # -- read path

    @overload
    def current(self, subject: str, attribute: Attribute[T], *, item: str | None = None) -> Fact[T] | None: ...
    @overload
    def current(self, subject: str, attribute: str, *, item: str | None = None) -> Fact[Any] | None: ...
    def current(self, subject: str, attribute: Attribute[Any] | str, *, item: str | None = None) -> Fact[Any] | None:
        """What is true now; None when nothing is known.  Raises UnknownAttribute."""
        return self.at(subject, attribute, item=item)

    @overload
    def at(
        self,
        subject: str,
        attribute: Attribute[T],
        *,
        item: str | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Fact[T] | None: ...
    @overload
    def at(
        self,
        subject: str,
        attribute: str,
        *,
        item: str | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Fact[Any] | None: ...
    def at(
        self,
        subject: str,
        attribute: Attribute[Any] | str,
        *,
        item: str | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Fact[Any] | None:
        """What was believed at `known_at` about `valid_at`; each defaults to now."""
        attr = self._schema.attribute(attribute)
        if attr.many and item is None:
            raise InvalidInput(f"{attr} holds many values", hint="name an item, or read them all with `values`")
        found = self._facts(self._filter(subject, attr, item), self._belief(valid_at, known_at))
        return found[0] if found else None

    @overload
    def values(
        self,
        subject: str,
        attribute: Attribute[builtins.set[T]],
        *,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact[T]]: ...
    @overload
    def values(
        self,
        subject: str,
        attribute: Attribute[dict[str, T]],
        *,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact[T]]: ...
    @overload
    def values(
        self, subject: str, attribute: str, *, valid_at: datetime | None = None, known_at: datetime | None = None
    ) -> list[Fact[Any]]: ...
    def values(
        self,
        subject: str,
        attribute: Attribute[Any] | str,
        *,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact[Any]]:
        """All items of an attribute that holds many, by item."""
        where = self._filter(subject, self._schema.attribute(attribute), None)
        return self._facts(where, self._belief(valid_at, known_at))

    def timeline(
        self,
        subject: str,
        attribute: Attribute[Any] | str,
        *,
        item: str | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact[Any]]:
        """The intervals of a key in order, as believed at `known_at`; expiry does not count."""
        where = self._filter(subject, self._schema.attribute(attribute), item)
        found = self._facts(where, Belief(known_at=_utc(known_at, "known_at")))
        return sorted(found, key=lambda fact: (fact.item or "", fact.valid_from))

    def history(self, subject: str, attribute: Attribute[Any] | str, *, item: str | None = None) -> list[Fact[Any]]:
        """Every fact ever believed about a key, in known-time order."""
        where = self._filter(subject, self._schema.attribute(attribute), item)
        found = self._facts(where, Belief(ever=True))
        return sorted(found, key=lambda fact: (fact.known_from, fact.valid_from, fact.item or ""))

    def facts(
        self,
        *,
        subject: str | None = None,
        memory_type: str | None = None,
        attribute: Attribute[Any] | str | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Fact[Any]]:
        """Facts that hold at `valid_at` as believed at `known_at` (each defaults to now), by key."""
        attr = None if attribute is None else self._schema.attribute(attribute)
        if attr is not None and memory_type not in {None, attr.memory_type}:
            return []
        where = FactFilter(
            memory_type=attr.memory_type if attr else memory_type,
            subject=None if subject is None else subject_id(subject),
            attribute=attr.name if attr else None,
        )
        return self._facts(where, self._belief(valid_at, known_at))

    def subjects(self, *, memory_type: str | None = None) -> list[str]:
        """Ids of the subjects of which something is believed now."""
        return sorted({subject for subject, _ in self._read(lambda view: view.subjects(memory_type))})

    def holds(self, *, subject: str | None = None) -> list[Hold]:
        """Candidates that wait, the oldest first."""
        wanted = None if subject is None else subject_id(subject)
        waiting = self._read(lambda view: [hold_of(view, status) for status in view.holds()])
        return [hold for hold in waiting if wanted in {None, hold.key.subject}]

    def quarantined(self) -> list[Quarantined]:
        """Output that could not become a candidate, the oldest first."""

        def work(view: View) -> list[Quarantined]:
            ids = {row.episode_no: row.episode_id for row in view.episodes()}
            return [quarantined_of(row, ids[row.episode_no]) for row in view.quarantine()]

        return self._read(work)

    def receipt(self, episode_id: str) -> Receipt:
        """The account of an episode as it was given.  Raises UnknownRecord."""

        def work(view: View) -> Receipt:
            row = view.episode(episode_id)
            if row is None:
                raise UnknownRecord(f"no episode {episode_id!r}")
            return receipt_of(view, row)

        return self._read(work)

    def context(self, question: str = "", *, subject: str | None = None, valid_at: datetime | None = None) -> Context:
        """The cited facts of a subject, or of the subjects that the question names."""
        if subject is not None:
            return Context(tuple(self.facts(subject=subject, valid_at=valid_at)))
        text = f" {' '.join(_WORD.findall(fold(question)))} "
        named = [known for known in self.subjects() if f" {' '.join(_WORD.findall(known.replace('_', ' ')))} " in text]
        return Context(tuple(fact for known in named for fact in self.facts(subject=known, valid_at=valid_at)))

    def explain(self, fact_id: int) -> Explanation:
        """Where a fact comes from.  Raises UnknownRecord."""

        def work(view: View) -> Explanation:
            record = view.fact(fact_id) if fact_id <= MAX_ID else None
            if record is None:
                raise UnknownRecord(f"no fact {fact_id}", hint="fact ids are shown by `facts` and `history`")
            return explanation_of(view, record, self._typed(record))

        return self._read(work)

    def known_now(self) -> datetime | None:
        """Known time of the newest transaction; None before the first."""
        return self._read(lambda view: view.last_known())

    # -- inside

    def _read(self, work: Callable[[View], T]) -> T:
        return self._ledger.store.read(self.tenant_id, work)

    def _extractor(self) -> Extractor:
        if self._memory.extractor is None:
            raise BackendUnavailable("no model was given", hint="open the memory with backend=...")
        return self._memory.extractor

    def _extract(self, row: EpisodeRow, extractor: Extractor, *, anew: bool = False) -> Receipt:
        task = self._read(lambda view: self._task(view, row, extractor))
        return self._ledger.commit(self.tenant_id, task.episode, extractor.extract(task), anew=anew)

    def _task(self, view: View, row: EpisodeRow, extractor: Extractor) -> ExtractionTask:
        context = [episode_of(turn) for turn in view.turns_before(row, extractor.context_turns)]
        subjects = _known_subjects(view, row, context)
        # An episode is read against what was believed before it was decided, never against what it said itself.
        before = None if row.known_at is None else row.known_at - timedelta(microseconds=1)
        belief = Belief(valid_at=row.observed_at, known_at=before)
        records = [found for subject in subjects for found in view.facts(FactFilter(subject=subject), belief)]
        return ExtractionTask(
            episode=episode_of(row),
            context=tuple(context),
            stored=tuple(map(self._typed, records)),
            subjects=tuple(subjects),
        )

    def _filter(self, subject: str, attr: Attribute[Any], item: str | None) -> FactFilter:
        return FactFilter(
            memory_type=attr.memory_type,
            subject=subject_id(subject),
            attribute=attr.name,
            item=_item(attr, item),
        )

    def _belief(self, valid_at: datetime | None, known_at: datetime | None) -> Belief:
        valid = _utc(valid_at, "valid_at") or self._ledger.clock()
        return Belief(valid_at=valid, known_at=_utc(known_at, "known_at"))

    def _facts(self, where: FactFilter, belief: Belief) -> list[Fact[Any]]:
        return [self._typed(record) for record in self._read(lambda view: view.facts(where, belief))]

    def _typed(self, record: FactRecord) -> Fact[Any]:
        schema = self._ledger.schema_of(record)
        return fact_of(record, schema.attribute(f"{record.fact.memory_type}.{record.fact.attribute}"))


def _item(attr: Attribute[Any], item: str | None) -> str | None:
    """The item of a key; of a set it is the value, in whatever spelling."""
    if not attr.many:
        if item is not None:
            raise InvalidInput(f"{attr} holds one value and has no items")
        return ""
    if item is None or attr.many == "map":
        return None if item is None else fold(item)
    return fold(str(to_json(_parsed(attr, item))))


def _parsed(attr: Attribute[Any], value: object) -> Scalar:
    try:
        return attr.type.parse(value)
    except ValueError as error:
        raise InvalidInput(f"{attr}: {error}") from None


def _utc(when: datetime | None, name: str) -> datetime | None:
    return None if when is None else utc(when, name)


def _known_subjects(view: View, row: EpisodeRow, context: Sequence[Episode]) -> list[str]:
    """The speaker first, then the subjects in memory, or with many of them those that the text names."""
    speaker = row.speaker_id or "user"
    stored = [subject for subject in dict.fromkeys(s for s, _ in view.subjects()) if subject != speaker]
    if len(stored) > MAX_KNOWN_SUBJECTS:
        text = fold(" ".join([row.text or "", *(turn.text for turn in context)]))
        stored = [subject for subject in stored if subject.replace("_", " ") in text][:MAX_KNOWN_SUBJECTS]
    return [speaker, *stored]

"""The write path of a ledger: capture, commit, settle, retract.  Every change of belief goes through here.

One transaction decides against what is live at that moment, computes the timelines of the keys that it touched, and
writes the difference.  Nothing here reads a clock on its own or knows how rows are kept.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeVar

from .errors import (
    EpisodeConflict,
    EpisodeDecided,
    EpisodeForgotten,
    InvalidInput,
    SchemaConflict,
    SchemaError,
    UnknownHold,
    UnknownRecord,
)
from .model import Decision, Episode, Outcome, Receipt, subject_id
from .policy import Terms
from .reads import receipt_of
from .records import CandidateRow, EpisodeRow, FactRecord, StatusRow
from .schema import MemorySchema, differences
from .store import Store, Transaction, View
from .writer import Writer

R = TypeVar("R")
MAX_ID: Final = 2**63 - 1
"""The greatest id that a store can hold."""
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The system's clock, the only one that sgam reads."""
    return datetime.now(UTC)


class Ledger:
    """Accepts episodes and what was made of them, for any tenant of one store, under one schema.

    Opening registers the schema.  Raises SchemaConflict when the store holds another one of the same name and version.
    """

    def __init__(self, store: Store, schema: MemorySchema, *, clock: Clock = utc_now) -> None:
        self.store = store
        self.schema = schema
        self.clock = clock
        self._schemas: dict[tuple[str, int], MemorySchema] = {(schema.name, schema.version): schema}
        self._register()

    def _register(self) -> None:
        name, version = self.schema.name, self.schema.version
        if self.store.schema(name, version) is None:
            self.store.add_schema(name, version, self.schema.to_json())
        stored = self.store.schema(name, version)
        changed = differences(MemorySchema.from_json(stored or ""), self.schema)
        if changed:
            raise SchemaConflict(f"schema {name} version {version} differs from the stored one: {'; '.join(changed)}")

    def schema_of(self, row: CandidateRow | FactRecord) -> MemorySchema:
        """The schema that a candidate, or the source of a fact, was written under."""
        version = (row.schema_name, row.schema_version)
        if version not in self._schemas:
            text = self.store.schema(*version)
            if text is None:
                raise SchemaError(f"the store lacks schema {version[0]} version {version[1]}")
            self._schemas[version] = MemorySchema.from_json(text)
        return self._schemas[version]

    def terms(self, row: CandidateRow) -> Terms:
        """What a candidate is judged by: the rules recorded when it was written."""
        schema = self.schema_of(row)
        rules = schema.attribute(f"{row.memory_type}.{row.attribute}").rules
        return Terms(rules=rules, sources=schema.sources, from_memory=row.from_memory)

    def capture(self, tenant: str, episode: Episode) -> EpisodeRow:
        """Make an episode durable before anything is made of it.

        The same episode again changes nothing.  Raises EpisodeConflict or EpisodeForgotten.
        """

        def work(tx: Transaction) -> EpisodeRow:
            row, is_new = self._found_or_new(tenant, episode, tx)
            if is_new:
                tx.insert(row)
            return row

        return self._write(tenant, work)

    def commit(self, tenant: str, episode: Episode, outcome: Outcome, *, anew: bool = False) -> Receipt:
        """Decide the candidates of an episode and commit everything that follows, together or not at all.

        The same outcome again returns the first receipt.  A caller's candidates are final; an extractor's are replaced
        by those of another extractor, or with `anew` by its own next attempt.  Raises EpisodeConflict, EpisodeDecided,
        EpisodeForgotten, SchemaError (a source that is not listed) or UnknownAttribute.
        """

        def work(tx: Transaction) -> Receipt:
            row, _ = self._found_or_new(tenant, episode, tx)
            if anew or not is_decided(row, outcome.fingerprint):
                return self.writer(tx).commit(row, outcome)
            return receipt_of(tx, row)

        return self._write(tenant, work)

    def confirm(self, tenant: str, hold_id: int, *, by: str | None = None) -> Decision:
        """Let a waiting candidate count, above all others from the same instant.  Raises UnknownHold."""
        return self._write(tenant, lambda tx: self.writer(tx).confirm(_held(tx, hold_id), by))

    def dismiss(self, tenant: str, hold_id: int, *, by: str | None = None) -> None:
        """Let a waiting candidate never count.  Raises UnknownHold."""
        self._write(tenant, lambda tx: self.writer(tx).dismiss(_held(tx, hold_id), by))

    def retract(
        self, tenant: str, *, episode_id: str | None = None, assertion_id: int | None = None, by: str | None = None
    ) -> list[Decision]:
        """Take back what rests on an episode, or one assertion; what remains of their keys is decided again.

        Reads at an earlier `known_at` still show it.  Returns the decisions that came out differently.  Raises
        UnknownRecord; retracting twice changes nothing.
        """
        if (episode_id is None) == (assertion_id is None):
            raise InvalidInput("retract: give an episode_id or an assertion_id")

        def work(tx: Transaction) -> list[Decision]:
            rows = _of_assertion(tx, assertion_id) if assertion_id is not None else _of_episode(tx, episode_id or "")
            return self.writer(tx).retract(rows, by)

        return self._write(tenant, work)

    def writer(self, tx: Transaction) -> Writer:
        """The work inside a transaction."""
        return Writer(tx, self.schema, self.terms)

    def _write(self, tenant: str, work: Callable[[Transaction], R]) -> R:
        return self.store.write(tenant, self.clock(), work)

    def _found_or_new(self, tenant: str, episode: Episode, tx: Transaction) -> tuple[EpisodeRow, bool]:
        if episode.tenant_id is not None and episode.tenant_id != tenant:
            raise InvalidInput(f"tenant_id: the episode is of {episode.tenant_id!r}, not of {tenant!r}")
        self.schema.rank(episode.source)
        row = tx.episode(episode.episode_id)
        if row is None:
            if is_forgotten(tx, episode.episode_id):
                raise EpisodeForgotten(f"episode {episode.episode_id!r} was forgotten and may not come back")
            return _episode_row(episode, tx), True
        if row.content_hash != episode.content_hash:
            raise EpisodeConflict(f"episode {episode.episode_id!r} is known with other content")
        return row, False


def tombstone(key: bytes, episode_id: str) -> bytes:
    """Keyed digest of an episode id (HMAC-SHA256)."""
    return hmac.new(key, episode_id.encode(), hashlib.sha256).digest()


def is_forgotten(view: View, episode_id: str) -> bool:
    """Whether an episode of this id was erased."""
    return any(view.has_tombstone(row.erasure_id, tombstone(row.hmac_key, episode_id)) for row in view.erasures())


def _episode_row(episode: Episode, tx: Transaction) -> EpisodeRow:
    return EpisodeRow(
        episode_no=tx.next_id(),
        episode_id=episode.episode_id,
        text=episode.text,
        observed_at=episode.observed_at,
        source=episode.source,
        speaker=episode.speaker,
        speaker_id=None if episode.speaker is None else subject_id(episode.speaker),
        session_id=episode.session_id,
        zone=episode.zone,
        retention=episode.retention,
        content_hash=episode.content_hash,
        captured_at=tx.known_at,
    )


def is_decided(row: EpisodeRow, fingerprint: str) -> bool:
    """Whether this outcome stands already.  Raises EpisodeDecided when a final one stands in its way."""
    if row.status in {"captured", "failed"}:
        return False
    if row.fingerprint == fingerprint:
        return True
    if not row.extractor or fingerprint.startswith("candidates:"):
        raise EpisodeDecided(f"episode {row.episode_id!r} was decided before, with other candidates")
    return False


def _held(tx: Transaction, hold_id: int) -> StatusRow:
    status = tx.candidate(hold_id) if hold_id <= MAX_ID else None
    if status is None or status.waits is None:
        raise UnknownHold(f"no hold {hold_id} is pending")
    return status


def _of_assertion(tx: Transaction, assertion_id: int) -> list[CandidateRow]:
    status = tx.candidate(assertion_id) if assertion_id <= MAX_ID else None
    if status is None:
        raise UnknownRecord(f"no assertion {assertion_id}")
    return [status.candidate]


def _of_episode(tx: Transaction, episode_id: str) -> list[CandidateRow]:
    row = tx.episode(episode_id)
    if row is None:
        raise UnknownRecord(f"no episode {episode_id!r}")
    return tx.candidates_resting_on(row.episode_no)

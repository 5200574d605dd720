"""Forgetting for good: rows, what was concluded from them, and the bytes; with a receipt that a scan has proved."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from .errors import ErasureIncomplete, InvalidInput, UnknownRecord
from .ledger import Ledger, is_forgotten, tombstone
from .model import ErasureReceipt, subject_id
from .records import CandidateRow, EpisodeRow, ErasureRow, QuarantineRow, TombstoneRow
from .store import Store, Transaction
from .values import fold
from .writer import Writer

_PIECE: Final = 48
"""Bytes of a needle: long text is looked for in pieces, since a store may keep it in several places of a page."""
_SHORTEST: Final = 6
"""Characters of the shortest needle: a shorter string stands in any file by chance, across two neighbours."""
_MAX_NEEDLES: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scope:
    """What is to go: episodes with all their words, and candidates."""

    episodes: tuple[EpisodeRow, ...]
    candidates: tuple[CandidateRow, ...]


def forget(
    ledger: Ledger, tenant: str, *, subject: str | None = None, episode_id: str | None = None, everything: bool = False
) -> ErasureReceipt:
    """Erase a subject, an episode or all that a tenant has.

    Afterwards no read shows it at any known time and no byte of the store holds it.  Facts of others that rest on an
    erased episode stay, without its words.  Raises UnknownRecord, or ErasureIncomplete when a scan still found
    something.
    """
    if (subject is not None) + (episode_id is not None) + everything != 1:
        raise InvalidInput("forget: give one of subject, episode_id and everything")

    def work(tx: Transaction) -> tuple[ErasureReceipt, set[str]]:
        scope = _scope(tx, subject, episode_id)
        words = _words(tx, scope)
        return _Erasure(tx, ledger.writer(tx), scope).run(), words

    receipt, words = ledger.store.write(tenant, ledger.clock(), work)
    return _proved(ledger.store, receipt, words)


def _scope(tx: Transaction, subject: str | None, episode_id: str | None) -> _Scope:
    if subject is not None:
        return _scope_of_subject(tx, subject_id(subject))
    if episode_id is not None:
        return _scope_of_episode(tx, episode_id)
    episodes = tx.episodes()
    candidates = [row for episode in episodes for row in tx.candidates_of_episode(episode.episode_no)]
    return _Scope(episodes=tuple(episodes), candidates=tuple(candidates))


def _scope_of_subject(tx: Transaction, subject: str) -> _Scope:
    candidates = tx.candidates_of_subject(subject)
    numbers = {row.episode_no for row in candidates}
    numbers |= {row.episode_no for row in tx.quarantine() if _is_about(row, subject)}
    numbers |= {span.episode_no for row in candidates for span in tx.evidence(row.candidate_id)}
    numbers |= {row.episode_no for row in tx.episodes_of_speaker(subject)}
    episodes = [row for number in sorted(numbers) if (row := tx.episode_by_no(number)) is not None]
    return _Scope(episodes=tuple(episodes), candidates=tuple(candidates))


def _is_about(row: QuarantineRow, subject: str) -> bool:
    """Whether what could not become a candidate names the subject."""
    try:
        raw = json.loads(row.raw)
        return isinstance(raw, dict) and subject_id(str(raw.get("subject"))) == subject
    except (ValueError, RecursionError, InvalidInput):
        return subject in fold(row.raw)


def _scope_of_episode(tx: Transaction, episode_id: str) -> _Scope:
    row = tx.episode(episode_id)
    if row is None and is_forgotten(tx, episode_id):
        return _Scope(episodes=(), candidates=())
    if row is None:
        raise UnknownRecord(f"no episode {episode_id!r}")
    return _Scope(episodes=(row,), candidates=tuple(tx.candidates_resting_on(row.episode_no)))


def _words(tx: Transaction, scope: _Scope) -> set[str]:
    """Every string that goes."""
    words: set[str | None] = set()
    for episode in scope.episodes:
        words |= {episode.text, episode.episode_id, episode.speaker, episode.session_id}
        words |= {row.raw for row in tx.quarantine(episode.episode_no)}
    for candidate in scope.candidates:
        words |= {candidate.subject, candidate.value, candidate.item_text}
        words |= {span.quote for span in tx.evidence(candidate.candidate_id)}
    return {word for word in words if word}


@dataclass(slots=True)
class _Erasure:
    tx: Transaction
    writer: Writer
    scope: _Scope

    def run(self) -> ErasureReceipt:
        removed: Counter[str] = Counter()
        keys = dict.fromkeys(row.key for row in self.scope.candidates)
        for key in keys:
            removed.update(self.tx.delete_beliefs(key))
        removed.update(self.tx.delete_candidates([row.candidate_id for row in self.scope.candidates]))
        spans = sum(self.tx.erase_evidence(row.episode_no) for row in self.scope.episodes)
        for episode in self.scope.episodes:
            removed["quarantine"] += self.tx.delete_quarantine(episode.episode_no)
            self._episode(episode)
        removed["episodes"] += len(self.scope.episodes)
        for key in keys:
            self.writer.rebuild(key)
        return self._receipt(removed, spans)

    def _episode(self, row: EpisodeRow) -> None:
        if self.tx.candidates_resting_on(row.episode_no):
            self.tx.save_episode(_without_words(row))
        else:
            self.tx.delete_episode(row.episode_no)

    def _receipt(self, removed: Counter[str], spans: int) -> ErasureReceipt:
        counts = {table: count for table, count in removed.items() if count}
        key = secrets.token_bytes(32)
        erasure = ErasureRow(
            erasure_id=self.tx.next_id(), known_at=self.tx.known_at, hmac_key=key, removed=json.dumps(counts)
        )
        self.tx.insert(erasure)
        for row in self.scope.episodes:
            if row.episode_id is not None:
                self.tx.insert(TombstoneRow(erasure_id=erasure.erasure_id, digest=tombstone(key, row.episode_id)))
        return ErasureReceipt(
            erasure_id=erasure.erasure_id,
            known_at=erasure.known_at,
            removed=counts,
            erased_evidence=spans,
            needles=0,
            scanned_bytes=0,
        )


def _without_words(row: EpisodeRow) -> EpisodeRow:
    return replace(
        row,
        episode_id=None,
        text=None,
        speaker=None,
        speaker_id=None,
        session_id=None,
        content_hash=None,
        fingerprint=None,
        error=None,
    )


def _proved(store: Store, receipt: ErasureReceipt, words: set[str]) -> ErasureReceipt:
    """The receipt with the figures of a scan that found nothing."""
    needles = _needles(words, store.cells())
    store.purge(rewrite=not words)  # without words an earlier attempt may have been stopped before it was proved
    residue = store.residue(needles)
    if residue.found:
        store.purge(rewrite=True)
        residue = store.residue(needles)
    if residue.found:
        raise ErasureIncomplete(
            f"{len(residue.found)} of {len(needles)} erased strings still stand in the store's bytes"
        )
    return replace(receipt, needles=len(needles), scanned_bytes=residue.scanned_bytes)


def _needles(words: set[str], cells: Iterable[str]) -> list[str]:
    """Pieces of the erased strings, not too short, that stand in no remaining row, the longest first."""
    pieces = {piece for word in words for piece in _pieces(word)}
    ordered = sorted(pieces, key=lambda piece: (-len(piece), piece))[:_MAX_NEEDLES]
    shared: set[str] = set()
    for cell in cells:
        shared.update(filter(partial(_stands_in, cell), ordered))
    return [piece for piece in ordered if piece not in shared and len(piece) >= _SHORTEST]


def _stands_in(cell: str, piece: str) -> bool:
    return piece in cell


def _pieces(word: str) -> list[str]:
    if len(word) <= _PIECE:
        return [word]
    return [word[at : at + _PIECE] for at in range(0, len(word) - _PIECE + 1, _PIECE)]

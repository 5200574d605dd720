"""The JSON forms in which the command line answers: keys that stay, times in UTC with `Z`, values in canonical form.

Each function takes what `Memory` returns and gives JSON values; the keys are those of the dataclass, with a key of the
ledger spelled out as `memory_type`, `subject`, `attribute` and `item`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from ..memory_store.model import (
    Decision,
    Episode,
    ErasureReceipt,
    Evidence,
    Explanation,
    Fact,
    Hold,
    Key,
    Quarantined,
    Receipt,
)
from ..memory_store.values import to_json

Json = dict[str, Any]


def instant(when: datetime | None) -> str | None:
    """ISO 8601 in UTC with `Z`."""
    return None if when is None else when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def value_of(canonical: str | None) -> Any:
    """The JSON value of a canonical text."""
    return None if canonical is None else json.loads(canonical)


def typed(value: Any) -> Any:
    """The JSON value of a fact's Python value."""
    return to_json(value.value if isinstance(value, Enum) else value)


def _key(key: Key) -> Json:
    return {**key._asdict(), "item": key.item or None}


def fact(known: Fact[Any]) -> Json:
    """One interval of a timeline."""
    return {
        "fact_id": known.fact_id,
        "memory_type": known.memory_type,
        "subject": known.subject,
        "attribute": known.attribute,
        "item": known.item,
        "value": typed(known.value),
        "valid_from": instant(known.valid_from),
        "valid_to": instant(known.valid_to),
        "known_from": instant(known.known_from),
        "known_to": instant(known.known_to),
        "expires_at": instant(known.expires_at),
        "assertion_id": known.assertion_id,
        "episode_id": known.episode_id,
        "speaker": known.speaker,
        "source": known.source,
        "quote": known.quote,
        "supersedes_fact_id": known.supersedes_fact_id,
    }


def decision(made: Decision) -> Json:
    """What was done with one candidate."""
    return {
        "candidate_id": made.candidate_id,
        **_key(made.key),
        "value": value_of(made.value),
        "decision": made.decision.value,
        "reason": made.reason.value,
        "current_value": value_of(made.current_value),
        "agreed": made.agreed,
        "policy_version": made.policy_version,
        "known_at": instant(made.known_at),
        "by": made.by,
    }


def hold(waiting: Hold) -> Json:
    """A candidate that waits."""
    return {
        "hold_id": waiting.hold_id,
        **_key(waiting.key),
        "value": value_of(waiting.value),
        "reason": waiting.reason.value,
        "valid_from": instant(waiting.valid_from),
        "since": instant(waiting.since),
        "episode_id": waiting.episode_id,
        "source": waiting.source,
        "quote": waiting.quote,
    }


def quarantined(lost: Quarantined) -> Json:
    """Output that could not become a candidate."""
    return {
        "quarantine_id": lost.quarantine_id,
        "episode_id": lost.episode_id,
        "reason": lost.reason.value,
        "message": lost.message,
        "raw": lost.raw,
        "known_at": instant(lost.known_at),
    }


def receipt(account: Receipt) -> Json:
    """The account of one episode."""
    return {
        "episode_id": account.episode_id,
        "status": account.status,
        "known_at": instant(account.known_at),
        "counts": account.counts,
        "decisions": [decision(made) for made in account.decisions],
        "quarantined": [quarantined(lost) for lost in account.quarantined],
        "extractor": account.extractor,
        "prompt_hash": account.prompt_hash,
        "error": account.error,
        "usage": dict(account.usage),
    }


def erasure(done: ErasureReceipt) -> Json:
    """What `forget` removed and how that was proved."""
    return {
        "erasure_id": done.erasure_id,
        "known_at": instant(done.known_at),
        "removed": dict(done.removed),
        "erased_evidence": done.erased_evidence,
        "needles": done.needles,
        "scanned_bytes": done.scanned_bytes,
    }


def episode(heard: Episode) -> Json:
    """An episode in the JSON Lines form."""
    return {
        "episode_id": heard.episode_id,
        "observed_at": instant(heard.observed_at),
        "text": heard.text,
        "speaker": heard.speaker,
        "source": heard.source,
        "session_id": heard.session_id,
        "zone": heard.zone,
        "retention": heard.retention,
    }


def evidence(span: Evidence) -> Json:
    """A span that proves a candidate."""
    return {
        "episode_id": span.episode_id,
        "start": span.start,
        "end": span.end,
        "quote": span.quote,
        "role": span.role,
        "match": span.match,
        "occurrences": span.occurrences,
        "erased": span.erased,
    }


def explanation(told: Explanation) -> Json:
    """Where a fact comes from."""
    return {
        "fact": fact(told.fact),
        "episode": None if told.episode is None else episode(told.episode),
        "evidence": [evidence(span) for span in told.evidence],
        "supports": list(told.supports),
        "decisions": [decision(made) for made in told.decisions],
        "settlements": list(told.settlements),
        "extractor": told.extractor,
        "prompt_hash": told.prompt_hash,
        "time_rule": told.time_rule,
    }

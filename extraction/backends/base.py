"""The seam between extraction and whatever model fills the response schema.

A backend is given requests and returns the raw text of each answer with the account of what it cost.  It never sees
the store, a tenant or a memory schema, and it never repairs what it returned: parsing, grounding and typing happen
above it, the same way for every backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ...memory_store.errors import BackendError
from ...memory_store.model import FAILURES
from ..calibration import NONE, Calibration

Finish = Literal["complete", "closed", "length", "deadline", "refused", "filtered", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What one answer may cost, over transport and validation together.

    `tokens` counts generated tokens, `seconds` wall-clock time, `attempts` calls to the model, failed ones included.
    """

    tokens: int = 1024
    seconds: float = 120.0
    attempts: int = 4

    def after(self, usage: Usage) -> Budget:
        """What is left when so much was used, nothing below zero."""
        return Budget(
            tokens=max(self.tokens - usage.completion_tokens, 0),
            seconds=max(self.seconds - usage.seconds, 0.0),
            attempts=max(self.attempts - usage.calls, 0),
        )

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked."""
        return not (self.tokens and self.seconds and self.attempts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One part of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One question to a model.

    `schema` is a JSON Schema whose objects list all their properties as required, in the order in which they are to be
    filled.  A string marked `"x-substring": true` is to be a non-empty substring of `source`, one marked
    `"x-substring": "turns"` of `source` or of a text of `context`, the turns before it.  A backend that cannot enforce
    the marks ignores them, since the quotes are verified again in code.  `"x-state"` holds
    what would stand in the place of its schema if nothing were known about the state of the store.

    `on_text` wants to be told the text of the answer while it grows: each call gives all of it so far.  A backend that
    cannot stream never calls it.
    """

    messages: tuple[Message, ...]
    schema: dict[str, Any]
    source: str
    context: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    on_text: Callable[[str], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Cost of an answer: model calls, prompt and generated tokens, seconds of wall-clock time.

    `cached_tokens` are those of the prompt that the provider had in its cache; `cost` is money, in the unit of the
    caller's prices; `failures` counts the attempts that failed, by the name of the failure.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0
    cost: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=self.cost + other.cost,
            failures=dict(Counter(self.failures) + Counter(other.failures)),
        )

    def figures(self) -> dict[str, float]:
        """The cost as a flat table; what not every backend knows stands in it only where there is some."""
        rare = {"cached_tokens": self.cached_tokens, "cost": self.cost}
        failures = {FAILURES + name: count for name, count in sorted(self.failures.items())}
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "seconds": self.seconds,
            **{name: value for name, value in rare.items() if value},
            **failures,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Certainty:
    """How sure a model was of one update: probabilities (0 to 1) among what the response schema allowed.

    `update` that there is another update rather than none, `change` of the change it chose, `value` of the whole value;
    1.0 where the schema left no choice.
    """

    update: float = 1.0
    change: float = 1.0
    value: float = 1.0
    calibration: Calibration = NONE

    @property
    def right(self) -> float:
        """The probability of all three together, as the calibration of the model mends it."""
        return self.calibration(self.update * self.change * self.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """The raw answer to one request.

    `finish` says why the text ends: `complete` (the model closed the object), `closed` (a budget ran out or the model
    repeated itself, and the answer was closed early: valid JSON of what was whole by then), `length` (the token budget
    ran out), `deadline` (the seconds ran out), `refused` (the model will not answer; the text says why), `filtered`
    (a content filter stopped it) or `failed` (no answer could be had: `error` says why, the text is empty).  After
    `length`, `deadline` and `filtered` the text may be cut anywhere.

    `confidence` has one entry for each whole update of the answer, in order, or is empty where a backend cannot tell;
    `another` is the probability that one more update would have followed the last, or the first if there is none.
    """

    text: str
    finish: Finish = "complete"
    usage: Usage = field(default_factory=Usage)
    confidence: tuple[Certainty, ...] = ()
    another: float = 0.0
    error: BackendError | None = None


class Backend(Protocol):
    """A source of structured answers."""

    @property
    def name(self) -> str:
        """Identity of model and settings: two backends of one name answer alike.

        It becomes part of the extractor's version, so a change of model extracts anew.
        """
        ...

    @property
    def repairs(self) -> bool:
        """Whether it is of use to ask for one field of an update again: to a model that can take instructions."""
        ...

    @property
    def compact(self) -> bool:
        """Whether the model was trained on the bare form of the prompt, without instructions and examples."""
        ...

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request, in order.

        Where one request alone cannot be answered, its completion holds the error.  Raises `BackendError` (or a
        subclass) when none can be; its `retryable` says whether to try again.
        """
        ...

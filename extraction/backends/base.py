"""The seam between extraction and whatever model fills the response schema.

A backend is given requests and returns the raw text of each answer with the account of what it cost.  It never sees
the store, a tenant or a memory schema, and it never repairs what it returned: parsing, grounding and typing happen
above it, the same way for every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..calibration import NONE, Calibration

Finish = Literal["complete", "closed", "length", "deadline"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What one answer may cost, over transport and validation together.

    `tokens` counts generated tokens, `seconds` wall-clock time, `attempts` calls to the model.
    """

    tokens: int = 512
    seconds: float = 120.0
    attempts: int = 2


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
    the marks ignores them, since the quotes are verified again in code.
    """

    messages: tuple[Message, ...]
    schema: dict[str, Any]
    source: str
    context: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Cost of an answer: model calls, prompt and generated tokens, seconds of wall-clock time."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
        )


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
    ran out) or `deadline` (the seconds ran out).  In the last two the text may be cut anywhere.

    `confidence` has one entry for each whole update of the answer, in order, or is empty where a backend cannot tell;
    `another` is the probability that one more update would have followed the last, or the first if there is none.
    """

    text: str
    finish: Finish = "complete"
    usage: Usage = field(default_factory=Usage)
    confidence: tuple[Certainty, ...] = ()
    another: float = 0.0


class Backend(Protocol):
    """A source of structured answers."""

    @property
    def name(self) -> str:
        """Identity of model and settings: two backends of one name answer alike.

        It becomes part of the extractor's version, so a change of model extracts anew.
        """
        ...

    @property
    def compact(self) -> bool:
        """Whether the model was trained on the bare form of the prompt, without instructions and examples."""
        ...

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request, in order.

        Raises `BackendError` (or a subclass) when no answer can be had; its `retryable` says whether to try again.
        """
        ...

"""Asking again: one policy for every backend that asks over a network."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import tenacity

from ...memory_store.errors import (
    AuthenticationFailed,
    BackendError,
    BackendTimeout,
    ConnectionLost,
    PromptCut,
    RateLimited,
    RequestRejected,
    ServerFailed,
)
from .base import Budget

T = TypeVar("T")

NAMES: Final[dict[type[BackendError], str]] = {
    RateLimited: "rate_limited",
    ServerFailed: "server_failed",
    BackendTimeout: "timeout",
    ConnectionLost: "connection_lost",
    AuthenticationFailed: "authentication",
    RequestRejected: "rejected",
    PromptCut: "prompt_cut",
}
"""Under what name a receipt counts each kind of failure."""
LONGEST_WAIT: Final = 30.0
_BACKOFF: Final = tenacity.wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)


def name_of(error: BackendError) -> str:
    """The name under which a receipt counts the error."""
    return next((name for kind, name in NAMES.items() if isinstance(error, kind)), "unavailable")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried(Generic[T]):
    """What came of asking: a result or the last error, how often it was asked and how often it failed in which way."""

    result: T | None = None
    error: BackendError | None = None
    calls: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def insist(ask: Callable[[float], T], budget: Budget, *, sleep: Callable[[float], None] = time.sleep) -> Tried[T]:
    """Call `ask` with the seconds that are left until it returns, or raises what is no use to retry.

    The attempts and the seconds of the budget bound it all, waiting included.  A wait is as long as the server wants
    it, else it grows at random from half a second to `LONGEST_WAIT`.  Where the server wants us to wait for longer than
    is left, we do not wait.
    """
    failures, began, calls = Counter[str](), time.monotonic(), 0
    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_worth_it),
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(max(budget.attempts, 1)), tenacity.stop_before_delay(budget.seconds)
        ),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )

    def attempt() -> T:
        nonlocal calls
        calls += 1
        try:
            return ask(max(budget.seconds - (time.monotonic() - began), 0.001))
        except BackendError as error:
            failures[name_of(error)] += 1
            raise

    try:
        return Tried(result=policy(attempt), calls=calls, failures=failures)
    except BackendError as error:
        return Tried(error=error, calls=calls, failures=failures)


def _is_worth_it(error: BaseException) -> bool:
    return isinstance(error, BackendError) and error.retryable


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    wanted = error.retry_after if isinstance(error, BackendError) else None
    return _BACKOFF(state) if wanted is None else wanted

"""What is counted while a contestant of the local benchmark answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class Clock:
    """How often something was called, and the seconds that it took."""

    calls: int = 0
    seconds: float = 0.0

    def timed(self, work: Callable[P, R]) -> Callable[P, R]:
        """`work`, with each call counted here."""

        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            start = time.perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                self.calls += 1
                self.seconds += time.perf_counter() - start

        return counted

    def watch(self, owner: type, name: str) -> None:
        """Count each call of a method of a class, in this process, from now on."""
        setattr(owner, name, self.timed(getattr(owner, name)))


@dataclass(slots=True)
class Meter:
    """The counters of one process.

    `passes` are forward passes of the decoder over `fed` tokens, None where they cannot be seen; `engine` has what an
    engine counts itself, under its own names.
    """

    compile: Clock | None = None
    mask: Clock | None = None
    passes: int | None = None
    fed: int | None = None
    engine: Counter[str] = field(default_factory=Counter)

    def compiling(self) -> Clock:
        """The clock of grammar compilation, in use from now on."""
        self.compile = self.compile or Clock()
        return self.compile

    def masking(self, matcher: type) -> None:
        """Time each mask that XGrammar computes."""
        self.mask = Clock()
        self.mask.watch(matcher, "fill_next_token_bitmask")

    def count_passes(self, model: Any) -> None:
        """Count the forward passes of a transformers model from now on."""
        self.passes = self.fed = 0
        model.get_decoder().register_forward_pre_hook(self._passed, with_kwargs=True)

    def _passed(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        self.passes = (self.passes or 0) + 1
        self.fed = (self.fed or 0) + (ids.numel() if ids is not None else 0)

    def clear(self) -> None:
        """Set all counters that are in use to zero."""
        for clock in (self.compile, self.mask):
            if clock is not None:
                clock.calls, clock.seconds = 0, 0.0
        if self.passes is not None:
            self.passes = self.fed = 0
        self.engine.clear()

    def reading(self) -> dict[str, Any]:
        """All counters, and the high-water mark of resident memory in bytes (None where the system does not tell)."""
        return {
            "compile_seconds": self.compile and self.compile.seconds,
            "masks": self.mask and self.mask.calls,
            "mask_seconds": self.mask and self.mask.seconds,
            "passes": self.passes,
            "fed": self.fed,
            "engine": dict(self.engine),
            "peak": peak(),
        }


def peak() -> int | None:
    """The high-water mark of this process' resident memory in bytes, from Linux' /proc; None elsewhere.

    `getrusage` is no use here: a child begins with the mark of the process that started it.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    marks = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return next((int(mark) * 1024 for mark in marks), None)

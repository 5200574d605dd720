"""One contestant of the local benchmark in a process of its own: `python -m sgam.evals.benchmarks.local_worker`.

Writes JSON Lines to standard output: `{"ready": notes}` or `{"skipped": reason}`, then one reading for each answer,
whose counters are sums since the first request.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from ...extraction.backends.base import Budget, Message, Request
from ...memory_store.errors import BackendUnavailable
from .local_asks import load
from .local_contestants import CONTESTANTS, Run, Setup
from .local_meter import Meter

_WARM: Final = Request(
    messages=(Message(role="user", content="Is water wet?"),),
    schema={
        "type": "object",
        "properties": {"wet": {"type": "boolean"}},
        "required": ["wet"],
        "additionalProperties": False,
    },
    source="Is water wet?",
    budget=Budget(tokens=16),
)


def readings(run: Run, requests: Sequence[Request], meter: Meter) -> Iterator[dict[str, Any]]:
    """A reading after each answer; `at` is in seconds since the first request was asked.

    One other request is asked before, since every engine does some of its work at first use.
    """
    for _ in run([_WARM]):
        pass
    meter.clear()
    start = time.perf_counter()
    for answer in run(requests):
        yield {"at": time.perf_counter() - start, **asdict(answer), **meter.reading()}


def work(name: str, requests: Sequence[Request], setup: Setup, out: TextIO) -> None:
    """Make the contestant and write what it does."""
    start = time.perf_counter()
    try:
        run = CONTESTANTS[name].make(setup)
    except (ImportError, BackendUnavailable) as error:
        _write(out, {"skipped": str(error)})
        return
    _write(out, {"ready": setup.notes, "load_seconds": time.perf_counter() - start, "loaded": setup.meter.reading()})
    for reading in readings(run, requests, setup.meter):
        _write(out, reading)


def _write(out: TextIO, line: dict[str, Any]) -> None:
    out.write(json.dumps(line, ensure_ascii=False) + "\n")
    out.flush()


def _own_output() -> TextIO:
    """Standard output for us alone: what a library prints there goes to standard error instead."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def main() -> None:
    """Run one contestant over the requests of a file."""
    parser = argparse.ArgumentParser(prog="python -m sgam.evals.benchmarks.local_worker")
    parser.add_argument("contestant", choices=sorted(CONTESTANTS))
    parser.add_argument("requests", type=Path)
    parser.add_argument("--model", default="default")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    out = _own_output()
    setup = Setup(model=arguments.model, threads=arguments.threads, meter=Meter())
    work(arguments.contestant, load(arguments.requests.read_text(encoding="utf-8")), setup, out)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a server's threads need not end in order


if __name__ == "__main__":
    main()

"""Other processes that write to a database file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from . import stream

PATIENCE = 120.0


@dataclass(frozen=True)
class Writer:
    """One process that commits a part of the stream."""

    pid: int
    output: Path

    def lines(self) -> list[str]:
        """The whole lines that it printed so far."""
        text = self.output.read_text(encoding="utf-8") if self.output.exists() else ""
        return text.split("\n")[:-1]

    def wait_for_lines(self, number: int) -> None:
        until(lambda: len(self.lines()) >= number)

    def kill(self) -> list[str]:
        """Kill it at once; what it had printed."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> list[str]:
        """Wait for its end; what it printed."""
        until(self._is_gone)
        return self.lines()

    def _is_gone(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        return False


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.001)


@dataclass
class Nursery:
    """Starts writers; see `stream.py`."""

    asked: IO[str]
    told: IO[str]
    folder: Path
    count: int = 0

    def writer(self, file: Path, first: int, last: int, *, keys: int = 3, who: str = "e") -> Writer:
        self.count += 1
        output = self.folder / f"writer {self.count}.txt"
        self.asked.write(json.dumps([str(output), str(file), first, last, keys, who]) + "\n")
        self.asked.flush()
        return Writer(int(self.told.readline()), output)


@contextmanager
def running_nursery(folder: Path) -> Iterator[Nursery]:
    with subprocess.Popen(
        [sys.executable, str(stream.__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Nursery(process.stdin, process.stdout, folder)

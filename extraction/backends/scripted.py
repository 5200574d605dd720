"""Answers that were written beforehand: for tests, examples and evaluations."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...memory_store.errors import BackendUnavailable, InvalidInput
from .base import Completion, Request, Usage


class ScriptedBackend:
    """Gives the answers it was given, in order.

    An answer is a text, returned as it is; a `Completion`, returned as it is (for a cut answer); an exception, raised;
    or any other JSON value, returned as JSON.  `by_source` answers a request by the text of its source: such an answer
    is used before those in order and never used up, so that a run which starts anew in the middle is answered alike.

    With `repairs` it is asked, as a model is, for the failing field of an update that cannot be used; each such
    question needs an answer of its own.  `requests` holds every request seen, `left` says how many answers in order are
    left.
    """

    def __init__(
        self, answers: Iterable[Any] = (), *, by_source: Mapping[str, Any] | None = None, repairs: bool = False
    ) -> None:
        self.repairs = repairs
        self.requests: list[Request] = []
        self._answers = deque(answers)
        self._by_source = dict(by_source or {})
        script = repr([[_text(answer) for answer in self._answers], {k: _text(v) for k, v in self._by_source.items()}])
        self._name = "scripted@" + hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedBackend:
        """Read the answers from JSON Lines; empty lines are skipped.

        A line `{"source": "...", "answer": ...}` answers the request with that source, any other line is an answer in
        order (a JSON string is a raw text).  Raises `BackendUnavailable` when the file cannot be read, `InvalidInput`
        with the number of the line when a line is no JSON.
        """
        answers, by_source = [], {}
        for value in _lines(Path(path)):
            if isinstance(value, dict) and set(value) == {"source", "answer"}:
                by_source[value["source"]] = value["answer"]
            else:
                answers.append(value)
        return cls(answers, by_source=by_source)

    @property
    def name(self) -> str:
        """`scripted@HASH`, the hash over all the answers that were given."""
        return self._name

    @property
    def compact(self) -> bool:
        """A script needs no examples."""
        return False

    @property
    def left(self) -> int:
        """How many answers in order have not been used."""
        return len(self._answers)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """The next answers.  Raises `BackendUnavailable` when there is none left, and what the script says to raise."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self._by_source[request.source] if request.source in self._by_source else self._next(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(text=_text(answer), usage=Usage(calls=1))

    def _next(self, request: Request) -> Any:
        if not self._answers:
            raise BackendUnavailable(
                f"the script has no answer to request {len(self.requests)}: {request.source[:60]!r}",
                hint="add an answer to the script",
            )
        return self._answers.popleft()


def _text(answer: Any) -> str:
    if isinstance(answer, (Completion, BaseException)):
        return repr(answer)
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _lines(path: Path) -> list[Any]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BackendUnavailable(f"the script {path} cannot be read: {error}", hint="name a JSON Lines file") from error
    return [_parse(line, path, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _parse(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path} line {number} is no JSON: {error}") from error

"""What every contestant of the local benchmark is asked: requests as the extractor builds them, for a compact model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from ...extraction.backends.base import Budget, Completion, Message, Request
from ...extraction.distill.pairs import Case
from ...extraction.extractor import Extractor
from ..extraction import turns_of

MARK: Final = "x-substring"
_NOTHING: Final = '{"updates":[]}'
_NO_LIMIT: Final = 24 * 3600.0


class Recorder:
    """A backend that keeps what it is asked and answers that there is nothing to store."""

    name = "recorder"
    compact = True
    repairs = False

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        self.requests += requests
        return [Completion(text=_NOTHING) for _ in requests]


def requests_of(cases: Iterable[Case], turns: int, *, tokens: int) -> list[Request]:
    """The requests about the first `turns` user turns, in order, with gold on record; at most `tokens` per answer.

    A long text that is asked about in parts gives several requests, each of which counts as an episode.
    """
    recorder = Recorder()
    budget = Budget(tokens=tokens, seconds=_NO_LIMIT)
    asked = turns_of(cases, lambda schema: Extractor(schema, recorder, budget=budget), batch=1)
    for _ in itertools.islice(asked, turns):
        pass
    return recorder.requests


def plain(schema: Any) -> Any:
    """A schema without the marks that only this package's local backend enforces."""
    if isinstance(schema, Mapping):
        return {key: plain(value) for key, value in schema.items() if key != MARK}
    return [plain(value) for value in schema] if isinstance(schema, list) else schema


def chat(request: Request) -> list[dict[str, str]]:
    """The messages of a request in the form that chat templates and servers take."""
    return [asdict(message) for message in request.messages]


def dump(requests: Sequence[Request]) -> str:
    """The requests as JSON."""
    return json.dumps([asdict(request) for request in requests], ensure_ascii=False)


def load(text: str) -> list[Request]:
    """The requests that `dump` wrote."""
    return [_request(line) for line in json.loads(text)]


def _request(line: Mapping[str, Any]) -> Request:
    return Request(
        messages=tuple(Message(**message) for message in line["messages"]),
        schema=line["schema"],
        source=line["source"],
        context=tuple(line["context"]),
        budget=Budget(**line["budget"]),
    )

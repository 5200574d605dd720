"""From requests to answers: prompts with a common beginning are grouped, and each group decoded in batches."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ....memory_store.errors import BackendError
from ..base import Completion, Request
from .batch import Batch, Passes
from .choice import Chooser
from .forward import KEPT, Packed, Single, is_packable, shared
from .head import Head
from .prompt import encode
from .row import Row
from .vocabulary import Vocabulary

_BLANK = "\n"
MAX_OWN = 6000
"""Tokens of prompts, beside the common beginning, of all rows of a batch together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How an engine decodes.  `drafts` and `reuse_prefix` change the speed and nothing else."""

    batch_size: int = 16
    drafts: bool = True
    reuse_prefix: bool = True
    temperature: float = 0.0
    seed: int = 0
    update_bias: float = 0.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with its place among the others, its prompt, and how much of that does not depend on its question."""

    place: int
    request: Request
    prompt: list[int]
    fixed: int


class Engine:
    """Answers requests with one model.  Not safe for threads: the backend holds a lock."""

    def __init__(self, model: Any, tokenizer: Any, settings: Settings = Settings()) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._settings = settings
        packed = is_packable(model)
        self._runner = Packed(model, kept=KEPT if settings.reuse_prefix else 0) if packed else Single(model)
        self._head = Head(model, given=not packed)
        self._vocabulary = Vocabulary(tokenizer, self._head.width)
        self._chooser = Chooser(
            self._vocabulary.bytes, settings.temperature, settings.seed, update_bias=settings.update_bias
        )
        self.passes: list[Passes] = []

    @torch.inference_mode()
    def answer(self, requests: Sequence[Request]) -> list[Completion]:
        """What the model answers to each request under the grammar of its schema, in order."""
        asked = [self._ask(place, request) for place, request in enumerate(requests)]
        answers: dict[int, Completion] = {}
        self.passes = []
        for batch, prefix in self._batches(asked):
            answers.update(self._decode(batch, prefix))
        return [answers[place] for place in range(len(requests))]

    def _ask(self, place: int, request: Request) -> _Asked:
        prompt = encode(self._tokenizer, request.messages)
        self._room(len(prompt))
        last = replace(request.messages[-1], content=_BLANK)
        other = encode(self._tokenizer, (*request.messages[:-1], last))
        return _Asked(place, request, prompt, min(shared(prompt, other), len(prompt) - 1))

    def _batches(self, asked: Sequence[_Asked]) -> Iterator[tuple[list[_Asked], list[int]]]:
        """Batches of prompts of like length, with the beginning that each has in common."""
        groups: dict[tuple[int, ...], list[_Asked]] = {}
        for one in asked:
            groups.setdefault(tuple(one.prompt[: one.fixed]), []).append(one)
        lone = [group[0] for group in groups.values() if len(group) == 1]
        if len(lone) > 1:
            groups = {prefix: group for prefix, group in groups.items() if len(group) > 1}
            groups.setdefault(_common(lone), []).extend(lone)
        for prefix, group in groups.items():
            for batch in self._cut(group, len(prefix)):
                yield batch, list(prefix)

    def _cut(self, group: Sequence[_Asked], prefix: int) -> Iterator[list[_Asked]]:
        """Cut a group into batches that are neither too many rows nor too many tokens."""
        size = self._settings.batch_size if self._runner.drafts else 1
        batch: list[_Asked] = []
        for one in sorted(group, key=lambda one: len(one.prompt)):
            own = len(one.prompt) - prefix
            if batch and (len(batch) == size or own * (len(batch) + 1) > MAX_OWN):
                yield batch
                batch = []
            batch.append(one)
        yield batch

    def _decode(self, asked: Sequence[_Asked], prefix: Sequence[int]) -> dict[int, Completion]:
        rows = [
            Row(one.request, one.prompt, len(prefix), self._vocabulary, self._room(len(one.prompt))) for one in asked
        ]
        session = self._runner.open(prefix, len(rows), lambda: all(row.is_late() for row in rows))
        if session is not None:
            drafts = self._settings.drafts and self._runner.drafts
            batch = Batch(rows, session, self._head, self._chooser, drafts=drafts)
            batch.decode()
            self.passes.append(batch.passes)
        return {one.place: row.completion() for one, row in zip(asked, rows, strict=True)}

    def _room(self, prompt: int) -> int:
        """How many tokens the model's context has left for the answer."""
        context = getattr(self._model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
        if prompt >= context:
            raise BackendError(
                f"the prompt has {prompt} tokens, but the model's context holds {context}",
                hint="shorten the episode or the turns before it",
            )
        return int(context) - prompt


def _common(group: Sequence[_Asked]) -> tuple[int, ...]:
    """The beginning that all prompts of a group share, before their questions."""
    first = group[0]
    length = min(min(one.fixed, shared(one.prompt, first.prompt)) for one in group)
    return tuple(first.prompt[:length])

"""From episodes to candidates: ask the model, take its answer apart, ground and type what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from ..memory_store.errors import BackendError, InvalidInput, UnknownAttribute
from ..memory_store.model import (
    Candidate,
    Episode,
    Fact,
    Key,
    Outcome,
    Quarantined,
    QuarantineReason,
    subject_id,
)
from ..memory_store.schema import Attribute, MemorySchema
from ..memory_store.values import fold
from .answer import Status
from .backends.base import Backend, Budget, Completion, Request, Usage
from .backends.retry import name_of
from .chunks import Chunk, chunks
from .exchange import Announcer, Exchange, Question, Read, Returned, Tell
from .questions import prompt_for, request_for
from .response import Offer, Stored

REVISION: Final = 1
"""Goes up whenever the same answer of a model would become something else."""
MAX_ITEMS_IN_PLAY: Final = 24
"""Entries of one attribute that are shown to the model; with more on record, those that the texts name."""
MIN_CHUNK: Final = 50
"""The fewest code points that a part of a long text may have."""
_BUDGET: Final = Budget()


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionTask:
    """An episode, the turns before it in its session, the facts valid at its time and the known subjects."""

    episode: Episode
    context: tuple[Episode, ...] = ()
    stored: tuple[Fact[Any], ...] = ()
    subjects: tuple[str, ...] = ()


class Extractor:
    """Extracts from episodes under one schema with one model.

    `budget` is what one episode, or each part of a long one, may cost over all attempts; `Exchange` says what is asked
    again.  `max_updates` bounds an answer; `context_turns` are the turns before an episode
    that are shown (default: 2, and 1 for a compact model, which was trained so).  With `new_subjects` a model may tell
    of subjects that nobody has mentioned yet, which a small model is no good at.  A text of more than `chunk` code
    points is asked about in parts (default: 4,000, and 600 for a compact model), each with a fifth of the one before.
    """

    def __init__(
        self,
        schema: MemorySchema,
        backend: Backend,
        *,
        budget: Budget = _BUDGET,
        max_updates: int = 8,
        context_turns: int | None = None,
        new_subjects: bool = False,
        chunk: int | None = None,
    ) -> None:
        self.schema = schema
        self.backend = backend
        self.budget = budget
        self.max_updates = max_updates
        self.context_turns = context_turns if context_turns is not None else 1 if backend.compact else 2
        self.new_subjects = new_subjects
        self.chunk = chunk if chunk is not None else 600 if backend.compact else 4000
        if self.chunk < MIN_CHUNK:
            raise InvalidInput(f"chunk: {self.chunk} code points are too few, {MIN_CHUNK} is the least")

    @property
    def version(self) -> str:
        """Identity of model, schema, prompt and settings: extractors of one version make the same of an episode."""
        settings = [self.max_updates, self.context_turns, self.new_subjects, self.chunk, self.budget.tokens]
        recipe = json.dumps([REVISION, self._prompt_hash, self.schema.to_json(), *settings])
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:16]
        return f"{self.backend.name} {self.schema.name}@{self.schema.version} {digest}"

    @cached_property
    def _prompt_hash(self) -> str:
        nobody = Episode(text="-", observed_at=datetime(1, 1, 1, tzinfo=UTC), source=self.schema.sources[0])
        return prompt_for(self._offer(ExtractionTask(episode=nobody))).hash

    def extract(self, task: ExtractionTask, *, on_update: Tell | None = None) -> Outcome:
        """What the model makes of an episode.  Raises BackendUnavailable or GrammarError.

        `on_update` is told of each update once it is whole, where the backend streams while the answer still grows.
        That is a preview: nothing is decided or stored yet, and an update that cannot be used may still be mended.
        """
        return self._extract([task], on_update)[0]

    def extract_many(self, tasks: Iterable[ExtractionTask]) -> list[Outcome]:
        """The outcome of each task, in order; the backend is asked about all of them at once.

        All that a model returned ends as a candidate or a quarantine row.  A turn whose source may write no attribute
        is not asked about (`context`).  A long text is asked about in parts; where one is lost the outcome is
        `partial`.  Where no answer can be had it is `failed`; errors that no other episode would escape are raised.
        """
        return self._extract(tasks)

    def _extract(self, tasks: Iterable[ExtractionTask], on_update: Tell | None = None) -> list[Outcome]:
        asked = [self._questions(task) for task in tasks]
        heard = [[_listened(question, on_update) for question in questions] for questions in asked]
        replies = iter(self._ask([question.request for questions in heard for question in questions]))
        version = self.version
        return [self._outcome(found, [next(replies) for _ in found], version) for found in heard]

    def _questions(self, task: ExtractionTask) -> list[Question]:
        parts = chunks(task.episode.text, self.chunk, self.chunk // 5)
        offers = [self._offer(task)] if len(parts) == 1 else [self._offer(task, part) for part in parts]
        return [self._question(offer) for offer in offers if offer.attributes]

    def _question(self, offer: Offer) -> Question:
        prompt = prompt_for(offer)
        return Question(offer=offer, prompt=prompt, request=request_for(offer, prompt, self.budget))

    def _offer(self, task: ExtractionTask, chunk: Chunk | None = None) -> Offer:
        episode, rank = task.episode, self.schema.rank
        attributes = [a for a in self.schema.attributes() if rank(episode.source) >= rank(a.rules.min_source)]
        speaker = subject_id(episode.speaker) if episode.speaker else "user"
        begins = chunk is None or chunk.start == 0
        context = task.context[-self.context_turns :] if self.context_turns and begins else ()
        return Offer(
            schema=self.schema,
            episode=episode,
            attributes=tuple(attributes),
            subjects=tuple(dict.fromkeys([speaker, *map(subject_id, task.subjects)])),
            context=context,
            types=_types(task.stored),
            stored=_in_play(self._stored(task.stored), attributes, " ".join(t.text for t in (*context, episode))),
            max_updates=self.max_updates,
            new_subjects=self.new_subjects,
            compact=self.backend.compact,
            chunk=chunk,
        )

    def _stored(self, facts: Iterable[Fact[Any]]) -> dict[Key, Stored]:
        """The facts by key, without those that the schema no longer knows."""
        stored = {}
        for fact in facts:
            key = Key(fact.memory_type, fact.subject, fact.attribute, fold(fact.item or ""))
            try:
                attr = self.schema.attribute(f"{fact.memory_type}.{fact.attribute}")
                stored[key] = Stored(value=attr.type.canonical(fact.value), item=fact.item)
            except (UnknownAttribute, ValueError):
                continue
        return stored

    def _ask(self, requests: Sequence[Request]) -> list[Completion]:
        """A reply to each request: where one spoils a whole batch, they are asked one by one."""
        if not requests:
            return []
        try:
            return list(self.backend.complete(requests))
        except BackendError as error:
            if not error.retryable:
                raise
            if len(requests) == 1:
                return [Completion(text="", finish="failed", error=error, usage=Usage(failures={name_of(error): 1}))]
        return [reply for request in requests for reply in self._ask([request])]

    def _ask_one(self, request: Request) -> Completion:
        return self._ask([request])[0]

    def _outcome(self, questions: Sequence[Question], replies: Sequence[Completion], version: str) -> Outcome:
        if not questions:
            return Outcome(status="context", extractor=version)
        reads = [self._read(*pair) for pair in zip(questions, replies, strict=True)]
        candidates, quarantined = _sorted_out(entry for read in reads for entry in read.returned)
        usage = sum((read.usage for read in reads), Usage())
        return Outcome(
            candidates=tuple(candidates),
            quarantined=tuple(quarantined),
            extractor=version,
            prompt_hash=questions[0].prompt.hash,
            status=_status([read.status for read in reads]),
            error=next((read.error for read in reads if read.error), None),
            usage=usage.figures() | _coverage(questions, reads),
        )

    def _read(self, question: Question, reply: Completion) -> Read:
        exchange = Exchange(question, self._ask_one, self.budget, self.max_updates, self.backend.repairs)
        read = exchange.read(reply)
        heard = question.request.on_text
        if isinstance(heard, Announcer):
            heard.rest(read.returned)
        return read


def _listened(question: Question, on_update: Tell | None) -> Question:
    if on_update is None:
        return question
    request = replace(question.request, on_text=Announcer(question.offer, on_update))
    return replace(question, request=request)


def _status(parts: Sequence[Status]) -> Status:
    """`complete` or `failed` where all parts of a text are so."""
    return parts[0] if len(set(parts)) == 1 else "partial"


def _coverage(questions: Sequence[Question], reads: Sequence[Read]) -> dict[str, float]:
    """Of a text in several parts: how many there are, and the share of its code points whose answer is whole."""
    spans = [question.offer.chunk for question in questions]
    lengths = [span.end - span.fresh for span in spans if span is not None]
    if not lengths:
        return {}
    whole = [n for n, read in zip(lengths, reads, strict=True) if read.status == "complete"]
    return {"chunks": len(lengths), "coverage": sum(whole) / sum(lengths)}


def _sorted_out(returned: Iterable[Returned]) -> tuple[list[Candidate], list[Quarantined]]:
    """Candidates, and whatever could not become one or says what one before has said."""
    candidates: list[Candidate] = []
    refused: list[Quarantined] = []
    for made, raw in returned:
        if isinstance(made, Quarantined):
            refused.append(made)
        elif any(_is_same(made, other) for other in candidates):
            message = "an update before says the same"
            refused.append(Quarantined(reason=QuarantineReason.DUPLICATE, message=message, raw=raw))
        else:
            candidates.append(made)
    return candidates, refused


def _is_same(a: Candidate, b: Candidate) -> bool:
    return (a.key, a.value, a.valid_from, a.valid_until) == (b.key, b.value, b.valid_from, b.valid_until)


def _types(facts: Iterable[Fact[Any]]) -> dict[str, frozenset[str]]:
    types: dict[str, frozenset[str]] = {}
    for fact in facts:
        types[fact.subject] = types.get(fact.subject, frozenset()) | {fact.memory_type}
    return types


def _in_play(stored: dict[Key, Stored], attributes: Iterable[Attribute[Any]], text: str) -> dict[Key, Stored]:
    """The values to show: all of them, but of an attribute with very many entries only those that the text names."""
    words, chosen = fold(text), {}
    for attr in attributes:
        keys = sorted(key for key in stored if (key.memory_type, key.attribute) == (attr.memory_type, attr.name))
        if attr.many and len(keys) > MAX_ITEMS_IN_PLAY:
            keys = [key for key in keys if key.item in words][:MAX_ITEMS_IN_PLAY]
        chosen.update({key: stored[key] for key in keys})
    return chosen

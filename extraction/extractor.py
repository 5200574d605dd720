"""From episodes to candidates: ask the model, take its answer apart, ground and type what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
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
from ..prompts import Described, Known, Prompt, Turn, ask, render, render_compact
from .answer import Answer, Item, parse
from .backends.base import Backend, Budget, Completion, Message, Request, Usage
from .items import candidate_from_item
from .response import Offer, Stored, response_schema
from .shots import Named, compact_shots, shots

REVISION: Final = 1
"""Goes up whenever the same answer of a model would become something else."""
MAX_ITEMS_IN_PLAY: Final = 24
"""Entries of one attribute that are shown to the model; with more on record, those that the texts name."""
_BUDGET: Final = Budget()


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionTask:
    """An episode, the turns before it in its session, the facts valid at its time and the known subjects."""

    episode: Episode
    context: tuple[Episode, ...] = ()
    stored: tuple[Fact[Any], ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """What is asked about one episode."""

    offer: Offer
    prompt: Prompt
    request: Request


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """An answer with what it cost, and what unusable answers before it have left."""

    answer: Answer
    usage: Usage
    lost: Sequence[Quarantined]
    error: str | None = None


class Extractor:
    """Extracts from episodes under one schema with one model.

    `budget` is what one episode may cost, over all attempts; only an answer that cannot be used at all is asked for
    again.  `max_updates` bounds an answer (default: 6, and 1 for a compact model, which would go on repeating itself);
    `context_turns` are the turns before an episode that are shown, to a compact model none.  With `new_subjects` a
    model may tell of subjects that nobody has mentioned yet, which a small model is no good at.
    """

    def __init__(
        self,
        schema: MemorySchema,
        backend: Backend,
        *,
        budget: Budget = _BUDGET,
        max_updates: int | None = None,
        context_turns: int = 2,
        new_subjects: bool = False,
    ) -> None:
        self.schema = schema
        self.backend = backend
        self.budget = budget
        self.max_updates = max_updates or (1 if backend.compact else 6)
        self.context_turns = context_turns
        self.new_subjects = new_subjects

    @property
    def version(self) -> str:
        """Identity of model, schema, prompt and settings: extractors of one version make the same of an episode."""
        prompt = self._prompt([(str(attr), attr) for attr in self.schema.attributes()], "", "user")
        settings = [self.max_updates, self.context_turns, self.new_subjects, self.budget.tokens]
        recipe = json.dumps([REVISION, prompt.hash, self.schema.to_json(), *settings])
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:16]
        return f"{self.backend.name} {self.schema.name}@{self.schema.version} {digest}"

    def extract(self, task: ExtractionTask) -> Outcome:
        """What the model makes of an episode.  Raises BackendError when it is no use to try again."""
        return self.extract_many([task])[0]

    def extract_many(self, tasks: Iterable[ExtractionTask]) -> list[Outcome]:
        """The outcome of each task, in order; the backend is asked about all of them at once.

        All that a model returns ends as a candidate or a quarantine row.  A turn whose source may write no attribute
        is not asked about (`context`).  A retryable BackendError gives `failed`, any other is raised.
        """
        questions = [self._question(task) for task in tasks]
        replies = iter(self._ask([question.request for question in questions if question]))
        version = self.version
        return [
            self._outcome(question, next(replies), version)
            if question
            else Outcome(status="context", extractor=version)
            for question in questions
        ]

    def _question(self, task: ExtractionTask) -> _Question | None:
        offer = self._offer(task)
        if not offer.attributes:
            return None
        named = [(offer.name(attr), attr) for attr in offer.attributes]
        prompt = self._prompt(named, self._ask_about(offer), offer.subjects[0])
        messages = tuple(Message(role=part.role, content=part.content) for part in prompt.parts)
        schema = response_schema(offer)
        request = Request(messages=messages, schema=schema, source=offer.episode.text, budget=self.budget)
        return _Question(offer=offer, prompt=prompt, request=request)

    def _prompt(self, attributes: Sequence[Named], question: str, speaker: str) -> Prompt:
        if self.backend.compact:
            return render_compact(compact_shots(attributes, speaker), question)
        return render([_described(*named) for named in attributes], shots(attributes), question)

    def _parse(self, reply: Completion) -> Answer:
        return parse(reply.text, reply.finish, max_updates=self.max_updates, may_decline=self.backend.compact)

    def _ask_about(self, offer: Offer) -> str:
        if self.backend.compact:
            return offer.episode.text
        return ask(
            _turn(offer.episode),
            context=[_turn(turn) for turn in offer.context],
            known=[_known(offer, attr, *row) for attr in offer.attributes for row in offer.on_record(attr)],
        )

    def _offer(self, task: ExtractionTask) -> Offer:
        episode, rank = task.episode, self.schema.rank
        attributes = [a for a in self.schema.attributes() if rank(episode.source) >= rank(a.rules.min_source)]
        speaker = subject_id(episode.speaker) if episode.speaker else "user"
        context = task.context[-self.context_turns :] if self.context_turns else ()
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

    def _ask(self, requests: Sequence[Request]) -> list[Completion | BackendError]:
        """A reply to each request: where one spoils a whole batch, they are asked one by one."""
        if not requests:
            return []
        try:
            return list(self.backend.complete(requests))
        except BackendError as error:
            if not error.retryable:
                raise
            if len(requests) == 1:
                return [error]
        return [reply for request in requests for reply in self._ask([request])]

    def _outcome(self, question: _Question, reply: Completion | BackendError, version: str) -> Outcome:
        read = self._read(question.request, reply)
        candidates, refused = _sorted_out(read.answer, question.offer)
        return Outcome(
            candidates=tuple(candidates),
            quarantined=(*read.lost, *refused),
            extractor=version,
            prompt_hash=question.prompt.hash,
            status=read.answer.status,
            error=read.error or _ERRORS[read.answer.status],
            usage=asdict(read.usage),
        )

    def _read(self, request: Request, reply: Completion | BackendError) -> _Read:
        """Take the reply apart; while it is unusable and the budget lasts, ask again.

        A cut answer is not asked for again: under the same budget it would be cut again.
        """
        usage, lost = Usage(), list[Quarantined]()
        for attempt in range(1, self.budget.attempts + 1):
            if isinstance(reply, BackendError):
                return _Read(answer=_NOTHING, usage=usage, lost=lost, error=str(reply))
            usage, answer = usage + reply.usage, self._parse(reply)
            left = self.budget.seconds - usage.seconds
            if answer.status != "failed" or reply.finish != "complete" or attempt == self.budget.attempts or left <= 0:
                return _Read(answer=answer, usage=usage, lost=lost)
            lost += [entry for entry in answer.entries if isinstance(entry, Quarantined)]
            reply = self._ask([replace(request, budget=replace(self.budget, seconds=left))])[0]
        raise InvalidInput("budget: an answer needs at least one attempt")


_NOTHING: Final = Answer(entries=(), status="failed")
_ERRORS: Final = {
    "complete": None,
    "partial": "the answer breaks off; what stands before is kept",
    "failed": "the answer could not be used",
}


def _sorted_out(answer: Answer, offer: Offer) -> tuple[list[Candidate], list[Quarantined]]:
    """Candidates, and whatever could not become one or says what an item before has said."""
    candidates: list[Candidate] = []
    refused: list[Quarantined] = []
    for entry in answer.entries:
        made = candidate_from_item(entry, offer) if isinstance(entry, Item) else entry
        if isinstance(made, Quarantined):
            refused.append(made)
        elif any(_is_same(made, other) for other in candidates):
            message = "an update before says the same"
            refused.append(Quarantined(reason=QuarantineReason.DUPLICATE, message=message, raw=entry.raw))
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


def _described(name: str, attr: Attribute[Any]) -> Described:
    kind = " | ".join(attr.type.values) or attr.type.name
    many = {"set": "several, ", "map": "several, by item, "}.get(attr.many or "", "")
    return Described(name=name, kind=many + kind, description=attr.description)


def _turn(episode: Episode) -> Turn:
    return Turn(subject_id(episode.speaker or episode.source), episode.text)


def _known(offer: Offer, attr: Attribute[Any], key: Key, stored: Stored) -> Known:
    return Known(key.subject, offer.name(attr), stored.json, stored.item if attr.many else None)

"""All that is asked about one text, until it is answered or the budget is spent, and what the answers come to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from ..memory_store.errors import BackendUnavailable, GrammarError, InvalidInput
from ..memory_store.model import Candidate, Quarantined, QuarantineReason
from ..prompts import Prompt, again
from . import repair
from .answer import Answer, Item, Status, parse, storable
from .backends.base import Budget, Certainty, Completion, Message, Request, Usage
from .items import read_item
from .parts import Refused
from .response import FIELDS, Offer

Made = Candidate | Quarantined
"""What became of an update that a model returned."""
Tell = Callable[[Made], None]
_ERRORS: Final = {
    "complete": None,
    "partial": "the answer breaks off; what stands before is kept",
    "failed": "the answer could not be used",
}
MOST_ANSWERS: Final = 2
"""How often a list of updates is asked for: a model that failed twice at the same question fails a third time."""
_MIN_LEAK: Final = 8
"""Code points of a quote below which it may stand in a prompt by chance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked about one text."""

    offer: Offer
    prompt: Prompt
    request: Request


class Returned(NamedTuple):
    """What became of something that a model returned, and its raw text."""

    made: Made
    raw: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """What the answers to a question come to: all that was returned, in order, and what it cost."""

    returned: tuple[Returned, ...]
    status: Status
    usage: Usage
    error: str | None = None


@dataclass
class Exchange:
    """Reads the answers to one question, and asks again while that is of use and the budget lasts.

    An answer that is no list of updates is asked for again as a whole, up to `MOST_ANSWERS` times; of an update that
    cannot be used, the failing field alone, where the backend `repairs`.  A cut answer is not asked for again: under
    the same budget it would be cut again.
    """

    question: Question
    ask: Callable[[Request], Completion]
    budget: Budget
    max_updates: int
    repairs: bool
    usage: Usage = field(default_factory=Usage)
    lost: list[Returned] = field(default_factory=list)

    def read(self, reply: Completion) -> Read:
        """What comes of the first answer.  Raises BackendUnavailable or GrammarError: no other text fares better."""
        if self.budget.spent:
            raise InvalidInput("budget: an answer needs at least one attempt, one token and some time")
        for left in reversed(range(MOST_ANSWERS)):
            self.usage += reply.usage
            if reply.error is not None:
                break
            answer = self._parse(reply)
            if answer.status != "failed" or reply.finish != "complete" or self._left.spent or not left:
                return self._settled(answer, reply.confidence)
            self.lost += [self._given_up(entry) for entry in answer.entries if isinstance(entry, Quarantined)]
            reply = self.ask(self._again())
        return self._failed(reply)

    @property
    def _left(self) -> Budget:
        return self.budget.after(self.usage)

    def _failed(self, reply: Completion) -> Read:
        if isinstance(reply.error, BackendUnavailable | GrammarError):
            raise reply.error
        return Read(returned=tuple(self.lost), status="failed", usage=self.usage, error=str(reply.error))

    def _parse(self, reply: Completion) -> Answer:
        answer = parse(reply.text, reply.finish, max_updates=self.max_updates)
        cut_short = reply.finish == "closed" and answer.status == "complete"
        return replace(answer, status="partial") if cut_short else answer

    def _again(self) -> Request:
        request = replace(self.question.request, budget=self._left)
        if not self.repairs:
            return request
        return replace(request, messages=(*request.messages, Message(role="user", content=again())))

    def _settled(self, answer: Answer, confidence: Sequence[Certainty]) -> Read:
        settled = [self._settle(entry) for entry in answer.entries]
        sure = [certainty.right for certainty in confidence[: len(settled)]]
        told = [_with_confidence(*pair) for pair in zip_longest(settled, sure)]
        return Read(returned=(*self.lost, *told), status=answer.status, usage=self.usage, error=_ERRORS[answer.status])

    def _settle(self, entry: Item | Quarantined) -> Returned:
        """The entry as a candidate, or as the row that says why it is none, after what repair could do."""
        item = self._completed(entry)
        while isinstance(item, Item):
            try:
                return Returned(read_item(item, self.question.offer), item.raw)
            except Refused as error:
                refused = self._explained(error, item)
            row = self._given_up(refused.row(item.raw))
            better = self._repaired(item.fields, refused.field, str(refused))
            if better is None:
                return row
            item = better
        return self._given_up(item)

    def _completed(self, entry: Item | Quarantined) -> Item | Quarantined:
        """An update that lacks fields with those fields, where the model gives them when it is asked."""
        if not (isinstance(entry, Quarantined) and entry.reason is QuarantineReason.MISSING_FIELD):
            return entry
        fields = json.loads(entry.raw)
        for name in FIELDS:
            if name not in fields and name != "item":
                item = self._repaired(fields, name, f"{name}: it is missing")
                if item is None:
                    return entry
                fields = item.fields
        self._given_up(entry)
        return Item(fields=fields, raw=_raw(fields))

    def _repaired(self, fields: dict[str, Any], name: str, problem: str) -> Item | None:
        offer = self.question.offer
        schema = repair.choices(offer, fields, name) if name in FIELDS and self.repairs else None
        if schema is None:
            return None
        found = repair.only_choice(schema) or self._asked_for(fields, name, problem, schema)
        if found is None or (name in fields and found == (fields[name],)):
            return None
        better = repair.mended(fields, name, found[0])
        return Item(fields=better, raw=_raw(better))

    def _asked_for(self, fields: dict[str, Any], name: str, problem: str, schema: dict[str, Any]) -> tuple[Any] | None:
        if self._left.spent:
            return None
        request = repair.repair_request(self.question.request, fields, name, problem, self._left)
        reply = self.ask(repair.with_schema(request, name, schema))
        self.usage += reply.usage
        return repair.read_field(reply.text, name)

    def _explained(self, refused: Refused, item: Item) -> Refused:
        """Why evidence is none: words of the prompt that the episode does not say were learned from the prompt."""
        quote = str(item.fields["evidence"])
        if refused.field != "evidence" or refused.reason is not QuarantineReason.UNGROUNDED or len(quote) < _MIN_LEAK:
            return refused
        shown = "\n".join(part.content for part in self.question.prompt.parts)
        if json.dumps(quote, ensure_ascii=False)[1:-1] not in shown:
            return refused
        return Refused(QuarantineReason.FEW_SHOT_LEAK, f"evidence: stands in the prompt, not in the episode: {quote!r}")

    def _given_up(self, row: Quarantined) -> Returned:
        """The row, counted as a failure of the model."""
        self.usage += Usage(failures={row.reason.value: 1})
        return Returned(row, row.raw)


@dataclass
class Announcer:
    """Tells of each update once it is whole, while the answer still grows; nothing of it is committed yet."""

    offer: Offer
    tell: Tell
    told: int = 0

    def __call__(self, text: str) -> None:
        """Given the text of the answer so far."""
        entries = [entry for entry in parse(text, "length").entries if isinstance(entry, Item)]
        for item in entries[self.told :]:
            self.tell(_preview(item, self.offer))
        self.told = max(self.told, len(entries))

    def rest(self, returned: Sequence[Returned]) -> None:
        """Tell of what came while no text was streamed."""
        for entry in returned[self.told :]:
            self.tell(entry.made)


def _with_confidence(returned: Returned, sure: float | None) -> Returned:
    if sure is None or not isinstance(returned.made, Candidate):
        return returned
    return Returned(replace(returned.made, confidence=sure), returned.raw)


def _preview(item: Item, offer: Offer) -> Made:
    try:
        return read_item(item, offer)
    except Refused as refused:
        return refused.row(item.raw)


def _raw(fields: dict[str, Any]) -> str:
    return storable(json.dumps(fields, ensure_ascii=False))

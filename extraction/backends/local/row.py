"""One answer in the making."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import xgrammar

from ....memory_store.errors import BackendError
from ..base import Certainty, Completion, Finish, Request, Usage
from . import outline, watch
from .choice import Choice, Chooser, Scores, digest
from .drafts import draft, retokenised
from .head import Ids
from .outline import Outline
from .vocabulary import Vocabulary, Words, count, has, ids

_TAIL = 8
_LOOKED_EVERY = 16


class Row:
    """A request, the tokens of its answer so far, and the matchers of its grammars, which have accepted them.

    `pending` are tokens that the model has not been fed: the prompt after the shared prefix, then what was chosen.
    """

    def __init__(self, request: Request, prompt: Sequence[int], prefix: int, vocabulary: Vocabulary, room: int) -> None:
        """`prefix` is how many tokens of the prompt the model has seen, `room` how many its context has left."""
        self.request = request
        self.prompt = prompt
        self.pending = list(prompt[prefix:])
        self.draft: list[int] = []
        self.forced = 0
        self.allowed: list[Ids] = []
        self.tokens: list[int] = []
        self.finish: Finish | None = None
        self.masks = 0
        self.limit = min(request.budget.tokens, room)
        self._start = time.monotonic()
        self._end: float | None = None
        self._vocabulary = vocabulary
        self._grammars = vocabulary.compile(request)
        self._matchers = [xgrammar.GrammarMatcher(grammar) for grammar in self._grammars]
        self._data = bytearray()
        self._ends: list[int] = []
        self._choices: list[Choice] = []
        self._more: dict[int, float] = {}
        self._outline = Outline()
        self._digest = digest(request)

    def is_late(self) -> bool:
        """Whether the seconds of the request have run out."""
        return time.monotonic() - self._start >= self.request.budget.seconds

    def absorb(self, *, forced: bool) -> None:
        """See whether the answer has to end here, and, if `forced`, take the tokens that are the only ones allowed."""
        if self.finish is None:
            self._check()
        while forced and self.finish is None:
            words = self._vocabulary.allowed(self._matchers)
            if count(words) != 1:
                break
            self._take(Choice(int(ids(words)[0]), 1.0, None), words)

    def propose(self, width: int) -> None:
        """Set `draft`, at most `width` tokens beyond what the grammar forces, and what is `allowed` at each decision.

        There is one decision more than there are tokens in the draft, unless the draft completes the answer.
        """
        words = self._vocabulary.allowed(self._matchers)
        self.draft, self.forced, self.allowed, self._words = [], 0, [self._choices_at(words)], [words]
        for token in self._guessed(width) if width else ():
            if not has(self._words[-1], token):
                break
            self._accept(token)
            self.draft.append(token)
            if self._matchers[0].is_completed():
                break
            self._words.append(self._vocabulary.allowed(self._matchers))
            self.allowed.append(self._choices_at(self._words[-1]))
        for matcher in self._matchers:
            matcher.rollback(len(self.draft))

    def settle(self, scores: Sequence[Scores], chooser: Chooser) -> int:
        """Take what the model chooses, up to the first token that the draft has not.

        Returns how many of the tokens that the model was fed are part of the answer; the rest is to be forgotten.
        """
        fed = len(self.pending)
        self.pending = []
        for index, given in enumerate(scores):
            place = (self._digest, len(self.tokens))
            choice = chooser.choose(self.allowed[index], given, self._outline, place)
            self._take(choice, self._words[index])
            if self.finish or index >= len(self.draft) or choice.token != self.draft[index]:
                break
            self.pending = []
            fed += 1
        return fed

    def completion(self) -> Completion:
        """The answer with what it cost."""
        if self.finish in ("complete", "closed") and self.tokens and not self.masks:
            raise BackendError("the answer was not constrained by the grammar")
        usage = Usage(
            calls=1,
            prompt_tokens=len(self.prompt),
            completion_tokens=len(self.tokens),
            seconds=(self._end or time.monotonic()) - self._start,
        )
        text, finish = self.text, self.finish or "length"
        if finish != "complete" and (closed := watch.closed(text, self._forced_after, self._is_whole)) is not None:
            text, finish = closed, "closed"
        certainties = tuple(self._certainties(text))
        another = self._more.get(len(certainties), 0.0)
        return Completion(text=text, finish=finish, usage=usage, confidence=certainties, another=another)

    @property
    def text(self) -> str:
        """The answer so far; a character that a cut left incomplete at the end is dropped."""
        return self._data.decode("utf-8", errors="ignore")

    def _take(self, choice: Choice, words: Words) -> None:
        if choice.more is not None:
            before = self._more.get(self._outline.begun, 0.0)  # `}` was chosen where `},` could have been
            self._more[self._outline.begun] = before + (1 - before) * choice.more
        self.masks += not (words == self._vocabulary.text_tokens).all()
        self._accept(choice.token)
        data = self._vocabulary.bytes([choice.token])
        self.tokens.append(choice.token)
        self.pending.append(choice.token)
        self._choices.append(choice)
        self._data += data
        self._ends.append(len(self._data))
        ended = self._read(data)
        if self._matchers[0].is_completed():
            self._finish("complete")
        elif (ended and watch.repeats_item(self.text)) or self._loops():
            self._finish("closed")
        else:
            self._check()

    def _check(self) -> None:
        if self.is_late():
            self._finish("deadline")
        elif len(self.tokens) >= self.limit:
            self._finish("length")

    def _finish(self, finish: Finish) -> None:
        self.finish = finish
        self._end = time.monotonic()

    def _read(self, data: bytes) -> bool:
        """Follow the outline; whether an item ended on the way."""
        if b"}" not in data:
            self._outline.read(data)
            return False
        ended = False
        for byte in data:
            self._outline.read(bytes([byte]))
            ended = ended or self._outline.between
        return ended

    def _loops(self) -> bool:
        if len(self.tokens) % _LOOKED_EVERY or not self._outline.quoted:
            return False
        end = self.text[-200:]
        return watch.loops(self.text) and end[-48:] not in self.request.source

    def _accept(self, token: int) -> None:
        # No assert: under `python -O` it would vanish, and the constraint with it.
        if not all(matcher.accept_token(token) for matcher in self._matchers):
            raise BackendError(f"the grammar allows no token after {self.text[-40:]!r}")

    def _choices_at(self, words: Words) -> Ids:
        found = ids(words)
        if not len(found):
            raise BackendError(f"the grammar allows no token after {self.text[-40:]!r}")
        return found

    def _guessed(self, width: int) -> list[int]:
        try:
            text = self._data.decode()
        except UnicodeDecodeError:
            return []
        must, may = draft(text, self.request.source, self._force)
        tail = self.tokens[-_TAIL:]
        before = self._vocabulary.bytes(tail).decode("utf-8", errors="replace")
        tokens = retokenised(tail, must + may, self._vocabulary.encode, before)
        forced, size = 0, 0
        while forced < len(tokens) and size < len(must.encode()):
            size += len(self._vocabulary.bytes(tokens[forced : forced + 1]))
            forced += 1
        self.forced = forced
        return tokens[: min(max(forced, width), self.limit - len(self.tokens) - 1)]

    def _force(self, more: str) -> str | None:
        """What must follow the answer so far plus `more`; None when that is not allowed."""
        return _following(self._matchers[0].fork(), more)

    def _forced_after(self, text: str) -> str | None:
        found = [_following(xgrammar.GrammarMatcher(grammar), text) for grammar in self._grammars]
        return None if None in found else found[0]

    def _is_whole(self, text: str) -> bool:
        matchers = [xgrammar.GrammarMatcher(grammar) for grammar in self._grammars]
        return all(matcher.accept_string(text) and matcher.is_completed() for matcher in matchers)

    def _certainties(self, text: str) -> Iterable[Certainty]:
        before = outline.bytes_before(text)
        for number, item in enumerate(outline.items(text)):
            told = item.fields.get("value", (0, 0))
            if text[slice(*told)] == "null":
                told = item.fields.get("item", told)  # the entry of a set is its value
            change, value = (
                self._probability(before[start], before[end])
                for start, end in (item.fields.get("change", (0, 0)), told)
            )
            yield Certainty(update=self._more.get(number, 1.0), change=change, value=value)

    def _probability(self, start: int, end: int) -> float:
        product = 1.0
        for index in outline.overlapping(self._ends, start, end):
            product *= self._choices[index].probability
        return product


def _following(matcher: xgrammar.GrammarMatcher, text: str) -> str | None:
    if text and not matcher.accept_string(text):
        return None
    return str(matcher.find_jump_forward_string())

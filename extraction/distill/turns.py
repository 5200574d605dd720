"""The turns of a case, one kind of turn a method, and the gold updates that they make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

from . import phrases
from .facts import Chooser, Fact, Intent, Times, Who
from .pools import Scene, draw
from .sentences import YOU, Piece, Style, Turn, Voice, about_someone, assemble, plain, render, slots, styled
from .small_talk import SmallTalk
from .spoken_values import utc_text
from .state import Stay, same

Json = dict[str, Any]
MAX_WORDS: Final = 35


@dataclass(kw_only=True)
class Dialogue:
    """A case as it grows: its clock, its episodes, its gold updates."""

    rng: Random
    chooser: Chooser
    talk: SmallTalk
    zone: str
    at: datetime
    style: Style
    fast: bool
    episodes: list[Json] = field(default_factory=list)
    updates: list[Json] = field(default_factory=list)
    session: int = 1
    last: Fact | None = None

    @property
    def speaker(self) -> Who:
        """The one who talks."""
        return self.chooser.cast[0]

    def scene(self) -> Scene:
        """When and where the next turn is said."""
        return Scene(at=self.at, zone=self.zone)

    # Turns with updates -------------------------------------------------------------------------------------------

    def tell(self, intent: Intent, count: int = 1) -> bool:
        """Say one or more facts; whether there was something to say."""
        facts = self._facts(intent, count)
        if not facts:
            return False
        pieces = self._joined(facts)
        turn = assemble(styled(self._dressed(pieces), self.style, self.rng))
        if len(turn.text.split()) > MAX_WORDS:
            turn = assemble(styled(self._joined(facts[:1]), self.style, self.rng))
            facts = facts[:1]
        self._say(turn, facts)
        return True

    def correct_self(self) -> bool:
        """State a value and correct it in the same breath."""
        fact = self._facts("new", 1)
        if not fact or not _quotable(fact[0]) or "{t}" in fact[0].template or fact[0].times != Times():
            return False
        other, _ = self.chooser.value(fact[0].bound, self.scene())
        if same(other.value, fact[0].value) or slots(fact[0].template) & {"since", "from", "until"}:
            return False
        template = fact[0].template.replace("{v}", "{x}") + self.rng.choice(phrases.SELF_FIXES)
        told = replace(fact[0], template=template, fill={**fact[0].fill, "x": other.words})
        self._say(self._styled(render(template, told.who.voice, told.fill, 0)), [told])
        return True

    def correct_last(self) -> bool:
        """Correct the value that the turn before stated."""
        last = self.last
        if last is None or last.value is None or not _quotable(last) or last.times != Times():
            return False
        fact = self._other_value(last)
        if fact is None:
            return False
        if self.rng.random() < 0.3:
            self._assistant(plain(self.rng.choice(phrases.ACKS)))
        told = replace(fact, template=self.rng.choice(phrases.FIXES))
        self._say(self._styled(render(told.template, told.who.voice, told.fill, 0)), [told])
        return True

    def answer(self) -> bool:
        """Answer a question of the assistant in a word or two, or not."""
        fact = self._asked()
        if fact is None:
            return False
        template = self.rng.choice(phrases.ANSWERS)
        told = replace(fact, template=template, times=Times())
        self._say(self._styled(render(template, told.who.voice, told.fill, 0)), [told])
        return True

    def evade(self) -> bool:
        """Leave a question of the assistant open."""
        if self._asked() is None:
            return False
        self._quiet(self.rng.choice(phrases.LATER))
        return True

    def affirm(self) -> bool:
        """Affirm what the assistant reads back."""
        read = self._read_back()
        if read is None:
            return False
        fact, home, turn = read
        self._say(self._styled(plain(self.rng.choice(phrases.YES)), calm=True), [fact], home=(home, turn))
        return True

    def deny(self) -> bool:
        """Deny what the assistant reads back; one in three times with the right value."""
        read = self._read_back()
        if read is None:
            return False
        fact = self._other_value(read[0]) if self.rng.random() < 0.35 else None
        if fact is None or fact.bound.spec.many:
            self._quiet(self.rng.choice(phrases.NO))
            return True
        told = replace(fact, template=self.rng.choice(phrases.NO_THEN))
        self._say(self._styled(render(told.template, told.who.voice, told.fill, 0)), [told])
        return True

    # Turns without ------------------------------------------------------------------------------------------------

    def chat(self) -> bool:
        """Say something that is nothing to remember."""
        self._quiet(self.talk.line(self.scene()))
        return True

    def acknowledge(self) -> bool:
        """Let the assistant say something of no weight."""
        self._assistant(plain(self.rng.choice(phrases.ACKS)))
        return True

    # Parts --------------------------------------------------------------------------------------------------------

    def _facts(self, intent: Intent, count: int) -> list[Fact]:
        facts: list[Fact] = []
        for _ in range(count * 6):
            fact = self.chooser.fact(intent if not facts else "new", self.scene())
            if fact is not None and all(fact.key[:2] != other.key[:2] for other in facts):
                facts.append(fact)
            if len(facts) == count:
                break
        return facts

    def _joined(self, facts: list[Fact]) -> list[Piece]:
        join, pieces = self.rng.choice(phrases.JOINS), list[Piece]()
        for number, fact in enumerate(facts):
            pieces += plain(join if number else "")
            pieces += render(fact.template, fact.who.voice, fact.fill, number)
        return pieces

    def _dressed(self, pieces: list[Piece]) -> list[Piece]:
        lead = draw(self.rng, phrases.LEADS) + " " if self.rng.random() < 0.28 else ""
        end = self.rng.choice((".", ".", ".", "", "", "!"))
        tail = ""
        if self.rng.random() < 0.2:
            end, tail = end or ".", " " + self.rng.choice(phrases.TAILS)
        elif self.rng.random() < 0.1:
            end, tail = end or ".", " " + self.talk.aside(self.scene())
        return [*plain(lead), *pieces, *plain(end + tail)]

    def _styled(self, pieces: list[Piece], *, calm: bool = False) -> Turn:
        style: Style = "plain" if calm and self.style == "sloppy" else self.style
        return assemble(styled([*pieces], style, self.rng))

    def _other_value(self, last: Fact) -> Fact | None:
        said, _ = self.chooser.value(last.bound, self.scene())
        held = self.chooser.state.holds(last.key, self.at)
        if same(said.value, last.value) or (held and same(said.value, held.value)):
            return None
        fill = {**last.fill, "v": said.words, "x": last.fill["v"]}
        return replace(last, value=said.value, fill=fill, times=Times())

    def _asked(self) -> Fact | None:
        fact = next(iter(self._facts("new", 1)), None)
        if fact is None or fact.bound.spec.many or fact.bound.spec.kind == "boolean":
            return None
        ask = render(self._for(fact, phrases.ASKS), self._yours(fact), fact.fill)
        self._assistant(styled(ask, "plain", self.rng))
        return fact

    def _read_back(self) -> tuple[Fact, str, Turn] | None:
        intent: Intent = self.rng.choice(("new", "new", "repeat", "update"))
        fact = next(iter(self._facts(intent, 1)), None)
        if fact is None or fact.bound.spec.many == "map" or fact.bound.spec.pool is None:
            return None
        fact = replace(fact, times=Times())
        template = self._for(fact, phrases.SET_CONFIRMS if fact.bound.spec.many else phrases.CONFIRMS)
        turn = assemble(styled(render(template, self._yours(fact), fact.fill, 0), "plain", self.rng))
        self._forget_remark()
        return fact, self._add(turn.text, "assistant"), turn

    def _for(self, fact: Fact, templates: list[str]) -> str:
        """A template that says whom it is about, where that is not the speaker."""
        return self.rng.choice([t for t in templates if fact.who is self.speaker or about_someone(t)])

    def _yours(self, fact: Fact) -> Voice:
        return YOU if fact.who is self.speaker else fact.who.voice

    # Recording ----------------------------------------------------------------------------------------------------

    def _assistant(self, pieces: list[Piece]) -> None:
        self._forget_remark()
        self._add(assemble(pieces).text, "assistant")

    def _forget_remark(self) -> None:
        """Let the assistant not speak twice in a row."""
        if self.episodes and self.episodes[-1]["source"] == "assistant":
            self.episodes.pop()

    def _quiet(self, text: str) -> None:
        self.last = None
        self._add(self._styled(plain(text)).text, "user")

    def _say(self, turn: Turn, facts: list[Fact], home: tuple[str, Turn] | None = None) -> None:
        at = self.at
        episode = self._add(turn.text, "user")
        place, source = home or (episode, turn)
        for number, fact in enumerate(facts):
            self.updates.append(self._update(fact, number, episode, at, place, source))
        self.last = facts[0] if len(facts) == 1 and home is None else None

    def _add(self, text: str, source: str) -> str:
        name = f"e{len(self.episodes)}"
        local = self.at.astimezone(ZoneInfo(self.zone))
        episode = {"episode_id": name, "observed_at": local.isoformat(), "zone": self.zone, "source": source}
        speaker = self.speaker.subject if source == "user" else "assistant"
        self.episodes.append({**episode, "speaker": speaker, "session_id": f"s{self.session}", "text": text})
        self._tick(source)
        return name

    def _tick(self, source: str) -> None:
        """Let time pass: seconds within a session, else minutes or days, after which a new one begins."""
        step = timedelta(seconds=self.rng.randint(5, 90))
        if source == "user" and not self.fast and self.rng.random() < 0.35:
            step = timedelta(hours=self.rng.randint(3, 400), seconds=self.rng.randint(0, 3000))
            self.session += 1
            self.last = None
        self.at = (self.at + step).astimezone(UTC)

    def _update(self, fact: Fact, number: int, episode: str, at: datetime, place: str, turn: Turn) -> Json:
        held = self.chooser.state.holds(fact.key, at)
        stay = self._stay(fact, number, turn, at, held)
        change = _change(fact, held)
        value = held.value if held is not None and change == "no_change" else stay.value
        words = turn.quote(number, "v") or (turn.quote(number, "i") if fact.bound.spec.many else None)
        self.chooser.state.add((*fact.key[:2], fact.key[2]), stay)
        update: Json = {"episode_id": episode, "subject": fact.who.subject, "attribute": fact.bound.name}
        if fact.bound.spec.many:
            update["item"] = stay.value if fact.bound.spec.many == "set" and held is None and stay.value else stay.item
            update["raw_item"] = held.item if held is not None else _item_said(fact, number, turn)
        update |= {"change": change, "current_value": held.value if held else None, "value": value}
        update |= {"accept": _accept(value, words), "raw_value": words}
        update["valid_from"] = utc_text(fact.times.start or at)
        update["evidence"] = self._evidence(number, episode, place, turn)
        if update["raw_value"] is None and change != "revoke":
            update["raw_value"] = update["evidence"]["text"]
        return {**update, "when": turn.quote(number, "when"), "until": turn.quote(number, "until")}

    def _stay(self, fact: Fact, number: int, turn: Turn, at: datetime, held: Stay | None) -> Stay:
        said = turn.quote(number, "v")
        value, item = fact.value, fact.item
        if fact.bound.spec.kind == "text" and value is not None and said:
            value = held.value if held is not None and same(held.value, said) else said
        if fact.bound.spec.many == "set" and fact.bound.spec.kind == "text" and said:
            item = said
        if fact.bound.spec.many == "map":
            item = turn.quote(number, "i") or item
        return Stay(
            value=value,
            start=fact.times.start or at,
            stop=fact.times.stop,
            item=held.item if held else item,
            words=said or "",
            settled=fact.times.settled,
        )

    def _evidence(self, number: int, episode: str, place: str, turn: Turn) -> Json:
        start, end = turn.evidence(number) if place == episode else turn.span(number, "v")
        kind = "user_span" if place == episode else "system_span"
        return {"episode_id": place, "text": turn.text[start:end], "start": start, "end": end, "kind": kind}


def _quotable(fact: Fact) -> bool:
    """Whether the value is one that is quoted, of an attribute that holds one, and is named in the sentence."""
    return fact.bound.spec.pool is not None and not fact.bound.spec.many and "{v}" in fact.template


def _item_said(fact: Fact, number: int, turn: Turn) -> str | None:
    """The item as it must be given: as it is said, or as the member of the set that it is."""
    if fact.bound.spec.kind == "enum" and fact.bound.spec.many == "set":
        return fact.item
    return turn.quote(number, "v" if fact.bound.spec.many == "set" else "i")


def _change(fact: Fact, held: Stay | None) -> str:
    if fact.value is None:
        return "revoke"
    if held is None:
        return "new"
    return "no_change" if same(held.value, fact.value) else "update"


def _accept(value: Any, words: str | None) -> list[str]:
    if value is None:
        return []
    forms = [value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)]
    return forms if words is None or words in forms else [*forms, words]

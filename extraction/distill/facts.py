"""Choosing what is said next: a fact that is new, changed, dropped or repeated, with a sentence that fits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from random import Random
from typing import Any, Final, Literal

from ...memory_store.model import end_of_stretch
from .. import dates
from . import phrases, spoken_values
from .catalogue import Member
from .pools import Said, Scene
from .schemas import Bound, Drawn
from .sentences import Voice, about_someone, slots
from .state import Key, State, Stay, item_key, same

Intent = Literal["new", "update", "revoke", "repeat"]
_TIMED: Final = {"since", "from", "until"}
_ENDS: Final = ("no longer", " any more", " quit ", " left ", " stopped ", " gave up ", " resigned ", " cancelled ")
_SWITCHES: Final = tuple(
    t for t in phrases.SAY if t.startswith(("set {P}", "change {P}", "{P} {spoken}: ", "{spoken}: "))
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Who:
    """A known subject: its id, and how sentences speak of it."""

    subject: str
    voice: Voice
    domain: Literal["person", "project"] = "person"


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Since when and until when, in words and in time; `settled` is when a vague beginning is over."""

    when: str | None = None
    until: str | None = None
    start: datetime | None = None
    stop: datetime | None = None
    settled: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """Something about to be said; `value` is canonical and None for a revocation."""

    who: Who
    bound: Bound
    template: str
    fill: dict[str, str]
    value: Any
    item: str | None = None
    times: Times = field(default_factory=Times)

    @property
    def key(self) -> Key:
        """The key that it is about."""
        return self.who.subject, self.bound.name, item_key(self.item)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chooser:
    """Draws facts that fit what has been said so far."""

    rng: Random
    drawn: Drawn
    cast: tuple[Who, ...]
    state: State

    def fact(self, intent: Intent, scene: Scene) -> Fact | None:
        """A fact of that intent; None where there is nothing to change, drop or repeat, or no luck."""
        if intent == "new":
            return self._new(scene)
        for who, bound, stay in self._open(scene):
            made = {"update": self._update, "revoke": self._revoke, "repeat": self._repeat}[intent](
                who, bound, stay, scene
            )
            if made is not None:
                return made
        return self._unknown(scene) if intent == "revoke" and self.rng.random() < 0.06 else None

    def place(self) -> tuple[Who, Bound]:
        """Some subject, mostly the speaker, and some attribute of its type."""
        who = self.cast[0] if self.rng.random() < 0.72 else self.rng.choice(self.cast)
        return who, self.rng.choice(self.drawn.of(who.domain))

    def _new(self, scene: Scene) -> Fact | None:
        who, bound = self.place()
        said, member = self.value(bound, scene)
        item = self._item(bound, said, scene)
        if self.state.stays.get((who.subject, bound.name, item_key(item))):
            return None
        fact = Fact(who=who, bound=bound, template="", fill={"v": said.words}, value=said.value, item=item)
        return self._worded(fact, self.say(bound, member), scene, timed=True)

    def _item(self, bound: Bound, said: Said, scene: Scene) -> str | None:
        if bound.spec.many == "set":
            return str(said.value)
        return bound.spec.items(self.rng, scene).words if bound.spec.items is not None else None

    def _open(self, scene: Scene) -> Iterator[tuple[Who, Bound, Stay]]:
        """What is on record and may be touched, in random order."""
        held = [entry for entry in self.state.held(scene.at) if self.state.quiet(entry[0], scene.at)]
        for (subject, name, _), stay in self.rng.sample(held, len(held)):
            who = next(who for who in self.cast if who.subject == subject)
            yield who, next(bound for bound in self.drawn.of(who.domain) if bound.name == name), stay

    def _update(self, who: Who, bound: Bound, stay: Stay, scene: Scene) -> Fact | None:
        said, member = self.value(bound, scene)
        if bound.spec.many == "set" or same(said.value, stay.value):
            return None
        generic = phrases.MAP_UPDATE if bound.spec.many else phrases.UPDATE
        templates = [*self._mixed(bound.spec.update, generic, bound), *self.say(bound, member)]
        if bound.spec.kind in {"enum", "boolean"} and not bound.spec.update:
            templates = list(self.say(bound, member))
        fact = Fact(who=who, bound=bound, template="", fill=_words(said, stay), value=said.value, item=stay.item)
        return self._worded(fact, templates, scene, timed=True)

    def _revoke(self, who: Who, bound: Bound, stay: Stay, scene: Scene) -> Fact | None:
        generic = {"set": phrases.SET_DROP, "map": phrases.MAP_DROP, None: phrases.DROP}[bound.spec.many]
        templates = [_timeable(t) for t in self._mixed(bound.spec.drop, generic, bound)]
        fill = {"o": stay.words, "v": stay.words} if stay.words else {}
        fact = Fact(who=who, bound=bound, template="", fill=fill, value=None, item=stay.item)
        return self._worded(fact, templates, scene, timed=True)

    def _repeat(self, who: Who, bound: Bound, stay: Stay, scene: Scene) -> Fact | None:
        words = self._again(bound, stay, scene)
        member = next((m for name, m in bound.members if same(name, stay.value)), None)
        if words is None and member is None:
            return None
        fill = {"v": words or (self.rng.choice(member.words) if member else "")}
        fact = Fact(who=who, bound=bound, template="", fill=fill, value=stay.value, item=stay.item)
        return self._worded(fact, self.say(bound, member), scene, timed=False)

    def _again(self, bound: Bound, stay: Stay, scene: Scene) -> str | None:
        """Words for a value on record that mean the same today."""
        if bound.spec.kind == "date":
            words = spoken_values.full_day(self.rng, date.fromisoformat(stay.value))
            found = dates.to_date(words, anchor=scene.at, zone=scene.zone)
            return words if found is not None and found.isoformat() == stay.value else str(stay.value)
        return None if bound.spec.kind in {"datetime", "enum", "boolean"} else stay.words or None

    def _unknown(self, scene: Scene) -> Fact | None:
        """The revocation of something that is not on record."""
        who, bound = self.place()
        said, _ = self.value(bound, scene)
        item = self._item(bound, said, scene)
        key = (who.subject, bound.name, item_key(item))
        if self.state.stays.get(key) or (bound.spec.kind == "boolean" and not bound.spec.many):
            return None
        words = {"o": said.words, "v": said.words} if bound.spec.pool or bound.spec.many else {}
        fact = Fact(who=who, bound=bound, template="", fill=words, value=None, item=item)
        generic = {"set": phrases.SET_DROP, "map": phrases.MAP_DROP, None: phrases.DROP}[bound.spec.many]
        return self._worded(fact, self._mixed(bound.spec.drop, generic, bound), scene, timed=False)

    # Values and sentences -----------------------------------------------------------------------------------------

    def value(self, bound: Bound, scene: Scene) -> tuple[Said, Member | None]:
        """A value, with the member that it is where the values are closed."""
        if bound.spec.pool is not None:
            return bound.spec.pool(self.rng, scene), None
        name, member = self.rng.choice(bound.members)
        return Said(self.rng.choice(member.words), name), member

    def say(self, bound: Bound, member: Member | None) -> list[str]:
        """Sentences for a value: its own or those that fit any attribute."""
        own = (*(member.says if member else ()), *bound.spec.say)
        generic = {"set": phrases.SET_SAY, "map": phrases.MAP_SAY, None: phrases.SAY}[bound.spec.many]
        return self._mixed(own, _SWITCHES if bound.spec.kind == "boolean" else generic, bound)

    def _mixed(self, own: Iterable[str], generic: Iterable[str], bound: Bound) -> list[str]:
        """Two in three times the sentences of the attribute itself, where it has some."""
        own = list(own)
        if own and not bound.spec.generic:
            return own
        return own if own and self.rng.random() < 0.66 else list(generic)

    def _worded(self, fact: Fact, templates: Iterable[str], scene: Scene, *, timed: bool) -> Fact | None:
        """The fact with one of the templates that can be filled."""
        item = fact.item if fact.bound.spec.many == "map" else None
        known = {**fact.fill, "spoken": fact.bound.spoken(self.rng), **({"i": item} if item else {})}
        fitting = [t for t in templates if self._fits(t, fact, known, timed=timed)]
        if not fitting:
            return None
        with_time = [t for t in fitting if slots(t) & _TIMED] if self.rng.random() < 0.3 else []
        template = self.rng.choice(with_time or fitting)
        times, fill = self._times(template, fact, scene, timed=timed)
        if slots(template) & _TIMED and times == Times():
            return None
        return replace(fact, template=template, fill={**known, **fill}, times=times)

    def _fits(self, template: str, fact: Fact, known: dict[str, str], *, timed: bool) -> bool:
        names = slots(template)
        if fact.who is not self.cast[0] and not about_someone(template):
            return False
        if names & _TIMED and (not timed or fact.bound.spec.kind in {"date", "datetime"}):
            return False
        return all(name in known for name in names & {"v", "o", "i", "x"})

    def _times(self, template: str, fact: Fact, scene: Scene, *, timed: bool) -> tuple[Times, dict[str, str]]:
        names = slots(template)
        wanted = next(iter(sorted(names & _TIMED)), None)
        optional = wanted is None and "t" in names and timed and fact.bound.spec.kind not in {"date", "datetime"}
        if optional and self.rng.random() < 0.5:
            wanted = self.rng.choice(
                ("since", "from", "from", "until") if fact.value is not None else ("since", "from")
            )
        if wanted is None:
            return Times(), {}
        times, words = self._phrase(wanted, fact.key, scene)
        if times == Times():
            return times, {}
        role = "until" if wanted == "until" else "when"
        return times, {"t": f"{role}:{words}"} if optional else {wanted: words}

    def _phrase(self, wanted: str, key: Key, scene: Scene) -> tuple[Times, str]:
        """A phrase of time that puts the fact after all that is known of its key."""
        make = {"since": spoken_values.since, "from": spoken_values.starting, "until": spoken_values.ending}[wanted]
        latest = self.state.latest(key)
        for _ in range(3):
            words = make(self.rng, scene)
            times = Times() if words is None else timed_by(wanted, words, scene)
            if words and (latest is None or (times.start or scene.at) > latest):
                return times, words
        return Times(), ""


def timed_by(wanted: str, words: str, scene: Scene) -> Times:
    """What a phrase of time says."""
    if wanted == "until":
        end = dates.resolve_end(words, anchor=scene.at, zone=scene.zone)
        return Times(until=words, stop=end.start) if end is not None else Times()
    moment = dates.resolve(words, anchor=scene.at, zone=scene.zone)
    if moment is None:
        return Times()
    settled = end_of_stretch(moment.start, moment.precision, scene.zone)
    return Times(when=words, start=moment.start, settled=settled)


def _timeable(template: str) -> str:
    """A revocation with room for a phrase of time, where one can follow."""
    ends = any(word in template for word in _ENDS) and template.startswith(("{S", "{P}"))
    return template + "{t}" if ends and "," not in template else template


def _words(said: Said, stay: Stay) -> dict[str, str]:
    return {"v": said.words, **({"o": stay.words} if stay.words else {})}

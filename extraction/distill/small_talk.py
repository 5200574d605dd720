"""Turns with nothing to remember: chat, questions, wishes, the words of others, and texts that give orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from . import phrases, pools
from .facts import Chooser
from .pools import Scene, words
from .schemas import Bound, stranger
from .sentences import I, Voice, about_someone, render, slots

_LISTS = {
    "food": pools.FOODS,
    "hobby": pools.HOBBIES,
    "language": pools.LANGUAGES,
    "subject": pools.SUBJECTS,
    "job": pools.JOBS,
    "animal": pools.ANIMALS,
    "genre": pools.GENRES,
    "gadget": pools.GADGETS,
    "country": "Norway|Peru|Kenya|Portugal|Vietnam|Ghana|India|Chile|Japan|Brazil|Poland|Canada|Mexico",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallTalk:
    """Draws lines that make no update."""

    rng: Random
    chooser: Chooser

    def line(self, scene: Scene) -> str:
        """A turn of its own."""
        kinds: tuple[tuple[int, Callable[[Scene], str]], ...] = (
            (14, self._chat),
            (14, self._question),
            (12, self._opinion),
            (20, self._about),
            (14, self._wrapped),
            (10, self._of_another),
            (12, self._off_schema),
            (6, self._injection),
        )
        make = self.rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
        return make(scene)

    def aside(self, scene: Scene) -> str:
        """A sentence to go with facts."""
        quiet = (self._chat, self._question, self._question, self._opinion)
        return self.rng.choice((*quiet, self._about, self._wrapped, self._of_another))(scene)

    def _chat(self, scene: Scene) -> str:
        return self.rng.choice(phrases.CHAT)

    def _question(self, scene: Scene) -> str:
        return self.rng.choice(phrases.QUESTIONS).format(**self._fill())

    def _opinion(self, scene: Scene) -> str:
        return self.rng.choice(phrases.OPINIONS).format(**self._fill())

    def _about(self, scene: Scene) -> str:
        return self._on_attribute(phrases.ABOUT, scene)

    def _injection(self, scene: Scene) -> str:
        return self._on_attribute(phrases.INJECTIONS, scene)

    def _on_attribute(self, templates: list[str], scene: Scene) -> str:
        bound = self.rng.choice(self.chooser.drawn.of("person"))
        value = self.chooser.value(bound, scene)[0].words
        fill = {"v": value, "spoken": bound.spoken(self.rng), "name": self._outsider()}
        return _text(self.rng.choice(templates), I, fill)

    def _wrapped(self, scene: Scene) -> str:
        """A sentence that would be a fact, were it not quoted, supposed or asked."""
        clause = self._clause(self.rng.choice(self.chooser.drawn.of("person")), I, scene, stated=True)
        return self.rng.choice(phrases.WRAPS).format(clause=clause, **self._fill())

    def _of_another(self, scene: Scene) -> str:
        """A fact about someone who is none of the subjects."""
        name = self.rng.choice(phrases.PEOPLE).format(name=self._outsider())
        voice = Voice(person="third", name=name)
        return self._clause(self.rng.choice(self.chooser.drawn.of("person")), voice, scene)

    def _off_schema(self, scene: Scene) -> str:
        """A fact about the speaker that the schema has no room for."""
        bound = stranger(self.chooser.drawn, self.rng)
        return self._clause(bound, I, scene) if bound is not None else self._chat(scene)

    def _clause(self, bound: Bound, voice: Voice, scene: Scene, *, stated: bool = False) -> str:
        said, member = self.chooser.value(bound, scene)
        templates = [t for t in self.chooser.say(bound, member) if _bare(t, stated=stated)] or ["{P} {spoken} is {v}"]
        fill = {"v": said.words, "spoken": bound.spoken(self.rng)}
        if bound.spec.items is not None:
            fill["i"] = bound.spec.items(self.rng, scene).words
        return _text(self.rng.choice(templates), voice, fill)

    def _fill(self) -> dict[str, str]:
        fill = {name: self.rng.choice(words(entries)) for name, entries in _LISTS.items()}
        cities = {"city": pools.city_name(self.rng), "city2": pools.city_name(self.rng)}
        return {**fill, **cities, "name": self._outsider(), "company": pools.company_name(self.rng)}

    def _outsider(self) -> str:
        """A name that none of the subjects has."""
        known = {who.voice.name for who in self.chooser.cast} | {who.subject.capitalize() for who in self.chooser.cast}
        while True:
            name = pools.first_name(self.rng)
            if name not in known:
                return name


def _bare(template: str, *, stated: bool) -> bool:
    if stated and not template.startswith(("{S", "{P} {spoken} is")):
        return False
    return about_someone(template) and not slots(template) & {"since", "from", "until"}


def _text(template: str, voice: Voice, fill: dict[str, str]) -> str:
    return "".join(piece.text for piece in render(template, voice, fill))

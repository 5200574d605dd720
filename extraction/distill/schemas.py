"""Drawing the memory schema of a case: which attributes there are, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from .catalogue import Domain, Member, Spec
from .catalogue_closed import CLOSED
from .catalogue_made import made_up, made_up_pair
from .catalogue_many import MANY
from .catalogue_plain import PLAIN
from .pools import words

CATALOGUE: Final[tuple[Spec, ...]] = (*PLAIN, *CLOSED, *MANY)
_PERSONS: Final = tuple(spec for spec in CATALOGUE if spec.of == "person")
_PROJECTS: Final = tuple(spec for spec in CATALOGUE if spec.of == "project")
_TYPES: Final = words(
    """traveller|customer|person|user_profile|member|client|guest|patient|resident|contact|profile|friend|subscriber|patron
    human|owner|account_holder|colleague|household_member|learner"""
)
_PROJECT_TYPES: Final = words("project|initiative|workstream|product|venture")
_VERBAL: Final = re.compile(
    r"^(?:is|has|wants|needs|owns|plays|takes|works|reports|lives|call|drinks|supports|reading|ship|born|table|been)\b"
    r"|\b(?:in|to|by|for|on|at|until|since|good|old|renew|reports|studies|speaks|enrolled|avoid)$"
)
"""Names that are no nouns: nobody says "my works for"."""
_NAMES: Final = words("travel|assistant|memory|profiles|crm|home|concierge|notes|companion|helpdesk")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """An attribute as one case has it: under one name, with one description and one name for each member."""

    spec: Spec
    name: str
    about: str
    members: tuple[tuple[Any, Member], ...]

    def spoken(self, rng: Random) -> str:
        """How the attribute is called in a sentence."""
        own = self.name.replace("_", " ")
        return own if rng.random() < 0.25 and not _VERBAL.search(own) else rng.choice(self.spec.spoken)

    def to_dict(self) -> dict[str, Any]:
        """The attribute in the JSON form of a schema."""
        data: dict[str, Any] = {"type": self.spec.kind, "description": self.about}
        if self.spec.kind == "enum":
            data["values"] = [name for name, _ in self.members]
        return {**data, "many": self.spec.many} if self.spec.many else data


def bind(spec: Spec, rng: Random) -> Bound:
    """An attribute with a name, a description and members drawn from those that it may have."""
    members = [(_member_name(spec, member, rng), member) for member in spec.members]
    if spec.kind == "enum":
        rng.shuffle(members)
    return Bound(spec=spec, name=rng.choice(spec.names), about=rng.choice(spec.about), members=tuple(members))


def _member_name(spec: Spec, member: Member, rng: Random) -> Any:
    return member.names[0] == "true" if spec.kind == "boolean" else rng.choice(member.names)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """The schema of a case, and the attributes for each of its memory types."""

    name: str
    person: str
    project: str
    bound: tuple[Bound, ...]

    def of(self, domain: Domain) -> list[Bound]:
        """The attributes of a kind of subject."""
        return [bound for bound in self.bound if bound.spec.of == domain]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        domains: tuple[tuple[Domain, str, str], ...] = (
            ("person", self.person, "What we know about a person"),
            ("project", self.project, "Something that is worked on"),
        )
        types = {
            name: {"description": about, "attributes": {b.name: b.to_dict() for b in self.of(domain)}}
            for domain, name, about in domains
            if self.of(domain)
        }
        return {"name": self.name, "version": 1, "types": types}


def draw_schema(rng: Random) -> Drawn:
    """A schema of 4 to 10 attributes, some of them much alike; about one in five has projects as well."""
    wanted = rng.randint(4, 10)
    projects = rng.sample(_PROJECTS, rng.randint(1, 3)) if rng.random() < 0.2 else []
    persons = _persons(rng, max(3, wanted - len(projects)))
    bound = [bind(spec, rng) for spec in (*persons, *projects)]
    return Drawn(
        name=rng.choice(_NAMES), person=rng.choice(_TYPES), project=rng.choice(_PROJECT_TYPES), bound=_distinct(bound)
    )


def _distinct(bound: Iterable[Bound]) -> tuple[Bound, ...]:
    return tuple({one.name: one for one in bound}.values())


def _persons(rng: Random, wanted: int) -> list[Spec]:
    chosen: list[Spec] = []
    while len(chosen) < wanted:
        for spec in _some(rng):
            if len(chosen) < wanted and not clashes(spec, chosen):
                chosen.append(spec)
    rng.shuffle(chosen)
    return chosen


def _some(rng: Random) -> Iterator[Spec]:
    """One attribute, or a few that are much alike."""
    kind = rng.random()
    if kind < 0.12:
        yield made_up(rng)
    elif kind < 0.2:
        yield from made_up_pair(rng)
    elif kind < 0.4:
        first = rng.choice([spec for spec in _PERSONS if spec.near])
        family = [spec for spec in _PERSONS if spec.near == first.near]
        yield from rng.sample(family, min(len(family), rng.randint(2, 3)))
    else:
        yield rng.choice(_PERSONS)


def clashes(spec: Spec, others: Iterable[Spec]) -> bool:
    """Whether a sentence about one attribute could be about one of the others as well."""
    mine = set(words(spec.clash))
    return any(mine & set(words(other.clash)) or set(spec.names) & set(other.names) for other in others)


def stranger(drawn: Drawn, rng: Random) -> Bound | None:
    """An attribute that the schema does not have, and nothing like it."""
    present = [bound.spec for bound in drawn.bound]
    near = {spec.near for spec in present if spec.near}
    for spec in rng.sample(_PERSONS, 12):
        if spec.near not in near and not clashes(spec, present):
            return bind(spec, rng)
    return None

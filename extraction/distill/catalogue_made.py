"""Attributes that are made up: a qualifier and a thing, so that what an attribute is called must be read."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from ...memory_store.schema import Many
from ...memory_store.values import TypeName
from . import pools
from .catalogue import Member, Spec
from .pools import Pool, listed, syllables, words
from .spoken_values import clock, day_ahead, day_past, fraction, instant, money, whole


class _Head(NamedTuple):
    name: str
    kind: TypeName = "text"
    pool: Pool | None = None
    many: Many | None = None
    items: Pool | None = None
    members: tuple[Member, ...] = ()


_SWITCH: Final = (
    Member(names=("true",), words=("yes", "true", "on")),
    Member(names=("false",), words=("no", "false", "off")),
)
_HEADS: Final = (
    _Head("address", pool=pools.address),
    _Head("contact", pool=pools.whole_name),
    _Head("phone", pool=pools.telephone),
    _Head("email", pool=pools.mail),
    _Head("city", pool=pools.city),
    _Head("supplier", pool=pools.company),
    _Head("brand", pool=pools.brand),
    _Head("code", pool=pools.codes),
    _Head("colour", pool=listed(pools.COLOURS)),
    _Head("title", pool=pools.work_title),
    _Head("deadline", "date", day_ahead),
    _Head("date", "date", day_ahead),
    _Head("purchase date", "date", day_past),
    _Head("alarm", "time", clock(5, 22)),
    _Head("closing time", "time", clock(14, 23)),
    _Head("slot", "datetime", instant),
    _Head("fee", "decimal", money(5, 900)),
    _Head("deposit", "decimal", money(20, 3000)),
    _Head("limit", "integer", whole(5, 500)),
    _Head("count", "integer", whole(2, 90)),
    _Head("score", "number", fraction(1, 10)),
    _Head("distance", "number", fraction(2, 60)),
    _Head("reminders", "boolean", members=_SWITCH),
    _Head("backups", "boolean", members=_SWITCH),
    _Head("contacts", pool=pools.person, many="set"),
    _Head("tags", pool=pools.things, many="set"),
    _Head("stops", pool=pools.city, many="set"),
    _Head("fees", "decimal", money(5, 300), "map", listed(pools.ROOMS)),
    _Head("quotas", "integer", whole(2, 80), "map", pools.person),
    _Head("codes", "text", pools.codes, "map", listed(pools.ROOMS)),
)
_LEVELS: Final = words("low|medium|high|urgent|blocked|open|closed|green|amber|red|weekly|daily|monthly|never")
_LEVEL_HEADS: Final = words("priority|state|rhythm|alert level|frequency")
_QUALIFIERS: Final = words(
    """backup|summer|winter|office|weekend|holiday|second|main|temporary|family|garden|school|club|boat|wedding|studio
    kitchen|garage|visitor|night|spring|rental|choir|workshop|clinic|festival|allotment|parking|lab|cabin|hostel"""
)
_ABOUT: Final = (
    "{Spoken} of the person",
    "The {spoken}",
    "{Spoken} to keep in mind",
    "What the {spoken} is",
    "{Spoken}, as last told",
)


def made_up(rng: Random, head: _Head | None = None) -> Spec:
    """An attribute from a qualifier, which may be an invented word, and a thing."""
    if head is None and rng.random() < 0.2:
        head = _levels(rng)
    head = head or rng.choice(_HEADS)
    qualifier = syllables(rng).lower() if rng.random() < 0.25 else rng.choice(_QUALIFIERS)
    spoken = f"{qualifier} {head.name}"
    about = rng.choice(_ABOUT).format(spoken=spoken, Spoken=spoken.capitalize())
    return Spec(
        names=(spoken.replace(" ", "_"),),
        about=(about,),
        spoken=(spoken,),
        kind=head.kind,
        pool=head.pool,
        many=head.many,
        items=head.items,
        members=head.members,
        near=f"made {head.name}",
    )


def made_up_pair(rng: Random) -> tuple[Spec, Spec]:
    """Two attributes that differ in the qualifier alone."""
    head = rng.choice(_HEADS)
    return made_up(rng, head), made_up(rng, head)


def _levels(rng: Random) -> _Head:
    members = tuple(Member(names=(level,), words=(level,)) for level in rng.sample(_LEVELS, rng.randint(3, 5)))
    return _Head(rng.choice(_LEVEL_HEADS), "enum", members=members)

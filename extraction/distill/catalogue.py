"""The shape of what may be talked about: an attribute with its names, its values and the sentences about it.

Sentences are templates.  `{v}` is the value, `{i}` the item of a map, `{o}` the value on record, `{spoken}` the name
of the attribute; `{S} {P} {O} {Sm} {Sve} {Sll} {be} {have} {do} {dont} {s} {es} {was} {Smnot}` make the sentence one
about the speaker, the one spoken to or a third person; `{t}` is room for a phrase of time, `{since} {from} {until}`
demand one.  `[...]` marks the clause that is evidence where that is not the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from ...memory_store.schema import Many
from ...memory_store.values import TypeName
from .pools import Pool, words

Domain = Literal["person", "project"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A member of an enum or boolean: what it may be called, the words for it, and whole sentences that mean it."""

    names: tuple[str, ...]
    words: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """An attribute that cases may draw; `near` names a family of similar ones, `clash` those never drawn together."""

    names: tuple[str, ...]
    about: tuple[str, ...]
    spoken: tuple[str, ...]
    kind: TypeName = "text"
    pool: Pool | None = None
    many: Many | None = None
    items: Pool | None = None
    members: tuple[Member, ...] = ()
    say: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    near: str = ""
    clash: str = ""
    of: Domain = "person"
    generic: bool = field(default=True)


def member(names: str, *says: str, said: str = "") -> Member:
    """A member from texts: its names and its words are separated by `|`, its sentences are arguments."""
    return Member(names=tuple(words(names)), words=tuple(words(said)) or tuple(words(names))[:1], says=says)


def spec(
    names: str, about: str, spoken: str, kind: TypeName = "text", pool: Pool | None = None, **more: object
) -> Spec:
    """An attribute from texts; sentences are separated by `|` or by line ends."""
    lists = {key: tuple(words(str(more.pop(key)))) for key in ("say", "update", "drop") if key in more}
    heads = {"names": tuple(words(names)), "about": tuple(words(about)), "spoken": tuple(words(spoken))}
    return Spec(**heads, **lists, kind=kind, pool=pool, **more)  # type: ignore[arg-type]


_YES: Final = "yes|true|on"
_NO: Final = "no|false|off"


def flag(names: str, about: str, spoken: str, yes: str, no: str, **more: object) -> Spec:
    """A boolean attribute from the sentences that affirm it and those that deny it."""
    members = (
        Member(names=("true",), words=tuple(words(_YES)), says=tuple(words(yes))),
        Member(names=("false",), words=tuple(words(_NO)), says=tuple(words(no))),
    )
    return spec(names, about, spoken, "boolean", None, members=members, **more)

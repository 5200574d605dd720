"""Templates -> text: a turn is a list of pieces, so that every quote of it keeps its place whatever is done to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

Person = Literal["first", "second", "third"]
Style = Literal["plain", "lower", "sloppy", "loud"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Some text of a turn; `role` says what it is, `fact` to which fact it belongs, `inside` whether it is evidence."""

    text: str
    role: str = ""
    fact: int = -1
    inside: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Voice:
    """Whom the sentences are about: the one who speaks, the one spoken to, or a named third."""

    person: Person = "first"
    name: str = ""


I: Final = Voice()  # noqa: E741 - the first person is called that
YOU: Final = Voice(person="second")

_FORMS: Final[Mapping[str, tuple[str, str, str]]] = {
    "S": ("I", "you", "{}"),
    "P": ("my", "your", "{}'s"),
    "O": ("me", "you", "{}"),
    "Sm": ("I'm", "you're", "{} is"),
    "Sve": ("I've", "you've", "{} has"),
    "Sll": ("I'll", "you'll", "{} will"),
    "Sd": ("I'd", "you'd", "{} would"),
    "Smnot": ("I'm not", "you're not", "{} isn't"),
    "be": ("am", "are", "is"),
    "have": ("have", "have", "has"),
    "do": ("do", "do", "does"),
    "dont": ("don't", "don't", "doesn't"),
    "was": ("was", "were", "was"),
    "s": ("", "", "s"),
    "es": ("", "", "es"),
    "ies": ("y", "y", "ies"),
}
_LATER: Final = {"P": "their", "O": "them"}
_SUBJECTS: Final = frozenset({"S", "P", "O", "Sm", "Sve", "Sll", "Sd", "Smnot"})
_TIMES: Final = {"since": "when", "from": "when", "until": "until"}
_SLOT: Final = re.compile(r"\{(\w+)\}|([\[\]])")


def slots(template: str) -> set[str]:
    """The names between braces."""
    return {match[1] for match in _SLOT.finditer(template) if match[1]}


def about_someone(template: str) -> bool:
    """Whether a template says whom it is about, so that it can be about another than the speaker."""
    return bool(slots(template) & _SUBJECTS)


def render(template: str, voice: Voice, fill: Mapping[str, str], fact: int = -1) -> list[Piece]:
    """The pieces of a template.  `fill` has the words for its slots, for `t` and the times with their role before."""
    pieces: list[Piece] = []
    inside, at, named = "[" not in template, 0, False
    for match in _SLOT.finditer(template):
        pieces.append(Piece(text=template[at : match.start()], fact=fact, inside=inside))
        at = match.end()
        if match[2]:
            inside = match[2] == "["
            continue
        pieces.append(replace(_slot(match[1], voice, fill, named), fact=fact, inside=inside))
        named = named or match[1] in _SUBJECTS
    pieces.append(Piece(text=template[at:], fact=fact, inside=inside))
    return _spaced([piece for piece in pieces if piece.text])


def _slot(name: str, voice: Voice, fill: Mapping[str, str], named: bool) -> Piece:
    if name in _FORMS:
        third = voice.person == "third"
        if third and named and name in _LATER:
            return Piece(text=_LATER[name])
        form = _FORMS[name][("first", "second", "third").index(voice.person)]
        return Piece(text=form.format(voice.name), role="name" if third and "{}" in form else "")
    if name == "t":
        role, _, words = fill.get("t", "").partition(":")
        return Piece(text=words, role=f"{role} after" if words else "")
    return Piece(text=fill[name], role=_TIMES.get(name, name))


def _spaced(pieces: Sequence[Piece]) -> list[Piece]:
    """Put the blank before a time that is optional into a piece of its own."""
    spaced: list[Piece] = []
    for piece in pieces:
        if piece.role.endswith(" after"):
            spaced.append(replace(piece, text=" ", role=""))
        spaced.append(replace(piece, role=piece.role.removesuffix(" after")))
    return spaced


def plain(text: str) -> list[Piece]:
    """Text that belongs to no fact."""
    return [Piece(text=text)] if text else []


# Style ------------------------------------------------------------------------------------------------------------


def styled(pieces: Sequence[Piece], style: Style, rng: Random) -> list[Piece]:
    """The turn as someone of that style types it."""
    pieces = _capitals(pieces)
    if style == "lower":
        return [replace(piece, text=piece.text.lower()) for piece in pieces]
    if style == "loud":
        return [replace(piece, text=piece.text.upper()) if not piece.role else piece for piece in pieces]
    if style == "sloppy":
        lower = rng.random() < 0.5
        made = [piece if piece.role else replace(piece, text=_sloppy(piece.text, rng)) for piece in pieces]
        return [replace(piece, text=piece.text.lower()) for piece in made] if lower else made
    return pieces


def _capitals(pieces: Sequence[Piece]) -> list[Piece]:
    capital, made = True, list[Piece]()
    for piece in pieces:
        text = re.sub(r"([.?!] +)([a-z])", lambda m: m[1] + m[2].upper(), piece.text) if not piece.role else piece.text
        if capital and text[:1].isalpha() and "@" not in text:
            text = text[0].upper() + text[1:]
        if text.strip():
            capital = bool(re.search(r"[.?!] *$", text)) and not piece.role
        made.append(replace(piece, text=text))
    return made


_SHORT: Final = (
    *((r"\bplease\b", "pls"), (r"\byou\b", "u"), (r"\bI'm\b", "im"), (r"\bdon't\b", "dont"), (r"\bcan't\b", "cant")),
    *((r"\bI've\b", "ive"), (r"\band\b", "n"), (r"\bgoing to\b", "gonna"), (r"\bthanks\b", "thx"), (r"\bvery\b", "v")),
    *(
        (r"\bisn't\b", "isnt"),
        (r"\bdoesn't\b", "doesnt"),
        (r"\bit's\b", "its"),
        (r"\bthat's\b", "thats"),
        (r"(?<=\w)'", ""),
    ),
)


def _sloppy(text: str, rng: Random) -> str:
    for pattern, new in _SHORT:
        if rng.random() < 0.25:
            text = re.sub(pattern, new, text)
    return re.sub(r"\b[a-z]{4,}\b", lambda match: _typo(match[0], rng) if rng.random() < 0.06 else match[0], text)


def _typo(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return rng.choice((swapped, word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]))


# Places -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """The text of a turn and where its pieces stand in it."""

    text: str
    pieces: tuple[tuple[int, Piece], ...]

    def quote(self, fact: int, role: str) -> str | None:
        """The words of a fact that have a role."""
        return next((piece.text for _, piece in self.pieces if piece.fact == fact and piece.role == role), None)

    def span(self, fact: int, role: str) -> tuple[int, int]:
        """Where the words of a fact that have a role stand."""
        return next((at, at + len(p.text)) for at, p in self.pieces if p.fact == fact and p.role == role)

    def evidence(self, fact: int) -> tuple[int, int]:
        """Where the clause of a fact stands, without the punctuation around it."""
        own = [(at, at + len(p.text)) for at, p in self.pieces if p.fact == fact and p.inside]
        start, end = min(own)[0], max(own)[1]
        end = start + len(self.text[start:end].rstrip(" .,;!"))
        return end - len(self.text[start:end].lstrip(" .,;!")), end


def assemble(pieces: Sequence[Piece]) -> Turn:
    """The turn of pieces."""
    at, placed = 0, list[tuple[int, Piece]]()
    for piece in pieces:
        placed.append((at, piece))
        at += len(piece.text)
    return Turn(text="".join(piece.text for piece in pieces), pieces=tuple(placed))

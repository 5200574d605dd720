"""Where the words of a model stand in an episode: exact spans, in code points.

For every span that `find` returns, `text[span.start:span.end] == span.quote`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

_MARKS: Final = 30
"""Marks on one character that are folded together, as in the Stream-Safe Text Format (UAX #15)."""
_QUOTES: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
)
_GOOD: Final = (
    "right|correct|fine|good|great|perfect|true|nice|cool|ok|okay|confirmed|wonderful|awesome|amazing|fantastic"
)
_ENDS: Final = r"(?=\W*$|\W*[,.!;:]|\W+(?:and|but|so|also|thanks|thank|please|with|for me|by me)\b)"
_AFFIRMS: Final = re.compile(
    r"\b(?:(?:yes|yeah|yep|yup|sure|ok|okay|exactly|indeed|agreed|absolutely|definitely|certainly|of course)\b"
    rf"|correct{_ENDS}|(?:that|this|it)(?:'s| is| was| would be| will be)? (?:all |just |absolutely )?"
    rf"(?:(?:{_GOOD}){_ENDS}|it\b|works\b|what i (?:want|need)\b)"
    rf"|(?:that|this|it) (?:will|would|should) (?:work|do|suit)\b|suits me\b|(?:sounds|looks|seems) (?:{_GOOD})\b"
    r"|works for me\b|go ahead\b|please do\b|do (?:it|that)\b|i confirm\b|you got it\b|you(?:'re| are) right\b"
    r"|i (?:like|love) (?:that|it)\b"
    r"|(?:that|this|the (?:first|second|third|last|latter|former|other)) one\b|i(?:'ll| will) take\b)"
    rf"|^\W*(?:oh\W+)?(?:{_GOOD}|all ?right|alright|excellent|terrific){_ENDS}",
    re.IGNORECASE,
)
_THEN_ASKS: Final = re.compile(
    rf"^\W*(?:yes|yeah|yep|yup|sure|all ?right|alright|excellent|{_GOOD})\W+"
    r"(?:(?:and|but|so|also|please|thanks|thank you)\W+)*"
    r"(?:what|how|when|which|where|who|is|does|do|did|can|could|will|would|may|has|have)\b.*\?",
    re.IGNORECASE | re.DOTALL,
)
"""Consent that is followed by a question about something else ("Yes, what is their address?")."""
_DENIES: Final = re.compile(
    r"\b(?:no|nah|not|nope|never|neither|nothing|wrong|instead|cannot|doubt|hardly|cancel|forget|stop|as if|unless"
    r"|\w+n't|(?:do|does|did|is|was|are|were|ca|wo|would|could|should)nt)\b",
    re.IGNORECASE,
)
_ASKS_FOR_OTHERS: Final = re.compile(
    r"\b(?:change|make|switch|another|different|other|else|rather|later|earlier|kidding|serious|sure about)\b",
    re.IGNORECASE,
)
"""A question with one of these may well be about what was proposed."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One occurrence of a quote.

    `quote` is what stands in the text, which for a `folded` match differs from what was looked for.  `occurrences`
    counts all of them, without overlaps.
    """

    start: int
    end: int
    quote: str
    match: Literal["exact", "folded"] = "exact"
    occurrences: int = 1


def find(quote: str, text: str, near: Span | None = None, *, within: tuple[int, int] | None = None) -> Span | None:
    """The occurrence of `quote` in `text` that is nearest to `near` (the first without it), or None.

    With `within` only that stretch of the text is looked at.

    An occurrence that begins and ends with whole words goes before one that cuts a word ("no" in "now").
    Only where the quote does not stand in the text exactly is it looked for again without regard to case, white space,
    typographic quotation marks and normal form.  Takes time linear in the length of the text.
    """
    if not quote.strip():
        return None
    if within is not None:
        return _find_within(quote, text, near, *within)
    match: Literal["exact", "folded"] = "exact"
    found = list(_exact(quote, text))
    if not found:
        match, found = "folded", list(_folded(quote, text))
    if not found:
        return None
    whole = [span for span in found if not _cuts(text, *span)] or found
    start, end = whole[0] if near is None else min(whole, key=lambda span: _gap(span, near))
    return Span(start=start, end=end, quote=text[start:end], match=match, occurrences=len(found))


def _find_within(quote: str, text: str, near: Span | None, start: int, end: int) -> Span | None:
    moved = near and replace(near, start=near.start - start, end=near.end - start)
    found = find(quote, text[start:end], moved)
    return found and replace(found, start=found.start + start, end=found.end + start)


def cuts_word(text: str, span: Span) -> bool:
    """Whether the span begins or ends inside a word, a number or a character with its marks.

    Words are known only in scripts with upper and lower case; in others no span cuts one.
    """
    return _cuts(text, span.start, span.end)


def closes_early(text: str, span: Span) -> bool:
    r"""Whether the span stops where a JSON string would end too soon: inside a word, or before an opening `"`.

    A model that forgets to escape a quotation mark closes its quote there.
    """
    if span.end < len(text) and _joined(text[span.end - 1], text[span.end]):
        return True
    opens = text[span.end :].lstrip(" ").startswith('"') and text.count('"', 0, span.end) % 2 == 0
    return opens and text[span.end - 1] not in ".!?:"


def _cuts(text: str, start: int, end: int) -> bool:
    return any(0 < at < len(text) and _joined(text[at - 1], text[at]) for at in (start, end))


def _joined(a: str, b: str) -> bool:
    if unicodedata.combining(b):
        return True
    return (a.isdigit() and b.isdigit()) or (a.lower() != a.upper() and b.lower() != b.upper())


def _gap(span: tuple[int, int], near: Span) -> int:
    return max(span[0] - near.end, near.start - span[1], 0)


def _exact(quote: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))


def _folded(quote: str, text: str) -> Iterator[tuple[int, int]]:
    """Spans of whole characters, marks included, that fold to what the quote folds to."""
    wanted, plain = _Folded(quote).text.strip(), _Folded(text)
    for start, end in _exact(wanted, plain.text) if wanted else ():
        span = plain.starts[start], plain.ends[end - 1]
        if _Folded(text[span[0] : span[1]]).text == wanted:
            yield span


class _Folded:
    """A folded text, and for each of its characters the span of the original that it comes from.

    NFD stands for NFC: two texts share the one exactly when they share the other, and it can be taken piece by piece.
    """

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in _clusters(text):
            for char in _fold(text[start:end]):
                if char == " " and pieces and pieces[-1] == " ":
                    self.ends[-1] = end
                    continue
                pieces.append(char)
                self.starts.append(start)
                self.ends.append(end)
        self.text = "".join(pieces)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that combine with it."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]) or at - start > _MARKS:
            yield start, at
            start = at


def _fold(cluster: str) -> str:
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFD", cluster).casefold())
    return "".join(" " if char.isspace() else char for char in folded.translate(_QUOTES))


def affirms(text: str) -> bool:
    """Whether some sentence of `text` agrees with what was said before ("Yes, that one.").

    The rule is a list of English phrases: a sentence affirms when it holds one of them and no negation, and is either
    no question or one that opens with consent ("Yes, what is their address?").  What it misses ends in quarantine; in
    doubt it takes a sentence for no consent.
    """
    return any(_affirmative(sentence.group()) for sentence in _SENTENCE.finditer(text))


def affirms_at(text: str, span: Span) -> bool:
    """Whether every sentence of `text` that `span` touches affirms."""
    touched = [s.group() for s in _SENTENCE.finditer(text) if s.start() < span.end and s.end() > span.start]
    return bool(touched) and all(map(_affirmative, touched))


def _affirmative(sentence: str) -> bool:
    plain = sentence.replace("\u2019", "'")
    if _DENIES.search(plain):
        return False
    if "?" in plain:
        return bool(_THEN_ASKS.match(plain)) and not _ASKS_FOR_OTHERS.search(plain)
    return bool(_AFFIRMS.search(plain))


def affirmations(text: str) -> Iterator[str]:
    """The sentences of `text` that affirm, in order."""
    return (match.group().strip() for match in _SENTENCE.finditer(text) if _affirmative(match.group()))

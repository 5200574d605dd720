"""Replay cases made by rules, to train a small model on: short dialogues with gold updates.

    for case in generate(1000, seed=7): ...

The same count and seed give the same cases, and the first cases of a longer run are those of a shorter one.  A case is
a dict in the form of replay cases, JSON-able, with `source` "generated" and the speaker as its first subject.  Beyond
that form its updates have `when` and `until`, the words that say since and until when, or None.  Those of attributes
that hold many have `raw_item`, the item as a model has to give it; `raw_value` is the value's own words, or where it
has none (an opinion) the item's.

Each update is true of the text by construction: a turn is put together from pieces, of which the value, the phrases of
time and the clause around them are known.  Every phrase of time and every quoted day, time or number has been read by
the code that extraction uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from . import phrases, pools
from .facts import Chooser, Who
from .schemas import Drawn, draw_schema
from .sentences import I, Style, Voice
from .small_talk import SmallTalk
from .spoken_values import utc_text
from .state import State
from .turns import Dialogue

Case = dict[str, Any]
_ZONES: Final = (
    *("UTC", "UTC", "Europe/Oslo", "America/New_York", "Asia/Tokyo", "America/Los_Angeles", "Europe/London"),
    *("Africa/Nairobi", "Asia/Kolkata", "Australia/Sydney", "America/Sao_Paulo", "Europe/Berlin", "Pacific/Auckland"),
)
_STYLES: Final[tuple[Style, ...]] = ("plain",) * 11 + ("lower",) * 4 + ("sloppy",) * 4 + ("loud",)
_SHARE_QUIET: Final = 0.41


def generate(count: int, seed: int) -> Iterator[Case]:
    """So many cases, one after the other."""
    for number in range(count):
        yield _case(Random(f"{seed}:{number}"), f"generated-{seed}-{number}")


def _case(rng: Random, name: str) -> Case:
    drawn = draw_schema(rng)
    cast = _cast(drawn, rng)
    dialogue = _dialogue(drawn, cast, rng)
    wanted = rng.choice((4, 5, 6, 6, 7, 7, 8, 8))
    while len(dialogue.episodes) < wanted:
        _step(dialogue, rng)
    return {
        "case_id": name,
        "source": "generated",
        "split": "train",
        "license": "Apache-2.0",
        "tenant": name,
        "schema": drawn.to_dict(),
        "subjects": {who.subject: drawn.person if who.domain == "person" else drawn.project for who in cast},
        "episodes": dialogue.episodes,
        "updates": dialogue.updates,
        "end_state": _end_state(dialogue),
        "checkpoints": [],
    }


def _cast(drawn: Drawn, rng: Random) -> tuple[Who, ...]:
    """The speaker, and in some cases others that are known."""
    names = list(dict.fromkeys(pools.first_name(rng) for _ in range(6)))
    speaker = "user" if rng.random() < 0.3 else names.pop().lower()
    others = [names.pop() for _ in range(rng.choice((0, 0, 0, 1, 1, 2)))]
    cast = [Who(subject=speaker, voice=I), *(_other(name, rng) for name in others)]
    if drawn.of("project"):
        name = pools.syllables(rng)
        shown = rng.choice((name, name, f"the {name} project", f"project {name}"))
        cast.append(Who(subject=name.lower(), voice=Voice(person="third", name=shown), domain="project"))
    return tuple(cast)


def _other(name: str, rng: Random) -> Who:
    return Who(subject=name.lower(), voice=Voice(person="third", name=rng.choice(phrases.KIN).format(name)))


def _dialogue(drawn: Drawn, cast: tuple[Who, ...], rng: Random) -> Dialogue:
    chooser = Chooser(rng=rng, drawn=drawn, cast=cast, state=State())
    start = datetime(2019, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(10 * 365 * 24 * 60))
    return Dialogue(
        rng=rng,
        chooser=chooser,
        talk=SmallTalk(rng=rng, chooser=chooser),
        zone=rng.choice(_ZONES),
        at=start,
        style=rng.choice(_STYLES),
        fast=rng.random() < 0.5,
    )


def _step(dialogue: Dialogue, rng: Random) -> None:
    """One exchange: with an update or, as often as the share says, without."""
    moves = _quiet_moves(dialogue) if rng.random() < _SHARE_QUIET else _telling_moves(dialogue, rng)
    weights = [weight for weight, _ in moves]
    while not rng.choices([move for _, move in moves], weights)[0]():
        pass
    if rng.random() < 0.18:
        dialogue.acknowledge()


_Moves = tuple[tuple[int, Callable[[], bool]], ...]


def _quiet_moves(dialogue: Dialogue) -> _Moves:
    return ((88, dialogue.chat), (5, dialogue.evade), (7, dialogue.deny))


def _telling_moves(dialogue: Dialogue, rng: Random) -> _Moves:
    begun = any(True for _ in dialogue.chooser.state.held(dialogue.at))
    return (
        (16 if begun else 30, lambda: dialogue.tell("new", rng.choice((1, 1, 1, 2, 2, 3)))),
        (38, lambda: dialogue.tell("update")),
        (20, lambda: dialogue.tell("revoke")),
        (12, lambda: dialogue.tell("repeat")),
        (16, dialogue.correct_last),
        (4, dialogue.correct_self),
        (7, dialogue.answer),
        (9, dialogue.affirm),
    )


def _end_state(dialogue: Dialogue) -> list[dict[str, Any]]:
    state, at = dialogue.chooser.state, dialogue.at
    many = {bound.name for bound in dialogue.chooser.drawn.bound if bound.spec.many}
    rows = []
    for (subject, attribute, item), stay in state.held(at):
        row = {"subject": subject, "attribute": attribute, **({"item": item} if attribute in many else {})}
        rows.append({**row, "value": stay.value, "valid_from": utc_text(state.since((subject, attribute, item), at))})
    return rows

"""Which pairs are trained on, and in what order: batches whose pairs share the constant part of their prompt."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ...prompts import Part, Prompt
from .pairs import Case, Form, Pair, pairs

SPEAKERS: Final = ("user", "user", "mira", "tom", "aiko", "user_7", "dana", "customer")
"""Names given to the one who speaks in cases that do not name people."""
OWN: Final = 0.8
"""Share of groups in which all facts are the speaker's; in the others they are those of the subjects of the case."""
NOTHING: Final = 0.45
NO_CHANGE: Final = 0.2
"""Pairs with nothing to store, and with repetitions alone, for each pair that tells something else."""
_RARITY: Final = ("revoke", "update", "new", "no_change", "nothing")
_MAX_ATTRIBUTES: Final = 30

Batch = list[Pair]


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a JSON Lines file, which may be packed with xz."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def plan(cases: Iterable[Case], count: int, rng: random.Random, *, size: int = 8, group: int = 24) -> list[Batch]:
    """Batches of at most `size` pairs, about `count` pairs in all, from cases of as many kinds of schema as there are.

    About `group` pairs at a time come from cases with one schema and are put in one form.
    """
    chosen: list[Batch] = []
    for found in _groups(cases, rng, group):
        chosen += _batches(balanced(found, rng), size)
        if sum(map(len, chosen)) >= count:
            break
    return chosen


def _groups(cases: Iterable[Case], rng: random.Random, group: int) -> Iterator[list[Pair]]:
    queues = {name: iter(rng.sample(same, len(same))) for name, same in _by_schema(cases).items()}
    while queues:
        for name in rng.sample(sorted(queues), len(queues)):
            if found := _gather(queues[name], rng, group):
                yield found
            else:
                del queues[name]


def _by_schema(cases: Iterable[Case]) -> dict[str, list[Case]]:
    kinds: dict[str, list[Case]] = {}
    for case in cases:
        if sum(len(kind["attributes"]) for kind in case["schema"]["types"].values()) <= _MAX_ATTRIBUTES:
            kinds.setdefault(json.dumps(case["schema"], sort_keys=True), []).append(case)
    return kinds


def _gather(cases: Iterator[Case], rng: random.Random, group: int) -> list[Pair]:
    """Pairs that tell all that the gold has, of cases with one schema, until there are about `group`."""
    speaker, own, seed = rng.choice(SPEAKERS), rng.random() < OWN, rng.randrange(10**9)
    renamed = Form(speaker=speaker, own=own, seed=seed)
    found: list[Pair] = []
    for case in cases:
        form = Form(seed=seed) if speaks_for_itself(case) else renamed
        found += [pair for pair in pairs(case, form) if not pair.missed]
        if len(found) >= group:
            break
    return found


def speaks_for_itself(case: Case) -> bool:
    """Whether one of the subjects speaks; in others, such as orders in a dialogue, the speaker's name is free."""
    return any(line.get("speaker") in case["subjects"] for line in case["episodes"])


def balanced(found: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """Pairs in random order, fewer of those that say nothing or nothing new; of a group without news, a few."""
    kinds: dict[str, list[Pair]] = {}
    for pair in found:
        kinds.setdefault(kind_of(pair), []).append(pair)
    told = [pair for kind in ("revoke", "update", "new") for pair in kinds.get(kind, [])]
    for kind, share in (("nothing", NOTHING), ("no_change", NO_CHANGE)):
        same = kinds.get(kind, [])
        told += rng.sample(same, min(len(same), max(round(share * len(told)), 2)))
    return rng.sample(told, len(told))


def kind_of(pair: Pair) -> str:
    """The rarest change in a pair's answer, or `nothing`."""
    return min(pair.changes or ("nothing",), key=_RARITY.index)


def _batches(group: Sequence[Pair], size: int) -> list[Batch]:
    ordered = sorted(group, key=lambda pair: len(pair.prompt.question.content) + len(pair.answer))
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]


def write(batches: Sequence[Batch], path: Path) -> None:
    """Write batches as JSON Lines: the constant parts of the prompt, and for each pair its question and answer."""
    with path.open("w", encoding="utf-8") as file:
        for batch in batches:
            rows = [[pair.prompt.question.content, pair.answer] for pair in batch]
            file.write(json.dumps({"constant": batch[0].prompt.constant, "pairs": rows}, ensure_ascii=False) + "\n")


def read(path: Path) -> list[Batch]:
    """Read what `write` wrote; the pairs have no account of where they come from."""
    with path.open(encoding="utf-8") as lines:
        return [_batch(json.loads(line)) for line in lines]


def _batch(line: dict[str, Any]) -> Batch:
    constant = tuple(Part(*part) for part in line["constant"])
    return [
        Pair(
            case_id="", episode_id="", prompt=Prompt(constant=constant, question=Part("user", question)), answer=answer
        )
        for question, answer in line["pairs"]
    ]


def mixed(plans: Sequence[Sequence[Batch]], rng: random.Random) -> list[Batch]:
    """The batches of several plans in random order."""
    together = list(chain.from_iterable(plans))
    rng.shuffle(together)
    return together

"""How well a model extracts: each turn of a case alone, with what is on record replaced by gold.

    python -m sgam.evals.extraction sgd_dev.jsonl.xz --only Banks_2 --turns 200 --model local --out folder

A gold update is found when a candidate names its key and its value: the canonical one, or one of those that `accept`
lists; a revocation when a candidate revokes the key.  Updates that the gold marks `fuzzy` (a paraphrase) are counted
apart, those marked `optional` not at all.  Precision, recall and F1 are micro-averaged; the intervals (95 %) are
bootstrapped over cases.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from ..agent.models import backend_of
from ..extraction.distill.pairs import Case, Update
from ..extraction.distill.plan import read_cases, speaks_for_itself
from ..extraction.extractor import ExtractionTask, Extractor
from ..memory_store.errors import InvalidInput
from ..memory_store.model import Candidate, Episode, Fact, Outcome, subject_id
from ..memory_store.schema import MemorySchema
from ..memory_store.values import fold

Key = tuple[str, str, str]
"""Subject, `type.attribute` and the folded item of a map.

The subject is empty in a case whose subjects do not speak: there all facts count as the speaker's.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """An update, gold or predicted, reduced to what is compared."""

    key: Key
    change: str
    values: frozenset[str] = frozenset()
    kind: str = ""
    fuzzy: bool = False
    optional: bool = False

    def tells(self, other: Said) -> bool:
        """Whether two updates tell the same key and value; the entry of a set is its value, revoked or not."""
        if self.key != other.key or (self.change == "revoke") != (other.change == "revoke"):
            return False
        return bool(self.values & other.values) or not (self.values or other.values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One user turn with its gold and predicted updates."""

    case_id: str
    episode_id: str
    text: str
    gold: tuple[Said, ...]
    predicted: tuple[Said, ...]
    outcome: Outcome
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """A turn, what is on record before it, and its gold."""

    case: Case
    schema: MemorySchema
    task: ExtractionTask
    gold: tuple[Said, ...]


def turns_of(
    cases: Iterable[Case], extractor_for: Callable[[MemorySchema], Extractor], *, batch: int = 16
) -> Iterator[Turn]:
    """Extract each user turn of each case, `batch` turns of a case at a time."""
    for case in cases:
        schema = MemorySchema.from_json(case["schema"])
        extractor = extractor_for(schema)
        questions = list(_questions(case, schema))
        for at in range(0, len(questions), batch):
            yield from _answered(questions[at : at + batch], extractor)


def _answered(questions: Sequence[_Question], extractor: Extractor) -> Iterator[Turn]:
    start = time.perf_counter()
    outcomes = extractor.extract_many(q.task for q in questions)
    seconds = (time.perf_counter() - start) / len(questions)
    for question, outcome in zip(questions, outcomes, strict=True):
        yield Turn(
            case_id=question.case["case_id"],
            episode_id=question.task.episode.episode_id,
            text=question.task.episode.text,
            gold=question.gold,
            predicted=tuple(_predicted(candidate, question.case, question.schema) for candidate in outcome.candidates),
            outcome=outcome,
            seconds=seconds,
        )


def _questions(case: Case, schema: MemorySchema) -> Iterator[_Question]:
    turns: list[Episode] = []
    state: dict[Key, Update] = {}
    gold: dict[str, list[Update]] = {}
    subjects = tuple(map(subject_id, case["subjects"])) if speaks_for_itself(case) else ()
    for update in case["updates"]:
        gold.setdefault(update["episode_id"], []).append(update)
    for line in case["episodes"]:
        episode = Episode.from_json(line)
        told = gold.get(episode.episode_id, [])
        if episode.source == "user":
            stored = tuple(_fact(update, case, schema, episode) for update in state.values())
            context = tuple(turn for turn in turns if turn.session_id == episode.session_id)[-2:]
            task = ExtractionTask(episode=episode, context=context, stored=stored, subjects=subjects)
            yield _Question(case=case, schema=schema, task=task, gold=tuple(_gold(u, case, schema) for u in told))
        for update in told:
            _apply(state, update, case)
        turns.append(episode)


def _key(update: Update, case: Case) -> Key:
    subject = subject_id(update["subject"]) if speaks_for_itself(case) else ""
    attribute = f"{case['subjects'][update['subject']]}.{update['attribute']}"
    return subject, attribute, fold(str(update.get("item") or ""))


def _apply(state: dict[Key, Update], update: Update, case: Case) -> None:
    key = _key(update, case)
    if update["change"] == "revoke":
        state.pop(key, None)
    else:
        state[key] = {**update, "item": state[key].get("item") if key in state else update.get("item")}


def _fact(update: Update, case: Case, schema: MemorySchema, episode: Episode) -> Fact[Any]:
    subject, name, _ = _key(update, case)
    attr = schema.attribute(name)
    return Fact(
        fact_id=0,
        memory_type=attr.memory_type,
        subject=subject or subject_id(episode.speaker or "user"),
        attribute=attr.name,
        item=update.get("item"),
        value=attr.type.decode(attr.type.canonical(update["value"])),
        valid_from=episode.observed_at,
        valid_to=None,
        known_from=episode.observed_at,
        known_to=None,
        expires_at=None,
        assertion_id=0,
        episode_id=None,
        speaker=None,
        source="user",
        quote=None,
    )


def _gold(update: Update, case: Case, schema: MemorySchema) -> Said:
    subject, name, item = _key(update, case)
    attr = schema.attribute(name)
    forms: list[Any] = []
    if attr.many == "set":
        forms = [update["item"], *update.get("accept", [])]
    elif update["change"] != "revoke":
        forms = [update["value"], *update.get("accept", []), _text(attr.type.canonical(update["value"]))]
    return Said(
        key=(subject, name, "" if attr.many == "set" else item),
        change=update["change"],
        values=frozenset(fold(str(form)) for form in forms),
        kind=(update.get("evidence") or {}).get("kind", ""),
        fuzzy=bool(update.get("fuzzy")),
        optional=bool(update.get("optional")),
    )


def _predicted(candidate: Candidate, case: Case, schema: MemorySchema) -> Said:
    name = f"{candidate.key.memory_type}.{candidate.key.attribute}"
    attr, values = schema.attribute(name), list[str]()
    if attr.many == "set":
        values = [candidate.key.item]
    elif candidate.value is not None:
        values = [str(attr.type.decode(candidate.value)), _text(candidate.value)]
    change = candidate.change or ("revoke" if candidate.value is None else "new")
    subject = candidate.key.subject if speaks_for_itself(case) else ""
    item = "" if attr.many == "set" else candidate.key.item
    return Said(key=(subject, name, item), change=change, values=frozenset(map(fold, values)))


def _text(canonical: str) -> str:
    return fold(canonical.strip('"'))


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found among what was to be found and what was told."""

    found: int = 0
    gold: int = 0
    told: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.found + other.found, self.gold + other.gold, self.told + other.told)

    @property
    def precision(self) -> float:
        return self.found / self.told if self.told else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.found / (self.gold + self.told) if self.gold + self.told else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The counts of some turns: all updates, by change and by kind of evidence; and of turns with nothing to store."""

    all: Counts = Counts()
    changes: Mapping[str, Counts] = field(default_factory=dict)
    kinds: Mapping[str, Counts] = field(default_factory=dict)
    fuzzy: Counts = Counts()
    right_change: int = 0
    empty: int = 0
    false_writes: int = 0
    quarantined: int = 0
    turns: int = 0
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            all=self.all + other.all,
            changes=_merged(self.changes, other.changes),
            kinds=_merged(self.kinds, other.kinds),
            fuzzy=self.fuzzy + other.fuzzy,
            right_change=self.right_change + other.right_change,
            empty=self.empty + other.empty,
            false_writes=self.false_writes + other.false_writes,
            quarantined=self.quarantined + other.quarantined,
            turns=self.turns + other.turns,
            seconds=self.seconds + other.seconds,
        )


def _merged(a: Mapping[str, Counts], b: Mapping[str, Counts]) -> dict[str, Counts]:
    return {name: a.get(name, Counts()) + b.get(name, Counts()) for name in sorted({*a, *b})}


def tally(turn: Turn) -> Tally:
    """Compare what was predicted for one turn with its gold."""
    plain = [said for said in turn.gold if not (said.fuzzy or said.optional)]
    apart = [said for said in turn.gold if said.fuzzy or said.optional]
    left, matches = list(turn.predicted), list[tuple[Said, Said]]()
    for said in (*plain, *apart):
        match = next((other for other in left if other.tells(said)), None)
        if match is not None:
            left.remove(match)
            matches.append((said, match))
    found = [(said, match) for said, match in matches if said in plain]
    wrong = [said for said in left if not any(said.key == other.key for other in apart)]
    kinds: dict[str, Counts] = {}
    changes: dict[str, Counts] = {}
    for said in plain:
        hit = int(any(said is gold for gold, _ in found))
        kinds[said.kind] = kinds.get(said.kind, Counts()) + Counts(hit, 1, hit)
        changes[said.change] = changes.get(said.change, Counts()) + Counts(hit, 1, hit)
    for said in wrong:
        changes[said.change] = changes.get(said.change, Counts()) + Counts(0, 0, 1)
    fuzzy = [said for said in apart if said.fuzzy]
    return Tally(
        all=Counts(len(found), len(plain), len(found) + len(wrong)),
        changes=changes,
        kinds=kinds,
        fuzzy=Counts(sum(said.fuzzy for said, _ in matches), len(fuzzy), sum(said.fuzzy for said, _ in matches)),
        right_change=sum(said.change == match.change for said, match in found),
        empty=int(not turn.gold),
        false_writes=0 if turn.gold else len(turn.predicted),
        quarantined=len(turn.outcome.quarantined),
        turns=1,
        seconds=turn.seconds,
    )


def figures(total: Tally) -> dict[str, float]:
    """The flat figures of a tally."""
    per_change = {f"extraction.f1.{name}": counts.f1 for name, counts in total.changes.items()}
    per_kind = {f"extraction.recall.{name}": counts.recall for name, counts in total.kinds.items()}
    return {
        "turns": total.turns,
        "updates": total.all.gold,
        "extraction.precision": total.all.precision,
        "extraction.recall": total.all.recall,
        "extraction.f1": total.all.f1,
        **per_change,
        **per_kind,
        "extraction.recall.fuzzy": total.fuzzy.recall,
        "extraction.change_accuracy": total.right_change / total.all.found if total.all.found else 0.0,
        "negatives.false_writes_per_100": 100 * total.false_writes / total.empty if total.empty else 0.0,
        "negatives.turns": total.empty,
        "quarantined_per_100": 100 * total.quarantined / total.turns if total.turns else 0.0,
        "cost.seconds_per_episode": total.seconds / total.turns if total.turns else 0.0,
    }


def intervals(turns: Sequence[Turn], *, samples: int = 500, seed: int = 0) -> dict[str, float]:
    """The figures with `.low` and `.high`, the 2.5 and 97.5 percentiles over resampled cases."""
    if not turns:
        raise InvalidInput("there are no turns to score", hint="see --only and --turns")
    cases: dict[str, Tally] = {}
    for turn in turns:
        cases[turn.case_id] = cases.get(turn.case_id, Tally()) + tally(turn)
    tallies, rng = list(cases.values()), random.Random(seed)
    found = figures(sum(tallies, Tally()))
    drawn = [figures(sum(rng.choices(tallies, k=len(tallies)), Tally())) for _ in range(samples)]
    result: dict[str, float] = {}
    for name, value in found.items():
        column = sorted(row.get(name, 0.0) for row in drawn)
        low, high = column[int(0.025 * len(column))], column[min(int(0.975 * len(column)), len(column) - 1)]
        result |= {name: round(value, 4), f"{name}.low": round(low, 4), f"{name}.high": round(high, 4)}
    return result


def drawn(cases: Iterable[Case], *, only: Sequence[str], turns: int, seed: int) -> list[Case]:
    """Cases in random order that have about so many user turns; with `only`, those whose schema has such a type."""
    fitting = [case for case in cases if not only or set(only) & set(case["schema"]["types"])]
    random.Random(seed).shuffle(fitting)
    chosen, total = list[Case](), 0
    for case in fitting:
        if total >= turns:
            break
        chosen.append(case)
        total += _user_turns(case)
    return chosen


def _user_turns(case: Case) -> int:
    return sum(line["source"] == "user" for line in case["episodes"])


def _row(turn: Turn) -> dict[str, Any]:
    """A turn as JSON, with all that is needed to score it again."""
    return {
        "case_id": turn.case_id,
        "episode_id": turn.episode_id,
        "text": turn.text,
        "gold": [_said_json(said) for said in turn.gold],
        "predicted": [
            _said_json(said)
            | {"confidence": candidate.confidence, "right": any(said.tells(gold) for gold in turn.gold)}
            for said, candidate in zip(turn.predicted, turn.outcome.candidates, strict=True)
        ],
        "quarantined": [[row.reason.value, row.message, row.raw] for row in turn.outcome.quarantined],
        "status": turn.outcome.status,
        "usage": dict(turn.outcome.usage),
    }


def _said_json(said: Said) -> dict[str, Any]:
    return {
        "key": said.key,
        "change": said.change,
        "values": sorted(said.values),
        "kind": said.kind,
        "fuzzy": said.fuzzy,
    }


def main(
    cases: Annotated[Path, typer.Argument(help="replay cases (JSON Lines, may be packed with xz)")],
    model: Annotated[str, typer.Option(help="model, as for `sgam ingest`")] = "local",
    only: Annotated[list[str] | None, typer.Option(help="only cases with this memory type; may be repeated")] = None,
    turns: Annotated[int, typer.Option(help="about how many user turns, whole cases drawn at random")] = 200,
    seed: Annotated[int, typer.Option(help="seed of the draw")] = 0,
    out: Annotated[Path | None, typer.Option(help="folder for turns.jsonl and figures.json")] = None,
) -> None:
    """Score extraction turn by turn, with gold values on record.

    Example: python -m sgam.evals.extraction sgd_dev.jsonl.xz --only Banks_2 --turns 200
    """
    backend = backend_of(model)
    chosen = drawn(read_cases(cases), only=only or [], turns=turns, seed=seed)
    total = sum(map(_user_turns, chosen))
    answered = turns_of(chosen, lambda schema: Extractor(schema, backend))
    console = Console(stderr=True)
    done = list(track(answered, description="turns", total=total, console=console))
    found = {"model": backend.name, "cases": cases.name, "only": only, "seed": seed, **intervals(done)}
    typer.echo(json.dumps(found, indent=2))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(_row(turn), ensure_ascii=False) for turn in done]
        (out / "turns.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (out / "figures.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)

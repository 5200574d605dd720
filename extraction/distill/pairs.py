"""Training pairs from replay cases: what the model is asked about a turn, and the answer that the gold updates make.

The question is the one that the extractor asks.  Each gold update is written as an item of an answer and read back by
the code that reads a model's answers; one that does not come back as the gold value is left out, so a model is never
taught to say what would be refused.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...memory_store.model import Candidate, Episode, Key, subject_id
from ...memory_store.schema import Attribute, MemorySchema
from ...memory_store.values import fold
from ...prompts import Prompt
from .. import grounding
from ..answer import Item
from ..items import candidate_from_item
from ..questions import prompt_for
from ..response import Offer, Stored

Case = dict[str, Any]
Update = dict[str, Any]

MAX_EVIDENCE_WORDS: Final = 30
WEIGHTS: Final = {"evidence": 0.5, "attribute": 2.0} | dict.fromkeys(
    ("subject", "item", "change", "value", "when", "until"), 1.0
)
DECISION: Final = 4.0
FORCED: Final = 0.1
"""Weights of the characters of a field, of the brackets that begin an update or end the list, and of all others."""
_CONTEXT_TURNS: Final = 1
_BEFORE: Final = re.compile(r"(?:[^\s.,!?;:]+\s+){0,4}$")
_AFTER: Final = re.compile(r"(?:\s+[^\s.,!?;:]+(?=[\s.,!?;:]|$)){0,2}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A question about one turn and its answer.

    `changes` are those of the updates in the answer; `missed` counts gold updates that could not be told.
    """

    case_id: str
    episode_id: str
    prompt: Prompt
    answer: str
    changes: tuple[str, ...] = ()
    missed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """How a case is put before the model.

    `speaker` renames who speaks.  With `own` all facts become the speaker's; otherwise they stay those of the subjects
    of the case.  The order of the attributes is drawn with `seed`.
    """

    speaker: str | None = None
    own: bool = False
    seed: int = 0


def pairs(case: Case, form: Form) -> list[Pair]:
    """A pair for each user turn of a case, in order.  Raises SchemaError for a case whose schema is none."""
    return list(_Replay(case, form).pairs())


def shuffled(schema: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """A schema in its JSON form with types and attributes in another order."""
    rng, types = random.Random(seed), {}
    for kind in rng.sample(sorted(schema["types"]), len(schema["types"])):
        declared = schema["types"][kind]
        names = rng.sample(sorted(declared["attributes"]), len(declared["attributes"]))
        types[kind] = {**declared, "attributes": {name: declared["attributes"][name] for name in names}}
    return {**schema, "types": types}


@dataclass
class _Replay:
    """A case as it unfolds: the turns so far, and what is on record."""

    case: Case
    form: Form
    turns: list[Episode] = field(default_factory=list)
    stored: dict[Key, Stored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.schema = MemorySchema.from_json(shuffled(self.case["schema"], self.form.seed))
        self.gold: dict[str, list[Update]] = {}
        for update in self.case["updates"]:
            self.gold.setdefault(update["episode_id"], []).append(update)

    def pairs(self) -> Iterator[Pair]:
        for line in self.case["episodes"]:
            episode = self._episode(line)
            if line["source"] == "user":
                yield self._pair(episode)
            for update in self.gold.get(episode.episode_id, []):
                self._record(update, subject_id(episode.speaker or "user"))
            self.turns.append(episode)

    def _episode(self, line: Mapping[str, Any]) -> Episode:
        speaker = line.get("speaker", line["source"])
        if line["source"] == "user":
            speaker = self.form.speaker or speaker
        return Episode.from_json({**line, "speaker": speaker})

    def _pair(self, episode: Episode) -> Pair:
        offer = self._offer(episode)
        gold = self.gold.get(episode.episode_id, [])
        told = [(update, item) for update in gold if (item := self._item(update, offer)) is not None]
        told.sort(key=lambda row: _place(row[0], episode))
        items = [item for _, item in told]
        return Pair(
            case_id=self.case["case_id"],
            episode_id=episode.episode_id,
            prompt=prompt_for(offer),
            answer=json.dumps({"updates": items}, ensure_ascii=False, separators=(",", ":")),
            changes=tuple(item["change"] for item in items),
            missed=len(gold) - len(items),
        )

    def _offer(self, episode: Episode) -> Offer:
        speaker = subject_id(episode.speaker or "user")
        others = [] if self.form.own else [subject_id(subject) for subject in self.case["subjects"]]
        return Offer(
            schema=self.schema,
            episode=episode,
            attributes=tuple(self.schema.attributes()),
            subjects=tuple(dict.fromkeys([speaker, *others])),
            context=tuple(turn for turn in self.turns if turn.session_id == episode.session_id)[-_CONTEXT_TURNS:],
            stored=self.stored,
            max_updates=8,
            compact=True,
        )

    def _item(self, update: Update, offer: Offer) -> dict[str, Any] | None:
        """The update as an item of an answer, where reading it gives the gold value."""
        fields = self._fields(update, offer)
        if fields is None or len(fields["evidence"].split()) > MAX_EVIDENCE_WORDS:
            return None
        read = candidate_from_item(Item(fields=fields, raw=""), offer)
        return fields if isinstance(read, Candidate) and self._is_right(read, update) else None

    def _fields(self, update: Update, offer: Offer) -> dict[str, Any] | None:
        attr = self._attribute(update)
        evidence = _evidence(update, offer)
        if evidence is None:
            return None
        speaker = offer.subjects[0]
        on_record = self.stored.get(self._key(update, speaker))
        change = update["change"]
        head: dict[str, Any] = {
            "evidence": evidence,
            "subject": self._subject(update, speaker),
            "attribute": offer.name(attr),
        }
        if attr.many:
            head["item"] = _item_said(update, attr, offer) if on_record is None else on_record.item
        tail = {"current_value": on_record.json if on_record else None, "change": change}
        value = _value(update, attr, offer) if change in {"new", "update"} and attr.many != "set" else None
        return {**head, **tail, "value": value, "when": update.get("when"), "until": update.get("until")}

    def _is_right(self, read: Candidate, update: Update) -> bool:
        if update["change"] == "revoke" or read.value is None:
            return bool(update["change"] == "revoke") == (read.value is None)
        value = str(self._attribute(update).type.decode(read.value))
        accepted = [update["value"], *update.get("accept", [])]
        return fold(value) in {fold(str(form)) for form in accepted} or bool(read.value == self._canonical(update))

    def _record(self, update: Update, speaker: str) -> None:
        key = self._key(update, speaker)
        self.stored = dict(self.stored)
        if update["change"] == "revoke":
            self.stored.pop(key, None)
        else:
            before = self.stored.get(key)
            said = before.item if before else update.get("item")
            self.stored[key] = Stored(value=self._canonical(update), item=said)

    def _canonical(self, update: Update) -> str:
        return self._attribute(update).type.canonical(update["value"])

    def _attribute(self, update: Update) -> Attribute[Any]:
        return self.schema.attribute(f"{self.case['subjects'][update['subject']]}.{update['attribute']}")

    def _key(self, update: Update, speaker: str) -> Key:
        attr = self._attribute(update)
        item = str(update.get("item") or "") if attr.many else ""
        return Key(attr.memory_type, self._subject(update, speaker), attr.name, fold(item))

    def _subject(self, update: Update, speaker: str) -> str:
        return speaker if self.form.own else subject_id(update["subject"])


def _place(update: Update, episode: Episode) -> tuple[bool, int]:
    """What the turn itself says, in the order in which it says it, goes before what it affirms."""
    evidence = update["evidence"]
    return evidence["episode_id"] != episode.episode_id, evidence["start"]


def weights(answer: str) -> list[float]:
    """How much each character of an answer counts in training.

    Little where the grammar leaves no choice; most where the model decides whether there is one more update.  The colon
    before a value counts as the value does: whether the next token is `":` or `":"` decides between null and a string.
    So do a brace and a comma after an update: `}` or `},` decides whether there is another.
    """
    spelled, counts = '{"updates":[', [FORCED] * 12
    for number, item in enumerate(json.loads(answer)["updates"]):
        spelled, counts = spelled + ("," if number else "") + "{", [*counts, *([DECISION] if number else []), DECISION]
        for place, (name, value) in enumerate(item.items()):
            head, text = f'{"," if place else ""}"{name}":', json.dumps(value, ensure_ascii=False)
            spelled += head + text
            weight = WEIGHTS.get(name, FORCED)
            counts += [FORCED] * (len(head) - 1) + [weight] * (1 + len(text))
        spelled, counts = spelled + "}", [*counts, DECISION]
    spelled, counts = spelled + "]}", [*counts, DECISION, FORCED]
    if spelled != answer:
        raise ValueError(f"not in the spelling of the grammar: {answer[:80]!r}")
    return counts


def _evidence(update: Update, offer: Offer) -> str | None:
    """Words of the turn: around the value, or those that affirm what was said before."""
    evidence, text = update["evidence"], offer.episode.text
    if evidence["episode_id"] == offer.episode.episode_id:
        return evidence["text"] if "when" in update else _clause(evidence, text)
    if all(turn.episode_id != evidence["episode_id"] for turn in offer.context):
        return None
    return next(grounding.affirmations(text), None)


def _clause(evidence: Mapping[str, Any], text: str) -> str:
    """The span with up to four words before it and two after, inside its clause; a whole turn as its sentence."""
    start, end = evidence["start"], evidence["end"]
    if evidence["kind"] in {"user_turn", "implicit"}:
        return str(evidence["text"]).strip()
    before, after = _BEFORE.search(text[:start]), _AFTER.match(text[end:])
    left = start - len(before.group()) if before else start
    right = end + len(after.group()) if after else end
    return text[left:right].strip()


def _item_said(update: Update, attr: Attribute[Any], offer: Offer) -> Any:
    if attr.type.name in {"enum", "boolean"} and attr.many == "set":
        return update["item"]
    return _said([update["item"]] if attr.many == "map" else [update.get("raw_value"), update["item"]], offer)


def _said(words: Sequence[Any], offer: Offer) -> Any:
    """The first of the words that the turns say, as they spell it."""
    turns = (offer.episode, *offer.context)
    spans = (grounding.find(str(word), turn.text) for word in words if word is not None for turn in turns)
    return next((span.quote for span in spans if span is not None), words[-1])


def _value(update: Update, attr: Attribute[Any], offer: Offer) -> Any:
    if attr.type.name in {"enum", "boolean"}:
        return update["value"]
    if update["evidence"]["kind"].endswith(("_span", "_match")) and "when" not in update:
        return update["evidence"]["text"]
    return _said([update.get("raw_value"), update["value"]], offer)


def changes(found: Sequence[Pair]) -> dict[str, int]:
    """How often each change occurs, `nothing` for turns without, `missed` for gold updates that could not be told."""
    counts: dict[str, int] = {"missed": sum(pair.missed for pair in found)}
    for pair in found:
        for change in pair.changes or ("nothing",):
            counts[change] = counts.get(change, 0) + 1
    return counts

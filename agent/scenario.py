"""Scenarios: a schema, steps against an empty store, and what each step is expected to show.  No model is involved.

The format is documented by `sgam scenario --help`.  A scenario is checked as a whole before its first step runs: an
unknown step, key or mark is an error in the scenario and not a failed expectation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ..memory_store.errors import InvalidInput, SgamError
from ..memory_store.model import Episode, Fact, Proposal
from ..memory_store.schema import Attribute, MemorySchema
from ..memory_store.store import Store
from ..memory_store.values import fold, identity
from .forms import instant, typed
from .memory import Memory, Tenant

CLOCK: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""Now, in a scenario without a `now` step."""
BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)
"""The known time of a store that nothing was written to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """Keys of a step's body, or the type of a body that has none; and the keys of its `expect`."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    plain: type | None = None
    expect: frozenset[str] = frozenset()


def _shape(required: str = "", optional: str = "", *, plain: type | None = None, expect: str = "") -> Shape:
    return Shape(
        required=frozenset(required.split()),
        optional=frozenset(optional.split()),
        plain=plain,
        expect=frozenset(expect.split()) | {"error"},
    )


SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "commit": _shape("episode facts", expect="decisions quarantined"),
        "read": _shape("subject attribute", "item valid_at known_at", expect="value episode supersedes"),
        "timeline": _shape("subject attribute", "item known_at", expect="intervals"),
        "mark": _shape(plain=str),
        "retract": _shape("episode_id"),
        "forget": _shape("", "episode_id subject everything", expect="gone"),
        "confirm": _shape("subject attribute value", "item"),
        "dismiss": _shape("subject attribute value", "item"),
        "now": _shape(plain=str),
        "reopen": _shape(plain=bool),
        "tenant": _shape(plain=str),
    }
)
_FACT: Final = _shape("subject attribute value quote", "item valid_from precision valid_until change")
_REMARKS: Final = frozenset({"why", "note"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One action, counted from 1, with what is expected of it."""

    number: int
    action: str
    body: Any
    expect: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A checked scenario."""

    name: str
    why: str
    schema: MemorySchema
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An expectation that did not hold; `expected` and `got` are JSON values."""

    step: int
    action: str
    what: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        expected, got = (json.dumps(side, ensure_ascii=False) for side in (self.expected, self.got))
        return f"step {self.step} ({self.action}): {self.what}: expected {expected}, got {got}"


def load(path: Path) -> Scenario:
    """Read a scenario.  Raises InvalidInput or SchemaError, which name what is wrong."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no JSON: {error}") from error
    return parse(data)


def parse(data: Any) -> Scenario:
    """Check a scenario.  Raises InvalidInput or SchemaError, which name what is wrong."""
    _check_keys(data, "scenario", frozenset({"schema", "steps"}), frozenset({"name"}) | _REMARKS)
    if not isinstance(data["steps"], list):
        raise InvalidInput("steps: expected a list")
    steps = tuple(_step(number, raw) for number, raw in enumerate(data["steps"], start=1))
    _check_marks(steps)
    return Scenario(
        name=str(data.get("name", "")),
        why=str(data.get("why", "")),
        schema=MemorySchema.from_json(_mapping(data["schema"], "schema")),
        steps=steps,
    )


def _step(number: int, raw: Any) -> Step:
    where = f"step {number}"
    names = [name for name in _mapping(raw, where) if name not in {"expect", *_REMARKS}]
    if len(names) != 1 or names[0] not in SHAPES:
        unknown = [name for name in names if name not in SHAPES]
        problem = f"unknown step {unknown[0]!r}" if unknown else f"expected one action, got {len(names)}"
        raise InvalidInput(f"{where}: {problem}", hint=f"a step is one of {', '.join(SHAPES)}")
    step = Step(number=number, action=names[0], body=raw[names[0]], expect=raw.get("expect", {}))
    _check_step(step, f"{where} ({step.action})")
    return step


def _check_step(step: Step, where: str) -> None:
    shape = SHAPES[step.action]
    if shape.plain is not None and not isinstance(step.body, shape.plain):
        raise InvalidInput(f"{where}: expected a {shape.plain.__name__}, got {step.body!r}"[:200])
    if shape.plain is None:
        _check_keys(step.body, where, shape.required, shape.optional)
    _check_keys(step.expect, f"{where} expect", frozenset(), shape.expect)
    if step.action == "commit":
        _check_commit(step.body, where)
    if step.action == "forget" and len(step.body) != 1:
        raise InvalidInput(f"{where}: expected one of episode_id, subject, everything")
    if step.action == "now":
        _time(step.body, where)
    if step.action == "read":
        _time(step.body.get("valid_at"), f"{where} valid_at")
    if "intervals" in step.expect:
        _check_intervals(step.expect["intervals"], f"{where} expect intervals")


def _check_intervals(intervals: Any, where: str) -> None:
    if not isinstance(intervals, list) or any(not isinstance(entry, list) or len(entry) != 3 for entry in intervals):
        raise InvalidInput(f"{where}: expected a list of [from, to or null, value]")
    for start, end, _ in intervals:
        _time(start, where)
        _time(end, where)


def _check_commit(body: Mapping[str, Any], where: str) -> None:
    _mapping(body["episode"], f"{where} episode")
    if not isinstance(body["facts"], list):
        raise InvalidInput(f"{where} facts: expected a list")
    for position, entry in enumerate(body["facts"], start=1):
        here = f"{where} fact {position}"
        _check_keys(entry, here, _FACT.required, _FACT.optional)
        if entry.get("precision", "exact") not in {"exact", "day", "month", "year"}:
            raise InvalidInput(f"{here} precision: expected year, month or day, got {entry['precision']!r}"[:200])
        for name in ("valid_from", "valid_until"):
            _time(entry.get(name), f"{here} {name}")


def _check_keys(data: Any, where: str, required: frozenset[str], optional: frozenset[str]) -> None:
    keys = _mapping(data, where).keys()
    for missing in sorted(required - keys):
        raise InvalidInput(f"{where}: {missing} is missing")
    for unknown in sorted(keys - required - optional):
        names = ", ".join(sorted(required | optional))
        raise InvalidInput(f"{where}: unknown key {unknown!r}", hint=f"keys are {names}")


def _mapping(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InvalidInput(f"{where}: expected an object, got {data!r}"[:200])
    return data


def _check_marks(steps: tuple[Step, ...]) -> None:
    marks: set[str] = set()
    for step in steps:
        if step.action == "mark":
            marks.add(step.body)
        elif step.action in {"read", "timeline"} and step.body.get("known_at") not in {None, *marks}:
            raise InvalidInput(f"step {step.number} ({step.action}): no mark {step.body['known_at']!r} was set before")


def _time(raw: Any, where: str) -> datetime | None:
    """Times of a scenario are UTC, so one without an offset is taken as it stands."""
    if raw is None:
        return None
    try:
        when = datetime.fromisoformat(raw)
    except (TypeError, ValueError):
        raise InvalidInput(f"{where}: expected an ISO 8601 time, got {raw!r}"[:200]) from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def run(scenario: Scenario, open_store: Callable[[], Store], *, folder: Path | None = None) -> list[Failure]:
    """Run a scenario on the empty store that `open_store` gives; the expectations that did not hold.

    `open_store` is called again by a `reopen` step, after the store was closed.  Where the store keeps files, all files
    in `folder` are looked through for what should be gone, beside the store's own scan.
    """
    player = _Player(scenario, open_store, folder)
    try:
        return [failure for step in scenario.steps for failure in player.play(step)]
    finally:
        player.memory.close()


@dataclass
class _Player:
    scenario: Scenario
    open_store: Callable[[], Store]
    folder: Path | None
    now: datetime = CLOCK
    tenant_id: str = "t"
    marks: dict[str, dict[str, datetime]] = field(default_factory=dict)  # by name, then by tenant

    def __post_init__(self) -> None:
        self.memory = self._open()
        self.actions: dict[str, Callable[[Step], Mapping[str, Any]]] = {
            "commit": self._commit,
            "read": self._read,
            "timeline": self._timeline,
            "mark": self._mark,
            "retract": self._retract,
            "forget": self._forget,
            "confirm": partial(self._settle, self._confirm),
            "dismiss": partial(self._settle, self._dismiss),
            "now": self._now,
            "reopen": self._reopen,
            "tenant": self._tenant,
        }

    def _open(self) -> Memory:
        return Memory(self.open_store(), self.scenario.schema, clock=lambda: self.now)

    @property
    def tenant(self) -> Tenant:
        return self.memory.tenant(self.tenant_id)

    def play(self, step: Step) -> list[Failure]:
        """Run one step; the expectations of it that did not hold."""
        try:
            got = self.actions[step.action](step)
        except SgamError as error:
            return self._raised(step, error)
        wrong = [(name, want, got.get(name)) for name, want in self._expected(step).items() if got.get(name) != want]
        return [
            Failure(step=step.number, action=step.action, what=name, expected=want, got=have)
            for name, want, have in wrong
        ]

    def _raised(self, step: Step, error: SgamError) -> list[Failure]:
        """An error is expected by the name of its class or of one above it."""
        expected = step.expect.get("error")
        if expected in {kind.__name__ for kind in type(error).__mro__}:
            return []
        got = f"{type(error).__name__}: {error}"
        return [Failure(step=step.number, action=step.action, what="error", expected=expected, got=got)]

    def _expected(self, step: Step) -> dict[str, Any]:
        expected = dict(step.expect)
        for name in expected.keys() & {"value", "supersedes"}:
            expected[name] = _canonical(self._attribute(step), expected[name])
        if "intervals" in expected:
            expected["intervals"] = [self._interval(step, *entry) for entry in expected["intervals"]]
        if "gone" in expected:
            expected["gone"] = []
        return expected

    def _interval(self, step: Step, start: str, end: str | None, value: Any) -> list[Any]:
        where = f"step {step.number} intervals"
        return [instant(_time(start, where)), instant(_time(end, where)), _canonical(self._attribute(step), value)]

    def _attribute(self, step: Step) -> Attribute[Any]:
        return self.scenario.schema.attribute(step.body["attribute"])

    def _commit(self, step: Step) -> Mapping[str, Any]:
        proposals = [_proposal(entry) for entry in step.body["facts"]]
        receipt = self.tenant.commit(Episode.from_json(step.body["episode"]), proposals)
        decisions = [made.decision.value for made in receipt.decisions]
        return {"decisions": decisions, "quarantined": len(receipt.quarantined)}

    def _read(self, step: Step) -> Mapping[str, Any]:
        body = step.body
        fact = self.tenant.at(
            body["subject"],
            body["attribute"],
            item=body.get("item"),
            valid_at=_time(body.get("valid_at"), "valid_at"),
            known_at=self._known_at(body),
        )
        if fact is None:
            return {"value": None, "episode": None, "supersedes": None}
        superseded = self._superseded(step, fact) if "supersedes" in step.expect else None
        return {"value": typed(fact.value), "episode": fact.episode_id, "supersedes": superseded}

    def _superseded(self, step: Step, fact: Fact[Any]) -> Any:
        history = self.tenant.history(step.body["subject"], step.body["attribute"], item=step.body.get("item"))
        return next((typed(old.value) for old in history if old.fact_id == fact.supersedes_fact_id), None)

    def _timeline(self, step: Step) -> Mapping[str, Any]:
        body = step.body
        facts = self.tenant.timeline(
            body["subject"], body["attribute"], item=body.get("item"), known_at=self._known_at(body)
        )
        return {"intervals": [[instant(f.valid_from), instant(f.valid_to), typed(f.value)] for f in facts]}

    def _known_at(self, body: Mapping[str, Any]) -> datetime | None:
        name = body.get("known_at")
        return None if name is None else self.marks[name].get(self.tenant_id, BEFORE_ALL)

    def _mark(self, step: Step) -> Mapping[str, Any]:
        known = {tenant: self.memory.tenant(tenant).known_now() or BEFORE_ALL for tenant in self.memory.tenants()}
        self.marks[step.body] = known
        return {}

    def _retract(self, step: Step) -> Mapping[str, Any]:
        self.tenant.retract(episode_id=step.body["episode_id"])
        return {}

    def _forget(self, step: Step) -> Mapping[str, Any]:
        self.tenant.forget(**step.body)
        return {"gone": self._left(step.expect.get("gone", []))}

    def _left(self, needles: list[str]) -> list[str]:
        store = self.memory.ledger.store
        cells = list(store.cells())
        found = set(store.residue(needles).found)
        files = [file.read_bytes() for file in self.folder.iterdir()] if self.folder else []
        for needle in needles:
            spellings = {needle, json.dumps(needle)[1:-1]}
            if any(s in cell for s in spellings for cell in cells):
                found.add(needle)
            if any(s.encode() in data for s in spellings for data in files):
                found.add(needle)
        return sorted(found)

    def _settle(self, settle: Callable[[int], None], step: Step) -> Mapping[str, Any]:
        attribute = self._attribute(step)
        wanted = _same(attribute, step.body["value"])
        for hold in self.tenant.holds(subject=step.body["subject"]):
            about = (hold.key.memory_type, hold.key.attribute)
            value = None if hold.value is None else identity(hold.value)
            if about == (attribute.memory_type, attribute.name) and value == wanted and _has_item(hold.key.item, step):
                settle(hold.hold_id)
                return {}
        raise InvalidInput(f"no hold on {step.body['subject']}.{attribute.name} with that value is pending")

    def _confirm(self, hold_id: int) -> None:
        self.tenant.confirm(hold_id)

    def _dismiss(self, hold_id: int) -> None:
        self.tenant.dismiss(hold_id)

    def _now(self, step: Step) -> Mapping[str, Any]:
        self.now = _time(step.body, "now") or CLOCK
        return {}

    def _reopen(self, step: Step) -> Mapping[str, Any]:
        self.memory.close()
        self.memory = self._open()
        return {}

    def _tenant(self, step: Step) -> Mapping[str, Any]:
        self.tenant_id = step.body
        return {}


def _proposal(entry: Mapping[str, Any]) -> Proposal:
    times = {name: _time(entry.get(name), name) for name in ("valid_from", "valid_until")}
    return Proposal(**{**entry, **times})


def _canonical(attribute: Attribute[Any], value: Any) -> Any:
    """The canonical JSON form of an expected value; one of the wrong type stays as it is and so matches nothing."""
    try:
        return None if value is None else json.loads(attribute.type.canonical(value))
    except ValueError:
        return value


def _same(attribute: Attribute[Any], value: Any) -> str | None:
    return None if value is None else identity(json.dumps(_canonical(attribute, value), ensure_ascii=False))


def _has_item(item: str, step: Step) -> bool:
    return "item" not in step.body or item == fold(step.body["item"])

"""Accuracy of time phrases against public sets; every path is an argument.

    python -m sgam.evals.benchmarks.dates --recognizers FILE --timenorm FILE --cases FILE [--json] [--misses N]

`--recognizers`: English DateTimeModel specs of microsoft/Recognizers-Text (a JSON list, plain or .xz).
`--timenorm`: TempEval-3 timexes as clulab/timenorm keeps them (phrase, type and value, tab-separated; a blank line
starts a document, whose first row is its date).  `--cases`: replay cases (JSON Lines), for values of type date, time
and integer.

Per group: cases, the share that was answered (coverage) and the share that was right (accuracy; where a set accepts
several readings, any of them).  In the groups `nothing` the right answer is none: lengths of time, and texts without a
time.  "Contains the anchor" counts as right where the expected stretch contains it.  `plain` is the same figure for
`dateparser` without this package's conventions.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
import time as clock
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO, cast

from ...extraction.dates import resolve, to_date, to_time
from ...extraction.numbers import to_number

_STRETCH = {1: 366, 2: 31, 3: 1}
_KINDS = {"date", "daterange", "datetime", "datetimerange", "duration", "time"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One phrase and the starts that a set accepts, as prefixes of ISO text; none where nothing is the answer."""

    group: str
    phrase: str
    anchor: datetime
    accept: frozenset[str]
    stretches: tuple[tuple[datetime, datetime], ...] = ()
    weight: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """Counts of one group."""

    cases: int
    answered: int
    right: int

    def row(self) -> dict[str, float]:
        """Return the counts with their shares."""
        return {
            "cases": self.cases,
            "coverage": round(self.answered / self.cases, 4),
            "accuracy": round(self.right / self.cases, 4),
        }


Reader = Callable[[Case], tuple[str | None, bool]]
"""What was read, as ISO text, and whether it stands for the anchor."""


def recognizers(path: Path) -> Iterator[Case]:
    """Yield the phrases of the Recognizers-Text specs, and their texts without any time."""
    with _open(path) as lines:
        specs = json.load(lines)
    for spec in specs:
        if "ReferenceDateTime" in spec.get("Context", {}):
            yield from _spec_cases(spec, _aware(spec["Context"]["ReferenceDateTime"]))


def _spec_cases(spec: Mapping[str, Any], anchor: datetime) -> Iterator[Case]:
    if not spec["Results"]:
        yield Case(group="recognizers nothing", phrase=spec["Input"], anchor=anchor, accept=frozenset())
    for result in spec["Results"]:
        kind = result.get("TypeName", "").removeprefix("datetimeV2.")
        values = [v for v in result.get("Resolution", {}).get("values", ()) if not _is_end(v)]
        starts = frozenset(s[:16] for v in values if (s := v.get("value") or v.get("start")) and s[0].isdigit())
        if kind == "duration":
            yield Case(group="recognizers nothing", phrase=result["Text"], anchor=anchor, accept=frozenset())
        elif kind in _KINDS and starts:
            yield Case(
                group=f"recognizers {kind}",
                phrase=result["Text"],
                anchor=anchor,
                accept=starts,
                stretches=() if kind == "time" else tuple(_stretch(v) for v in values if "end" in v or "value" in v),
            )


def _is_end(value: Mapping[str, str]) -> bool:
    return value.get("Mod", "") in {"before", "until", "before-end"} or "not resolved" in value.values()


def _stretch(value: Mapping[str, str]) -> tuple[datetime, datetime]:
    start = _aware(value.get("value") or value.get("start") or "0001-01-01")
    return start, _aware(value["end"]) if "end" in value else start + timedelta(days=1)


def timenorm(path: Path) -> Iterator[Case]:
    """Yield the timexes of the TempEval-3 documents whose value is a day, month, quarter, year or now."""
    anchor: datetime | None = None
    fresh = True
    with _open(path) as lines:
        for line in lines:
            row = line.rstrip("\n").split("\t")
            if len(row) < 3:
                fresh = True
            elif fresh:
                anchor, fresh = _document_date(row[2]), False
            elif anchor is not None and row[1] != "SET":
                yield from _timex(row[0], row[2], anchor)


def _document_date(value: str) -> datetime | None:
    return _aware(value[:16]) if re.match(r"\d{4}-\d\d-\d\d", value) else None


def _timex(phrase: str, value: str, anchor: datetime) -> Iterator[Case]:
    quarter = re.fullmatch(r"(\d{4})-Q([1-4])", value)
    if re.fullmatch(r"P[T\d].*", value):
        yield Case(group="timenorm nothing", phrase=phrase, anchor=anchor, accept=frozenset())
    elif value == "PRESENT_REF":
        yield Case(group="timenorm present", phrase=phrase, anchor=anchor, accept=frozenset({f"{anchor:%Y-%m-%d}"}))
    elif quarter:
        start = f"{quarter[1]}-{int(quarter[2]) * 3 - 2:02}-01"
        yield _stretch_case("quarter", phrase, anchor, start, 92)
    elif re.fullmatch(r"\d{4}(-\d\d){0,2}", value):
        parts = value.count("-") + 1
        group = {1: "year", 2: "month", 3: "day"}[parts]
        yield _stretch_case(group, phrase, anchor, value + "-01" * (3 - parts), _STRETCH[parts])


def _stretch_case(group: str, phrase: str, anchor: datetime, start: str, days: int) -> Case:
    stretch = (_aware(start), _aware(start) + timedelta(days=days))
    return Case(
        group=f"timenorm {group}", phrase=phrase, anchor=anchor, accept=frozenset({start}), stretches=(stretch,)
    )


def replay_cases(path: Path) -> Iterator[Case]:
    """Yield the distinct typed values of replay cases as they were said, weighted by how often."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    with _open(path) as lines:
        for line in lines:
            case = json.loads(line)
            said = {e["episode_id"]: e["observed_at"] for e in case["episodes"]}
            for update in case["updates"]:
                attributes = case["schema"]["types"][case["subjects"][update["subject"]]]["attributes"]
                kind = attributes[update["attribute"]]["type"]
                if kind in {"date", "time", "integer"} and update.get("raw_value"):
                    day = said[update["episode_id"]][:10]
                    seen[kind, update["raw_value"], str(update["value"]), day] += 1
    for (kind, phrase, value, day), count in seen.items():
        accept = frozenset({value})
        yield Case(group=f"cases {kind}", phrase=phrase, anchor=_aware(day), accept=accept, weight=count)


def read(case: Case) -> tuple[str | None, bool]:
    """Read a case with the function that its kind of value asks for."""
    kind = case.group.split()[-1]
    if kind == "time":
        return _text(to_time(case.phrase)), False
    if kind == "integer":
        number = to_number(case.phrase)
        return None if number is None else str(number), False
    if case.group == "cases date":
        return _text(to_date(case.phrase, anchor=case.anchor)), False
    moment = resolve(case.phrase, anchor=case.anchor)
    return (None, False) if moment is None else (_text(moment.start), moment.rule == "contains_anchor")


def read_plain(case: Case) -> tuple[str | None, bool]:
    """Read a case with `dateparser` alone."""
    import dateparser  # type: ignore[import-untyped]

    base = {"RELATIVE_BASE": case.anchor.replace(tzinfo=None), "PREFER_DAY_OF_MONTH": "first"}
    found = dateparser.parse(case.phrase, languages=["en"], settings=cast("Any", base))
    kind = case.group.split()[-1]
    return _text(found.time() if found is not None and kind == "time" else found), False


def score(cases: Sequence[Case], reader: Reader) -> tuple[dict[str, Score], list[tuple[Case, str | None]]]:
    """Count per group, and list what was wrong."""
    totals: Counter[tuple[str, str]] = Counter()
    misses: list[tuple[Case, str | None]] = []
    for case in cases:
        answer, current = reader(case)
        right = _is_right(case, answer, current=current)
        totals[case.group, "cases"] += case.weight
        totals[case.group, "answered"] += case.weight * (answer is not None)
        totals[case.group, "right"] += case.weight * right
        if not right:
            misses.append((case, answer))
    groups = dict.fromkeys(case.group for case in cases)
    return {
        g: Score(cases=totals[g, "cases"], answered=totals[g, "answered"], right=totals[g, "right"]) for g in groups
    }, misses


def _is_right(case: Case, answer: str | None, *, current: bool) -> bool:
    if answer is None:
        return not case.accept
    if any(answer.startswith(expected.replace("T", " ")) for expected in case.accept):
        return True
    return current and any(start <= case.anchor < end for start, end in case.stretches)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _aware(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "")).replace(tzinfo=UTC)


def _open(path: Path) -> TextIO:
    return lzma.open(path, "rt", encoding="utf-8-sig") if path.suffix == ".xz" else path.open(encoding="utf-8-sig")


def _report(cases: Sequence[Case], scores: Mapping[str, Score], plain: Mapping[str, Score]) -> dict[str, Any]:
    started = clock.perf_counter()
    for case in cases:
        read(case)
    spent = (clock.perf_counter() - started) / len(cases) * 1000
    groups = {g: s.row() | {"plain": plain[g].row()["accuracy"]} for g, s in scores.items()}
    return {"milliseconds_per_phrase": round(spent, 2), "groups": groups}


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dates", description="Measure how well time phrases are read.")
    parser.add_argument("--recognizers", type=Path, help="English DateTimeModel specs (.json or .json.xz)")
    parser.add_argument("--timenorm", type=Path, help="TempEval-3 timexes (.tsv)")
    parser.add_argument("--cases", type=Path, help="replay cases (.jsonl or .jsonl.xz)")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="list up to N wrong answers of each group")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sets that are named and print the figures."""
    options = _arguments(arguments)
    sources = ((recognizers, options.recognizers), (timenorm, options.timenorm), (replay_cases, options.cases))
    cases = [case for source, path in sources if path is not None for case in source(path)]
    if not cases:
        sys.stderr.write("name at least one set\n")
        return 2
    scores, misses = score(cases, read)
    report = _report(cases, scores, score(cases, read_plain)[0])
    sys.stdout.write(json.dumps(report, indent=1) + "\n" if options.json else _table(report))
    shown: Counter[str] = Counter()
    for case, answer in misses:
        shown[case.group] += 1
        if shown[case.group] <= options.misses:
            expected = min(case.accept, default="nothing")
            sys.stdout.write(f"{case.group}: {case.phrase!r} at {case.anchor:%a %F}: {expected}, got {answer}\n")
    return 0


def _table(report: Mapping[str, Any]) -> str:
    lines = [f"{'group':28}{'cases':>7}{'coverage':>10}{'accuracy':>10}{'plain':>8}"]
    for group, row in report["groups"].items():
        lines.append(f"{group:28}{row['cases']:>7}{row['coverage']:>10.1%}{row['accuracy']:>10.1%}{row['plain']:>8.1%}")
    lines.append(f"{report['milliseconds_per_phrase']} ms per phrase")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())

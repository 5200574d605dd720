"""The figures of the local benchmark, from readings of its contestants.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ...extraction.backends.base import Request

BASE: Final = "a"
"""The contestant to which all others are compared."""
Reading = Mapping[str, Any]
Status = Literal["measured", "partial", "skipped", "failed"]
_MIB: Final = 1 << 20
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_COLUMNS: Final = (
    ("variant", "label", "{}"),
    ("turns", "episodes", "{}"),
    ("s/episode", "seconds_per_episode", "{:.3f}"),
    ("of (a)", "ratio", "{:.3f}"),
    ("faster", "times_faster", "{:.2f}x"),
    ("compile s", "compile_seconds_per_episode", "{:.3f}"),
    ("passes", "forward_passes_per_episode", "{:.1f}"),
    ("fed", "fed_tokens_per_episode", "{:.0f}"),
    ("tokens", "generated_tokens_per_episode", "{:.1f}"),
    ("ms/token", "ms_per_generated_token", "{:.1f}"),
    ("drafted", "drafted_share", "{:.0%}"),
    ("forced", "forced_share", "{:.0%}"),
    ("mask us", "mask_us", "{:.0f}"),
    ("peak MiB", "peak_mib", "{:.0f}"),
    ("valid", "valid_share", "{:.0%}"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What one contestant did: its readings, in the order of the requests, and why there are no more of them."""

    label: str
    status: Status
    reason: str | None = None
    readings: Sequence[Reading] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)


def figures(results: Mapping[str, Result], requests: Sequence[Request]) -> dict[str, dict[str, Any]]:
    """The figures of each contestant, by name.  None stands for what cannot be seen or was not measured."""
    base = results.get(BASE)
    return {name: _figures(result, base, requests) for name, result in results.items()}


def _figures(result: Result, base: Result | None, requests: Sequence[Request]) -> dict[str, Any]:
    found: dict[str, Any] = {"label": result.label, "status": result.status, "reason": result.reason, **result.notes}
    found["episodes"] = len(result.readings)
    if not result.readings:
        return found
    ratio = ratio_of(result.readings, base.readings) if base else None
    found["seconds_per_episode"] = result.readings[-1]["at"] / len(result.readings)
    found |= {"ratio": ratio, "times_faster": 1 / ratio if ratio else None}
    return found | _costs(result.readings) | _answers(result.readings, requests)


def ratio_of(readings: Sequence[Reading], base: Sequence[Reading]) -> float | None:
    """Seconds over seconds of the base, on the episodes that both have answered; None where there are none."""
    both = min(len(readings), len(base))
    return float(readings[both - 1]["at"] / base[both - 1]["at"]) if both else None


def _costs(readings: Sequence[Reading]) -> dict[str, Any]:
    """What the counters say; they are sums, so the last reading has it all."""
    last, count = readings[-1], len(readings)
    generated = sum(reading["generated"] for reading in readings)
    peaks = [reading["peak"] for reading in readings if reading["peak"] is not None]
    return {
        "compile_seconds_per_episode": _over(last["compile_seconds"], count),
        "forward_passes_per_episode": _over(last["passes"], count),
        "fed_tokens_per_episode": _over(last["fed"], count),
        "prompt_tokens_per_episode": sum(reading["prompt"] for reading in readings) / count,
        "generated_tokens_per_episode": generated / count,
        "ms_per_generated_token": _over(last["at"], generated, scale=1e3),
        "drafted_share": _over(last["engine"].get("right"), generated),
        "forced_share": _over(last["engine"].get("forced"), generated),
        "mask_us": _over(last["mask_seconds"], last["masks"], scale=1e6),
        "masks_per_episode": _over(last["masks"], count),
        "mask_seconds_per_episode": _over(last["mask_seconds"], count),
        "engine": dict(last["engine"]),
        "peak_mib": max(peaks) / _MIB if peaks else None,
    }


def _over(total: float | None, count: float | None, *, scale: float = 1.0) -> float | None:
    return None if total is None or not count else scale * total / count


def _answers(readings: Sequence[Reading], requests: Sequence[Request]) -> dict[str, Any]:
    valid = [is_instance(reading["text"], request.schema) for reading, request in zip(readings, requests, strict=False)]
    cut = [reading["generated"] >= request.budget.tokens for reading, request in zip(readings, requests, strict=False)]
    return {"valid_share": sum(valid) / len(valid), "cut_share": sum(cut) / len(cut)}


def is_instance(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether a text is JSON and an instance of a response schema; marks of substrings are not looked at."""
    try:
        return _fits(json.loads(text), schema)
    except ValueError:
        return False


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(_fits(value, member) for member in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return any(_is_same(value, allowed) for allowed in schema.get("enum", [schema.get("const")]))
    if isinstance(value, bool) and schema["type"] != "boolean":
        return False
    return isinstance(value, _TYPES[schema["type"]]) and _parts_fit(value, schema)


def _is_same(value: Any, allowed: Any) -> bool:
    return bool(value == allowed) and isinstance(value, bool) == isinstance(allowed, bool)


def _parts_fit(value: Any, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, dict):
        properties = schema["properties"]
        return value.keys() == properties.keys() and all(_fits(value[key], properties[key]) for key in properties)
    if isinstance(value, list):
        fits = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return fits and all(_fits(item, schema["items"]) for item in value)
    return True


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures for people, one line for each contestant, and below them why some have none or few."""
    rows = [[head for head, _, _ in _COLUMNS], *(_row(name, row) for name, row in found.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, *_remarks(found)]) + "\n"


def _row(name: str, row: Mapping[str, Any]) -> list[str]:
    cells = [form.format(row[key]) if row.get(key) is not None else "-" for _, key, form in _COLUMNS]
    return [f"({name}) {cells[0]}", *cells[1:]]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def _remarks(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [f"({name}) {row['status']}: {row['reason']}" for name, row in found.items() if row["reason"]]

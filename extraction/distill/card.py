"""What goes with a trained adapter: its calibration, and a model card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from ..calibration import Calibration, fit

TRAINING: Final = "sgam.json"
_ROWS: Final = (
    ("extraction.f1", "micro-F1 of (attribute, item, value)"),
    ("extraction.precision", "precision"),
    ("extraction.recall", "recall"),
    ("extraction.change_accuracy", "change right, of the values found"),
    ("negatives.false_writes_per_100", "false writes per 100 turns with nothing to store"),
)


def calibrate(turns: Path, adapter: Path, *, update_bias: float | None = None) -> Calibration:
    """Fit the calibration on scored turns, as `sgam.evals.extraction --out` writes them, and store it in the adapter.

    The turns must come from an adapter that is not calibrated yet.  Raises ValueError where they hold too little.
    """
    said = [row for line in turns.read_text(encoding="utf-8").splitlines() for row in json.loads(line)["predicted"]]
    known = [row for row in said if row["confidence"] is not None]
    found = fit([row["confidence"] for row in known], [row["right"] for row in known])
    data = json.loads((adapter / TRAINING).read_text(encoding="utf-8"))
    data["calibration"] = {"slope": round(found.slope, 4), "offset": round(found.offset, 4)}
    if update_bias is not None:
        data["update_bias"] = update_bias
    (adapter / TRAINING).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return found


def write_card(adapter: Path, figures: Sequence[Path], data: Sequence[str], name: str) -> Path:
    """Write the model card, `README.md` in the folder of the adapter, from figures of `sgam.evals.extraction`."""
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    template = Template((files(__package__) / "card.md").read_text(encoding="utf-8"))
    tables = [_table(json.loads(path.read_text(encoding="utf-8"))) for path in figures]
    text = template.substitute(
        name=name,
        base=config["base_model_name_or_path"],
        rank=config["r"],
        data="\n".join(f"* {line}" for line in data),
        figures="\n\n".join(tables) or "None were given.",
    )
    path = adapter / "README.md"
    path.write_text(text, encoding="utf-8")
    return path


def _table(figures: Mapping[str, Any]) -> str:
    kinds = ", ".join(figures.get("only") or ["all kinds"])
    head = f"{figures['cases']}, {kinds}: {figures['turns']:.0f} user turns, {figures['updates']:.0f} updates.\n"
    return "\n".join([head, "| | | 95 % |", "|---|---|---|", *_rows(figures)])


def _rows(figures: Mapping[str, Any]) -> Iterator[str]:
    for key, label in _ROWS:
        yield _row(figures, key, label)
    for key in sorted(figures):
        if key.startswith(("extraction.f1.", "extraction.recall.")) and not key.endswith((".low", ".high")):
            yield _row(figures, key, key.removeprefix("extraction.").replace(".", ", "))


def _row(figures: Mapping[str, Any], key: str, label: str) -> str:
    return f"| {label} | {figures[key]:.2f} | {figures[f'{key}.low']:.2f} to {figures[f'{key}.high']:.2f} |"

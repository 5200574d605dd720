"""What an answer costs: a table that the user gives, since no price stays right for long."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...memory_store.errors import InvalidInput

_MILLION: Final = 1_000_000
_FORM: Final = 'give {"MODEL": {"input": 0.25, "cached": 0.025, "output": 2.0}}, per million tokens'


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """Money per million tokens, in any one unit: of a prompt, of a prompt that the provider had cached, generated."""

    input: float
    output: float
    cached: float | None = None

    def of(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """The cost; `cached_tokens` are among the `prompt_tokens`."""
        cached = self.input if self.cached is None else self.cached
        fresh = (prompt_tokens - cached_tokens) * self.input
        return (fresh + cached_tokens * cached + completion_tokens * self.output) / _MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """The prices by model in a JSON file.  Raises InvalidInput, which names the model and the field."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"prices {path}: {error}", hint=_FORM) from error
    if not isinstance(table, dict):
        raise InvalidInput(f"prices {path}: not a JSON object", hint=_FORM)
    return {model: _price(model, row) for model, row in table.items()}


def _price(model: str, row: Any) -> Price:
    if not isinstance(row, dict) or not {"input", "output"} <= set(row) <= {"input", "output", "cached"}:
        raise InvalidInput(f"prices of {model}: expected input, output and perhaps cached, got {row!r}", hint=_FORM)
    for name, amount in row.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < float("inf"):
            raise InvalidInput(f"prices of {model}: {name} is no amount: {amount!r}", hint=_FORM)
    return Price(**row)

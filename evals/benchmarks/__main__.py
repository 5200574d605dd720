"""`python -m sgam.evals.benchmarks`: the ratios that have a bound, as one JSON object."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from .ledger import commit_ratio, long_key_ratio, read_ratio


def main() -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name)
        figures = {
            "commit": commit_ratio(folder),
            "read": read_ratio(folder),
            "long_key": long_key_ratio(folder),
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()

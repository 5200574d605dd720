"""What probes found out, kept per base URL, model and version of the server."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ...memory_store.errors import BackendUnavailable
from .openai import OpenAIBackend
from .places import cache_root
from .probe import Probe
from .server import version_of


def verdict(backend: OpenAIBackend) -> Probe | None:
    """What the last probe of this model on this server found; None when there was none of its present version."""
    known = _read(_file()).get(_key(backend))
    if known is None:
        return None
    found = Probe.from_json(known)
    return found if found.server == version_of(backend) else None


def keep(backend: OpenAIBackend, found: Probe) -> Path:
    """Write down what a probe found, in place of what an earlier one found; the file."""
    file = _file()
    known = _read(file) | {_key(backend): found.to_json()}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:
            json.dump(known, new, indent=2, ensure_ascii=False)
        Path(new.name).replace(file)
    except OSError as error:
        raise BackendUnavailable(f"{file}: {error.strerror}", hint="name another folder in SGAM_CACHE") from error
    return file


def _file() -> Path:
    return cache_root() / "probes.json"


def _key(backend: OpenAIBackend) -> str:
    return f"{backend.where} {backend.model} {backend.flavour.name} {backend.api}"


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BackendUnavailable(f"{file}: cannot be read: {error}", hint="remove it, and probe again") from error
    return known if isinstance(known, dict) else {}

"""Which server answers at a base URL, and in what version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import httpx2

    from .openai import OpenAIBackend

UNKNOWN: Final = "unknown"
_PLACES: Final = (("/version", "version"), ("/api/version", "version"), ("/props", "build_info"))
"""Where vLLM and SGLang, Ollama, and llama.cpp tell their version."""
_SECONDS: Final = 5.0


def version_of(backend: OpenAIBackend) -> str:
    """The server's name and version as far as it tells them, else `unknown`."""
    if backend.base_url is None:
        return "OpenAI"
    import httpx2

    root = backend.where.removesuffix("/").removesuffix("/v1")
    try:
        with httpx2.Client(transport=backend.transport, timeout=_SECONDS, headers=backend.headers) as client:
            return _version(client, root)
    except (httpx2.HTTPError, ValueError):
        return UNKNOWN


def _version(client: httpx2.Client, root: str) -> str:
    kind = ""
    for path, field in _PLACES:
        answer = client.get(root + path)
        kind = kind or answer.headers.get("server", "")
        found = _field(answer, field)
        if found:
            return f"{kind} {found}".strip()
    return kind or UNKNOWN


def _field(answer: Any, name: str) -> str:
    if answer.status_code != 200:
        return ""
    try:
        data = json.loads(answer.text)
    except ValueError:
        return ""
    return str(data.get(name) or "")[:100] if isinstance(data, dict) else ""

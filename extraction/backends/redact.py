"""Keeping secrets out of what is stored, logged or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "***"
_KEYS: Final = re.compile(r"\b(?:sk|pk|rk|key|Bearer)[-_ ][A-Za-z0-9_\-.*]{6,}")


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets and without whatever else looks like an API key; for messages of a server."""
    return _KEYS.sub(MASK, masked(text, secrets))

"""Model names of the command line, and the backends that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from ..extraction.backends.base import Backend
from ..memory_store.errors import BackendUnavailable, InvalidUrl

NAMES: Final = "local, local:ID_OR_PATH or scripted:FILE"


def backend_of(model: str) -> Backend:
    """The backend that a model name stands for; nothing is loaded yet.  Raises InvalidUrl or BackendUnavailable."""
    kind, colon, rest = model.partition(":")
    make = _MAKERS.get(kind)
    if make is None:
        raise InvalidUrl(f"model {model!r}: unknown kind", hint=f"use {NAMES}")
    if colon and not rest:
        raise InvalidUrl(f"model {model!r}: nothing follows the colon", hint=f"use {NAMES}")
    return make(rest)


def _local(rest: str) -> Backend:
    from ..extraction.backends.local import LocalBackend

    return LocalBackend(rest or None)


def _scripted(rest: str) -> Backend:
    from ..extraction.backends.scripted import ScriptedBackend

    if not rest:
        raise InvalidUrl("model 'scripted': no file is named", hint="use scripted:FILE")
    return ScriptedBackend.from_file(rest)


def _not_yet(kind: str) -> Callable[[str], Backend]:
    def refuse(rest: str) -> Backend:
        raise BackendUnavailable(f"model {kind}:{rest}: {kind} models are not supported yet", hint=f"use {NAMES}")

    return refuse


_MAKERS: Final[Mapping[str, Callable[[str], Backend]]] = MappingProxyType(
    {"local": _local, "scripted": _scripted, "openai": _not_yet("openai"), "instructor": _not_yet("instructor")}
)

"""Schema-Guided Agent Memory: typed facts that stay correct when they change.

The public names are loaded when they are first asked for, so that `import sgam` costs nothing and a program that only
reads a store never loads a model library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agent.async_memory import AsyncMemory
    from .agent.memory import Memory
    from .extraction.backends.local import LocalBackend
    from .extraction.backends.scripted import ScriptedBackend
    from .memory_store.errors import SgamError
    from .memory_store.model import Candidate, Episode, Evidence, Fact, Proposal, Receipt
    from .memory_store.schema import Attribute, MemorySchema, MemoryType, attribute
    from .memory_store.store import open_store

__all__ = [
    "AsyncMemory",
    "Attribute",
    "Candidate",
    "Episode",
    "Evidence",
    "Fact",
    "LocalBackend",
    "Memory",
    "MemorySchema",
    "MemoryType",
    "Proposal",
    "Receipt",
    "ScriptedBackend",
    "SgamError",
    "attribute",
    "open_store",
]

_HOME = {
    "AsyncMemory": "sgam.agent.async_memory",
    "Attribute": "sgam.memory_store.schema",
    "Candidate": "sgam.memory_store.model",
    "Episode": "sgam.memory_store.model",
    "Evidence": "sgam.memory_store.model",
    "Fact": "sgam.memory_store.model",
    "LocalBackend": "sgam.extraction.backends.local",
    "Memory": "sgam.agent.memory",
    "MemorySchema": "sgam.memory_store.schema",
    "MemoryType": "sgam.memory_store.schema",
    "Proposal": "sgam.memory_store.model",
    "Receipt": "sgam.memory_store.model",
    "ScriptedBackend": "sgam.extraction.backends.scripted",
    "SgamError": "sgam.memory_store.errors",
    "attribute": "sgam.memory_store.schema",
    "open_store": "sgam.memory_store.store",
}


if not TYPE_CHECKING:  # a checker that saw __getattr__ would accept any name

    def __getattr__(name: str) -> object:
        """Load a public name from its home module (PEP 562)."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Name what is public, whether loaded or not."""
    return sorted({*globals(), *__all__})

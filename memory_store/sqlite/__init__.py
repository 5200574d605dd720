"""The store in one SQLite file, on the standard library's driver."""

from .store import SqliteStore

__all__ = ["SqliteStore"]

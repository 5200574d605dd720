"""The SQL of the store: statements under names, from packaged files."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from importlib.resources import files
from typing import Final, LiteralString, NamedTuple

_NAMED: Final = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.MULTILINE | re.DOTALL)


class Migration(NamedTuple):
    """One numbered step; `statements` run in one transaction together with the record of the step."""

    number: int
    name: str
    statements: tuple[LiteralString, ...]


@cache
def queries() -> dict[str, LiteralString]:
    """Every statement by its name."""
    text = (files("sgam.memory_store.sqlite") / "sql/queries.sql").read_text(encoding="utf-8")
    return {name: body.strip() for name, body in _NAMED.findall(text)}


@cache
def migrations() -> tuple[Migration, ...]:
    """All steps in order."""
    folder = files("sgam.memory_store.sqlite") / "sql/migrations"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(
        Migration(int(entry.name[:4]), entry.name[5:-4], statements(entry.read_text(encoding="utf-8")))
        for entry in found
    )


def statements(script: str) -> tuple[LiteralString, ...]:
    """The statements of a script; a trigger counts as one."""
    found: list[LiteralString] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return tuple(found)

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sgam.agent.cli import main

SCHEMA = {
    "name": "travel",
    "version": 1,
    "types": {
        "traveller": {
            "description": "A person we book travel for.",
            "attributes": {
                "passport_deadline": {"type": "date", "description": "Day by which the passport must be renewed"},
                "answer_style": {"type": "enum", "values": ["concise", "detailed"], "description": "Length of answers"},
                "home_city": {"type": "text", "description": "City of residence"},
                "fare_limit": {"type": "decimal", "description": "Most that a trip may cost"},
                "allergies": {"type": "text", "many": "set", "description": "Foods the person cannot eat"},
                "rating": {"type": "enum", "values": ["like", "dislike"], "many": "map", "description": "Opinions"},
                "iban": {"type": "text", "confirm": True, "description": "Bank account"},
            },
        }
    },
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Sgam = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a schema, and a store named by the environment that does not exist yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SGAM_DB", "sqlite:///memory.db")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return tmp_path


@pytest.fixture
def sgam(home: Path, capsys: pytest.CaptureFixture[str]) -> Sgam:
    """Run a command as its entry point does."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture(scope="session")
def known_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which something is known about mira, all of it set by hand."""
    folder = tmp_path_factory.mktemp("known")
    schema, database = folder / "schema.json", folder / "memory.db"
    schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    for arguments in (
        ("home_city", "Oslo", "--valid-from", "2023-01-01T00:00:00Z"),
        ("home_city", "Rome", "--valid-from", "2024-01-01T00:00:00Z"),
        ("passport_deadline", "2026-07-15", "--valid-from", "2026-06-01T09:00:00Z"),
        ("allergies", "nuts"),
        ("allergies", "milk"),
        ("iban", "XX12"),
    ):
        where = ("--schema", str(schema), "--db", f"sqlite:///{database}")
        assert main(["set", "mira", *arguments, *where]) == 0
    return database


@pytest.fixture
def mira(sgam: Sgam, home: Path, known_store: Path) -> Sgam:
    """Commands on a copy of the store in which something is known about mira."""
    shutil.copy(known_store, home / "memory.db")
    return sgam


def update(quote: str, attribute: str, value: object, **more: object) -> dict[str, object]:
    """One update as a model returns it, with its fields in order."""
    fields = {
        "evidence": quote,
        "subject": "mira",
        "attribute": attribute,
        "item": None,
        "current_value": None,
        "change": "new",
        "value": value,
        "when": None,
        "until": None,
    }
    return {**fields, **more}

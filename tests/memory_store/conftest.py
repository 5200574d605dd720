"""Fixtures of the ledger's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sgam.memory_store.store import open_store

from .ledgers import Notebook, notebook
from .writers import Nursery, running_nursery


@pytest.fixture(params=["memory", "sqlite"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Notebook]:
    """A notebook of an empty store, once in memory and once in a file."""
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'ledger.db'}"
    made = notebook(open_store(url))
    yield made
    made.ledger.store.close()


@pytest.fixture
def sqlite_book(tmp_path: Path) -> Iterator[Notebook]:
    """A notebook in the file `ledger.db` of `tmp_path`."""
    made = notebook(open_store(f"sqlite:///{tmp_path / 'ledger.db'}"))
    yield made
    made.ledger.store.close()


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Starts other processes that write."""
    with running_nursery(tmp_path_factory.mktemp("writers")) as made:
        yield made

"""The tree of errors is the one that is drawn, and no driver's error goes around it."""

from __future__ import annotations

import inspect
import re
import sqlite3
from pathlib import Path

import pytest
from sgam.memory_store import errors
from sgam.memory_store.errors import (
    BackendError,
    InvalidEpisode,
    NotAStore,
    SgamError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from sgam.memory_store.sqlite.connection import translated

CLASSES = [entry for _, entry in inspect.getmembers(errors, inspect.isclass) if issubclass(entry, SgamError)]


def drawn() -> list[tuple[str, int]]:
    """Names of the tree in the docstring with their depth."""
    found = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ((?:[│ ]   )*(?:[├└]── )?)([A-Z]\w+)(?:\s{2}|$)", line)
        if match:
            found.append((match[2], len(match[1]) // 4))
    return found


def real(root: type[SgamError] = SgamError, depth: int = 0) -> list[tuple[str, int]]:
    below = sorted(root.__subclasses__(), key=lambda entry: inspect.getsourcelines(entry)[1])
    ours = [entry for entry in below if entry.__module__ == errors.__name__]
    return [(root.__name__, depth), *(line for entry in ours for line in real(entry, depth + 1))]


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    assert drawn() == real()


def test_what_is_retryable_is_said_so_in_the_docstring() -> None:
    lines = {line.split("── ")[1].split()[0]: line for line in (errors.__doc__ or "").splitlines() if "── " in line}
    said = {name for name, line in lines.items() if "(retryable)" in line}
    branches = {StoreError, BackendError}
    retryable = {entry.__name__ for entry in CLASSES if branches & set(entry.__mro__[1:]) and entry.retryable}

    assert said == retryable


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_each_class_says_whether_to_try_again_and_what_to_do(kind: type[SgamError]) -> None:
    error = kind("went wrong", field="text") if issubclass(kind, InvalidEpisode) else kind("went wrong")

    assert isinstance(error.retryable, bool)
    assert isinstance(error.hint, str)
    assert "went wrong" in str(error)
    assert kind.__doc__


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_hint_of_its_own_takes_the_place_of_the_usual_one(kind: type[SgamError]) -> None:
    more = {"field": "text"} if issubclass(kind, InvalidEpisode) else {}

    assert kind("went wrong", hint="turn it off", **more).hint == "turn it off"


def test_an_episode_error_names_the_field() -> None:
    error = InvalidEpisode("is empty", field="text")

    assert str(error) == "text: is empty"
    assert error.field == "text"


def driver_error(code: int | None) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as the driver says")
    if code is not None:
        error.sqlite_errorcode = code
    return error


CODES = {name: code for name, code in vars(sqlite3).items() if re.fullmatch(r"SQLITE_[A-Z_]+", name)}
NAMED = {
    "SQLITE_BUSY": StoreBusy,
    "SQLITE_BUSY_SNAPSHOT": StoreBusy,
    "SQLITE_LOCKED": StoreBusy,
    "SQLITE_FULL": StoreFull,
    "SQLITE_READONLY": StoreReadOnly,
    "SQLITE_READONLY_DIRECTORY": StoreReadOnly,
    "SQLITE_CANTOPEN": StoreReadOnly,
    "SQLITE_NOTADB": NotAStore,
    "SQLITE_CORRUPT": NotAStore,
    "SQLITE_CORRUPT_INDEX": NotAStore,
    "SQLITE_IOERR": StoreError,
    "SQLITE_CONSTRAINT_CHECK": StoreError,
}


@pytest.mark.parametrize("name", CODES)
def test_every_code_of_the_driver_becomes_an_error_of_the_store(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught, translated(tmp_path / "a.db"):
        raise driver_error(CODES[name])

    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", NAMED)
def test_the_common_codes_have_errors_of_their_own(name: str, tmp_path: Path) -> None:
    with pytest.raises(NAMED[name]) as caught, translated(tmp_path / "a.db"):
        raise driver_error(CODES[name])

    assert type(caught.value) is NAMED[name]
    assert str(caught.value) == f"{tmp_path / 'a.db'}: as the driver says"


def test_an_error_without_a_code_is_one_of_the_store_too(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="as the driver says"), translated(tmp_path / "a.db"):
        raise driver_error(None)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the folder does not exist"), translated(tmp_path / "none" / "a.db"):
        raise driver_error(sqlite3.SQLITE_CANTOPEN)

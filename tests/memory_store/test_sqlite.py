"""The file behind the SQLite store: its layout, its settings, its guards, and what it says when something is wrong."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sgam.memory_store.errors import (
    InvalidUrl,
    NotAStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreTooNew,
)
from sgam.memory_store.records import (
    AssertionRow,
    CandidateRow,
    DecisionRow,
    EpisodeRow,
    ErasureRow,
    EvidenceRow,
    FactRecord,
    FactRow,
    HoldRow,
    QuarantineRow,
    SettlementRow,
    TombstoneRow,
)
from sgam.memory_store.sqlite import SqliteStore, connection
from sgam.memory_store.sqlite.queries import migrations, statements
from sgam.memory_store.store import Transaction, open_store

from .ledgers import SCHEMA, Notebook, day, notebook

TABLES = {
    "episodes": EpisodeRow,
    "candidates": CandidateRow,
    "evidence": EvidenceRow,
    "decisions": DecisionRow,
    "assertions": AssertionRow,
    "holds": HoldRow,
    "settlements": SettlementRow,
    "facts": FactRow,
    "quarantine": QuarantineRow,
    "erasures": ErasureRow,
    "tombstones": TombstoneRow,
}


def names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def connection_of(book: Notebook) -> sqlite3.Connection:
    store = book.ledger.store
    assert isinstance(store, SqliteStore)
    return store._connection()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def filled(path: Path) -> Path:
    """A store with two facts, closed."""
    book = notebook(SqliteStore(path))
    book.tell("Porto", since=1)
    book.tell("Lisbon", since=2)
    book.ledger.store.close()
    return path


def believed(path: Path) -> list[str]:
    book = notebook(SqliteStore(path))
    values = [value for _, _, value in book.timeline()]
    book.ledger.store.close()
    return values


class TestLayout:
    def layout(self, scripts: list[tuple[str, ...]]) -> list[tuple[str, str, str]]:
        made = sqlite3.connect(":memory:")
        for script in scripts:
            for statement in script:
                made.execute(statement)
        rows = made.execute("select type, name, sql from sqlite_master order by type, name").fetchall()
        made.close()
        return [(kind, name, re.sub(r"\s+", " ", sql or "")) for kind, name, sql in rows]

    def test_all_migrations_together_give_the_schema(self) -> None:
        schema = (files("sgam.memory_store.sqlite") / "sql/schema.sql").read_text(encoding="utf-8")

        assert self.layout([step.statements for step in migrations()]) == self.layout([statements(schema)])

    def test_migrations_are_numbered_without_gaps(self) -> None:
        assert [step.number for step in migrations()] == list(range(1, len(migrations()) + 1))

    @pytest.mark.parametrize("table", TABLES)
    def test_the_columns_of_a_table_are_the_fields_of_its_row_in_order(self, sqlite_book: Notebook, table: str) -> None:
        columns = [row[1] for row in connection_of(sqlite_book).execute(f"pragma table_info({table})")]

        assert columns == ["tenant", *names(TABLES[table])]

    def test_the_columns_of_the_view_of_facts_are_those_of_a_record(self, sqlite_book: Notebook) -> None:
        columns = [row[1] for row in connection_of(sqlite_book).execute("pragma table_info(fact_records)")]

        assert columns == ["tenant", *names(FactRow), *names(FactRecord)[1:-1]]

    def test_the_columns_of_the_view_of_candidates_are_those_of_a_status(self, sqlite_book: Notebook) -> None:
        columns = [row[1] for row in connection_of(sqlite_book).execute("pragma table_info(candidate_status)")]
        waits = [name if name.startswith("hold") else f"hold_{name}" for name in names(HoldRow)]

        assert columns == ["tenant", *names(CandidateRow), "live_precedence", *waits]

    def test_every_table_but_that_of_schemas_begins_with_the_tenant(self, sqlite_book: Notebook) -> None:
        made = connection_of(sqlite_book)
        tables = [name for (name,) in made.execute("select name from sqlite_master where type = 'table'")]
        ours = [name for name in tables if not name.startswith("sqlite_")]
        first = {name: made.execute(f"pragma table_info({name})").fetchone()[1] for name in ours}

        assert {name for name, column in first.items() if column != "tenant"} == {"schemas"}


class TestSettings:
    @pytest.mark.parametrize(
        ("pragma", "value"),
        [
            ("journal_mode", "wal"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("secure_delete", 1),
            ("busy_timeout", 5000),
            ("temp_store", 2),
            ("application_id", 0x5347414D),
            ("user_version", len(migrations())),
        ],
    )
    def test_a_setting_is_in_force(self, sqlite_book: Notebook, pragma: str, value: object) -> None:
        assert connection_of(sqlite_book).execute(f"pragma {pragma}").fetchone() == (value,)

    def test_it_is_in_force_on_the_connection_of_another_thread(self, sqlite_book: Notebook) -> None:
        seen: list[Any] = []

        def look() -> None:
            mine = connection_of(sqlite_book)
            seen.extend(
                mine.execute(f"pragma {name}").fetchone()[0]
                for name in ("synchronous", "foreign_keys", "secure_delete")
            )

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

        assert seen == [2, 1, 1]

    def test_the_weaker_durability_is_a_named_option(self, path: Path) -> None:
        book = notebook(SqliteStore(path, synchronous="normal"))

        assert connection_of(book).execute("pragma synchronous").fetchone() == (1,)
        book.ledger.store.close()


class TestGuards:
    @pytest.fixture
    def facts(self, sqlite_book: Notebook) -> sqlite3.Connection:
        """A connection with `Porto` from day 1 to day 5 and `Lisbon` from day 5 on."""
        sqlite_book.tell("Porto", since=1)
        sqlite_book.tell("Lisbon", since=5)
        return connection_of(sqlite_book)

    def insert(self, facts: sqlite3.Connection, since: float, until: float | None, **changes: object) -> None:
        (last,) = facts.execute("select max(fact_id) from facts").fetchone()
        columns = [row[1] for row in facts.execute("pragma table_info(facts)")]
        row = dict(zip(columns, facts.execute("select * from facts limit 1").fetchone(), strict=True))
        row |= {"fact_id": last + 100, "known_to": None, "valid_from": stamp(since), "valid_to": until and stamp(until)}
        row |= changes
        places = ", ".join(f":{name}" for name in columns)
        facts.execute(f"insert into facts values ({places})", row)  # noqa: S608 - the columns are the table's own

    def test_a_second_open_fact_is_refused(self, facts: sqlite3.Connection) -> None:
        facts.execute("drop trigger facts_do_not_overlap")

        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            self.insert(facts, 9, None)

    def test_a_second_fact_from_the_same_instant_is_refused(self, facts: sqlite3.Connection) -> None:
        facts.execute("drop trigger facts_do_not_overlap")

        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            self.insert(facts, 1, 2)

    @pytest.mark.parametrize(
        ("since", "until"), [(2, 3), (0, 2), (0, 9), (4, 6), (5, 6), (7, 9), (7, None), (0, None), (1, 5)], ids=str
    )
    def test_a_fact_that_overlaps_another_is_refused(
        self, facts: sqlite3.Connection, since: float, until: float | None
    ) -> None:
        with pytest.raises(sqlite3.IntegrityError, match=r"overlap|UNIQUE"):
            self.insert(facts, since, until)

    def test_a_fact_that_touches_its_neighbour_is_allowed(self, facts: sqlite3.Connection) -> None:
        self.insert(facts, 0, 1)

        assert facts.execute("select count(*) from facts where known_to is null").fetchone() == (3,)

    def test_a_fact_of_another_key_or_tenant_is_no_overlap(self, facts: sqlite3.Connection) -> None:
        self.insert(facts, 2, 3, attribute="city")
        self.insert(facts, 2, 3, item="x")

        assert facts.execute("select count(*) from facts where known_to is null").fetchone() == (4,)

    def test_a_closed_fact_may_lie_anywhere(self, facts: sqlite3.Connection) -> None:
        self.insert(facts, 2, 3, known_to=stamp(9000))

    @pytest.mark.parametrize(
        "changes",
        [
            {"valid_from": "2026-02-01", "valid_to": "2026-02-01"},
            {"known_to": "2020-01-01"},
            {"assertion_id": 999},
            {"tenant": "other"},
            {"value": None},
        ],
        ids=str,
    )
    def test_a_row_that_makes_no_sense_is_refused(self, facts: sqlite3.Connection, changes: dict[str, object]) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            self.insert(facts, -9, -8, **changes)

    def test_an_episode_that_candidates_rest_on_cannot_be_deleted(self, facts: sqlite3.Connection) -> None:
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            facts.execute("delete from episodes")


def stamp(number: float) -> str:
    return f"{day(number):%Y-%m-%dT%H:%M:%S.%fZ}"


class TestWrongFiles:
    def check(self, path: Path, kind: type[StoreError], message: str) -> StoreError:
        with pytest.raises(kind, match=message) as caught:
            SqliteStore(path)

        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
        return caught.value

    def test_a_database_of_another_program_is_left_as_it_is(self, path: Path) -> None:
        other = sqlite3.connect(path)
        other.execute("create table people (name text)")
        other.commit()
        other.close()
        before = path.read_bytes()

        self.check(path, NotAStore, "belongs to another program")
        assert path.read_bytes() == before

    def test_a_database_marked_by_another_program_is_refused_though_it_is_empty(self, path: Path) -> None:
        other = sqlite3.connect(path)
        other.execute("pragma application_id = 7")
        other.execute("create table people (name text)")
        other.execute("drop table people")
        other.commit()
        other.close()

        self.check(path, NotAStore, "belongs to another program")

    def test_a_text_file_is_refused_and_left_as_it_is(self, path: Path) -> None:
        path.write_text("Dear diary, today I moved to Porto.\n" * 100, encoding="utf-8")
        before = path.read_bytes()

        self.check(path, NotAStore, "not a database")
        assert path.read_bytes() == before

    def test_a_file_with_a_damaged_head_is_refused(self, filled: Path) -> None:
        filled.write_bytes(b"damaged!" + filled.read_bytes()[8:])

        self.check(filled, NotAStore, "not a database")

    def test_a_file_with_damaged_pages_says_so_when_it_is_read(self, filled: Path) -> None:
        content = bytearray(filled.read_bytes())
        content[8192:] = b"\xa5" * len(content[8192:])
        filled.write_bytes(bytes(content))

        with pytest.raises(NotAStore) as caught:
            believed(filled)
        assert "\n" not in str(caught.value)

    def test_a_file_that_was_cut_short_says_so(self, filled: Path) -> None:
        filled.write_bytes(filled.read_bytes()[:5000])

        with pytest.raises(StoreError):
            believed(filled)

    def test_an_empty_file_becomes_a_store(self, path: Path) -> None:
        path.touch()

        assert believed(path) == []

    def test_a_directory_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="unable to open") as caught:
            SqliteStore(tmp_path)

        assert "\n" not in str(caught.value)

    def test_a_folder_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        error = self.check(tmp_path / "none" / "a.db", StoreError, "the folder does not exist")

        assert error.hint == f"create {tmp_path / 'none'}"

    def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(self, filled: Path) -> None:
        newer = sqlite3.connect(filled)
        newer.execute("pragma user_version = 99")
        newer.close()

        self.check(filled, StoreTooNew, "newer sgam .layout 99, this one knows")
        newer = sqlite3.connect(filled)
        newer.execute(f"pragma user_version = {len(migrations())}")
        newer.close()
        assert believed(filled) == ["Porto", "Lisbon"]


OPEN_AND_TELL = """
import os, sys
from pathlib import Path
from sgam.memory_store.errors import SgamError
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.model import Episode, Outcome
from sgam.memory_store.schema import MemorySchema
from sgam.memory_store.sqlite import SqliteStore
schema = MemorySchema.from_json(Path(sys.argv[2]))
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    ledger = Ledger(SqliteStore(Path(sys.argv[1])), schema)
    print("opened")
    ledger.capture("t", Episode.from_json({"text": "hello", "observed_at": "2026-01-01T00:00:00Z"}))
    print("written")
except SgamError as error:
    print(type(error).__name__, "|", error)
"""


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that every user may enter, which those of a test run are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


class TestReadOnly:
    def told(self, path: Path) -> list[str]:
        """What a process without rights of its own gets to see."""
        schema = path.with_name("schema.json")
        command = [sys.executable, "-c", OPEN_AND_TELL, str(path), str(schema)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    @pytest.fixture
    def guarded(self, open_to_all: Path, filled: Path) -> Path:
        (open_to_all / "schema.json").write_text(SCHEMA.to_json(), encoding="utf-8")
        shutil.copy(filled, open_to_all / "ledger.db")
        return open_to_all / "ledger.db"

    def test_a_file_and_folder_that_cannot_be_written(self, guarded: Path) -> None:
        guarded.chmod(0o444)
        guarded.parent.chmod(0o555)
        (*_, last) = self.told(guarded)
        guarded.parent.chmod(0o755)

        assert last.startswith("StoreReadOnly | ")
        assert believed(guarded) == ["Porto", "Lisbon"]

    def test_a_file_that_cannot_be_read(self, guarded: Path) -> None:
        guarded.chmod(0o000)

        assert self.told(guarded)[-1].startswith("StoreReadOnly | ")

    def test_a_new_file_in_a_folder_that_cannot_be_written(self, guarded: Path) -> None:
        guarded.unlink()
        guarded.parent.chmod(0o555)
        (*_, last) = self.told(guarded)
        guarded.parent.chmod(0o755)

        assert last.startswith("StoreReadOnly | ")


class TestFullDisk:
    def test_it_is_said_and_what_was_committed_stays(self, path: Path) -> None:
        book = notebook(SqliteStore(path))
        book.tell("Porto")
        (pages,) = connection_of(book).execute("pragma page_count").fetchone()
        connection_of(book).execute(f"pragma max_page_count = {pages}")

        def fill() -> None:
            for number in range(1, 200):
                book.tell(f"{'Lisbon' * 400} {number}", since=number)

        with pytest.raises(StoreFull) as caught:
            fill()
        done = len(book.timeline())
        book.ledger.store.close()

        assert caught.value.retryable
        assert "\n" not in str(caught.value)
        assert 1 <= done < 200
        assert len(believed(path)) == done

    def test_the_same_call_succeeds_once_there_is_space(self, path: Path) -> None:
        book = notebook(SqliteStore(path))
        (pages,) = connection_of(book).execute("pragma page_count").fetchone()
        connection_of(book).execute(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreFull):
            book.tell("Lisbon" * 600)
        connection_of(book).execute("pragma max_page_count = 1000000")
        book.written = 0

        assert book.tell("Lisbon" * 600) == "new no_value_then"
        book.ledger.store.close()

    def test_a_log_that_cannot_grow_is_an_error_too(self, filled: Path) -> None:
        code = (
            "import resource, signal, sys\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "from pathlib import Path\n"
            "from sgam.memory_store.errors import StoreError\n"
            "from sgam.memory_store.ledger import Ledger\n"
            "from sgam.memory_store.model import Episode\n"
            "from sgam.memory_store.schema import MemorySchema\n"
            "from sgam.memory_store.sqlite import SqliteStore\n"
            "store = SqliteStore(Path(sys.argv[1]))\n"
            "ledger = Ledger(store, MemorySchema.from_json(store.schemas()[0][2]))\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
            "try:\n"
            "    for number in range(200):\n"
            "        said = {'text': 'x' * 20_000 + str(number), 'observed_at': '2026-01-01T00:00:00Z'}\n"
            "        ledger.capture('t', Episode.from_json(said))\n"
            "except StoreError as error:\n"
            "    print(type(error).__name__, '|', error)\n"
        )
        ran = subprocess.run([sys.executable, "-c", code, str(filled)], capture_output=True, text=True, timeout=60)

        assert ran.stdout.startswith(("StoreFull | ", "StoreError | "))
        assert len(ran.stdout.splitlines()) == 1
        assert ran.stderr == ""
        assert believed(filled) == ["Porto", "Lisbon"]


class TestLocks:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.02)
        monkeypatch.setattr(connection, "PATIENCE", 0.2)

    def test_readers_read_on_while_a_writer_holds_the_lock(self, filled: Path) -> None:
        book = notebook(SqliteStore(filled))
        writer = sqlite3.connect(filled, isolation_level=None)
        writer.execute("begin immediate")
        writer.execute("update facts set value = '\"elsewhere\"'")

        assert [value for _, _, value in book.timeline()] == ["Porto", "Lisbon"]
        writer.close()
        book.ledger.store.close()

    def test_a_writer_writes_on_while_a_reader_holds_a_snapshot(self, filled: Path) -> None:
        book = notebook(SqliteStore(filled))
        book.written = 2
        reader = sqlite3.connect(filled, isolation_level=None)
        reader.execute("begin")
        before = reader.execute("select count(*) from facts").fetchone()

        assert book.tell("Faro", since=3) == "supersede other_value_then"
        assert reader.execute("select count(*) from facts").fetchone() == before
        reader.close()
        book.ledger.store.close()

    def test_a_writer_that_waited_too_long_says_so(self, filled: Path) -> None:
        book = notebook(SqliteStore(filled))
        book.written = 2
        other = sqlite3.connect(filled, isolation_level=None)
        other.execute("begin immediate")

        with pytest.raises(StoreBusy, match="locked") as caught:
            book.tell("Faro", since=3)
        assert caught.value.retryable
        other.execute("rollback")
        book.written = 2
        assert book.tell("Faro", since=3) == "supersede other_value_then"
        other.close()
        book.ledger.store.close()

    def test_a_transaction_that_met_a_lock_is_run_again_as_a_whole(
        self, filled: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connection, "PATIENCE", 30.0)
        book = notebook(SqliteStore(filled))
        book.written = 2
        other = sqlite3.connect(filled, isolation_level=None, check_same_thread=False)
        other.execute("begin immediate")
        release = threading.Timer(0.3, other.execute, ["rollback"])
        release.start()

        assert book.tell("Faro", since=3) == "supersede other_value_then"
        release.join()
        other.close()
        book.ledger.store.close()

    def test_an_error_in_the_middle_undoes_all_of_a_transaction(self, book: Notebook) -> None:
        book.tell("Porto")
        before = (book.known(), book.timeline())

        def fail(tx: Transaction) -> None:
            row = tx.episode("e1")
            assert row is not None
            tx.insert(replace(row, episode_no=tx.next_id(), episode_id="x", known_at=tx.known_at))
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            book.ledger.store.write("t", day(2000), fail)

        assert (book.known(), book.timeline()) == before
        assert book.ledger.store.read("t", lambda view: view.episode("x")) is None


class TestUrls:
    @pytest.mark.parametrize(
        "url", ["", "ledger.db", "sqlite:", "sqlite://ledger.db", "sqlite:///", "mysql://x", "memory:name"]
    )
    def test_one_that_cannot_be_read_is_an_error_with_a_hint(self, url: str) -> None:
        with pytest.raises(InvalidUrl, match=r"^store "):
            open_store(url)

    def test_three_slashes_are_relative_and_four_absolute(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for url in ("sqlite:///relative.db", f"sqlite:///{tmp_path}/absolute.db"):
            open_store(url).close()

        assert {file.name for file in tmp_path.glob("*.db")} == {"relative.db", "absolute.db"}

    def test_the_password_of_a_server_is_not_repeated(self) -> None:
        with pytest.raises(InvalidUrl) as caught:
            open_store("postgresql://ana:secret@host/db")

        assert "secret" not in str(caught.value)


def test_a_store_that_was_closed_is_opened_again_by_its_next_use(filled: Path) -> None:
    store = SqliteStore(filled)
    store.close()

    assert notebook(store).timeline()[0][2] == "Porto"
    store.close()

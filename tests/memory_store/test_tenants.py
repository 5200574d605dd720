"""No tenant sees or touches what another has, whatever their ids look like."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from sgam.memory_store.erasure import forget
from sgam.memory_store.errors import InvalidInput, UnknownHold, UnknownRecord
from sgam.memory_store.model import Episode, Key, Outcome, Quarantined, QuarantineReason
from sgam.memory_store.sqlite import SqliteStore
from sgam.memory_store.sqlite.queries import migrations, queries
from sgam.memory_store.store import Belief, FactFilter, View

from .ledgers import Claim, Notebook, day, episode

IDS = [
    "acme",
    "acme2",
    "acm",
    "ACME",
    "acme ",
    " acme",
    "",
    "%",
    "_cme",
    "acm%",
    "*",
    "acm?",
    "[a]cme",
    "'",
    "acme' or '1'='1",
    'acme"; drop table facts; --',
    "acme\nacme",
    "é",
    "e\u0301",
    "日本",
    "\U0001f9d1",
    "null",
    "0",
    "00",
    "a" * 100_000,
    "a" * 100_001,
]


def visible(view: View) -> dict[str, Any]:
    """What every kind of read gives."""
    key = Key("person", "mira", "home")
    return {
        "facts": [record.fact.value for record in view.facts(FactFilter(), Belief())],
        "of the subject": [record.fact.value for record in view.facts(FactFilter(subject="mira"), Belief(ever=True))],
        "by key": [row.value for row in view.open_facts(key)],
        "status": [row.candidate.value for row in view.key_status(key)],
        "of the subject's candidates": [row.value for row in view.candidates_of_subject("mira")],
        "episodes": [row.text for row in view.episodes()],
        "episode": [row.text for row in [view.episode("e")] if row],
        "of the speaker": [row.text for row in view.episodes_of_speaker("mira")],
        "holds": [row.candidate.value for row in view.holds()],
        "quarantine": [row.raw for row in view.quarantine()],
        "subjects": view.subjects(),
    }


def write(book: Notebook, tenant: str, number: int) -> None:
    lost = Quarantined(reason=QuarantineReason.MALFORMED, message="no JSON", raw=f"lost {number}")
    said = Episode(text=f"text {number}", observed_at=day(0), episode_id="e", speaker="mira")
    claims = Claim(value=f"home {number}"), Claim(value=f"diet {number}", attribute="diet")
    replace(book, tenant=tenant).commit(said, *claims, quarantined=(lost,))


def test_each_read_shows_the_rows_of_its_tenant_only(book: Notebook) -> None:
    for number, tenant in enumerate(IDS):
        write(book, tenant, number)
    for number, tenant in enumerate(IDS):
        home = [f'"home {number}"']

        assert book.ledger.store.read(tenant, visible) == {
            "facts": home,
            "of the subject": home,
            "by key": home,
            "status": home,
            "of the subject's candidates": [*home, f'"diet {number}"'],
            "episodes": [f"text {number}"],
            "episode": [f"text {number}"],
            "of the speaker": [f"text {number}"],
            "holds": [f'"diet {number}"'],
            "quarantine": [f"lost {number}"],
            "subjects": [("mira", "person")],
        }
    assert book.ledger.store.tenants() == sorted(IDS)


@pytest.mark.parametrize("what", ["forget", "forget subject", "forget episode", "retract", "confirm", "dismiss"])
def test_a_write_of_one_tenant_leaves_the_others_as_they_were(book: Notebook, what: str) -> None:
    for number, tenant in enumerate(IDS):
        write(book, tenant, number)
    victim = "acme"
    before = {tenant: book.ledger.store.read(tenant, visible) for tenant in IDS if tenant != victim}
    hold = book.ledger.store.read(victim, lambda view: view.holds()[0].candidate.candidate_id)
    act(book, victim, what, hold)

    assert {tenant: book.ledger.store.read(tenant, visible) for tenant in IDS if tenant != victim} == before


def act(book: Notebook, tenant: str, what: str, hold: int) -> None:
    if what == "forget":
        forget(book.ledger, tenant, everything=True)
    elif what == "forget subject":
        forget(book.ledger, tenant, subject="mira")
    elif what == "forget episode":
        forget(book.ledger, tenant, episode_id="e")
    elif what == "retract":
        book.ledger.retract(tenant, episode_id="e")
    else:
        getattr(book.ledger, what)(tenant, hold)


@pytest.mark.parametrize("stranger", [tenant for tenant in IDS if tenant != "acme"][:-2], ids=repr)
def test_a_stranger_finds_nothing_to_act_on(book: Notebook, stranger: str) -> None:
    write(book, "acme", 1)
    hold = book.ledger.store.read("acme", lambda view: view.holds()[0].candidate.candidate_id)

    with pytest.raises(UnknownHold):
        book.ledger.confirm(stranger, hold)
    with pytest.raises(UnknownRecord):
        book.ledger.retract(stranger, episode_id="e")
    with pytest.raises(UnknownRecord):
        book.ledger.retract(stranger, assertion_id=hold)
    with pytest.raises(UnknownRecord):
        forget(book.ledger, stranger, episode_id="e")
    assert forget(book.ledger, stranger, subject="mira").removed == {}
    assert len(replace(book, tenant="acme").records()) == 1


def test_evidence_may_not_lie_in_the_episode_of_another_tenant(book: Notebook) -> None:
    write(book, "acme", 1)

    with pytest.raises(UnknownRecord, match="evidence lies in episode 'e'"):
        replace(book, tenant="acme2").commit(episode("mine"), Claim(value="Porto", also_in="e"))
    assert replace(book, tenant="acme2").records() == []


def test_an_episode_that_names_its_tenant_goes_to_no_other(book: Notebook) -> None:
    said = Episode(text="hello", observed_at=day(0), tenant_id="acme")

    with pytest.raises(InvalidInput, match="tenant_id: the episode is of 'acme', not of 'acme2'"):
        book.ledger.commit("acme2", said, Outcome())
    book.ledger.commit("acme", said, Outcome())


def test_each_tenant_has_a_clock_of_its_own(book: Notebook) -> None:
    replace(book, tenant="a").commit(episode("e1"))
    book.clock.now = day(500)
    other = replace(book, tenant="b")
    other.commit(episode("e1"))

    assert other.known() == day(500)


# What follows looks at the SQL itself.

WITHOUT_TENANT = {"tenants", "add_schema", "schema", "schemas"}
TENANT_TABLES = {
    "tenants",
    "episodes",
    "candidates",
    "evidence",
    "decisions",
    "assertions",
    "holds",
    "settlements",
    "facts",
    "quarantine",
    "erasures",
    "tombstones",
    "fact_records",
    "candidate_status",
}
VOLATILE = re.compile(
    r"\b(current_timestamp|current_date|current_time|random|randomblob|now|datetime|date|time|julianday|strftime"
    r"|unixepoch|last_insert_rowid|changes|total_changes)\b\s*\(?",
    re.IGNORECASE,
)


def selects(statement: str) -> list[str]:
    """Each select, update, delete or insert of a statement with its own conditions; inner ones apart."""
    flat, depth = [""], [0]
    for part in re.split(r"([()])", statement):
        if part == "(":
            flat.append("")
            depth.append(len(flat) - 1)
        elif part == ")":
            depth.pop()
        else:
            flat[depth[-1]] += part
    return [piece for piece in flat if re.search(r"\b(from|update|into)\s+\w+", piece)]


@pytest.mark.parametrize("name", sorted(queries().keys() - WITHOUT_TENANT))
def test_a_statement_names_the_tenant_wherever_it_touches_a_table(name: str) -> None:
    statement = queries()[name]
    if statement.startswith("insert"):
        assert re.search(r"values \(\s*:tenant,", statement)
        return
    for piece in selects(statement):
        tables = re.findall(r"\b(?:from|join|update)\s+(\w+)(?:\s+as\s+(\w+))?", piece)

        assert {table for table, _ in tables} <= TENANT_TABLES
        first = tables[0][1]
        assert re.search(rf"\b{first + '.' if first else ''}tenant = :tenant\b", piece), piece
        for _, alias in tables[1:]:
            assert re.search(rf"\b{alias}\.tenant = \w+\.tenant\b", piece), piece


def test_the_statements_without_a_tenant_touch_no_rows_of_one() -> None:
    touched = {table for name in WITHOUT_TENANT for table in re.findall(r"\b(?:from|into)\s+(\w+)", queries()[name])}

    assert touched == {"schemas", "tenants"}


@pytest.mark.parametrize("name", sorted(queries()))
def test_a_statement_uses_no_clock_and_no_chance(name: str) -> None:
    assert not [found for found in VOLATILE.findall(queries()[name]) if found]


@pytest.mark.parametrize("name", sorted(queries()))
def test_no_statement_compares_by_pattern(name: str) -> None:
    assert not re.search(r"(?<!:)\b(like|glob|regexp|match)\b", queries()[name], re.IGNORECASE)


@pytest.fixture(scope="module")
def layout() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    for step in migrations():
        for statement in step.statements:
            made.execute(statement)
    return made


def tables(layout: sqlite3.Connection) -> list[str]:
    rows = layout.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
    return [name for (name,) in rows if name != "schemas"]


def test_every_key_and_every_index_begins_with_the_tenant(layout: sqlite3.Connection) -> None:
    first = {
        index[1]: layout.execute(f"pragma index_info({index[1]})").fetchone()[2]
        for table in tables(layout)
        for index in layout.execute(f"pragma index_list({table})")
    }

    assert len(first) > 15
    assert set(first.values()) == {"tenant"}


def test_every_foreign_key_to_a_table_of_tenants_carries_the_tenant(layout: sqlite3.Connection) -> None:
    links: dict[tuple[str, int, str], set[tuple[str, str]]] = {}
    for table in tables(layout):
        for number, _, target, column, points_to, *_ in layout.execute(f"pragma foreign_key_list({table})"):
            links.setdefault((table, number, target), set()).add((column, points_to))
    without = [link for link, columns in links.items() if ("tenant", "tenant") not in columns]

    assert {target for _, _, target in without} == {"schemas"}
    assert len(links) > 12


def test_a_layout_has_no_default_that_depends_on_the_moment(layout: sqlite3.Connection) -> None:
    defaults = [row[4] for table in tables(layout) for row in layout.execute(f"pragma table_info({table})")]

    assert set(defaults) == {None}


def test_what_a_tenant_is_called_is_bound_and_never_pasted(sqlite_book: Notebook) -> None:
    store = sqlite_book.ledger.store
    assert isinstance(store, SqliteStore)
    seen: list[str] = []
    store._connection().set_trace_callback(seen.append)
    expanded = "acme'; drop table facts; --"
    write(sqlite_book, expanded, 1)

    assert any("'acme''; drop table facts; --'" in statement for statement in seen)
    assert not any(re.search(r"'acme'; drop", statement) for statement in seen)

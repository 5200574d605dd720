"""Commands that read facts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...memory_store.errors import InvalidInput, UnknownRecord
from ..text import printable
from .common import AsJson, AttributeName, Db, Item, KnownAt, Subject, TenantId, ValidAt, answer, moment, opened, scope

if TYPE_CHECKING:
    from ...memory_store.model import Fact
    from ..memory import Memory, Tenant

TypeName = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only this memory type.")]


def current(
    subject: Subject,
    attribute: AttributeName,
    *,
    db: Db,
    tenant: TenantId = "default",
    item: Item = None,
    as_json: AsJson = False,
) -> None:
    """What is true now, with its source.

    Says "nothing known" (null in JSON) and exits 0 where nothing is. An attribute that holds many values is answered
    with all of them (an array in JSON) unless --item names one.

    Example: sgam current mira passport_deadline --db sqlite:///memory.db
    """
    with opened(db) as memory:
        _answer_at(memory, tenant, subject, attribute, item, None, None, as_json=as_json)


def at(
    subject: Subject,
    attribute: AttributeName,
    *,
    db: Db,
    tenant: TenantId = "default",
    item: Item = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """What was believed at one time about another.

    Answers as `current` does.

    Example: sgam at mira passport_deadline --valid-at 2026-06-02T00:00:00Z --db sqlite:///memory.db
    """
    valid, known = moment(valid_at, "--valid-at"), moment(known_at, "--known-at")
    with opened(db) as memory:
        _answer_at(memory, tenant, subject, attribute, item, valid, known, as_json=as_json)


def _answer_at(
    memory: Memory,
    tenant: str,
    subject: str,
    attribute: str,
    item: str | None,
    valid_at: datetime | None,
    known_at: datetime | None,
    *,
    as_json: bool,
) -> None:
    scoped = memory.tenant(tenant)
    if item is None and memory.schema.attribute(attribute).many:
        _answer_many(scoped.values(subject, attribute, valid_at=valid_at, known_at=known_at), as_json=as_json)
    else:
        _answer_one(scoped.at(subject, attribute, item=item, valid_at=valid_at, known_at=known_at), as_json=as_json)


def _answer_one(fact: Fact[Any] | None, *, as_json: bool) -> None:
    from .. import forms

    if as_json:
        answer(None if fact is None else forms.fact(fact))
        return
    from .. import render

    render.show(*render.one_fact(fact))


def _answer_many(facts: list[Fact[Any]], *, as_json: bool, beliefs: bool = False) -> None:
    from .. import forms

    if as_json:
        answer([forms.fact(fact) for fact in facts])
        return
    from .. import render

    render.show(render.facts(facts, beliefs=beliefs) if facts else "nothing known")


def history(
    subject: Subject,
    attribute: AttributeName,
    *,
    db: Db,
    tenant: TenantId = "default",
    item: Item = None,
    as_json: AsJson = False,
) -> None:
    """Every fact that was ever believed, by known time.

    Example: sgam history mira passport_deadline --db sqlite:///memory.db
    """
    with scope(db, tenant) as memory:
        _answer_many(memory.history(subject, attribute, item=item), as_json=as_json, beliefs=True)


def facts(
    *,
    db: Db,
    tenant: TenantId = "default",
    subject: Annotated[str | None, typer.Option("--subject", metavar="SUBJECT", help="Only this subject.")] = None,
    memory_type: TypeName = None,
    attribute: Annotated[
        str | None, typer.Option("--attribute", metavar="ATTRIBUTE", help="Only this attribute.")
    ] = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """All facts that hold at a time, by subject and attribute.

    Example: sgam facts --subject mira --db sqlite:///memory.db --json
    """
    valid, known = moment(valid_at, "--valid-at"), moment(known_at, "--known-at")
    with opened(db) as memory:
        _check_type(memory, memory_type)
        found = memory.tenant(tenant).facts(
            subject=subject, memory_type=memory_type, attribute=attribute, valid_at=valid, known_at=known
        )
    _answer_many(found, as_json=as_json)


def subjects(*, db: Db, tenant: TenantId = "default", memory_type: TypeName = None, as_json: AsJson = False) -> None:
    """Whom and what something is known about.

    Example: sgam subjects --db sqlite:///memory.db
    """
    with opened(db) as memory:
        _check_type(memory, memory_type)
        found = memory.tenant(tenant).subjects(memory_type=memory_type)
    if as_json:
        answer(found)
        return
    from .. import render

    render.show(*(map(printable, found) if found else ["nothing known"]))


def _check_type(memory: Memory, name: str | None) -> None:
    kinds = memory.schema.types
    if name not in {None, *kinds}:
        raise InvalidInput(f"no memory type {name!r} in the schema", hint=f"types are {', '.join(kinds)}")


def explain(
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Number of a fact; or a subject, with ATTRIBUTE.")],
    attribute: Annotated[
        str | None, typer.Argument(metavar="ATTRIBUTE", help="Explains the subject's current fact.")
    ] = None,
    *,
    db: Db,
    tenant: TenantId = "default",
    item: Item = None,
    as_json: AsJson = False,
) -> None:
    """Where a fact comes from.

    Shows the episode with the evidence marked, the decision and its reason, the model and the prompt.
    Facts are numbered by `current`, `facts` and `history`.

    Example: sgam explain 12 --db sqlite:///memory.db
    """
    with scope(db, tenant) as memory:
        told = memory.explain(_fact_id(memory, fact, attribute, item))
    from .. import forms

    if as_json:
        answer(forms.explanation(told))
        return
    from .. import render

    render.show(*render.explanation(told))


def _fact_id(memory: Tenant, fact: str, attribute: str | None, item: str | None) -> int:
    if attribute is not None:
        known = memory.current(fact, attribute, item=item)
        if known is None:
            raise UnknownRecord(f"nothing is known about {fact}.{attribute}", hint="see `sgam history`")
        return int(known.fact_id)
    if not (fact.isascii() and fact.isdigit() and len(fact) < 19):
        raise UnknownRecord(f"no fact {fact!r}", hint="give a fact's number, or a subject and an attribute")
    return int(fact)

"""Commands that write without a model: an application's own facts, corrections, erasure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ...memory_store.errors import InvalidInput
from ..text import printable
from .common import (
    AsJson,
    AttributeName,
    By,
    Db,
    Item,
    SchemaFile,
    Subject,
    TenantId,
    answer,
    moment,
    opened,
    read_schema,
    scope,
)

if TYPE_CHECKING:
    from ...memory_store.model import ErasureReceipt, Receipt
    from ...memory_store.schema import MemorySchema

EpisodeId = Annotated[str | None, typer.Option("--episode", metavar="ID", help="All that rests on this episode.")]


def set_value(
    subject: Subject,
    attribute: AttributeName,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="The value; none with --revoke.")] = None,
    *,
    db: Db,
    tenant: TenantId = "default",
    schema: SchemaFile = None,
    item: Item = None,
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="Kind of source.")] = "user",
    valid_from: Annotated[
        str | None, typer.Option("--valid-from", metavar="TIME", help="Since when, ISO 8601 with offset. Default: now.")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option("--valid-until", metavar="TIME", help="Until when. Default: for ever.")
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Withdraw the value without another.")] = False,
    as_json: AsJson = False,
) -> None:
    """State a value outright, as a form or an import does.

    Example: sgam set mira answer_style concise --source user_confirmed --db sqlite:///memory.db
    """
    if (value is None) != revoke:
        raise typer.BadParameter("give either a VALUE or --revoke")
    since, until = moment(valid_from, "--valid-from"), moment(valid_until, "--valid-until")
    with opened(db, schema=read_schema(schema)) as memory:
        _check_value(memory.schema, attribute, item, value)
        receipt = memory.tenant(tenant).set(
            subject, attribute, value, item=item, source=source, valid_from=since, valid_until=until
        )
    _answer_set(receipt, as_json=as_json)


def _check_value(schema: MemorySchema, attribute: str, item: str | None, value: str | None) -> None:
    """Refuse before anything is written, so that a slip of the hand does not end in quarantine."""
    attr = schema.attribute(attribute)
    if item is None and (attr.many == "map" or (attr.many and value is None)):
        raise InvalidInput(f"{attr} holds many values", hint="name one with --item")
    try:
        if value is not None:
            attr.type.parse(value)
    except ValueError as error:
        raise InvalidInput(f"{attr}: {error}", hint=f"the attribute is of type {attr.type.name}") from None


def _answer_set(receipt: Receipt, *, as_json: bool) -> None:
    from .. import forms, render

    if receipt.quarantined:
        lost = receipt.quarantined[0]
        raise InvalidInput(f"{lost.reason.value}: {lost.message}", hint="it stands in `sgam quarantine`")
    if as_json:
        answer(forms.receipt(receipt))
    else:
        render.show(*map(render.decision, receipt.decisions))


def retract(
    *,
    db: Db,
    tenant: TenantId = "default",
    episode: EpisodeId = None,
    assertion: Annotated[int | None, typer.Option("--assertion", metavar="NUMBER", help="Only this assertion.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Take back what an episode said.

    Reads at an earlier --known-at still show it. Shows the decisions on other candidates that came out differently.

    Example: sgam retract --episode e17 --db sqlite:///memory.db
    """
    if (episode is None) == (assertion is None):
        raise typer.BadParameter("give either --episode or --assertion")
    with scope(db, tenant) as memory:
        changed = memory.retract(episode_id=episode, assertion_id=assertion, by=by)
    from .. import forms, render

    if as_json:
        answer([forms.decision(made) for made in changed])
    else:
        render.show("retracted", *map(render.decision, changed))


def forget(
    *,
    db: Db,
    tenant: TenantId = "default",
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="SUBJECT", help="All that is about this subject.")
    ] = None,
    episode: EpisodeId = None,
    everything: Annotated[bool, typer.Option("--everything", help="All that the tenant has.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase for good: rows, copies, free pages. The receipt says what went and that a scan found nothing left.

    Asks before it does so, and without a terminal wants --yes.

    Example: sgam forget --subject mira --yes --db sqlite:///memory.db
    """
    if (subject is not None) + (episode is not None) + everything != 1:
        raise typer.BadParameter("give one of --subject, --episode and --everything")
    with scope(db, tenant) as memory:
        _ask(f"everything of tenant {tenant}" if everything else subject or f"episode {episode}", yes=yes)
        done = memory.forget(subject=subject, episode_id=episode, everything=everything)
    _answer_forget(done, as_json=as_json)


def _ask(what: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("forgetting cannot be undone and nobody can be asked", hint="give --yes")
    if not typer.confirm(f"Forget {printable(what)} for good?", err=True):
        typer.echo("nothing was forgotten", err=True)
        raise typer.Exit(1)


def _answer_forget(done: ErasureReceipt, *, as_json: bool) -> None:
    from .. import forms, render

    if as_json:
        answer(forms.erasure(done))
        return
    removed = ", ".join(f"{count} {table}" for table, count in done.removed.items()) or "nothing"
    scan = f"looked for {done.needles} strings in {done.scanned_bytes} bytes: none is left"
    render.show(f"removed {removed}", f"erased {done.erased_evidence} quotes", scan)

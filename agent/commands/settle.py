"""Commands for what waits and for what was lost: holds and quarantine."""

from __future__ import annotations

from typing import Annotated

import typer

from ..text import printable
from .common import AsJson, By, Db, Model, SchemaFile, TenantId, answer, read_schema, scope

HoldId = Annotated[int, typer.Argument(metavar="HOLD", help="Number of a hold, as `holds` shows it.")]


def holds(
    *,
    db: Db,
    tenant: TenantId = "default",
    subject: Annotated[str | None, typer.Option("--subject", metavar="SUBJECT", help="Only this subject.")] = None,
    as_json: AsJson = False,
) -> None:
    """What waits, the oldest first.

    A candidate waits for confirmation, for recurrence or for a conflict to be settled.

    Example: sgam holds --db sqlite:///memory.db
    """
    with scope(db, tenant) as memory:
        waiting = memory.holds(subject=subject)
    from .. import forms

    if as_json:
        answer([forms.hold(hold) for hold in waiting])
        return
    from .. import render

    render.show(render.holds(waiting) if waiting else "nothing waits")


def confirm(hold: HoldId, *, db: Db, tenant: TenantId = "default", by: By = None, as_json: AsJson = False) -> None:
    """Let what waits count.

    Example: sgam confirm 14 --by mira --db sqlite:///memory.db
    """
    with scope(db, tenant) as memory:
        made = memory.confirm(hold, by=by)
    from .. import forms

    if as_json:
        answer(forms.decision(made))
        return
    from .. import render

    render.show(render.decision(made))


def dismiss(hold: HoldId, *, db: Db, tenant: TenantId = "default", by: By = None, as_json: AsJson = False) -> None:
    """Let what waits never count.

    Example: sgam dismiss 14 --by mira --db sqlite:///memory.db
    """
    with scope(db, tenant) as memory:
        memory.dismiss(hold, by=by)
    if as_json:
        answer({"hold_id": hold, "dismissed": True})
        return
    from .. import render

    render.show(f"hold {hold} was dismissed")


def quarantine(*, db: Db, tenant: TenantId = "default", as_json: AsJson = False) -> None:
    """What a model returned that could not be used.

    Shows the reason and the raw text.

    Example: sgam quarantine --db sqlite:///memory.db --json
    """
    with scope(db, tenant) as memory:
        lost = memory.quarantined()
    from .. import forms

    if as_json:
        answer([forms.quarantined(entry) for entry in lost])
        return
    from .. import render

    render.show(render.quarantine(lost) if lost else "nothing is quarantined")


def retry(
    episode: Annotated[str, typer.Argument(metavar="EPISODE", help="Id of a captured, failed or partial episode.")],
    *,
    db: Db,
    model: Model,
    tenant: TenantId = "default",
    schema: SchemaFile = None,
    as_json: AsJson = False,
) -> None:
    """Extract from an episode anew.

    What it gave before is taken back. Exits 1 when the model gives nothing usable again.

    Example: sgam retry e17 --model local --db sqlite:///memory.db
    """
    with scope(db, tenant, schema=read_schema(schema), model=model) as memory:
        receipt = memory.retry(episode)
    from .. import forms

    if as_json:
        answer(forms.receipt(receipt))
    else:
        from .. import render

        render.show(*map(printable, str(receipt).split("\n")))
    if receipt.status == "failed":
        raise typer.Exit(1)

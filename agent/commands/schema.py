"""Commands on memory schemas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common import AsJson, Db, TenantId, answer, must_exist, opened, read_schema

if TYPE_CHECKING:
    from ...memory_store.schema import Attribute, MemorySchema

app = typer.Typer(help="Memory schemas: what may be remembered.", rich_markup_mode=None)


@app.command("show")
def show(*, db: Db, tenant: TenantId = "default", as_json: AsJson = False) -> None:
    """The schema that a store uses, the same for all tenants.

    With --json in the form that --schema takes.

    Example: sgam schema show --db sqlite:///memory.db
    """
    with opened(db) as memory:
        schema = memory.schema
    if as_json:
        answer(schema.to_dict())
        return
    from .. import render

    rows = ([attr, _type(attr), _rules(schema, attr), attr.description] for attr in schema.attributes())
    render.show(_title(schema), render.table(("attribute", "type", "rules", "description"), rows))


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A memory schema in JSON.")],
    *,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", envvar="SGAM_DB", help="Compare with what this store holds.")
    ] = None,
    tenant: TenantId = "default",
    as_json: AsJson = False,
) -> None:
    """Check a schema file, and with --db whether a store would take it.  A schema is the same for all tenants.

    Exits 3 when the file is no schema, and 1 when the store holds another one of the same name and version.

    Example: sgam schema check schema.json --db sqlite:///memory.db
    """
    schema = read_schema(file)
    if schema is None:
        return
    compared = None if db is None else _compared(db, schema)
    refused = bool(compared and compared["same_version"] and compared["differences"])
    if as_json:
        answer({"name": schema.name, "version": schema.version, "ok": not refused, "stored": compared})
    else:
        from .. import render

        render.show(*([] if refused else [f"ok: {_title(schema)}"]), *_comparison(schema, compared))
    if refused:
        raise typer.Exit(1)


def _compared(db: str, schema: MemorySchema) -> dict[str, Any]:
    """The stored version that the schema would be measured against, and what differs."""
    from ...memory_store.schema import MemorySchema as Schema
    from ...memory_store.schema import differences
    from ...memory_store.store import open_store

    must_exist(db)
    store = open_store(db)
    try:
        stored = [Schema.from_json(text) for name, _, text in store.schemas() if name == schema.name]
    finally:
        store.close()
    same = [old for old in stored if old.version == schema.version]
    if not stored:
        return {"version": None, "same_version": False, "differences": []}
    old = (same or stored)[-1]
    return {"version": old.version, "same_version": bool(same), "differences": differences(old, schema)}


def _comparison(schema: MemorySchema, compared: dict[str, Any] | None) -> list[str]:
    if compared is None:
        return []
    if compared["version"] is None:
        return [f"the store holds no schema {schema.name}"]
    changed = [f"  {line}" for line in compared["differences"]]
    if compared["same_version"] and changed:
        head = f"the store holds another schema {schema.name} version {schema.version}: give this one a new version"
    elif changed:
        head = f"changes from version {compared['version']} in the store:"
    else:
        head = f"says the same as version {compared['version']} in the store"
    return [head, *changed]


def _title(schema: MemorySchema) -> str:
    return f"{schema.name} version {schema.version}: {len(schema.types)} types, {len(schema.attributes())} attributes"


def _type(attr: Attribute[Any]) -> str:
    values = f" ({', '.join(attr.type.values)})" if attr.type.values else ""
    return (f"{attr.many} of " if attr.many else "") + attr.type.name + values


def _rules(schema: MemorySchema, attr: Attribute[Any]) -> str:
    data = schema.to_dict()["types"][attr.memory_type]["attributes"][attr.name]
    return ", ".join(f"{k}={v}" for k, v in data.items() if k not in {"type", "description", "values", "many"})

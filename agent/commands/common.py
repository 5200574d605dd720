"""What the commands share: options, opening a store, answering."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...memory_store.errors import InvalidInput, SchemaError, StoreError
from ..text import printable

if TYPE_CHECKING:
    from ...memory_store.schema import MemorySchema
    from ..memory import Memory, Tenant

Db = Annotated[
    str,
    typer.Option("--db", metavar="URL", envvar="SGAM_DB", help="Store: sqlite:///relative.db, sqlite:////absolute.db."),
]
TenantId = Annotated[str, typer.Option("--tenant", metavar="ID", help="Tenant, compared whole.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")]
AttributeName = Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="An attribute, alone or as type.attribute.")]
Item = Annotated[
    str | None, typer.Option("--item", metavar="ITEM", help="The item, for an attribute that holds many values.")
]
ValidAt = Annotated[
    str | None, typer.Option("--valid-at", metavar="TIME", help="When it applied, ISO 8601 with offset. Default: now.")
]
KnownAt = Annotated[
    str | None,
    typer.Option("--known-at", metavar="TIME", help="What was believed then, ISO 8601 with offset. Default: now."),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="Memory schema in JSON. Default: the newest one in the store."),
]
Model = Annotated[
    str, typer.Option("--model", metavar="MODEL", help="local, local:ID_OR_PATH (folder, .gguf file) or scripted:FILE.")
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decided, for the record.")]


@contextmanager
def opened(db: str, *, schema: MemorySchema | None = None, model: str | None = None) -> Iterator[Memory]:
    """The memory at a URL; without a schema the store must be there."""
    from ..memory import Memory

    if schema is None:
        must_exist(db)
    backend = None
    if model is not None:
        from ..models import backend_of

        backend = backend_of(model)
    with Memory.open(db, schema=schema, backend=backend) as memory:
        yield memory


@contextmanager
def scope(db: str, tenant: str, *, schema: MemorySchema | None = None, model: str | None = None) -> Iterator[Tenant]:
    """The memory of one tenant."""
    with opened(db, schema=schema, model=model) as memory:
        yield memory.tenant(tenant)


def must_exist(db: str) -> None:
    """Refuse a file that is not there, which a store would create: a misspelt name must not look like no facts."""
    scheme, _, path = db.partition(":///")
    if scheme == "sqlite" and path and not Path(path).exists():
        raise StoreError(f"no database at {path}", hint="check --db; `ingest` and `set` with --schema create one")


def read_schema(path: Path | None) -> MemorySchema | None:
    """The memory schema in a file.  Raises SchemaError, which names the file."""
    if path is None:
        return None
    from ...memory_store.schema import MemorySchema

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SchemaError(f"{path}: {error.strerror}", hint="name a JSON file with --schema") from error
    except UnicodeDecodeError as error:
        raise SchemaError(f"{path}: invalid UTF-8 at byte {error.start + 1}", hint="save the file as UTF-8") from error
    try:
        return MemorySchema.from_json(text)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}", hint=error.hint or "see `sgam schema check --help`") from error


def moment(text: str | None, option: str) -> datetime | None:
    """A time from the command line.  Raises InvalidInput."""
    if text is None:
        return None
    from ...memory_store.model import utc

    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{option}: {text!r} is no ISO 8601 time", hint="for example 2026-06-04T00:00:00Z") from None
    return utc(when, option)


def answer(data: Any) -> None:
    """Print JSON; letters stand as they are where the output can carry them."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(data, ensure_ascii=plain, indent=2) + "\n")


def complain(message: str, hint: str = "") -> None:
    """One line for the error and one for the hint, on standard error."""
    sys.stderr.write(f"error: {printable(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {printable(hint)}\n")

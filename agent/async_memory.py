"""The same memory for code that runs on an event loop: each call of `Tenant` in a worker thread.

The methods are made from those of `Tenant`, one line each; there is no second implementation.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ..extraction.backends.base import Backend
from ..memory_store.ledger import Clock, utc_now
from ..memory_store.model import Fact
from ..memory_store.schema import MemorySchema
from .memory import Memory, Tenant

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(
    method: Callable[Concatenate[Tenant, P], R],
) -> Callable[Concatenate[AsyncTenant, P], Coroutine[Any, Any, R]]:
    """The method as a coroutine function: same arguments, same result, same errors."""

    async def call(self: AsyncTenant, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.tenant, *args, **kwargs)

    functools.update_wrapper(call, method)
    return call


class AsyncTenant:
    """Everything that one tenant may do, awaited.  See `Tenant`."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant

    remember = _in_thread(Tenant.remember)
    capture = _in_thread(Tenant.capture)
    retry = _in_thread(Tenant.retry)
    commit = _in_thread(Tenant.commit)
    set = _in_thread(Tenant.set)
    confirm = _in_thread(Tenant.confirm)
    dismiss = _in_thread(Tenant.dismiss)
    retract = _in_thread(Tenant.retract)
    forget = _in_thread(Tenant.forget)
    current = _in_thread(Tenant.current)
    at = _in_thread(Tenant.at)
    values: Callable[..., Coroutine[Any, Any, list[Fact[Any]]]] = _in_thread(Tenant.values)
    timeline = _in_thread(Tenant.timeline)
    history = _in_thread(Tenant.history)
    facts = _in_thread(Tenant.facts)
    subjects = _in_thread(Tenant.subjects)
    holds = _in_thread(Tenant.holds)
    quarantined = _in_thread(Tenant.quarantined)
    receipt = _in_thread(Tenant.receipt)
    context = _in_thread(Tenant.context)
    explain = _in_thread(Tenant.explain)
    known_now = _in_thread(Tenant.known_now)


class AsyncMemory:
    """`async with await AsyncMemory.open(...) as memory: await memory.tenant("acme").current(...)`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        schema: MemorySchema | None = None,
        backend: Backend | None = None,
        clock: Clock = utc_now,
    ) -> Self:
        """See `Memory.open`."""
        return cls(await asyncio.to_thread(Memory.open, url, schema=schema, backend=backend, clock=clock))

    def tenant(self, tenant_id: str) -> AsyncTenant:
        """See `Memory.tenant`."""
        return AsyncTenant(self.memory.tenant(tenant_id))

    async def close(self) -> None:
        """See `Memory.close`."""
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

"""A wall-clock limit for a whole HTTP exchange.

The time-outs of an HTTP client bound each read: a server that sends a byte now and then would be waited for forever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2


class DeadlineTransport(httpx2.BaseTransport):
    """Passes requests on; raises ReadTimeout when a whole answer takes longer than the request's read time-out."""

    def __init__(self, inner: httpx2.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = request.extensions.get("timeout", {}).get("read")
        deadline = None if seconds is None else time.monotonic() + seconds
        response = self._inner.handle_request(request)
        if deadline is not None and isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, deadline)
        return response

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer took longer than the budget allows")
            yield part

    def close(self) -> None:
        self._inner.close()

"""The one place where errors of the `openai` package become ours.

None of them is kept as a cause: they hold the request with its headers, and a traceback would show what stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2
import openai

from ...memory_store.errors import (
    AuthenticationFailed,
    BackendError,
    BackendTimeout,
    BackendUnavailable,
    ConnectionLost,
    RateLimited,
    RequestRejected,
    ServerFailed,
)
from .redact import scrubbed

_SHOWN: Final = 300


@contextmanager
def translated(where: str, secrets: Sequence[str]) -> Iterator[None]:
    """Raise our errors in place of the package's, without the secrets.

    A stream is read outside of the package, so that what breaks it comes from the HTTP library.
    """
    try:
        yield
    except (openai.APITimeoutError, httpx2.TimeoutException):
        raise BackendTimeout(f"{where}: no answer in time") from None
    except (openai.APIConnectionError, httpx2.TransportError) as error:
        reason = error.__cause__ or error
        raise ConnectionLost(f"{where}: {scrubbed(str(reason) or type(reason).__name__, secrets)}") from None
    except openai.APIStatusError as error:
        raise _of_status(error, f"{where}: {scrubbed(_message(error), secrets)}") from None
    except (openai.OpenAIError, ValueError) as error:  # a body that says it is JSON and is not
        raise ServerFailed(f"{where}: {scrubbed(str(error), secrets)[:_SHOWN]}") from None


def _of_status(error: openai.APIStatusError, message: str) -> BackendError:
    status, wait = error.status_code, retry_after(error.response.headers)
    if status in {401, 403}:
        return AuthenticationFailed(message)
    if status == 404:
        return BackendUnavailable(message, hint="check the name of the model and the base URL, which often ends in /v1")
    if status == 429 and error.code == "insufficient_quota":
        return BackendUnavailable(message, hint="the account has no credit left")
    if status == 429:
        return RateLimited(message, retry_after=wait)
    if status in {408, 409} or status >= 500:
        return ServerFailed(message, retry_after=wait)
    return RequestRejected(message, hint="`sgam probe` shows what the server takes")


def _message(error: openai.APIStatusError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, Mapping) else body
    return f"HTTP {error.status_code}: {str(said or error.response.text or 'no message')[:_SHOWN]}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server wants us to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(float(headers[name]) * scale, 0.0)
        except (KeyError, ValueError):
            continue
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max((date.astimezone(UTC) - datetime.now(UTC)).total_seconds(), 0.0)

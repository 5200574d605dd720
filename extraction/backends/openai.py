"""Models behind OpenAI's protocols: OpenAI itself, and every server that speaks as it does."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ...memory_store.errors import (
    BackendUnavailable,
    ConnectionLost,
    InvalidInput,
    InvalidUrl,
    NotEnforced,
    PromptCut,
)
from ..lowering import Lowered, lower
from . import openai_forms as forms
from .base import Completion, Request, Usage
from .openai_forms import FLAVOURS, Api, Flavour, Reply
from .prices import Price
from .redact import masked
from .retry import Tried, insist

if TYPE_CHECKING:
    import httpx2
    import openai

_CONNECT_SECONDS: Final = 10.0
_MAX_CHARS_PER_TOKEN: Final = 16
"""A tokenizer that takes more text than this per token does not exist; a server that counts so has cut the prompt."""


class OpenAIBackend:
    """A model of OpenAI, or with `base_url` one of a compatible server (vLLM, SGLang, llama.cpp, Ollama).

    `flavour` says what kind of server it is (`openai_forms.FLAVOURS`; default: `openai`, with a base URL `compatible`),
    `api` whether to use `responses` or `chat` (default: as the flavour has it).  `api_key` defaults to the variable
    `OPENAI_API_KEY`.  `options` go into the body of every request as they are, such as `{"reasoning_effort": "low"}`.
    `price` makes usage tell the cost.  At most `parallel` requests run at a time.  A server that `sgam probe` saw
    ignoring the schema is refused, unless `allow_unenforced`: each answer is checked either way.

    The budget of a request bounds its attempts, waiting included; the client itself never tries again.
    """

    compact = False
    repairs = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        flavour: str | None = None,
        api: Api | None = None,
        options: Mapping[str, Any] | None = None,
        price: Price | None = None,
        parallel: int = 4,
        allow_unenforced: bool = False,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.model = model
        self.base_url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL"))
        self.flavour = _flavour(flavour or ("compatible" if self.base_url else "openai"))
        self.api: Api = api or self.flavour.api
        self.options = dict(options or {})
        self.price = price
        self.parallel = parallel
        self.allow_unenforced = allow_unenforced
        self._key = api_key or os.environ.get("OPENAI_API_KEY")
        self.transport = transport

    def unchecked(self) -> OpenAIBackend:
        """The same, but whatever a probe found: for a probe."""
        other = copy(self)
        other.allow_unenforced = True
        return other

    @property
    def name(self) -> str:
        """`openai:MODEL`, with a hash of the settings where they are not the default ones."""
        settings = [self.flavour.name, self.api, self.options]
        if settings == ["openai", "responses", {}]:
            return f"openai:{self.model}"
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
        return f"openai:{self.model}@{self.flavour.name}-{digest}"

    @property
    def where(self) -> str:
        """The server, without credentials."""
        if self.base_url is None:
            return "OpenAI"
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    def lowered(self, schema: dict[str, Any]) -> Lowered:
        """The schema as it is sent, with what the server cannot enforce of it."""
        return lower(schema, self.flavour.dialect)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request.  Raises BackendUnavailable when the server will not serve us at all."""
        self._admit()
        if len(requests) == 1:
            return [self._complete(requests[0])]
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            return list(pool.map(self._complete, requests))

    def _admit(self) -> None:
        if self.base_url is None or self.allow_unenforced:
            return
        from .probe_cache import verdict

        known = verdict(self)
        if known is not None and not known.enforces:
            raise NotEnforced(
                f"{self.where} ignores the response schema with {self.model}, as `sgam probe` saw on {known.day}",
                hint="use a server that enforces it; allow_unenforced=True (--allow-unenforced) checks answers alone",
            )

    def _complete(self, request: Request) -> Completion:
        began = time.monotonic()
        tried = insist(lambda seconds: self._ask(request, seconds), request.budget)
        return self._completion(request, tried, time.monotonic() - began)

    def _completion(self, request: Request, tried: Tried[Reply], seconds: float) -> Completion:
        usage = Usage(calls=tried.calls, seconds=seconds, failures=dict(tried.failures))
        if tried.result is None:
            return Completion(text="", finish="failed", usage=usage, error=tried.error)
        reply = tried.result
        usage += self._cost(reply)
        error = _cut(request, reply)
        if error is not None:
            return Completion(text="", finish="failed", usage=usage + Usage(failures={"prompt_cut": 1}), error=error)
        return Completion(text=masked(reply.text, self._secrets), finish=reply.finish, usage=usage)

    def _cost(self, reply: Reply) -> Usage:
        prompt = reply.prompt_tokens or 0
        price = self.price
        cost = 0.0 if price is None else price.of(prompt, reply.cached_tokens, reply.completion_tokens)
        return Usage(
            prompt_tokens=prompt,
            cached_tokens=reply.cached_tokens,
            completion_tokens=reply.completion_tokens,
            cost=cost,
        )

    def _ask(self, request: Request, seconds: float) -> Reply:
        from .openai_errors import translated

        schema = self.lowered(request.schema).schema
        timeout = _timeout(seconds)
        with translated(self.where, self._secrets):
            if self.api == "responses":
                body = forms.responses_body(self.model, request, schema, self.flavour, self.options)
                return self._responses(body, timeout, request)
            body = forms.chat_body(self.model, request, schema, self.flavour, self.options)
            return self._chat(body, timeout, request)

    def _chat(self, body: dict[str, Any], timeout: Any, request: Request) -> Reply:
        create = self._client.chat.completions.create
        if request.on_text is None:
            return forms.read_chat(create(**body, timeout=timeout))
        stream = create(**body, timeout=timeout, stream=True, stream_options={"include_usage": True})
        return _streamed_chat(stream, request)

    def _responses(self, body: dict[str, Any], timeout: Any, request: Request) -> Reply:
        create = self._client.responses.create
        if request.on_text is None:
            return forms.read_response(create(**body, timeout=timeout))
        return _streamed_response(create(**body, timeout=timeout, stream=True), request)

    @cached_property
    def _client(self) -> openai.OpenAI:
        import httpx2
        import openai

        from .deadline import DeadlineTransport

        if self._key is None and self.base_url is None:
            raise BackendUnavailable("OpenAI: there is no API key", hint="set OPENAI_API_KEY")
        inner = self.transport or httpx2.HTTPTransport(limits=httpx2.Limits(max_connections=self.parallel))
        client = httpx2.Client(transport=DeadlineTransport(inner))
        # A server of one's own often wants no key, but the client refuses to go without one.
        return openai.OpenAI(api_key=self._key or "none", base_url=self.base_url, max_retries=0, http_client=client)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request that is no question to the model."""
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    @property
    def _secrets(self) -> list[str]:
        parts = urlsplit(self.base_url or "")
        return [secret for secret in (self._key, parts.password, parts.query) if secret]


def _streamed_chat(stream: Iterator[Any], request: Request) -> Reply:
    text, refusal, reason, usage = "", "", None, None
    for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage
        for choice in getattr(chunk, "choices", None) or []:
            text += choice.delta.content or ""
            refusal += getattr(choice.delta, "refusal", None) or ""
            reason = choice.finish_reason or reason
        _tell(request, text)
    if reason is None:
        raise ConnectionLost("the stream ended before the answer did")
    return forms.chat_reply(text, refusal, reason, usage)


def _streamed_response(stream: Iterator[Any], request: Request) -> Reply:
    text, last = "", None
    for event in stream:
        if event.type == "response.output_text.delta":
            text += event.delta
            _tell(request, text)
        last = getattr(event, "response", None) or last
    if getattr(last, "status", None) in {None, "in_progress", "queued"}:
        raise ConnectionLost("the stream ended before the answer did")
    return forms.read_response(last)


def _tell(request: Request, text: str) -> None:
    if request.on_text is not None and text:
        request.on_text(text)


def _timeout(seconds: float) -> Any:
    import httpx2

    return httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))


def _cut(request: Request, reply: Reply) -> PromptCut | None:
    length = sum(len(part.content) for part in request.messages)
    if reply.prompt_tokens is None or reply.prompt_tokens * _MAX_CHARS_PER_TOKEN >= length:
        return None
    return PromptCut(f"the server read {reply.prompt_tokens} tokens of a prompt of {length} characters")


def _flavour(name: str) -> Flavour:
    if name not in FLAVOURS:
        raise InvalidInput(f"flavour {name!r}: unknown", hint=f"use one of {', '.join(FLAVOURS)}")
    return FLAVOURS[name]


def _checked_url(url: str | None) -> str | None:
    if url is None or (url.startswith(("http://", "https://")) and urlsplit(url).hostname):
        return url
    raise InvalidUrl(f"base URL {url.split('@')[-1]!r}: no http address", hint="for example http://localhost:8080/v1")

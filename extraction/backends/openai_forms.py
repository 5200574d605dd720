"""What a request to a server of OpenAI's protocols looks like, and what its answers say.  Pure.

The forms follow the documentation of OpenAI (Responses and Chat Completions), vLLM, SGLang, llama.cpp and Ollama as of
December 2026.  An answer is read field by field and nothing in it is taken for granted: what comes from a server may
lack anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from ...memory_store.errors import ServerFailed
from ..lowering import COMPATIBLE, OPENAI, Dialect
from .base import Finish, Request

Api = Literal["responses", "chat"]
Json = dict[str, Any]
NAME: Final = "updates"
_REASONS: Final[Mapping[str, Finish]] = MappingProxyType(
    {"length": "length", "max_output_tokens": "length", "content_filter": "filtered"}
)


def _response_format(schema: Json) -> Json:
    form = {"name": NAME, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _structured_outputs(schema: Json) -> Json:
    return {"extra_body": {"structured_outputs": {"json": schema, "disable_any_whitespace": True}}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Flavour:
    """What a kind of server wants: its first `api`, the dialect of its schemas, and how a chat request spells things.

    `fixed` goes into every request.
    """

    name: str
    api: Api = "chat"
    dialect: Dialect = COMPATIBLE
    tokens: str = "max_tokens"
    schema: Callable[[Json], Json] = _response_format
    fixed: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})


FLAVOURS: Final[Mapping[str, Flavour]] = MappingProxyType(
    {
        flavour.name: flavour
        for flavour in (
            # The models that reason refuse a temperature.
            Flavour(name="openai", api="responses", dialect=OPENAI, tokens="max_completion_tokens", fixed={}),
            Flavour(name="compatible"),
            Flavour(name="vllm", schema=_structured_outputs),
            Flavour(name="sglang"),
            Flavour(name="llama.cpp", fixed={"temperature": 0, "cache_prompt": True}),
            Flavour(name="ollama"),
        )
    }
)


def chat_body(model: str, request: Request, schema: Json, flavour: Flavour, options: Mapping[str, Any]) -> Json:
    """The body of a Chat Completions request; keys under `extra_body` go into it as they are."""
    messages = [{"role": part.role, "content": part.content} for part in request.messages]
    known = {"temperature": flavour.fixed.get("temperature")} if "temperature" in flavour.fixed else {}
    extra = {name: value for name, value in flavour.fixed.items() if name != "temperature"}
    body = {"model": model, "messages": messages, flavour.tokens: request.budget.tokens, **known}
    return _with_extra({**body, **flavour.schema(schema)}, {**extra, **_cache_key(request, flavour), **options})


def responses_body(model: str, request: Request, schema: Json, flavour: Flavour, options: Mapping[str, Any]) -> Json:
    """The body of a Responses request, which the provider is asked not to keep."""
    form = {"type": "json_schema", "name": NAME, "strict": True, "schema": schema}
    body = {
        "model": model,
        "input": [{"role": part.role, "content": part.content} for part in request.messages],
        "max_output_tokens": request.budget.tokens,
        "store": False,
        "text": {"format": form},
    }
    return _with_extra({**body, **flavour.fixed}, {**_cache_key(request, flavour), **options})


def _with_extra(body: Json, extra: Mapping[str, Any]) -> Json:
    merged = {**body.get("extra_body", {}), **extra}
    return {**body, "extra_body": merged} if merged else body


def _cache_key(request: Request, flavour: Flavour) -> Json:
    """Calls with one constant part go to where the provider has it in its cache."""
    if flavour.name != "openai":
        return {}
    constant = json.dumps([[part.role, part.content] for part in request.messages[:-1]])
    return {"prompt_cache_key": "sgam-" + hashlib.sha256(constant.encode()).hexdigest()[:16]}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a server said: the text, why it ends, tokens as the server counts them (None: it does not say)."""

    text: str
    finish: Finish
    prompt_tokens: int | None = None
    cached_tokens: int = 0
    completion_tokens: int = 0


def read_chat(answer: Any) -> Reply:
    """Read a Chat Completions answer.  Raises ServerFailed for what is none."""
    choices = getattr(answer, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        raise ServerFailed(f"the server answered with no choice: {_shown(answer)}")
    choice = choices[0]
    return chat_reply(
        choice.message.content, getattr(choice.message, "refusal", None), choice.finish_reason, answer.usage
    )


def chat_reply(content: Any, refusal: Any, reason: Any, usage: Any) -> Reply:
    """The parts of a Chat Completions answer, whole or streamed, as a reply."""
    if refusal and not content:
        return Reply(text=str(refusal), finish="refused", **_tokens(usage, "prompt", "completion"))
    finish = _REASONS.get(str(reason), "complete")
    return Reply(text=str(content or ""), finish=finish, **_tokens(usage, "prompt", "completion"))


def read_response(answer: Any) -> Reply:
    """Read a Responses answer, its status before its text.  Raises ServerFailed for what is none, or failed."""
    status, parts = getattr(answer, "status", None), _parts(answer)
    tokens = _tokens(getattr(answer, "usage", None), "input", "output")
    if status == "incomplete":
        reason = getattr(answer.incomplete_details, "reason", None)
        return Reply(text=_joined(parts, "output_text", "text"), finish=_REASONS.get(str(reason), "length"), **tokens)
    if status != "completed":
        raise ServerFailed(f"the server ended with the status {status!r}: {_shown(getattr(answer, 'error', answer))}")
    refusal = _joined(parts, "refusal", "refusal")
    if refusal:
        return Reply(text=refusal, finish="refused", **tokens)
    return Reply(text=_joined(parts, "output_text", "text"), finish="complete", **tokens)


def _parts(answer: Any) -> list[Any]:
    items = getattr(answer, "output", None) or []
    return [part for item in items if item.type == "message" for part in item.content or []]


def _joined(parts: list[Any], kind: str, name: str) -> str:
    return "".join(getattr(part, name) or "" for part in parts if part.type == kind)


def _tokens(usage: Any, prompt: str, completion: str) -> Json:
    if usage is None:
        return {}
    details = getattr(usage, f"{prompt}_tokens_details", None)
    return {
        "prompt_tokens": getattr(usage, f"{prompt}_tokens", None),
        "cached_tokens": getattr(details, "cached_tokens", None) or 0,
        "completion_tokens": getattr(usage, f"{completion}_tokens", None) or 0,
    }


def _shown(answer: Any) -> str:
    return repr(answer)[:200]

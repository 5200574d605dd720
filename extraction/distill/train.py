"""Fine-tuning with low-rank adapters (LoRA), on a CPU if need be.

The pairs of a batch share the constant part of their prompt, so that part runs through the model once for all of them.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
from peft import LoraConfig, PeftModel, get_peft_model, set_peft_model_state_dict
from rich.progress import track
from safetensors.torch import load_file, save_file
from transformers import DynamicCache

from ..backends.base import Message
from ..backends.local import models
from ..backends.local.forward import shared
from ..backends.local.libraries import quiet
from ..backends.local.prompt import encode
from .pairs import Pair, weights

_ORIGIN: Final = "base.json"
LINEAR: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How to train.

    `rank` of the adapter; learning `rate`, warmed up over `warmup` steps, then falling linearly to `final` times itself
    at the last one; `accumulate` batches in a step; pairs of more than `longest` tokens (question and answer) are left
    out; a checkpoint is written after `every` steps.
    """

    rank: int = 16
    rate: float = 8e-4
    final: float = 0.02
    warmup: int = 20
    accumulate: int = 2
    longest: int = 440
    every: int = 10
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A pair as token ids, and how much each token of the answer counts."""

    prompt: list[int]
    answer: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of a batch: `prefix` is common to all prompts."""

    prefix: list[int]
    rows: list[Row]

    @property
    def tokens(self) -> int:
        """Tokens that run through the model."""
        return len(self.prefix) + sum(len(row.prompt) + len(row.answer) for row in self.rows)


def tokenised(pairs: Sequence[Pair], tokenizer: Any, longest: int) -> Batch | None:
    """A batch as token ids, without pairs that are too long; None when none is left."""
    rows = [_row(pair, tokenizer) for pair in pairs]
    if not rows:
        return None
    common = min(shared(rows[0].prompt, row.prompt[:-1]) for row in rows)  # the first logits need a token of its own
    cut = [Row(row.prompt[common:], row.answer, row.weights) for row in rows]
    kept = [row for row in cut if len(row.prompt) + len(row.answer) <= longest]
    return Batch(rows[0].prompt[:common], kept) if kept else None


def _row(pair: Pair, tokenizer: Any) -> Row:
    messages = [Message(role=part.role, content=part.content) for part in pair.prompt.parts]
    answer = tokenizer(pair.answer, add_special_tokens=False, return_offsets_mapping=True)
    counts = weights(pair.answer)
    spans = answer["offset_mapping"]
    return Row(
        encode(tokenizer, messages), list(answer["input_ids"]), [max(counts[a:b], default=0.0) for a, b in spans]
    )


def loss_of(model: Any, batch: Batch) -> torch.Tensor:
    """Weighted mean cross-entropy of the answers' tokens, in nats."""
    cache = DynamicCache(config=model.config)
    inner, head = model.get_base_model().model, model.get_base_model().lm_head
    inner(input_ids=torch.tensor([batch.prefix]), cache=cache, use_cache=True)
    cache.batch_repeat_interleave(len(batch.rows))
    ids, mask, counts = _padded(batch)
    positions = torch.arange(ids.shape[1])[None] + len(batch.prefix)
    hidden = inner(
        input_ids=ids, attention_mask=mask, position_ids=positions.expand_as(ids), cache=cache, use_cache=True
    ).last_hidden_state
    told = counts[:, 1:] > 0
    logits = head(hidden[:, :-1][told])
    losses = torch.nn.functional.cross_entropy(logits.float(), ids[:, 1:][told], reduction="none")
    return (losses * counts[:, 1:][told]).sum() / counts.sum()


def _padded(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Token ids, attention mask over prefix and rows, and how much each token counts as a target."""
    longest = max(len(row.prompt) + len(row.answer) for row in batch.rows)
    ids = torch.zeros(len(batch.rows), longest, dtype=torch.long)
    mask = torch.zeros(len(batch.rows), len(batch.prefix) + longest, dtype=torch.long)
    counts = torch.zeros(ids.shape)
    mask[:, : len(batch.prefix)] = 1
    for index, row in enumerate(batch.rows):
        tokens = row.prompt + row.answer
        ids[index, : len(tokens)] = torch.tensor(tokens)
        mask[index, len(batch.prefix) : len(batch.prefix) + len(tokens)] = 1
        counts[index, len(row.prompt) : len(tokens)] = torch.tensor(row.weights)
    return ids, mask, counts


def adapted(model: Any, settings: Settings, start: Path | None = None) -> Any:
    """The model with a new adapter, or with the one in the folder `start`."""
    torch.manual_seed(settings.seed)
    with quiet():
        if start is not None:
            return PeftModel.from_pretrained(model, str(start), is_trainable=True)
        config = LoraConfig(r=settings.rank, lora_alpha=2 * settings.rank, target_modules=list(LINEAR), bias="none")
        return get_peft_model(model, config)


class Trainer:
    """Trains an adapter over given batches, and writes it into `folder` now and then and at the end.

    Started again with the same batches, it goes on at the last checkpoint.
    """

    def __init__(self, model: Any, settings: Settings, folder: Path) -> None:
        self.model = model
        self.settings = settings
        self.folder = folder
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._trained, lr=settings.rate, weight_decay=0.0)
        self._step = 0

    def train(self, batches: Sequence[Batch]) -> None:
        """Run over the batches once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._resume()
        steps = [
            list(batches[at : at + self.settings.accumulate]) for at in range(0, len(batches), self.settings.accumulate)
        ]
        self.model.train()
        for batch in track(steps[self._step :], description="training", total=len(steps), completed=self._step):
            self._log(self._update(batch, len(steps)), len(steps))
            if self._step % self.settings.every == 0:
                self.save()
        self.save()

    def _update(self, batches: Sequence[Batch], steps: int) -> dict[str, float]:
        started = time.monotonic()
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.rate * self._factor(steps)
        total = 0.0
        for batch in batches:
            loss = loss_of(self.model, batch) / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self._trained, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._step += 1
        rows, tokens = sum(len(batch.rows) for batch in batches), sum(batch.tokens for batch in batches)
        return {"loss": total, "pairs": rows, "tokens": tokens, "seconds": time.monotonic() - started}

    def _factor(self, steps: int) -> float:
        if self._step < self.settings.warmup:
            return (self._step + 1) / self.settings.warmup
        left = (steps - self._step) / max(steps - self.settings.warmup, 1)
        return self.settings.final + (1 - self.settings.final) * left

    def _log(self, row: dict[str, float], steps: int) -> None:
        line = {"step": self._step, "of": steps, **{name: round(value, 4) for name, value in row.items()}}
        with (self.folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")

    def save(self) -> None:
        """Write the adapter and what is needed to go on."""
        with quiet():
            self.model.save_pretrained(str(self.folder))
        torch.save({"step": self._step, "optimizer": self._optimizer.state_dict()}, self.folder / "state.pt")
        (self.folder / "settings.json").write_text(json.dumps(asdict(self.settings)))

    def _resume(self) -> None:
        state = self.folder / "state.pt"
        if not state.exists():
            return
        saved = torch.load(state)
        set_peft_model_state_dict(self.model, load_file(self.folder / "adapter_model.safetensors"))
        self._optimizer.load_state_dict(saved["optimizer"])
        self._step = saved["step"]


def train_on(
    plan: Sequence[Sequence[Pair]],
    folder: Path,
    settings: Settings,
    *,
    base: str,
    start: Path | None,
    threads: int | None,
) -> None:
    """Train an adapter of the model `base` on a plan; see `Trainer`."""
    if threads:
        torch.set_num_threads(threads)
    source = models.locate("default-base" if base == "default" else base)
    model, tokenizer = models.load(source, device="cpu", dtype="float32")
    batches = [batch for pairs in plan if (batch := tokenised(pairs, tokenizer, settings.longest)) is not None]
    folder.mkdir(parents=True, exist_ok=True)
    origin = {"name": models.DEFAULT_ID if base == "default" else base, "fingerprint": models.fingerprint(source)}
    (folder / _ORIGIN).write_text(json.dumps(origin))
    gc.collect()
    gc.freeze()  # else every backward pass walks through all pairs again
    Trainer(adapted(model, settings, start), settings, folder).train(batches)


def export(run: Path, folder: Path) -> None:
    """Write the adapter of a run in half precision, without calibration."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.half() for name, tensor in load_file(run / "adapter_model.safetensors").items()}
    save_file(weights, folder / "adapter_model.safetensors")
    config, origin = (json.loads((run / name).read_text()) for name in ("adapter_config.json", _ORIGIN))
    kept = {name: config[name] for name in ("r", "lora_alpha", "target_modules", "peft_type", "task_type")}
    kept |= {"base_model_name_or_path": origin["name"], "target_modules": sorted(kept["target_modules"])}
    (folder / "adapter_config.json").write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")
    (folder / "sgam.json").write_text(json.dumps({"base": origin["fingerprint"]}, indent=2) + "\n")

"""The decode loop: a model, a grammar, one token after the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import torch
import xgrammar
from transformers import DynamicCache

from ....memory_store.errors import BackendError
from ..base import Budget, Completion, Finish, Request, Usage
from .grammar import has_quotes, translate, translate_shape
from .prompt import encode

# The prompt runs through the model in blocks at fixed places, so that a block gives the same bits whether the blocks
# before it were computed now or kept from the request before.
BLOCK = 128


class Engine:
    """Answers requests with one model.  Not safe for threads: the backend holds a lock."""

    def __init__(self, model: Any, tokenizer: Any, *, reuse_prefix: bool = True) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._width = int(model.get_output_embeddings().weight.shape[0])
        self._info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=self._width)
        # Every episode has a grammar of its own, so the compiler's cache would only grow.
        self._compiler = xgrammar.GrammarCompiler(self._info, cache_enabled=False, max_threads=torch.get_num_threads())
        self._vocabulary = self._info.decoded_vocab
        self._text_tokens = self._mask_of_text_tokens()
        self._reuse_prefix = reuse_prefix
        self._prefix = _Prefix(model)

    @torch.inference_mode()
    def answer(self, request: Request) -> Completion:
        """The answer that the model gives greedily under the grammar of the request's schema."""
        run = _Run(request.budget)
        matchers = self._matchers(request)
        prompt = encode(self._tokenizer, request.messages)
        run.limit = min(run.limit, self._room(len(prompt)))
        if not self._reuse_prefix:
            self._prefix.clear()
        logits = self._prefix.feed(prompt, run)
        finish = "deadline" if logits is None else self._decode(logits, matchers, run)
        return self._completion(run, finish, len(prompt))

    def _decode(self, logits: torch.Tensor, matchers: Sequence[xgrammar.GrammarMatcher], run: _Run) -> Finish:
        while True:
            if run.is_late():
                return "deadline"
            if len(run.tokens) >= run.limit:
                return "length"
            token = self._choose(logits, matchers, run)
            run.tokens.append(token)
            if matchers[0].is_completed():
                return "complete"
            logits = self._prefix.step(token)

    def _choose(self, logits: torch.Tensor, matchers: Sequence[xgrammar.GrammarMatcher], run: _Run) -> int:
        """The likeliest token that every grammar allows; all matchers have accepted it."""
        if logits.shape[-1] != self._width:
            raise BackendError(f"the model returned {logits.shape[-1]} logits for a vocabulary of {self._width}")
        mask = self._allowed(matchers)
        run.masks += not torch.equal(mask, self._text_tokens)
        xgrammar.apply_token_bitmask_inplace(logits, mask.to(logits.device))
        token = int(logits.argmax(-1).item())
        # No assert: under `python -O` it would vanish, and the constraint with it.
        if not all(matcher.accept_token(token) for matcher in matchers):
            raise BackendError(f"the grammar allows no token after {self._text(run.tokens)[-40:]!r}")
        return token

    def _allowed(self, matchers: Sequence[xgrammar.GrammarMatcher]) -> torch.Tensor:
        mask = self._text_tokens.clone()
        row = xgrammar.allocate_token_bitmask(1, self._width)
        for matcher in matchers:
            xgrammar.reset_token_bitmask(row)
            matcher.fill_next_token_bitmask(row)
            mask &= row
        return mask

    def _matchers(self, request: Request) -> list[xgrammar.GrammarMatcher]:
        grammars = [translate(request.schema, request.source)]
        if has_quotes(request.schema):
            grammars.append(translate_shape(request.schema, request.source))
        return [xgrammar.GrammarMatcher(self._compiler.compile_grammar(grammar)) for grammar in grammars]

    def _mask_of_text_tokens(self) -> torch.Tensor:
        """All tokens but the control tokens: those would be let through where the source happens to spell one."""
        mask = xgrammar.allocate_token_bitmask(1, self._width)
        xgrammar.reset_token_bitmask(mask)
        for token in {*self._tokenizer.all_special_ids, *self._tokenizer.added_tokens_decoder}:
            mask[0, token // 32] &= ~(1 << (token % 32)) if token % 32 != 31 else 0x7FFFFFFF
        return mask

    def _room(self, prompt: int) -> int:
        """How many tokens the model's context has left for the answer."""
        context = getattr(self._model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
        if prompt >= context:
            raise BackendError(
                f"the prompt has {prompt} tokens, but the model's context holds {context}",
                hint="shorten the episode or the turns before it",
            )
        return int(context) - prompt

    def _completion(self, run: _Run, finish: Finish, prompt: int) -> Completion:
        if finish == "complete" and not run.masks:
            raise BackendError("the answer was not constrained by the grammar")
        usage = Usage(calls=1, prompt_tokens=prompt, completion_tokens=len(run.tokens), seconds=run.seconds())
        return Completion(text=self._text(run.tokens), finish=finish, usage=usage)

    def _text(self, tokens: Sequence[int]) -> str:
        """The exact bytes of the tokens; a character that a cut left incomplete at the end is dropped."""
        return b"".join(self._vocabulary[token] for token in tokens).decode("utf-8", errors="ignore")


class _Run:
    """What one answer has cost so far."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.limit = budget.tokens
        self.tokens: list[int] = []
        self.masks = 0
        self._start = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def is_late(self) -> bool:
        return self.seconds() >= self.budget.seconds


class _Prefix:
    """The model's state after the tokens that it was fed last; the next prompt keeps what it shares with them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._ids: list[int] = []
        self._cache = DynamicCache(config=self._model.config)

    def feed(self, ids: Sequence[int], run: _Run) -> torch.Tensor | None:
        """The logits after the prompt `ids`, or None when the time ran out."""
        self._rewind(_shared(self._ids, ids[:-1]) // BLOCK * BLOCK)
        logits = None
        for start in range(len(self._ids), len(ids), BLOCK):
            if run.is_late():
                return None
            logits = self._forward(ids[start : start + BLOCK])
        return logits

    def step(self, token: int) -> torch.Tensor:
        """The logits after one more token."""
        return self._forward([token])

    def _forward(self, ids: Sequence[int]) -> torch.Tensor:
        tokens = torch.tensor([ids], device=self._model.device)
        try:
            output = self._model(input_ids=tokens, cache=self._cache, use_cache=True, logits_to_keep=1)
        except BaseException:
            self.clear()  # the cache may hold some layers of these tokens and not the others
            raise
        self._ids.extend(ids)
        logits: torch.Tensor = output.logits[:, -1].float()
        return logits

    def _rewind(self, length: int) -> None:
        if length == 0 or not self._cache.is_croppable:
            self.clear()
        elif length < len(self._ids):
            self._cache.crop(length - len(self._ids))  # a negative number: how many tokens go
            del self._ids[length:]


def _shared(left: Sequence[int], right: Sequence[int]) -> int:
    """The number of tokens at the start that two sequences share."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))

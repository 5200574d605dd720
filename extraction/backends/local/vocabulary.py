"""Tokens, their bytes, and which of them a grammar allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import xgrammar

from ....memory_store.errors import BackendUnavailable, GrammarError
from ..base import Request
from .grammar import has_quotes, translate, translate_shape

Words = npt.NDArray[np.uint32]
"""A set of tokens, one bit for each."""


class Vocabulary:
    """The tokens of a model with `width` logits, and the compiler of its grammars."""

    def __init__(self, tokenizer: Any, width: int) -> None:
        if len(tokenizer) > width:
            raise BackendUnavailable(
                f"the tokenizer has {len(tokenizer)} tokens, but the model only {width} logits",
                hint="save the tokenizer that belongs to the model into its folder",
            )
        self.width = width
        self._tokenizer = tokenizer
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=width)
        # Every episode has a grammar of its own, so the compiler's cache would only grow.
        self._compiler = xgrammar.GrammarCompiler(info, cache_enabled=False, max_threads=torch.get_num_threads())
        self._bytes = info.decoded_vocab
        self._row = xgrammar.allocate_token_bitmask(1, width)
        self.text_tokens = self._set_of_text_tokens()

    def compile(self, request: Request) -> list[xgrammar.CompiledGrammar]:
        """The grammars of a request: an answer is what all of them accept.

        Raises `GrammarError` for a schema that cannot be translated or a grammar that does not compile.
        """
        grammars = [translate(request.schema, request.source, request.context)]
        if has_quotes(request.schema):
            grammars.append(translate_shape(request.schema, request.source, request.context))
        try:
            return [self._compiler.compile_grammar(grammar) for grammar in grammars]
        except RuntimeError as error:
            raise GrammarError(f"the grammar of the schema does not compile: {error}") from error

    def allowed(self, matchers: Sequence[xgrammar.GrammarMatcher]) -> Words:
        """The tokens that every matcher allows next."""
        allowed = self.text_tokens.copy()
        for matcher in matchers:
            xgrammar.reset_token_bitmask(self._row)
            matcher.fill_next_token_bitmask(self._row)
            allowed &= self._row.numpy()[0].view(np.uint32)
        return allowed

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, none of them a control token."""
        return list(self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def bytes(self, tokens: Sequence[int]) -> bytes:
        """The exact bytes of the tokens."""
        return b"".join(self._bytes[token] for token in tokens)

    def _set_of_text_tokens(self) -> Words:
        """All tokens but the control tokens: those would be let through where the source happens to spell one."""
        allowed = np.ones(len(self._row[0]) * 32, dtype=np.uint8)
        allowed[self.width :] = 0
        allowed[[*{*self._tokenizer.all_special_ids, *self._tokenizer.added_tokens_decoder}]] = 0
        return np.packbits(allowed, bitorder="little").view(np.uint32)


def ids(words: Words) -> npt.NDArray[np.int64]:
    """The members of a set of tokens, ascending."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def count(words: Words) -> int:
    """The size of a set of tokens."""
    return int(np.bitwise_count(words).sum())


def has(words: Words, token: int) -> bool:
    """Whether a token is in the set."""
    return bool(words[token // 32] >> np.uint32(token % 32) & np.uint32(1))

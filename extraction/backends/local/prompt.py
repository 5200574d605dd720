"""From messages to token ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....memory_store.errors import BackendError
from ..base import Message

_PLACE = "\ue000{}\ue001"


def encode(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """The ids of the rendered chat, with the start of the assistant's answer.

    What stands inside a message is never read as a control token, even when it spells one: a user cannot end their own
    turn and speak as the system.
    """
    if not tokenizer.chat_template:
        raise BackendError("the model's tokenizer has no chat template", hint="use an instruction-tuned model")
    contents = [message.content for message in messages]
    if not any(control in content for control in _controls(tokenizer) for content in contents):
        return list(tokenizer.encode(_render(tokenizer, messages, contents), add_special_tokens=False))
    return _encode_in_pieces(tokenizer, messages)


def _render(tokenizer: Any, messages: Sequence[Message], contents: Sequence[str]) -> str:
    chat = [{"role": message.role, "content": content} for message, content in zip(messages, contents, strict=True)]
    return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))


def _controls(tokenizer: Any) -> list[str]:
    return [token.content for token in tokenizer.added_tokens_decoder.values()]


def _encode_in_pieces(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """The frame of the chat and the contents, each encoded alone, the contents without control tokens."""
    rest, ids = _render(tokenizer, messages, [_PLACE.format(index) for index in range(len(messages))]), []
    for index, message in enumerate(messages):
        before, found, rest = rest.partition(_PLACE.format(index))
        if not found:
            raise BackendError("a message spells a control token, and the chat template moves messages about")
        ids += tokenizer.encode(before, add_special_tokens=False)
        ids += tokenizer.encode(message.content, add_special_tokens=False, split_special_tokens=True)
    return ids + list(tokenizer.encode(rest, add_special_tokens=False))

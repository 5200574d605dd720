"""A model of random weights with a tokenizer of its own, small enough to be built anew for each run of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a two-layer model that has more logits than its tokenizer has tokens."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny_model(folder)
    return folder


@pytest.fixture(scope="session")
def short_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a context of 64 tokens."""
    folder = tmp_path_factory.mktemp("models") / "short"
    build_tiny_model(folder, context=64)
    return folder


def build_tiny_model(folder: Path, *, context: int = 2048) -> None:
    """Write the model and its tokenizer."""
    pytest.importorskip("torch")
    pytest.importorskip("xgrammar")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer: Any = _tokenizer()
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=640,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.6,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = ['{"updates": [{"evidence": "a quote", "value": "", "when": null}, {"x": ""}]}', "My deadline is July 15."]
    tokenizer.train_from_iterator(corpus * 20, trainer)
    fast: Any = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token="<|im_end|>", unk_token="<|endoftext|>"
    )  # type: ignore[no-untyped-call]
    fast.chat_template = CHAT_TEMPLATE
    return fast

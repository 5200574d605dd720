"""Forgetting: no read shows it and no byte holds it."""

from __future__ import annotations

import pytest
from sgam.memory_store.erasure import forget

from .ledgers import Claim, Notebook, episode


@pytest.mark.parametrize("word", ["e1", "5", "user", "candidate", "current_value", "people"])
def test_a_word_that_the_file_holds_anyway_is_no_residue(sqlite_book: Notebook, word: str) -> None:
    sqlite_book.commit(episode(word), Claim(value=word))
    receipt = forget(sqlite_book.ledger, "t", episode_id=word)

    assert receipt.removed["episodes"] == 1

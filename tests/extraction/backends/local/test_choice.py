from __future__ import annotations

import numpy as np
import pytest
from sgam.extraction.backends.base import Message, Request
from sgam.extraction.backends.local.choice import Chooser, digest
from sgam.extraction.backends.local.outline import Outline

SPELLED = {1: b"{", 2: b"]", 3: b"["}
IDS = np.array([1, 2])


def spell(tokens: object) -> bytes:
    return b"".join(SPELLED[token] for token in tokens)  # type: ignore[attr-defined]


def after(text: str) -> Outline:
    outline = Outline()
    outline.read(text.encode())
    return outline


def test_the_likeliest_token_is_chosen_and_its_probability_told() -> None:
    choice = Chooser(spell).choose(IDS, np.log([1.0, 3.0]), after("{"), (b"", 0))

    assert choice.token == 2
    assert choice.probability == pytest.approx(0.75)
    assert choice.more is None


def test_where_the_list_goes_on_or_ends_the_probability_of_another_item_is_told() -> None:
    choice = Chooser(spell).choose(IDS, np.log([1.0, 3.0]), after('{"updates":['), (b"", 0))

    assert choice.more == pytest.approx(0.25)


def test_a_bias_shifts_the_decision_there_and_nowhere_else() -> None:
    chooser = Chooser(spell, update_bias=2.0)

    assert chooser.choose(IDS, np.log([1.0, 3.0]), after('{"updates":['), (b"", 0)).token == 1
    assert chooser.choose(IDS, np.log([1.0, 3.0]), after('{"a":['), (b"", 0)).token == 1
    assert chooser.choose(IDS, np.log([1.0, 3.0]), after("{"), (b"", 0)).token == 2


CLOSES, GOES_ON = 4, 5
SPELLED |= {CLOSES: b"}", GOES_ON: b"},", 6: b'"}', 7: b'"},'}


@pytest.mark.parametrize(("ids", "text"), [((4, 5), '{"u":[{"a":null'), ((6, 7), '{"u":[{"a":"b')])
def test_ending_an_update_without_going_on_counts_as_an_end(ids: tuple[int, int], text: str) -> None:
    choice = Chooser(spell).choose(np.array(ids), np.log([1.0, 3.0]), after(text), (b"", 0))

    assert choice.more == pytest.approx(0.75)


def test_draws_follow_the_probabilities_and_the_seed() -> None:
    def drawn(seed: int) -> list[int]:
        chooser = Chooser(spell, temperature=1.0, seed=seed)
        return [chooser.choose(IDS, np.log([1.0, 3.0]), after("{"), (b"x", place)).token for place in range(2000)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(1).count(2) / 2000 == pytest.approx(0.75, abs=0.04)


def test_a_digest_is_of_what_is_asked() -> None:
    one = Request(messages=(Message(role="user", content="a"),), schema={}, source="a\ud800")

    assert digest(one) == digest(Request(messages=one.messages, schema={}, source="a\ud800"))
    assert digest(one) != digest(Request(messages=one.messages, schema={}, source="b"))

from __future__ import annotations

import pytest
from sgam.extraction.backends.local.drafts import draft, guess, retokenised

SOURCE = 'I moved to "Old" Bergen in May.'
BEGUN = '{"updates":[{"evidence":"'
WHOLE = BEGUN + 'I moved to \\"Old\\" Bergen in May.","attribute":"city","value":"'


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("", ""),
        ("{", ""),
        ('{"updates":[', ""),
        (BEGUN, 'I moved to \\"Old\\" Bergen in May."'),
        (BEGUN + "I moved", ' to \\"Old\\" Bergen in May."'),
        (BEGUN + "somewhere else", '"'),
        (WHOLE, ""),
        (WHOLE + "Ber", 'gen in May"'),
        (WHOLE + "Bergen in May.", '"'),
        (WHOLE + 'Bergen","when":', "null"),
        (WHOLE + 'Bergen","when":"in', ' May"'),
        (WHOLE + 'Bergen","when":null,"until":', "null"),
        (WHOLE + 'Bergen","when":null,"until":null', ""),
        ('{"note":"in', " May."),
    ],
)
def test_a_guess_copies_the_source_and_leaves_times_out(text: str, more: str) -> None:
    assert guess(text, SOURCE) == more


def test_the_evidence_of_a_second_update_follows_that_of_the_first() -> None:
    text = '{"updates":[{"evidence":"We eat.","x":null},{"evidence":"We'

    assert guess(text, "We eat. We sleep.") == ' sleep."'


def test_a_draft_is_what_is_forced_then_guesses_with_what_they_force() -> None:
    answer = WHOLE + 'Bergen","when":null,"until":null}]}'
    text = answer[: answer.index('"when"')]

    def force(more: str) -> str | None:
        rest = answer[len(text) :]
        after = rest[len(more) :].split("null")[0]
        return after if rest.startswith(more) else None

    assert draft(text, SOURCE, force) == ('"when":', 'null,"until":null}]}')


def test_a_guess_that_the_grammar_refuses_is_left_out() -> None:
    assert draft('{"when":', SOURCE, lambda more: None if more else "") == ("", "")


def test_a_draft_has_the_tokens_that_it_would_have_in_one_text() -> None:
    def encode(text: str) -> list[int]:
        return [ord(part[0]) + 1000 * len(part) for part in text.replace('":"', '_":"_').split("_")]

    assert retokenised(encode("ab"), '":"cd', encode, "ab") == encode('ab":"cd')[1:]


def test_a_draft_behind_a_token_that_no_text_has_is_encoded_alone() -> None:
    assert retokenised([7], "bc", lambda text: list(map(ord, text)), "a") == [98, 99]

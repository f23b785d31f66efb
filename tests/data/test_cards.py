"""The game of cards: a batch answers its own question."""

import numpy as np
import pytest

from course_lib.data import cards


@pytest.mark.parametrize("asked", [1, 2, 4, 8])
def test_the_answers_are_the_digits_of_the_letters_in_the_order_asked(asked):
    digits, letters, answers = cards.batch(np.random.default_rng(0), 100, asked)
    assert digits.shape == (100, 8)
    assert letters.shape == answers.shape == (100, asked)
    for hand, wanted, found in zip(digits.tolist(), letters.tolist(), answers.tolist(), strict=True):
        assert [hand[letter] for letter in wanted] == found
        assert len(set(wanted)) == asked  # no letter twice


def test_every_letter_is_asked_for_at_every_place_and_every_digit_occurs():
    digits, letters, _ = cards.batch(np.random.default_rng(1), 2000, 2)
    assert set(digits.flatten().tolist()) == set(range(cards.DIGITS))
    for place in letters.T:
        assert set(place.tolist()) == set(range(len(cards.LETTERS)))


@pytest.mark.parametrize("asked", [0, 9])
def test_more_letters_than_there_are_or_none_are_refused(asked):
    with pytest.raises(ValueError, match=f"asked: wanted 1 to 8 letters, got {asked}"):
        cards.batch(np.random.default_rng(0), 1, asked)


def test_an_empty_batch_is_a_batch():
    assert [part.shape for part in cards.batch(np.random.default_rng(0), 0, 2)] == [(0, 8), (0, 2), (0, 2)]

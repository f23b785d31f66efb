"""Looking back: the answers against a loop that reads like the question."""

import numpy as np
import pytest

from course_lib.data import looking_back
from course_lib.data.looking_back import BACK, DIGITS, NO_ANSWER, SYMBOLS


def test_three_back_is_the_letter_three_tokens_earlier():
    ids, targets = looking_back.three_back(np.random.default_rng(0), size=4, n=9)
    assert ids.min() >= DIGITS
    for row, answers in zip(ids, targets, strict=True):
        assert answers.tolist() == [NO_ANSWER] * BACK + row[:-BACK].tolist()


def test_the_last_digit_is_the_nearest_one_before():
    ids, targets = looking_back.last_digit(np.random.default_rng(1), size=30, n=20)
    for row, answers in zip(ids.tolist(), targets.tolist(), strict=True):
        latest = NO_ANSWER
        for symbol, answer in zip(row, answers, strict=True):
            if symbol < DIGITS:
                latest = symbol
                assert answer == NO_ANSWER
            else:
                assert answer == latest


@pytest.mark.parametrize("draw", looking_back.TASKS.values())
@pytest.mark.parametrize("n", [1, 2, 3])
def test_short_rows_have_answers_of_the_same_shape(draw, n):
    ids, targets = draw(np.random.default_rng(0), 5, n)
    assert ids.shape == targets.shape == (5, n)


def test_every_symbol_occurs_and_about_a_fifth_are_digits():
    ids, _ = looking_back.last_digit(np.random.default_rng(0), size=100, n=100)
    assert set(ids.ravel()) == set(range(len(SYMBOLS)))
    assert abs((ids < DIGITS).mean() - 0.2) < 0.02  # five standard deviations of a share of 10,000


def test_a_token_without_an_answer_is_written_as_a_dot():
    assert looking_back.text(np.array([NO_ANSWER, 0, DIGITS])) == "· 0 a"

"""The task of recall: the last token asks for the first."""

import numpy as np
import pytest

from course_lib.data import recall


def test_the_first_token_is_the_answer_and_the_last_the_question():
    ids, targets = recall.batch(np.random.default_rng(0), size=50, distance=7)
    assert ids.shape == (50, 8)
    np.testing.assert_array_equal(ids[:, 0], targets)
    assert (ids[:, -1] == recall.QUERY).all()


def test_noise_is_never_a_symbol_and_never_the_question():
    ids, _ = recall.batch(np.random.default_rng(0), size=200, distance=20)
    noise = ids[:, 1:-1]
    assert noise.min() == recall.SYMBOLS and noise.max() == recall.QUERY - 1


def test_every_symbol_is_about_as_frequent():
    _, targets = recall.batch(np.random.default_rng(0), size=8000, distance=1)
    counts = np.bincount(targets, minlength=recall.SYMBOLS)
    assert len(counts) == recall.SYMBOLS
    assert np.abs(counts - 1000).max() < 150  # five standard deviations of a binomial count


def test_at_distance_one_nothing_lies_between():
    ids, _ = recall.batch(np.random.default_rng(0), size=3, distance=1)
    assert ids.shape == (3, 2)


def test_no_distance_is_refused():
    with pytest.raises(ValueError, match="distance: wanted 1 or more"):
        recall.batch(np.random.default_rng(0), size=3, distance=0)

"""The look-up task: a batch answers its own question."""

import numpy as np
import pytest

from course_lib.data import key_value


def test_the_answer_is_the_value_beside_the_key_that_is_asked_for():
    rows = key_value.batch(np.random.default_rng(0), 200)
    for keys, values, asked, answer in zip(rows.keys, rows.values, rows.asked, rows.answers, strict=True):
        assert values[keys.tolist().index(asked)] == answer


@pytest.mark.parametrize("pairs", [1, key_value.PAIRS, key_value.KEYS])
def test_no_key_stands_twice_in_a_row(pairs):
    rows = key_value.batch(np.random.default_rng(1), 50, pairs)
    assert rows.keys.shape == rows.values.shape == (50, pairs)
    assert all(len(set(keys)) == pairs for keys in rows.keys.tolist())


def test_every_place_and_every_value_is_asked_for():
    rows = key_value.batch(np.random.default_rng(2), 2000)
    places = (rows.keys == rows.asked[:, None]).argmax(axis=1)
    assert set(places.tolist()) == set(range(key_value.PAIRS))
    assert set(rows.answers.tolist()) == set(range(key_value.VALUES))


def test_more_pairs_than_keys_are_refused():
    with pytest.raises(ValueError, match="pairs: wanted 1 to 32, the number of different keys, got 33"):
        key_value.batch(np.random.default_rng(0), 1, 33)


def test_an_empty_batch_is_a_batch():
    assert key_value.batch(np.random.default_rng(0), 0).keys.shape == (0, key_value.PAIRS)

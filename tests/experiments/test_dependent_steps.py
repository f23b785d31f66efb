"""The chain is counted by watching, so it is tried on functions whose chain is known by reading them."""

import numpy as np
import pytest

from course_lib.experiments.dependent_steps import Traced, longest_chain
from course_lib.reference.attention import attention
from course_lib.reference.rnn import rnn


def test_two_operations_on_the_same_input_do_not_wait_for_each_other():
    assert longest_chain(lambda x: (x + 1) * (x - 1), np.ones(3)) == 2


def test_moving_numbers_about_counts_as_nothing():
    assert longest_chain(lambda x: np.concatenate([x[1:], x[:1]]).reshape(2, 2).T, np.ones(4)) == 0
    assert longest_chain(lambda x: x, np.ones(3)) == 0


def test_a_sum_and_a_matrix_product_count_as_one_each():
    assert longest_chain(lambda x: x.sum(), np.ones(3)) == 1
    assert longest_chain(lambda x: x @ x, np.ones((3, 3))) == 1


def test_the_longest_way_counts_where_ways_meet():
    assert longest_chain(lambda x: np.stack([np.exp(np.exp(x)), x]) + 1, np.ones(3)) == 3


@pytest.mark.parametrize("n", [1, 2, 50])
def test_the_rnn_has_four_a_word_and_attention_eight_in_all(n):
    X = np.ones((n, 3))
    assert longest_chain(rnn, X, np.zeros(4), np.ones((3, 4)), np.ones((4, 4)), np.ones(4)) == 4 * n
    assert longest_chain(attention, X, X, X) == 8


def test_watching_does_not_change_the_values():
    X = np.random.default_rng(0).normal(size=(4, 3))
    watched = attention(*3 * [X.view(Traced)])
    np.testing.assert_array_equal(np.asarray(watched), attention(X, X, X))

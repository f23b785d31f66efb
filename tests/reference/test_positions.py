"""Positions: the paper's formula entry by entry, the rotation, and what rotary and ALiBi promise."""

import math

import numpy as np
import pytest

from course_lib.reference.positions import add_positions, alibi_bias, rotate, sinusoidal_positions


@pytest.mark.parametrize(("n", "d_model"), [(7, 4), (3, 5), (1, 2), (0, 4), (2, 1)])
def test_every_entry_is_the_papers_formula(n, d_model):
    P = sinusoidal_positions(n, d_model)
    assert P.shape == (n, d_model)
    for position, column in np.ndindex(P.shape):
        angle = position / 10000 ** ((column - column % 2) / d_model)
        assert math.isclose(P[position, column], [math.sin, math.cos][column % 2](angle), abs_tol=1e-12)


def test_each_row_has_the_squared_norm_d_model_over_two():
    assert np.allclose((sinusoidal_positions(50, 16) ** 2).sum(axis=1), 8, atol=1e-12)


def test_moving_by_k_is_one_rotation_for_all_positions():
    P, k, d_model = sinusoidal_positions(60, 8), 7, 8
    turned = np.empty_like(P[:-k])
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        turned[:, i] = P[:-k, i] * math.cos(angle) + P[:-k, i + 1] * math.sin(angle)
        turned[:, i + 1] = P[:-k, i + 1] * math.cos(angle) - P[:-k, i] * math.sin(angle)
    assert np.allclose(P[k:], turned, atol=1e-12)


def test_positions_are_added_along_the_sequence_and_not_along_the_batch():
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(3, 3, 4)), rng.normal(size=(5, 4))
    result = add_positions(X, P)
    for batch, position in np.ndindex(3, 3):
        assert np.allclose(result[batch, position], X[batch, position] + P[position])


def test_a_sequence_longer_than_the_table_is_refused():
    with pytest.raises(ValueError, match="at most 5 positions, as many as P has rows, got 6"):
        add_positions(np.zeros((1, 6, 4)), np.zeros((5, 4)))


def test_rotation_keeps_lengths_and_makes_scores_depend_on_the_distance_alone():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=8), rng.normal(size=8)
    Q, K = rotate(np.tile(q, (20, 1))), rotate(np.tile(k, (20, 1)))
    assert np.allclose(np.linalg.norm(Q, axis=1), np.linalg.norm(q))
    scores = Q @ K.T
    for distance in range(-5, 6):
        assert np.ptp(np.diagonal(scores, distance)) < 1e-12
    assert not np.isclose(scores[0, 0], scores[0, 1])


def test_rotation_by_complex_numbers_gives_the_same():
    X = np.random.default_rng(0).normal(size=(2, 6, 4))
    pairs = X[..., 0::2] + 1j * X[..., 1::2]
    turned = pairs * np.exp(1j * np.arange(6)[:, None] / 10000 ** (np.arange(0, 4, 2) / 4))
    expected = np.stack([turned.real, turned.imag], axis=-1).reshape(X.shape)
    assert np.allclose(rotate(X), expected, atol=1e-12)


def test_an_odd_width_cannot_turn_in_pairs():
    with pytest.raises(ValueError, match=r"wanted an even d_k.*got 3"):
        rotate(np.zeros((2, 3)))


def test_alibis_slopes_are_those_of_its_paper_for_eight_heads():
    assert np.allclose(-alibi_bias(2, 8)[:, 0, 1], [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256])


def test_alibi_is_symmetric_and_zero_on_the_diagonal():
    bias = alibi_bias(5, 3)
    assert np.array_equal(bias, bias.swapaxes(1, 2)) and not bias.diagonal(axis1=1, axis2=2).any()

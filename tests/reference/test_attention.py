"""The reference attention against PyTorch, loops and identities."""

import numpy as np
import pytest

from course_lib.reference.attention import attention, soft_lookup, softmax

torch = pytest.importorskip("torch")

SMALL = 1e-12  # float64: a few hundred roundings of 1e-16


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), -1), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((0, 3), 1), ((3, 1), 1)]
)
def test_softmax_equals_torchs(rng, shape, axis):
    x = rng.normal(size=shape)
    assert np.allclose(softmax(x, axis), torch.softmax(torch.tensor(x), axis).numpy(), atol=SMALL)


def test_softmax_does_not_overflow_at_1000():
    assert np.allclose(softmax(np.array([1000.0, 999.0, -1000.0])), softmax(np.array([1.0, 0.0, -1999.0])), atol=SMALL)


def test_softmax_gives_a_score_of_minus_infinity_no_weight():
    assert softmax(np.array([0.0, -np.inf, 0.0])).tolist() == [0.5, 0.0, 0.5]


def test_soft_lookup_equals_a_loop_over_the_keys(rng):
    query, keys, values = rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    parts = [np.exp(sum(q * k for q, k in zip(query, key, strict=True))) for key in keys]
    expected = sum(part * value for part, value in zip(parts, values, strict=True)) / sum(parts)
    assert np.allclose(soft_lookup(query, keys, values), expected, atol=SMALL)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)])
def test_attention_equals_torchs(rng, batch):
    Q, K, V = (rng.normal(size=(*batch, n, d)) for n, d in [(4, 3), (5, 3), (5, 2)])
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (Q, K, V))).numpy()
    assert np.allclose(attention(Q, K, V), theirs, atol=SMALL)


def test_attention_with_a_mask_equals_torchs(rng):
    Q, K, V = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    mask = rng.random((4, 5)) < 0.5
    mask[:, 0] = True
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, (Q, K, V, mask))).numpy()
    assert np.allclose(attention(Q, K, V, mask), theirs, atol=SMALL)


def test_a_query_that_may_attend_to_nothing_gets_the_mean_of_the_values(rng):
    Q, K, V = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    mask = np.ones((4, 5), dtype=bool)
    mask[2] = False
    assert np.allclose(attention(Q, K, V, mask)[2], V.mean(axis=0), atol=SMALL)


def test_permuting_the_keys_with_their_values_changes_nothing(rng):
    Q, K, V = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    order = rng.permutation(5)
    assert np.allclose(attention(Q, K, V), attention(Q, K[order], V[order]), atol=SMALL)


def test_hello_world_comes_out_as_in_the_worked_example():
    X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    assert attention(X, X, X)[0].round(2).tolist() == [0.64, 0.36, 1.0]


def test_unequal_d_k_is_refused_with_both_shapes(rng, plain_shapes):
    with pytest.raises(ValueError, match=r"same d_k, got Q \(4, 3\) and K \(5, 2\)"):
        attention(np.zeros((4, 3)), np.zeros((5, 2)), np.zeros((5, 2)))


def test_a_key_without_a_value_is_refused_with_both_shapes(plain_shapes):
    with pytest.raises(ValueError, match=r"a value for each key, got K \(5, 3\) and V \(6, 2\)"):
        attention(np.zeros((4, 3)), np.zeros((5, 3)), np.zeros((6, 2)))

"""Masks against loops, and the leak that they are there to prevent."""

import numpy as np
import pytest

from course_lib.reference.attention import attention
from course_lib.reference.masks import causal_mask, padding_mask


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_causal_mask_lets_row_i_see_columns_up_to_i(n):
    assert causal_mask(n).tolist() == [[key <= query for key in range(n)] for query in range(n)]


def test_a_negative_length_is_refused():
    with pytest.raises(ValueError, match="wanted 0 or more positions, got -1"):
        causal_mask(-1)


def test_a_padding_mask_broadcasts_over_the_queries():
    ids = np.array([[5, 6, 0, 0], [5, 0, 7, 8]])
    mask = np.broadcast_to(padding_mask(ids, pad_id=0), (2, 3, 4))
    for batch, query, key in np.ndindex(mask.shape):
        assert mask[batch, query, key] == (ids[batch, key] != 0)


def test_a_changed_future_moves_no_earlier_output_under_a_causal_mask():
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(5, d)) for d in (3, 3, 2))
    before = attention(Q, K, V, causal_mask(5))
    K[3:], V[3:] = rng.normal(size=(2, 3)), rng.normal(size=(2, 2))
    after = attention(Q, K, V, causal_mask(5))
    assert np.array_equal(before[:3], after[:3]) and not np.allclose(before[3:], after[3:])


def test_padding_moves_no_output():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(1, 4, 3)), rng.normal(size=(1, 6, 3)), rng.normal(size=(1, 6, 2))
    mask = padding_mask(np.array([[9, 9, 9, 9, 0, 0]]), pad_id=0)
    assert np.allclose(attention(Q, K, V, mask), attention(Q, K[:, :4], V[:, :4]), atol=1e-12)

"""Multi-head attention against a loop over the heads, PyTorch's module, and identities."""

import numpy as np
import pytest

from course_lib.reference.attention import attention
from course_lib.reference.heads import merge_heads, multi_head_attention, split_heads
from course_lib.reference.masks import causal_mask

torch = pytest.importorskip("torch")

SMALL = 1e-12  # float64, a few hundred roundings


@pytest.fixture
def weights():
    rng = np.random.default_rng(0)
    # h = 3 heads, d_k = 2, d_v = 4, d_model = 7: every size differs
    return [rng.normal(size=shape) for shape in [(7, 6), (7, 6), (7, 12), (12, 7)]]


def loop(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    parts = [np.split(W, h, axis=1) for W in (W_Q, W_K, W_V)]
    heads = [attention(X_query @ q, X_key @ k, X_key @ v, mask) for q, k, v in zip(*parts, strict=True)]
    return np.concatenate(heads, axis=-1) @ W_O


@pytest.mark.parametrize(("batch", "query", "key"), [(2, 5, 4), (1, 1, 1), (0, 3, 4), (2, 4, 4)])
def test_all_heads_at_once_equal_a_loop_over_the_heads(weights, batch, query, key):
    rng = np.random.default_rng(1)
    X_query, X_key = rng.normal(size=(batch, query, 7)), rng.normal(size=(batch, key, 7))
    assert np.allclose(multi_head_attention(X_query, X_key, *weights, 3), loop(X_query, X_key, *weights, 3), atol=SMALL)


def test_the_mask_is_the_same_for_every_head(weights):
    X = np.random.default_rng(1).normal(size=(2, 5, 7))
    mask = causal_mask(5)
    assert np.allclose(multi_head_attention(X, X, *weights, 3, mask), loop(X, X, *weights, 3, mask), atol=SMALL)


def test_it_equals_torchs_module_with_the_same_weights():
    rng = np.random.default_rng(2)
    W_Q, W_K, W_V, W_O = (rng.normal(size=(6, 6)) for _ in range(4))
    X = rng.normal(size=(2, 5, 6))
    theirs = torch.nn.MultiheadAttention(6, 3, bias=False, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.tensor(np.concatenate([W_Q.T, W_K.T, W_V.T])))
        theirs.out_proj.weight.copy_(torch.tensor(W_O.T))
        hidden = torch.tensor(~causal_mask(5))  # torch's True means "may not attend"
        expected, _ = theirs(*[torch.tensor(X)] * 3, attn_mask=hidden)
    assert np.allclose(multi_head_attention(X, X, W_Q, W_K, W_V, W_O, 3, causal_mask(5)), expected.numpy(), atol=SMALL)


def test_merging_undoes_splitting():
    X = np.random.default_rng(0).normal(size=(2, 5, 12))
    assert np.array_equal(merge_heads(split_heads(X, 3)), X)


def test_a_head_holds_its_columns_of_every_position():
    X = np.random.default_rng(0).normal(size=(2, 5, 12))
    assert np.array_equal(split_heads(X, 3)[1, 2, 4], X[1, 4, 8:12])


@pytest.mark.parametrize("h", [0, 5, -1])
def test_a_number_of_heads_that_does_not_divide_is_refused(h):
    with pytest.raises(ValueError, match=f"divides d_model = 12, got {h}"):
        split_heads(np.zeros((1, 2, 12)), h)

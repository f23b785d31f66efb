"""LayerNorm, the feed-forward layer and both blocks against PyTorch's own."""

import numpy as np
import pytest

from course_lib.reference.heads import multi_head_attention
from course_lib.reference.layers import feed_forward, layer_norm, post_ln_block, pre_ln_block

torch = pytest.importorskip("torch")

SMALL = 1e-10  # float64 through a whole block


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (0, 5)])
def test_layer_norm_equals_torchs(shape):
    rng = np.random.default_rng(0)
    x, gain, bias = rng.normal(3, 4, size=shape), rng.normal(size=5), rng.normal(size=5)
    theirs = torch.nn.functional.layer_norm(*map(torch.tensor, (x,)), (5,), torch.tensor(gain), torch.tensor(bias))
    assert np.allclose(layer_norm(x, gain, bias), theirs.numpy(), atol=SMALL)


def test_a_constant_token_becomes_the_bias_and_not_nan():
    assert layer_norm(np.full(4, 7.0), np.ones(4), np.arange(4.0)).tolist() == [0, 1, 2, 3]


def test_feed_forward_treats_each_token_alone():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(2, 3, 4)), [rng.normal(size=s) for s in [(4, 6), (6,), (6, 4), (4,)]]
    whole = feed_forward(x, *weights)
    for index in np.ndindex(2, 3):
        W_1, b_1, W_2, b_2 = weights
        hidden = [max(0, value) for value in x[index] @ W_1 + b_1]
        assert np.allclose(whole[index], np.array(hidden) @ W_2 + b_2, atol=SMALL)


@pytest.mark.parametrize(("block", "norm_first"), [(pre_ln_block, True), (post_ln_block, False)])
def test_a_block_equals_torchs_encoder_layer_with_the_same_weights(block, norm_first):
    torch.manual_seed(0)
    theirs = torch.nn.TransformerEncoderLayer(
        6, 3, dim_feedforward=10, dropout=0, batch_first=True, norm_first=norm_first, bias=False, dtype=torch.float64
    ).eval()
    with torch.no_grad():
        for norm in (theirs.norm1, theirs.norm2):
            norm.weight.normal_()
    x = np.random.default_rng(0).normal(size=(2, 5, 6))
    W_Q, W_K, W_V = (part.T for part in np.split(theirs.self_attn.in_proj_weight.detach().numpy(), 3))
    W_O, W_1, W_2 = (w.weight.detach().numpy().T for w in (theirs.self_attn.out_proj, theirs.linear1, theirs.linear2))
    norms = [lambda y, n=n: layer_norm(y, n.weight.detach().numpy(), np.zeros(6)) for n in (theirs.norm1, theirs.norm2)]
    ours = block(
        x,
        lambda y: multi_head_attention(y, y, W_Q, W_K, W_V, W_O, 3),
        lambda y: feed_forward(y, W_1, np.zeros(10), W_2, np.zeros(6)),
        *norms,
    )
    assert np.allclose(ours, theirs(torch.tensor(x)).detach().numpy(), atol=SMALL)

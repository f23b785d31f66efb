"""Each PyTorch module equals its NumPy reference with copied weights in float64."""

import numpy as np
import pytest

from course_lib.reference.heads import multi_head_attention
from course_lib.reference.layers import feed_forward, layer_norm, post_ln_block, pre_ln_block
from course_lib.reference.masks import causal_mask, padding_mask
from course_lib.reference.positions import add_positions, sinusoidal_positions
from course_lib.reference.positions import rotate as rotate_reference

torch = pytest.importorskip("torch")

from course_lib.model.attention import MultiHeadAttention  # noqa: E402
from course_lib.model.layers import FeedForward, PostLNBlock, PreLNBlock  # noqa: E402
from course_lib.model.positions import LearnedPositions, SinusoidalPositions, rotate  # noqa: E402

SMALL = 1e-10  # float64 through a block


@pytest.fixture(autouse=True)
def float64():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def numpy_weights(attend):
    return [W.weight.detach().numpy().T for W in (attend.W_Q, attend.W_K, attend.W_V, attend.W_O)]


def masks():
    hidden_row = causal_mask(5)
    hidden_row[2] = False
    ids = np.array([[3, 3, 3, 0, 0], [3, 3, 3, 3, 3]])
    padding = padding_mask(ids, 0)
    return {
        "none": None,
        "causal": causal_mask(5),
        "padding": padding,
        "hidden row": hidden_row,
        "both": padding & causal_mask(5),
    }


@pytest.mark.parametrize("name", masks())
def test_multi_head_attention_equals_the_reference(name):
    attend = MultiHeadAttention(7, h=3, d_k=2, d_v=4)
    X, mask = np.random.default_rng(0).normal(size=(2, 5, 7)), masks()[name]
    ours = attend(torch.tensor(X), mask=None if mask is None else torch.tensor(mask)).detach().numpy()
    assert np.allclose(ours, multi_head_attention(X, X, *numpy_weights(attend), 3, mask), atol=SMALL)


def test_cross_attention_equals_the_reference():
    attend = MultiHeadAttention(6, h=2)
    rng = np.random.default_rng(0)
    X_query, X_key = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 7, 6))
    ours = attend(torch.tensor(X_query), torch.tensor(X_key)).detach().numpy()
    assert np.allclose(ours, multi_head_attention(X_query, X_key, *numpy_weights(attend), 2), atol=SMALL)


def test_the_causal_fast_path_equals_the_causal_mask():
    attend, X = MultiHeadAttention(6, h=2), torch.randn(2, 5, 6)
    assert torch.allclose(attend(X, is_causal=True), attend(X, mask=torch.tensor(causal_mask(5))), atol=SMALL)


@pytest.mark.parametrize("name", masks())
def test_the_weights_give_the_output_of_the_fast_path(name):
    attend, mask = MultiHeadAttention(6, h=2), masks()[name]
    X, mask = torch.randn(2, 5, 6), None if mask is None else torch.tensor(mask)
    V = attend.W_V(X).unflatten(-1, (2, 3)).transpose(1, 2)
    heads = (attend.weights(X, mask=mask) @ V).transpose(1, 2).flatten(2)
    assert torch.allclose(attend.W_O(heads), attend(X, mask=mask), atol=SMALL)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_row_that_may_attend_to_nothing_is_finite_in_every_precision(dtype):
    attend = MultiHeadAttention(6, h=2).to(dtype)
    X, mask = 30 * torch.randn(2, 5, 6, dtype=dtype), torch.zeros(5, 5, dtype=torch.bool)
    assert torch.isfinite(attend(X, mask=mask)).all()


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="divides d_model = 7, got 3"):
        MultiHeadAttention(7, h=3)


@pytest.mark.parametrize(("block", "reference"), [(PreLNBlock, pre_ln_block), (PostLNBlock, post_ln_block)])
def test_a_block_equals_the_reference(block, reference):
    module = block(MultiHeadAttention(6, h=2), FeedForward(6, 9), d_model=6)
    with torch.no_grad():
        for parameter in (*module.norm_1.parameters(), *module.norm_2.parameters()):
            parameter.normal_()
    x = np.random.default_rng(0).normal(size=(2, 5, 6))
    first, second = (p.detach().numpy() for p in module.feed_forward[0].parameters()), module.feed_forward[2]
    W_1, b_1 = first
    W_2, b_2 = (p.detach().numpy() for p in second.parameters())
    gains = [[p.detach().numpy() for p in norm.parameters()] for norm in (module.norm_1, module.norm_2)]
    expected = reference(
        x,
        lambda y: multi_head_attention(y, y, *numpy_weights(module.attend), 2, causal_mask(5)),
        lambda y: feed_forward(y, W_1.T, b_1, W_2.T, b_2),
        *[lambda y, g=g: layer_norm(y, *g) for g in gains],
    )
    ours = module(torch.tensor(x), mask=torch.tensor(causal_mask(5))).detach().numpy()
    assert np.allclose(ours, expected, atol=SMALL)


def test_positions_equal_the_reference_and_can_start_later():
    X = np.random.default_rng(0).normal(size=(2, 3, 5))
    positions, P = SinusoidalPositions(9, 5), sinusoidal_positions(9, 5)
    assert np.allclose(positions(torch.tensor(X)).numpy(), add_positions(X, P), atol=SMALL)
    assert np.allclose(positions(torch.tensor(X), start=4).numpy(), X + P[4:7], atol=SMALL)


def test_sinusoids_are_no_parameters_and_are_not_saved():
    assert not list(SinusoidalPositions(9, 4).parameters()) and not SinusoidalPositions(9, 4).state_dict()


@pytest.mark.parametrize("positions", [SinusoidalPositions, LearnedPositions])
def test_a_position_beyond_the_table_is_refused(positions):
    with pytest.raises(ValueError, match=r"wanted positions below 4.*got up to 4"):
        positions(4, 6)(torch.zeros(1, 3, 6), start=2)


def test_rotation_equals_the_reference():
    X = np.random.default_rng(0).normal(size=(2, 3, 6, 4))
    assert np.allclose(rotate(torch.tensor(X)).numpy(), rotate_reference(X), atol=SMALL)
    assert np.allclose(rotate(torch.tensor(X), start=3).numpy(), rotate_reference(X, np.arange(3, 9)), atol=SMALL)


@pytest.mark.parametrize("block", [PreLNBlock, PostLNBlock])
def test_a_block_learns_to_copy_the_token_before(block):
    from course_lib.training import fit

    torch.set_default_dtype(torch.float32)
    embed, out = torch.nn.Embedding(7, 32), torch.nn.Linear(32, 7)
    model = torch.nn.ModuleList([embed, block(MultiHeadAttention(32, h=4), FeedForward(32, 64), 32), out])
    positions = SinusoidalPositions(8, 32)

    def loss(step):
        ids = torch.randint(7, (32, 8))
        logits = out(model[1](positions(embed(ids)), is_causal=True))
        return torch.nn.functional.cross_entropy(logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten())

    losses = fit(model, loss, steps=200)
    assert losses[-1] < 0.1 < losses[0]

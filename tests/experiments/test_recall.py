"""The readers of recall: what they are made of, and that near things are learnt."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch: no experiments")

from course_lib.data import recall as task  # noqa: E402
from course_lib.experiments import recall  # noqa: E402
from course_lib.reference.attention import attention  # noqa: E402


def test_the_row_of_attention_that_is_read_is_that_of_the_reference():
    torch.manual_seed(0)
    layer = recall.LastOfAttention(d_model=8, h=2).double()
    X = torch.randn(1, 5, 8, dtype=torch.float64)
    with torch.no_grad():
        got = layer(X)[0].numpy()
        Q, K, V = ((X[0] @ W.weight.T).numpy() for W in (layer.W_Q, layer.W_K, layer.W_V))
    heads = [attention(Q[:, part], K[:, part], V[:, part])[-1] for part in (slice(0, 4), slice(4, 8))]
    wanted = X[0, -1].numpy() + np.concatenate(heads) @ layer.W_O.weight.detach().numpy().T
    np.testing.assert_allclose(got, wanted, atol=1e-12)  # double precision


def test_the_lstm_starts_by_keeping():
    gate = recall.Reader("LSTM", 8).mixer.layer.bias_ih_l0[8:16]
    assert (gate == 1).all()


@pytest.mark.parametrize("kind", recall.KINDS)
def test_a_reader_gives_a_logit_for_each_symbol(kind):
    ids, _ = task.batch(np.random.default_rng(0), size=3, distance=4)
    assert recall.Reader(kind, 8)(torch.from_numpy(ids)).shape == (3, task.SYMBOLS)


def test_another_kind_is_refused_by_its_name():
    with pytest.raises(ValueError, match="kind: wanted one of RNN, LSTM, attention, got 'GRU'"):
        recall.Reader("GRU", 8)


@pytest.mark.parametrize("kind", recall.KINDS)
def test_what_is_two_steps_away_is_learnt(kind):
    assert recall.accuracy(kind, distance=2, steps=80) > 0.9


def test_an_untrained_reader_guesses():
    assert recall.accuracy("RNN", distance=5, steps=0) < 0.5
    assert recall.verdict("RNN", distance=5, steps=0) == "often wrong in every run"


def test_gradients_fall_as_powers_in_recurrent_networks_and_as_a_share_in_attention():
    found = {kind: recall.first_token_gradients(kind, [10, 20]) for kind in recall.KINDS}
    falls = {kind: math.log2(np.mean(norms[10]) / np.mean(norms[20])) for kind, norms in found.items()}
    assert 0.6 < falls["attention"] < 1.4  # a share of 1/T halves: one bit
    assert falls["LSTM"] > 2
    assert falls["RNN"] > 8


def test_the_same_seed_gives_the_same_accuracy():
    first, second = (recall.accuracy("attention", distance=3, steps=5, seed=4) for _ in range(2))
    assert first == second

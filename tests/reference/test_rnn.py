"""The recurrent network against PyTorch's, finite differences, and identities."""

import numpy as np
import pytest

from course_lib.reference.rnn import jacobian, jacobian_product, rnn, rnn_step, surviving_signal

torch = pytest.importorskip("torch", reason="no torch: nothing to compare the recurrent network with")


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(6, 3))


def test_all_states_equal_those_of_torch(network, X):
    W_x, W_h, b = network
    layer = torch.nn.RNN(3, 4).double()
    with torch.no_grad():
        layer.weight_ih_l0[:] = torch.from_numpy(W_x.T)  # torch multiplies by the transposes
        layer.weight_hh_l0[:] = torch.from_numpy(W_h.T)
        layer.bias_ih_l0[:] = torch.from_numpy(b)
        layer.bias_hh_l0[:] = 0
        h_0 = np.array([0.5, -0.5, 0.1, 0.9])
        wanted, _ = layer(torch.from_numpy(X), torch.from_numpy(h_0[None]))
    # atol: double precision, six steps.
    np.testing.assert_allclose(rnn(X, h_0, W_x, W_h, b), wanted.numpy(), atol=1e-12)


def test_a_single_word_is_a_single_step(network, X):
    h_0 = np.full(4, 0.3)
    np.testing.assert_array_equal(rnn(X[:1], h_0, *network)[0], rnn_step(X[0], h_0, *network))


def test_a_word_moves_no_state_before_it(network, X):
    before = rnn(X, np.zeros(4), *network)
    X[3] += 1
    after = rnn(X, np.zeros(4), *network)
    np.testing.assert_array_equal(before[:3], after[:3])
    assert (before[3:] != after[3:]).any(axis=1).all()


def test_states_stay_between_minus_one_and_one_for_tokens_of_a_thousand(network, X):
    H = rnn(1000 * X, np.zeros(4), *network)
    assert np.abs(H).max() <= 1


def test_the_jacobian_foretells_the_effect_of_a_small_nudge(network, X):
    h_0 = np.full(4, 0.1)
    h = rnn_step(X[0], h_0, *network)
    nudge = 1e-6 * np.array([1.0, -2.0, 0.5, 1.5])
    seen = rnn_step(X[0], h_0 + nudge, *network) - h
    # atol: what a derivative leaves out is of the order of the nudge squared, 1e-12 times the weights.
    np.testing.assert_allclose(nudge @ jacobian(h, network[1]), seen, atol=1e-10)


def test_the_product_equals_the_jacobian_that_torch_finds(network, X):
    W_x, W_h, b = (torch.from_numpy(array) for array in network)

    def last_state(h):
        for x in torch.from_numpy(X):
            h = torch.tanh(x @ W_x + h @ W_h + b)
        return h

    wanted = torch.autograd.functional.jacobian(last_state, torch.zeros(4, dtype=torch.float64)).numpy().T
    H = rnn(X, np.zeros(4), *network)
    np.testing.assert_allclose(jacobian_product(H, network[1]), wanted, atol=1e-12)  # double precision


def test_the_product_of_no_steps_changes_nothing():
    np.testing.assert_array_equal(jacobian_product(np.zeros((0, 3)), np.ones((3, 3))), np.eye(3))


def test_the_surviving_signal_is_what_the_product_leaves(network, X):
    H = rnn(X, np.zeros(4), *network)
    nudge = np.array([1.0, 2.0, 0.0, -1.0])
    wanted = [np.linalg.norm(nudge @ jacobian_product(H[: t + 1], network[1])) for t in range(len(H))]
    np.testing.assert_allclose(surviving_signal(nudge, H, network[1]), wanted, rtol=1e-12)  # double precision


def test_a_turn_alone_keeps_every_length():
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    lengths = surviving_signal(turn[0], np.zeros((100, 5)), turn)
    np.testing.assert_allclose(lengths, 1, rtol=1e-12)  # a hundred products in double precision

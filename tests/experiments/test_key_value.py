"""The look-up experiment: the model is attention, it learns, and the divisor is used."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.data import key_value as data  # noqa: E402
from course_lib.experiments import key_value as experiment  # noqa: E402
from course_lib.reference.attention import attention  # noqa: E402


def test_the_lookup_is_attention_with_its_own_divisor():
    torch.manual_seed(0)
    model = experiment.Lookup(d_k=5, divisor=3.0).double()
    rows = data.batch(np.random.default_rng(0), 4)
    key_vectors, value_vectors, W_Q, W_K = (
        part.detach().numpy() for part in (model.key_vectors, model.value_vectors, model.W_Q, model.W_K)
    )
    Q = key_vectors[rows.asked][:, None] @ W_Q * np.sqrt(5) / 3  # attention itself divides by √5
    found = attention(Q, key_vectors[rows.keys] @ W_K, value_vectors[rows.values])[:, 0]
    with torch.no_grad():
        wanted = model.out(torch.tensor(found))
        assert torch.allclose(model(rows), wanted, atol=1e-12)


def test_queries_and_keys_begin_with_unit_variance():
    torch.manual_seed(0)
    model = experiment.Lookup(d_k=256, divisor=16.0)
    for W in (model.W_Q, model.W_K):
        assert float((model.key_vectors @ W).detach().std()) == pytest.approx(1, abs=0.1)


def test_with_the_scale_it_learns_in_fifty_steps_and_without_it_does_not():
    scaled = experiment.accuracies(128, 128**0.5, steps=60, seeds=(0, 1))
    plain = experiment.accuracies(128, 1.0, steps=60, seeds=(0, 1))
    assert scaled.shape == (2, 7)  # before the first step and after every tenth
    assert scaled[:, 0].max() < 0.2 and scaled[:, -1].min() > 0.9
    assert plain[:, -1].max() < 0.8


def test_the_same_seed_gives_the_same_run_and_a_rate_of_its_own_another():
    run = [experiment.accuracies(16, 4.0, steps=20, seeds=(3,)) for _ in range(2)]
    assert np.array_equal(*run)
    assert not np.array_equal(run[0], experiment.accuracies(16, 4.0, steps=20, learning_rate=0.5, seeds=(3,)))


def test_adam_is_the_other_optimizer_and_a_third_is_refused():
    assert experiment.accuracies(16, 4.0, "Adam", steps=10, seeds=(0,)).shape == (1, 2)
    with pytest.raises(ValueError, match="optimizer: wanted one of SGD, Adam, got 'sgd'"):
        experiment.accuracies(16, 4.0, "sgd")

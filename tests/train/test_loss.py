"""The loss in PyTorch equals the NumPy reference, and padding counts nowhere."""

import numpy as np
import pytest

from course_lib.reference.loss import smoothed_loss

torch = pytest.importorskip("torch")

from course_lib.train.loss import smoothed_loss_sum  # noqa: E402


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_sum_over_the_tokens_is_the_references_mean(smoothing):
    rng = np.random.default_rng(0)
    logits, wanted = rng.normal(size=(2, 4, 7)), np.array([[3, 1, 2, 0], [5, 6, 0, 0]])
    expected = smoothed_loss(logits.reshape(8, 7), wanted.reshape(8), smoothing)
    ours = smoothed_loss_sum(torch.tensor(logits), torch.tensor(wanted), smoothing).item() / 5
    assert ours == pytest.approx(expected, abs=1e-5)  # float32 inside


def test_padding_gets_no_gradient_whatever_stands_there():
    logits = torch.randn(1, 3, 5, requires_grad=True)
    smoothed_loss_sum(logits, torch.tensor([[2, 0, 0]]), 0.1).backward()
    assert logits.grad[0, 0].abs().sum() > 0 and not logits.grad[0, 1:].any()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_nothing_but_padding_costs_nothing(smoothing):
    assert smoothed_loss_sum(torch.randn(1, 2, 5), torch.zeros(1, 2, dtype=torch.long), smoothing) == 0

"""Schedules against the paper's numbers, the smoothed loss against PyTorch's and against arithmetic."""

import numpy as np
import pytest

from course_lib.reference.loss import smoothed_loss, smoothed_targets, smoothing_floor
from course_lib.reference.schedule import cosine_rate, noam_rate


@pytest.mark.parametrize(("d_model", "peak"), [(512, 6.988e-4), (1024, 4.941e-4)])
def test_the_papers_rate_peaks_at_step_4000(d_model, peak):
    rates = [noam_rate(step, d_model) for step in range(1, 10_000)]
    assert rates.index(max(rates)) + 1 == 4000
    assert max(rates) == pytest.approx(peak, rel=1e-3)


def test_the_first_step_of_the_papers_rate():
    assert noam_rate(1, 512) == pytest.approx(1.75e-7, rel=2e-3)


@pytest.mark.parametrize("rate", [lambda step: noam_rate(step, 512), lambda step: cosine_rate(step, 1.0, 10)])
def test_step_zero_is_refused(rate):
    with pytest.raises(ValueError, match="wanted 1 or more"):
        rate(0)


def test_the_cosine_rises_falls_and_ends_at_zero():
    rates = [cosine_rate(step, 3e-3, 400) for step in range(1, 401)]
    assert np.argmax(rates) + 1 == 100 and max(rates) == 3e-3
    assert rates[-1] == pytest.approx(0, abs=1e-12)
    assert np.all(np.diff(rates[99:]) < 0)


def test_smoothed_targets_sum_to_one_and_leave_padding_out():
    wanted = smoothed_targets(np.array([3, 1]), 6, 0.1, pad_id=0)
    assert np.allclose(wanted.sum(axis=1), 1) and (wanted[:, 0] == 0).all()


def test_without_smoothing_it_is_cross_entropy_over_the_real_tokens():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(5, 7)), np.array([3, 0, 2, 6, 0])
    theirs = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(targets), ignore_index=0)
    assert smoothed_loss(logits, targets, 0.0) == pytest.approx(theirs.item())


def test_with_smoothing_it_is_pytorchs_where_padding_has_no_probability():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    logits, targets = rng.normal(size=(5, 7)), np.array([3, 1, 2, 6, 4])
    theirs = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(targets), label_smoothing=0.1)
    with_padding = np.concatenate([np.full((5, 1), -1e3), logits], axis=1)  # a column that cannot win
    assert smoothed_loss(with_padding, targets + 1, 0.1) == pytest.approx(theirs.item())


def test_no_logits_get_below_the_floor_and_the_smoothed_targets_reach_it():
    targets = np.array([1, 2, 3])
    wanted = smoothed_targets(targets, 9, 0.1)
    best = np.log(np.maximum(wanted, 1e-300))
    assert smoothed_loss(best, targets, 0.1) == pytest.approx(smoothing_floor(8, 0.1))
    assert smoothed_loss(2 * best, targets, 0.1) > smoothing_floor(8, 0.1)


def test_logits_of_a_thousand_do_not_overflow():
    assert smoothed_loss(np.array([[0.0, 1000.0, -1000.0]]), np.array([1]), 0.0) == 0

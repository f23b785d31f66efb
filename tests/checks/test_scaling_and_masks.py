"""Answers of *Scaling and masks* that are written otherwise than the known mistakes, and must be named all the same."""

import numpy as np
import pytest

from course_lib.checks.engine import run
from course_lib.checks.scaling_and_masks import ATTENTION, LEAKS
from course_lib.reference.attention import attention, softmax
from course_lib.reference.masks import causal_mask


def scores_of(Q, K):
    return Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])


def times_the_mask(Q, K, V, mask=None):
    return softmax(scores_of(Q, K) if mask is None else scores_of(Q, K) * mask) @ V


def exponentials_times_the_mask(Q, K, V, mask=None):
    scores = scores_of(Q, K)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True)) * (True if mask is None else mask)
    return raised / raised.sum(axis=-1, keepdims=True) @ V


def filled_backwards(Q, K, V, mask=None):
    return softmax(scores_of(Q, K) if mask is None else np.where(mask, -1e9, scores_of(Q, K))) @ V


def logarithm_of_the_mask(Q, K, V, mask=None):
    return softmax(scores_of(Q, K) + (0 if mask is None else np.log(mask))) @ V


def boolean_index_set_equal_false(Q, K, V, mask=None):
    scores = scores_of(Q, K)
    if mask is not None:
        scores[mask == False] = -1e9  # noqa: E712
    return softmax(scores) @ V


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (times_the_mask, "filled_with_zero"),
        (exponentials_times_the_mask, "after_the_softmax_and_renormalised"),
        (filled_backwards, "polarity"),
        (boolean_index_set_equal_false, "boolean_index"),
    ],
)
def test_the_same_mistake_written_otherwise_has_the_same_name(answer, mistake):
    assert run(ATTENTION, answer).mistake == mistake


def test_the_logarithm_of_the_mask_is_minus_infinity_and_passes_with_that_remark():
    result = run(ATTENTION, logarithm_of_the_mask)
    assert result.passed
    assert "NaN" in result.remark


@pytest.mark.parametrize("fill", [-1e9, -1e12, -1e30, np.finfo(np.float32).min, np.finfo(np.float64).min])
def test_any_fill_low_enough_passes_without_a_word(fill):
    result = run(ATTENTION, lambda Q, K, V, mask=None: softmax(scores_of(Q, K) if mask is None else
                 np.where(mask, scores_of(Q, K), fill)) @ V)  # fmt: skip
    assert result.passed and result.remark is None


def test_masking_too_late_and_dividing_again_is_right_wherever_no_score_is_extreme():
    """The decision in the bank's header: refused for its numerics, so on ordinary scores it must agree."""
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 6, 4))
    for mask in (None, causal_mask(6)):
        assert np.allclose(exponentials_times_the_mask(Q, K, V, mask), attention(Q, K, V, mask), atol=1e-12)
    assert not run(ATTENTION, exponentials_times_the_mask).passed


def test_the_message_of_the_leak_test_names_the_function_that_slipped_through():
    message = run(LEAKS, next(m.answer for m in LEAKS.mistakes if m.id == "only_the_last_token")).message
    assert "leaks(attend=first_sees_second, X)" in message
    assert " at 0x" not in message

"""The figures of *Scaling and masks*: what their sentences say about the data."""

import numpy as np
import pytest

from course_lib.plots import scaling_and_masks as plots

D_KS = [4, 64]


def test_each_divisor_has_its_largest_weight_in_the_sentence():
    picture = plots.weights_by_divisor({"÷ 1": np.array([0.9, 0.1]), "÷ 8": np.array([0.4, 0.6])}, title="Two")
    assert picture.alt == "Two, 2 keys. ÷ 1: the largest is 0.90; ÷ 8: the largest is 0.60."
    assert picture.png.startswith(b"\x89PNG")


def test_saturation_says_where_the_largest_weight_begins_and_ends():
    picture = plots.saturation(D_KS, {"1": [0.4, 0.8], "d_k": [0.1, 0.06]}, {"1": [1.7, 0.4], "d_k": [2.6, 2.7]})
    assert "1 from 0.40 to 0.80; d_k from 0.10 to 0.06" in picture.alt


def test_gradients_are_told_by_median_and_mean_with_one_digit():
    heavy = np.array([1e-9, 1e-9, 1e-9, 4.0])
    sentence = plots.gradient_bands(D_KS, {"1": [np.ones(4), heavy], "√d_k": [np.ones(4), np.ones(4)]}).alt
    assert "1: median from 1 to 1e-09, mean from 1 to 1" in sentence
    assert "√d_k: median from 1 to 1, mean from 1 to 1" in sentence


@pytest.mark.parametrize("count", [1, 3, 4])
def test_learning_says_in_words_where_each_run_ended(count):
    runs = {"1": np.array([[0.1, 0.2], [0.1, 0.3]]), "√d_k": np.array([[0.1, 1.0], [0.1, 0.98]])}
    sentence = plots.learning({f"try {i}": runs for i in range(count)}, every=10, chance=0.06).alt
    assert sentence.count("÷ 1 a few, ÷ √d_k nearly all") == count


def test_squares_name_who_looks_at_whom_and_count_the_leaks():
    tables = {"right": np.tri(2, dtype=bool), "wrong": np.ones((2, 2), dtype=bool)}
    sentence = plots.squares(tables, ["a", "b"], ["a", "b"], ("who", "whom"), future=True).alt
    assert "right: a – a; b – a, b (0 leaks)" in sentence
    assert "wrong: a – a, b; b – a, b (1 leaks)" in sentence


def test_a_row_without_a_square_is_said_to_have_none():
    assert "a – none; b – a" in plots.squares({"t": np.tri(2, k=-1)}, ["a", "b"], ["a", "b"], ("who", "whom")).alt


def test_a_gradient_of_zero_can_be_drawn():
    picture = plots.study(np.array([1.0, 0.0]), np.array([0.0, 0.0, 3.0]), 0.97, 0.08, "d_k = 1024")
    assert "gradient: median 0, mean 1" in picture.alt

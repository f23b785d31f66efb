"""The figures of *RNN limitations*: what their sentences say about the data."""

import numpy as np
import pytest

from course_lib.plots import rnn_limitations as plots

WORDS = ["the", "dog", "sat", "as", "it"]


def test_the_paths_count_hops_and_edges():
    picture = plots.paths(WORDS, "dog", "it")
    assert "3 hops along the chain of 5 words" in picture.alt
    assert "10 direct edges" in picture.alt
    assert picture.png.startswith(b"\x89PNG")


def test_a_path_that_runs_backwards_is_refused():
    with pytest.raises(ValueError, match="a word and a later one"):
        plots.paths(WORDS, "it", "dog")


def test_signals_tell_what_is_left_at_three_distances_or_at_one():
    fading = 0.5 ** np.arange(1, 101)
    assert "1e-03 after 10, 9e-16 after 50, 8e-31 after 100" in plots.signals({"half": fading}).alt
    assert plots.signals({"half": fading}, at=3).alt.endswith("half: 1e-01 after 3 steps.")


def test_times_name_the_quickest_first_at_the_greatest_length():
    alt = plots.times({"RNN": {64: 2.0, 256: 9.0}, "attention": {64: 0.5, 256: 1.5}}).alt
    assert alt == "Milliseconds from 64 to 256 tokens: attention 0.5 to 2, RNN 2.0 to 9."


def test_gradients_are_told_by_their_order_of_magnitude():
    found = {"RNN": {1: np.array([0.1, 0.2]), 40: np.array([1e-15, 1e-14])}}
    assert plots.gradients(found).alt.endswith("from 1 step to 40: RNN 1e-1 to 1e-14.")


def test_recall_is_told_in_words_and_each_kind_may_have_its_own_distances():
    found = {"RNN": {5: np.ones(3), 10: np.full(3, 0.14)}, "attention": {5: np.ones(3), 160: np.array([0.5, 1, 0.6])}}
    alt = plots.recall(found, chance=1 / 8).alt
    assert "RNN: nearly all at 5 steps, near chance at 10 steps" in alt
    assert "attention: nearly all at 5 steps, in between at 160 steps" in alt


def test_copies_are_told_in_words():
    found = {"one vector": {2: np.ones(2), 4: np.ones(2), 6: np.array([0.4, 0.5]), 8: np.zeros(2)}}
    assert "nearly all at 2 and 4 digits, some at 6 digits, hardly any at 8 digits" in plots.copies(found).alt

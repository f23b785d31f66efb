"""The figures of *Start here*: what their sentences say about the data."""

import numpy as np
import pytest

from course_lib.plots import start_here as plots

QUERIES, KEYS = ["it", "sat"], ["dog", "chair", "as"]


def test_the_sentence_of_both_axes_gives_the_sum_of_every_row():
    along_keys = np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]])
    along_queries = np.array([[0.9, 0.2, 0.5], [0.1, 0.8, 0.5]])
    picture = plots.both_axes(along_keys, along_queries, QUERIES, KEYS)
    left, right = picture.alt.split(";")
    assert "1.00 (it), 1.00 (sat)" in left
    assert "1.60 (it), 1.40 (sat)" in right
    assert picture.png.startswith(b"\x89PNG")


def test_a_table_of_another_shape_is_refused_by_its_name():
    with pytest.raises(ValueError, match=r"along the queries.*wanted shape \(2, 3\), got \(3, 2\)"):
        plots.both_axes(np.ones((2, 3)), np.ones((3, 2)), QUERIES, KEYS)


@pytest.mark.parametrize("count", [1, 3])
def test_each_temperature_has_its_largest_and_its_least_in_the_sentence(count):
    rows = {f"temperature {t}": np.array([0.7, 0.2, 0.1]) for t in range(count)}
    sentence = plots.temperature_panels(rows, KEYS).alt
    assert sentence.count("dog gets 0.70, as 0.10") == count


def test_scores_stand_beside_the_weights_that_they_got():
    sentence = plots.scores_and_weights(np.array([0.0, -4.0, 4.0]), np.array([0.1, 0.0, 0.9]), KEYS).alt
    assert "chair -4.0 gets 0.00" in sentence
    assert sentence.endswith("as has the most.")


def test_arrows_are_ranked_by_their_dot_products():
    keys = np.array([[-1.0, -1.0], [0.0, 5.0], [3.0, 1.0]])
    sentence = plots.arrows(np.array([2.0, 0.0]), keys, ["behind", "across", "ahead"]).alt
    assert "ahead 6.0, across 0.0, behind -2.0" in sentence

"""The figures of *Training the transformer*: what their sentences say about the data."""

import numpy as np
import pytest

from course_lib.plots import training_a_transformer as plots

SOURCE, TARGET = ["forty", "-", "three"], ["drei", "und", "vierzig", "<end>"]
WEIGHTS = np.array([[0.1, 0.1, 0.8], [0, 0.9, 0.1], [0.7, 0.2, 0.1], [0.3, 0.4, 0.3]])


@pytest.mark.parametrize(("last", "words"), [(0.68, "ends just above its floor"), (2.0, "does not end near its floor")])
def test_the_loss_says_whether_it_came_down_to_its_floor(last, words):
    assert f"The loss over 20 steps: it {words} of 0.671." == plots.loss_curve([10, 20], [4.0, last], floor=0.671).alt


def test_a_step_says_what_was_said_before_and_where_it_looks():
    assert (
        "step 1 of 4, after nothing: drei looks most at three." in plots.step_of_output(SOURCE, TARGET, WEIGHTS, 1).alt
    )
    picture = plots.step_of_output(SOURCE, TARGET, WEIGHTS, 3, title="43")
    assert picture.alt == "43, step 3 of 4, after drei und: vierzig looks most at forty."


def test_the_map_has_a_row_for_each_token_said():
    assert "drei looks most at three (0.80)" in plots.cross_map(SOURCE, TARGET, WEIGHTS, "Where it looks").alt


def test_a_message_is_its_own_sentence():
    assert plots.message("no number word").alt == "no number word"


def test_exact_match_by_length_tells_the_means_of_the_first_and_the_last_bin():
    kinds = {"GRU": [[1.0, 0.0], [0.5, 0.1]], "transformer": [[1.0, 1.0]]}
    sentence = plots.by_length(["1 to 3", "4 to 6"], kinds, own={"here": [0.7, 0.1]}).alt
    assert "1 to 3 tokens up to 4 to 6: GRU from 0.75 to 0.05; transformer from 1.00 to 1.00." in sentence


def test_each_bug_is_told_by_what_training_sees_and_what_a_test_sees():
    loss = {"right": [0.68, 0.69], "no masks": [0.68, 0.68]}
    forced = {"right": [1.0, 1.0], "no masks": [1.0, 0.98]}
    exact = {"right": [1.0, 0.98], "no masks": [0.0, 0.0]}
    sentence = plots.bugs(loss, forced, exact, floor=0.67).alt
    assert "right: 1.00 and 0.99; no masks: 0.99 and 0.00." in sentence

"""The temperature explorer follows its sliders."""

import pytest

from course_lib.widgets.start_here import temperature_explorer


@pytest.fixture
def explorer():
    return temperature_explorer([2.0, 1.0, -1.0], ["dog", "chair", "as"])


def control(explorer, text):
    return next(child for child in explorer.children if getattr(child, "description", "") == text)


def test_each_score_and_the_temperature_have_a_slider(explorer):
    described = [child.description for child in explorer.children[:-1]]
    assert described == ["temperature", "score of dog", "score of chair", "score of as"]


def test_a_lower_temperature_sharpens_the_weights_on_the_picture(explorer):
    assert "dog 2.0 gets 0.71" in explorer.picture.alt  # e² / (e² + e + 1/e)
    before = explorer.children[-1].value
    control(explorer, "temperature").value = 0.1
    assert "dog 2.0 gets 1.00" in explorer.picture.alt
    assert explorer.children[-1].value != before


def test_moving_all_scores_alike_moves_no_weight(explorer):
    for name in ("dog", "chair", "as"):
        control(explorer, f"score of {name}").value += 1.5
    assert "dog 3.5 gets 0.71" in explorer.picture.alt


def test_the_one_that_is_raised_above_the_others_has_the_most(explorer):
    control(explorer, "score of as").value = 4.0
    assert explorer.picture.alt.endswith("as has the most.")
    assert "as has the most." in repr(explorer)

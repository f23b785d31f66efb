"""The signal explorer follows its sliders."""

import numpy as np
import pytest

from course_lib.widgets.rnn_limitations import signal_explorer


@pytest.fixture
def explorer():
    return signal_explorer(lambda gain, loudness: (gain - 0.1 * loudness) ** np.arange(1, 101))


def control(explorer, text):
    return next(child for child in explorer.children if getattr(child, "description", "") == text)


def test_gain_loudness_and_distance_have_a_slider(explorer):
    assert [child.description for child in explorer.children[:-1]] == ["gain", "loudness", "distance"]


def test_another_distance_moves_the_mark(explorer):
    control(explorer, "loudness").value = 0.0
    control(explorer, "distance").value = 10
    assert explorer.picture.alt.endswith("gain 0.9, loudness 0.0: 3e-01 after 10 steps.")
    before = explorer.children[-1].value
    control(explorer, "distance").value = 100
    assert explorer.picture.alt.endswith("3e-05 after 100 steps.")
    assert explorer.children[-1].value != before


def test_another_gain_and_loudness_give_another_signal(explorer):
    control(explorer, "gain").value = 1.5
    control(explorer, "loudness").value = 1.0
    control(explorer, "distance").value = 2
    assert "gain 1.5, loudness 1.0: 2e+00 after 2" in explorer.picture.alt  # 1.4² = 1.96
    assert "after 2 steps" in repr(explorer)

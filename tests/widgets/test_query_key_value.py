"""The query explorer follows its two sliders."""

import numpy as np
import pytest

from course_lib.reference.attention import soft_lookup
from course_lib.widgets.query_key_value import query_explorer

NAMES = ("right", "up", "left")
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
VALUES = np.array([[1.0, 10.0, 3.0], [2.0, 30.0, 1.0], [7.0, 20.0, 2.0]])


@pytest.fixture
def explorer():
    return query_explorer(KEYS, VALUES, NAMES)


@pytest.mark.parametrize(("angle", "name"), [(0, "right"), (90, "up"), (180, "left")])
def test_turning_the_query_turns_the_attention(explorer, angle, name):
    explorer._controls["length"].value = 4.0
    explorer._controls["angle"].value = angle
    assert f"most at {name}" in explorer.picture.alt
    assert explorer.picture.alt in explorer._image.value.replace("&#x27;", "'")


def test_stretching_the_query_draws_the_figure_again_with_the_lookups_numbers(explorer):
    explorer._controls["angle"].value = 0
    explorer._controls["length"].value = 2.0
    legs, kilograms, _ = soft_lookup(np.array([2.0, 0.0]), KEYS, VALUES)
    assert f"{legs:.2f} legs, {kilograms:.2f} kg" in explorer.picture.alt


def test_at_length_zero_the_angle_makes_no_difference(explorer):
    explorer._controls["length"].value = 0.0
    before = explorer.picture.alt
    explorer._controls["angle"].value = 300
    assert explorer.picture.alt.split("weights")[1] == before.split("weights")[1]


def test_in_plain_text_it_is_its_values_and_its_sentence(explorer):
    assert repr(explorer).startswith("Explorer (angle = 45, length = 1.4). Figure: The query")

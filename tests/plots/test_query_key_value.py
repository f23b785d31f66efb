"""The figures of *Query, key, value* say in words what their data say."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.data.pronouns import story
from course_lib.plots import query_key_value as plots

NAMES = {"dog": 1, "crab": 2, "hen": 3}  # a dictionary's names do as well as a list's
KEYS = np.array([[1.0, 0.0], [0.8, -0.6], [0.6, 0.8]])
VALUES = np.array([[4.0, 20.0, 12.0], [10.0, 1.0, 4.0], [2.0, 3.0, 8.0]])


def test_the_two_dictionaries_name_what_each_follows():
    alt = plots.two_dictionaries(NAMES, "dog", np.array([0.5, 0.3, 0.2]), "alive").alt
    assert 'asked for "dog" follows one line' in alt
    assert "0.50 of dog, 0.30 of crab, 0.20 of hen" in alt


def test_a_lookup_with_an_empty_query_weighs_all_alike_and_averages():
    alt = plots.lookup([0.0, 0.0], KEYS, VALUES, NAMES).alt
    assert "dog 0.33, crab 0.33, hen 0.33" in alt
    assert "5.33 legs, 8.00 kg" in alt


def test_a_lookup_with_a_very_long_query_is_drawn_and_finds_one_value():
    alt = plots.lookup([0.0, 1000.0], KEYS, VALUES, NAMES).alt
    assert "most at hen (1.00)" in alt
    assert "2.00 legs, 3.00 kg" in alt


def test_louder_goes_from_soft_to_hard():
    alt = plots.louder(np.array([0.0, 1.0]), KEYS, NAMES, (1, 64)).alt
    assert "hen goes from 0.59 to 1" in alt


def test_the_hull_has_the_corners_and_nothing_inside():
    points = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 0.0], [2.0, 1.0], [4.0, 4.0], [0.0, 4.0]])
    assert sorted(plots._hull(points)) == [0, 2, 4, 5]


@pytest.mark.parametrize("seed", range(3))
def test_no_point_lies_outside_the_hull(seed):
    points = np.random.default_rng(seed).normal(size=(12, 2))
    corners = points[plots._hull(points)]
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        assert all(plots._turn(a, b, point) >= -1e-12 for point in points)


def test_arcs_name_the_words_that_it_looks_at():
    weights = [np.eye(10)[1] * 0.7 + np.eye(10)[5] * 0.25 + np.eye(10)[7] * 0.05, np.eye(10)[5]]
    alt = plots.arcs(story()[:2], weights, "made up").alt
    assert alt.startswith("made up: ")
    assert 'tired" it looks at dog and chair; in' in alt
    assert alt.endswith('broken" it looks at chair.')


def test_answers_and_flips_are_told_apart_in_words():
    good, bad = SimpleNamespace(accuracy=1.0, flip=0.0), SimpleNamespace(accuracy=0.4, flip=1.0)
    alt = plots.answers_and_flips({"one\nlookup": [good, good], "two": [bad]}).alt
    assert "right answers: nearly all with one lookup, a part with two" in alt
    assert "maps that flip: nearly none with one lookup, nearly all with two" in alt

"""The figures of the lesson on positions: their sentences say what the data say."""

import numpy as np
import pytest

from course_lib.plots import positional_encoding as plots
from course_lib.reference.positions import sinusoidal_positions


def test_the_heat_map_counts_the_turns_of_fast_and_slow_columns():
    picture = plots.heat_map(sinusoidal_positions(20, 8))
    assert picture.png.startswith(b"\x89PNG")
    # The sine of 0 to 19 changes its sign after 3, 6, 9, 12, 15 and 18.
    assert "20 positions from top to bottom, 8 numbers" in picture.alt
    assert "column 0 changes its sign 6 times" in picture.alt
    assert "column 6 goes from 0.00 to 0.02" in picture.alt


@pytest.mark.parametrize("shape", [(1, 2), (5, 1), (3, 7)])
def test_the_heat_map_draws_small_and_odd_tables(shape):
    assert f"{shape[0]} positions" in plots.heat_map(sinusoidal_positions(*shape)).alt


def test_the_clocks_say_their_angles_clockwise_from_twelve():
    table = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, -1.0, -1.0, 0.0]])  # twelve and three; six and nine
    assert plots.clocks(table, [0, 1]).alt == (
        "Clock hands of 2 pairs, clockwise from twelve. position 0: 0°, 90°; position 1: 180°, 270°."
    )


def test_the_products_say_whether_left_and_right_are_alike():
    assert plots.products([-1, 0, 1], {"p = 3": [1.0, 2.0, 1.0]}).alt == (
        "Dot products of encodings by distance. p = 3: 2.00 at distance 0, 1.00 at 1, 1.00 at 1. "
        "The curves are symmetric."
    )
    assert "not symmetric" in plots.products([-1, 0, 1], {"p = 3": [1.0, 2.0, 1.5]}).alt


def test_sizes_are_said_at_both_ends():
    assert "word goes from 1 to 2" in plots.sizes([16, 64], {"word": [1.0, 2.0]}).alt


def test_the_bars_of_order_say_in_words_who_knows_it():
    results = {"without a mask": {"none": np.array([0.5, 0.49]), "rotary": np.ones(2)}}
    alt = plots.order_bars(results, chance=0.5).alt
    assert alt == "Right answers on held-out pairs. without a mask: none no better than guessing, rotary nearly all."


def test_the_lengths_say_in_words_how_each_stretch_went():
    results = {"three back": {"rotary": np.array([[1.0, 0.8], [1.0, 0.8]]), "ALiBi": np.array([[0.2, 0.4]])}}
    assert plots.by_length(results, ["9–16", "17–32"]).alt == (
        "Right answers by stretch of tokens (9–16, 17–32). three back, rotary: nearly all, most; "
        "three back, ALiBi: few, a part."
    )

"""The figures of *The encoder-decoder*: their sentences say what the data say."""

import numpy as np
import pytest

from course_lib.data.table_2 import TABLE_2
from course_lib.plots import encoder_decoder as plots
from course_lib.reference.loss import smoothing_floor


def test_figure_1_says_in_words_which_way_the_memory_goes():
    picture = plots.figure_1()
    assert "cross-attention whose keys and values come from the memory" in picture.alt
    assert picture.png[:4] == b"\x89PNG"


def test_bars_say_each_part_their_sum_and_the_printed_number():
    models = {"a": {"embedding": 2_000_000, "LayerNorm": 500_000}, "b": {"embedding": 1_000_000}}
    alt = plots.by_part(models, {"a": 3, "b": None}).alt
    assert "a 2.50 million (embedding 2.00, LayerNorm 0.50), printed 3" in alt
    assert alt.endswith("b 1.00 million (embedding 1.00).")


def test_every_part_of_a_model_has_a_look_of_its_own():
    assert len(set(plots.PARTS.values())) == len(plots.PARTS)


def test_the_strip_is_where_all_rows_but_big_agree():
    rows = {
        "base": (41, {"embedding": 1, "LayerNorm": 0}, 1000),  # 40,500 to 41,500 words
        "C": (22, {"feed-forward": 1_000_000}, 500),  # 41,000 to 43,000
        "big": (3, {"feed-forward": 2_000_000}, 1000),
    }
    alt = plots.vocabularies(rows, claimed=37_000).alt
    assert "All rows but big agree between 41,000 and 41,500 words; big wants 500 to 1,500." in alt


def test_rows_that_have_no_size_in_common_are_said_not_to_agree():
    alt = plots.vocabularies({"base": (1, {}, 1000), "C": (3, {}, 1000)}, claimed=37_000).alt
    assert alt.endswith("The rows do not agree.")


@pytest.mark.parametrize("amount", [0.1, 0.2])
def test_the_lowest_point_of_a_smoothed_curve_is_the_floor(amount):
    spread = amount / 38

    def loss_of(share, amount):
        return -(1 - amount + spread) * np.log(share) - (amount - spread) * np.log((1 - share) / 37)

    alt = plots.smoothing(loss_of, (amount,), words=38).alt
    assert alt.startswith("Loss of one token among 38 words")
    assert (
        f"ε = {amount:g} is lowest, {smoothing_floor(38, amount):.2f}, where the right word has {1 - amount:.2f}" in alt
    )


def test_the_schedule_says_its_peak():
    alt = plots.schedule([1, 2, 3], {"base": [1e-4, 3e-4, 2e-4]}).alt
    assert "base peaks at step 2 with 0.0003 and ends at 0.0002" in alt


def test_cost_and_quality_name_every_row_of_table_2():
    alt = plots.cost_and_quality(TABLE_2).alt
    assert all(name in alt for name in TABLE_2)
    assert "big 28.4 for 2.3e+19" in alt

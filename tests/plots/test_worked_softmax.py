"""The figures of the lesson on the worked softmax example: their sentences say what the data say."""

import numpy as np
import pytest

from course_lib.plots.worked_softmax import ladder, mixture, verdicts

VALUES = np.array([[1.0, 0, 1], [0, 1, 1]])


def test_the_ladder_names_every_step_and_ends_in_the_weighted_sum():
    picture = ladder("Hello", ["Hello", "World"], {"score": [2, 1], "weight": [0.75, 0.25]}, VALUES)
    assert picture.png.startswith(b"\x89PNG")
    assert picture.alt == (
        "The steps for Hello looking at Hello and World: score 2.00, 1.00; weight 0.75, 0.25; weight × value "
        "[0.75, 0.00, 0.75], [0.00, 0.25, 0.25]; New Hello [0.75, 0.25, 1.00]."
    )


def test_the_ladder_takes_three_words():
    picture = ladder("a", ["a", "b", "c"], {"weight": [0.5, 0.25, 0.25]}, np.eye(3))
    assert picture.alt.endswith("New a [0.50, 0.25, 0.25].")


def test_the_mixture_gives_each_part_and_their_sum():
    picture = mixture({"0.75 × Hello": 0.75 * VALUES[0], "0.25 × World": 0.25 * VALUES[1]}, "New Hello")
    assert picture.alt == (
        "New Hello: 0.75 × Hello gives [0.75, 0.00, 0.75]; 0.25 × World gives [0.00, 0.25, 0.25]; "
        "together [0.75, 0.25, 1.00]."
    )


@pytest.mark.parametrize("noticed", [True, False])
def test_the_verdicts_say_what_goes_unnoticed(noticed):
    table = {"no scale": {"Hello": True, "the twin": True}, "wrong axis": {"Hello": noticed, "the twin": True}}
    missed = "refuses 2" if noticed else "refuses 1 and does not notice: wrong axis"
    assert verdicts(table).alt == f"Of 2 mistakes Hello {missed}; the twin refuses 2."

"""The shared figures: each has alternative text that follows the data."""

import numpy as np
import pytest

from course_lib.plots.common import attention_map, bars, lines, new_figure, show

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])


def test_the_sentence_of_an_attention_map_names_each_rows_peak():
    picture = attention_map(WEIGHTS, ["it", "was"], ["dog", "chair", "tired"])
    assert "it looks most at dog (0.90)" in picture.alt and "was looks most at tired (0.50)" in picture.alt


def test_a_changed_weight_changes_the_sentence():
    changed = WEIGHTS[:, ::-1]
    names = ["it", "was"], ["dog", "chair", "tired"]
    assert attention_map(WEIGHTS, *names).alt != attention_map(changed, *names).alt


def test_weights_of_another_shape_are_refused_with_both_shapes():
    with pytest.raises(ValueError, match=r"wanted shape \(3, 2\).*got \(2, 3\)"):
        attention_map(WEIGHTS, ["a", "b", "c"], ["d", "e"])


def test_the_picture_is_an_image_with_escaped_alternative_text():
    figure = new_figure()
    figure.subplots().plot([0, 1])
    picture = show(figure, 'a "line" <up>')
    assert picture.png.startswith(b"\x89PNG")
    assert 'alt="a &quot;line&quot; &lt;up&gt;"' in picture._repr_html_()
    assert repr(picture) == 'Figure: a "line" <up>'


def test_a_figure_without_a_sentence_is_refused():
    with pytest.raises(ValueError, match="alt: wanted a sentence"):
        show(new_figure(), "  ")


def test_the_same_data_give_the_same_bytes():
    names = ["it", "was"], ["dog", "chair", "tired"]
    assert attention_map(WEIGHTS, *names).png == attention_map(WEIGHTS, *names).png


def test_lines_say_where_each_curve_starts_and_ends():
    picture = lines(
        [1, 10, 100], {"RNN": [1, 0.1, 0.01], "LSTM": [1, 0.5, 0.2]}, "steps", "signal", log_x=True, log_y=True
    )
    assert "RNN goes from 1 to 0.01" in picture.alt and "LSTM goes from 1 to 0.2" in picture.alt


def test_bars_say_every_height():
    assert "h = 1 0.85, h = 2 1.00" in bars({"h = 1": 0.85, "h = 2": 1.0}, "accuracy", marks={"chance": 0.06}).alt


def test_drawing_changes_no_global_setting():
    import matplotlib

    before = dict(matplotlib.rcParams)
    attention_map(WEIGHTS, ["it", "was"], ["dog", "chair", "tired"])
    assert dict(matplotlib.rcParams) == before

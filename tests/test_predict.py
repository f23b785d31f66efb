"""A folded answer is folded in HTML and plain in text."""

import numpy as np

from course_lib.plots.common import Picture
from course_lib.predict import predict


def test_the_answer_is_folded_and_escaped_in_html():
    page = predict("a < b", "x < y")._repr_html_()
    assert page.startswith("<details>") and "x &lt; y" in page and "a &lt; b" in page


def test_plain_text_holds_question_and_answer_for_the_comparison_of_notebooks():
    assert repr(predict("the shape", (5, 8))) == "the shape: (5, 8)"


def test_arrays_are_written_with_four_decimals():
    assert repr(predict("weights", np.array([1 / 3, 2 / 3]))) == "weights: [0.3333 0.6667]"


def test_a_picture_is_folded_with_its_alternative_text():
    picture = Picture(b"not looked at", alt="it falls", width=100)
    page = predict("the curve", picture)._repr_html_()
    assert page.startswith("<details>") and page.endswith(f"</summary>{picture.html}</details>")
    assert repr(predict("the curve", picture)) == "the curve: Figure: it falls"

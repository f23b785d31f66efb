"""The slider shell: it draws at once, draws again on a move, and says in text what it shows."""

import ipywidgets as w
import pytest

from course_lib.plots.common import bars
from course_lib.widgets.common import FigureExplorer


@pytest.fixture
def explorer():
    return FigureExplorer(
        lambda height: bars({"a": height}, "height"),
        height=w.FloatSlider(value=0.5, min=0, max=1, description="height"),
    )


def test_a_move_of_the_slider_changes_the_picture_and_its_sentence(explorer):
    before = explorer._image.value
    explorer.children[0].value = 0.75
    assert "a 0.75" in explorer.picture.alt
    assert explorer._image.value != before and 'alt="height of a 0.75."' in explorer._image.value


def test_its_plain_text_is_short_and_holds_no_address(explorer):
    text = explorer._repr_mimebundle_()["text/plain"]
    assert text == "Explorer (height = 0.5). Figure: height of a 0.50."

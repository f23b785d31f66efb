"""The widget of *Multi-head attention*."""

import pytest

from course_lib.widgets import multi_head_attention as widgets


def test_the_picture_follows_the_ways_to_split_and_to_merge():
    explorer = widgets.split_explorer()
    assert "every row holds numbers of its own token" in repr(explorer)
    before = explorer.picture.png
    explorer.children[3].value = "reshape alone"
    assert "row b holds numbers of a" in explorer.picture.alt
    assert "they do not give X back" in explorer.picture.alt
    explorer.children[4].value = "reshape alone"
    assert "they give X back" in explorer.picture.alt
    assert explorer.values == {
        "tokens": 3,
        "heads": 2,
        "width": 4,
        "split": "reshape alone",
        "merge": "reshape alone",
    }
    assert explorer.picture.png != before


@pytest.mark.parametrize("tokens", [1, 6])
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("width", [4, 8])
def test_every_corner_of_the_controls_can_be_drawn(tokens, heads, width):
    explorer = widgets.split_explorer()
    for control, value in zip(explorer.children, (tokens, heads, width), strict=False):
        control.value = value
    assert explorer.picture.alt.startswith(f"{heads} heads split by reshape and swapped axes: every row")

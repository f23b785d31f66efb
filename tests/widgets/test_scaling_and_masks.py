"""The widgets of *Scaling and masks*."""

import numpy as np

from course_lib.widgets import scaling_and_masks as widgets


def measure(d_k, divisor, seed):
    """Stand in for the lesson's function: what it returns tells what it was asked."""
    return np.array([np.full(10, 1 / divisor), np.full(10, 2.0), np.geomspace(1e-12, d_k, 10)])


def test_the_power_makes_the_divisor_and_the_picture_follows():
    explorer = widgets.scale_explorer(measure)
    assert "d_k = 64, scores divided by 8: mean largest weight 0.12" in repr(explorer)
    before = explorer.picture.png
    explorer.children[1].value = 0.0
    assert explorer.values == {"d_k": 64, "power": 0.0}
    assert "divided by 1: mean largest weight 1.00" in explorer.picture.alt
    explorer.children[0].value = 1024
    assert "d_k = 1024" in explorer.picture.alt
    assert explorer.picture.png != before


def test_the_painter_begins_with_a_causal_mask():
    painter = widgets.mask_painter(np.eye(3), ["a", "b", "c"], [False, False, True])
    assert repr(painter) == "Mask painter (mask = causal). 6 of 9 pairs may look."
    painter.close()

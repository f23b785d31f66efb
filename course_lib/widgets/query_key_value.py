"""The widget of the lesson *Query, key, value*: turn and stretch a query, and see the weights and the output."""

from collections.abc import Iterable

import ipywidgets as w
import numpy as np

from course_lib.plots.common import Picture
from course_lib.plots.query_key_value import lookup
from course_lib.widgets.common import FigureExplorer


def query_explorer(keys: np.ndarray, values: np.ndarray, names: Iterable[str]) -> FigureExplorer:
    """Two sliders, the query's angle in degrees and its length, over the figure of one soft lookup."""

    def draw(angle: int, length: float) -> Picture:
        turned = np.deg2rad(angle)
        return lookup(length * np.array([np.cos(turned), np.sin(turned)]), keys, values, names)

    style = {"description_width": "60px"}
    angle = w.IntSlider(value=45, min=0, max=360, step=5, description="angle", style=style)
    length = w.FloatSlider(value=1.4, min=0, max=16, step=0.2, description="length", style=style, readout_format=".1f")
    return FigureExplorer(draw, angle=angle, length=length)

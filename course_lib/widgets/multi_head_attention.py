"""The widget of *Multi-head attention*: numbers through split and merge, the right way and the wrong one."""

import ipywidgets as w

from course_lib.plots import multi_head_attention as plots
from course_lib.plots.common import Picture
from course_lib.widgets.common import FigureExplorer


def split_explorer() -> FigureExplorer:
    """Choose tokens, heads and width, and how to split and to merge; the numbers keep their token's colour."""

    def draw(tokens: int, heads: int, width: int, split: str, merge: str) -> Picture:
        return plots.split_and_merge(tokens, heads, width, split, merge)

    look = {"style": {"description_width": "5em"}, "layout": {"width": "min(24em, 95%)"}}
    return FigureExplorer(
        draw,
        tokens=w.IntSlider(3, min=1, max=6, description="tokens n", **look),
        heads=w.SelectionSlider(value=2, options=[1, 2, 4], description="heads h", **look),
        width=w.SelectionSlider(value=4, options=[4, 8], description="d_model", **look),
        split=w.ToggleButtons(value="right", options=plots.SPLITS, description="split", style=look["style"]),
        merge=w.ToggleButtons(value="right", options=plots.MERGES, description="merge", style=look["style"]),
    )

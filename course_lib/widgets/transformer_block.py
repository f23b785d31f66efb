"""The widget of *The transformer block*: switches for the residual path and the norm, over what depth does."""

from collections.abc import Callable, Sequence

import ipywidgets as w

from course_lib.plots import transformer_block as plots
from course_lib.plots.common import Picture
from course_lib.widgets.common import FigureExplorer

PLACES = {"before the sub-layer": "before", "after the sum": "after", "nowhere": "nowhere"}


def depth_explorer(
    measure: Callable[[bool, str, float, int, int], tuple[Sequence[float], Sequence[float]]],
) -> FigureExplorer:
    """Make switches for the residual path and the place of LayerNorm, and sliders for depth, start and seed.

    `measure(residual, norm, start, N, seed)` returns the spread and the size of the tokens at each depth.
    """

    def draw(residual: bool, norm: str, start: float, depth: int, seed: int) -> Picture:
        path = "with residual path" if residual else "without residual path"
        title = f"{path}, LayerNorm {norm}"
        return plots.through_depth({title: measure(residual, norm, start, depth, seed)}, title)

    look = {"style": {"description_width": "8em"}, "layout": {"width": "min(28em, 98%)"}}
    return FigureExplorer(
        draw,
        residual=w.Checkbox(value=True, description="residual path", indent=False),
        norm=w.ToggleButtons(value="before", options=PLACES, description="LayerNorm", style=look["style"]),
        start=w.SelectionSlider(value=1.0, options=[0.0, 0.1, 0.3, 1.0, 2.0], description="first weights ×", **look),
        depth=w.SelectionSlider(value=24, options=[1, 3, 6, 12, 24, 48], description="blocks", **look),
        seed=w.IntSlider(value=0, min=0, max=9, description="seed", **look),
    )

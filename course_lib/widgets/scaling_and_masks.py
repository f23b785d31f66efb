"""The widgets of the lesson *Scaling and masks*: d_k and the power of it in the divisor, and the mask painter."""

from collections.abc import Callable, Sequence

import ipywidgets as w
import numpy as np

from course_lib.plots import scaling_and_masks as plots
from course_lib.plots.common import Picture
from course_lib.reference.attention import softmax
from course_lib.widgets.common import FigureExplorer
from course_lib.widgets.mask_painter import MaskPainter


def scale_explorer(measure: Callable[[int, float, int], np.ndarray]) -> FigureExplorer:
    """Make sliders for d_k and for the power of d_k in the divisor, over weights, entropy and gradients.

    `measure(d_k, divisor, seed)` returns, for many queries, their largest weight, entropy and size of gradient.
    """

    def draw(d_k: int, power: float) -> Picture:
        divisor = d_k**power
        top, entropy, gradient = measure(d_k, divisor, 0)
        rng = np.random.default_rng(1)
        query, keys = rng.normal(size=d_k), rng.normal(size=(16, d_k))
        name = f"d_k = {d_k}, scores divided by {divisor:.4g}"
        return plots.study(softmax(keys @ query / divisor), gradient, top.mean(), entropy.mean(), name)

    look = {"style": {"description_width": "8em"}, "layout": {"width": "min(28em, 98%)"}}
    length = w.SelectionSlider(options=(4, 16, 64, 256, 1024), value=64, description="d_k", **look)
    power = w.FloatSlider(
        value=0.5, min=0, max=1, step=0.125, description="divide by d_k to", readout_format=".3f", **look
    )
    return FigureExplorer(draw, d_k=length, power=power)


def mask_painter(X: np.ndarray, tokens: Sequence[str], padding: Sequence[bool]) -> MaskPainter:
    """Make the painter for self-attention over the rows of X, with a causal mask to begin with."""
    return MaskPainter(X, X, X, tokens, padding, mask="causal")

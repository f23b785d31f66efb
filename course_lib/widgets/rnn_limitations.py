"""The widget of *RNN limitations*: how much of a nudge survives, by gain, loudness and distance."""

from collections.abc import Callable

import ipywidgets as w
import numpy as np

from course_lib.plots import rnn_limitations as plots
from course_lib.plots.common import Picture
from course_lib.widgets.common import FigureExplorer


def signal_explorer(signal: Callable[[float, float], np.ndarray]) -> FigureExplorer:
    """Show how a nudge fades or grows; `signal(gain, loudness)` returns its length after 1, 2, …, 100 steps."""

    def draw(gain: float, loudness: float, distance: int) -> Picture:
        return plots.signals({f"gain {gain:.1f}, loudness {loudness:.1f}": signal(gain, loudness)}, at=distance)

    look = {"style": {"description_width": "5.5em"}, "layout": {"width": "min(26em, 95%)"}}
    return FigureExplorer(
        draw,
        gain=w.FloatSlider(0.9, min=0.5, max=2.0, step=0.1, readout_format=".1f", description="gain", **look),
        loudness=w.FloatSlider(0.3, min=0.0, max=2.0, step=0.1, readout_format=".1f", description="loudness", **look),
        distance=w.IntSlider(50, min=1, max=100, description="distance", **look),
    )

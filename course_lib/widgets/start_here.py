"""The widget of the lesson *Start here*: four scores and a temperature."""

from collections.abc import Sequence

import ipywidgets as w
import numpy as np

from course_lib.plots import start_here as plots
from course_lib.plots.common import Picture
from course_lib.reference.attention import softmax
from course_lib.widgets.common import FigureExplorer


def temperature_explorer(scores: Sequence[float], names: Sequence[str]) -> FigureExplorer:
    """Make sliders for the temperature and for each score, over a picture of the scores and their weights."""

    def draw(temperature: float, **moved: float) -> Picture:
        now = np.array(list(moved.values()))
        return plots.scores_and_weights(now, softmax(now / temperature), names)

    look = {"style": {"description_width": "8em"}, "layout": {"width": "min(28em, 98%)"}}
    heat = w.FloatLogSlider(value=1.0, min=-1, max=1, step=0.1, description="temperature", readout_format=".2f", **look)
    sliders = {
        f"score_{place}": w.FloatSlider(value=score, min=-4, max=4, step=0.5, description=f"score of {name}", **look)
        for place, (name, score) in enumerate(zip(names, scores, strict=True))
    }
    return FigureExplorer(draw, temperature=heat, **sliders)

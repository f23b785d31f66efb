"""The widget of the lesson *Training the transformer*: type a number, and follow the output step by step."""

from collections.abc import Callable, Sequence

import ipywidgets as w
import numpy as np

from course_lib.plots import training_a_transformer as plots
from course_lib.plots.common import Picture
from course_lib.widgets.common import FigureExplorer

Look = Callable[[str], tuple[Sequence[str], Sequence[str], np.ndarray]]


def translation_explorer(look: Look, say: Callable[[str], str] | None = None, text: str = "243") -> FigureExplorer:
    """Make a box for a number, in digits or words, and a slider over the steps of its translation.

    `look(text)` returns the pieces of the source and of the target, and a row of weights for each piece of the target.
    `say(text)` returns the right translation of a number in digits, to compare with.
    """
    look_of = {"style": {"description_width": "6em"}, "layout": {"width": "min(30em, 98%)"}}
    hint = "243, or two hundred and forty-three"
    number = w.Text(value=text, description="a number", continuous_update=False, placeholder=hint, **look_of)
    step = w.IntSlider(value=3, min=1, max=30, description="step", **look_of)

    def draw(number: str, step: int) -> Picture:
        try:
            source, target, weights = look(number)
        except ValueError as error:
            return plots.message(str(error))
        return plots.step_of_output(source, target, weights, min(step, len(target)), _title(number, target, say))

    def fit(_change: object = None) -> None:
        try:
            step.max = len(look(number.value)[1])
        except ValueError:
            return  # the picture says it

    number.observe(fit, names="value")
    fit()
    return FigureExplorer(draw, number=number, step=step)


def _title(number: str, target: Sequence[str], say: Callable[[str], str] | None) -> str:
    got = "".join(piece for piece in target if not piece.startswith("<"))
    if say is None or not number.strip().isdigit():
        return got
    wanted = say(number)
    return f"{got}: right" if wanted.replace(" ", "") == got else f"{got}: wrong, it is {wanted}"

"""The shell that most widgets of the course are: a few controls over a figure."""

from collections.abc import Callable
from pathlib import Path

import ipywidgets as w

from course_lib.plots.common import Picture


def joined(*names: str) -> str:
    """Return files of this folder as one text: an anywidget takes a single script and a single style sheet."""
    return "\n".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in names)


class FigureExplorer(w.VBox):
    """Controls over a figure that is drawn again whenever one of them moves.

    `draw` takes the controls' values by name and returns a `Picture`. The picture is an `<img>` with alternative text
    that changes with the controls; in plain text the explorer is the values and the picture's sentence.
    """

    def __init__(self, draw: Callable[..., Picture], **controls: w.ValueWidget):
        self._draw = draw
        self._controls = controls
        self._image = w.HTML()
        for control in controls.values():
            control.observe(self._redraw, names="value")
        super().__init__([*controls.values(), self._image])
        self._redraw()

    @property
    def values(self) -> dict:
        """The controls' values by name."""
        return {name: control.value for name, control in self._controls.items()}

    def _redraw(self, _change: object = None) -> None:
        self.picture = self._draw(**self.values)
        self._image.value = self.picture.html

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"Explorer ({values}). {self.picture!r}"

    def _repr_mimebundle_(self, **kwargs: object) -> dict | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle:
            bundle["text/plain"] = repr(self)
        return bundle

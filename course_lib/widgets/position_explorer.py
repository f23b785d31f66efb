"""The position explorer: choose a position, a step and a pair of numbers; see its row, its clocks and who is like it.

It is computed in JavaScript (`position_explorer.js`), so that it answers within a frame and lives on a page without a
kernel. `explore` here is its twin in NumPy; a test compares the two in a browser.
"""

import math
from dataclasses import dataclass

import anywidget
import numpy as np
import traitlets

from course_lib.reference.positions import sinusoidal_positions
from course_lib.widgets.attention_explorer import two_digits
from course_lib.widgets.common import joined


@dataclass(frozen=True)
class Shown:
    """All encodings, where each pair's hand stands at both positions, who is like position p, and a sentence."""

    P: np.ndarray  # (position, d_model)
    hands: np.ndarray  # (pair,): degrees at p, clockwise from twelve
    later: np.ndarray  # (pair,): degrees at p + k
    products: np.ndarray  # (position,): the dot products of PE(p) with each
    sentence: str


def explore(n: int, d_model: int, p: int, k: int, pair: int) -> Shown:
    """Compute the encodings of n positions, and what a step from `p` to `p + k` does to their clock hands.

    >>> explore(n=8, d_model=4, p=1, k=2, pair=0).sentence
    'Pair 0 turns 57.30° a step: 57° at position 1, 172° at position 3. PE(1) · PE(3) = 0.58; at most 2.'

    Raises:
        ValueError: if d_model is odd, or there is no such position or pair.
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model: wanted an even number, so that every sine has its cosine, got {d_model}")
    for name, position in (("p", p), ("p + k", p + k)):
        if not 0 <= position < n:
            raise ValueError(f"{name}: wanted a position from 0 to {n - 1}, got {position}")
    if not 0 <= pair < d_model // 2:
        raise ValueError(f"pair: wanted one from 0 to {d_model // 2 - 1}, got {pair}")
    P = sinusoidal_positions(n, d_model)
    speeds = 180 / np.pi / 10000 ** (np.arange(0, d_model, 2) / d_model)  # degrees a step
    hands, later = (place * speeds % 360 for place in (p, p + k))
    products = P @ P[p]
    sentence = (
        f"Pair {pair} turns {two_digits(speeds[pair])}° a step: {_degrees(hands[pair])}° at position {p}, "
        f"{_degrees(later[pair])}° at position {p + k}. "
        f"PE({p}) · PE({p + k}) = {two_digits(products[p + k])}; at most {d_model // 2}."
    )
    return Shown(P, hands, later, products, sentence)


class PositionExplorer(anywidget.AnyWidget):
    """The widget. Whatever is dragged arrives in its traits; `shown` computes from them what it shows."""

    _esm = joined("shared.js", "position_explorer.js")
    _css = joined("attention_explorer.css", "position_explorer.css")
    n = traitlets.Int(32).tag(sync=True)
    d_model = traitlets.Int(16).tag(sync=True)
    p = traitlets.Int(4).tag(sync=True)
    k = traitlets.Int(3).tag(sync=True)
    pair = traitlets.Int(0).tag(sync=True)

    def __init__(self, n: int = 32, d_model: int = 16, p: int = 4, k: int = 3, pair: int = 0):
        explore(n, d_model, p, k, pair)  # raises where something does not fit
        super().__init__(n=n, d_model=d_model, p=p, k=k, pair=pair)

    @property
    def shown(self) -> Shown:
        """What the widget shows now."""
        return explore(self.n, self.d_model, self.p, self.k, self.pair)

    def __repr__(self) -> str:
        return f"Position explorer (p = {self.p}, k = {self.k}). {self.shown.sentence}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle:
            bundle[0]["text/plain"] = repr(self)
        return bundle


def _degrees(angle: float) -> int:
    """Round to a whole degree below 360, half upwards, as the JavaScript does it."""
    return math.floor(angle + 0.5) % 360

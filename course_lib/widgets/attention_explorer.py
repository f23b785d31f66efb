"""The attention explorer: edit the vectors, the scale and the temperature; every step of equation 1 follows.

It is computed in JavaScript (`attention_explorer.js`), so that it answers within a frame and lives on a page without a
kernel. `explore` here is its twin in NumPy; a test compares the two in a browser.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import numpy as np
import traitlets

from course_lib.reference.attention import softmax
from course_lib.widgets.common import joined

SCALES = ("1", "√d_k", "d_k")  # what the scores may be divided by


@dataclass(frozen=True)
class Steps:
    """Every step of attention on its way from the vectors to the output, and a sentence that says who looks where."""

    divisor: float
    scores: np.ndarray  # (query, key)
    scaled: np.ndarray  # (query, key)
    weights: np.ndarray  # (query, key)
    output: np.ndarray  # (query, d_v)
    sentence: str


def explore(
    Q: Sequence | np.ndarray,
    K: Sequence | np.ndarray,
    V: Sequence | np.ndarray,
    scale: str = "√d_k",
    temperature: float | int = 1.0,
    query_names: Sequence[str] | None = None,
    key_names: Sequence[str] | None = None,
) -> Steps:
    """Compute every step of attention; `scale` and `temperature` together divide the scores.

    >>> hello_world = [[1, 0, 1], [0, 1, 1]]
    >>> names = ["Hello", "World"]
    >>> explore(hello_world, hello_world, hello_world, query_names=names, key_names=names).sentence
    'Hello looks most at Hello (0.64); World looks most at World (0.64).'

    Raises:
        ValueError: if `scale` is none of SCALES, `temperature` is not positive, or the shapes do not fit.
    """
    Q, K, V = (np.asarray(table, dtype=float) for table in (Q, K, V))
    _check_shapes(Q, K, V)
    if scale not in SCALES:
        raise ValueError(f"scale: wanted one of {', '.join(SCALES)}, got {scale!r}")
    if not temperature > 0:
        raise ValueError(f"temperature: wanted a number above 0, got {temperature!r}")
    d_k = Q.shape[1]
    divisor = {"1": 1, "√d_k": math.sqrt(d_k), "d_k": d_k}[scale] * temperature
    scores = Q @ K.T  # (query, key)
    scaled = scores / divisor
    weights = softmax(scaled)
    query_names = _names("query_names", "query", query_names, len(Q))
    key_names = _names("key_names", "key", key_names, len(K))
    return Steps(float(divisor), scores, scaled, weights, weights @ V, _sentence(weights, query_names, key_names))


class AttentionExplorer(anywidget.AnyWidget):
    """The widget. Whatever is typed or dragged arrives in its traits; `steps` computes from them what it shows."""

    _esm = joined("shared.js", "attention_explorer.js")
    _css = joined("attention_explorer.css")
    Q = traitlets.List().tag(sync=True)
    K = traitlets.List().tag(sync=True)
    V = traitlets.List().tag(sync=True)
    scale = traitlets.Enum(SCALES, default_value="√d_k").tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    query_names = traitlets.List().tag(sync=True)
    key_names = traitlets.List().tag(sync=True)

    def __init__(
        self,
        Q: Sequence | np.ndarray,
        K: Sequence | np.ndarray,
        V: Sequence | np.ndarray,
        query_names: Sequence[str] | None = None,
        key_names: Sequence[str] | None = None,
        scale: str = "√d_k",
        temperature: float | int = 1.0,
    ):
        explore(Q, K, V, scale, temperature, query_names, key_names)  # raises where something does not fit
        tables = {name: np.asarray(table, dtype=float).tolist() for name, table in zip("QKV", (Q, K, V), strict=True)}
        super().__init__(
            **tables,
            query_names=_names("query_names", "query", query_names, len(Q)),
            key_names=_names("key_names", "key", key_names, len(K)),
            scale=scale,
            temperature=temperature,
        )

    @property
    def steps(self) -> Steps:
        """The steps of what the widget holds now."""
        return explore(self.Q, self.K, self.V, self.scale, self.temperature, self.query_names, self.key_names)

    def __repr__(self) -> str:
        return f"Explorer (scale = {self.scale}, temperature = {self.temperature:g}). {self.steps.sentence}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle:
            bundle[0]["text/plain"] = repr(self)
        return bundle


def two_digits(number: float | int) -> str:
    """Write a number with two digits, half upwards, as the JavaScript does it.

    >>> two_digits(0.125), two_digits(-0.001)
    ('0.13', '0.00')
    """
    rounded = math.floor(number * 100 + 0.5) / 100
    return f"{rounded or 0.0:.2f}"


def _sentence(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> str:
    """Say for each query which key has the largest weight; keys within a billionth of it share the place."""
    parts = []
    for query, row in zip(queries, weights, strict=True):
        peaks = [key for key, weight in zip(keys, row, strict=True) if weight >= row.max() - 1e-9]
        size = two_digits(row.max())
        if len(peaks) == 1:
            parts.append(f"{query} looks most at {peaks[0]} ({size})")
        elif len(peaks) == len(keys):
            parts.append(f"{query} looks at all alike ({size} each)")
        else:
            parts.append(f"{query} looks most at {' and '.join(peaks)} ({size} each)")
    return "; ".join(parts) + "."


def _names(argument: str, word: str, names: Sequence[str] | None, count: int) -> list[str]:
    names = [f"{word} {i + 1}" for i in range(count)] if names is None else list(names)
    if len(names) != count:
        raise ValueError(f"{argument}: wanted {count} names, one a row, got {len(names)}")
    return names


def _check_shapes(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> None:
    for name, table in (("Q", Q), ("K", K), ("V", V)):
        if table.ndim != 2 or table.size == 0:
            raise ValueError(f"{name}: wanted rows of numbers, got an array of shape {table.shape}")
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q and K: wanted the same d_k, got Q {Q.shape} and K {K.shape}")
    if len(K) != len(V):
        raise ValueError(f"K and V: wanted a value for each key, got K {K.shape} and V {V.shape}")

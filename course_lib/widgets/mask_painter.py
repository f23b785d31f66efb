"""The mask painter: paint who may look at whom; the weights follow, and which outputs move when one token is changed.

It is computed in JavaScript (`mask_painter.js`), so that it answers within a frame and lives on a page without a
kernel. `explore` here is its twin in NumPy; a test compares the two in a browser.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anywidget
import numpy as np
import traitlets

from course_lib.reference.attention import attention
from course_lib.widgets.common import joined

PRESETS = ("everyone", "causal", "padding", "both")  # the masks that have a name
NOBODY = -1  # no token is changed
Table = Sequence | np.ndarray  # rows of numbers or of truth values


@dataclass(frozen=True)
class Painted:
    """What a mask comes to: the weights, the outputs, which of them move with the changed token, and a sentence."""

    weights: np.ndarray  # (query, key)
    output: np.ndarray  # (query, d_v)
    moved: np.ndarray  # (query,)
    sentence: str


def explore(Q: Table, K: Table, V: Table, names: Sequence[str], mask: Table, changed: int = NOBODY) -> Painted:
    """Attend under `mask`, twice: as it is, and with the vectors of token `changed` turned round.

    >>> explore([[1], [1]], [[1], [2]], [[1], [3]], ["a", "b"], [[True, False], [True, True]], changed=1).sentence
    '3 of 4 pairs may look. With "b" changed, the output of "b" moves.'

    Raises:
        ValueError: if the tables, the names or the mask do not fit each other, or no token has that number.
    """
    tables = [np.asarray(table, dtype=float) for table in (Q, K, V)]
    mask = np.asarray(mask, dtype=bool)
    n = len(names)
    if any(table.ndim != 2 or len(table) != n for table in tables) or tables[0].shape != tables[1].shape:
        raise ValueError(f"Q, K and V: wanted {n} rows each, got {', '.join(str(t.shape) for t in tables)}")
    if mask.shape != (n, n):
        raise ValueError(f"mask: wanted the shape ({n}, {n}), got {mask.shape}")
    if not NOBODY <= changed < n:
        raise ValueError(f"changed: wanted a token from 0 to {n - 1}, or {NOBODY} for none, got {changed}")
    flipped = [table.copy() for table in tables]
    if changed != NOBODY:
        for table in flipped:
            table[changed] *= -1
    output = attention(*tables, mask)
    moved = (np.abs(attention(*flipped, mask) - output) > 1e-9).any(axis=-1)
    weights = attention(*tables[:2], np.eye(n), mask)
    return Painted(weights, output, moved, _sentence(names, mask, changed, moved))


def preset(name: str, padding: Sequence[bool]) -> list[list[bool]]:
    """Make one of the masks that have a name; `padding` says which tokens are padding.

    >>> preset("both", [False, False, True])
    [[True, False, False], [True, True, False], [True, True, False]]

    Raises:
        ValueError: if no mask has that name.
    """
    if name not in PRESETS:
        raise ValueError(f"preset: wanted one of {', '.join(PRESETS)}, got {name!r}")
    n = len(padding)
    past = np.tri(n, dtype=bool) if name in ("causal", "both") else np.ones((n, n), dtype=bool)
    real = ~np.asarray(padding, dtype=bool) if name in ("padding", "both") else np.ones(n, dtype=bool)
    return (past & real).tolist()


class MaskPainter(anywidget.AnyWidget):
    """The widget. What is painted and chosen arrives in its traits; `painted` computes from them what it shows."""

    _esm = joined("shared.js", "mask_painter.js")
    _css = joined("attention_explorer.css", "mask_painter.css")
    Q = traitlets.List().tag(sync=True)
    K = traitlets.List().tag(sync=True)
    V = traitlets.List().tag(sync=True)
    names = traitlets.List().tag(sync=True)
    padding = traitlets.List().tag(sync=True)
    mask = traitlets.List().tag(sync=True)
    changed = traitlets.Int(NOBODY).tag(sync=True)

    def __init__(
        self,
        Q: Table,
        K: Table,
        V: Table,
        names: Sequence[str],
        padding: Sequence[bool] | None = None,
        mask: str = "everyone",
        changed: int = NOBODY,
    ):
        padding = [False] * len(names) if padding is None else [bool(pad) for pad in padding]
        if len(padding) != len(names):
            raise ValueError(f"padding: wanted {len(names)} truth values, one a token, got {len(padding)}")
        allowed = preset(mask, padding)
        explore(Q, K, V, names, allowed, changed)  # raises where something does not fit
        tables = {name: np.asarray(table, dtype=float).tolist() for name, table in zip("QKV", (Q, K, V), strict=True)}
        super().__init__(**tables, names=list(names), padding=padding, mask=allowed, changed=changed)

    @property
    def painted(self) -> Painted:
        """What the widget shows now."""
        return explore(self.Q, self.K, self.V, self.names, self.mask, self.changed)

    @property
    def mask_name(self) -> str:
        """The name of the mask that is painted now."""
        return next((name for name in PRESETS if preset(name, self.padding) == self.mask), "your own")

    def __repr__(self) -> str:
        return f"Mask painter (mask = {self.mask_name}). {self.painted.sentence}"

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle:
            bundle[0]["text/plain"] = repr(self)
        return bundle


def _sentence(names: Sequence[str], mask: np.ndarray, changed: int, moved: np.ndarray) -> str:
    parts = [f"{mask.sum()} of {mask.size} pairs may look."]
    blind = [name for name, row in zip(names, mask, strict=True) if not row.any()]
    if blind:
        parts.append(f"{_listed(blind)} may look at nothing: the plain mean of all values.")
    if changed != NOBODY:
        movers = [name for name, moves in zip(names, moved, strict=True) if moves]
        what = f"the output of {_listed(movers)} moves" if movers else "no output moves"
        parts.append(f"With {_listed([names[changed]])} changed, {what}.")
        earlier = [name for name, moves in zip(names[:changed], moved[:changed], strict=True) if moves]
        if earlier:
            parts.append(f"{_listed(earlier)} saw the future.")
    return " ".join(parts)


def _listed(words: Sequence[str]) -> str:
    quoted = [f'"{word}"' for word in words]
    return "".join(quoted) if len(quoted) < 2 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"

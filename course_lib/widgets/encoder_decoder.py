"""The widget of *The encoder-decoder*: a model's sizes, its parameters by part, and the paper's row if any."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as w

from course_lib.plots import encoder_decoder as plots
from course_lib.plots.common import Picture
from course_lib.widgets.common import FigureExplorer

SIZES = ("N", "d_model", "d_ff", "h", "d_k")


def size_explorer(parts: Callable[..., Mapping[str, int]], rows: Mapping[str, Any]) -> FigureExplorer:
    """Make sliders for the sizes of table 3 and for the vocabulary, over the parameters by part.

    `parts(N=…, d_model=…, …)` counts; `rows` are the paper's, each with a `config` and perhaps with `millions`.
    """

    def draw(N: int, d_model: int, d_ff: int, h: int, d_k: int | None, vocabulary: int) -> Picture:
        sizes = {"N": N, "d_model": d_model, "d_ff": d_ff, "h": h, "d_k": d_k}
        row = row_of(sizes, rows)
        name = "no row of table 3" if row is None else f"row {row}"
        counted = parts(**sizes, source_vocabulary=vocabulary, target_vocabulary=vocabulary)
        return plots.by_part({name: counted}, {name: None if row is None else rows[row].millions})

    look = {"style": {"description_width": "6em"}, "layout": {"width": "min(26em, 98%)"}}
    widths = {"d_model / h": None, "16": 16, "32": 32}
    return FigureExplorer(
        draw,
        N=w.SelectionSlider(value=6, options=[1, 2, 4, 6, 8], description="N layers", **look),
        d_model=w.SelectionSlider(value=512, options=[256, 512, 768, 1024], description="d_model", **look),
        d_ff=w.SelectionSlider(value=2048, options=[1024, 2048, 3072, 4096], description="d_ff", **look),
        h=w.SelectionSlider(value=8, options=[1, 4, 8, 16, 32], description="h heads", **look),
        d_k=w.ToggleButtons(value=None, options=widths, description="d_k", style={"description_width": "6em"}),
        vocabulary=w.IntSlider(
            37_000, min=1_000, max=60_000, step=100, description="vocabulary", continuous_update=False, **look
        ),
    )


def row_of(sizes: Mapping[str, object], rows: Mapping[str, Any]) -> str | None:
    """Return the first row of the table that has just these sizes, whatever its vocabulary, or None."""
    for name, row in rows.items():
        if all(getattr(row.config, size) == sizes[size] for size in SIZES):
            return name
    return None

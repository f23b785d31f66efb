"""The figures that several lessons use, and `show`, through which every figure of the course goes."""

import base64
import html
import io
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's eight colours, which people with any colour vision can tell apart; black first, yellow left out.
PALETTE = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

Numbers = Sequence[float | int] | np.ndarray  # one row of them

STYLE = {
    "font.family": "DejaVu Sans",  # shipped with matplotlib, so that figures look the same everywhere
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 110,
    "svg.hashsalt": "course",
}


class Picture:
    """A finished figure: an image whose alternative text is a sentence about its data."""

    def __init__(self, png: bytes, alt: str, width: int):
        self.png = png
        self.alt = alt
        self.width = width

    @property
    def html(self) -> str:
        """The image as one HTML element that needs no other file."""
        data = base64.b64encode(self.png).decode("ascii")
        size = f"width: {self.width}px; max-width: 100%; height: auto; background: white"
        return f'<img alt="{html.escape(self.alt)}" style="{size}" src="data:image/png;base64,{data}">'

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"

    def _repr_html_(self) -> str:
        return self.html


def new_figure(width: float = 6.4, height: float = 3.6) -> Figure:
    """Make an empty figure of so many inches, in the style of the course, without touching any global setting."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
    return figure


def show(figure: Figure, alt: str) -> Picture:
    """Draw `figure` and return it with `alt`, the sentence that says what there is to see.

    The sentence is built from the data ("row it peaks at dog (0.81)"), so that comparing notebooks by their text
    notices a changed figure.

    Raises:
        ValueError: if `alt` is empty.
    """
    if not alt.strip():
        raise ValueError(f"alt: wanted a sentence that says what the figure shows, got {alt!r}")
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        # Twice the pixels that the page gives it, so that it is sharp on a dense screen.
        figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return Picture(buffer.getvalue(), alt, width=round(figure.get_figwidth() * 100))


def attention_map(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], title: str = "", digits: int = 2
) -> Picture:
    """Draw attention weights as a table of shades with the numbers in it: a row a query, a column a key."""
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(queries), len(keys)):
        wanted = f"({len(queries)}, {len(keys)}), a row a query and a column a key"
        raise ValueError(f"weights: wanted shape {wanted}, got {weights.shape}")
    figure = new_figure(1.8 + 0.62 * len(keys), 1.2 + 0.48 * len(queries))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(keys)), keys, rotation=0 if max(map(len, keys)) < 6 else 40)
        axes.set_yticks(range(len(queries)), queries)
        axes.set_xlabel("key: who is looked at")
        axes.set_ylabel("query: who looks")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        for row, column in np.ndindex(weights.shape):
            colour = "white" if weights[row, column] > 0.55 else "black"
            text = f"{weights[row, column]:.{digits}f}"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=10)
        if title:
            axes.set_title(title)
    peaks = [
        f"{query} looks most at {keys[row.argmax()]} ({row.max():.2f})"
        for query, row in zip(queries, weights, strict=True)
    ]
    return show(figure, f"{title or 'Attention weights'}: " + "; ".join(peaks) + ".")


def lines(
    x: Numbers,
    curves: Mapping[str, Numbers],
    xlabel: str,
    ylabel: str,
    title: str = "",
    log_x: bool = False,
    log_y: bool = False,
    marks: Mapping[str, float | int] | None = None,
) -> Picture:
    """Draw one labelled line a curve over the same x; `marks` are labelled horizontal lines, such as chance."""
    figure = new_figure(6.8, 3.8)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, y) in enumerate(curves.items()):
            look = {"color": PALETTE[index % 7], "linestyle": LINE_STYLES[index % 7], "marker": MARKERS[index % 7]}
            axes.plot(x, y, label=name, markersize=5, linewidth=1.8, **look)
        for name, height in (marks or {}).items():
            axes.axhline(height, color="grey", linewidth=1, linestyle=":")
            axes.annotate(
                name, (1, height), xycoords=("axes fraction", "data"), ha="right", va="bottom", color="#444444"
            )
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if log_x:
            axes.set_xscale("log")
            axes.set_xticks(list(x), [f"{value:g}" for value in x])
            axes.minorticks_off()
        if log_y:
            axes.set_yscale("log")
        if title:
            axes.set_title(title)
        axes.legend(frameon=False)
    ends = [f"{name} goes from {float(y[0]):.2g} to {float(y[-1]):.2g}" for name, y in curves.items()]
    where = f"{ylabel} against {xlabel} from {x[0]:g} to {x[-1]:g}"
    return show(figure, f"{title + ': ' if title else ''}{where}: " + "; ".join(ends) + ".")


def bars(
    heights: Mapping[str, float | int], ylabel: str, title: str = "", marks: Mapping[str, float | int] | None = None
) -> Picture:
    """Draw one bar a name with its number above it; `marks` are labelled horizontal lines, such as chance."""
    figure = new_figure(1.6 + 0.95 * len(heights), 3.4)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        drawn = axes.bar(list(heights), list(heights.values()), color=PALETTE[1], width=0.65)
        axes.bar_label(drawn, fmt="%.2f", padding=2)
        for name, height in (marks or {}).items():
            axes.axhline(height, color="grey", linewidth=1, linestyle=":")
            axes.annotate(
                name, (1, height), xycoords=("axes fraction", "data"), ha="right", va="bottom", color="#444444"
            )
        axes.set_ylabel(ylabel)
        axes.margins(y=0.12)
        if title:
            axes.set_title(title)
    text = ", ".join(f"{name} {height:.2f}" for name, height in heights.items())
    return show(figure, f"{title + ': ' if title else ''}{ylabel} of {text}.")

"""The figures of the lesson on the worked softmax example: a ladder of steps, a mixture, who refuses what."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from course_lib.plots.common import PALETTE, STYLE, Picture, new_figure, show


def ladder(query: str, words: Sequence[str], rungs: Mapping[str, Sequence | np.ndarray], values: np.ndarray) -> Picture:
    """Draw the steps from the scores down to the new vector: a rung a step, a column a word that is looked at.

    The last rung holds the weights; below it each word's value is multiplied by its weight, and the products are added.
    """
    weights = np.asarray(list(rungs.values())[-1], dtype=float)
    products = weights[:, None] * np.asarray(values, dtype=float)
    new = products.sum(axis=0)
    texts = [(name, [f"{number:.2f}" for number in numbers]) for name, numbers in rungs.items()]
    texts.append(("weight × value", [_vector(product) for product in products]))
    width, last = 2.6, len(texts)
    figure = new_figure(1.9 + 1.75 * len(words), 0.54 * (last + 1.6))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_xlim(-1.35 * width, (len(words) - 0.5) * width)
        axes.set_ylim(last + 0.4, -1.1)
        for column, word in enumerate(words):
            axes.text(column * width, -0.75, f"{query} → {word}", ha="center", va="center", weight="bold")
        for rung, (name, numbers) in enumerate(texts):
            axes.text(-1.33 * width, rung, name, ha="left", va="center")
            for column, text in enumerate(numbers):
                shaded = rung == last - 2  # the weights
                _box(axes, column * width, rung, text, weights[column] if shaded else 0.0)
                if rung:
                    _arrow(axes, (column * width, rung - 0.7), (column * width, rung - 0.3))
        middle = (len(words) - 1) / 2 * width
        for column in range(len(words)):
            _arrow(axes, (column * width, last - 0.7), (middle + np.sign(column * width - middle) * 0.5, last - 0.3))
        axes.text(-1.33 * width, last, "the sum", ha="left", va="center")
        _box(axes, middle, last, f"New {query} = {_vector(new)}", 0.0, bold=True)
    steps = "; ".join(f"{name} {', '.join(numbers)}" for name, numbers in texts)
    return show(figure, f"The steps for {query} looking at {' and '.join(words)}: {steps}; New {query} {_vector(new)}.")


def mixture(parts: Mapping[str, np.ndarray], title: str) -> Picture:
    """Draw a vector as the sum of its parts: a bar for each of its numbers, a hatched piece for each part."""
    figure = new_figure(5.6, 3.3)
    hatches = ("", "//", "..", "xx")
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        bottom = np.zeros(len(next(iter(parts.values()))))
        names = [f"number {i + 1}" for i in range(len(bottom))]
        for index, (name, part) in enumerate(parts.items()):
            colour = (PALETTE[5], PALETTE[6], PALETTE[4], PALETTE[3])[index % 4]
            look = {"color": colour, "edgecolor": "black", "linewidth": 0.8, "hatch": hatches[index % 4]}
            drawn = axes.bar(names, part, bottom=bottom, width=0.55, label=name, **look)
            texts = [f"{piece:.2f}" if piece > 0.05 else "" for piece in part]
            paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            for label, text in zip(axes.bar_label(drawn, labels=texts, label_type="center"), texts, strict=True):
                if text:
                    label.set_bbox(paper)
            bottom = bottom + part
        for index, height in enumerate(bottom):
            axes.text(index, height + 0.02, f"{height:.2f}", ha="center", va="bottom", weight="bold")
        axes.set_ylim(0, 1.2 * bottom.max())
        axes.set_title(title)
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    pieces = "; ".join(f"{name} gives {_vector(part)}" for name, part in parts.items())
    return show(figure, f"{title}: {pieces}; together {_vector(bottom)}.")


def verdicts(table: Mapping[str, Mapping[str, bool]]) -> Picture:
    """Draw which example refuses which mistake: a row a mistake, a column an example."""
    mistakes, examples = list(table), list(next(iter(table.values())))
    figure = new_figure(3.2 + 1.75 * len(examples), 0.8 + 0.36 * len(mistakes))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.set_xlim(-0.5, len(examples) - 0.5)
        axes.set_ylim(len(mistakes) - 0.5, -0.5)
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(examples)), examples, weight="bold")
        axes.set_yticks(range(len(mistakes)), mistakes)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for row, mistake in enumerate(mistakes):
            for column, example in enumerate(examples):
                refused = table[mistake][example]
                look = {"facecolor": "#dbe9f6" if refused else "#f9d9c2", "edgecolor": "white", "linewidth": 2}
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **look))
                text = "refused" if refused else "not noticed"
                axes.text(column, row, text, ha="center", va="center", weight="normal" if refused else "bold")
    said = []
    for example in examples:
        missed = [mistake for mistake in mistakes if not table[mistake][example]]
        not_noticed = f" and does not notice: {', '.join(missed)}" if missed else ""
        said.append(f"{example} refuses {len(mistakes) - len(missed)}{not_noticed}")
    return show(figure, f"Of {len(mistakes)} mistakes {'; '.join(said)}.")


def _vector(numbers: Sequence | np.ndarray) -> str:
    return "[" + ", ".join(f"{number:.2f}" for number in numbers) + "]"


def _box(axes: Axes, x: float, y: float | int, text: str, weight: float, bold: bool = False) -> None:
    half = (0.066 if bold else 0.058) * len(text) + 0.1
    style = {"boxstyle": "round,pad=0.02,rounding_size=0.08", "edgecolor": "#333333", "linewidth": 1.6 if bold else 0.9}
    colour = matplotlib.colormaps["Blues"](0.75 * weight) if weight else "white"
    axes.add_patch(FancyBboxPatch((x - half, y - 0.28), 2 * half, 0.56, facecolor=colour, **style))
    axes.text(x, y, text, ha="center", va="center", weight="bold" if bold else "normal")


def _arrow(axes: Axes, start: tuple, end: tuple) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "#333333", "linewidth": 1})

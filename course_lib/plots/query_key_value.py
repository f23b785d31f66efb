"""Figures of the lesson *Query, key, value*: two dictionaries, a lookup in the plane, arcs over a sentence, scores."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from course_lib.data.pronouns import Sentence
from course_lib.plots.common import PALETTE, STYLE, Numbers, Picture, lines, new_figure, show
from course_lib.reference.attention import softmax

GREY, BLUE, ORANGE = "#8a8a8a", PALETTE[1], PALETTE[2]
AXES_NAMES = ("lifeless  ←   →  alive", "hard  ←   →  fluffy")


def two_dictionaries(names: Iterable[str], wanted: str, weights: np.ndarray, description: str) -> Picture:
    """Draw a dictionary, which follows one line to one value, beside a soft one, which follows all of them a little."""
    names = list(names)
    hit = np.array([float(name == wanted) for name in names])
    figure = new_figure(6.2, 3.2)
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, 2)
        _dictionary(panels[0], f'"{wanted}"', names, hit, "dictionary", digits=0)
        _dictionary(panels[1], description, names, weights, "soft dictionary", digits=2)
    parts = ", ".join(f"{weight:.2f} of {name}" for name, weight in zip(names, weights, strict=True))
    one = f'A dictionary asked for "{wanted}" follows one line to the value of {wanted}'
    return show(figure, f'{one}; a soft dictionary asked for "{description}" follows all lines and mixes {parts}.')


def _dictionary(axes: Axes, asked: str, names: Sequence[str], weights: np.ndarray, title: str, digits: int) -> None:
    heights = np.arange(len(names))[::-1] - (len(names) - 1) / 2
    for name, weight, height in zip(names, weights, heights, strict=True):
        look = {"color": BLUE if weight > 0 else GREY, "linewidth": max(0.6, 9 * weight), "zorder": 1}
        look |= {} if weight > 0 else {"linestyle": ":"}
        axes.plot([0.1, 1], [0, height], solid_capstyle="round", **look)
        axes.plot([1, 2.1], [height, height], solid_capstyle="butt", **look)
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#555555"}
        axes.text(1.05, height, name, ha="center", va="center", bbox=box, zorder=2, fontsize=11)
        axes.text(2.2, height, f"{weight:.{digits}f} × value", ha="left", va="center", fontsize=11)
    box = {"boxstyle": "round,pad=0.4", "facecolor": "#fff3e0", "edgecolor": ORANGE}
    axes.text(0, 0, asked, ha="center", va="center", bbox=box, zorder=3, fontsize=11)
    axes.text(0, -2.9, "query", ha="center", color="#444444")
    axes.text(1.05, -2.9, "keys", ha="center", color="#444444")
    axes.text(2.7, -2.9, "values", ha="center", color="#444444")
    axes.set(xlim=(-0.55, 3.35), ylim=(-3.1, 2.5), title=title)
    axes.axis("off")


def louder(query: np.ndarray, keys: np.ndarray, names: Iterable[str], factors: Numbers) -> Picture:
    """Draw the weight of each key while the query is multiplied by each of the factors."""
    rows = np.array([softmax(keys @ (factor * query)) for factor in factors])  # (factor, key)
    return lines(factors, dict(zip(names, rows.T, strict=True)), "the query times", "weight", log_x=True)


def lookup(query: Numbers, keys: np.ndarray, values: np.ndarray, names: Iterable[str]) -> Picture:
    """Draw one soft lookup with keys in the plane: the query among the keys, and the output among the values.

    Of the values the first two numbers are drawn.
    """
    query, names = np.asarray(query, dtype=float), list(names)
    weights = softmax(keys @ query)
    output = weights @ values
    figure = new_figure(6.4, 3.4)
    with matplotlib.rc_context(STYLE):
        left, right = figure.subplots(1, 2)
        _query_among_keys(left, query, keys, weights, names)
        _output_among_values(right, output, values, weights, names)
    best = int(weights.argmax())
    text = f"The query ({query[0]:.2f}, {query[1]:.2f}) looks most at {names[best]} ({weights[best]:.2f})"
    parts = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights, strict=True))
    where = f"{output[0]:.2f} legs, {output[1]:.2f} kg"
    return show(figure, f"{text}; the weights are {parts}; the output lies among the values at {where}.")


def _query_among_keys(
    axes: Axes, query: np.ndarray, keys: np.ndarray, weights: np.ndarray, names: Sequence[str]
) -> None:
    for name, key, weight in zip(names, keys, weights, strict=True):
        axes.plot([0, key[0]], [0, key[1]], color=BLUE, linewidth=1 + 7 * weight, alpha=0.85, solid_capstyle="round")
        axes.text(*(1.38 * key), f"{name}\n{weight:.2f}", ha="center", va="center", fontsize=11)
    length = np.hypot(*query)
    if length > 0:
        tip = query / length * (0.15 + 1.0 * (1 - np.exp(-length / 2)))  # a long query must not leave the picture
        arrow = {
            "arrowstyle": "-|>,head_width=0.35,head_length=0.7",
            "color": ORANGE,
            "linewidth": 2.4,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axes.annotate("", tip, (0, 0), arrowprops=arrow, zorder=4)
    axes.set_title(f"query (arrow), length {length:.1f}", fontsize=11)
    axes.axhline(0, color="#dddddd", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#dddddd", linewidth=0.8, zorder=0)
    axes.set(xlim=(-1.75, 1.75), ylim=(-1.55, 1.55), aspect="equal", xticks=[], yticks=[])
    axes.set_xlabel(AXES_NAMES[0])
    axes.set_ylabel(AXES_NAMES[1])


def _output_among_values(
    axes: Axes, output: np.ndarray, values: np.ndarray, weights: np.ndarray, names: Sequence[str]
) -> None:
    corners = values[_hull(values[:, :2]), :2]
    axes.fill(*corners.T, facecolor="#e8f1f8", edgecolor=BLUE, linestyle="--", linewidth=1)
    for name, value, weight in zip(names, values, weights, strict=True):
        axes.scatter(*value[:2], s=25 + 260 * weight, color=BLUE, zorder=2)
        leftmost = value[0] == values[:, 0].min()
        place = {"xytext": (-9, -5), "ha": "right"} if leftmost else {"xytext": (8, 7), "ha": "left"}
        axes.annotate(name, value[:2], textcoords="offset points", fontsize=11, **place)
    axes.scatter(*output[:2], marker="*", s=190, color=ORANGE, edgecolor="black", linewidth=0.7, zorder=3)
    axes.set_title("output (star) among the values", fontsize=11)
    axes.set_xlabel("legs")
    axes.set_ylabel("kilograms")
    axes.margins(x=0.3, y=0.22)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))


def _hull(points: np.ndarray) -> list[int]:
    """Return the rows of `points` that are corners of their convex hull, in order round it."""
    order = sorted(range(len(points)), key=lambda row: tuple(points[row]))

    def half(rows: Sequence[int]) -> list[int]:
        corners: list[int] = []
        for row in rows:
            while len(corners) >= 2 and _turn(points[corners[-2]], points[corners[-1]], points[row]) <= 0:
                corners.pop()
            corners.append(row)
        return corners[:-1]

    return half(order) + half(order[::-1])


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Return a positive number if the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def arcs(sentences: Sequence[Sentence], weights: Sequence[np.ndarray], title: str = "") -> Picture:
    """Draw where "it" looks, as arcs over each sentence: the thicker the arc, the larger the weight.

    The alternative text names the words that get a tenth or more and gives no number: the weights of a trained model
    differ in their last digits from machine to machine.
    """
    figure = new_figure(5.9, 1.6 * len(sentences) + (0.35 if title else 0))
    with matplotlib.rc_context(STYLE):
        panels = np.atleast_1d(figure.subplots(len(sentences), 1))
        for axes, sentence, row in zip(panels, sentences, weights, strict=True):
            _arcs_over(axes, sentence, row)
        if title:
            figure.suptitle(title, fontsize=12)
    looks = [
        f'in "{s}" it looks at {" and ".join(word for word, weight in zip(s.words, row, strict=True) if weight >= 0.1)}'
        for s, row in zip(sentences, weights, strict=True)
    ]
    return show(figure, f"{title + ': ' if title else ''}" + "; ".join(looks) + ".")


def _arcs_over(axes: Axes, sentence: Sentence, weights: np.ndarray) -> None:
    widths = np.array([len(word) + 1.6 for word in sentence.words])
    centres = np.cumsum(widths) - widths / 2
    for position, (word, centre) in enumerate(zip(sentence.words, centres, strict=True)):
        strong = position == sentence.it or weights[position] >= 0.2
        look = {"fontweight": "bold" if strong else "normal", "color": ORANGE if position == sentence.it else "black"}
        axes.text(centre, 0, word, ha="center", va="top", fontsize=11.5, **look)
    tallest = max(abs(centres - centres[sentence.it]))
    for position, weight in enumerate(weights):
        if position == sentence.it or weight < 0.01:
            continue
        start, end = centres[sentence.it], centres[position]
        height = 0.45 + 0.75 * abs(end - start) / tallest
        path = Path([(start, 0.08), (start, height * 1.3), (end, height * 1.3), (end, 0.08)], [1, 4, 4, 4])
        axes.add_patch(PathPatch(path, fill=False, edgecolor=BLUE, linewidth=0.8 + 8 * weight, capstyle="butt"))
        if weight >= 0.05:
            above = {"ha": "center", "va": "bottom", "fontsize": 10.5, "zorder": 3}
            above["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
            axes.text((start + end) / 2, height * 0.975 + 0.06 + 0.08 * weight, f"{weight:.2f}", **above)
    axes.set(xlim=(0, widths.sum()), ylim=(-0.3, 1.5))
    axes.axis("off")


@runtime_checkable  # so that the shape checks of the test run can look at it
class Scored(Protocol):
    """A model that was tested: the share of right answers, and of pairs of sentences in which its map flips."""

    accuracy: float
    flip: float


def answers_and_flips(models: Mapping[str, Sequence[Scored]]) -> Picture:
    """Draw two bars for each kind of model, right answers and flipped maps: the mean over the seeds, and a dot a seed.

    The alternative text says "nearly all", "nearly none" or "a part", and no number: see `arcs`.
    """
    figure = new_figure(6.4, 3.5)
    said = []
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        kinds = (("right answers", "accuracy", -0.19, BLUE, ""), ("maps that flip", "flip", 0.19, "#f3c9a8", "//"))
        for label, share, shift, colour, hatch in kinds:
            rows = [[getattr(model, share) for model in seeds] for seeds in models.values()]
            means, places = [float(np.mean(row)) for row in rows], np.arange(len(rows)) + shift
            axes.bar(places, means, 0.36, label=label, color=colour, hatch=hatch, edgecolor="black", linewidth=0.8)
            for place, row, mean in zip(places, rows, means, strict=True):
                axes.text(place, max(row) + 0.03, f"{mean:.2f}", ha="center", va="bottom", fontsize=11)
                spread = place + np.linspace(-0.08, 0.08, len(row))
                axes.scatter(spread, row, s=16, color="white", edgecolor="black", zorder=3)
            one_line = (" ".join(name.split()) for name in models)
            shares = [f"{_share(mean)} with {name}" for name, mean in zip(one_line, means, strict=True)]
            said.append(f"{label}: {', '.join(shares)}")
        axes.set_xticks(range(len(models)), models)
        axes.set(ylim=(0, 1.18), yticks=[0, 0.5, 1], ylabel="share of held-out sentences")
        axes.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return show(figure, "Mean over the seeds. " + "; ".join(said) + ".")


def _share(mean: float) -> str:
    return "nearly all" if mean > 0.95 else "nearly none" if mean < 0.05 else "a part"

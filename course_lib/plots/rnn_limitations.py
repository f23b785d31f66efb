"""The figures of *RNN limitations*: paths between words, a signal that fades, times, and who still knows what."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, new_figure, show

GREY, BLUE, ORANGE = "#9a9a9a", PALETTE[1], PALETTE[2]
BySeed = Mapping[int, np.ndarray]  # by distance or length: one number a seed


def paths(words: Sequence[str], start: str, end: str) -> Picture:
    """Draw the way from one word to a later one: hand to hand along a chain, and by a direct edge."""
    first, last = list(words).index(start), list(words).index(end)
    if not first < last:
        raise ValueError(f"start and end: wanted a word and a later one, got {start!r} and {end!r}")
    figure = new_figure(6.8, 3.5)
    with matplotlib.rc_context(STYLE):
        chain, direct = figure.subplots(2, 1, height_ratios=(0.55, 1.75))
        for place in range(len(words) - 1):
            _arrow(chain, place, place + 1, bend=0.0, strong=first <= place < last)
        for left in range(len(words)):
            for right in range(left + 1, len(words)):
                _arrow(direct, left, right, bend=-0.42, strong=(left, right) == (first, last))
        hops = last - first
        chain.set_ylim(-0.5, 0.5)
        direct.set_ylim(-0.5, 1.75)
        chain.set_title(f"recurrent: {hops} hops from {start} to {end}", fontsize=12, loc="left")
        direct.set_title(f"attention: 1 hop from {start} to {end}, and between any two words", fontsize=12, loc="left")
        for axes in (chain, direct):
            axes.set_xlim(-0.5, len(words) - 0.5)
            axes.axis("off")
            for place, word in enumerate(words):
                bold = "bold" if place in (first, last) else "normal"
                axes.text(place, 0, word, ha="center", va="center", fontsize=12, fontweight=bold, zorder=3,
                          bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none"})  # fmt: skip
    edges = len(words) * (len(words) - 1) // 2
    text = f"From {start} to {end} the signal takes {hops} hops along the chain of {len(words)} words"
    return show(figure, f"{text}, and 1 hop along one of the {edges} direct edges of attention.")


def _arrow(axes: Axes, left: int, right: int, bend: float, strong: bool) -> None:
    look = (
        {"color": ORANGE, "linewidth": 2.6, "zorder": 2}
        if strong
        else {"color": "#c9c9c9", "linewidth": 1, "zorder": 1}
    )
    lift = 0.2 if bend else 0  # an arc starts above its word, an arrow of the chain beside it
    ends = ((left, lift), (right, lift)) if bend else ((left + 0.28, 0), (right - 0.28, 0))
    style = f"arc3,rad={bend}"
    arrow = FancyArrowPatch(
        *ends, connectionstyle=style, arrowstyle="-|>", mutation_scale=13, shrinkA=0, shrinkB=0, **look
    )
    axes.add_patch(arrow)


def signals(curves: Mapping[str, np.ndarray], at: int | None = None) -> Picture:
    """Draw on a logarithmic axis how long a nudge still is after 1, 2, … steps; `at` marks one distance."""
    figure = new_figure(6.8, 3.9)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, lengths) in enumerate(curves.items()):
            steps = np.arange(1, len(lengths) + 1)
            look = {"color": PALETTE[(index + 1) % 7], "linestyle": LINE_STYLES[index % 7], "linewidth": 2.2}
            axes.plot(steps, lengths, label=name, **look)
            if at is not None:
                axes.plot(at, lengths[at - 1], marker="o", markersize=9, color=ORANGE)
                note = {"xytext": (8, 10), "textcoords": "offset points", "color": ORANGE, "weight": "bold"}
                axes.annotate(f"{lengths[at - 1]:.0e}", (at, lengths[at - 1]), **note)
        axes.axhline(1, color=GREY, linewidth=1, linestyle=":")
        axes.set_yscale("log")
        axes.set_xlabel("steps away")
        axes.set_ylabel("length of the nudge (it began as 1)")
        axes.margins(y=0.12)
        axes.legend(frameon=False, loc="best")
    places = [at] if at else [10, 50, 100]
    told = []
    for name, lengths in curves.items():
        left = [f"{lengths[place - 1]:.0e} after {place}" for place in places if place <= len(lengths)]
        told.append(f"{name}: {', '.join(left)}")
    return show(figure, "What is left of a nudge of length 1. " + "; ".join(told) + " steps.")


def times(milliseconds: Mapping[str, Mapping[int, float]]) -> Picture:
    """Draw the time of one pass against the length, both axes logarithmic, the number at each end."""
    figure = new_figure(6.8, 3.9)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (kind, by_length) in enumerate(milliseconds.items()):
            _line(axes, index, kind, by_length, list(by_length.values()))
        lengths = list(next(iter(milliseconds.values())))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(lengths, [f"{n:,}" for n in lengths])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("tokens in the sequence")
        axes.set_ylabel("milliseconds a pass")
        axes.legend(frameon=False)
    longest = lengths[-1]
    order = sorted(milliseconds, key=lambda kind: milliseconds[kind][longest])
    told = [f"{kind} {milliseconds[kind][lengths[0]]:.1f} to {milliseconds[kind][longest]:,.0f}" for kind in order]
    return show(figure, f"Milliseconds from {lengths[0]} to {longest} tokens: {', '.join(told)}.")


def gradients(norms: Mapping[str, BySeed]) -> Picture:
    """Draw the gradient that reaches the first token against its distance, both axes logarithmic."""
    figure = new_figure(6.8, 4.2)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (kind, by_distance) in enumerate(norms.items()):
            # The mean of the logarithms: an ordinary mean of 1e-28 and 1e-27 would be the larger one.
            middle = [float(np.exp(np.mean(np.log(by_seed)))) for by_seed in by_distance.values()]
            _line(axes, index, kind, by_distance, middle)
        distances = list(next(iter(norms.values())))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(distances, [f"{distance}" for distance in distances])
        axes.minorticks_off()
        axes.set_xlabel("steps from the first token to the end")
        axes.set_ylabel("gradient at the first token")
        axes.legend(frameon=False, loc="lower left")
    last = distances[-1]
    ends = [
        f"{kind} {_power(by_distance[distances[0]])} to {_power(by_distance[last])}"
        for kind, by_distance in norms.items()
    ]
    return show(figure, f"Gradient at the first token, from {distances[0]} step to {last}: {', '.join(ends)}.")


def recall(accuracies: Mapping[str, BySeed], chance: float) -> Picture:
    """Draw the accuracy of each kind against the distance: the mean as a line, each seed as a dot."""
    figure = new_figure(6.8, 3.8)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        _with_seeds(axes, accuracies)
        axes.axhline(chance, color=GREY, linewidth=1, linestyle=":")
        axes.annotate(
            "chance", (0.01, chance), xycoords=("axes fraction", "data"), ha="left", va="bottom", color="#555555"
        )
        axes.set_xscale("log")
        distances = sorted(set().union(*accuracies.values()))
        axes.set_xticks(distances, [f"{distance}" for distance in distances])
        axes.minorticks_off()
        axes.set_xlabel("steps from the first token to the question")
        axes.set_ylabel("answered rightly")
        axes.set_ylim(0, 1.08)
        axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.55))
    words = {"near chance": 2.2 * chance, "in between": 0.9, "nearly all": 1.0}
    return show(figure, "Answered rightly after training. " + _told(accuracies, words, "steps"))


def copies(shares: Mapping[str, BySeed]) -> Picture:
    """Draw the share of strings copied without an error against their length: the mean, and each seed as a dot."""
    figure = new_figure(6.8, 3.8)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        _with_seeds(axes, shares)
        axes.set_xticks(list(next(iter(shares.values()))))
        axes.set_xlabel("digits in the string")
        axes.set_ylabel("copied without an error")
        axes.set_ylim(-0.04, 1.08)
        axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.6))
    words = {"hardly any": 0.2, "some": 0.95, "nearly all": 1.0}
    return show(figure, "Copied without an error. " + _told(shares, words, "digits"))


def _line(axes: Axes, index: int, name: str, x: Mapping[int, object], y: Sequence[float]) -> None:
    look = {"color": PALETTE[index + 1], "linestyle": LINE_STYLES[index], "marker": MARKERS[index]}
    axes.plot(list(x), y, label=name, markersize=6, linewidth=2, **look)


def _with_seeds(axes: Axes, curves: Mapping[str, BySeed]) -> None:
    for index, (name, by_x) in enumerate(curves.items()):
        _line(axes, index, name, by_x, [float(np.mean(by_seed)) for by_seed in by_x.values()])
        for x, by_seed in by_x.items():
            axes.plot([x] * len(by_seed), by_seed, ".", color=PALETTE[index + 1], alpha=0.5, markersize=5)


def _told(curves: Mapping[str, BySeed], words: Mapping[str, float], unit: str) -> str:
    """Say in words how high each mean is: trained numbers differ from machine to machine in their second digit."""
    sentences = []
    for name, by_x in curves.items():
        parts: dict[str, list[str]] = {}
        for x, by_seed in by_x.items():
            word = next((word for word, limit in words.items() if np.mean(by_seed) <= limit), list(words)[-1])
            parts.setdefault(word, []).append(f"{x}")
        sentences.append(f"{name}: " + ", ".join(f"{word} at {_and(xs)} {unit}" for word, xs in parts.items()))
    return "; ".join(sentences) + "."


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _power(by_seed: np.ndarray) -> str:
    """The order of magnitude, which every machine agrees on."""
    return f"1e{round(float(np.mean(np.log10(by_seed))))}"

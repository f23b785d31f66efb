"""Figures of the lesson *The encoder-decoder*: figure 1 of the paper, counts and vocabularies, loss, rate and cost."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from course_lib.data.table_2 import Result
from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, new_figure, show

FILLS = {  # of the boxes in figure 1, and of the bars that count their numbers
    "attention": "#BBD9EE",
    "feed-forward": "#C9E6D6",
    "LayerNorm": "#F6E3B0",
    "embedding": "#F4C6B8",
    "generator": "#D9D3E8",
}
PARTS = {  # a part's colour and hatch, so that the bars are readable in grey
    "embedding": (FILLS["embedding"], ""),
    "self-attention": (FILLS["attention"], ""),
    "cross-attention": ("#7FB3D9", "///"),
    "feed-forward": (FILLS["feed-forward"], "..."),
    "LayerNorm": (FILLS["LayerNorm"], ""),
    "positions": ("#D9D9D9", ""),
}
LEFT, RIGHT = 1.75, 5.35  # where the towers of figure 1 stand
WIDE, HIGH = 2.3, 0.56  # their boxes
ARROW = {"arrowstyle": "-|>", "linewidth": 1.4, "mutation_scale": 14, "color": "black", "shrinkA": 0, "shrinkB": 0}


def figure_1() -> Picture:
    """Draw the paper's figure 1 anew: the encoder's tower on the left, the decoder's on the right, data going up."""
    figure = new_figure(6.6, 8.9)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.set(xlim=(-0.45, 7.5), ylim=(-0.2, 11.0), aspect="equal")
        axes.axis("off")
        for at, tower, bottom, top in ((LEFT, "encoder", 2.35, 6.4), (RIGHT, "decoder", 2.35, 8.4)):
            axes.add_patch(Rectangle((at - 1.62, bottom), 3.24, top - bottom, facecolor="#F4F4F4", edgecolor="#888888"))
            axes.text(at - 1.5, bottom + 0.1, tower, ha="left", va="bottom", fontsize=14, fontweight="bold")
        axes.text(LEFT - 1.72, 4.3, "N ×", ha="right", va="center", fontsize=15)
        axes.text(RIGHT + 1.72, 5.3, "N ×", ha="left", va="center", fontsize=15)
        for at, name in ((LEFT, "source"), (RIGHT, "target, shifted right")):
            _line(axes, at, 0.25, 0.62)
            axes.text(at, 0.05, name, ha="center", va="center", fontsize=13)
            _box(axes, at, 0.9, "embedding", "embedding,\ntimes √d_model")
            _line(axes, at, 1.18, 1.56)
            _sum(axes, at, 1.8)
            side = -1 if at == LEFT else 1
            axes.annotate("", (at + side * 0.24, 1.8), (at + side * 0.75, 1.8), arrowprops=ARROW)
            ends = {"ha": "right" if side < 0 else "left", "va": "center", "fontsize": 12}
            axes.text(at + side * 0.8, 1.8, "positions", **ends)
            _line(axes, at, 2.04, 2.95)
        top = _sub_layer(axes, LEFT, 3.25, "attention", "self-attention")
        top = _sub_layer(axes, LEFT, top + 0.75, "feed-forward", "feed-forward")
        memory_from = top
        top = _sub_layer(axes, RIGHT, 3.25, "attention", "self-attention,\nno look ahead")
        look = top + 0.75
        top = _sub_layer(axes, RIGHT, look, "attention", "cross-attention", forked=0.3)
        top = _sub_layer(axes, RIGHT, top + 0.75, "feed-forward", "feed-forward")
        _line(axes, RIGHT, top, 8.72)
        _box(axes, RIGHT, 9.0, "generator", "generator")
        _line(axes, RIGHT, 9.28, 9.62)
        _box(axes, RIGHT, 9.9, "generator", "softmax")
        _line(axes, RIGHT, 10.18, 10.5)
        axes.text(RIGHT, 10.72, "the next token", ha="center", va="center", fontsize=13)
        middle = (LEFT + RIGHT) / 2
        bold = {"color": PALETTE[2], "linewidth": 3, "zorder": 4, "solid_joinstyle": "round"}
        path = ([LEFT, LEFT, middle, middle, RIGHT - 1.3], [memory_from, 6.85, 6.85, look, look])
        axes.plot(*path, **bold)
        axes.annotate(
            "", (RIGHT - WIDE / 2 + 0.02, look), (RIGHT - 1.45, look), arrowprops={**ARROW, "color": PALETTE[2]}
        )
        axes.text(LEFT + 0.1, 7.1, "memory\n(keys and values)", ha="center", va="bottom", fontsize=13)
    return show(
        figure,
        "The paper's figure 1, drawn anew. On the left the encoder, from the source up: embedding times the root of "
        "d_model, plus positions; then N times self-attention, add and LayerNorm, feed-forward, add and LayerNorm. "
        "What comes out is the memory. On the right the decoder, from the shifted target up: embedding and positions; "
        "then N times self-attention with no look ahead, cross-attention whose keys and values come from the memory, "
        "and feed-forward, each followed by add and LayerNorm; at last the generator and the softmax.",
    )


def _sub_layer(axes: Axes, at: float, y: float, fill: str, name: str, forked: float = 0.0) -> float:
    """Draw a sub-layer, the residual path beside it, and the LayerNorm after the sum; return where it ends."""
    _box(axes, at, y, fill, name)
    norm = y + 0.85
    _line(axes, at, y + HIGH / 2, norm - HIGH / 2)
    _box(axes, at, norm, "LayerNorm", "add, LayerNorm")
    side = 1.43  # the residual path leaves below the sub-layer and comes back at the sum
    fork = y - HIGH / 2 - 0.16
    axes.plot([at, at + side, at + side], [fork, fork, norm], color="black", linewidth=1.2)
    axes.annotate("", (at + WIDE / 2, norm), (at + side, norm), arrowprops=ARROW)
    if y > 3.5:
        _line(axes, at, y - 0.75 + HIGH / 2 - 0.28, y - HIGH / 2)
    return norm + HIGH / 2


def _box(axes: Axes, x: float, y: float, fill: str, text: str) -> None:
    look = {"boxstyle": "round,pad=0,rounding_size=0.1", "facecolor": FILLS[fill], "edgecolor": "black", "zorder": 2}
    axes.add_patch(FancyBboxPatch((x - WIDE / 2, y - HIGH / 2), WIDE, HIGH, linewidth=1.2, **look))
    size = 12 if "\n" not in text else 10.5
    axes.text(x, y, text, ha="center", va="center", fontsize=size, zorder=3, linespacing=1.0)


def _line(axes: Axes, x: float, low: float, high: float) -> None:
    axes.annotate("", (x, high), (x, low), arrowprops=ARROW)


def _sum(axes: Axes, x: float, y: float) -> None:
    axes.add_patch(Circle((x, y), 0.24, facecolor="white", edgecolor="black", linewidth=1.3, zorder=2))
    axes.text(x, y, "+", ha="center", va="center_baseline", fontsize=15, zorder=3)


def by_part(
    models: Mapping[str, Mapping[str, int]], printed: Mapping[str, float | int | None] | None = None
) -> Picture:
    """Draw each model's parameters as a bar of its parts, with its sum; a mark where the paper's printed number is.

    `models` says how many numbers each part has, `printed` how many millions the paper prints, if it does.
    """
    printed = printed or {}
    figure = new_figure(7.2, 1.75 + 0.52 * len(models))
    said = []
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for row, (name, parts) in enumerate(models.items()):
            left = 0.0
            for part, count in parts.items():
                colour, hatch = PARTS[part]
                label = part if part not in axes.get_legend_handles_labels()[1] else None
                look = {"color": colour, "hatch": hatch, "edgecolor": "black", "linewidth": 0.8, "label": label}
                axes.barh(row, count / 1e6, 0.62, left=left, **look)
                left += count / 1e6
            paper = printed.get(name)
            end, text = (left, "") if paper is None else (max(left, paper), f" (printed {paper:g})")
            axes.annotate(f"  {left:.1f}{text}", (end, row), va="center", fontsize=12)
            said.append(
                f"{name} {left:.2f} million (" + ", ".join(f"{p} {n / 1e6:.2f}" for p, n in parts.items()) + ")"
            )
            if paper is not None:
                label = (
                    None if "printed in the paper" in axes.get_legend_handles_labels()[1] else "printed in the paper"
                )
                ends = [row - 0.38, row + 0.38]
                axes.plot([paper, paper], ends, color=PALETTE[2], linewidth=3, label=label)
                said[-1] += f", printed {paper:g}"
        axes.set_yticks(range(len(models)), models)
        axes.invert_yaxis()
        axes.set_xlabel("parameters (millions)")
        axes.margins(x=0.13 if not any(printed.get(name) for name in models) else 0.38)  # room for the numbers
        figure.legend(frameon=False, loc="outside upper center", ncols=3, fontsize=11)
    return show(figure, "Parameters by part: " + "; ".join(said) + ".")


def vocabularies(rows: Mapping[str, tuple[float | int, Mapping[str, int], int]], claimed: float | int) -> Picture:
    """Draw for each row of table 3 which sizes of the vocabulary round to its printed count, and where all agree.

    A row is its printed millions, its numbers by part (those of its embedding do not matter), and d_model.
    """
    ranges = {name: vocabulary_range(*row) for name, row in rows.items()}
    figure = new_figure(7.0, 1.2 + 0.36 * len(ranges))
    agree = [name for name in ranges if name != "big"]
    low, high = max(ranges[name][0] for name in agree), min(ranges[name][1] for name in agree)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.axvspan(low / 1e3, high / 1e3, color=PALETTE[6], alpha=0.6, linewidth=0)
        for row, (name, (least, most)) in enumerate(ranges.items()):
            look = {"color": PALETTE[1] if name in agree else PALETTE[2], "solid_capstyle": "butt"}
            axes.plot([least / 1e3, most / 1e3], [row, row], linewidth=8, **look)
        axes.axvline(claimed / 1e3, color="black", linestyle="--", linewidth=1.3)
        said = f'"about {claimed:,.0f}" '
        axes.text(claimed / 1e3, -0.75, said, ha="right", va="center")
        both = f" {low / 1e3:.1f} to {high / 1e3:.1f}"
        axes.text(high / 1e3, -0.75, both, ha="left", va="center")
        axes.set_yticks(range(len(ranges)), ranges)
        axes.set_ylim(len(ranges) - 0.4, -1.2)
        axes.set_xlim(min(claimed / 1e3 - 3, axes.get_xlim()[0]), None)  # room for what stands left of the claimed one
        axes.set_xlabel("vocabulary (thousand words) that gives the printed count")
    text = f"All rows but big agree between {low:,.0f} and {high:,.0f} words" if low < high else "The rows do not agree"
    big = f"; big wants {ranges['big'][0]:,.0f} to {ranges['big'][1]:,.0f}" if "big" in ranges else ""
    return show(figure, f"Vocabularies that give the printed counts of {', '.join(ranges)}. {text}{big}.")


def vocabulary_range(millions: float | int, parts: Mapping[str, int], d_model: int) -> tuple[float, float]:
    """Return the least and the largest vocabulary for which a model has so many millions of numbers, rounded.

    >>> vocabulary_range(3, {"embedding": 7, "feed-forward": 2_000_000}, d_model=100)
    (5000.0, 15000.0)
    """
    rest = sum(count for part, count in parts.items() if part != "embedding")
    return ((millions - 0.5) * 1e6 - rest) / d_model, ((millions + 0.5) * 1e6 - rest) / d_model


def smoothing(loss_of: Callable[[float, float], float], amounts: Sequence[float | int], words: int) -> Picture:
    """Draw the loss of one token against the share that the model gives to the right word, a curve a smoothing.

    `loss_of(share, amount)` returns the loss; `words` says among how many words the right one is.
    """
    shares = np.linspace(0.5, 0.999, 500)
    figure = new_figure(6.6, 3.7)
    said = []
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, amount in enumerate(amounts):
            curve = [loss_of(float(share), amount) for share in shares]
            look = {"color": PALETTE[index + 1], "linestyle": LINE_STYLES[index], "linewidth": 2}
            axes.plot(shares, curve, label=f"ε = {amount:g}", **look)
            best = int(np.argmin(curve))
            mark = {"color": PALETTE[index + 1], "markersize": 9, "clip_on": False}
            axes.plot(shares[best], curve[best], MARKERS[index], **mark)
            said.append(
                f"ε = {amount:g} is lowest, {abs(curve[best]):.2f}, where the right word has {shares[best]:.2f}"
            )
        axes.set(xlabel="share that the model gives to the right word", ylabel="loss (nats)")
        axes.set_ylim(-0.05, None)
        axes.set_title(f"one token, {words} words to choose from")
        axes.legend(frameon=False)
    alt = f"Loss of one token among {words} words, against the share of the right one: " + "; ".join(said) + "."
    return show(figure, alt)


def schedule(steps: Sequence[int], rates: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the learning rate by step, a curve a model, with its peak."""
    figure = new_figure(6.8, 3.6)
    said = []
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, rate) in enumerate(rates.items()):
            look = {"color": PALETTE[index + 1], "linestyle": LINE_STYLES[index % 7], "linewidth": 2}
            axes.plot(steps, np.asarray(rate) * 1e4, label=name, **look)
            peak = int(np.argmax(rate))
            axes.plot(steps[peak], rate[peak] * 1e4, MARKERS[index % 7], color=PALETTE[index + 1], markersize=8)
            said.append(f"{name} peaks at step {steps[peak]:,} with {rate[peak]:.3g} and ends at {rate[-1]:.2g}")
        axes.set(xlabel="step", ylabel="learning rate (times 0.0001)")
        axes.xaxis.set_major_formatter(lambda step, _: f"{step:,.0f}")
        axes.legend(frameon=False)
    return show(figure, f"Learning rate from step {steps[0]} to {steps[-1]:,}: " + "; ".join(said) + ".")


def cost_and_quality(results: Mapping[str, Result]) -> Picture:
    """Draw the BLEU of English to German against what the training cost, on a logarithmic axis."""
    figure = new_figure(7.2, 4.2)
    looks = {"single": ("s", PALETTE[1]), "ensemble": ("^", PALETTE[3]), "transformer": ("o", PALETTE[2])}
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for name, result in results.items():
            marker, colour = looks[result.kind]
            known = axes.get_legend_handles_labels()[1]
            label = result.kind if result.kind not in known else None
            axes.plot(result.flops_de, result.bleu_de, marker, color=colour, markersize=10, label=label)
            short = name.removesuffix(" ensemble")
            axes.annotate(
                short, (result.flops_de, result.bleu_de), (0, -9), textcoords="offset points", ha="center", va="top"
            )
        axes.set(xscale="log", xlabel="cost of the training (FLOPs, as estimated)", ylabel="BLEU, English to German")
        axes.set(xlim=(1.8e18, 4e20), ylim=(23.9, 28.9))
        axes.legend(frameon=False, loc="upper right")
    said = ", ".join(f"{name} {result.bleu_de:g} for {result.flops_de:.1e}" for name, result in results.items())
    return show(figure, f"BLEU, English to German, and training FLOPs: {said}.")

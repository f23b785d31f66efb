"""Figures of the lesson *The transformer block*: both wirings drawn, tokens normalised, and what depth does."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, new_figure, show

NORM, ATTENTION, MLP, SUM = "LayerNorm", "attention", "feed-forward", "+"
FILLS = {NORM: "#F6E3B0", ATTENTION: "#BBD9EE", MLP: "#C9E6D6", SUM: "white"}
ORDERS = {  # from x, below, to the block's output, above
    "pre-LN": (NORM, ATTENTION, SUM, NORM, MLP, SUM),
    "post-LN": (ATTENTION, SUM, NORM, MLP, SUM, NORM),
}
SAYS = {
    "pre-LN": "LayerNorm stands inside each branch, before the sub-layer; the path from x to the output meets only "
    "additions",
    "post-LN": "LayerNorm stands on the path itself, after each addition",
}
ROUNDING = 1e-16  # spreads below it are rounding errors: they are drawn there


def wirings(*orders: str) -> Picture:
    """Draw a transformer block in each of these orders, "pre-LN" or "post-LN", side by side, from x up.

    Raises:
        ValueError: if there is no such order.
    """
    if not orders or set(orders) - set(ORDERS):
        raise ValueError(f"orders: wanted some of {', '.join(ORDERS)}, got {orders}")
    figure = new_figure(3.1 * len(orders) + 0.1, 5.6)
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(orders), squeeze=False)[0]
        for axes, order in zip(panels, orders, strict=True):
            _wiring(axes, order)
    said = [f"{order}, from x: {_in_words(ORDERS[order])}. {SAYS[order]}" for order in orders]
    return show(figure, "; ".join(said) + ".")


def _in_words(parts: Sequence[str]) -> str:
    names = {SUM: "add the residual path", MLP: "feed-forward layer"}
    return ", ".join(names.get(part, part) for part in parts)


def _wiring(axes: Axes, order: str) -> None:
    """Draw one block: the residual path straight up in bold, and each sub-layer on a branch beside it."""
    path_at, branch_at = 1.0, 3.0
    bold = {"color": PALETTE[2], "linewidth": 3.5, "solid_capstyle": "butt", "zorder": 1}
    thin = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.3, "mutation_scale": 13, "shrinkA": 0, "shrinkB": 0}
    for bottom, sub_layer in ((0.3, ATTENTION), (4.15, MLP)):
        fork, at, plus = bottom + 0.2, bottom + 1.35, bottom + 2.45
        axes.plot([path_at, branch_at], [fork, fork], color="black", linewidth=1.3, zorder=0)
        if order == "pre-LN":
            _box(axes, branch_at, bottom + 0.85, NORM)
            at = bottom + 1.7
            axes.annotate("", (branch_at, at - 0.27), (branch_at, bottom + 1.12), arrowprops=thin)
        else:
            _box(axes, path_at, bottom + 3.15, NORM)
        first = bottom + 0.58 if order == "pre-LN" else at - 0.27
        axes.annotate("", (branch_at, first), (branch_at, fork), arrowprops=thin)
        _box(axes, branch_at, at, sub_layer)
        axes.plot([branch_at, branch_at], [at + 0.27, plus], color="black", linewidth=1.3, zorder=0)
        axes.annotate("", (path_at + 0.24, plus), (branch_at, plus), arrowprops=thin)
        axes.add_patch(Circle((path_at, plus), 0.24, facecolor="white", edgecolor="black", linewidth=1.4, zorder=2))
        axes.text(path_at, plus, SUM, ha="center", va="center_baseline", fontsize=16, zorder=3)
    axes.plot([path_at, path_at], [0, 8.0], **bold)
    axes.annotate("", (path_at, 8.35), (path_at, 7.9), arrowprops={**thin, "color": PALETTE[2], "mutation_scale": 22})
    axes.text(path_at - 0.3, 0.05, "x", fontsize=15, style="italic", va="center")
    axes.set_title(order, fontsize=14)
    axes.set(xlim=(0, 4.0), ylim=(-0.15, 8.4), aspect="equal")
    axes.axis("off")


def _box(axes: Axes, x: float, y: float, name: str) -> None:
    look = {"boxstyle": "round,pad=0,rounding_size=0.1", "facecolor": FILLS[name], "edgecolor": "black", "zorder": 2}
    axes.add_patch(FancyBboxPatch((x - 0.96, y - 0.27), 1.92, 0.54, linewidth=1.2, **look))
    axes.text(x, y, name, ha="center", va="center_baseline", fontsize=12, zorder=3)


def tokens_before_and_after(before: np.ndarray, after: np.ndarray, names: Sequence[str]) -> Picture:
    """Draw each token's numbers as bars, before LayerNorm in the upper row and after it in the lower one."""
    figure = new_figure(2.3 * len(names) + 0.6, 3.9)
    said = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(2, len(names), sharey="row", sharex=True, squeeze=False)
        for row, (table, title) in enumerate(((before, "before"), (after, "after"))):
            for axes, token, name in zip(panels[row], table, names, strict=True):
                mean, deviation = round(float(token.mean()), 3) + 0.0, float(token.std())
                axes.bar(range(len(token)), token, 0.7, color=PALETTE[(5, 3)[row]], edgecolor="black", linewidth=0.7)
                axes.axhline(mean, color=PALETTE[2], linestyle="--", linewidth=1.5)
                axes.axhline(0, color="black", linewidth=0.8)
                axes.set_xticks([])
                axes.set_title(f"{name}\n" * (row == 0) + f"mean {mean:.1f}, std {deviation:.1f}", fontsize=11)
                said.append(f"{name} {title}: mean {mean:.2f}, standard deviation {deviation:.2f}")
            panels[row][0].set_ylabel(title)
    shape = ", and their shapes agree" if np.allclose(after, after[0], atol=1e-3) else ""
    return show(figure, "; ".join(said) + f". Afterwards all tokens have one mean and one deviation{shape}.")


def through_depth(stacks: Mapping[str, tuple[Sequence[float], Sequence[float]]], title: str = "") -> Picture:
    """Draw for each stack, by depth, how different its tokens are (spread) and how large their numbers (size)."""
    figure = new_figure(7.0, 3.7)
    said = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, 2)
        for index, (name, (spreads, sizes)) in enumerate(stacks.items()):
            look = {"color": PALETTE[index % 7], "linestyle": LINE_STYLES[index % 7], "marker": MARKERS[index % 7]}
            often = max(1, len(spreads) // 8)
            for axes, curve in zip(panels, (np.maximum(spreads, ROUNDING), sizes), strict=True):
                axes.plot(range(len(curve)), curve, label=name, markersize=6, markevery=often, linewidth=1.8, **look)
            said.append(f"{name}: spread {_small(spreads[-1])}, size {sizes[-1]:.2g}")
        for axes in panels:
            axes.set(yscale="log", xlabel="after so many layers")
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        panels[0].set(title="spread: how different\nthe tokens are", ylim=(ROUNDING / 10, 10))
        panels[1].set(title="size of their numbers\n(root mean square)")
        low, high = panels[1].get_ylim()
        panels[1].set_ylim(min(low, 1e-2), max(high, 1e2))
        if len(stacks) > 1:
            figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=2)
        if title:
            figure.suptitle(title, fontsize=12)
    depth = len(next(iter(stacks.values()))[0]) - 1
    return show(figure, f"{title + ': ' if title else ''}After {depth} layers, " + "; ".join(said) + ".")


def _small(spread: float) -> str:
    return "zero up to rounding" if spread < 1e-13 else f"{spread:.1g}"


def training_curves(runs: Mapping[str, np.ndarray], chance: float) -> Picture:
    """Draw the loss by step of each kind of stack, a thin line a seed, smoothed over ten steps.

    The sentence says in which order the kinds get below half of chance, and no number: those of training differ.
    """
    figure = new_figure(7.2, 3.9)
    arrives = {}
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, losses) in enumerate(runs.items()):
            smooth = np.array([np.convolve(run, np.ones(10) / 10, mode="valid") for run in losses])
            look = {"color": PALETTE[index % 7], "linestyle": LINE_STYLES[index % 7], "linewidth": 1.7}
            for seed, run in enumerate(smooth):
                label = name if seed == 0 else None
                axes.plot(np.arange(10, 10 + len(run)), run, label=label, **look)
            below = smooth < chance / 2
            arrives[name] = float(np.median(np.where(below.any(axis=1), below.argmax(axis=1), np.inf)))
        axes.axhline(chance, color="grey", linestyle=":", linewidth=1)
        axes.annotate("guessing", (1, chance), xycoords=("axes fraction", "data"), ha="right", va="bottom")
        axes.set(xlabel="step", ylabel="loss (nats)", ylim=(-0.05, chance * 1.15))
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 0.95))
    slowest = max(arrives, key=arrives.get)
    said = f"The last to get below half of the loss of guessing is {slowest}" if len(runs) > 1 else "One kind"
    return show(figure, f"Loss by step of {', '.join(runs)}, {len(next(iter(runs.values())))} runs each. {said}.")


def shares(parts: Mapping[str, int]) -> Picture:
    """Draw what share of a block's numbers each of its parts has, as one bar cut in pieces."""
    total = sum(parts.values())
    figure = new_figure(7.2, 1.6)
    fills = {"attention": FILLS[ATTENTION], "feed-forward": FILLS[MLP]}
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        left = 0.0
        for name, count in parts.items():
            share = count / total
            axes.barh(0, share, 0.6, left=left, color=fills.get(name, FILLS[NORM]), edgecolor="black")
            if share > 0.1:
                axes.text(left + share / 2, 0, f"{name}\n{share:.1%}", ha="center", va="center", fontsize=12)
            else:
                text = f"{name} {share:.2%}"
                axes.annotate(
                    text, (left + share, 0.3), (1, 0.5), ha="right", va="bottom", arrowprops={"arrowstyle": "-"}
                )
            left += share
        axes.set(xlim=(0, 1.005), ylim=(-0.35, 0.85))
        axes.axis("off")
    said = ", ".join(f"{name} {count:,} ({count / total:.2%})" for name, count in parts.items())
    return show(figure, f"Of {total:,} numbers of a block: {said}.")

"""The figures of the lesson *Training the transformer*: a loss and its floor, a step of the output, bugs, switches."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, attention_map, new_figure, show


def loss_curve(steps: Sequence[int], losses: Sequence[float], floor: float) -> Picture:
    """Draw the loss of training against the step, and the floor that smoothed targets give it."""
    figure = new_figure(6.8, 3.4)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.plot(steps, losses, color=PALETTE[1], linewidth=1.8)
        axes.axhline(floor, color=PALETTE[2], linewidth=1.5, linestyle="--")
        axes.annotate(
            f"the floor: {floor:.3f}", (1, floor), xycoords=("axes fraction", "data"), xytext=(0, -4),
            textcoords="offset points", ha="right", va="top", color=PALETTE[2],
        )  # fmt: skip
        axes.set_ylim(0, max(losses) * 1.05)
        axes.set_xlabel("step")
        axes.set_ylabel("loss (nats a token)")
    end = "ends just above" if floor < losses[-1] < 1.1 * floor else "does not end near"
    return show(figure, f"The loss over {steps[-1]} steps: it {end} its floor of {floor:.3f}.")


def cross_map(source: Sequence[str], target: Sequence[str], weights: np.ndarray, title: str = "") -> Picture:
    """Draw where the decoder looked in the source, a row for each token that it said."""
    return attention_map(weights, target, source, title)


def step_of_output(
    source: Sequence[str], target: Sequence[str], weights: np.ndarray, step: int, title: str = ""
) -> Picture:
    """Draw the source, the target said so far, and where the token of this step (counted from 1) looks."""
    row, most = weights[step - 1], max(len(source), len(target))
    figure = new_figure(max(4.6, 1.3 + 0.78 * most), 2.9)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_xlim(-1.8, most - 0.4)
        axes.set_ylim(-0.55, 1.55)
        above, below = (most - len(source)) / 2, (most - len(target)) / 2
        for place, (word, weight) in enumerate(zip(source, row, strict=True)):
            x = above + place
            axes.plot([below + step - 1, x], [0.13, 0.87], color=PALETTE[1], linewidth=7 * weight, alpha=0.75)
            shade = {"facecolor": matplotlib.colormaps["Blues"](0.85 * weight), "edgecolor": "#888888"}
            ink = "white" if weight > 0.6 else "black"
            axes.text(x, 1, word, ha="center", va="center", fontsize=11, color=ink, bbox={"boxstyle": "round", **shade})
            if weight >= 0.05:
                axes.text(x, 1.27, f"{weight:.2f}", ha="center", va="center", fontsize=10, color="#444444")
        for place, word in enumerate(target[:step]):
            now = place == step - 1
            face = {"facecolor": "#FDE3C8" if now else "white", "edgecolor": PALETTE[2] if now else "#bbbbbb"}
            weight = "bold" if now else "normal"
            axes.text(
                below + place, 0, word, ha="center", va="center", fontsize=11, fontweight=weight,
                bbox={"boxstyle": "round", **face},
            )  # fmt: skip
        for height, name in ((1, "source"), (0, "said so far")):
            axes.text(-1.75, height, name, ha="left", va="center", fontsize=11, color="#444444")
        if title:
            axes.set_title(title, fontsize=12)
    best = source[int(row.argmax())]
    said = " ".join(target[: step - 1]) or "nothing"
    text = f"step {step} of {len(target)}, after {said}: {target[step - 1]} looks most at {best}"
    return show(figure, f"{title + ', ' if title else ''}{text}.")


def message(text: str) -> Picture:
    """Write a text where a figure would stand."""
    figure = new_figure(6.4, 0.9)
    with matplotlib.rc_context(STYLE):
        figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=11, wrap=True)
    return show(figure, text)


def by_length(
    bins: Sequence[str],
    kinds: Mapping[str, Sequence[Sequence[float]]],
    own: Mapping[str, Sequence[float]] | None = None,
) -> Picture:
    """Draw exact match against the target's length: a line a kind, its seeds' mean and range, and own runs beside."""
    figure = new_figure(6.8, 3.5)
    said = []
    places = np.arange(len(bins))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, runs) in enumerate(kinds.items()):
            shares = np.array(runs)
            look = {"color": PALETTE[(2, 3, 1)[index % 3]], "linestyle": LINE_STYLES[index], "marker": MARKERS[index]}
            thick = {"linewidth": 5, "markersize": 9} if index == 1 else {"linewidth": 1.8, "markersize": 6}
            axes.fill_between(places, shares.min(axis=0), shares.max(axis=0), color=look["color"], alpha=0.18)
            axes.plot(places, shares.mean(axis=0), label=name, **look, **thick)  # one may lie under another
            said.append(f"{name} from {shares.mean(axis=0)[0]:.2f} to {shares.mean(axis=0)[-1]:.2f}")
        for name, shares in (own or {}).items():
            axes.plot(places, shares, linestyle="", marker="x", color="black", markersize=9, label=name)
        axes.set_xticks(places, bins)
        axes.set_xlabel("tokens of the German number, end token included")
        axes.set_ylabel("right to the last token")
        axes.set_ylim(-0.04, 1.06)
        axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.62))
    return show(figure, f"Exact match by length, {bins[0]} tokens up to {bins[-1]}: " + "; ".join(said) + ".")


def bugs(
    loss: Mapping[str, Sequence[float]],
    forced: Mapping[str, Sequence[float]],
    exact: Mapping[str, Sequence[float]],
    floor: float,
) -> Picture:
    """Draw, a row a bug and a dot a seed, what training reports and, in the last panel, what a test does."""
    names = list(loss)[::-1]
    figure = new_figure(8.2, 1.2 + 0.36 * len(names))
    titles = ("loss", "teacher-forced\naccuracy", "exact match")
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, 3, sharey=True)
        for index, (axes, title, values) in enumerate(zip(panels, titles, (loss, forced, exact), strict=True)):
            for row, name in enumerate(names):
                axes.axhline(row, color="#dddddd", linewidth=0.8, zorder=0)
                colour = PALETTE[2] if index == 2 else PALETTE[1]
                axes.plot(
                    values[name], [row] * len(values[name]), MARKERS[index], color=colour, alpha=0.8, markersize=6
                )
            axes.set_title(title, fontsize=12)
            axes.set_xlim(*((0.6, 0.9) if index == 0 else (-0.06, 1.06)))
        panels[0].set_yticks(range(len(names)), names)
        panels[0].axvline(floor, color="grey", linewidth=1, linestyle=":")
        panels[0].annotate("floor ", (floor, len(names) - 1.5), fontsize=10, color="#444444", ha="right", va="center")
    said = [f"{name}: {np.mean(forced[name]):.2f} and {np.mean(exact[name]):.2f}" for name in loss]
    return show(figure, "Teacher-forced accuracy and exact match, means over seeds. " + "; ".join(said) + ".")

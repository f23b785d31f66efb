"""The figures of the lesson *Scaling and masks*: what a divisor does to a softmax, and who may look at whom."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Numbers, Picture, new_figure, show


def weights_by_divisor(weights: Mapping[str, np.ndarray], title: str = "") -> Picture:
    """Draw one panel of bars a divisor: the weights of one query on its keys, each panel with its largest."""
    figure = new_figure(6.8, 2.7)
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(weights), sharey=True, squeeze=False)[0]
        for axes, (name, row) in zip(panels, weights.items(), strict=True):
            places = np.arange(1, len(row) + 1)
            axes.bar(places, row, color=PALETTE[1], width=0.75)
            axes.axhline(1 / len(row), color="#444444", linewidth=1, linestyle=":")
            axes.set_title(name, fontsize=12)
            axes.set_xlabel("key")
            axes.set_xlim(-2.5, len(row) + 3.5)  # room for a number above the first key and the last
            axes.set_xticks([1, len(row) // 2, len(row)])
            axes.set_ylim(0, 1.08)
            axes.annotate(f"{row.max():.2f}", (places[row.argmax()], row.max()), ha="center", va="bottom", fontsize=11)
        panels[0].set_ylabel("weight")
        if title:
            figure.suptitle(title, fontsize=13)
    text = "; ".join(f"{name}: the largest is {row.max():.2f}" for name, row in weights.items())
    return show(figure, f"{title or 'Weights'}, {len(next(iter(weights.values())))} keys. {text}.")


def saturation(
    d_ks: Sequence[int], tops: Mapping[str, Sequence[float]], entropies: Mapping[str, Sequence[float]]
) -> Picture:
    """Draw the mean largest weight and the mean entropy against d_k, a line a divisor."""
    figure = new_figure(7.2, 3.3)
    even = np.log(16)
    with matplotlib.rc_context(STYLE):
        left, right = figure.subplots(1, 2)
        for axes, curves, ylabel in ((left, tops, "largest weight"), (right, entropies, "entropy (nats)")):
            _lines(axes, d_ks, curves)
            axes.set_ylabel(ylabel)
        left.set_ylim(0, 1.02)
        right.set_ylim(0, 3.1)
        for axes, height in ((left, 1 / 16), (right, even)):
            axes.axhline(height, color="grey", linewidth=1, linestyle=":")
        right.annotate(
            "all 16 alike: ln 16", (d_ks[0], even), xytext=(0, 3), textcoords="offset points", color="#444444"
        )
        right.legend(frameon=False, loc="lower left", fontsize=10)
    ends = [f"{name} from {tops[name][0]:.2f} to {tops[name][-1]:.2f}" for name in tops]
    return show(figure, f"Largest weight for d_k from {d_ks[0]} to {d_ks[-1]}, on 16 keys: " + "; ".join(ends) + ".")


def gradient_bands(d_ks: Sequence[int], gradients: Mapping[str, Sequence[np.ndarray]]) -> Picture:
    """Draw, a panel a divisor, the median of the gradients' sizes, the band that holds four in five, and the mean."""
    figure = new_figure(7.2, 3.3)
    said = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(gradients), sharey=True, squeeze=False)[0]
        for place, (axes, (name, sizes)) in enumerate(zip(panels, gradients.items(), strict=True)):
            low, middle, high = np.array([np.quantile(size, [0.1, 0.5, 0.9]) for size in sizes]).T
            mean = np.array([np.mean(size) for size in sizes])
            colour = PALETTE[(2, 1, 3)[place % 3]]
            axes.fill_between(d_ks, np.maximum(low, 1e-12), high, color=colour, alpha=0.25, label="four in five")
            axes.plot(d_ks, middle, color=colour, marker="o", markersize=5, linewidth=2, label="median")
            axes.plot(d_ks, mean, color="black", marker="x", linestyle="--", linewidth=1.3, label="mean")
            axes.set_title(f"divided by {name}", fontsize=12)
            axes.set_xlabel("d_k")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(d_ks, [f"{d}" for d in d_ks], fontsize=10)
            axes.minorticks_off()
            axes.set_ylim(1e-6, 20)
            said.append(
                f"{name}: median from {_one_digit(middle[0])} to {_one_digit(middle[-1])}, "
                f"mean from {_one_digit(mean[0])} to {_one_digit(mean[-1])}"
            )
        panels[0].set_ylabel("size of the gradient")
        panels[0].legend(frameon=False, fontsize=10, loc="lower left")
    return show(
        figure, f"Size of the gradient at the query, d_k from {d_ks[0]} to {d_ks[-1]}; by " + "; ".join(said) + "."
    )


def learning(curves: Mapping[str, Mapping[str, np.ndarray]], every: int, chance: float) -> Picture:
    """Draw accuracy against steps, a panel an experiment; a line a divisor is the mean over seeds, with its range."""
    across = min(len(curves), 2)
    down = -(-len(curves) // across)
    figure = new_figure(0.4 + 3.5 * across, 0.3 + 2.5 * down)
    said = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(down, across, sharey=True, squeeze=False)
        for axes in panels.flat[len(curves) :]:
            axes.set_visible(False)
        for axes, (title, runs) in zip(panels.flat, curves.items(), strict=False):
            for place, (name, accuracy) in enumerate(runs.items()):
                steps = every * np.arange(accuracy.shape[1])
                colour = PALETTE[(2, 1, 3)[place % 3]]
                axes.fill_between(steps, accuracy.min(axis=0), accuracy.max(axis=0), color=colour, alpha=0.18)
                look = {"linestyle": LINE_STYLES[place], "marker": MARKERS[place], "markevery": 5, "markersize": 5}
                axes.plot(steps, accuracy.mean(axis=0), color=colour, linewidth=1.8, label=f"÷ {name}", **look)
            axes.axhline(chance, color="grey", linewidth=1, linestyle=":")
            axes.set_title(title, fontsize=12)
            axes.set_ylim(0, 1.05)
            ends = [f"÷ {name} {_share(accuracy[:, -1].mean())}" for name, accuracy in runs.items()]
            said.append(f"{title}: {', '.join(ends)}")
        for axes in panels[-1]:
            axes.set_xlabel("step")
        for axes in panels[:, 0]:
            axes.set_ylabel("right answers")
        panels.flat[0].legend(frameon=False, fontsize=10, loc="lower right")
    return show(figure, "Right answers at the end of the training. " + "; ".join(said) + ".")


def squares(
    tables: Mapping[str, np.ndarray],
    rows: Sequence[str],
    columns: Sequence[str],
    words: tuple[str, str],
    future: bool = False,
) -> Picture:
    """Draw tables of truth values side by side; `words` name the rows and the columns.

    With `future`, a true square to the right of the diagonal is marked as a leak.
    """
    across = min(len(tables), 3)
    down = -(-len(tables) // across)
    figure = new_figure(0.9 + across * (0.42 * len(columns) + 0.25) + 0.3, (0.42 * len(rows) + 1.0) * down + 0.2)
    said = []
    with matplotlib.rc_context(STYLE):
        grid = figure.subplots(down, across, squeeze=False, sharey=True)
        for axes in grid.flat[len(tables) :]:
            axes.set_visible(False)
        for place, (axes, (title, table)) in enumerate(zip(grid.flat, tables.items(), strict=False)):
            leaks = _draw_squares(axes, np.asarray(table, dtype=bool), rows, columns, future)
            axes.set_title(title, fontsize=11)
            if place >= len(tables) - across:
                axes.set_xlabel(words[1])
            if place % across == 0:
                axes.set_ylabel(words[0])
            text = f"{title}: " + "; ".join(
                _row_text(row, line, columns) for row, line in zip(rows, table, strict=True)
            )
            said.append(text + (f" ({leaks} leaks)" if future else ""))
    return show(figure, f"Squares, {words[0]} by {words[1]}. " + ". ".join(said) + ".")


def study(weights: np.ndarray, gradients: np.ndarray, top: float, entropy: float, name: str) -> Picture:
    """Draw the weights of one query, sorted, and how the sizes of many gradients are spread on a log axis."""
    figure = new_figure(6.8, 3.0)
    median, mean = np.median(gradients), np.mean(gradients)
    with matplotlib.rc_context(STYLE):
        left, right = figure.subplots(1, 2)
        left.bar(range(1, len(weights) + 1), np.sort(weights)[::-1], color=PALETTE[1], width=0.75)
        left.set_ylim(0, 1.05)
        left.set_xlabel("key, the best first")
        left.set_ylabel("weight")
        left.set_title(f"mean top {top:.2f}, entropy {entropy:.2f}", fontsize=12)
        edges = np.linspace(-8, 2, 41)
        right.hist(np.clip(np.log10(np.maximum(gradients, 1e-300)), -8, 2), bins=edges, color=PALETTE[5])
        for value, label, style, height in ((median, "median", "-", 0.97), (mean, "mean", "--", 0.87)):
            x = np.clip(np.log10(max(value, 1e-300)), -8, 2)
            right.axvline(x, color="black", linestyle=style, linewidth=1.6)
            side = "right" if x > -3 else "left"
            right.annotate(
                f"{label} " if side == "right" else f" {label}",
                (x, height), xycoords=("data", "axes fraction"), ha=side, va="top",
            )  # fmt: skip
        right.set_xticks([-8, -6, -4, -2, 0, 2], ["≤10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1", "100"], fontsize=10)
        right.set_yticks([])
        right.set_xlabel("size of the gradient")
        right.set_title("how many queries", fontsize=12)
    sizes = f"gradient: median {_one_digit(median)}, mean {_one_digit(mean)}"
    return show(figure, f"{name}: mean largest weight {top:.2f}, entropy {entropy:.2f} of 2.77; {sizes}.")


def _lines(axes: Axes, x: Numbers, curves: Mapping[str, Numbers]) -> None:
    for place, (name, y) in enumerate(curves.items()):
        look = {"linestyle": LINE_STYLES[place], "marker": MARKERS[place], "markersize": 5, "linewidth": 1.8}
        axes.plot(x, y, color=PALETTE[(2, 1, 3)[place % 3]], label=f"÷ {name}", **look)
    axes.set_xscale("log")
    axes.set_xticks(list(x), [f"{value:g}" for value in x])
    axes.minorticks_off()
    axes.set_xlabel("d_k")


def _draw_squares(axes: Axes, table: np.ndarray, rows: Sequence[str], columns: Sequence[str], future: bool) -> int:
    """Draw one table of truth values; returns how many of them are leaks."""
    leaks = 0
    for i, j in np.ndindex(table.shape):
        leak = bool(future and table[i, j] and j > i)
        leaks += leak
        colour = PALETTE[2] if leak else PALETTE[1] if table[i, j] else "white"
        box = matplotlib.patches.Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, facecolor=colour, edgecolor="#999999")
        axes.add_patch(box)
        if table[i, j]:
            axes.text(j, i, "✗" if leak else "✓", ha="center", va="center", color="white", fontsize=12)
    axes.set_xlim(-0.55, len(columns) - 0.45)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_aspect("equal")
    turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if max(map(len, columns)) > 2 else {}
    axes.set_xticks(range(len(columns)), columns, fontsize=10, **turned)
    axes.set_yticks(range(len(rows)), rows, fontsize=10)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return leaks


def _row_text(row: str, line: np.ndarray, columns: Sequence[str]) -> str:
    hits = [column for column, hit in zip(columns, line, strict=True) if hit]
    return f"{row} – {', '.join(hits) if hits else 'none'}"


def _one_digit(number: float) -> str:
    """Write a number with one digit that counts, which does not change with the machine.

    >>> _one_digit(0.0532), _one_digit(1.31)
    ('0.05', '1')
    """
    return f"{float(f'{number:.0e}'):g}"


def _share(accuracy: float) -> str:
    """Say a trained accuracy in words that another machine will say too."""
    bounds = ((0.95, "nearly all"), (0.75, "most"), (0.45, "about half"), (0.12, "a few"), (0, "chance"))
    return next(word for bound, word in bounds if accuracy >= bound)

"""Figures of the lesson *Positional encoding*: the table of shades, the clocks, the products by distance, lengths."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, lines, new_figure, show


def heat_map(P: np.ndarray) -> Picture:
    """Draw a table of positions as shades: a row for each position, a column for each number."""
    figure = new_figure(6.6, 4.2)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        drawn = axes.imshow(P, cmap="cividis", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
        axes.set(xlabel="number of the encoding (column)", ylabel="position (row)")
        axes.spines[:].set_visible(False)
        figure.colorbar(drawn, ax=axes, ticks=[-1, 0, 1], label="value")
    n, d_model = P.shape
    # A pair of the middle of the table, and the last one, from their sines: the even columns.
    columns = sorted({0, d_model // 4 // 2 * 2, d_model // 2 // 2 * 2, (d_model - 1) // 2 * 2})
    changes = [f"column {column} {_changes(P[:, column])}" for column in columns]
    text = f"{n} positions from top to bottom, {d_model} numbers from left to right, sines and cosines in turn"
    return show(figure, f"{text}. Down the rows {', '.join(changes)}.")


def _changes(column: np.ndarray) -> str:
    signs = np.sign(column[np.abs(column) > 1e-9])
    times = int((signs[1:] != signs[:-1]).sum())
    if times:
        return f"changes its sign {times} times" if times > 1 else "changes its sign once"
    return f"goes from {column[0]:.2f} to {column[-1]:.2f}"


def clocks(P: np.ndarray, positions: Sequence[int]) -> Picture:
    """Draw each pair of numbers (sine, cosine) as the tip of a clock hand: a row a position, a column a pair."""
    pairs = P.shape[1] // 2
    figure = new_figure(1.1 + 1.0 * pairs, 0.55 + 0.95 * len(positions))
    read = []
    with matplotlib.rc_context(STYLE):
        grid = figure.subplots(len(positions), pairs, squeeze=False)
        for row, position in enumerate(positions):
            degrees = []
            for pair in range(pairs):
                across, up = P[position, 2 * pair], P[position, 2 * pair + 1]
                _clock(grid[row, pair], across, up)
                degrees.append(f"{round(np.degrees(np.arctan2(across, up))) % 360}°")
                if row == 0:
                    grid[row, pair].set_title(f"pair {pair}", fontsize=11)
            grid[row, 0].text(-1.35, 0, f"position {position}", ha="right", va="center", fontsize=11)
            read.append(f"position {position}: {', '.join(degrees)}")
    return show(figure, f"Clock hands of {pairs} pairs, clockwise from twelve. {'; '.join(read)}.")


def _clock(axes: Axes, across: float, up: float) -> None:
    around = np.linspace(0, 2 * np.pi, 61)
    axes.plot(np.sin(around), np.cos(around), color="#999999", linewidth=1)
    axes.plot([0, 0], [0.85, 1], color="#999999", linewidth=1)
    axes.plot([0, across], [0, up], color=PALETTE[1], linewidth=2.5, solid_capstyle="round")
    axes.plot([across], [up], color=PALETTE[1], marker="o", markersize=4)
    axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    axes.axis("off")


def products(offsets: Sequence[int], curves: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the dot products of a position with those around it, a line for each position."""
    figure = new_figure(6.8, 3.4)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        for index, (name, y) in enumerate(curves.items()):
            look = {"color": PALETTE[index + 1], "linestyle": LINE_STYLES[index], "linewidth": 4.5 - 1.5 * index}
            axes.plot(offsets, y, label=name, **look)
        axes.set(xlabel="distance k", ylabel="PE(p) · PE(p + k)")
        axes.legend(frameon=False, loc="upper right")
    at = list(offsets)
    parts = []
    for name, y in curves.items():
        nearest, furthest = y[at.index(0)], y[-1]
        parts.append(f"{name}: {nearest:.2f} at distance 0, {y[at.index(1)]:.2f} at 1, {furthest:.2f} at {at[-1]}")
    gap = max(np.abs(np.subtract(y, y[::-1])).max() for y in curves.values())
    mirror = "The curves are symmetric" if gap < 1e-9 else "The curves are not symmetric"
    return show(figure, f"Dot products of encodings by distance. {'; '.join(parts)}. {mirror}.")


def sizes(widths: Sequence[int], lengths: Mapping[str, Sequence[float]]) -> Picture:
    """Draw the lengths of vectors against d_model, both axes logarithmic."""
    return lines([float(d) for d in widths], lengths, "d_model", "length of the vector", log_x=True, log_y=True)


def order_bars(results: Mapping[str, Mapping[str, np.ndarray]], chance: float) -> Picture:
    """Draw right answers by scheme (names of bars) for each kind of model (panels), with a dot for each beginning."""
    figure = new_figure(7.4, 3.3)
    parts = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
        for axes, (kind, by_scheme) in zip(panels, results.items(), strict=True):
            for place, found in enumerate(by_scheme.values()):
                axes.bar(place, np.mean(found), color=PALETTE[1], width=0.65)
                spread = place + np.linspace(-0.15, 0.15, len(found))
                axes.plot(spread, found, "o", color="white", markeredgecolor="black", markersize=5)
            axes.set_xticks(range(len(by_scheme)), by_scheme, rotation=30, ha="right")
            axes.axhline(chance, color="grey", linewidth=1, linestyle=":")
            axes.set_title(kind, fontsize=11)
            axes.set_ylim(0, 1.08)
            told = {
                name: "no better than guessing" if np.mean(found) < chance + 0.05 else _share(found)
                for name, found in by_scheme.items()
            }
            parts.append(f"{kind}: " + ", ".join(f"{name} {words}" for name, words in told.items()))
        panels[0].set_ylabel("right answers")
        panels[-1].annotate(
            "guessing", (1.01, chance), xycoords=("axes fraction", "data"), va="center", color="#444444"
        )
    return show(figure, f"Right answers on held-out pairs. {'; '.join(parts)}.")


def by_length(results: Mapping[str, Mapping[str, np.ndarray]], stretches: Sequence[str]) -> Picture:
    """Draw right answers against the stretch of tokens, a panel a task, a line a scheme, a faint line a beginning."""
    figure = new_figure(8.6, 3.7)
    parts = []
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
        for axes, (task, by_scheme) in zip(panels, results.items(), strict=True):
            for index, (scheme, found) in enumerate(by_scheme.items()):
                look = {"color": PALETTE[index + 1], "linestyle": LINE_STYLES[index]}
                for run in found:
                    axes.plot(range(len(stretches)), run, linewidth=0.8, alpha=0.5, **look)
                axes.plot(
                    range(len(stretches)),
                    np.mean(found, axis=0),
                    label=scheme,
                    marker=MARKERS[index],
                    markersize=6,
                    linewidth=2.2,
                    **look,
                )
                told = [_share(found[:, i]) for i in range(len(stretches))]
                parts.append(f"{task}, {scheme}: {', '.join(told)}")
            axes.set_xticks(range(len(stretches)), stretches)
            axes.set(title=task, xlabel="tokens", ylim=(-0.03, 1.06))
            axes.axvspan(-0.3, 0.3, color="#e6e6e6", zorder=0)
            axes.set_xlim(-0.3, len(stretches) - 0.8)
        panels[0].set_ylabel("right answers")
        figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)
    return show(figure, f"Right answers by stretch of tokens ({', '.join(stretches)}). {'; '.join(parts)}.")


def _share(found: np.ndarray) -> str:
    """Say a mean in words, for trained numbers differ from machine to machine in the second digit."""
    mean = float(np.mean(found))
    for bound, words in ((0.93, "nearly all"), (0.7, "most"), (0.3, "a part")):
        if mean > bound:
            return words
    return "few"

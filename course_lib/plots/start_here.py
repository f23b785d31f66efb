"""The figures of the lesson *Start here*: two axes side by side, weights at several temperatures, arrows."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np

from course_lib.plots.common import LINE_STYLES, MARKERS, PALETTE, STYLE, Picture, new_figure, show


def both_axes(rows: np.ndarray, columns: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> Picture:
    """Draw two tables of weights, normalised along the keys and along the queries, with what each row sums to."""
    tables = {"along the keys (axis=-1)": rows, "along the queries (axis=0)": columns}
    for name, weights in tables.items():
        if np.shape(weights) != (len(queries), len(keys)):
            raise ValueError(f"weights {name}: wanted shape ({len(queries)}, {len(keys)}), got {np.shape(weights)}")
    figure = new_figure(6.6, 1.5 + 0.42 * len(queries))
    with matplotlib.rc_context(STYLE):
        for axes, (name, weights) in zip(figure.subplots(1, 2), tables.items(), strict=True):
            axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(name, fontsize=12)
            axes.set_xticks(range(len(keys)), keys)
            axes.set_yticks(range(len(queries)), queries)
            axes.set_yticks(np.arange(1, len(queries)) - 0.5, minor=True)
            axes.set_xticks(np.arange(1, len(keys)) - 0.5, minor=True)
            axes.grid(which="minor", color="white", linewidth=2)
            axes.set_xlabel("key")
            axes.spines[:].set_visible(False)
            axes.tick_params(which="both", length=0)
            for row, column in np.ndindex(weights.shape):
                colour = "white" if weights[row, column] > 0.55 else "black"
                axes.text(column, row, f"{weights[row, column]:.2f}", ha="center", va="center", color=colour)
            for row, total in enumerate(weights.sum(axis=-1)):
                axes.text(len(keys) - 0.4, row, f"= {total:.2f} ", ha="left", va="center", weight="bold")
        figure.axes[0].set_ylabel("query")
        figure.get_layout_engine().set(wspace=0.06)
    sums = []
    for name, weights in tables.items():
        totals = zip(queries, weights.sum(axis=-1), strict=True)
        sums.append(f"{name} the rows sum to " + ", ".join(f"{total:.2f} ({query})" for query, total in totals))
    return show(figure, "The same scores after two softmaxes: " + "; ".join(sums) + ".")


def temperature_panels(weights: Mapping[str, np.ndarray], names: Sequence[str]) -> Picture:
    """Draw one panel of bars a temperature: the weight of each name."""
    figure = new_figure(6.4, 2.7)
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(weights), sharey=True, squeeze=False)[0]
        for axes, (title, row) in zip(panels, weights.items(), strict=True):
            _bars(axes, row, names)
            axes.set_title(title, fontsize=12)
        panels[0].set_ylabel("weight")
    tops = [f"{title}: {_extremes(row, names)}" for title, row in weights.items()]
    return show(figure, "Weights of the same scores. " + "; ".join(tops) + ".")


def scores_and_weights(scores: np.ndarray, weights: np.ndarray, names: Sequence[str]) -> Picture:
    """Draw scores above zero or below it, and beside them the weights that a softmax made of them."""
    figure = new_figure(6.2, 2.7)
    with matplotlib.rc_context(STYLE):
        left, right = figure.subplots(1, 2)
        drawn = left.bar(names, scores, color=PALETTE[6], width=0.65, edgecolor="black", linewidth=0.6)
        left.bar_label(drawn, fmt="%.1f", padding=2)
        left.axhline(0, color="black", linewidth=0.8)
        left.set_ylim(-4.9, 4.9)
        left.set_title("scores", fontsize=12)
        _bars(right, weights, names)
        right.set_title("weights", fontsize=12)
    most = int(np.argmax(weights))
    rows = zip(names, scores, weights, strict=True)
    text = ", ".join(f"{name} {score:.1f} gets {weight:.2f}" for name, score, weight in rows)
    return show(figure, f"Scores and their weights: {text}. {names[most]} has the most.")


def arrows(query: np.ndarray, keys: np.ndarray, names: Sequence[str]) -> Picture:
    """Draw a query and some keys as arrows from the origin, each key with its dot product with the query."""
    products = keys @ query
    ends = np.array([*keys, query])
    low = np.minimum(ends.min(axis=0), 0) - np.array([2.1, 0.45])  # room for the labels on the left
    high = ends.max(axis=0) + np.array([1.45, 0.45])  # and on the right
    width = 6.4
    figure = new_figure(width, 0.8 + (width - 0.9) * (high[1] - low[1]) / (high[0] - low[0]))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.axhline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
        axes.axvline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
        labels = [f"{name}: {product:.1f}" for name, product in zip(names, products, strict=True)] + ["query"]
        for index, (end, label) in enumerate(zip(ends, labels, strict=True)):
            is_query = index == len(keys)
            colour = PALETTE[0] if is_query else PALETTE[1 + index]
            # The query is broad and pale and lies below, so that a key along it can be seen.
            look = {"linewidth": 2.4, "zorder": 2, "linestyle": LINE_STYLES[index % 4]}
            if is_query:
                look = {"linewidth": 7, "zorder": 1, "alpha": 0.25}
            axes.plot([0, end[0]], [0, end[1]], color=colour, **look)
            axes.plot(*end, marker=MARKERS[index % 7], color=colour, markersize=8, zorder=3)
            beside, side = ((-9, -4), "right") if end[0] < 0 else ((9, -4), "left")
            axes.annotate(label, end, xytext=beside, textcoords="offset points", ha=side, weight="bold", fontsize=12)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.set_xlabel("first number")
        axes.set_ylabel("second number")
    order = np.argsort(-products)
    text = ", ".join(f"{names[i]} {products[i]:.1f}" for i in order)
    return show(figure, f"A query and {len(keys)} keys as arrows; dot products from the largest: {text}.")


def _bars(axes: matplotlib.axes.Axes, weights: np.ndarray, names: Sequence[str]) -> None:
    drawn = axes.bar(names, weights, color=PALETTE[1], width=0.65)
    axes.bar_label(drawn, fmt="%.2f", padding=2)
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.5, 1])


def _extremes(weights: np.ndarray, names: Sequence[str]) -> str:
    most, least = int(weights.argmax()), int(weights.argmin())
    return f"{names[most]} gets {weights[most]:.2f}, {names[least]} {weights[least]:.2f}"

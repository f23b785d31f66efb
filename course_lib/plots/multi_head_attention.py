"""Figures of the lesson *Multi-head attention*: numbers through split and merge, heads over a sentence, two tables."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.data.three_questions import QUESTIONS
from course_lib.plots.common import MARKERS, PALETTE, STYLE, Picture, new_figure, show

TINTS = (
    "#A6CEE3",
    "#FDBF6F",
    "#B2DF8A",
    "#F4B6C2",
    "#D9D9D9",
    "#CAB2D6",
)  # of tokens; the letter in a cell says it too
LETTERS = "abcdef"
SPLITS = ("right", "reshape alone")
MERGES = ("right", "reshape alone")


def split_and_merge(
    n: int = 3, h: int = 2, d_model: int = 4, split: str = "right", merge: str | None = "right"
) -> Picture:
    """Draw where each number of n tokens goes when h heads are split off and, unless `merge` is None, merged again.

    Token a has the numbers a0, a1, …; every number keeps its name and its token's colour on the way.

    Raises:
        ValueError: if `h` does not divide `d_model`, or a way to split or merge is unknown.
    """
    if d_model % h:
        raise ValueError(f"h: wanted a number of heads that divides d_model = {d_model}, got {h}")
    if split not in SPLITS or merge not in (*MERGES, None):
        raise ValueError(f"split and merge: wanted one of {', '.join(SPLITS)}, got {split!r} and {merge!r}")
    X = np.arange(n * d_model).reshape(n, d_model)
    heads = X.reshape(n, h, -1).swapaxes(0, 1) if split == "right" else X.reshape(h, n, -1)  # (head, n, d_k)
    merged = heads.swapaxes(0, 1).reshape(n, -1) if merge == "right" else heads.reshape(n, -1)  # (n, d_model)
    tables = {f"X: ({n}, {d_model})": X, f"split ({split}):\n({h}, {n}, {d_model // h})": heads}
    tables |= {f"merge ({merge}):\n({n}, {d_model})": merged} if merge else {}
    figure = new_figure(6.6, 0.34 * n * len(tables) + 0.62 * len(tables))
    with matplotlib.rc_context(STYLE):
        tall = [n + (1.05 if table.ndim == 3 else 0.25) for table in tables.values()]  # as many rows, and a heading
        panels = figure.subplots(len(tables), 1, height_ratios=tall)
        for axes, (title, table) in zip(panels, tables.items(), strict=True):
            _cells(axes, table if table.ndim == 3 else table[None], d_model, h, title)
    said = [f"{h} heads split by {_way(split)}: {_purity(heads, d_model)}"]
    if merge:
        back = "give X back" if np.array_equal(merged, X) else "do not give X back"
        said.append(f"merged by {_way(merge)} they {back}: {_purity(merged[None], d_model)}")
    return show(figure, "; ".join(said) + ".")


def _way(name: str) -> str:
    return "reshape and swapped axes" if name == "right" else "reshape alone"


def _purity(tables: np.ndarray, d_model: int) -> str:
    """Say whether each row of each table holds numbers of its own token, and if not, give the first row that fails."""
    for table in tables:
        for place, row in enumerate(table):
            tokens = [LETTERS[token] for token in dict.fromkeys(row // d_model)]
            if tokens != [LETTERS[place]]:
                return f"row {LETTERS[place]} holds numbers of {' and '.join(tokens)}"
    return "every row holds numbers of its own token"


def _cells(axes: Axes, tables: np.ndarray, d_model: int, h: int, title: str) -> None:
    """Draw tables side by side, a cell a number."""
    _, n, width = tables.shape
    left = 0.0
    for index, table in enumerate(tables):
        for row, column in np.ndindex(table.shape):
            token, place = divmod(int(table[row, column]), d_model)
            axes.add_patch(Rectangle((left + column, -row - 1), 1, 1, facecolor=TINTS[token], edgecolor="white"))
            name = f"{LETTERS[token]}{place}"
            axes.text(left + column + 0.5, -row - 0.5, name, ha="center", va="center", fontsize=12)
        if len(tables) > 1:
            axes.text(left + width / 2, 0.12, f"head {index}", ha="center", va="bottom", fontsize=12, weight="bold")
        left += width + 0.6
    for row in range(n):
        axes.text(-0.25, -row - 0.5, LETTERS[row], ha="right", va="center", fontsize=12, color="#444444")
    axes.text(-1.1, -n / 2, title, ha="right", va="center", fontsize=12)
    axes.set(xlim=(-5.2, d_model + 0.6 * (h - 1) + 0.1), ylim=(-n - 0.1, 0.95 if len(tables) > 1 else 0.15))
    axes.axis("off")


def by_heads(results: Mapping[str, Mapping[int, np.ndarray]], marks: Mapping[str, float] | None = None) -> Picture:
    """Draw for each task what models with so many heads get right: a bar for the mean, a dot for each seed."""
    figure = new_figure(2.2 * len(results) + 0.8, 3.2)
    with matplotlib.rc_context(STYLE):
        panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
        said = []
        for axes, (task, by_head) in zip(panels, results.items(), strict=True):
            means = [float(np.mean(runs)) for runs in by_head.values()]
            axes.bar(range(len(by_head)), means, 0.6, color=PALETTE[5], edgecolor="black", linewidth=0.8)
            for place, (runs, mean) in enumerate(zip(by_head.values(), means, strict=True)):
                axes.scatter(place + np.linspace(-0.12, 0.12, len(runs)), runs, s=18, color="black", zorder=3)
                axes.text(place, max(runs) + 0.05, f"{mean:.2f}", ha="center", va="bottom")
            axes.set_xticks(range(len(by_head)), [str(h) for h in by_head])
            axes.set(title=task, xlabel="heads", ylim=(0, 1.2), yticks=[0, 0.5, 1], xlim=(-0.6, len(by_head) - 0.4))
            for name, height in (marks or {}).items():
                axes.axhline(height, color="grey", linewidth=1, linestyle=":")
                if axes is panels[-1]:
                    place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
                    axes.annotate(name, (1, height), color="#444444", **place)
            parts = ", ".join(
                f"{h} head{'s' * (h != 1)} {_share(mean)}" for h, mean in zip(by_head, means, strict=True)
            )
            said.append(f"{' '.join(task.split())}: {parts}")
        panels[0].set_ylabel("all answers right")
    return show(figure, "Hands with all answers right. " + "; ".join(said) + ".")


def _share(mean: float) -> str:
    return "nearly all" if mean > 0.97 else "nearly none" if mean < 0.05 else "most" if mean > 0.6 else "some"


def heads_over_sentence(words: Sequence[str], digits: Sequence[int], pronoun: int, weights: np.ndarray) -> Picture:
    """Draw where each head looks from the pronoun: a row a head over the words and their digits.

    The sentence names the word that each head looks at most, and no number: those of a trained model differ.
    """
    weights = np.asarray(weights)
    figure = new_figure(6.6, 1.6 + 0.42 * len(weights))
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        names = [f"{word} {digit}" for word, digit in zip(words, digits, strict=True)]
        axes.set_xticks(range(len(words)), names, fontsize=12, rotation=90)
        axes.set_yticks(range(len(weights)), [f"head {i}" for i in range(len(weights))], fontsize=12)
        axes.set_yticks(np.arange(1, len(weights)) - 0.5, minor=True)
        axes.set_xticks(np.arange(1, len(words)) - 0.5, minor=True)
        axes.grid(which="minor", color="#dddddd", linewidth=1)
        axes.spines[:].set_visible(False)
        axes.tick_params(which="both", length=0)
        axes.xaxis.tick_top()
        axes.get_xticklabels()[pronoun].set(weight="bold", color=PALETTE[2])
        axes.set_xlabel(f'where "{words[pronoun]}" looks')
        for row, column in np.ndindex(weights.shape):
            if weights[row, column] >= 0.05:
                colour = "white" if weights[row, column] > 0.55 else "black"
                axes.text(column, row, f"{weights[row, column]:.2f}", ha="center", va="center", color=colour)
    tops = ", ".join(f"head {i} at {words[row.argmax()]}" for i, row in enumerate(weights))
    return show(figure, f'From "{words[pronoun]}" in "{" ".join(words)}", most weight: {tops}.')


def looks_and_losses(
    looks: np.ndarray, left: np.ndarray, questions: Sequence[str] = QUESTIONS, title: str = ""
) -> Picture:
    """Draw two tables with a row a head: where it looks, and what is still answered when it is taken away.

    `looks` and `left` are (head, question): the mean weight on the word that holds the answer, and the share of right
    answers without that head.
    """
    looks, left = np.asarray(looks), np.asarray(left)
    if looks.shape != left.shape or looks.shape[1] != len(questions):
        raise ValueError(f"left: wanted the shape of looks, {looks.shape}, with {len(questions)} columns: {left.shape}")
    figure = new_figure(6.6, 1.6 + 0.42 * len(looks))
    with matplotlib.rc_context(STYLE):
        first, second = figure.subplots(1, 2)
        _table(first, looks, "Blues", questions, [f"head {i}" for i in range(len(looks))])
        _table(second, left, "Oranges_r", questions, [f"without {i}" for i in range(len(left))])
        first.set_title("where it looks:\nweight on the answer's word", fontsize=11)
        second.set_title("what is left without it:\nright answers", fontsize=11)
        if title:
            figure.suptitle(title, fontsize=12)
    said = []
    for i, (look, rest) in enumerate(zip(looks, left, strict=True)):
        lost = [q for q, share in zip(questions, rest, strict=True) if share < 0.5]
        said.append(f"head {i} looks for {questions[look.argmax()]}, and without it {_lost(lost)}")
    return show(figure, f"{title + ': ' if title else ''}" + "; ".join(said) + ".")


def _lost(questions: Sequence[str]) -> str:
    return f"{' and '.join(questions)} is lost" if questions else "no question is lost"


def _table(axes: Axes, table: np.ndarray, cmap: str, columns: Sequence[str], rows: Sequence[str]) -> None:
    axes.imshow(table, cmap=cmap, vmin=0, vmax=1.0 if cmap == "Blues" else 1.15, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, fontsize=11)
    axes.set_yticks(range(len(rows)), rows, fontsize=11)
    axes.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    axes.set_xticks(np.arange(1, len(columns)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.spines[:].set_visible(False)
    axes.tick_params(which="both", length=0)
    for row, column in np.ndindex(table.shape):
        dark = table[row, column] > 0.55 if cmap == "Blues" else table[row, column] < 0.45
        colour = "white" if dark else "black"
        axes.text(column, row, f"{table[row, column]:.2f}", ha="center", va="center", color=colour, fontsize=12)


def contributions(parts: np.ndarray, merged: np.ndarray) -> Picture:
    """Draw the output of one token as a sum: for each of its numbers what each head adds, stacked, and the total."""
    figure = new_figure(6.4, 2.9)
    with matplotlib.rc_context(STYLE):
        axes = figure.subplots()
        places = np.arange(parts.shape[1])
        above, below = np.zeros(len(places)), np.zeros(len(places))
        for index, part in enumerate(parts):
            start = np.where(part >= 0, above, below)
            look = {"color": PALETTE[(5, 6, 3, 4)[index % 4]], "hatch": ("", "///", "..", "xx")[index % 4]}
            axes.bar(
                places, part, 0.6, bottom=start, label=f"head {index} adds", edgecolor="black", linewidth=0.7, **look
            )
            above, below = above + np.maximum(part, 0), below + np.minimum(part, 0)
        axes.scatter(places, merged, marker=MARKERS[3], s=45, color="black", zorder=3, label="output")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(xlabel="number of the output", ylabel="value", xticks=places)
        axes.legend(frameon=False, ncols=len(parts) + 1, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    gap = float(np.abs(parts.sum(axis=0) - merged).max())
    equal = "equals the sum of what the heads add" if gap < 1e-9 else f"is up to {gap:.2g} from the sum of the heads"
    first = ", ".join(f"{part[0]:.2f}" for part in parts)
    return show(figure, f"The output {equal}; its first number {merged[0]:.2f} is made of {first}.")

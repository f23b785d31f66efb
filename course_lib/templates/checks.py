"""The exercises of the lesson __SLUG__: what is asked, on which inputs, and what people get wrong."""

from collections.abc import Sequence

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes


def row_means(X: np.ndarray) -> np.ndarray:
    """Return the mean of each row."""
    return X.mean(axis=1)


def centred_rows(X: np.ndarray) -> np.ndarray:
    """Return `X` with each row's mean taken from it."""
    return X - X.mean(axis=1, keepdims=True)


def matrices(rng: np.random.Generator) -> Sequence[Probe]:
    """Draw matrices whose sizes all differ, and two extreme ones."""
    a, b, c, d = distinct_sizes(rng, 4)
    return [
        Probe("a matrix", (rng.normal(size=(a, b)),)),
        Probe("another matrix, far from zero", (50 + rng.normal(size=(c, d)),)),
        Probe("one row", (rng.normal(size=(1, c)),), extreme=True),
        Probe("one column", (rng.normal(size=(d, 1)),), extreme=True),
    ]


EXERCISES = (
    Exercise(
        id="__SLUG__/row_means",
        title="The mean of each row",
        minutes=4,
        difficulty="easy",
        kind="fill",
        reference=row_means,
        probes=matrices,
        mistakes=(
            Mistake(
                id="columns",
                answer=lambda X: X.mean(axis=0),
                what="The mean runs down the columns.",
                why="Then it mixes different rows, and there is one number a column.",
                where="Look at the axis: which one counts the columns, and so disappears?",
            ),
            Mistake(
                id="sum",
                answer=lambda X: X.sum(axis=1),
                what="The entries of a row are added up and not divided by how many they are.",
                why="Then a longer row has a larger mean.",
                where="Look at the last step of the function.",
            ),
        ),
        right_answers={"a loop": lambda X: np.array([sum(row) / len(row) for row in X])},
    ),
    Exercise(
        id="__SLUG__/centred_rows",
        title="Each row around zero",
        minutes=6,
        difficulty="medium",
        kind="fill",
        reference=centred_rows,
        probes=matrices,
        mistakes=(
            Mistake(
                id="columns",
                answer=lambda X: X - X.mean(axis=0),
                what="The means of the columns are taken away.",
                why="Then a row does not sum to zero.",
                where="Look at the axis of the mean.",
            ),
            Mistake(
                id="mean_of_all",
                answer=lambda X: X - X.mean(),
                what="One mean, that of all the entries, is taken from every row.",
                why="Then only the whole sums to zero, and not each row.",
                where="Look at how many means there are: one a row is wanted.",
            ),
        ),
        right_answers={"a loop": lambda X: np.array([row - row.mean() for row in X])},
    ),
)

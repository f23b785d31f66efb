"""Recall: the first token is one of eight symbols, noise follows, and at the end the symbol is asked for."""

import numpy as np
from jaxtyping import Int

SYMBOLS = 8  # ids 0 to 7: what must be remembered
NOISE = 24  # ids 8 to 31: what lies in between
QUERY = SYMBOLS + NOISE  # the last token: "what was the first?"
VOCABULARY = QUERY + 1
CHANCE = 1 / SYMBOLS


def batch(
    rng: np.random.Generator, size: int, distance: int
) -> tuple[Int[np.ndarray, "size length"], Int[np.ndarray, " size"]]:
    """Draw sequences whose last token asks for their first one, `distance` steps before it.

    Returns the ids, `distance + 1` a row, and the symbols to answer.

    >>> ids, targets = batch(np.random.default_rng(0), size=1, distance=3)
    >>> ids.tolist(), targets.tolist()
    ([[6, 23, 20, 32]], [6])

    Raises:
        ValueError: if the distance is less than 1.
    """
    if distance < 1:
        raise ValueError(f"distance: wanted 1 or more steps from the first token to the last, got {distance}")
    targets = rng.integers(SYMBOLS, size=size)
    noise = rng.integers(SYMBOLS, QUERY, size=(size, distance - 1))
    query = np.full((size, 1), QUERY)
    return np.concatenate([targets[:, None], noise, query], axis=1), targets

"""Look-up: some pairs of a key and a value are shown, then one of the keys, and its value is asked for."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

KEYS = 32  # different keys
VALUES = 16  # different values
PAIRS = 12  # shown at a time
CHANCE = 1 / VALUES


@dataclass(frozen=True)
class Batch:
    """Some rows of pairs, the key that each row is asked for, and the value that answers it."""

    keys: Int[np.ndarray, "size pairs"]
    values: Int[np.ndarray, "size pairs"]
    asked: Int[np.ndarray, " size"]
    answers: Int[np.ndarray, " size"]


def batch(rng: np.random.Generator, size: int, pairs: int = PAIRS) -> Batch:
    """Draw rows of pairs; no key stands twice in a row, and the key that is asked for stands there.

    >>> row = batch(np.random.default_rng(0), size=1, pairs=3)
    >>> row.keys.tolist(), row.values.tolist(), row.asked.tolist(), row.answers.tolist()
    ([[2, 11, 25]], [[8, 10, 4]], [11], [10])

    Raises:
        ValueError: if there are more pairs than different keys, or none.
    """
    if not 1 <= pairs <= KEYS:
        raise ValueError(f"pairs: wanted 1 to {KEYS}, the number of different keys, got {pairs}")
    keys = rng.permuted(np.tile(np.arange(KEYS), (size, 1)), axis=1)[:, :pairs]
    values = rng.integers(VALUES, size=(size, pairs))
    rows, place = np.arange(size), rng.integers(pairs, size=size)
    return Batch(keys, values, keys[rows, place], values[rows, place])

"""Copying: a string of digits goes in and must come out again. Everything that was read must still be known."""

import numpy as np
from jaxtyping import Int

DIGITS = 10  # ids 0 to 9
START = 10  # what a decoder reads before the first digit
VOCABULARY = 11
LONGEST = 32  # the longest string that there is


def batch(rng: np.random.Generator, size: int, length: int) -> Int[np.ndarray, "size length"]:
    """Draw strings of digits; each is its own answer.

    >>> batch(np.random.default_rng(0), size=1, length=4).tolist()
    [[8, 6, 5, 2]]

    Raises:
        ValueError: if the length is not from 1 to 32.
    """
    if not 1 <= length <= LONGEST:
        raise ValueError(f"length: wanted 1 to {LONGEST} digits, got {length}")
    return rng.integers(DIGITS, size=(size, length))

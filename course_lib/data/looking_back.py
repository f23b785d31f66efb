"""Two ways of looking back, each asked for at every token: what stood three tokens ago, and which digit came last.

The first needs an exact distance, the second only to prefer what is nearer. Both can be asked at any length.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

LETTERS = 16
DIGITS = 8
SYMBOLS = (*"0123456789"[:DIGITS], *"abcdefghijklmnopqrstuvwxyz"[:LETTERS])
NO_ANSWER = -100  # a target that counts for nothing, in PyTorch's cross entropy too
BACK = 3

Sample = tuple[Int[np.ndarray, "size n"], Int[np.ndarray, "size n"]]


def three_back(rng: np.random.Generator, size: int, n: int) -> Sample:
    """Draw rows of letters, and as targets the letter three tokens earlier; the first three tokens have none.

    >>> ids, targets = three_back(np.random.default_rng(0), size=1, n=5)
    >>> text(ids[0]), text(targets[0])
    ('n k i e e', '· · · n k')
    """
    ids = DIGITS + rng.integers(LETTERS, size=(size, n))
    targets = np.full((size, n), NO_ANSWER)
    targets[:, BACK:] = ids[:, :-BACK]
    return ids, targets


def last_digit(rng: np.random.Generator, size: int, n: int) -> Sample:
    """Draw rows of letters with a digit at about every fifth place, and as target of a letter the digit before it.

    Digits themselves, and letters before the first digit, have no target.

    >>> ids, targets = last_digit(np.random.default_rng(10), size=1, n=8)
    >>> text(ids[0]), text(targets[0])
    ('l j p 7 o 6 c o', '· · · · 7 · 6 6')
    """
    is_digit = rng.random((size, n)) < 0.2
    ids = np.where(is_digit, rng.integers(DIGITS, size=(size, n)), DIGITS + rng.integers(LETTERS, size=(size, n)))
    latest = np.maximum.accumulate(np.where(is_digit, np.arange(n), -1), axis=1)  # where the last digit stands
    answered = ~is_digit & (latest >= 0)
    return ids, np.where(answered, np.take_along_axis(ids, latest, axis=1), NO_ANSWER)


TASKS: dict[str, Callable[[np.random.Generator, int, int], Sample]] = {
    "three back": three_back,
    "last digit": last_digit,
}


def text(ids: Int[np.ndarray, " n"]) -> str:
    """Write ids as symbols, with a dot where there is no answer."""
    return " ".join("·" if index == NO_ANSWER else SYMBOLS[index] for index in ids)

"""Eight cards, each with a letter and a digit; a question names some letters and wants their digits, in order."""

import numpy as np
from jaxtyping import Int

LETTERS = "ABCDEFGH"  # one card each
DIGITS = 10


def batch(
    rng: np.random.Generator, size: int, asked: int
) -> tuple[Int[np.ndarray, "size 8"], Int[np.ndarray, "size asked"], Int[np.ndarray, "size asked"]]:
    """Draw hands of cards and questions.

    Returns the digit of each card in the order of the letters, the different letters that are asked for (as numbers
    from 0), and their digits.

    >>> digits, letters, answers = batch(np.random.default_rng(0), size=1, asked=2)
    >>> " ".join(f"{letter}{digit}" for letter, digit in zip(LETTERS, digits[0])), [LETTERS[i] for i in letters[0]]
    ('A8 B6 C5 D2 E3 F0 G0 H0', ['G', 'C'])
    >>> answers.tolist()
    [[0, 5]]

    Raises:
        ValueError: if more letters are asked for than there are, or none.
    """
    if not 1 <= asked <= len(LETTERS):
        raise ValueError(f"asked: wanted 1 to {len(LETTERS)} letters, got {asked}")
    digits = rng.integers(DIGITS, size=(size, len(LETTERS)))
    shuffled = rng.permuted(np.tile(np.arange(len(LETTERS)), (size, 1)), axis=1)
    letters = shuffled[:, :asked]
    return digits, letters, np.take_along_axis(digits, letters, axis=1)

"""How many heads does it take to look up several cards at once? Models of equal size with 1, 2, 4, … heads.

A question is one token, the sum of a vector a letter asked for; it attends to eight cards, and what it finds is read
out by one linear map a letter asked for. In between stands either nothing or a feed-forward layer.
"""

import functools
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from course_lib.data import cards
from course_lib.model.attention import MultiHeadAttention
from course_lib.model.layers import FeedForward
from course_lib.training import fit, one_thread

D_MODEL = 32
BATCH, LEARNING_RATE = 64, 6e-3


class CardReader(nn.Module):
    """One attention layer of `h` heads between a question and the cards. Its size does not depend on `h`."""

    def __init__(self, h: int, asked: int, feed_forward: bool):
        super().__init__()
        self.letters = nn.Parameter(torch.randn(len(cards.LETTERS), D_MODEL))
        self.digits = nn.Parameter(torch.randn(cards.DIGITS, D_MODEL))
        self.questions = nn.Parameter(torch.randn(asked, len(cards.LETTERS), D_MODEL))
        self.attend = MultiHeadAttention(D_MODEL, h)
        self.feed_forward = FeedForward(D_MODEL, 2 * D_MODEL) if feed_forward else None
        self.read = nn.Parameter(torch.randn(asked, D_MODEL, cards.DIGITS) * D_MODEL**-0.5)

    def forward(self, digits: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
        """Return a logit a digit for each letter asked for: (batch, asked, digit)."""
        X_key = self.letters + self.digits[digits]  # (batch, card, d_model)
        places = torch.arange(letters.shape[1])
        X_query = self.questions[places, letters].sum(dim=1, keepdim=True)  # (batch, 1, d_model)
        found = self.attend(X_query, X_key)[:, 0]  # (batch, d_model)
        if self.feed_forward is not None:
            found = found + self.feed_forward(found)
        return torch.einsum("bd,adc->bac", found, self.read)


@functools.lru_cache(maxsize=64)
def all_right(h: int, asked: int, feed_forward: bool = False, seed: int = 0, steps: int = 250) -> float:
    """Train a reader and return the share of 2,000 new hands on which it gets every digit; a second call remembers."""
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CardReader(h, asked, feed_forward)

    def loss_of_step(_: int) -> torch.Tensor:
        digits, letters, answers = map(torch.from_numpy, cards.batch(rng, BATCH, asked))
        return nn.functional.cross_entropy(model(digits, letters).flatten(0, 1), answers.flatten())

    fit(model, loss_of_step, steps, LEARNING_RATE)
    digits, letters, answers = map(torch.from_numpy, cards.batch(rng, 2000, asked))
    with torch.no_grad(), one_thread():
        right = model(digits, letters).argmax(dim=-1) == answers  # (batch, asked)
    return float(right.all(dim=1).double().mean())


def by_heads(heads: Sequence[int], asked: int, feed_forward: bool = False, seeds: int = 3) -> dict[int, np.ndarray]:
    """Train a reader for each number of heads and each seed; returns what they get all right, one a seed."""
    return {h: np.array([all_right(h, asked, feed_forward, seed) for seed in range(seeds)]) for h in heads}


def parameters(h: int, asked: int, feed_forward: bool = False) -> int:
    """Count the numbers that a reader learns."""
    return sum(parameter.numel() for parameter in CardReader(h, asked, feed_forward).parameters())

"""Does it matter where the LayerNorm stands? Stacks of pre-LN and post-LN blocks learn to turn eight digits round.

The digits go in, and at each place a block stack must know the digit of the mirrored place. All matrices begin as
Xavier (Glorot and Bengio 2010) draws them; `start` makes the last matrix of each sub-layer smaller at the beginning,
so that the residual path has more say. Left out: warm-up, dropout, and any larger task.
"""

import functools
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.data import copying
from course_lib.model.attention import MultiHeadAttention
from course_lib.model.layers import FeedForward, PostLNBlock, PreLNBlock
from course_lib.training import fit, one_thread

ORDERS = {"pre": PreLNBlock, "post": PostLNBlock}
D_MODEL, H, DIGITS, BATCH = 32, 4, 8, 32
LEARNING_RATE = 3e-3


class Reverser(nn.Module):
    """Digits and places as vectors, N blocks, the final LayerNorm that pre-LN needs, and a logit for each digit."""

    def __init__(self, order: str, N: int, start: float = 1.0):
        super().__init__()
        if order not in ORDERS:
            raise ValueError(f"order: wanted one of {', '.join(ORDERS)}, got {order!r}")
        self.digits = nn.Parameter(torch.randn(copying.DIGITS, D_MODEL))
        self.places = nn.Parameter(torch.randn(DIGITS, D_MODEL))
        self.blocks = nn.ModuleList(
            ORDERS[order](MultiHeadAttention(D_MODEL, H), FeedForward(D_MODEL, 4 * D_MODEL), D_MODEL) for _ in range(N)
        )
        self.norm = nn.LayerNorm(D_MODEL) if order == "pre" else nn.Identity()
        self.out = nn.Linear(D_MODEL, copying.DIGITS)
        self._initialise(start)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.digits[ids] + self.places  # (batch, n, d_model)
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))  # (batch, n, digit)

    def _initialise(self, start: float) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        with torch.no_grad():
            for block in self.blocks:
                block.attend.W_O.weight.mul_(start)
                block.feed_forward[-1].weight.mul_(start)


def loss_of(model: Reverser, rng: np.random.Generator) -> Tensor:
    """Draw a batch and return the mean loss in nats."""
    ids = torch.from_numpy(copying.batch(rng, BATCH, DIGITS))
    return nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten())


def _begin(order: str, N: int, seed: int, start: float) -> tuple[Reverser, np.random.Generator]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Reverser(order, N, start), np.random.default_rng(seed)


@functools.lru_cache(maxsize=64)
def _losses(order: str, N: int, steps: int, seed: int, start: float) -> tuple[float, ...]:
    model, rng = _begin(order, N, seed, start)
    return tuple(fit(model, lambda _: loss_of(model, rng), steps, LEARNING_RATE))


def losses(order: str, N: int, steps: int = 160, start: float = 1.0, seeds: Sequence[int] = (0, 1, 2)) -> np.ndarray:
    """Train one stack of N blocks a seed; returns the loss of every step, (seed, step), in nats; remembered.

    Raises:
        ValueError: if `order` is neither pre nor post.
    """
    return np.array([_losses(order, N, steps, seed, start) for seed in seeds])


def loss_after(step: int, order: str, N: int, start: float = 1.0, seeds: Sequence[int] = (0, 1, 2)) -> np.ndarray:
    """Return the mean loss of the ten steps up to `step` for each seed, to two digits."""
    return losses(order, N, start=start, seeds=seeds)[:, step - 10 : step].mean(axis=1).round(2)


def first_gradients(order: str, N: int, seeds: Sequence[int] = (0, 1, 2)) -> np.ndarray:
    """Return for each seed, before any training, the size of the gradient in the first block over that in the last.

    Both are of the first matrix of the feed-forward layer. One means that the signal arrives undiminished.
    """
    ratios = []
    for seed in seeds:
        model, rng = _begin(order, N, seed, start=1.0)
        with one_thread():
            loss_of(model, rng).backward()
        first, last = (model.blocks[place].feed_forward[0].weight.grad.norm() for place in (0, -1))
        ratios.append(float(first / last))
    return np.array(ratios).round(3)

"""Does the scale matter when a model learns? One head looks values up, its scores divided by this or by that.

A batch is one query a row, so a run takes less than a second. Every vector has as many numbers as a key, and queries
and keys begin with unit variance, as the paper's footnote assumes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from course_lib.data import key_value
from course_lib.training import fit, one_thread

SGD = {"optimizer": partial(torch.optim.SGD, momentum=0.9), "learning_rate": 0.05, "clip": float("inf")}
ADAM = {"learning_rate": 1e-3}  # what `fit` does of itself: AdamW, gradients clipped to 1
OPTIMIZERS = {"SGD": SGD, "Adam": ADAM}
D_V = 32
LOOK_EVERY = 10  # steps from one measurement to the next


class Lookup(nn.Module):
    """Embed the keys, project them, attend from the key that is asked for, and read the value off the result."""

    def __init__(self, d_k: int, divisor: float):
        super().__init__()
        self.divisor = divisor
        self.key_vectors = nn.Parameter(torch.randn(key_value.KEYS, d_k))
        self.value_vectors = nn.Parameter(torch.randn(key_value.VALUES, D_V))
        self.W_Q = nn.Parameter(torch.randn(d_k, d_k) / d_k**0.5)
        self.W_K = nn.Parameter(torch.randn(d_k, d_k) / d_k**0.5)
        self.out = nn.Linear(D_V, key_value.VALUES)

    def forward(self, rows: key_value.Batch) -> torch.Tensor:
        keys, values, asked = map(torch.from_numpy, (rows.keys, rows.values, rows.asked))
        Q = (self.key_vectors @ self.W_Q)[asked]  # (size, d_k)
        K = (self.key_vectors @ self.W_K)[keys]  # (size, pairs, d_k)
        scores = torch.einsum("sd,spd->sp", Q, K) / self.divisor
        found = torch.einsum("sp,spv->sv", scores.softmax(dim=-1), self.value_vectors[values])  # (size, d_v)
        return self.out(found)


def accuracies(
    d_k: int,
    divisor: float,
    optimizer: str = "SGD",
    steps: int = 150,
    learning_rate: float | None = None,
    seeds: Sequence[int] = (0, 1, 2),
) -> np.ndarray:
    """Train one model a seed; returns the share of 512 new rows answered rightly, (seed, measurement).

    It is measured before the first step and after every tenth. Without a learning rate each optimizer has its own.

    Raises:
        ValueError: if `optimizer` is none of OPTIMIZERS.
    """
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"optimizer: wanted one of {', '.join(OPTIMIZERS)}, got {optimizer!r}")
    options = OPTIMIZERS[optimizer] | ({"learning_rate": learning_rate} if learning_rate else {})
    return np.array([_accuracies(d_k, divisor, options, steps, seed) for seed in seeds])


def _accuracies(d_k: int, divisor: float, options: dict[str, Any], steps: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = Lookup(d_k, divisor)
    unseen = key_value.batch(np.random.default_rng([seed, 1]), 512)
    measured = []

    def loss_of_step(step: int) -> torch.Tensor:
        if step % LOOK_EVERY == 0:
            measured.append(accuracy(model, unseen))
        rows = key_value.batch(rng, 32)
        return nn.functional.cross_entropy(model(rows), torch.from_numpy(rows.answers))

    fit(model, loss_of_step, steps, **options)
    return [*measured, accuracy(model, unseen)]


def accuracy(model: Callable[[key_value.Batch], torch.Tensor], rows: key_value.Batch) -> float:
    """Return the share of rows whose most likely answer is right."""
    with torch.no_grad(), one_thread():
        return float((model(rows).argmax(dim=-1).numpy() == rows.answers).mean())

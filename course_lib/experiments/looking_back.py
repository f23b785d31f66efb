"""What happens beyond the trained length? Models trained on 16 tokens look back in sequences of up to 128."""

import functools

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.data import looking_back
from course_lib.experiments.positions import SmallTransformer
from course_lib.training import fit, one_thread

TRAINED = 16  # tokens in a sequence while training
STRETCHES = {"9–16": (8, 16), "17–32": (16, 32), "33–64": (32, 64), "65–128": (64, 128)}  # tokens, counted from 1


class LookBack(nn.Module):
    """One causal block, and at every token a logit for each symbol."""

    def __init__(self, scheme: str):
        super().__init__()
        self.tokens = SmallTransformer(scheme, len(looking_back.SYMBOLS), causal=True)
        self.out = nn.Linear(self.tokens.norm.normalized_shape[0], len(looking_back.SYMBOLS))

    def forward(self, ids: Tensor) -> Tensor:
        return self.out(self.tokens(ids))  # (batch, n, symbol)


@functools.lru_cache(maxsize=128)
def accuracy(task: str, scheme: str, seed: int = 0, steps: int = 130) -> tuple[float, ...]:
    """Train one model on sequences of 16 and return its right answers by stretch of longer ones; remembered."""
    draw = looking_back.TASKS[task]
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LookBack(scheme)

    def loss_of_step(_: int) -> Tensor:
        ids, targets = map(torch.from_numpy, draw(rng, 24, TRAINED))
        return nn.functional.cross_entropy(
            model(ids).flatten(0, 1), targets.flatten(), ignore_index=looking_back.NO_ANSWER
        )

    fit(model, loss_of_step, steps, learning_rate=5e-3)
    ids, targets = draw(np.random.default_rng([seed, 1]), 64, max(end for _, end in STRETCHES.values()))
    with torch.no_grad(), one_thread():
        guesses = model(torch.from_numpy(ids)).argmax(dim=-1).numpy()
    right = np.where(targets == looking_back.NO_ANSWER, np.nan, guesses == targets)
    return tuple(float(np.nanmean(right[:, start:end])) for start, end in STRETCHES.values())


def by_length(task: str, scheme: str, seeds: int = 3) -> np.ndarray:
    """Train one model a seed; returns right answers, (seed, stretch), by the `STRETCHES` of longer sequences."""
    return np.array([accuracy(task, scheme, seed) for seed in range(seeds)])

"""Can a model tell who eats whom? One block, the mean over its tokens, and a logit for each noun."""

import functools

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.data import word_order
from course_lib.experiments.positions import SmallTransformer
from course_lib.training import fit, one_thread


class FirstNoun(nn.Module):
    """Average what the block returns for the three words, and read the noun that came first off the average."""

    def __init__(self, scheme: str, causal: bool):
        super().__init__()
        self.tokens = SmallTransformer(scheme, len(word_order.VOCABULARY), causal)
        self.out = nn.Linear(self.tokens.norm.normalized_shape[0], len(word_order.NOUNS))

    def forward(self, ids: Tensor) -> Tensor:
        return self.out(self.tokens(ids).mean(dim=1))  # (batch, noun)


@functools.lru_cache(maxsize=64)
def accuracy(scheme: str, causal: bool = False, seed: int = 0, steps: int = 80) -> float:
    """Train one model and return the share of held-out sentences whose first noun it names; a second call remembers."""
    learnt, held_out = map(torch.from_numpy, word_order.sentences(seed))
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = FirstNoun(scheme, causal)

    def loss_of_step(_: int) -> Tensor:
        rows = learnt[torch.from_numpy(rng.integers(len(learnt), size=64))]
        return nn.functional.cross_entropy(model(rows), rows[:, 0])

    fit(model, loss_of_step, steps, learning_rate=5e-3)
    with torch.no_grad(), one_thread():
        return float((model(held_out).argmax(dim=-1) == held_out[:, 0]).double().mean())


def accuracies(scheme: str, causal: bool = False, seeds: int = 3) -> np.ndarray:
    """Train one model a seed and return their accuracies on held-out sentences."""
    return np.array([accuracy(scheme, causal, seed) for seed in range(seeds)])

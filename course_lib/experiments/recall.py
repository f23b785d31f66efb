"""Who still knows the first token at the end? A recurrent network, an LSTM and attention, trained on recall.

All three embed the tokens, mix them, and read the answer off the last position. Attention has four heads and neither
positions nor masks; with fewer heads, or beyond 300 tokens, some runs let one symbol of the eight go by unseen.
"""

import math

import numpy as np
import torch
from torch import nn

from course_lib.data import recall
from course_lib.training import fit, one_thread

KINDS = ("RNN", "LSTM", "attention")


class LastOfRecurrent(nn.Module):
    """The last state of a recurrent layer."""

    def __init__(self, layer: nn.RNN | nn.LSTM):
        super().__init__()
        self.layer = layer

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        states, _ = self.layer(X)  # (batch, n, d)
        return states[:, -1]


class LastOfAttention(nn.Module):
    """What four heads bring to the last token: the only row of the attention that the answer is read from."""

    def __init__(self, d_model: int, h: int = 4):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        batch, _n, d_model = X.shape
        last = X[:, -1:]
        Q, K, V = (
            W(tokens).view(batch, -1, self.h, d_model // self.h).transpose(1, 2)  # (batch, head, query or key, d_k)
            for W, tokens in ((self.W_Q, last), (self.W_K, X), (self.W_V, X))
        )
        scores = Q @ K.transpose(-2, -1) / math.sqrt(d_model // self.h)  # (batch, head, 1, key)
        heads = scores.softmax(dim=-1) @ V  # (batch, head, 1, d_v)
        return X[:, -1] + self.W_O(heads.transpose(1, 2).reshape(batch, d_model))


class Reader(nn.Module):
    """Embed, mix by one of the `KINDS`, and give a logit a symbol."""

    def __init__(self, kind: str, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(recall.VOCABULARY, d_model)
        self.mixer = _mixer(kind, d_model)
        self.out = nn.Linear(d_model, recall.SYMBOLS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.answer(self.embedding(ids))

    def answer(self, X: torch.Tensor) -> torch.Tensor:
        """Go from embedded tokens to logits."""
        return self.out(self.mixer(X))


def _mixer(kind: str, d_model: int) -> nn.Module:
    if kind == "RNN":
        return LastOfRecurrent(nn.RNN(d_model, d_model, batch_first=True))
    if kind == "LSTM":
        layer = nn.LSTM(d_model, d_model, batch_first=True)
        with torch.no_grad():  # the forget gate's bias at one: it starts by keeping (Jozefowicz et al. 2015)
            layer.bias_ih_l0[d_model : 2 * d_model] = 1.0
        return LastOfRecurrent(layer)
    if kind == "attention":
        return LastOfAttention(d_model)
    raise ValueError(f"kind: wanted one of {', '.join(KINDS)}, got {kind!r}")


def accuracy(kind: str, distance: int, steps: int = 100, seed: int = 0, size: int = 32, d_model: int = 64) -> float:
    """Train a reader for so many steps and return the share of 512 new sequences that it answers rightly."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = Reader(kind, d_model)

    def loss_of_step(_: int) -> torch.Tensor:
        ids, targets = map(torch.from_numpy, recall.batch(rng, size, distance))
        return nn.functional.cross_entropy(model(ids), targets)

    fit(model, loss_of_step, steps)
    ids, targets = map(torch.from_numpy, recall.batch(rng, 512, distance))
    with torch.no_grad(), one_thread():
        return float((model(ids).argmax(dim=-1) == targets).double().mean())


def accuracies(kind: str, distances: list[int], steps: int = 100, seeds: int = 3) -> dict[int, np.ndarray]:
    """Train one reader a seed and distance; returns by distance the accuracies, one a seed."""
    return {
        distance: np.array([accuracy(kind, distance, steps, seed) for seed in range(seeds)]) for distance in distances
    }


def verdict(kind: str, distance: int, steps: int = 100, seeds: int = 3) -> str:
    """Say in words how several runs end, for their accuracies differ from machine to machine in the second digit."""
    found = accuracies(kind, [distance], steps, seeds)[distance]
    if min(found) > 0.8:
        return "right in every run"
    return "often wrong in every run" if max(found) < 0.8 else "right in some runs"


def first_token_gradient(kind: str, distance: int, seed: int = 0, d_model: int = 64) -> float:
    """Return the norm of the loss's gradient at the embedded first token, before any training.

    Computed in double precision, for in single precision what is left of it soon is 0. The mean over 64 sequences.
    """
    torch.manual_seed(seed)
    model = Reader(kind, d_model).double()
    ids, targets = map(torch.from_numpy, recall.batch(np.random.default_rng(seed), 64, distance))
    with one_thread():
        X = model.embedding(ids).detach().requires_grad_()
        nn.functional.cross_entropy(model.answer(X), targets, reduction="sum").backward()
    return float(X.grad[:, 0].norm(dim=-1).mean())


def first_token_gradients(kind: str, distances: list[int], seeds: int = 3) -> dict[int, np.ndarray]:
    """Return by distance the gradients at the first token before training, one a seed."""
    return {
        distance: np.array([first_token_gradient(kind, distance, seed) for seed in range(seeds)])
        for distance in distances
    }

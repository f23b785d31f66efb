"""The bottleneck: a string of digits must pass through one vector, and come out again.

An encoder (GRU) reads the string; a decoder (GRU) starts from the encoder's last state and writes. With attention it
may also look back at every state of the encoder. Follows Sutskever et al. 2014 and Luong et al. 2015, in miniature;
both models are told the place of each digit, without which attention takes far longer to find it.
"""

import numpy as np
import torch
from torch import nn

from course_lib.data import copying
from course_lib.training import fit, one_thread


class Copier(nn.Module):
    """A GRU that reads and a GRU that writes, `d` wide; `attends` lets the second look at every state of the first."""

    def __init__(self, d: int, attends: bool):
        super().__init__()
        self.attends = attends
        self.embedding = nn.Embedding(copying.VOCABULARY, 32)
        self.place = nn.Embedding(copying.LONGEST, 32)
        self.encoder = nn.GRU(32, d, batch_first=True)
        self.decoder = nn.GRU(32, d, batch_first=True)
        self.W_Q = nn.Linear(d, d, bias=False)
        self.out = nn.Linear(2 * d if attends else d, copying.DIGITS)

    def forward(self, sources: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        memory, vector = self.encoder(self._embedded(sources))  # (batch, n, d), and the last state alone
        states, _ = self.decoder(self._embedded(written), vector)  # (batch, n, d)
        if self.attends:
            weights = (self.W_Q(states) @ memory.transpose(-2, -1)).softmax(dim=-1)  # (batch, query, key)
            states = torch.cat([states, weights @ memory], dim=-1)  # (batch, n, 2 d)
        return self.out(states)

    def _embedded(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embedding(ids) + self.place.weight[: ids.shape[1]]  # (batch, n, 32)


def exact_by_length(
    lengths: list[int], d: int = 64, attends: bool = False, steps: int = 200, longest: int = 10, seed: int = 0
) -> np.ndarray:
    """Train on lengths 1 to `longest`; return by length the share of 256 new strings copied without an error."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = Copier(d, attends)

    def loss_of_step(_: int) -> torch.Tensor:
        sources = _strings(rng, 64, int(rng.integers(1, longest + 1)))
        logits = model(sources, _shifted(sources))
        return nn.functional.cross_entropy(logits.flatten(0, 1), sources.flatten())

    fit(model, loss_of_step, steps, learning_rate=1e-2)
    return np.array([_exact(model, rng, length) for length in lengths])


def copied(lengths: list[int], d: int, attends: bool = False, seeds: int = 3) -> dict[int, np.ndarray]:
    """Return by length the shares of strings copied without an error, one a seed."""
    rows = np.array([exact_by_length(lengths, d, attends, seed=seed) for seed in range(seeds)])  # (seed, length)
    return dict(zip(lengths, rows.T, strict=True))


def _exact(model: Copier, rng: np.random.Generator, length: int) -> float:
    """Write each string digit by digit, each from what was written before, and compare it with the source."""
    sources = _strings(rng, 256, length)
    written = torch.full((256, 1), copying.START)
    with torch.no_grad(), one_thread():
        for _ in range(length):
            best = model(sources, written)[:, -1].argmax(dim=-1, keepdim=True)
            written = torch.cat([written, best], dim=1)
    return float((written[:, 1:] == sources).all(dim=1).double().mean())


def _strings(rng: np.random.Generator, size: int, length: int) -> torch.Tensor:
    return torch.from_numpy(copying.batch(rng, size, length))


def _shifted(targets: torch.Tensor) -> torch.Tensor:
    """What the decoder reads while it learns: the start, then the right digits but the last."""
    start = torch.full((len(targets), 1), copying.START)
    return torch.cat([start, targets[:, :-1]], dim=1)

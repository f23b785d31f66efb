"""How long does one sequence take? Forward and backward, on one CPU thread, by its length.

A measurement, not a definition: what is compared is PyTorch's own recurrent layers and attention written out.
"""

import time
from collections.abc import Callable

import torch
from torch import nn

from course_lib.training import one_thread

KINDS = ("RNN", "LSTM", "attention")


def seconds(kind: str, n: int, d: int = 64, repeats: int = 3) -> float:
    """Return the seconds of one pass forward and backward over n tokens of width d: the best of so many repeats.

    Raises:
        ValueError: if there is no such kind.
    """
    torch.manual_seed(0)
    one_pass = _one_pass(kind, n, d)
    with one_thread():
        one_pass()  # the first call also sets things up
        return min(_clocked(one_pass) for _ in range(repeats))


def times(lengths: list[int], d: int = 64) -> dict[str, dict[int, float]]:
    """Return the milliseconds of one pass, by kind and length."""
    return {kind: {n: 1000 * seconds(kind, n, d) for n in lengths} for kind in KINDS}


def growth(by_length: dict[int, float]) -> float:
    """Return by what factor the time grows between the two greatest lengths.

    >>> growth({64: 1.0, 256: 2.0, 1024: 8.0})
    4.0
    """
    second, first = sorted(by_length)[-2:]
    return by_length[first] / by_length[second]


def _clocked(one_pass: Callable[[], None]) -> float:
    begun = time.perf_counter()
    one_pass()
    return time.perf_counter() - begun


def _one_pass(kind: str, n: int, d: int) -> Callable[[], None]:
    X = torch.randn(1, n, d, requires_grad=True)
    if kind == "attention":
        layers = nn.ModuleList(nn.Linear(d, d, bias=False) for _ in range(4))

        def output() -> torch.Tensor:
            W_Q, W_K, W_V, W_O = layers
            scores = W_Q(X) @ W_K(X).transpose(-2, -1) / d**0.5  # (1, query, key)
            return W_O(scores.softmax(dim=-1) @ W_V(X))  # (1, query, d)

    elif kind in ("RNN", "LSTM"):
        layer = getattr(nn, kind)(d, d, batch_first=True)

        def output() -> torch.Tensor:
            return layer(X)[0]  # (1, n, d)

    else:
        raise ValueError(f"kind: wanted one of {', '.join(KINDS)}, got {kind!r}")

    def one_pass() -> None:
        output().sum().backward()

    return one_pass

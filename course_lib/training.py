"""The one training loop of the small experiments: AdamW unless told otherwise, clipping, one thread.

Two threads on two busy cores made the same 300 steps twenty times slower, so a model of this size always runs on one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block on one CPU thread and give the former number back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def fit(
    model: torch.nn.Module,
    loss_of_step: Callable[[int], torch.Tensor],
    steps: int,
    learning_rate: float = 3e-3,
    clip: float = 1.0,
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.AdamW,
) -> list[float]:
    """Train `model` for so many steps and return the loss of each, in nats.

    `loss_of_step(step)` draws a batch and returns its mean loss. Gradients are clipped to the norm `clip`. `optimizer`
    makes the optimizer from the parameters and `lr`.

    >>> model = torch.nn.Linear(1, 1)
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> losses = fit(model, lambda step: ((model(x) - 3 * x) ** 2).mean(), steps=300, learning_rate=0.1)
    >>> losses[-1] < 0.01 < losses[0]
    True

    Raises:
        ValueError: if `steps` is negative.
        FloatingPointError: if a loss is not finite; the message names the step.
    """
    if steps < 0:
        raise ValueError(f"steps: wanted 0 or more, got {steps}")
    chosen = optimizer(model.parameters(), lr=learning_rate)
    losses = []
    with one_thread():
        model.train()
        for step in range(steps):
            loss = loss_of_step(step)
            if not torch.isfinite(loss):
                raise FloatingPointError(f"loss: wanted a finite number at step {step}, got {loss.item()}")
            chosen.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            chosen.step()
            losses.append(loss.item())
        model.eval()
    return losses

"""Positions in PyTorch, as in `reference/positions.py`: the sinusoids as a table, a learned table, and rotation."""

import torch
from torch import Tensor, nn


class SinusoidalPositions(nn.Module):
    """Add the paper's sines and cosines (section 3.5). Nothing is learned and nothing saved with the weights."""

    def __init__(self, longest: int, d_model: int):
        super().__init__()
        positions = torch.arange(longest, dtype=torch.float64)[:, None]
        even = torch.arange(0, d_model, 2, dtype=torch.float64)
        angles = positions / 10000 ** (even / d_model)  # (position, ⌈d_model / 2⌉), in float64 for the far positions
        table = torch.empty(longest, d_model, dtype=torch.float64)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()[:, : d_model // 2]
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)

    def forward(self, X: Tensor, start: int = 0) -> Tensor:
        """Return X plus the rows of its positions, the first of which is `start`: (batch, n, d_model)."""
        return X + _rows(self.table, X.shape[1], start).to(X.dtype)


class LearnedPositions(nn.Module):
    """Add a row for each position that is learned like an embedding (Vaswani et al. 2017, table 3, row E)."""

    def __init__(self, longest: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(torch.randn(longest, d_model) * 0.02)

    def forward(self, X: Tensor, start: int = 0) -> Tensor:
        """Return X plus the rows of its positions, the first of which is `start`: (batch, n, d_model)."""
        return X + _rows(self.table, X.shape[1], start)


def _rows(table: Tensor, n: int, start: int) -> Tensor:
    if start + n > len(table):
        raise ValueError(f"X: wanted positions below {len(table)}, the longest of the table, got up to {start + n - 1}")
    return table[start : start + n]


def rotate(X: Tensor, start: int = 0) -> Tensor:
    """Turn each pair of neighbouring numbers of X (…, n, d_k) by an angle that grows with the position (rotary).

    Raises:
        ValueError: if `d_k` is odd.
    """
    n, d_k = X.shape[-2:]
    if d_k % 2:
        raise ValueError(f"X: wanted an even d_k, since numbers turn in pairs, got {d_k}")
    positions = torch.arange(start, start + n, dtype=torch.float64, device=X.device)
    even = torch.arange(0, d_k, 2, dtype=torch.float64, device=X.device)
    angles = positions[:, None] / 10000 ** (even / d_k)  # (position, d_k / 2)
    cos, sin = angles.cos().to(X.dtype), angles.sin().to(X.dtype)
    first, second = X[..., 0::2], X[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

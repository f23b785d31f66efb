"""Positions in NumPy: the paper's sinusoids, rotary positions and ALiBi's slopes.

Sinusoids follow Vaswani et al. 2017, section 3.5; rotary positions Su et al. 2021 (RoFormer), section 3.2, with the
pairs interleaved as there; ALiBi Press et al. 2022, section 3.
"""

import numpy as np
from jaxtyping import Float, Int


def sinusoidal_positions(n: int, d_model: int) -> Float[np.ndarray, "n d_model"]:
    """Write each position as sines and cosines of slower and slower frequencies, sine and cosine in turn.

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)) and PE(pos, 2i + 1) the cosine of the same. With an odd `d_model` the
    last sine has no cosine beside it.

    >>> sinusoidal_positions(2, 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    """
    positions = np.arange(n)[:, None]  # (position, 1)
    even = np.arange(0, d_model, 2)  # 2i, (⌈d_model / 2⌉,)
    angles = positions / 10000 ** (even / d_model)  # (position, ⌈d_model / 2⌉)
    P = np.empty((n, d_model))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)[:, : d_model // 2]
    return P


def add_positions(
    X: Float[np.ndarray, "batch n d_model"], P: Float[np.ndarray, "longest d_model"]
) -> Float[np.ndarray, "batch n d_model"]:
    """Add to each token the row of its position, the same for every sequence of the batch.

    >>> add_positions(np.zeros((1, 2, 4)), sinusoidal_positions(5, 4))[0, 1].round(2)
    array([0.84, 0.54, 0.01, 1.  ])

    Raises:
        ValueError: if the sequences are longer than `P` has rows.
    """
    n = X.shape[1]
    if n > len(P):
        raise ValueError(f"X: wanted at most {len(P)} positions, as many as P has rows, got {n}")
    return X + P[:n]


def rotate(
    X: Float[np.ndarray, "*batch n d_k"], positions: Int[np.ndarray, " n"] | None = None
) -> Float[np.ndarray, "*batch n d_k"]:
    """Turn each pair of neighbouring numbers by an angle that grows with the position, so that q·k sees only distances.

    Rotary positions: pair i of position p turns by p / 10000^(2i / d_k). `positions` are 0, 1, 2, … if not given.

    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]])).round(2)  # the second row is turned by one radian
    array([[1.  , 0.  ],
           [0.54, 0.84]])

    Raises:
        ValueError: if `d_k` is odd.
    """
    n, d_k = X.shape[-2:]
    if d_k % 2:
        raise ValueError(f"X: wanted an even d_k, since numbers turn in pairs, got {d_k}")
    p = np.arange(n) if positions is None else positions
    angles = p[:, None] / 10000 ** (np.arange(0, d_k, 2) / d_k)  # (position, d_k / 2)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = X[..., 0::2], X[..., 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)  # (*batch, n, d_k / 2, 2)
    return turned.reshape(X.shape)


def alibi_bias(n: int, h: int) -> Float[np.ndarray, "head query key"]:
    """Take from each score an amount that grows with the distance, by another slope in each head.

    Head i of h (from 1) has the slope 2^(−8i / h). The bias is symmetric; a causal mask hides the part to the right.

    >>> alibi_bias(3, h=8)[0]  # slope one half
    array([[-0. , -0.5, -1. ],
           [-0.5, -0. , -0.5],
           [-1. , -0.5, -0. ]])
    """
    distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])  # (query, key)
    slopes = 2.0 ** (-8 * np.arange(1, h + 1) / h)  # (head,)
    return -slopes[:, None, None] * distance

"""Masks: who may look at whom. True means "may attend", and a mask broadcasts to (batch, query, key).

Libraries contradict each other here: in PyTorch, `scaled_dot_product_attention` means the same as we do by True, and
`nn.MultiheadAttention` the opposite.
"""

import numpy as np
from jaxtyping import Bool, Int


def causal_mask(n: int) -> Bool[np.ndarray, "n n"]:
    """Let every position look at itself and at those before it.

    Vaswani et al. 2017, section 3.2.3.

    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])

    Raises:
        ValueError: if `n` is negative.
    """
    if n < 0:
        raise ValueError(f"n: wanted 0 or more positions, got {n}")
    return np.tril(np.ones((n, n), dtype=bool))


def padding_mask(ids: Int[np.ndarray, "batch key"], pad_id: int) -> Bool[np.ndarray, "batch 1 key"]:
    """Let every query look at the real tokens of its own sequence, and at no padding.

    The axis of length one stands for the queries: it is the same for all of them.

    >>> padding_mask(np.array([[7, 8, 0], [9, 0, 0]]), pad_id=0).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 0, 0]]])
    """
    return (ids != pad_id)[:, None, :]

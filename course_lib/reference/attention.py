"""Attention in NumPy: the softmax, the soft lookup for one query, and equation 1 of the paper.

Follows Vaswani et al. 2017, section 3.2.1. Leaves out heads (see the lesson on multi-head attention) and speed.
"""

import numpy as np
from jaxtyping import Bool, Float


def softmax(x: Float[np.ndarray, "*axes"], axis: int = -1) -> Float[np.ndarray, "*axes"]:
    """Turn scores into positive weights that sum to one along `axis`.

    The largest score is taken away first: that changes nothing in the result, and exp cannot overflow.

    >>> softmax(np.array([0.0, np.log(3.0)])).round(2)
    array([0.25, 0.75])
    """
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def soft_lookup(
    query: Float[np.ndarray, " d_k"], keys: Float[np.ndarray, "n d_k"], values: Float[np.ndarray, "n d_v"]
) -> Float[np.ndarray, " d_v"]:
    """Return the average of the values, each weighted by how well its key matches the query.

    >>> keys, values = np.eye(2), np.array([[10.0], [20.0]])
    >>> soft_lookup(np.array([np.log(3.0), 0.0]), keys, values)  # three parts of the first, one of the second
    array([12.5])
    """
    scores = keys @ query  # (n,)
    weights = softmax(scores)  # (n,)
    return weights @ values  # (d_v,)


def attention(
    Q: Float[np.ndarray, "*batch query d_k"],
    K: Float[np.ndarray, "*batch key d_k"],
    V: Float[np.ndarray, "*batch key d_v"],
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float[np.ndarray, "*batch query d_v"]:
    """Look every query up in the keys and return the weighted averages of the values.

    Vaswani et al. 2017, equation 1: softmax(Q Kᵀ / √d_k) V. `mask` broadcasts to the scores, and True means "may
    attend". A query that may attend to nothing gets the plain mean of the values, a finite answer that no softmax of
    −∞ would give.

    >>> attention(np.array([[0.0, 1.0]]), np.eye(2), np.array([[1.0], [3.0]])).round(2)
    array([[2.34]])

    Raises:
        ValueError: if Q and K differ in d_k, or K and V in their number of rows.
    """
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q and K: wanted the same d_k, got Q {Q.shape} and K {K.shape}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V: wanted a value for each key, got K {K.shape} and V {V.shape}")
    d_k = Q.shape[-1]
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(d_k)  # (*batch, query, key)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores)  # (*batch, query, key)
    return weights @ V  # (*batch, query, d_v)

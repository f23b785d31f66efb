"""Multi-head attention in NumPy: split, attend, merge, project.

Follows Vaswani et al. 2017, section 3.2.2. The weights of all heads stand side by side in one matrix: the columns
i·d_k to (i + 1)·d_k of W_Q are the paper's W_Q of head i.
"""

import numpy as np
from jaxtyping import Bool, Float

from course_lib.reference.attention import attention


def split_heads(X: Float[np.ndarray, "batch n d_model"], h: int) -> Float[np.ndarray, "batch head n d_k"]:
    """Cut the last axis into `h` equal pieces and bring the pieces, as an axis of heads, before the positions.

    >>> split_heads(np.arange(8.0).reshape(1, 2, 4), h=2)[0, 0]  # the first head has the first two numbers of each row
    array([[0., 1.],
           [4., 5.]])

    Raises:
        ValueError: if `h` does not divide the last axis.
    """
    batch, n, d_model = X.shape
    if h < 1 or d_model % h:
        raise ValueError(f"h: wanted a number of heads that divides d_model = {d_model}, got {h}")
    pieces = X.reshape(batch, n, h, d_model // h)  # (batch, n, head, d_k)
    return pieces.swapaxes(1, 2)  # (batch, head, n, d_k)


def merge_heads(X: Float[np.ndarray, "batch head n d_v"]) -> Float[np.ndarray, "batch n h_d_v"]:
    """Put the heads of each position side by side again: the inverse of `split_heads`.

    >>> merge_heads(split_heads(np.arange(8.0).reshape(1, 2, 4), h=2))[0]
    array([[0., 1., 2., 3.],
           [4., 5., 6., 7.]])
    """
    batch, h, n, d_v = X.shape
    pieces = X.swapaxes(1, 2)  # (batch, n, head, d_v)
    return pieces.reshape(batch, n, h * d_v)  # (batch, n, h * d_v)


def multi_head_attention(
    X_query: Float[np.ndarray, "batch query d_model"],
    X_key: Float[np.ndarray, "batch key d_model"],
    W_Q: Float[np.ndarray, "d_model h_d_k"],
    W_K: Float[np.ndarray, "d_model h_d_k"],
    W_V: Float[np.ndarray, "d_model h_d_v"],
    W_O: Float[np.ndarray, "h_d_v d_model"],
    h: int,
    mask: Bool[np.ndarray, "..."] | None = None,
) -> Float[np.ndarray, "batch query d_model"]:
    """Project to queries, keys and values, attend in each head, put the heads side by side, and project once more.

    Vaswani et al. 2017, section 3.2.2. Queries come from `X_query`, keys and values from `X_key`; for self-attention
    they are the same array. `mask` broadcasts to (batch, query, key), is the same for every head, and True means "may
    attend".

    >>> X, identity = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.eye(2)
    >>> multi_head_attention(X, X, identity, identity, identity, identity, h=2).round(2)  # each head sees one number
    array([[[0.73, 0.5 ],
            [0.5 , 0.73]]])

    Raises:
        ValueError: if `h` does not divide the widths of the projections.
    """
    Q = split_heads(X_query @ W_Q, h)  # (batch, head, query, d_k)
    K = split_heads(X_key @ W_K, h)  # (batch, head, key, d_k)
    V = split_heads(X_key @ W_V, h)  # (batch, head, key, d_v)
    if mask is not None:
        mask = np.expand_dims(mask, -3)  # (batch, 1, query, key): the same for every head
    heads = attention(Q, K, V, mask)  # (batch, head, query, d_v)
    return merge_heads(heads) @ W_O  # (batch, query, d_model)

"""The rest of a transformer block in NumPy: LayerNorm, the feed-forward layer, and both ways to wire them.

The feed-forward layer and the post-LN block follow Vaswani et al. 2017, sections 3.3 and 3.1; LayerNorm follows Ba et
al. 2016; the pre-LN block is the order of most later models (Xiong et al. 2020).
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

Tokens = Float[np.ndarray, "*batch n d_model"]
TokenFunction = Callable[[np.ndarray], np.ndarray]  # from and to (*batch, n, d_model)


def layer_norm(
    x: Float[np.ndarray, "*batch d_model"],
    gain: Float[np.ndarray, " d_model"],
    bias: Float[np.ndarray, " d_model"],
    eps: float = 1e-5,
) -> Float[np.ndarray, "*batch d_model"]:
    """Shift and scale each token to mean zero and variance one over its own numbers, then apply gain and bias.

    The variance is the mean square (divided by d_model, not d_model − 1), and `eps` stands under the root.

    >>> layer_norm(np.array([1.0, 3.0]), np.ones(2), np.zeros(2)).round(2)
    array([-1.,  1.])
    """
    mean = x.mean(axis=-1, keepdims=True)  # (*batch, 1)
    variance = x.var(axis=-1, keepdims=True)  # (*batch, 1)
    normal = (x - mean) / np.sqrt(variance + eps)  # (*batch, d_model)
    return gain * normal + bias


def feed_forward(
    x: Float[np.ndarray, "*batch d_model"],
    W_1: Float[np.ndarray, "d_model d_ff"],
    b_1: Float[np.ndarray, " d_ff"],
    W_2: Float[np.ndarray, "d_ff d_model"],
    b_2: Float[np.ndarray, " d_model"],
) -> Float[np.ndarray, "*batch d_model"]:
    """Widen each token, cut what is negative, and bring it back to its width: max(0, x W_1 + b_1) W_2 + b_2.

    Vaswani et al. 2017, equation 2.

    >>> feed_forward(np.array([1.0, -1.0]), np.eye(2), np.zeros(2), np.eye(2), np.array([0.5, 0.5]))
    array([1.5, 0.5])
    """
    hidden = np.maximum(0, x @ W_1 + b_1)  # (*batch, d_ff)
    return hidden @ W_2 + b_2  # (*batch, d_model)


def pre_ln_block(
    x: Tokens, attend: TokenFunction, feed_forward: TokenFunction, norm_1: TokenFunction, norm_2: TokenFunction
) -> Tokens:
    """Add to each token what attention finds, then what the feed-forward layer makes; each sees a normalised copy.

    >>> double, same = (lambda x: 2 * x), (lambda x: x)
    >>> pre_ln_block(np.ones((1, 2)), double, double, same, same)  # 1 + 2 = 3, then 3 + 6 = 9
    array([[9., 9.]])
    """
    x = x + attend(norm_1(x))  # (*batch, n, d_model)
    return x + feed_forward(norm_2(x))  # (*batch, n, d_model)


def post_ln_block(
    x: Tokens, attend: TokenFunction, feed_forward: TokenFunction, norm_1: TokenFunction, norm_2: TokenFunction
) -> Tokens:
    """The paper's own order: LayerNorm(x + Sublayer(x)), for attention and then for the feed-forward layer.

    >>> double, halve = (lambda x: 2 * x), (lambda x: x / 2)
    >>> post_ln_block(np.ones((1, 2)), double, double, halve, halve)  # (1 + 2) / 2 = 1.5, then (1.5 + 3) / 2
    array([[2.25, 2.25]])
    """
    x = norm_1(x + attend(x))  # (*batch, n, d_model)
    return norm_2(x + feed_forward(x))  # (*batch, n, d_model)

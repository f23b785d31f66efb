"""Multi-head attention in PyTorch, on `scaled_dot_product_attention`: the trainable twin of `reference/heads.py`.

A mask is boolean and True means "may attend", as everywhere in this course; `nn.MultiheadAttention` means the opposite.
A query that may attend to nothing gets the plain mean of the values, as in the reference, and never NaN.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """Project to queries, keys and values, attend in each head, put the heads side by side, and project once more.

    Vaswani et al. 2017, section 3.2.2. `d_k` and `d_v` are d_model / h unless given.

    Raises:
        ValueError: if `d_k` or `d_v` is not given and `h` does not divide `d_model`.
    """

    def __init__(
        self,
        d_model: int,
        h: int,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        if (d_k is None or d_v is None) and d_model % h:
            raise ValueError(f"h: wanted a number of heads that divides d_model = {d_model}, got {h}")
        self.h = h
        self.d_k = d_k if d_k is not None else d_model // h
        self.d_v = d_v if d_v is not None else d_model // h
        self.dropout = dropout  # of the attention weights; the paper has none there
        self.W_Q = nn.Linear(d_model, h * self.d_k, bias=bias)
        self.W_K = nn.Linear(d_model, h * self.d_k, bias=bias)
        self.W_V = nn.Linear(d_model, h * self.d_v, bias=bias)
        self.W_O = nn.Linear(h * self.d_v, d_model, bias=bias)

    def forward(
        self,
        X_query: Tensor,
        X_key: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
        cache: "Cache | None" = None,
    ) -> Tensor:
        """Return (batch, query, d_model). `mask` broadcasts to (batch, query, key); `is_causal` is a fast mask.

        With a `cache`, self-attention (no `X_key`) adds the new tokens' keys and values to those kept so far, and
        cross-attention computes them once.
        """
        Q = split_heads(self.W_Q(X_query), self.h)  # (batch, head, query, d_k)
        if cache is not None and cache.K is not None and X_key is not None:
            K, V = cache.K, cache.V  # the memory of a finished source does not change
        else:
            K, V = self.keys_and_values(X_query if X_key is None else X_key)
            if cache is not None:
                K, V = cache.extend(K, V)
        bias = None if mask is None else additive_mask(mask, Q.dtype)
        dropout = self.dropout if self.training else 0.0
        heads = scaled_dot_product_attention(Q, K, V, bias, dropout_p=dropout, is_causal=is_causal)
        return self.W_O(merge_heads(heads))  # (batch, query, d_model)

    def keys_and_values(self, X_key: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys (batch, head, key, d_k) and the values (batch, head, key, d_v)."""
        return split_heads(self.W_K(X_key), self.h), split_heads(self.W_V(X_key), self.h)

    def weights(self, X_query: Tensor, X_key: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Return the attention weights, (batch, head, query, key), which the fast path of `forward` never makes."""
        X_key = X_query if X_key is None else X_key
        Q = split_heads(self.W_Q(X_query), self.h)  # (batch, head, query, d_k)
        K = split_heads(self.W_K(X_key), self.h)  # (batch, head, key, d_k)
        scores = Q @ K.transpose(-2, -1) / self.d_k**0.5  # (batch, head, query, key)
        if mask is not None:
            scores = scores + additive_mask(mask, Q.dtype)
        return scores.softmax(dim=-1)


class Cache:
    """The keys and values of the tokens that one attention has seen, so that none is computed twice."""

    def __init__(self) -> None:
        self.K: Tensor | None = None  # (batch, head, key, d_k)
        self.V: Tensor | None = None  # (batch, head, key, d_v)

    def extend(self, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
        """Put new keys and values behind those kept so far, and return all of them."""
        self.K = K if self.K is None else torch.cat([self.K, K], dim=2)
        self.V = V if self.V is None else torch.cat([self.V, V], dim=2)
        return self.K, self.V

    def select(self, rows: Tensor) -> None:
        """Keep these sequences of the batch, in this order; one may be taken twice."""
        if self.K is not None:
            self.K, self.V = self.K[rows], self.V[rows]


def split_heads(X: Tensor, h: int) -> Tensor:
    """Cut the last axis into `h` equal pieces: (batch, n, d_model) to (batch, head, n, d_k)."""
    return X.unflatten(-1, (h, -1)).transpose(1, 2)


def merge_heads(X: Tensor) -> Tensor:
    """Put the heads side by side again: (batch, head, n, d_v) to (batch, n, h * d_v)."""
    return X.transpose(1, 2).flatten(2)


def additive_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn True = may attend into 0 and False into a score so low that its weight is 0, with an axis for the heads.

    Half the lowest number of the type is used and not −∞: where all is hidden, the scores drown in it and come out
    equal, which gives the mean of the values; −∞ would give NaN.
    """
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return bias.masked_fill_(~mask, torch.finfo(dtype).min / 2).unsqueeze(-3)  # (batch, 1, query, key)

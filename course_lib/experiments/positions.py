"""A small transformer whose tokens learn of their places in one of five ways, or not at all.

Sinusoidal and learned positions are added to the tokens; rotary positions turn queries and keys (Su et al. 2021);
ALiBi takes from each score an amount that grows with the distance (Press et al. 2022).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from course_lib.model.attention import merge_heads, split_heads
from course_lib.model.layers import FeedForward, PreLNBlock
from course_lib.model.positions import LearnedPositions, SinusoidalPositions, rotate

SCHEMES = ("none", "sinusoidal", "learned", "rotary", "ALiBi")
HIDDEN = -1e9  # a score whose weight is zero


class Attention(nn.Module):
    """Self-attention of `h` heads with a bias on the scores; rotary positions turn its queries and keys."""

    def __init__(self, d_model: int, h: int, rotary: bool):
        super().__init__()
        self.h, self.rotary = h, rotary
        self.W_QKV = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X: Tensor, bias: Tensor) -> Tensor:
        """Return (batch, n, d_model); `bias` broadcasts to (batch, head, query, key)."""
        Q, K, V = (split_heads(part, self.h) for part in self.W_QKV(X).chunk(3, dim=-1))  # (batch, head, n, d_k)
        if self.rotary:
            Q, K = rotate(Q), rotate(K)
        return self.W_O(merge_heads(scaled_dot_product_attention(Q, K, V, attn_mask=bias)))


class SmallTransformer(nn.Module):
    """Embed, add or turn or bias, one pre-LN block with its final norm: from ids (batch, n) to (batch, n, d_model)."""

    def __init__(self, scheme: str, vocabulary: int, causal: bool, d_model: int = 32, h: int = 4, longest: int = 512):
        super().__init__()
        if scheme not in SCHEMES:
            raise ValueError(f"scheme: wanted one of {', '.join(SCHEMES)}, got {scheme!r}")
        self.scheme, self.causal, self.h = scheme, causal, h
        self.embedding = nn.Embedding(vocabulary, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        # A learned table begins small, so the embeddings beside it are not made larger; otherwise it learns slowly.
        self.scale = 1.0 if scheme == "learned" else d_model**0.5
        tables = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        self.positions = tables[scheme](longest, d_model) if scheme in tables else nn.Identity()
        attend = Attention(d_model, h, rotary=scheme == "rotary")
        self.block = PreLNBlock(attend, FeedForward(d_model, 4 * d_model, nn.GELU), d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.shape[1]
        bias = torch.zeros(n, n)
        if self.causal:
            bias = bias.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), HIDDEN)
        if self.scheme == "ALiBi":
            bias = bias + alibi_bias(n, self.h)
        return self.norm(self.block(self.positions(self.embedding(ids) * self.scale), bias=bias))


def alibi_bias(n: int, h: int) -> Tensor:
    """Return what ALiBi adds to the scores, (head, query, key): minus the distance times the slope of the head."""
    place = torch.arange(n)
    slopes = 2.0 ** (-8 * torch.arange(1, h + 1) / h)
    return -slopes[:, None, None] * (place[:, None] - place).abs()

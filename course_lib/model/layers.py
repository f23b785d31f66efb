"""The blocks of a transformer in PyTorch: the trainable twins of `reference/layers.py`."""

from collections.abc import Callable

from torch import Tensor, nn


class FeedForward(nn.Sequential):
    """Widen each token, cut what is negative, and bring it back to its width (Vaswani et al. 2017, equation 2)."""

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[], nn.Module] = nn.ReLU):
        super().__init__(nn.Linear(d_model, d_ff), activation(), nn.Linear(d_ff, d_model))


class PreLNBlock(nn.Module):
    """Add to each token what attention finds, then what the feed-forward layer makes; each sees a normalised copy.

    A stack of these needs one more LayerNorm at its end, since nothing normalises the sum that leaves the last block.
    """

    def __init__(self, attend: nn.Module, feed_forward: nn.Module, d_model: int, dropout: float = 0.0):
        super().__init__()
        self.attend, self.feed_forward = attend, feed_forward
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, **options: object) -> Tensor:
        """Return (batch, n, d_model); `options` (a mask) go to the attention."""
        x = x + self.dropout(self.attend(self.norm_1(x), **options))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


class PostLNBlock(nn.Module):
    """The paper's own order: LayerNorm(x + Sublayer(x)), with dropout on the sub-layer before the sum (section 5.4)."""

    def __init__(self, attend: nn.Module, feed_forward: nn.Module, d_model: int, dropout: float = 0.0):
        super().__init__()
        self.attend, self.feed_forward = attend, feed_forward
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, **options: object) -> Tensor:
        """Return (batch, n, d_model); `options` (a mask) go to the attention."""
        x = self.norm_1(x + self.dropout(self.attend(x, **options)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


class PreLNDecoderBlock(nn.Module):
    """As the pre-LN block, with a look at the encoder's output between attention and the feed-forward layer."""

    def __init__(self, attend: nn.Module, look: nn.Module, feed_forward: nn.Module, d_model: int, dropout: float = 0.0):
        super().__init__()
        self.attend, self.look, self.feed_forward = attend, look, feed_forward
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, self_options: dict, cross_options: dict) -> Tensor:
        """Return (batch, target, d_model); the options (masks, caches) go to the two attentions."""
        x = x + self.dropout(self.attend(self.norm_1(x), **self_options))
        x = x + self.dropout(self.look(self.norm_2(x), memory, **cross_options))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


class PostLNDecoderBlock(nn.Module):
    """The paper's decoder layer (section 3.1): three sub-layers, each LayerNorm(x + Sublayer(x))."""

    def __init__(self, attend: nn.Module, look: nn.Module, feed_forward: nn.Module, d_model: int, dropout: float = 0.0):
        super().__init__()
        self.attend, self.look, self.feed_forward = attend, look, feed_forward
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor, self_options: dict, cross_options: dict) -> Tensor:
        """Return (batch, target, d_model); the options (masks, caches) go to the two attentions."""
        x = self.norm_1(x + self.dropout(self.attend(x, **self_options)))
        x = self.norm_2(x + self.dropout(self.look(x, memory, **cross_options)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

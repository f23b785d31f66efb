"""The paper's encoder-decoder in NumPy, from ids to logits: figure 1 as functions of its weights.

Follows Vaswani et al. 2017, section 3, with the feed-forward layer's max(0, ·). Both orders of LayerNorm are there;
dropout, which is training's, is not. Weights stand in tuples, named as in the paper, with `x @ W` throughout.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from course_lib.reference.heads import multi_head_attention
from course_lib.reference.layers import feed_forward, layer_norm, post_ln_block, pre_ln_block
from course_lib.reference.masks import causal_mask, padding_mask
from course_lib.reference.positions import add_positions

Array = np.ndarray
Tokens = Float[np.ndarray, "batch n d_model"]
Source = Float[np.ndarray, "batch source d_model"]
Target = Float[np.ndarray, "batch target d_model"]
TokenFunction = Callable[[np.ndarray], np.ndarray]


class Attention(NamedTuple):
    """The four matrices of one multi-head attention."""

    W_Q: Array
    W_K: Array
    W_V: Array
    W_O: Array


class FeedForward(NamedTuple):
    """The two matrices and biases of one feed-forward layer."""

    W_1: Array
    b_1: Array
    W_2: Array
    b_2: Array


class Norm(NamedTuple):
    """Gain and bias of one LayerNorm."""

    gain: Array
    bias: Array


class EncoderLayer(NamedTuple):
    """Self-attention and feed-forward, with a LayerNorm each."""

    attend: Attention
    feed_forward: FeedForward
    norms: tuple[Norm, Norm]


class DecoderLayer(NamedTuple):
    """Self-attention, a look at the memory, and feed-forward, with a LayerNorm each."""

    attend: Attention
    look: Attention
    feed_forward: FeedForward
    norms: tuple[Norm, Norm, Norm]


class Weights(NamedTuple):
    """All that is learned. The last two norms belong to the pre-LN order; the paper's own has none there."""

    source: Array  # (source vocabulary, d_model)
    target: Array  # (target vocabulary, d_model)
    generator: Array  # (d_model, target vocabulary)
    encoder: tuple[EncoderLayer, ...]
    decoder: tuple[DecoderLayer, ...]
    encoder_norm: Norm | None = None
    decoder_norm: Norm | None = None


def transformer(
    source: Int[np.ndarray, "batch source"],
    target: Int[np.ndarray, "batch target"],
    weights: Weights,
    h: int,
    P: Float[np.ndarray, "longest d_model"],
    pad_id: int = 0,
) -> Float[np.ndarray, "batch target vocabulary"]:
    """Encode the source, decode the shifted target while looking at it, and give every word a logit.

    Row t of the logits predicts token t + 1 and has seen the target up to t. `P` holds the positions to add. The order
    of LayerNorm is pre-LN if `weights` have a last norm for the encoder, else the paper's.
    """
    may_look = padding_mask(source, pad_id)  # (batch, 1, source)
    memory = encode(source, may_look, weights, h, P)  # (batch, source, d_model)
    return decode(target, memory, may_look, weights, h, P, pad_id) @ weights.generator  # (batch, target, vocabulary)


def encode(source: Array, may_look: Bool[np.ndarray, "batch 1 source"], weights: Weights, h: int, P: Array) -> Source:
    """Embed the source and let its tokens attend to each other, layer by layer."""
    x = embed(source, weights.source, P)  # (batch, source, d_model)
    block = post_ln_block if weights.encoder_norm is None else pre_ln_block
    for layer in weights.encoder:
        attend = _self_attention(layer.attend, h, may_look)
        x = block(x, attend, _feed_forward(layer.feed_forward), *map(_norm, layer.norms))
    return x if weights.encoder_norm is None else layer_norm(x, *weights.encoder_norm)


def decode(
    target: Array,
    memory: Source,
    may_look: Bool[np.ndarray, "batch 1 source"],
    weights: Weights,
    h: int,
    P: Array,
    pad_id: int = 0,
) -> Target:
    """Embed the target; let its tokens attend to those before them, then look at the memory, layer by layer."""
    x = embed(target, weights.target, P)  # (batch, target, d_model)
    before = causal_mask(target.shape[1]) & padding_mask(target, pad_id)  # (batch, target, target)
    block = post_ln_decoder_block if weights.decoder_norm is None else pre_ln_decoder_block
    for layer in weights.decoder:
        attend = _self_attention(layer.attend, h, before)
        look = partial(_cross_attention, memory=memory, matrices=layer.look, h=h, may_look=may_look)
        x = block(x, attend, look, _feed_forward(layer.feed_forward), *map(_norm, layer.norms))
    return x if weights.decoder_norm is None else layer_norm(x, *weights.decoder_norm)


def embed(
    ids: Int[np.ndarray, "batch n"],
    words: Float[np.ndarray, "vocabulary d_model"],
    P: Float[np.ndarray, "longest d_model"],
) -> Tokens:
    """Look each id up, multiply by √d_model (section 3.4), and add the positions.

    >>> embed(np.array([[1, 0]]), np.eye(4), np.zeros((9, 4)))  # √4 = 2
    array([[[0., 2., 0., 0.],
            [2., 0., 0., 0.]]])
    """
    d_model = words.shape[1]
    return add_positions(words[ids] * np.sqrt(d_model), P)  # (batch, n, d_model)


def post_ln_decoder_block(
    x: Tokens,
    attend: TokenFunction,
    look: TokenFunction,
    feed_forward: TokenFunction,
    norm_1: TokenFunction,
    norm_2: TokenFunction,
    norm_3: TokenFunction,
) -> Tokens:
    """The paper's decoder layer: LayerNorm(x + Sublayer(x)) for attention, the look at the memory, and feed-forward.

    >>> double, halve = (lambda x: 2 * x), (lambda x: x / 2)
    >>> post_ln_decoder_block(np.ones((1, 1, 2)), double, double, double, halve, halve, halve)  # three times 3 / 2
    array([[[3.375, 3.375]]])
    """
    x = norm_1(x + attend(x))  # (batch, target, d_model)
    x = norm_2(x + look(x))  # (batch, target, d_model)
    return norm_3(x + feed_forward(x))  # (batch, target, d_model)


def pre_ln_decoder_block(
    x: Tokens,
    attend: TokenFunction,
    look: TokenFunction,
    feed_forward: TokenFunction,
    norm_1: TokenFunction,
    norm_2: TokenFunction,
    norm_3: TokenFunction,
) -> Tokens:
    """The same three with LayerNorm before each: every sub-layer sees a normalised copy and adds to the original.

    >>> double, same = (lambda x: 2 * x), (lambda x: x)
    >>> pre_ln_decoder_block(np.ones((1, 1, 2)), double, double, double, same, same, same)  # 3 · 3 · 3
    array([[[27., 27.]]])
    """
    x = x + attend(norm_1(x))  # (batch, target, d_model)
    x = x + look(norm_2(x))  # (batch, target, d_model)
    return x + feed_forward(norm_3(x))  # (batch, target, d_model)


def shift_right(target: Int[np.ndarray, "batch n"], begin_id: int) -> Int[np.ndarray, "batch n"]:
    """Put the begin token in front and let the last token fall off: what the decoder reads while it predicts `target`.

    >>> shift_right(np.array([[7, 8, 2]]), begin_id=1)
    array([[1, 7, 8]])
    """
    begin = np.full_like(target[:, :1], begin_id)  # (batch, 1)
    return np.concatenate([begin, target[:, :-1]], axis=1)  # (batch, n)


def _self_attention(matrices: Attention, h: int, mask: Array) -> TokenFunction:
    return lambda x: multi_head_attention(x, x, *matrices, h, mask)


def _cross_attention(x: Array, memory: Array, matrices: Attention, h: int, may_look: Array) -> Array:
    return multi_head_attention(x, memory, *matrices, h, may_look)


def _feed_forward(matrices: FeedForward) -> TokenFunction:
    return lambda x: feed_forward(x, *matrices)


def _norm(norm: Norm) -> TokenFunction:
    return lambda x: layer_norm(x, *norm)

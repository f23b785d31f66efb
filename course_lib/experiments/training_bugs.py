"""Bugs that training does not show: each reaches a low loss, and only decoding tells the right model from the wrong.

The first four translate nothing; the last two even translate. They sit where such bugs do: in the attention, in the
masks, in the batch.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from course_lib.data.translation import Corpus
from course_lib.model.attention import MultiHeadAttention, additive_mask, split_heads
from course_lib.model.config import tiny
from course_lib.model.decoding import WithoutCache
from course_lib.model.transformer import Transformer
from course_lib.train.evaluate import exact_match, teacher_forced, translations
from course_lib.train.loop import train
from course_lib.train.options import Options
from course_lib.training import one_thread

FATAL = ("softmax over the queries", "heads merged without transposing", "no masks", "target not shifted")
INVISIBLE = ("no scale", "divided by √d_model")
VARIANTS = ("right", *FATAL, *INVISIBLE)


class Outcome(NamedTuple):
    """What training saw, and what a test sees."""

    loss: float  # the last, smoothed, in nats a token
    teacher_forced: float  # share of held-out tokens right when the right ones before are fed in
    exact: float  # share of held-out numbers right to the last token


class AttentionWithABug(nn.Module):
    """The formula written out, with one thing wrong."""

    def __init__(self, attend: MultiHeadAttention, bug: str):
        super().__init__()
        self.attend, self.bug = attend, bug

    def forward(
        self,
        X_query: Tensor,
        X_key: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
        cache: None = None,
    ) -> Tensor:
        """Return (batch, query, d_model)."""
        own, batch, n = self.attend, len(X_query), X_query.shape[1]
        Q = split_heads(own.W_Q(X_query), own.h)  # (batch, head, query, d_k)
        K, V = own.keys_and_values(X_query if X_key is None else X_key)
        scale = {"no scale": 1.0, "divided by √d_model": X_query.shape[-1] ** 0.5}.get(self.bug, own.d_k**0.5)
        scores = Q @ K.transpose(-2, -1) / scale  # (batch, head, query, key)
        if is_causal:
            mask = torch.ones(n, n, dtype=torch.bool, device=Q.device).tril()
        if mask is not None and self.bug != "no masks":
            scores = scores + additive_mask(mask, Q.dtype)
        weights = scores.softmax(dim=-2 if self.bug == "softmax over the queries" else -1)
        heads = weights @ V  # (batch, head, query, d_v)
        if self.bug != "heads merged without transposing":
            heads = heads.transpose(1, 2)  # (batch, query, head, d_v)
        return own.W_O(heads.reshape(batch, n, -1))


class NotShifted(Transformer):
    """Reads, while it trains, the very token that it is to predict: the batch was not shifted."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Take the begin token off the front; decoding does not come through here."""
        unshifted = torch.cat([target[:, 1:], torch.full_like(target[:, :1], self.config.pad_id)], dim=1)
        return super().forward(source, unshifted)


def build(variant: str, corpus: Corpus, seed: int = 0) -> Transformer:
    """Return an untrained model with this bug.

    Raises:
        ValueError: if the variant is not one of VARIANTS.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant: wanted one of {', '.join(VARIANTS)}, got {variant!r}")
    torch.manual_seed(seed)
    kind = NotShifted if variant == "target not shifted" else Transformer
    model = kind(tiny(len(corpus.source), len(corpus.target)))
    if variant not in ("right", "target not shifted"):
        write_out(model, variant)
    return model


def write_out(model: Transformer, bug: str = "none") -> None:
    """Put the formula in the place of every fast attention of the model; unless a bug is named it has none."""
    for block in (*model.encoder, *model.decoder):
        block.attend = AttentionWithABug(block.attend, bug)
    for block in model.decoder:
        block.look = AttentionWithABug(block.look, bug)


def outcome(variant: str, corpus: Corpus, steps: int = 400, seed: int = 0) -> Outcome:
    """Train a model with this bug and look at it as training does, and as a test does."""
    model = build(variant, corpus, seed)
    history = train(model, corpus, Options(steps=steps, seed=seed, smoothing=0.1), device="cpu", bar=False)
    decoder = model if variant in ("right", "target not shifted") else WithoutCache(model)
    with one_thread():
        accuracy = teacher_forced(model, corpus.held_out, torch.device("cpu"))[1]
        return Outcome(float(history.losses[-1]), accuracy, exact_match(translations(decoder, corpus)))

"""From a trained model to a translation: greedy, and beam search with the paper's length penalty.

A model has `start(source) -> state`, `step(new ids, state) -> logits of the next token`, `state.select(rows)`, and
`longest`. The transformer keeps keys and values in its state, so that each token is computed once. Decoding stops at
the end token or at the input's length + 50 (Vaswani et al. 2017, section 6.1).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Hypothesis(NamedTuple):
    """A translation, its end token included, and its log-probability divided by the length penalty."""

    ids: list[int]
    score: float


def greedy(
    model: nn.Module, source: Tensor, extra: int = 50, begin_id: int = 1, end_id: int = 2, pad_id: int = 0
) -> list[list[int]]:
    """Take the likeliest next token again and again, until the end token or the input's length + `extra`.

    Returns the ids of each sequence, the end token included where it came.
    """
    outputs: list[list[int]] = [[] for _ in source]
    with _decoding(model):
        state, limits = model.start(source), _limits(model, source, extra, pad_id)
        rows = torch.arange(len(source), device=source.device)  # which sequence each row of the state belongs to
        ids = torch.full((len(source), 1), begin_id, device=source.device)
        for length in range(1, _most(limits) + 1):
            ids = model.step(ids, state).argmax(dim=-1, keepdim=True)  # (batch, 1)
            for row, token in zip(rows.tolist(), ids[:, 0].tolist(), strict=True):
                outputs[row].append(token)
            goes_on = (ids[:, 0] != end_id) & (limits[rows] > length)
            if not goes_on.all():
                left = goes_on.nonzero()[:, 0]
                if len(left) == 0:
                    break
                state.select(left)
                rows, ids = rows[left], ids[left]
    return outputs


def beam_search(
    model: nn.Module,
    source: Tensor,
    beams: int = 4,
    penalty: float = 0.6,
    extra: int = 50,
    begin_id: int = 1,
    end_id: int = 2,
    pad_id: int = 0,
) -> list[list[Hypothesis]]:
    """Keep the `beams` likeliest beginnings of each sequence; return what ended, best first.

    Section 6.1 of the paper has beams = 4 and penalty = 0.6. A beginning that ends with the end token among the best
    `beams` is finished; a sequence is done when it has `beams` finished ones. If it has none at the length limit, its
    unfinished ones are returned.

    Raises:
        ValueError: if `beams` is less than 1.
    """
    if beams < 1:
        raise ValueError(f"beams: wanted 1 or more, got {beams}")
    device = source.device
    done: list[list[Hypothesis]] = [[] for _ in source]
    with _decoding(model):
        state, limits = model.start(source), _limits(model, source, extra, pad_id)
        rows = torch.arange(len(source), device=device)  # the sequences that still go on
        state.select(rows.repeat_interleave(beams))
        scores = torch.full((len(rows), beams), -torch.inf, device=device)
        scores[:, 0] = 0  # at the start all beams are the same, so only one counts
        prefixes = torch.full((len(rows) * beams, 1), begin_id, device=device)
        for length in range(1, _most(limits) + 1):
            log_p = model.step(prefixes[:, -1:], state).float().log_softmax(dim=-1)  # (sequence · beam, vocabulary)
            vocabulary = log_p.shape[-1]
            totals = (scores.flatten()[:, None] + log_p).view(len(rows), -1)  # (sequence, beam · vocabulary)
            best, places = totals.topk(min(2 * beams, totals.shape[1]))  # (sequence, 2 · beam): half may end
            came_from, tokens = places // vocabulary, places % vocabulary
            came_from = came_from + torch.arange(len(rows), device=device)[:, None] * beams
            ends = tokens == end_id
            for i, j in (ends[:, :beams] & best[:, :beams].isfinite()).nonzero().tolist():
                ids = [*prefixes[came_from[i, j], 1:].tolist(), end_id]
                done[rows[i]].append(Hypothesis(ids, best[i, j].item() / length_penalty(length, penalty)))
            scores, order = best.masked_fill(ends, -torch.inf).topk(min(beams, best.shape[1]))  # (sequence, beam)
            came_from, tokens = came_from.gather(1, order).flatten(), tokens.gather(1, order).flatten()
            prefixes = torch.cat([prefixes[came_from], tokens[:, None]], dim=1)
            state.select(came_from)
            finished = torch.tensor([len(done[row]) >= beams for row in rows], device=device)
            stops = finished | (limits[rows] <= length) | ~scores.isfinite().any(dim=1)
            for i in (stops & ~finished).nonzero()[:, 0].tolist():
                if not done[rows[i]]:
                    done[rows[i]] = _unfinished(prefixes.view(len(rows), beams, -1)[i], scores[i], penalty)
            if stops.all():
                break
            if stops.any():
                left = (~stops).nonzero()[:, 0]
                kept = (left[:, None] * beams + torch.arange(beams, device=device)).flatten()
                state.select(kept)
                rows, scores, prefixes = rows[left], scores[left], prefixes[kept]
    return [sorted(hypotheses, key=lambda h: -h.score) for hypotheses in done]


def length_penalty(length: int, penalty: float) -> float:
    """Return ((5 + length) / 6)^penalty, by which a log-probability is divided so that short ones win less (GNMT).

    >>> length_penalty(1, 0.6), length_penalty(7, 1.0)
    (1.0, 2.0)
    """
    return ((5 + length) / 6) ** penalty


class WithoutCache(nn.Module):
    """A model that reads everything anew for each token: what the caches are measured against.

    >>> from course_lib.model.config import tiny
    >>> from course_lib.model.transformer import Transformer
    >>> model, source = Transformer(tiny(20, 30)), torch.tensor([[4, 5]])
    >>> greedy(WithoutCache(model), source, extra=3) == greedy(model, source, extra=3)
    True
    """

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.longest = model, model.longest

    def start(self, source: Tensor) -> "_Everything":
        """Keep the source as it is."""
        return _Everything(source)

    def step(self, ids: Tensor, state: "_Everything") -> Tensor:
        """Run the whole model on all tokens so far."""
        state.target = torch.cat([state.target, ids], dim=1)
        return self.model(state.source, state.target)[:, -1]


class _Everything:
    def __init__(self, source: Tensor):
        self.source, self.target = source, source[:, :0]

    def select(self, rows: Tensor) -> None:
        self.source, self.target = self.source[rows], self.target[rows]


def _unfinished(prefixes: Tensor, scores: Tensor, penalty: float) -> list[Hypothesis]:
    pairs = zip(prefixes[:, 1:].tolist(), scores.tolist(), strict=True)
    return [Hypothesis(ids, score / length_penalty(len(ids), penalty)) for ids, score in pairs if score > -torch.inf]


def _limits(model: nn.Module, source: Tensor, extra: int, pad_id: int) -> Tensor:
    return ((source != pad_id).sum(dim=1) + extra).clamp(max=model.longest)  # (batch,)


def _most(limits: Tensor) -> int:
    return int(limits.max()) if len(limits) else 0


@contextmanager
def _decoding(model: nn.Module) -> Iterator[None]:
    """Switch dropout and gradients off, and the model's mode back to what it was afterwards."""
    before = model.training
    model.train(False)
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(before)

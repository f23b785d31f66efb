"""The same number words through a GRU, a GRU with attention, and the transformer: equal data, steps and batches.

All three are trained by the one loop. Widths are chosen so that the numbers of parameters are of one size.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from course_lib.data import number_words
from course_lib.data.translation import Corpus
from course_lib.experiments.gru import GRUTranslator, GRUWithAttention
from course_lib.model.config import tiny
from course_lib.model.transformer import Transformer, count_parameters
from course_lib.train.evaluate import by_length, exact_match, translations
from course_lib.train.loop import train
from course_lib.train.metrics import History
from course_lib.train.options import Options
from course_lib.training import one_thread

KINDS = ("GRU", "GRU with attention", "transformer")
EDGES = (3, 6, 9, 12, 15, 19)  # bins of target tokens, the end token included


class Result(NamedTuple):
    """What one translator reached."""

    exact: float  # over all held-out numbers
    by_length: np.ndarray  # over each bin of EDGES
    parameters: int
    history: History


def build(kind: str, corpus: Corpus, seed: int = 0) -> nn.Module:
    """Return an untrained translator for the corpus.

    Raises:
        ValueError: if the kind is not one of KINDS.
    """
    sizes = len(corpus.source), len(corpus.target)
    torch.manual_seed(seed)
    if kind == "GRU":
        return GRUTranslator(*sizes, d=160)  # wider, since it has no attention to spend numbers on
    if kind == "GRU with attention":
        return GRUWithAttention(*sizes)
    if kind == "transformer":
        return Transformer(tiny(*sizes))
    raise ValueError(f"kind: wanted one of {', '.join(KINDS)}, got {kind!r}")


def long_numbers(seed: int = 0, train: int = 10_000, held_out: int = 500) -> Corpus:
    """Return numbers of one to nine digits, as many of each length as there are, up to 18 target tokens."""
    return number_words.corpus(seed, train, held_out, below=10**9)


def compare(kind: str, corpus: Corpus, steps: int = 600, seed: int = 0, bar: bool = False) -> Result:
    """Train a translator of this kind and measure it by the length of the target."""
    model = build(kind, corpus, seed)
    history = train(model, corpus, Options(steps=steps, seed=seed), width=64, device="cpu", bar=bar)
    with one_thread():
        found = translations(model, corpus)
    lengths = [len(pair.target) + 1 for pair in corpus.held_out]
    return Result(exact_match(found), by_length(found, lengths, list(EDGES)), count_parameters(model), history)

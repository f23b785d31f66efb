"""Batches of pairs: sorted by length so that little is padding, shuffled so that no two epochs are the same.

The order of everything follows from a seed and the epoch's number, so that a place in the stream is two integers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from course_lib.data.translation import Pair
from course_lib.data.vocabulary import BEGIN, END, PAD


class Batch(NamedTuple):
    """Ids as the model needs them: a row of `target` begins with the begin token, one of `wanted` ends with the end."""

    source: Int[np.ndarray, "batch source"]
    target: Int[np.ndarray, "batch target"]
    wanted: Int[np.ndarray, "batch target"]

    @property
    def tokens(self) -> int:
        """How many tokens are to be predicted, padding not counted."""
        return int((self.wanted != PAD).sum())

    def part(self, index: int, parts: int) -> "Batch":
        """Return every `parts`-th sequence from `index` on, for one process or one step of accumulation."""
        return Batch(*(ids[index::parts] for ids in self))


def pad(sequences: list[list[int]]) -> Int[np.ndarray, "batch longest"]:
    """Fill with padding on the right up to the longest.

    >>> pad([[7, 8, 9], [7]])
    array([[7, 8, 9],
           [7, 0, 0]])
    """
    ids = np.full((len(sequences), max(map(len, sequences), default=0)), PAD)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    return ids


def make_batch(pairs: list[Pair]) -> Batch:
    """Pad sources and targets; shift the targets by one.

    >>> make_batch([Pair([5], [6, 7])])
    Batch(source=array([[5]]), target=array([[1, 6, 7]]), wanted=array([[6, 7, 2]]))
    """
    return Batch(
        pad([pair.source for pair in pairs]),
        pad([[BEGIN, *pair.target] for pair in pairs]),
        pad([[*pair.target, END] for pair in pairs]),
    )


def cut(
    pairs: list[Pair], rng: np.random.Generator, sentences: int | None = 32, tokens: int | None = None
) -> list[list[int]]:
    """Sort shuffled pairs by length, cut them into batches of so many `sentences` or `tokens`, and shuffle those.

    `tokens` counts the longer of the two sides of a batch with its padding, as the paper's 25,000 do. Returns places
    in `pairs`; a last, smaller batch is kept.

    Raises:
        ValueError: if neither size is given or a pair alone is larger than `tokens`.
    """
    if (sentences is None) == (tokens is None):
        raise ValueError(f"sentences and tokens: wanted one of the two, got {sentences} and {tokens}")
    length = np.array([max(len(pair.source), len(pair.target) + 1) for pair in pairs])
    order = rng.permutation(len(pairs))
    order = order[np.argsort(length[order], kind="stable")]
    if sentences is not None:
        cuts = [order[i : i + sentences] for i in range(0, len(order), sentences)]
    else:
        cuts, start = [], 0
        for stop in range(1, len(order) + 1):
            if length[order[stop - 1]] > tokens:
                raise ValueError(f"tokens: wanted room for the longest pair, {length[order[stop - 1]]}, got {tokens}")
            if stop == len(order) or length[order[stop]] * (stop + 1 - start) > tokens:
                cuts.append(order[start:stop])
                start = stop
    return [cuts[i].tolist() for i in rng.permutation(len(cuts))]


class Stream:
    """Batches without end, from any place on: (`epoch`, `index`) is all that must be kept to go on later.

    >>> pairs = [Pair([i], [i]) for i in range(4, 9)]
    >>> stream = Stream(pairs, seed=0, sentences=2)
    >>> [len(next(stream).source) for _ in range(3)], stream.epoch, stream.index
    ([1, 2, 2], 0, 3)
    """

    def __init__(self, pairs: list[Pair], seed: int = 0, sentences: int | None = 32, tokens: int | None = None):
        if not pairs:
            raise ValueError("pairs: wanted at least one training pair, got none")
        self.pairs, self.seed, self.sentences, self.tokens = pairs, seed, sentences, tokens
        self.go_to(0, 0)

    def go_to(self, epoch: int, index: int) -> None:
        """Continue from batch `index` of an epoch."""
        self.epoch, self.index = epoch, index
        self._cuts = cut(self.pairs, np.random.default_rng([self.seed, epoch]), self.sentences, self.tokens)

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        if self.index >= len(self._cuts):
            self.go_to(self.epoch + 1, 0)
        chosen = [self.pairs[i] for i in self._cuts[self.index]]
        self.index += 1
        return make_batch(chosen)

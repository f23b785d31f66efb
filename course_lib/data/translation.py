"""What every translation task gives to training: two tokenisers, training pairs and held-out pairs."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Pair(NamedTuple):
    """A source and its translation, as ids without begin and end tokens; `name` says which it is (a number, a line)."""

    source: list[int]
    target: list[int]
    name: str = ""


@dataclass(frozen=True)
class Corpus:
    """The data of one translation task.

    A tokeniser has `encode(text) -> ids`, `decode(ids) -> text`, `pieces(ids) -> texts` and a length, its vocabulary.
    """

    source: Any  # tokeniser
    target: Any  # tokeniser
    train: list[Pair]
    held_out: list[Pair]

    def check_lengths(self, longest: int) -> "Corpus":
        """Return the corpus itself if no sequence is too long for a model with `longest` positions.

        Raises:
            ValueError: if one is; the message names it.
        """
        for pair in (*self.train, *self.held_out):
            for side, ids in (("source", pair.source), ("target", pair.target)):
                if len(ids) >= longest:  # one more for the begin or end token
                    raise ValueError(f"{pair.name}: wanted a {side} of fewer than {longest} tokens, got {len(ids)}")
        return self

"""Byte pairs for any text, by the `tokenizers` library: one vocabulary for source and target, as in the paper.

Follows Sennrich et al. 2016, on bytes, so that no text is ever unknown. Needs the extra `text`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from course_lib.data.translation import Corpus, Pair
from course_lib.data.vocabulary import SPECIAL, until_end


class BytePairs:
    """A tokeniser that was learned from text."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True  # "<end>" written in a text is text

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> "BytePairs":
        """Join the commonest neighbours again and again until there are `size` pieces.

        Raises:
            ValueError: if `size` leaves no room for the 256 bytes and the special pieces.
        """
        if size < 256 + len(SPECIAL):
            raise ValueError(
                f"size: wanted at least {256 + len(SPECIAL)} pieces, one for each byte and special, got {size}"
            )
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=size, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    @classmethod
    def load(cls, path: Path) -> "BytePairs":
        """Read a tokeniser from its file."""
        from tokenizers import Tokenizer

        return cls(Tokenizer.from_file(str(path)))

    def save(self, path: Path) -> None:
        """Write it to a file, JSON that people can read."""
        self._tokenizer.save(str(path))

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; special pieces written in it are text like any other."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids up to the end token."""
        return self._tokenizer.decode(until_end(ids), skip_special_tokens=False).strip()

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the pieces one by one, for the axes of a figure."""
        return [SPECIAL[i] if i < len(SPECIAL) else self._tokenizer.decode([i]) for i in map(int, ids)]


def corpus(
    train: list[tuple[str, str, str]], held_out: list[tuple[str, str, str]], tokeniser: BytePairs, longest: int
) -> Corpus:
    """Turn texts into ids.

    Raises:
        ValueError: if a text has too many pieces for `longest` positions; the message begins with file:line.
    """
    made = [
        [Pair(tokeniser.encode(source), tokeniser.encode(target), where) for source, target, where in texts]
        for texts in (train, held_out)
    ]
    return Corpus(tokeniser, tokeniser, *made).check_lengths(longest)

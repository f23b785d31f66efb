"""Number words in two languages: unlimited, seeded, offline, and exactly checkable. The words come from `num2words`.

German writes a number below a million as one word and says the units before the tens: zweihundertdreiundvierzig is two
hundred, three, and forty. It is cut into the words that it is made of, so that the swap can be seen.
"""

import re
from functools import cache

import numpy as np
from num2words import num2words

from course_lib.data.translation import Corpus, Pair
from course_lib.data.vocabulary import UNKNOWN, Vocabulary, until_end

LANGUAGES = ("de", "en", "fr")
LARGEST = 10**9  # numbers stay below it


def words(number: int, language: str) -> str:
    """Say a number in words.

    >>> words(243, "en"), words(243, "de"), words(97, "fr")
    ('two hundred and forty-three', 'zweihundertdreiundvierzig', 'quatre-vingt-dix-sept')

    Raises:
        ValueError: if the language is not one of LANGUAGES or the number is not in [0, LARGEST).
    """
    _known(language)
    if not 0 <= number < LARGEST:
        raise ValueError(f"number: wanted 0 or more and less than {LARGEST:,}, got {number:,}")
    return num2words(int(number), lang=language)


def split(text: str, language: str) -> list[str]:
    """Cut number words into pieces: words, hyphens and commas; in German, the words inside the one long word.

    >>> split("zweihundertdreiundvierzig", "de")
    ['zwei', 'hundert', 'drei', 'und', 'vierzig']
    >>> split("two hundred and forty-three", "en")
    ['two', 'hundred', 'and', 'forty', '-', 'three']
    """
    _known(language)
    return (_german() if language == "de" else re.compile(r"\w+|[^\w\s]")).findall(text)


def join(pieces: list[str], language: str) -> str:
    """Put the pieces together again: the inverse of `split`.

    >>> join(["zwei", "hundert", "drei", "und", "vierzig"], "de")
    'zweihundertdreiundvierzig'
    """
    _known(language)
    if language == "de":
        return "".join(f" {piece} " if piece.startswith("Million") else piece for piece in pieces).strip()
    return " ".join(pieces).replace(" - ", "-").replace(" ,", ",")


@cache
def _german() -> re.Pattern:
    simple = [num2words(number, lang="de") for number in [*range(20), *range(20, 100, 10)]]
    pieces = [*simple, "ein", "eine", "und", "hundert", "tausend", "Million", "Millionen"]
    longest_first = sorted(pieces, key=len, reverse=True)
    return re.compile("|".join(longest_first) + r"|\S+?")  # what is no number word falls into letters


class NumberWords:
    """The tokeniser of one language: number words to ids and back; digits are said in words first.

    >>> german = NumberWords("de")
    >>> german.decode(german.encode("243"))
    'zweihundertdreiundvierzig'
    """

    def __init__(self, language: str):
        self.language = language
        examples = [*range(100), *(lead * 10**power for power in range(2, 9) for lead in (1, 2)), 101, 1_234_567]
        texts = [words(number, language) for number in examples]
        self.vocabulary = Vocabulary(piece for text in texts for piece in split(text, language))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """Return the ids of some number words, or of a number in digits.

        Raises:
            ValueError: if a word is no number word of the language.
        """
        text = text.strip()
        if re.fullmatch(r"\d+", text):
            text = words(int(text), self.language)
        pieces = split(text, self.language)
        ids = self.vocabulary.ids(pieces)
        if UNKNOWN in ids or not ids:
            stranger = pieces[ids.index(UNKNOWN)] if ids else ""
            raise ValueError(
                f"text: wanted number words in the language {self.language!r}, got {stranger!r} in {text!r}"
            )
        return ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of the ids up to the end token."""
        return join(self.vocabulary.pieces(until_end(ids)), self.language)

    def pieces(self, ids: list[int]) -> list[str]:
        """Return the pieces one by one, for the axes of a figure."""
        return self.vocabulary.pieces(ids)


def draw(rng: np.random.Generator, count: int, below: int = 10**6, even_lengths: bool = False) -> list[int]:
    """Draw distinct numbers in random order; with `even_lengths`, as many of one digit as of two, three, ….

    >>> draw(np.random.default_rng(0), 3, below=10)
    [8, 6, 5]

    Raises:
        ValueError: if there are not so many numbers.
    """
    if count > below // (2 if even_lengths else 1):
        raise ValueError(f"count: wanted no more numbers than there are below {below:,}, got {count:,}")
    drawn: dict[int, None] = {}
    digits = len(str(below - 1))
    while len(drawn) < count:
        if even_lengths:
            lengths = rng.integers(1, digits + 1, size=count)
            low = np.where(lengths == 1, 0, 10 ** (lengths - 1))
            numbers = rng.integers(low, np.minimum(10**lengths, below))
        else:
            numbers = rng.integers(below, size=count)
        drawn.update(dict.fromkeys(map(int, numbers)))
    return list(drawn)[:count]


def corpus(
    seed: int = 0,
    train: int = 5000,
    held_out: int = 500,
    languages: tuple[str, str] = ("en", "de"),
    below: int = 10**6,
    even_lengths: bool = True,
) -> Corpus:
    """Make training pairs and held-out pairs of other numbers, which no training pair says.

    Drawn evenly, 999 numbers of a thousand would be long, and who then types 42 gets nonsense: so all lengths come
    equally often unless `even_lengths` is off. The first hundred numbers, of which the others are made, are always in
    the training pairs, and each five times (if there is room for them and `below` is more than a thousand).

    >>> example = corpus(train=300, held_out=2)
    >>> [example.target.decode(pair.target) == words(int(pair.name), "de") for pair in example.held_out]
    [True, True]
    """
    source, target = (NumberWords(language) for language in languages)
    first = list(range(100)) if below > 1000 and train > 1000 else []
    rng = np.random.default_rng(seed)
    numbers = draw(rng, train + held_out, below, even_lengths)
    numbers = [number for number in rng.permutation(numbers).tolist() if number >= len(first)]
    chosen = {"held_out": numbers[:held_out], "train": [*first * 5, *numbers[held_out:]][:train]}
    pairs = {
        name: [
            Pair(source.encode(words(number, languages[0])), target.encode(words(number, languages[1])), str(number))
            for number in some
        ]
        for name, some in chosen.items()
    }
    return Corpus(source, target, **pairs)


def _known(language: str) -> None:
    if language not in LANGUAGES:
        raise ValueError(f"language: wanted one of {', '.join(LANGUAGES)}, got {language!r}")

"""Sentences in which one adjective decides what "it" means, generated from a small grammar.

"the dog sat on the chair as it was tired" is about the dog; with "broken" for "tired" it is about the chair. Living
beings and things each have adjectives of their own, in six sentence frames, so that neither a noun's place nor its
kind alone gives the answer. Left out: everything else that makes real pronouns hard (Winograd's sentences, say).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

LIVING = tuple(
    "dog cat animal horse rabbit fox hen goat mouse bear "
    "puppy cow duck donkey pony lamb wolf hamster turtle squirrel".split()
)
SEATS = tuple("chair bench sofa stool couch armchair mat rug mattress swing".split())
WAYS = tuple("street road bridge river path field stream lane alley square".split())
FEELINGS = tuple("tired hungry scared sleepy thirsty lonely ill lazy nervous bored weak shy".split())
OF_SEATS = tuple("broken wooden padded wobbly heated worn empty free comfortable cheap".split())
OF_WAYS = tuple("wide busy steep muddy icy flooded narrow slippery bumpy closed".split())
SEAT_FRAMES = (
    "the {being} sat on the {thing} as it was {adjective}",
    "on the {thing} sat the {being} as it was {adjective}",
    "as it was {adjective} the {being} sat on the {thing}",
)
WAY_FRAMES = (
    "the {being} didn't cross the {thing} because it was too {adjective}",
    "the {thing} was not crossed by the {being} because it was too {adjective}",
    "because it was too {adjective} the {being} didn't cross the {thing}",
)
# The pairs of the two sentences that the course tells of. They are always held out, so that no model has seen them.
STORY = (("dog", "tired"), ("chair", "broken"), ("animal", "tired"), ("street", "wide"))
PAD = "<pad>"  # fills the end of a shorter sentence in a batch
_FRAME_WORDS = {word for frame in SEAT_FRAMES + WAY_FRAMES for word in frame.split() if not word.startswith("{")}
VOCABULARY = (PAD, *sorted(_FRAME_WORDS), *LIVING, *SEATS, *WAYS, *FEELINGS, *OF_SEATS, *OF_WAYS)
LONGEST = 13  # words in the longest sentence
_ID = {word: index for index, word in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Sentence:
    """One sentence with one "it". Positions count words from 0."""

    words: tuple[str, ...]
    it: int  # position of "it"
    referent: int  # position of the noun that "it" means
    other: int  # position of the noun that it does not mean

    @property
    def pair(self) -> tuple[str, str]:
        """The noun that is meant and its adjective: what the split holds out."""
        return self.words[self.referent], self.words[self.it + (2 if self.words[self.it + 2] != "too" else 3)]

    def __str__(self) -> str:
        return " ".join(self.words)


def sentence(frame: str, being: str, thing: str, adjective: str) -> Sentence:
    """Fill a frame, and note where "it" stands and which noun it means.

    >>> s = sentence(SEAT_FRAMES[0], "dog", "chair", "broken")
    >>> str(s), s.words[s.referent], s.words[s.other]
    ('the dog sat on the chair as it was broken', 'chair', 'dog')
    """
    words = tuple(frame.format(being=being, thing=thing, adjective=adjective).split())
    nouns = words.index(being), words.index(thing)
    referent, other = nouns if adjective in FEELINGS else nouns[::-1]
    return Sentence(words, words.index("it"), referent, other)


def story() -> list[Sentence]:
    """Return the two sentences that the course tells of, each with its twin.

    >>> for told in story():
    ...     print(told)
    the dog sat on the chair as it was tired
    the dog sat on the chair as it was broken
    the animal didn't cross the street because it was too tired
    the animal didn't cross the street because it was too wide
    """
    seats = [sentence(SEAT_FRAMES[0], "dog", "chair", adjective) for adjective in ("tired", "broken")]
    return seats + [sentence(WAY_FRAMES[0], "animal", "street", adjective) for adjective in ("tired", "wide")]


def all_sentences() -> list[Sentence]:
    """List every sentence of the grammar: 26,400 of them."""
    made = []
    for frames, things, adjectives in ((SEAT_FRAMES, SEATS, OF_SEATS), (WAY_FRAMES, WAYS, OF_WAYS)):
        made += [sentence(*parts) for parts in product(frames, LIVING, things, FEELINGS + adjectives)]
    return made


def split(rng: np.random.Generator, share: float = 0.2) -> tuple[list[Sentence], list[Sentence]]:
    """Split into sentences to train on and to test on: no pair of noun and adjective stands in both.

    `share` of the pairs are held out, those of `STORY` always and the rest by chance. Both words of such a pair are
    seen in training, never with the one describing the other.

    Raises:
        ValueError: if `share` is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"share: wanted a number between 0 and 1, got {share}")
    pairs = [*product(LIVING, FEELINGS), *product(SEATS, OF_SEATS), *product(WAYS, OF_WAYS)]
    drawn = [pairs[index] for index in rng.permutation(len(pairs)) if pairs[index] not in STORY]
    held_out = {*STORY, *drawn[: round(share * len(pairs)) - len(STORY)]}
    made = all_sentences()
    return [s for s in made if s.pair not in held_out], [s for s in made if s.pair in held_out]


def twins(test: Sequence[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """List the pairs of sentences in `test` that differ in one word, the adjective, and mean different nouns.

    The first of each two means the living being, the second the thing.
    """
    by_nouns: dict[tuple, tuple[list, list]] = {}
    for s in test:
        adjective = s.words.index(s.pair[1])
        of_being = s.pair[1] in FEELINGS
        frame = s.words[:adjective] + s.words[adjective + 1 :]
        by_nouns.setdefault(frame, ([], []))[0 if of_being else 1].append(s)
    return [two for beings, things in by_nouns.values() for two in product(beings, things)]


def encode(sentences: Sequence[Sentence]) -> np.ndarray:
    """Turn sentences into ids, a row a sentence, padded at the end to the longest.

    >>> ids = encode([sentence(SEAT_FRAMES[0], "dog", "chair", "tired")])
    >>> ids.shape, VOCABULARY[ids[0, 1]]
    ((1, 10), 'dog')
    """
    longest = max(len(s.words) for s in sentences)
    rows = [[_ID[word] for word in s.words] + [_ID[PAD]] * (longest - len(s.words)) for s in sentences]
    return np.array(rows)  # (batch, position)

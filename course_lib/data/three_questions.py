"""Sentences with a *she* or *he*, every word with a random digit, and three questions asked at that one word.

Who is she? What was done? How was she? The answers are the digits of three words: the noun that agrees with the
pronoun, the verb, and the adjective near the pronoun. The digits say nothing about the words, so that the right digit
can only be fetched from the right place. Left out: real English, in which "she" may be anybody.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

WOMEN = ("queen", "girl", "aunt", "witch")
MEN = ("king", "boy", "uncle", "monk")
VERBS = ("saw", "called", "helped", "met", "followed", "thanked")
ADJECTIVES = ("old", "young", "tall", "tired", "brave", "hungry", "shy", "rich")
PAD = "<pad>"
VOCABULARY = (PAD, "the", "because", "was", "very", "she", "he", *WOMEN, *MEN, *VERBS, *ADJECTIVES)
DIGITS = 10
LONGEST = 12  # words in the longest sentence
QUESTIONS = ("who", "did what", "how")
_ID = {word: index for index, word in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Sentence:
    """One sentence, the position of its pronoun, and where the answers to the three questions stand."""

    words: tuple[str, ...]
    pronoun: int
    noun: int  # who?
    verb: int  # did what?
    adjective: int  # how?

    def __str__(self) -> str:
        return " ".join(self.words)


def sentence(subject: str, verb: str, other: str, pronoun: str, adjective: str, because_first: bool) -> Sentence:
    """Put a sentence together; `subject` and `other` are a noun each, or an adjective and a noun.

    >>> s = sentence("old queen", "saw", "king", "she", "very tired", because_first=False)
    >>> str(s), s.words[s.noun], s.words[s.verb], s.words[s.adjective]
    ('the old queen saw the king because she was very tired', 'queen', 'saw', 'tired')
    """
    main, side = f"the {subject} {verb} the {other}", f"because {pronoun} was {adjective}"
    words = tuple((f"{side} {main}" if because_first else f"{main} {side}").split())
    nouns = WOMEN if pronoun == "she" else MEN
    noun = next(place for place, word in enumerate(words) if word in nouns)
    at = words.index(pronoun)
    near = at + (3 if words[at + 2] == "very" else 2)
    return Sentence(words, at, noun, words.index(verb), near)


def story() -> Sentence:
    """Return the sentence of the lesson, in which all three answers have a rival or stand far away.

    >>> str(story())
    'the old queen thanked the tall king because she was very tired'
    """
    return sentence("old queen", "thanked", "tall king", "she", "very tired", because_first=False)


def draw(rng: np.random.Generator) -> Sentence:
    """Draw one sentence: a woman and a man in either order, up to three adjectives, the clauses in either order."""
    people = rng.permutation([rng.choice(WOMEN), rng.choice(MEN)])
    subject, other, near = (str(word) for word in rng.permutation(ADJECTIVES)[:3])
    choices = rng.random(5) < 0.5
    return sentence(
        f"{subject} {people[0]}" if choices[0] else str(people[0]),
        str(rng.choice(VERBS)),
        f"{other} {people[1]}" if choices[1] else str(people[1]),
        "she" if choices[2] else "he",
        f"very {near}" if choices[3] else near,
        because_first=bool(choices[4]),
    )


def split(rng: np.random.Generator, train: int = 4000, test: int = 1000) -> tuple[list[Sentence], list[Sentence]]:
    """Draw sentences to train on and others to test on; the story's is the first to test on, and none is in both."""
    tested = {story(): None}  # a dictionary, for it keeps the order
    while len(tested) < test:
        tested[draw(rng)] = None
    trained: list[Sentence] = []
    while len(trained) < train:
        drawn = draw(rng)
        if drawn not in tested:
            trained.append(drawn)
    return trained, list(tested)


def encode(sentences: Sequence[Sentence]) -> Int[np.ndarray, "batch 12"]:
    """Turn sentences into ids, a row a sentence, padded at the end.

    >>> ids = encode([sentence("queen", "saw", "king", "she", "tired", because_first=False)])
    >>> ids.shape, [VOCABULARY[i] for i in ids[0, 7:]]
    ((1, 12), ['was', 'tired', '<pad>', '<pad>', '<pad>'])
    """
    rows = [[_ID[word] for word in s.words] + [_ID[PAD]] * (LONGEST - len(s.words)) for s in sentences]
    return np.array(rows, dtype=np.int64).reshape(-1, LONGEST)

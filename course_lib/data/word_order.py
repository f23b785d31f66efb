"""Who eats whom? Sentences of three words (noun, verb, noun), and the question for the noun that comes first.

A sentence and its mirror image have the same words and different answers. So the pairs of nouns that are held out are
held out both ways round: who has seen "fish eats man" and is asked "man eats fish" would do worse than guess.
"""

import numpy as np
from jaxtyping import Int

NOUNS = tuple(
    "man fish dog cat hen crab fox owl bear wolf frog duck mouse snake goat shark worm hawk child lion".split()
)
VERBS = ("eats", "sees", "helps")
VOCABULARY = (*NOUNS, *VERBS)
HELD_OUT = 0.2  # of the pairs of nouns
CHANCE = 0.5  # for one who knows the two nouns, and not which comes first


def sentences(
    seed: int,
) -> tuple[Int[np.ndarray, "train 3"], Int[np.ndarray, "held_out 3"]]:
    """Return all sentences of two different nouns: those to learn from, and those of the pairs that are held out.

    The first id of a sentence is also its answer.

    >>> learnt, held_out = sentences(seed=0)
    >>> learnt.shape, held_out.shape  # together 20 · 19 · 3
    ((912, 3), (228, 3))
    """
    pairs = np.array([(a, b) for b in range(len(NOUNS)) for a in range(b)])
    shuffled = np.random.default_rng(seed).permutation(pairs)
    cut = round(HELD_OUT * len(pairs))
    return _both_ways(shuffled[cut:]), _both_ways(shuffled[:cut])


def ids(sentence: str) -> list[int]:
    """Return the ids of the words of a sentence.

    >>> ids("man eats fish")
    [0, 20, 1]
    """
    return [VOCABULARY.index(word) for word in sentence.split()]


def _both_ways(pairs: Int[np.ndarray, "pair 2"]) -> Int[np.ndarray, "sentence 3"]:
    ordered = np.concatenate([pairs, pairs[:, ::-1]])
    verbs = len(NOUNS) + np.arange(len(VERBS))
    first, verb, second = (np.repeat(ordered[:, 0], 3), np.tile(verbs, len(ordered)), np.repeat(ordered[:, 1], 3))
    return np.stack([first, verb, second], axis=1)

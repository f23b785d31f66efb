"""The grammar of "it": what the sentences mean, and that training and test share no pair of noun and adjective."""

import numpy as np
import pytest

from course_lib.data.pronouns import (
    FEELINGS,
    LIVING,
    LONGEST,
    OF_SEATS,
    OF_WAYS,
    PAD,
    SEAT_FRAMES,
    SEATS,
    STORY,
    VOCABULARY,
    WAY_FRAMES,
    WAYS,
    all_sentences,
    encode,
    sentence,
    split,
    story,
    twins,
)


@pytest.fixture(scope="module")
def both():
    return split(np.random.default_rng(0))


def test_no_word_stands_twice_in_the_vocabulary():
    assert len(set(VOCABULARY)) == len(VOCABULARY)


def test_a_feeling_means_the_living_being_and_any_other_adjective_the_thing():
    assert not set(FEELINGS) & set(OF_SEATS + OF_WAYS)
    for made in all_sentences()[::97]:
        noun, adjective = made.pair
        assert (noun in LIVING) == (adjective in FEELINGS)
        assert made.words[made.it] == "it"
        assert made.words[made.other] in (SEATS + WAYS if noun in LIVING else LIVING)


def test_the_grammar_makes_as_many_sentences_as_its_parts_multiply_to():
    seats = len(SEAT_FRAMES) * len(LIVING) * len(SEATS) * len(FEELINGS + OF_SEATS)
    ways = len(WAY_FRAMES) * len(LIVING) * len(WAYS) * len(FEELINGS + OF_WAYS)
    made = all_sentences()
    assert len(made) == seats + ways == len({str(s) for s in made})


def test_the_place_of_a_noun_does_not_give_the_answer_away():
    """If the first noun were meant much more often in one order than in the other, a model could skip the adjective."""
    first = np.mean([s.referent < s.other for s in all_sentences()])
    assert 0.45 < first < 0.55


def test_no_pair_of_noun_and_adjective_stands_in_both_parts(both):
    train, test = ({s.pair for s in part} for part in both)
    assert not train & test
    assert len(both[0]) + len(both[1]) == len(all_sentences())


def test_each_word_of_a_held_out_pair_is_known_from_training(both):
    seen = {word for s in both[0] for word in s.pair}
    assert {word for s in both[1] for word in s.pair} <= seen


def test_the_pairs_of_the_story_are_held_out_whatever_the_seed():
    for seed in range(5):
        train, _ = split(np.random.default_rng(seed))
        assert not {s.pair for s in train} & set(STORY)
    assert [s.pair for s in story()] == list(STORY)


def test_a_fifth_of_the_pairs_is_held_out(both):
    pairs = {s.pair for s in all_sentences()}
    assert len({s.pair for s in both[1]}) == round(0.2 * len(pairs))


def test_twins_differ_in_the_adjective_alone_and_mean_different_nouns(both):
    pairs = twins(both[1])
    assert len(pairs) > 1000
    for being, thing in pairs[::50]:
        differing = [(a, b) for a, b in zip(being.words, thing.words, strict=True) if a != b]
        assert differing == [(being.pair[1], thing.pair[1])]
        assert (being.referent, being.other) == (thing.other, thing.referent)
        assert being.pair[0] in LIVING


def test_the_same_seed_gives_the_same_split_and_another_seed_another(both):
    again, other = (split(np.random.default_rng(seed))[1] for seed in (0, 1))
    assert again == both[1] != other


def test_encoding_keeps_the_words_and_fills_up_with_padding():
    short = sentence(SEAT_FRAMES[0], "dog", "chair", "tired")
    long = sentence(WAY_FRAMES[1], "fox", "river", "wide")
    ids = encode([short, long])
    assert ids.shape == (2, LONGEST) == (2, len(long.words))
    assert [VOCABULARY[i] for i in ids[0]] == [*short.words] + [PAD] * (LONGEST - len(short.words))


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_that_leaves_nothing_is_refused(share):
    with pytest.raises(ValueError, match="share: wanted"):
        split(np.random.default_rng(0), share)

"""The sentences with three questions: the marked words are the answers, whatever the order of the clauses."""

import numpy as np
import pytest

from course_lib.data import three_questions as data


def test_in_every_sentence_the_marked_words_are_of_the_right_kind():
    rng = np.random.default_rng(0)
    for _ in range(500):
        s = data.draw(rng)
        assert s.words[s.noun] in (data.WOMEN if s.words[s.pronoun] == "she" else data.MEN)
        assert s.words[s.verb] in data.VERBS
        assert s.words[s.adjective] in data.ADJECTIVES
        between = s.words[s.pronoun + 1 : s.adjective]
        assert between in (("was",), ("was", "very"))  # the adjective of the pronoun's own clause
        assert len(s.words) <= data.LONGEST
        assert set(s.words) <= set(data.VOCABULARY)


@pytest.mark.parametrize(("pronoun", "noun"), [("she", "witch"), ("he", "monk")])
@pytest.mark.parametrize("because_first", [False, True])
def test_the_noun_agrees_with_the_pronoun_on_either_side(pronoun, noun, because_first):
    s = data.sentence("tall monk", "met", "shy witch", pronoun, "old", because_first)
    assert (s.words[s.noun], s.words[s.verb], s.words[s.adjective]) == (noun, "met", "old")
    assert (s.words[0] == "because") == because_first


def test_no_sentence_is_trained_on_and_tested_on_and_the_story_comes_first():
    train, test = data.split(np.random.default_rng(0), train=300, test=200)
    assert (len(train), len(test), len(set(test))) == (300, 200, 200)
    assert test[0] == data.story()
    assert not set(train) & set(test)


def test_ids_are_the_words_and_then_padding():
    s = data.sentence("king", "saw", "girl", "he", "rich", because_first=True)
    (row,) = data.encode([s])
    assert tuple(data.VOCABULARY[i] for i in row[: len(s.words)]) == s.words
    assert {data.VOCABULARY[i] for i in row[len(s.words) :]} == {data.PAD}
    assert data.encode([]).shape == (0, data.LONGEST)

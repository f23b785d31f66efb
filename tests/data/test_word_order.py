"""Who eats whom: every sentence once, and pairs of nouns held out both ways round."""

import numpy as np

from course_lib.data import word_order


def pairs(rows: np.ndarray) -> set[frozenset]:
    return {frozenset(row) for row in rows[:, [0, 2]].tolist()}


def test_every_sentence_of_two_nouns_and_a_verb_is_there_once():
    rows = np.concatenate(word_order.sentences(seed=3))
    assert len({tuple(row) for row in rows.tolist()}) == len(rows) == 20 * 19 * 3
    assert (rows[:, 0] != rows[:, 2]).all()
    assert rows[:, [0, 2]].max() < len(word_order.NOUNS) <= rows[:, 1].min()


def test_a_pair_is_held_out_both_ways_round_and_with_every_verb():
    learnt, held_out = word_order.sentences(seed=0)
    assert not pairs(learnt) & pairs(held_out)
    mirrored = {tuple(row) for row in held_out[:, ::-1].tolist()}
    assert mirrored == {tuple(row) for row in held_out.tolist()}
    assert len(held_out) == 6 * len(pairs(held_out))


def test_each_noun_has_been_seen_in_both_places():
    for seed in range(3):
        learnt, _ = word_order.sentences(seed)
        for place in (0, 2):
            assert set(learnt[:, place]) == set(range(len(word_order.NOUNS)))


def test_another_seed_holds_out_other_pairs():
    assert pairs(word_order.sentences(0)[1]) != pairs(word_order.sentences(1)[1])


def test_words_have_ids():
    assert [word_order.VOCABULARY[index] for index in word_order.ids("fish helps owl")] == ["fish", "helps", "owl"]

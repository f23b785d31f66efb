"""The experiment with three questions: arrays in the lesson's shapes that compute what the model computes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.data.three_questions import VOCABULARY, encode, story  # noqa: E402
from course_lib.experiments import three_questions as experiment  # noqa: E402
from course_lib.reference.heads import multi_head_attention  # noqa: E402


def answers(model):
    """Answer with the arrays alone, by the lesson's function."""
    matrices = (model.W_Q, model.W_K, model.W_V, model.W_O)
    found = multi_head_attention(model.X_query, model.X_key, *matrices, model.h, model.mask)[:, 0]
    return np.einsum("bd,qda->bqa", found, model.W_read).argmax(axis=-1)


def test_three_heads_learn_three_questions_and_the_arrays_are_the_model():
    model = experiment.train(h=3)
    assert (answers(model) == model.answers).mean() > 0.95


def test_a_layer_that_has_not_been_trained_long_guesses():
    model = experiment.train(h=3, steps=1)
    assert (answers(model) == model.answers).mean() < 0.3


def test_the_answers_are_the_digits_at_the_marked_words():
    model = experiment.train(h=2, steps=1)
    assert model.sentences[0] == story()
    assert np.array_equal(np.take_along_axis(model.digits, model.places, axis=1), model.answers)
    for sentence, place in zip(model.sentences, model.places.tolist(), strict=True):
        assert place == [sentence.noun, sentence.verb, sentence.adjective]
    assert np.array_equal(model.mask[:, 0].sum(axis=1), [len(s.words) for s in model.sentences])


def test_asked_for_words_the_answers_are_ids_of_the_words():
    model = experiment.train(h=1, asked_for="words", steps=1)
    assert np.array_equal(np.take_along_axis(encode(model.sentences), model.places, axis=1), model.answers)
    assert [VOCABULARY[i] for i in model.answers[0]] == ["queen", "thanked", "tired"]


def test_the_same_seed_gives_the_same_layer_and_another_another():
    first, again, other = (experiment.train(2, seed, steps=2) for seed in (0, 0, 1))
    assert np.array_equal(first.W_Q, again.W_Q)
    assert not np.array_equal(first.W_Q, other.W_Q)


def test_anything_else_cannot_be_asked_for():
    with pytest.raises(ValueError, match="asked_for: wanted one of digits, words, got 'letters'"):
        experiment.train(1, asked_for="letters")

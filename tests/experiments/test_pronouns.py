"""The models of "it": what they are says what they cannot do, and the lesson's NumPy lines give torch's numbers."""

import numpy as np
import pytest
import torch

from course_lib.data.pronouns import PAD, VOCABULARY, encode, story
from course_lib.experiments import pronouns
from course_lib.reference.attention import softmax


def weights_of_it(model, vectors, it):
    return softmax((vectors @ model.read.W_K) @ (vectors[it] @ model.read.W_Q))


def look_around(model, start):
    Q, K, V = start @ model.first.W_Q, start @ model.first.W_K, start @ model.first.W_V
    return start + softmax(Q @ K.T) @ V


@pytest.fixture(scope="module")
def reader():
    return pronouns.two_lookups(seed=0)


@pytest.fixture(scope="module")
def teller():
    return pronouns.one_lookup_any_answer(seed=0)


def test_two_lookups_find_the_noun_on_pairs_they_never_saw_and_their_map_flips(reader):
    assert reader.accuracy > 0.95
    assert reader.flip > 0.95


def test_one_lookup_is_right_with_a_map_that_does_not_flip(teller):
    assert teller.accuracy > 0.95
    assert teller.flip < 0.01


def test_one_lookup_whose_map_must_answer_is_no_better_than_guessing():
    pointer = pronouns.one_lookup(seed=0)
    assert pointer.accuracy < 0.6
    assert pointer.flip < 0.01


def test_the_lines_of_the_lesson_find_the_nouns_of_the_story(reader):
    for sentence in story():
        vectors = look_around(reader, reader.vectors(sentence))
        assert weights_of_it(reader, vectors, sentence.it).argmax() == sentence.referent


def test_the_two_nouns_keep_their_ratio_when_the_adjective_changes(teller):
    """A theorem about one lookup over single words: true of the untrained model too, up to rounding."""
    for model in (teller, pronouns.one_lookup_any_answer(seed=5, steps=0)):
        for tired, broken in (story()[:2], story()[2:]):
            one, two = (weights_of_it(model, model.vectors(s), s.it) for s in (tired, broken))
            nouns = [tired.referent, tired.other]
            assert np.isclose(np.divide(*one[nouns]), np.divide(*two[nouns]), rtol=1e-9)


@pytest.mark.parametrize("kind", [pronouns.TwoLookups, pronouns.OneLookup, pronouns.OneLookupAnyAnswer])
def test_padding_changes_no_weight(kind):
    """The same sentence alone and in a batch with a longer one; float32 sums in another order differ by about 1e-7."""
    torch.manual_seed(0)
    model = kind()
    short = torch.from_numpy(encode(story()[:1]))
    padded = torch.nn.functional.pad(short, (0, 3), value=VOCABULARY.index(PAD))
    alone, filled = model(short, torch.tensor([7])), model(padded, torch.tensor([7]))
    assert torch.allclose(alone, filled[:, : short.shape[1]], atol=1e-6)
    assert torch.all(filled[:, short.shape[1] :] == 0)


def test_numpy_and_torch_give_the_same_weights(reader, teller):
    """torch computes in float32 and NumPy in float64, hence 1e-5; rebuilt here from the arrays that came back."""
    for trained, kind in ((reader, pronouns.TwoLookups), (teller, pronouns.OneLookupAnyAnswer)):
        model = kind()
        with torch.no_grad():
            model.words.copy_(torch.from_numpy(trained.words))
            model.places.copy_(torch.from_numpy(trained.places))
            for ours, theirs in ((model.first, trained.first), (model.read, trained.read)):
                for name in ("W_Q", "W_K", "W_V") if ours is not None else ():
                    if getattr(theirs, name) is not None:
                        getattr(ours, name).copy_(torch.from_numpy(getattr(theirs, name)))
            for sentence in story():
                start = trained.vectors(sentence)
                vectors = start if trained.first is None else look_around(trained, start)
                weights = model(torch.from_numpy(encode([sentence])), torch.tensor([sentence.it]))[0]
                assert np.allclose(weights_of_it(trained, vectors, sentence.it), weights.numpy(), atol=1e-5)


def test_the_same_seed_trains_the_same_model_and_leaves_torch_random_state_alone():
    before = torch.random.get_rng_state()
    one, two, other = (pronouns.two_lookups(seed, steps=3) for seed in (1, 1, 2))
    assert np.array_equal(one.read.W_Q, two.read.W_Q)
    assert not np.array_equal(one.read.W_Q, other.read.W_Q)
    assert torch.equal(before, torch.random.get_rng_state())

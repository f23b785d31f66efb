"""Number words: said, cut and joined without loss, drawn without repeats, held out for good."""

import numpy as np
import pytest

from course_lib.data.number_words import LANGUAGES, NumberWords, corpus, draw, join, split, words

SAMPLE = [*range(120), 999, 1000, 1001, 21_000, 101_101, 999_999, 1_000_000, 2_345_678, 999_999_999]


@pytest.mark.parametrize("language", LANGUAGES)
def test_splitting_and_joining_loses_nothing(language):
    numbers = [*SAMPLE, *draw(np.random.default_rng(0), 300, 10**9, even_lengths=True)]
    texts = [words(number, language) for number in numbers]
    assert [join(split(text, language), language) for text in texts] == texts


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_is_made_of_a_few_dozen_known_pieces(language):
    tokeniser = NumberWords(language)
    assert len(tokeniser) < 50
    for number in [*SAMPLE, *draw(np.random.default_rng(1), 300, 10**9)]:
        assert tokeniser.decode(tokeniser.encode(words(number, language))) == words(number, language)


@pytest.mark.parametrize(
    ("number", "pieces"),
    [
        (1, ["eins"]),
        (17, ["siebzehn"]),
        (21, ["ein", "und", "zwanzig"]),
        (7086, ["sieben", "tausend", "sechs", "und", "achtzig"]),
        (1_000_000, ["eine", "Million"]),
    ],
)
def test_german_falls_into_the_words_that_it_is_made_of(number, pieces):
    assert split(words(number, "de"), "de") == pieces


def test_german_says_the_units_before_the_tens():
    english, german = split(words(43, "en"), "en"), split(words(43, "de"), "de")
    assert english.index("forty") < english.index("three")
    assert german.index("vierzig") > german.index("drei")


def test_digits_are_read_as_the_number():
    english = NumberWords("en")
    assert english.encode(" 243 ") == english.encode("two hundred and forty-three")


@pytest.mark.parametrize("text", ["", "forty-free", "zwei"])
def test_what_is_no_number_word_is_refused_by_its_name(text):
    with pytest.raises(ValueError, match="wanted number words in the language 'en', got"):
        NumberWords("en").encode(text)


def test_a_language_that_cannot_be_cut_is_refused():
    with pytest.raises(ValueError, match="wanted one of de, en, fr, got 'nl'"):
        words(3, "nl")


@pytest.mark.parametrize("number", [-1, 10**9])
def test_a_number_out_of_range_is_refused(number):
    with pytest.raises(ValueError, match="wanted 0 or more and less than"):
        words(number, "en")


@pytest.mark.parametrize("even_lengths", [False, True])
def test_held_out_numbers_are_in_no_training_pair_and_none_comes_twice(even_lengths):
    made = corpus(seed=3, train=300, held_out=100, even_lengths=even_lengths)
    train, held_out = ({pair.name for pair in pairs} for pairs in (made.train, made.held_out))
    assert len(train) == 300 and len(held_out) == 100 and not train & held_out


def test_the_first_hundred_numbers_are_always_in_training_and_never_held_out():
    made = corpus(seed=3, train=1100, held_out=100)
    names = [pair.name for pair in made.train]
    assert len(names) == 1100 and len(made.held_out) == 100
    assert {names.count(str(number)) for number in range(100)} == {5}
    assert not {str(number) for number in range(100)} & {pair.name for pair in made.held_out}


def test_even_lengths_draw_as_many_short_numbers_as_there_are():
    lengths = np.bincount(
        [len(str(number)) for number in draw(np.random.default_rng(0), 600, 10**6, even_lengths=True)]
    )
    assert lengths[1] == 10 and lengths[2] >= 60 and lengths[3:].min() > 90


def test_the_same_seed_makes_the_same_corpus_and_another_one_another():
    assert corpus(seed=1, train=20, held_out=5).train == corpus(seed=1, train=20, held_out=5).train
    assert corpus(seed=1, train=20, held_out=5).train != corpus(seed=2, train=20, held_out=5).train


def test_more_numbers_than_there_are_are_refused():
    with pytest.raises(ValueError, match="no more numbers than there are below 10, got 11"):
        draw(np.random.default_rng(0), 11, 10)

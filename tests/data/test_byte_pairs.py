"""Byte pairs: nothing is lost, whatever the text, and a saved tokeniser is the same."""

import pytest

pytest.importorskip("tokenizers", reason="no tokenizers: install the extra `text`")

from course_lib.data.byte_pairs import BytePairs, corpus

TEXTS = ["the dog sat on the chair", "der Hund saß auf dem Stuhl", "the dog and the chair"] * 5


@pytest.fixture(scope="module")
def tokeniser():
    return BytePairs.learn(TEXTS, 300)


@pytest.mark.parametrize("text", ["the dog", "der Hund saß", "日本語 🙂", "two  spaces", "a\tb", "<end> is text here"])
def test_encoding_and_decoding_loses_nothing(tokeniser, text):
    assert tokeniser.decode(tokeniser.encode(text)) == text


def test_common_words_are_one_piece_and_special_ids_keep_their_places(tokeniser):
    assert len(tokeniser.encode("the")) == 1 and len(tokeniser) <= 300
    assert tokeniser.pieces([0, 1, 2, *tokeniser.encode("the")]) == ["<pad>", "<begin>", "<end>", " the"]
    assert min(tokeniser.encode("the dog 🙂")) > 3


def test_decoding_ends_at_the_end_token(tokeniser):
    assert tokeniser.decode([1, *tokeniser.encode("the dog"), 2, *tokeniser.encode("chair"), 0]) == "the dog"


def test_a_saved_tokeniser_is_the_same(tokeniser, tmp_path):
    tokeniser.save(tmp_path / "tokenizer.json")
    again = BytePairs.load(tmp_path / "tokenizer.json")
    assert all(again.encode(text) == tokeniser.encode(text) for text in TEXTS) and len(again) == len(tokeniser)


def test_too_small_a_vocabulary_is_refused():
    with pytest.raises(ValueError, match="size: wanted at least 260 pieces, one for each byte and special, got 100"):
        BytePairs.learn(TEXTS, 100)


def test_a_text_too_long_for_the_model_is_refused_by_file_and_line(tokeniser):
    pairs = [("the dog", "der Hund", "pairs.tsv:1"), ("the dog " * 9, "der Hund", "pairs.tsv:2")]
    assert len(corpus(pairs[:1], pairs[:1], tokeniser, longest=16).train) == 1
    with pytest.raises(ValueError, match=r"^pairs.tsv:2: wanted a source of fewer than 16 tokens, got \d+"):
        corpus(pairs, [], tokeniser, longest=16)

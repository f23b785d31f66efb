"""Exact match, teacher forcing, BLEU and bins by length, against cases that are counted by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.data.vocabulary import END  # noqa: E402
from course_lib.train.evaluate import (  # noqa: E402
    Translation,
    bleu,
    by_length,
    decode,
    exact_match,
    teacher_forced,
    translate,
    translations,
)


class Parrot(torch.nn.Module):
    """Says what it has heard, and is never wrong about the next token of a copy."""

    longest = 100

    def __init__(self, vocabulary):
        super().__init__()
        self.weight, self.vocabulary = torch.nn.Parameter(torch.ones(1)), vocabulary

    def start(self, source):
        class State:
            def select(self, rows):
                self.source = self.source[rows]

        state = State()
        state.source, state.at = torch.nn.functional.pad(source, (0, 1)), 0
        return state

    def step(self, ids, state):
        said = state.source[:, min(state.at, state.source.shape[1] - 1)]
        state.at += 1
        return torch.nn.functional.one_hot(torch.where(said == 0, END, said), self.vocabulary).float()


def test_decoding_returns_each_sequence_in_its_place():
    sources = [[5, 6, 7], [8], [9, 9], [4, 5, 6, 7]]
    assert decode(Parrot(10), sources, size=2) == sources
    assert decode(Parrot(10), sources, beams=2) == sources


def test_a_translation_is_right_when_every_token_is(corpus, build):
    found = translations(build(), corpus)
    assert len(found) == len(corpus.held_out)
    assert all(t.right == (t.got == t.wanted) for t in found)


def test_texts_go_in_and_texts_come_out(corpus, build):
    german = translate(build(), corpus, ["forty-two", "7"])
    assert len(german) == 2 and all(isinstance(text, str) for text in german)


def test_teacher_forcing_counts_tokens_and_not_sentences(corpus, build):
    model = build()
    loss, accuracy = teacher_forced(model, corpus.held_out, torch.device("cpu"))
    by_hand, right, tokens = 0.0, 0, 0
    model.eval()
    for pair in corpus.held_out:
        with torch.no_grad():
            log_p = model(torch.tensor([pair.source]), torch.tensor([[1, *pair.target]])).log_softmax(-1)[0]
        wanted = [*pair.target, END]
        by_hand -= log_p[range(len(wanted)), wanted].sum().item()
        right += (log_p.argmax(-1) == torch.tensor(wanted)).sum().item()
        tokens += len(wanted)
    assert loss == pytest.approx(by_hand / tokens, rel=1e-5) and accuracy == pytest.approx(right / tokens)


FOUND = [Translation("a", "x", "x", True), Translation("b", "y", "z", False), Translation("c", "w", "w", True)]


def test_bins_by_length_have_their_own_shares():
    assert exact_match(FOUND) == pytest.approx(2 / 3)
    shares = by_length(FOUND, lengths=[1, 1, 5], edges=[1, 4, 6, 9])
    assert shares[:2].tolist() == [0.5, 1.0] and np.isnan(shares[2])


def test_bleu_is_100_for_the_right_words_and_0_for_others():
    pytest.importorskip("sacrebleu", reason="no sacrebleu: install the extra `text`")
    text = "the little dog sat on the chair"
    assert bleu([Translation("", text, text, True)]) == pytest.approx(100)
    assert bleu([Translation("", text, "none of these words here", False)]) == pytest.approx(0, abs=1e-6)

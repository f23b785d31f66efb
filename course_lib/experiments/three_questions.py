"""One attention layer that answers three questions at one word, trained in a second, and given back as arrays.

Every word is the sum of three vectors: its word, its place, its digit. The pronoun alone asks; what its heads find
goes through W_O and then through one linear map a question. No feed-forward layer, no residual path, no normalisation:
whatever the model knows at the pronoun, its heads have brought there.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from course_lib.data.three_questions import DIGITS, LONGEST, PAD, QUESTIONS, VOCABULARY, Sentence, encode, split
from course_lib.model.attention import MultiHeadAttention
from course_lib.training import fit

D_MODEL = 48  # divided by 1, 2, 3 and 4 heads
BATCH, LEARNING_RATE = 64, 6e-3
ASKED_FOR = ("digits", "words")


@dataclass(frozen=True)
class Trained:
    """A trained layer as arrays in the shapes of the lesson, with sentences that it has not seen."""

    h: int
    W_Q: np.ndarray  # (d_model, h * d_k)
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray  # (h * d_v, d_model)
    W_read: np.ndarray  # (question, d_model, answer)
    sentences: list[Sentence]
    digits: np.ndarray  # (batch, n): the digit of each word
    X_query: np.ndarray  # (batch, 1, d_model): the pronouns
    X_key: np.ndarray  # (batch, n, d_model): all words, padded
    mask: np.ndarray  # (batch, 1, n): True where there is a word
    places: np.ndarray  # (batch, question): where each answer stands
    answers: np.ndarray  # (batch, question)


class Reader(nn.Module):
    """Vectors for words, places and digits, one multi-head attention, and a linear map a question."""

    def __init__(self, h: int, answers: int):
        super().__init__()
        self.words = nn.Parameter(torch.randn(len(VOCABULARY), D_MODEL))
        self.places = nn.Parameter(torch.randn(LONGEST, D_MODEL))
        self.digits = nn.Parameter(torch.randn(DIGITS, D_MODEL))
        self.attend = MultiHeadAttention(D_MODEL, h)
        self.read = nn.Parameter(torch.randn(len(QUESTIONS), D_MODEL, answers) * D_MODEL**-0.5)

    def inputs(
        self, ids: torch.Tensor, digits: torch.Tensor, pronoun: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the pronouns' vectors, all vectors, and the mask."""
        X = self.words[ids] + self.places + self.digits[digits]  # (batch, n, d_model)
        mask = (ids != VOCABULARY.index(PAD))[:, None]  # (batch, 1, n)
        return X[torch.arange(len(ids)), pronoun][:, None], X, mask

    def forward(self, ids: torch.Tensor, digits: torch.Tensor, pronoun: torch.Tensor) -> torch.Tensor:
        """Return a logit an answer for each question: (batch, question, answer)."""
        found = self.attend(*self.inputs(ids, digits, pronoun))[:, 0]  # (batch, d_model)
        return torch.einsum("bd,qda->bqa", found, self.read)


def train(h: int, seed: int = 0, asked_for: str = "digits", steps: int = 250) -> Trained:
    """Train a layer of `h` heads to answer with the digits of the three words, or with the words themselves.

    Raises:
        ValueError: if it is asked for neither.
    """
    if asked_for not in ASKED_FOR:
        raise ValueError(f"asked_for: wanted one of {', '.join(ASKED_FOR)}, got {asked_for!r}")
    rng = np.random.default_rng(seed)
    seen, unseen = split(rng)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Reader(h, DIGITS if asked_for == "digits" else len(VOCABULARY))
    examples = _tensors(seen)

    def loss_of_step(_: int) -> torch.Tensor:
        chosen = torch.from_numpy(rng.integers(len(seen), size=BATCH))
        ids, pronoun, places = (tensor[chosen] for tensor in examples)
        digits = torch.from_numpy(rng.integers(DIGITS, size=ids.shape))  # new ones each time
        answers = (digits if asked_for == "digits" else ids).gather(1, places)  # (batch, question)
        return nn.functional.cross_entropy(model(ids, digits, pronoun).flatten(0, 1), answers.flatten())

    fit(model, loss_of_step, steps, LEARNING_RATE)
    ids, pronoun, places = _tensors(unseen)
    digits = torch.from_numpy(rng.integers(DIGITS, size=ids.shape))
    answers = (digits if asked_for == "digits" else ids).gather(1, places)
    attend = model.attend
    matrices = [_array(linear.weight).T for linear in (attend.W_Q, attend.W_K, attend.W_V, attend.W_O)]
    X_query, X_key, mask = model.inputs(ids, digits, pronoun)
    found = _array(X_query), _array(X_key), mask.numpy(), places.numpy(), answers.numpy()
    return Trained(h, *matrices, _array(model.read), unseen, digits.numpy(), *found)


def _tensors(sentences: list[Sentence]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    places = torch.tensor([(s.pronoun, s.noun, s.verb, s.adjective) for s in sentences])
    return torch.from_numpy(encode(sentences)), places[:, 0], places[:, 1:]


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy().astype(np.float64)

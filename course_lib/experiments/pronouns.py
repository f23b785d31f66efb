"""Three small models that learn what "it" means, trained in seconds, and whether their maps follow the adjective.

`two_lookups`: every word first looks around, then "it" looks for its noun, and the weights of that second look are
the answer (an attention-sum reader, Kadlec et al. 2016, with one layer of attention before it). `one_lookup`: the same
without looking around first. `one_lookup_any_answer`: one look as well, but the answer is made from what "it" brings
home, so that the weights may be anything. Left out: the scale 1/√d_k, several heads, normalisation and feed-forward
layers; queries and keys start small instead, so that the first softmaxes are even.
"""

import functools
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from course_lib.data.pronouns import LONGEST, PAD, VOCABULARY, Sentence, encode, split, twins
from course_lib.training import fit, one_thread

D_MODEL, D_K = 64, 16
BATCH, LEARNING_RATE = 64, 5e-3


@dataclass(frozen=True)
class Projections:
    """The matrices of one lookup. W_V is None where the weights themselves are what the lookup is for."""

    W_Q: np.ndarray  # (d_model, d_k)
    W_K: np.ndarray  # (d_model, d_k)
    W_V: np.ndarray | None  # (d_model, d_model)


@dataclass(frozen=True)
class Trained:
    """A trained model as arrays, and how it does on sentences whose noun–adjective pairs it never saw."""

    words: np.ndarray  # (vocab, d_model), a vector a word
    places: np.ndarray  # (position, d_model), a vector a position
    first: Projections | None  # with which every word looks around; None where no word does
    read: Projections  # with which "it" looks for its noun
    W_answer: np.ndarray | None  # (d_model, vocab), from what "it" brings home to the answer; None where not used
    test: list[Sentence]  # sentences held out
    twins: list[tuple[Sentence, Sentence]]  # those of them that differ in one adjective
    accuracy: float  # share of the test sentences answered right
    flip: float  # share of the twins in which "it" prefers the right noun both times

    def vectors(self, sentence: Sentence) -> np.ndarray:
        """Return what the model starts from: for each word its own vector plus the vector of its position."""
        ids = encode([sentence])[0]
        return self.words[ids] + self.places[: len(ids)]  # (n, d_model)


class Lookup(nn.Module):
    """One soft lookup: queries, keys and values projected from vectors."""

    def __init__(self, start: float, values: bool):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(D_MODEL, D_K) * D_MODEL**-0.5 * start)
        self.W_K = nn.Parameter(torch.randn(D_MODEL, D_K) * D_MODEL**-0.5 * start)
        self.W_V = nn.Parameter(torch.randn(D_MODEL, D_MODEL) * D_MODEL**-0.5) if values else None

    def weights(self, X: torch.Tensor, Y: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """Return how much each row of X looks at each row of Y that is not padding."""
        scores = (X @ self.W_Q) @ (Y @ self.W_K).transpose(-2, -1)  # (batch, query, key)
        return scores.masked_fill(padding[:, None], -torch.inf).softmax(dim=-1)

    def arrays(self) -> Projections:
        """Return the matrices as NumPy arrays."""
        return Projections(_array(self.W_Q), _array(self.W_K), None if self.W_V is None else _array(self.W_V))


class TwoLookups(nn.Module):
    """Every word looks around; then "it" looks for its noun, and where it looks is the answer."""

    look_around = True

    def __init__(self):
        super().__init__()
        self.words = nn.Parameter(torch.randn(len(VOCABULARY), D_MODEL) * 0.5)
        self.places = nn.Parameter(torch.randn(LONGEST, D_MODEL) * 0.5)
        self.first = Lookup(start=0.1, values=True) if self.look_around else None
        self.read = Lookup(start=0.1, values=False)
        self.W_answer = None

    def forward(self, ids: torch.Tensor, it: torch.Tensor) -> torch.Tensor:
        """Return the weight that "it" gives each position."""
        padding = ids == VOCABULARY.index(PAD)
        X = self.words[ids] + self.places[: ids.shape[1]]  # (batch, position, d_model)
        if self.first is not None:
            X = X + self.first.weights(X, X, padding) @ (X @ self.first.W_V)
        at_it = X[torch.arange(len(ids)), it][:, None]  # (batch, 1, d_model)
        return self.read.weights(at_it, X, padding)[:, 0]  # (batch, position)

    def loss(self, ids: torch.Tensor, it: torch.Tensor, referent: torch.Tensor) -> torch.Tensor:
        """Return −log of the weight on the right noun, in nats."""
        return nn.functional.nll_loss(torch.log(self(ids, it) + 1e-9), referent)

    def right(self, ids: torch.Tensor, it: torch.Tensor, referent: torch.Tensor) -> torch.Tensor:
        """Say for each sentence whether the answer is right: whether the right noun has the largest weight."""
        return self(ids, it).argmax(dim=-1) == referent


class OneLookup(TwoLookups):
    """The same without looking around first."""

    look_around = False


class OneLookupAnyAnswer(nn.Module):
    """ "It" looks once at the words as they came, and the answer is a linear function of the vector it brings home."""

    def __init__(self):
        super().__init__()
        self.words = nn.Parameter(torch.randn(len(VOCABULARY), D_MODEL))
        self.places = nn.Parameter(torch.randn(LONGEST, D_MODEL))
        self.first = None
        self.read = Lookup(start=0.03, values=True)
        self.W_answer = nn.Parameter(torch.randn(D_MODEL, len(VOCABULARY)) * D_MODEL**-0.5)

    def look(self, ids: torch.Tensor, it: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the weight that "it" gives each position, and the logit of each word as the answer."""
        X = self.words[ids] + self.places[: ids.shape[1]]  # (batch, position, d_model)
        at_it = X[torch.arange(len(ids)), it][:, None]  # (batch, 1, d_model)
        weights = self.read.weights(at_it, X, ids == VOCABULARY.index(PAD))  # (batch, 1, position)
        return weights[:, 0], (weights @ (X @ self.read.W_V) @ self.W_answer)[:, 0]

    def forward(self, ids: torch.Tensor, it: torch.Tensor) -> torch.Tensor:
        """Return the weight that "it" gives each position."""
        return self.look(ids, it)[0]

    def loss(self, ids: torch.Tensor, it: torch.Tensor, referent: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy of the right noun among all words, in nats."""
        return nn.functional.cross_entropy(self.look(ids, it)[1], ids[torch.arange(len(ids)), referent])

    def right(self, ids: torch.Tensor, it: torch.Tensor, referent: torch.Tensor) -> torch.Tensor:
        """Say for each sentence whether the word with the largest logit is the right noun."""
        return self.look(ids, it)[1].argmax(dim=-1) == ids[torch.arange(len(ids)), referent]


def two_lookups(seed: int, steps: int = 300) -> Trained:
    """Train the model that looks around first and answers by where "it" looks."""
    return _trained(TwoLookups, seed, steps)


def one_lookup(seed: int, steps: int = 300) -> Trained:
    """Train the model that answers by where "it" looks, without looking around first."""
    return _trained(OneLookup, seed, steps)


def one_lookup_any_answer(seed: int, steps: int = 500) -> Trained:
    """Train the model that looks once and makes its answer from what "it" brings home."""
    return _trained(OneLookupAnyAnswer, seed, steps)


def _trained(kind: type[nn.Module], seed: int, steps: int) -> Trained:
    train, test, pairs = _sentences(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind()
    examples, rng = _tensors(train), np.random.default_rng(seed)

    def loss_of_step(step: int) -> torch.Tensor:
        chosen = torch.from_numpy(rng.integers(0, len(train), BATCH))
        return model.loss(*(tensor[chosen] for tensor in examples))

    fit(model, loss_of_step, steps, LEARNING_RATE)
    with torch.no_grad(), one_thread():
        accuracy = float(model.right(*_tensors(test)).float().mean())
        prefers = [_prefers_right(model, [pair[which] for pair in pairs]) for which in (0, 1)]
    flip = float((prefers[0] & prefers[1]).float().mean())
    first = model.first.arrays() if model.first is not None else None
    W_answer = _array(model.W_answer) if model.W_answer is not None else None
    arrays = _array(model.words), _array(model.places), first, model.read.arrays(), W_answer
    return Trained(*arrays, test, pairs, accuracy, flip)


@functools.lru_cache(maxsize=4)
def _sentences(seed: int) -> tuple[list[Sentence], list[Sentence], list[tuple[Sentence, Sentence]]]:
    train, test = split(np.random.default_rng(seed))
    return train, test, twins(test)


def _tensors(sentences: list[Sentence]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    places = torch.tensor([(sentence.it, sentence.referent) for sentence in sentences])
    return torch.from_numpy(encode(sentences)), places[:, 0], places[:, 1]


def _prefers_right(model: nn.Module, sentences: list[Sentence]) -> torch.Tensor:
    """Say for each sentence whether "it" gives the right noun more weight than the other."""
    ids, it, referent = _tensors(sentences)
    weights, rows = model(ids, it), torch.arange(len(ids))
    return weights[rows, referent] > weights[rows, torch.tensor([sentence.other for sentence in sentences])]


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy().astype(np.float64)

"""What the bottleneck costs: translators on GRUs, without and with additive attention, to train beside the transformer.

Follows Cho et al. 2014 (one vector for the whole source) and Bahdanau et al. 2015 (the decoder asks the encoder's
states before each token). Both take and give what the transformer does, so that one loop trains all three.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class GRUState:
    """What a recurrent decoder keeps between two tokens."""

    def __init__(
        self, hidden: Tensor, memory: Tensor | None = None, keys: Tensor | None = None, mask: Tensor | None = None
    ):
        self.hidden, self.memory, self.keys, self.mask = hidden, memory, keys, mask

    def select(self, rows: Tensor) -> None:
        """Keep these sequences of the batch, in this order."""
        for name in ("hidden", "memory", "keys", "mask"):
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name)[rows])


class _Translator(nn.Module):
    longest = 1_000_000  # a recurrent network has no table of positions

    def __init__(self, source_vocabulary: int, target_vocabulary: int, d: int, d_in: int):
        super().__init__()
        self.source = nn.Embedding(source_vocabulary, d // 2)
        self.target = nn.Embedding(target_vocabulary, d // 2)
        self.encoder = nn.GRU(d // 2, d // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(d, d)
        self.decoder = nn.GRUCell(d_in, d)
        self.generator = nn.Linear(d, target_vocabulary)

    def read(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (batch, source, d) of both directions, and the decoder's first state (batch, d)."""
        lengths = (source != 0).sum(dim=1).clamp(min=1).cpu()
        packed = pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return states, torch.tanh(self.bridge(last.transpose(0, 1).flatten(1)))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits (batch, target, vocabulary), row t of which has read the target up to t."""
        state = self.start(source)
        words = self.target(target)  # (batch, target, d / 2)
        hidden = [self.advance(words[:, t], state) for t in range(target.shape[1])]
        return self.generator(torch.stack(hidden, dim=1))

    def step(self, ids: Tensor, state: GRUState) -> Tensor:
        """Read one new token (batch, 1) and return the logits of the token after it."""
        return self.generator(self.advance(self.target(ids[:, -1]), state))


class GRUTranslator(_Translator):
    """The whole source goes through one vector of `d` numbers."""

    def __init__(self, source_vocabulary: int, target_vocabulary: int, d: int = 128):
        super().__init__(source_vocabulary, target_vocabulary, d, d // 2)

    def start(self, source: Tensor) -> GRUState:
        """Read the source into one vector, the decoder's first state."""
        return GRUState(self.read(source)[1])

    def advance(self, word: Tensor, state: GRUState) -> Tensor:
        """Go on by one embedded token and return the new state (batch, d)."""
        state.hidden = self.decoder(word, state.hidden)
        return state.hidden

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """As above, in one call: without attention no step waits for anything but the state."""
        cell = self.decoder
        first = self.read(source)[1][None]  # (1, batch, d)
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(cell, name) for name in names]
        states, _ = torch.gru(self.target(target), first, weights, True, 1, 0.0, False, False, True)
        return self.generator(states)


class GRUWithAttention(_Translator):
    """Before each token the decoder looks at the encoder's states: score = v · tanh(W_Q q + W_K k)."""

    def __init__(self, source_vocabulary: int, target_vocabulary: int, d: int = 128):
        super().__init__(source_vocabulary, target_vocabulary, d, d // 2 + d)
        self.W_Q, self.W_K = nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.v = nn.Linear(d, 1, bias=False)

    def start(self, source: Tensor) -> GRUState:
        """Keep every state of the encoder, and its key."""
        states, first = self.read(source)
        return GRUState(first, states, self.W_K(states), source != 0)

    def advance(self, word: Tensor, state: GRUState) -> Tensor:
        """Look at the source, go on by one embedded token, and return the new state (batch, d)."""
        found = (self.weights(state)[:, None] @ state.memory)[:, 0]  # (batch, d)
        state.hidden = self.decoder(torch.cat([word, found], dim=-1), state.hidden)
        return state.hidden

    def weights(self, state: GRUState) -> Tensor:
        """Return where the decoder looks now, (batch, source)."""
        scores = self.v(torch.tanh(self.W_Q(state.hidden)[:, None] + state.keys))[..., 0]  # (batch, source)
        return scores.masked_fill(~state.mask, torch.finfo(scores.dtype).min).softmax(dim=-1)

    def cross_weights(self, source: Tensor, target: Tensor) -> Tensor:
        """Return where each target position looks in the source: (batch, target, source)."""
        state, rows = self.start(source), []
        for word in self.target(target).unbind(dim=1):
            rows.append(self.weights(state))
            self.advance(word, state)
        return torch.stack(rows, dim=1)

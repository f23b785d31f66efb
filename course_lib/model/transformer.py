"""The paper's encoder-decoder: figure 1, assembled from the blocks. The trainable twin of `reference/transformer.py`.

Follows Vaswani et al. 2017, section 3. Sequences are padded on the right. The target that goes in is shifted: it
begins with the begin token, and row t of the logits predicts token t + 1.
"""

import torch
from torch import Tensor, nn

from course_lib.model.attention import Cache, MultiHeadAttention
from course_lib.model.config import Config
from course_lib.model.layers import FeedForward, PostLNBlock, PostLNDecoderBlock, PreLNBlock, PreLNDecoderBlock
from course_lib.model.positions import LearnedPositions, SinusoidalPositions


class Transformer(nn.Module):
    """Encode the source, decode the target while looking at it, and give every word of the vocabulary a logit.

    >>> from course_lib.model.config import tiny
    >>> model = Transformer(tiny(source_vocabulary=20, target_vocabulary=30))
    >>> source, target = torch.tensor([[4, 5, 6]]), torch.tensor([[1, 7]])
    >>> model(source, target).shape
    torch.Size([1, 2, 30])
    """

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.longest = config.longest  # a decoded sequence gets no longer
        self.source = Embedding(config, config.source_vocabulary)
        self.target = Embedding(config, config.target_vocabulary)
        self.encoder = nn.ModuleList(_encoder_block(config) for _ in range(config.N))
        self.decoder = nn.ModuleList(_decoder_block(config) for _ in range(config.N))
        last = nn.LayerNorm if config.norm == "pre" else nn.Identity  # the paper's order ends on a LayerNorm already
        self.encoder_norm, self.decoder_norm = last(config.d_model), last(config.d_model)
        self.generator = nn.Linear(config.d_model, config.target_vocabulary, bias=False)
        self._initialise()
        if config.tied == "all":
            self.source.words.weight = self.target.words.weight
        if config.tied in ("all", "output"):
            self.generator.weight = self.target.words.weight  # the same object: one gradient, one update

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits (batch, target, vocabulary) for ids `source` (batch, source) and shifted `target`."""
        return self.generator(self.decode(target, self.encode(source), source_mask(source, self.config.pad_id)))

    def encode(self, source: Tensor) -> Tensor:
        """Return the memory, (batch, source, d_model)."""
        mask = source_mask(source, self.config.pad_id)
        x = self.source(source)  # (batch, source, d_model)
        for block in self.encoder:
            x = block(x, mask=mask)
        return self.encoder_norm(x)

    def decode(
        self, target: Tensor, memory: Tensor, mask: Tensor | None, state: "DecodingState | None" = None
    ) -> Tensor:
        """Return (batch, target, d_model); `mask` hides the memory's padding, and the future is always hidden.

        With a `state`, `target` holds only the tokens that are new since the last call.
        """
        start = 0 if state is None else state.length
        x = self.target(target, start)  # (batch, target, d_model)
        causal = target_mask(target.shape[1], start, target.device)
        for i, block in enumerate(self.decoder):
            own, cross = (None, None) if state is None else state.caches[i]
            x = block(x, memory, {**causal, "cache": own}, {"mask": mask, "cache": cross})
        return self.decoder_norm(x)

    def start(self, source: Tensor) -> "DecodingState":
        """Encode the source and return the state from which `step` goes on, token by token."""
        return DecodingState(self.encode(source), source_mask(source, self.config.pad_id), self.config.N)

    def step(self, ids: Tensor, state: "DecodingState") -> Tensor:
        """Read the new tokens (batch, new) and return the logits (batch, vocabulary) of the token after them."""
        hidden = self.decode(ids, state.memory, state.mask, state)  # (batch, new, d_model)
        state.length += ids.shape[1]
        return self.generator(hidden[:, -1])

    def cross_weights(self, source: Tensor, target: Tensor) -> Tensor:
        """Return where each target position looks in the source: (layer, batch, head, target, source)."""
        mask, memory = source_mask(source, self.config.pad_id), self.encode(source)
        causal = target_mask(target.shape[1], 0, target.device)
        pre, x, weights = self.config.norm == "pre", self.target(target), []
        for block in self.decoder:
            asks = block.norm_1(x) if pre else x
            after = x + block.attend(asks, **causal)
            asks = block.norm_2(after) if pre else block.norm_1(after)
            weights.append(block.look.weights(asks, memory, mask))
            x = block(x, memory, causal, {"mask": mask})
        return torch.stack(weights)

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):  # times √d_model, the entries have variance one
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)


class Embedding(nn.Module):
    """Look words up, multiply by √d_model, add positions, and drop some numbers while training (sections 3.4, 5.4)."""

    def __init__(self, config: Config, vocabulary: int):
        super().__init__()
        table = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}[config.positions]
        self.words = nn.Embedding(vocabulary, config.d_model)
        self.positions = table(config.longest, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.scale = config.d_model**0.5

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Return (batch, n, d_model); the first id stands at position `start`."""
        return self.dropout(self.positions(self.words(ids) * self.scale, start))


class DecodingState:
    """What a decoder keeps between two tokens: the memory, its mask, and a pair of caches for each layer."""

    def __init__(self, memory: Tensor, mask: Tensor | None, layers: int):
        self.memory, self.mask, self.length = memory, mask, 0
        self.caches = [(Cache(), Cache()) for _ in range(layers)]  # of self-attention, of cross-attention

    def select(self, rows: Tensor) -> None:
        """Keep these sequences of the batch, in this order; one may be taken twice."""
        self.memory = self.memory[rows]
        self.mask = None if self.mask is None else self.mask[rows]
        for cache in (cache for pair in self.caches for cache in pair):
            cache.select(rows)


def source_mask(source: Tensor, pad_id: int) -> Tensor | None:
    """Let everyone look at the real tokens of a source and at no padding: (batch, 1, source).

    On a CPU a batch without padding needs no mask and gets none, which is faster; elsewhere one look at the data
    would make the device wait, and a compiled graph break.
    """
    mask = (source != pad_id)[:, None, :]
    can_look = source.device.type == "cpu" and not torch.compiler.is_compiling()
    return None if can_look and bool(mask.all()) else mask


def target_mask(new: int, start: int, device: torch.device) -> dict:
    """Hide the future from `new` tokens of which the first stands at position `start`, as options of an attention.

    Padding needs no mask of its own here: it stands on the right, in everyone's future. Only padding sees padding, and
    what comes out there is never counted.
    """
    if start == 0:
        return {"is_causal": True}
    if new == 1:
        return {}  # one new token may look at all that there is
    position = torch.arange(start, start + new, device=device)[:, None]  # (new, 1)
    return {"mask": torch.arange(start + new, device=device) <= position}  # (new, start + new)


def count_parameters(model: nn.Module) -> int:
    """Count the numbers that training changes; a matrix that is used in several places counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def _encoder_block(config: Config) -> nn.Module:
    block = PreLNBlock if config.norm == "pre" else PostLNBlock
    return block(_attention(config), _feed_forward(config), config.d_model, config.dropout)


def _decoder_block(config: Config) -> nn.Module:
    block = PreLNDecoderBlock if config.norm == "pre" else PostLNDecoderBlock
    return block(_attention(config), _attention(config), _feed_forward(config), config.d_model, config.dropout)


def _attention(config: Config) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.h, config.key_width, config.value_width)


def _feed_forward(config: Config) -> FeedForward:
    return FeedForward(config.d_model, config.d_ff, {"relu": nn.ReLU, "gelu": nn.GELU}[config.activation])

"""Sizes of an encoder-decoder as plain numbers: the paper's table 3, row by row, and the sizes that the lessons train.

Follows Vaswani et al. 2017, tables 2 and 3. What the paper leaves open is settled by its own counts: biases in the
feed-forward layers and none in the attention, and one matrix for source, target and output.
"""

from dataclasses import dataclass, replace

PAPER_VOCABULARY = 37_000  # "about 37000 tokens", shared by source and target (section 5.1)


@dataclass(frozen=True)
class Config:
    """The sizes of one model.

    Raises:
        ValueError: if a choice is unknown, or if the sizes do not fit together.
    """

    source_vocabulary: int = PAPER_VOCABULARY
    target_vocabulary: int = PAPER_VOCABULARY
    N: int = 6  # layers of the encoder, and as many of the decoder
    d_model: int = 512
    d_ff: int = 2048
    h: int = 8
    d_k: int | None = None  # d_model / h unless given
    d_v: int | None = None
    dropout: float = 0.1  # of each sub-layer's output, and of embeddings plus positions
    label_smoothing: float = 0.1
    norm: str = "post"  # the paper's LayerNorm(x + Sublayer(x)); "pre": x + Sublayer(LayerNorm(x))
    positions: str = "sinusoidal"  # or "learned"
    activation: str = "relu"  # or "gelu"
    tied: str = "all"  # one matrix for source, target and output; "output": for target and output; "none"
    longest: int = 1024  # rows of the table of positions
    pad_id: int = 0

    def __post_init__(self) -> None:
        choices = {
            "norm": ("post", "pre"),
            "positions": ("sinusoidal", "learned"),
            "activation": ("relu", "gelu"),
            "tied": ("all", "output", "none"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}: wanted one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if (self.d_k is None or self.d_v is None) and self.d_model % self.h:
            raise ValueError(f"h: wanted a number of heads that divides d_model = {self.d_model}, got {self.h}")
        if self.tied == "all" and self.source_vocabulary != self.target_vocabulary:
            raise ValueError(
                "tied: wanted one vocabulary for source and target, since they share a matrix, got "
                f"{self.source_vocabulary} and {self.target_vocabulary} words"
            )

    @property
    def key_width(self) -> int:
        """d_k: the numbers that a head compares."""
        return self.d_model // self.h if self.d_k is None else self.d_k

    @property
    def value_width(self) -> int:
        """d_v: the numbers that a head brings home."""
        return self.d_model // self.h if self.d_v is None else self.d_v


@dataclass(frozen=True)
class PaperRow:
    """A row of table 3: the sizes, and what the paper prints beside them."""

    change: str
    config: Config
    perplexity: float  # per word piece, newstest2013
    bleu: float
    millions: int | None = None  # of parameters, where they are printed
    steps: int = 100_000


BASE = Config()
BIG = replace(BASE, d_model=1024, d_ff=4096, h=16, dropout=0.3)


def _row(change: str, perplexity: float, bleu: float, millions: int | None = None, **sizes: object) -> PaperRow:
    return PaperRow(change, replace(BASE, **sizes), perplexity, bleu, millions)


TABLE_3 = {
    "base": _row("", 4.92, 25.8, 65),
    "A h=1": _row("h = 1", 5.29, 24.9, h=1),
    "A h=4": _row("h = 4", 5.00, 25.5, h=4),
    "A h=16": _row("h = 16", 4.91, 25.8, h=16),
    "A h=32": _row("h = 32", 5.01, 25.4, h=32),
    "B d_k=16": _row("d_k = 16", 5.16, 25.1, 58, d_k=16),
    "B d_k=32": _row("d_k = 32", 5.01, 25.4, 60, d_k=32),
    "C N=2": _row("N = 2", 6.11, 23.7, 36, N=2),
    "C N=4": _row("N = 4", 5.19, 25.3, 50, N=4),
    "C N=8": _row("N = 8", 4.88, 25.5, 80, N=8),
    "C d_model=256": _row("d_model = 256", 5.75, 24.5, 28, d_model=256),
    "C d_model=1024": _row("d_model = 1024", 4.66, 26.0, 168, d_model=1024),
    "C d_ff=1024": _row("d_ff = 1024", 5.12, 25.4, 53, d_ff=1024),
    "C d_ff=4096": _row("d_ff = 4096", 4.75, 26.2, 90, d_ff=4096),
    "D dropout=0": _row("P_drop = 0", 5.77, 24.6, dropout=0.0),
    "D dropout=0.2": _row("P_drop = 0.2", 4.95, 25.5, dropout=0.2),
    "D smoothing=0": _row("ε = 0", 4.67, 25.3, label_smoothing=0.0),
    "D smoothing=0.2": _row("ε = 0.2", 5.47, 25.7, label_smoothing=0.2),
    "E learned": _row("learned positions", 4.92, 25.7, positions="learned"),
    "big": PaperRow("big", BIG, 4.33, 26.4, 213, steps=300_000),
}


def tiny(source_vocabulary: int, target_vocabulary: int, **sizes: object) -> Config:
    """Return the size that learns number words in some seconds on a CPU; `sizes` change it.

    >>> config = tiny(30, 31)
    >>> config.d_model, config.key_width, config.norm
    (64, 16, 'pre')
    """
    chosen: dict = {
        "N": 2,
        "d_model": 64,
        "d_ff": 256,
        "h": 4,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "norm": "pre",
        "activation": "gelu",
        "tied": "output",
        "longest": 256,
    }
    return Config(source_vocabulary, target_vocabulary, **{**chosen, **sizes})


def small(source_vocabulary: int, target_vocabulary: int, **sizes: object) -> Config:
    """Return a size for an evening on a CPU or minutes on a GPU; `sizes` change it."""
    chosen: dict = {"N": 3, "d_model": 256, "d_ff": 1024, "h": 4, "norm": "pre", "activation": "gelu", "longest": 512}
    if source_vocabulary != target_vocabulary:
        chosen["tied"] = "output"
    return Config(source_vocabulary, target_vocabulary, **{**chosen, **sizes})

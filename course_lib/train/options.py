"""How a model is trained, as plain numbers, and the four presets of the command line."""

import math
from dataclasses import dataclass, replace
from typing import Any

from course_lib.model import config as sizes
from course_lib.model.config import Config
from course_lib.reference.schedule import cosine_rate, noam_rate

MOST_AT_ONCE = 4096  # tokens


@dataclass(frozen=True)
class Options:
    """The numbers of one training run.

    Raises:
        ValueError: if a choice is unknown or a number cannot be.
    """

    steps: int = 800
    schedule: str = "cosine"  # or "noam", the paper's
    learning_rate: float = 3e-3  # the peak of the cosine; of noam a factor, 1 in the paper
    warmup: int = 100  # steps
    sentences: int | None = 32  # pairs a step, over all processes and parts
    tokens: int | None = None  # or at most so many tokens a step, padding counted
    accumulate: int = 1  # parts that a step's batch is computed in, for want of memory
    clip: float = 1.0  # largest norm of the gradient
    weight_decay: float = 0.01  # of matrices; gains and biases have none
    betas: tuple[float, float] = (0.9, 0.98)
    smoothing: float = 0.0  # label smoothing
    seed: int = 0
    precision: str = "auto"  # or "fp32", "bf16", "fp16"
    compile: str = "auto"  # or "on", "off"
    log_every: int = 10  # steps
    checkpoint_every: int = 0  # steps; 0: at the end alone
    average: int = 1  # last checkpoints, whose mean is the result
    validate_every: int = 0  # steps; 0: never
    patience: int = 0  # validations without a better loss before it stops; 0: it never does

    def __post_init__(self) -> None:
        for name, allowed in (
            ("schedule", ("cosine", "noam")),
            ("precision", ("auto", "fp32", "bf16", "fp16")),
            ("compile", ("auto", "on", "off")),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}: wanted one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        for name in ("steps", "warmup", "accumulate", "log_every", "average"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: wanted 1 or more, got {getattr(self, name)}")
        for name in ("checkpoint_every", "validate_every", "patience"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: wanted 0 or more, got {getattr(self, name)}")
        if (self.sentences is None) == (self.tokens is None):
            raise ValueError(f"sentences and tokens: wanted one of the two, got {self.sentences} and {self.tokens}")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing: wanted 0 or more and less than 1, got {self.smoothing}")
        if self.patience and not self.validate_every:
            raise ValueError("patience: wanted validate_every with it, since it counts validations, got 0")

    def rate(self, step: int, d_model: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        if self.schedule == "noam":
            return self.learning_rate * noam_rate(step, d_model, self.warmup)
        return cosine_rate(step, self.learning_rate, self.steps, self.warmup)


PAPER = Options(
    steps=100_000,
    schedule="noam",
    learning_rate=1.0,
    warmup=4000,
    sentences=None,
    tokens=25_000,
    clip=1e9,  # the paper names none
    weight_decay=0.0,
    smoothing=0.1,
    log_every=100,
    checkpoint_every=1000,
    average=5,
    validate_every=1000,
)
SMALL = Options(
    steps=4000,
    learning_rate=1e-3,
    warmup=400,
    sentences=None,
    tokens=4096,
    smoothing=0.1,
    log_every=20,
    checkpoint_every=250,
    average=3,
    validate_every=250,
)
OPTIONS = {
    "tiny": Options(checkpoint_every=100),
    "small": SMALL,
    "base": PAPER,
    "big": replace(PAPER, steps=300_000, average=20),
}


def preset(name: str, source_vocabulary: int, target_vocabulary: int, **changes: Any) -> tuple[Config, Options]:
    """Return sizes and options of a preset; `changes` go to whichever of the two has the name.

    >>> config, options = preset("base", 37_000, 37_000, steps=10)
    >>> config.d_model, config.dropout, options.steps, options.smoothing
    (512, 0.1, 10, 0.1)

    Raises:
        ValueError: if there is no such preset.
    """
    if name not in OPTIONS:
        raise ValueError(f"preset: wanted one of {', '.join(OPTIONS)}, got {name!r}")
    of_sizes = {key: value for key, value in changes.items() if key in Config.__dataclass_fields__}
    of_options = {key: value for key, value in changes.items() if key in Options.__dataclass_fields__}
    strangers = changes.keys() - of_sizes.keys() - of_options.keys()
    if strangers:
        raise ValueError(f"changes: wanted names of Config or Options, got {', '.join(sorted(strangers))}")
    if "tokens" in of_options:
        of_options.setdefault("sentences", None)
    if "sentences" in of_options:
        of_options.setdefault("tokens", None)
    vocabularies = {"source_vocabulary": source_vocabulary, "target_vocabulary": target_vocabulary}
    if name in ("tiny", "small"):
        config = {"tiny": sizes.tiny, "small": sizes.small}[name](**vocabularies, **of_sizes)
    else:
        tied = "all" if source_vocabulary == target_vocabulary else "output"
        paper = {"base": sizes.BASE, "big": sizes.BIG}[name]
        config = replace(paper, **vocabularies, **{"tied": tied, **of_sizes})
    return config, replace(OPTIONS[name], **of_options)


def parts_for_memory(options: Options, processes: int = 1) -> int:
    """Return in how many parts a process should compute a step on a CPU: none has much more than MOST_AT_ONCE tokens.

    The gradient is the same. Of the paper's base, 25,000 tokens at once take nine gigabytes, and are no faster.

    >>> parts_for_memory(OPTIONS["base"]), parts_for_memory(OPTIONS["base"], processes=2)
    (7, 4)
    """
    return 1 if options.tokens is None else max(1, math.ceil(options.tokens / processes / MOST_AT_ONCE))

"""The same short training run in two ways: in one go and interrupted, and each batch whole and in parts."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import torch

from course_lib.data.translation import Corpus
from course_lib.model.config import tiny
from course_lib.model.transformer import Transformer
from course_lib.train.checkpoint import path_of
from course_lib.train.loop import train
from course_lib.train.options import Options

STEPS = 20


def losses(corpus: Corpus, out: Path | None = None, dropout: float = 0.0, parts: int = 1) -> np.ndarray:
    """Train a new small model, or with `out` go on from that folder's checkpoint, and return the loss of each step."""
    torch.manual_seed(1)
    model = Transformer(tiny(len(corpus.source), len(corpus.target), dropout=dropout))
    options = Options(steps=STEPS, log_every=1, checkpoint_every=STEPS // 2, accumulate=parts)
    return train(model, corpus, options, out, resume=True, device="cpu", bar=False, say=len).losses


def whole_and_interrupted(corpus: Corpus, forgetful: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the losses in one go, and those of a run that lost its last checkpoint and goes on from the one before.

    The model has dropout, which draws random numbers at every step. If the run is `forgetful`, everything is restored
    but their state.
    """
    with TemporaryDirectory() as folder:
        whole = losses(corpus, Path(folder), dropout=0.1)
        path_of(Path(folder) / "checkpoints", STEPS).unlink()
        with mock.patch("torch.set_rng_state") if forgetful else nullcontext():
            return whole, losses(corpus, Path(folder), dropout=0.1)

"""A small run that kills itself at a given moment; `test_killed.py` starts it again and again."""

import os
import signal
import sys
import time
from pathlib import Path

import torch

from course_lib.data.number_words import corpus as make
from course_lib.model.config import tiny
from course_lib.model.transformer import Transformer
from course_lib.train import checkpoint, metrics
from course_lib.train.loop import train
from course_lib.train.options import Options


def run(out: Path) -> dict[str, torch.Tensor]:
    """Go on from what is in the folder, to the end, and return the weights."""
    corpus = make(seed=0, train=150, held_out=20, below=1000, even_lengths=False)
    torch.manual_seed(0)
    sizes = {"N": 1, "d_model": 16, "d_ff": 32, "h": 2, "longest": 64, "dropout": 0.1}
    model = Transformer(tiny(len(corpus.source), len(corpus.target), **sizes))
    options = Options(steps=24, warmup=3, log_every=1, sentences=16, checkpoint_every=5, validate_every=7)
    train(model, corpus, options, out, resume=True, device="cpu", bar=False)
    return {name: parameter.detach() for name, parameter in checkpoint.weights(model).items()}


def die() -> None:
    """Kill this process as `kill -9` does: nothing is tidied up, nothing flushed."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def prepare(moment: str) -> None:
    """Replace a function by one that dies in the middle."""
    save, replace, add = checkpoint.save_file, os.replace, metrics.Log.add

    def half_a_checkpoint(tensors, path, header):
        if "step-00000010" in str(path):
            Path(path).write_bytes(b"half")
            die()
        save(tensors, path, header)

    def no_new_name(source, target):
        if "step-00000015" in str(target):
            die()
        replace(source, target)

    def half_a_line(self, line):
        if line["step"] == 17:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write('{"step": 17, "lo')
            die()
        add(self, line)

    def slowly(self, line):
        time.sleep(0.2)
        add(self, line)

    if moment == "while a checkpoint is written":
        checkpoint.save_file = half_a_checkpoint
    elif moment == "before a checkpoint gets its name":
        checkpoint.os.replace = no_new_name
    elif moment == "in the middle of a line of metrics":
        metrics.Log.add = half_a_line
    elif moment == "whenever":
        metrics.Log.add = slowly


if __name__ == "__main__":
    prepare(sys.argv[2])
    run(Path(sys.argv[1]))

"""A run's folder: what `train` writes and `translate` reads.

run.json            the request (the command's options) and the model's sizes
tokenizer.json      the byte pairs, where the task has them
checkpoints/        to go on from
metrics.jsonl       a line of figures every so many steps
model.safetensors   the result
"""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from course_lib.data import byte_pairs, number_words, public_sets, text_pairs
from course_lib.data.byte_pairs import BytePairs
from course_lib.data.number_words import NumberWords
from course_lib.data.translation import Corpus
from course_lib.model.config import Config
from course_lib.model.transformer import Transformer
from course_lib.train import checkpoint

TASKS = ("number-words", "text-pairs")
PIECES = {"tiny": 1000, "small": 8000, "base": 37_000, "big": 37_000}  # byte pairs, unless asked for others
Request = dict[str, Any]


def make_corpus(request: Request, out: Path, longest: int) -> Corpus:
    """Make or read the data that a request names; learned byte pairs are kept in the run's folder.

    Raises:
        ValueError: if the request lacks what its task needs, or if a file or row cannot be used.
    """
    if request["task"] == "number-words" and not request.get("dataset"):
        languages = tuple(request.get("languages") or ("en", "de"))
        chosen = {name: request[name] for name in ("below", "held_out") if request.get(name)}
        return number_words.corpus(request.get("seed", 0), request.get("pairs") or 5000, languages=languages, **chosen)
    if request.get("dataset"):
        languages = request.get("languages")
        train, held_out = public_sets.load(request["dataset"], tuple(languages) if languages else None)
    else:
        for name in ("train", "valid"):
            if not request.get(name):
                raise ValueError(f"--{name}: wanted with --task text-pairs: one file with tabs, or two files; got none")
        train, held_out = (text_pairs.read_pairs([Path(p) for p in request[name]]) for name in ("train", "valid"))
    held_out = held_out[: request.get("held_out") or len(held_out)]
    train = train[: request.get("pairs") or len(train)]
    path = out / "tokenizer.json"
    if path.exists():
        tokeniser = BytePairs.load(path)
    else:
        size = request.get("vocabulary") or PIECES[request["preset"]]
        tokeniser = BytePairs.learn((text for pair in train for text in pair[:2]), size)
    return byte_pairs.corpus(train, held_out, tokeniser, longest)


def save_start(out: Path, request: Request, config: Config, corpus: Corpus) -> None:
    """Write down what is about to be trained."""
    out.mkdir(parents=True, exist_ok=True)
    if isinstance(corpus.source, BytePairs):
        corpus.source.save(out / "tokenizer.json")
    aside = out / "run.json.part"
    aside.write_text(json.dumps({"request": request, "config": asdict(config)}, indent=1), encoding="utf-8")
    os.replace(aside, out / "run.json")


def read_start(out: Path) -> tuple[Request, Config]:
    """Read what a run was asked for and its model's sizes.

    Raises:
        FileNotFoundError: if there is no run in the folder.
    """
    path = out / "run.json"
    if not path.exists():
        raise FileNotFoundError(
            f"{out}: wanted the folder of a run, got one without run.json; `train --out {out}` makes it"
        )
    kept = json.loads(path.read_text(encoding="utf-8"))
    return kept["request"], Config(**kept["config"])


def save_result(out: Path, model: Transformer) -> None:
    """Write the trained model."""
    checkpoint.write(out / "model.safetensors", checkpoint.weights(model), {})


def load_result(out: Path) -> tuple[Transformer, Corpus]:
    """Return the trained model, ready to decode, and its tokenisers in a corpus without pairs.

    Before the run has ended, its newest checkpoint is taken.

    Raises:
        FileNotFoundError: if nothing was trained yet.
    """
    request, config = read_start(out)
    if (out / "tokenizer.json").exists():
        source = target = BytePairs.load(out / "tokenizer.json")
    else:
        source, target = (NumberWords(language) for language in request.get("languages") or ("en", "de"))
    model = Transformer(config)
    if (out / "model.safetensors").exists():
        tensors, _ = checkpoint.read(out / "model.safetensors")
    else:
        found = checkpoint.newest(out / "checkpoints")
        if found is None:
            raise FileNotFoundError(f"{out}: wanted a trained model, got neither model.safetensors nor a checkpoint")
        tensors = checkpoint.select(found[1], "model.")
    checkpoint.load_weights(model, tensors)
    return model.eval(), Corpus(source, target, [], [])

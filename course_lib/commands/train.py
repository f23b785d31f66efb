"""`python3 -m course_lib train`: train a translator, on whatever machine this is."""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

USAGE = """\
examples:
  python3 -m course_lib train --preset tiny --task number-words --out runs/numbers
  python3 -m course_lib train --preset small --task text-pairs --train train.tsv --valid valid.tsv --out runs/mine
  python3 -m course_lib train --resume --out runs/numbers
  torchrun --nproc-per-node 2 -m course_lib train --preset base --dataset wmt14-en-de --out runs/wmt
"""
OPTIONS = {  # what of a preset can be changed here: its kind and its help
    "steps": (int, "updates"),
    "schedule": (str, "cosine or noam"),
    "learning_rate": (float, "peak of the cosine, or a factor for noam"),
    "warmup": (int, "steps of rising learning rate"),
    "sentences": (int, "pairs a step"),
    "tokens": (int, "tokens a step, padding counted (instead of --sentences)"),
    "accumulate": (int, "parts that each step is computed in, for want of memory (on a CPU as many as needed)"),
    "clip": (float, "largest norm of the gradient"),
    "smoothing": (float, "label smoothing"),
    "dropout": (float, "dropout"),
    "precision": (str, "auto, fp32, bf16 or fp16"),
    "compile": (str, "auto, on or off"),
    "log_every": (int, "steps from one line of metrics.jsonl to the next"),
    "checkpoint_every": (int, "steps from one checkpoint to the next"),
    "average": (int, "last checkpoints whose mean is the result"),
    "validate_every": (int, "steps from one held-out loss to the next"),
    "patience": (int, "validations without a better loss before it stops"),
    "N": (int, "layers of the encoder, and of the decoder"),
    "d_model": (int, "numbers a token"),
    "d_ff": (int, "width of the feed-forward layer"),
    "h": (int, "heads"),
    "norm": (str, "pre or post"),
    "longest": (int, "positions, the most tokens of a sequence"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options; what is not given is the preset's."""
    parser.epilog, parser.formatter_class = USAGE, argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where the run is kept, such as runs/NAME"
    )
    parser.add_argument("--preset", choices=("tiny", "small", "base", "big"), help="sizes and schedule (tiny)")
    parser.add_argument("--task", choices=("number-words", "text-pairs"), help="what to learn (number-words)")
    parser.add_argument("--languages", nargs=2, metavar=("FROM", "TO"), help="such as en de (number words: de, en, fr)")
    parser.add_argument("--train", nargs="+", metavar="FILE", help="text pairs: one file with tabs, or two files")
    parser.add_argument("--valid", nargs="+", metavar="FILE", help="the same, held out")
    parser.add_argument("--dataset", metavar="NAME", help="a public set by name, through the package datasets")
    parser.add_argument("--vocabulary", type=int, metavar="N", help="byte pairs to learn, for text pairs")
    parser.add_argument("--pairs", type=int, metavar="N", help="training pairs (number words: 5000; text: all)")
    parser.add_argument("--held-out", type=int, metavar="N", help="held-out pairs (number words: 500; text: all)")
    parser.add_argument("--below", type=int, metavar="N", help="number words: all numbers are smaller (1000000)")
    parser.add_argument("--seed", type=int, metavar="N", help="of data, weights and dropout (0)")
    parser.add_argument("--beams", type=int, metavar="N", help="for the figures at the end (1: greedy)")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the newest checkpoint, with the options of before"
    )
    parser.add_argument("--device", choices=("cuda", "mps", "cpu"), help="the best that there is, unless given")
    changing = parser.add_argument_group("changes to the preset")
    for name, (kind, text) in OPTIONS.items():
        changing.add_argument(f"--{name.replace('_', '-')}", dest=name, type=kind, metavar="X", help=text)


def run(extra: list[str], known: argparse.Namespace) -> int:
    """Train a translator and end with what it can do."""
    import torch

    from course_lib.model.transformer import Transformer, count_parameters
    from course_lib.train import parallel
    from course_lib.train import run as runs
    from course_lib.train.loop import train
    from course_lib.train.options import parts_for_memory, preset
    from course_lib.train.precision import this_machine

    out = known.out
    request = _request(known, out)
    leads = parallel.world().leads
    changes = {name: request[name] for name in OPTIONS if name in request}
    longest = preset(request["preset"], 9, 9, **changes)[0].longest
    corpus = runs.make_corpus(request, out, longest)
    config, options = preset(
        request["preset"], len(corpus.source), len(corpus.target), seed=request.get("seed", 0), **changes
    )
    if "accumulate" not in changes and (known.device or this_machine().device) == "cpu":
        options = replace(options, accumulate=parts_for_memory(options, parallel.world().size))
    torch.manual_seed(options.seed)
    model = Transformer(config)
    if leads:
        runs.save_start(out, request, config, corpus)
        print(f"{len(corpus.train):,} training pairs, {len(corpus.held_out):,} held out; {len(corpus.target):,} pieces")
        print(f"{count_parameters(model):,} parameters, {options.steps:,} steps", flush=True)
        if options.accumulate > 1:
            print(f"each step is computed in {options.accumulate} parts, for want of memory", flush=True)
    began = time.perf_counter()
    bar = sys.stderr.isatty() or "lines"
    say = lambda text: print(text, flush=True)  # noqa: E731
    history = train(model, corpus, options, out, known.resume, device=known.device, bar=bar, say=say)
    if not leads:
        return 0
    runs.save_result(out, model)
    print(
        f"trained in {time.perf_counter() - began:,.1f} s at {history.tokens_per_second():,.0f} target tokens a second"
    )
    _figures(model, corpus, request)
    return 0


def _figures(model: Any, corpus: Any, request: dict[str, Any]) -> None:
    """Print what the model does with the held-out pairs; the last line is the one to compare."""
    from course_lib.train.evaluate import bleu, exact_match, teacher_forced, translations

    device = next(model.parameters()).device
    found = translations(model, corpus, request.get("beams") or 1)
    loss, accuracy = teacher_forced(model, corpus.held_out, device)
    print(f"held-out loss {loss:.3f} nats a token, {accuracy:.3f} of the tokens right when the right ones are fed in")
    wrong = [translation for translation in found if not translation.right]
    for translation in wrong[:3]:
        print(f"  {translation.source}\n    wanted {translation.wanted}\n    got    {translation.got}")
    if request["task"] == "text-pairs" or request.get("dataset"):
        print(f"held-out BLEU {bleu(found):.1f} of {len(found)}")
    print(f"held-out exact match {exact_match(found):.3f} of {len(found)}")


def _request(known: argparse.Namespace, out: Path) -> dict[str, Any]:
    """Put together what was asked for; a resumed run goes on with what was asked for at first."""
    from course_lib.train.run import read_start

    outside = ("out", "resume", "device", "run")
    given = {name: value for name, value in vars(known).items() if value is not None and name not in outside}
    before: dict[str, Any] = read_start(out)[0] if known.resume and (out / "run.json").exists() else {}
    request = {"preset": "tiny", "task": "number-words", **before, **given}
    if known.dataset:
        request["task"] = "text-pairs"
    return request

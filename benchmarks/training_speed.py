"""Tokens a second in training: ours beside what others offer, at the lesson's size, the paper's, and with long texts.

    python3 benchmarks/training_speed.py            some minutes; best on a machine that does nothing else
    python3 benchmarks/training_speed.py --quick    the lesson's size alone

Forward, backward and the optimizer's step are timed apart. "of peak" is the share of what a large matrix product
reaches on this machine in the same number format; it takes its turn in each round, since a processor's speed drifts.
Each contestant has a process of its own, and they take turns, all with the same number of threads. Each row's loss
after the rounds stands beside it: all learn alike, each from a start of its own.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import contestants as who
import measure
import torch

from course_lib.experiments.switches import operations, peak


def trainer(kind: type[who.Contestant], sizes: tuple, updates: int, known: argparse.Namespace) -> Callable[[], tuple]:
    """Return a function that makes so many updates and says (name, parameters, loss, mean seconds of an update).

    The seconds are those of [forward, backward, step, all].
    """
    measure.use_threads(known)
    config, *shape = sizes
    contestant, clock = kind(config, known.device), measure.Clock(known)
    batch = who.random_batch(config, *shape, known.device)
    parameters = sum(parameter.numel() for parameter in contestant.model.parameters())

    def update() -> tuple[float, list[float]]:
        a = clock()
        loss = contestant.loss(*batch)
        b = clock()
        loss.backward()
        c = clock()
        contestant.optimizer.step()
        contestant.optimizer.zero_grad(set_to_none=True)
        d = clock()
        return loss.item(), [b - a, c - b, d - c, d - a]

    def turn() -> tuple[str, int, float, list[float]]:
        losses, seconds = zip(*(update() for _ in range(updates)), strict=True)
        return contestant.name, parameters, losses[-1], [sum(column) / updates for column in zip(*seconds, strict=True)]

    return turn


def compare(title: str, kinds: list, sizes: tuple, known: argparse.Namespace, updates: int = 1) -> None:
    """Print the table of one size, where a turn is so many updates."""
    config, *shape = sizes
    clock, last = measure.Clock(known), {}
    workers = who.assemble(kinds, lambda kind: measure.Apart(trainer, kind, sizes, updates, known))

    def turn(kind: type, worker: measure.Apart) -> list[float]:
        *last[kind], seconds = worker()
        return seconds

    formats = {"fp32": torch.float32, "bf16": torch.bfloat16}
    runs = {kind: lambda kind=kind, worker=worker: turn(kind, worker) for kind, worker in workers.items()}
    runs |= {name: lambda dtype=dtype: [peak(clock, known.device, dtype)] for name, dtype in formats.items()}
    medians = measure.interleaved(known.rounds, runs, warm_up=2)
    peaks = {name: medians.pop(name)[0] for name in formats}
    for worker in workers.values():
        worker.close()
    others = [m[3] for kind, m in medians.items() if not issubclass(kind, who.Ours)]
    reference = min(others) if others else medians[who.OursWrittenOut][3]
    work, tokens = operations(config, *shape), shape[0] * (shape[1] + shape[2])
    print(f"\n{title}: {last[kinds[0]][1] / 1e6:.1f} M parameters, ", end="")
    print(
        f"batch {shape[0]}, {shape[1]} + {shape[2]} tokens, {work / 1e9:.1f} GFLOP a step; a matrix product: ", end=""
    )
    print(", ".join(f"{value / 1e9:,.0f} GFLOP/s {name}" for name, value in peaks.items()))
    rows = []
    for kind, (forward, backward, step, whole) in medians.items():
        name, _, loss = last[kind]
        limit = peaks["bf16" if "bf16" in name else "fp32"]
        rows.append(
            [
                name,
                *(f"{1000 * t:.1f}" for t in (forward, backward, step, whole)),
                f"{tokens / whole:,.0f}",
                f"{reference / whole:.2f}",
                f"{100 * work / whole / limit:.0f} %",
                f"{loss:.3f}",
            ]
        )
    against = "times fastest other" if others else "times written out"
    measure.table(["", "forward ms", "backward", "step", "all", "tokens/s", against, "of peak", "loss"], rows)


def main() -> None:
    """Compare at each size."""
    known = measure.arguments(__doc__)
    measure.header(known)
    everyone = [who.Ours, who.OursDefault, who.OfPyTorch, who.XTransformers, who.HuggingFace]
    began = time.perf_counter()
    compare("The lesson's size", everyone, who.lesson_sizes(), known, updates=20)
    if not known.quick:
        compare("The paper's base, small vocabulary", everyone, who.base_like_sizes(), known)
        config = replace(who.base_like_sizes()[0], N=2, longest=1024)
        ours = [who.Ours, who.OursDefault, who.OursWrittenOut]
        compare("Long texts", ours, (config, 2, 1024, 1024), known)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()

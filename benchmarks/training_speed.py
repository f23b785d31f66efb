"""Tokens a second in training: ours beside what others offer, at the lesson's size, the paper's, and with long texts.

    python3 benchmarks/training_speed.py            some minutes; best on a machine that does nothing else
    python3 benchmarks/training_speed.py --quick    the lesson's size alone

Forward, backward and the optimizer's step are timed apart. "of peak" is the share of what a large matrix product
reaches on this machine, in the same number format. Each row's loss after the rounds stands beside it: all learn alike.
"""

import time
from dataclasses import replace

import contestants as who
import measure
import torch
from torch.utils.flop_counter import FlopCounterMode


def one_step(contestant: who.Contestant, batch: tuple, clock: measure.Clock, losses: dict[str, float]) -> list[float]:
    """Time one update: [forward, backward, step, all]."""
    a = clock()
    loss = contestant.loss(*batch)
    b = clock()
    loss.backward()
    c = clock()
    contestant.optimizer.step()
    contestant.optimizer.zero_grad(set_to_none=True)
    d = clock()
    losses[contestant.name] = loss.item()
    return [b - a, c - b, d - c, d - a]


def operations(contestant: who.Contestant, batch: tuple) -> int:
    """Count the floating-point operations of one forward and backward pass."""
    with FlopCounterMode(display=False) as counter:
        contestant.loss(*batch).backward()
    contestant.optimizer.zero_grad(set_to_none=True)
    return counter.get_total_flops()


def compare(title: str, kinds: list, sizes: tuple, known, peaks: dict[str, float]) -> None:
    """Print the table of one size."""
    config, *shape = sizes
    clock, losses = measure.Clock(known), {}
    batch = who.random_batch(config, *shape, known.device)
    built = who.assemble(kinds, config, known.device)
    work, tokens = operations(who.OursWrittenOut(config, known.device), batch), shape[0] * (shape[1] + shape[2])
    runs = {c.name: lambda c=c: one_step(c, batch, clock, losses) for c in built}
    medians = measure.interleaved(known.rounds, runs, warm_up=2)
    others = [m[3] for name, m in medians.items() if not name.startswith("ours")]
    fastest = min(others) if others else medians[who.OursWrittenOut.name][3]
    print(f"\n{title}: {sum(p.numel() for p in built[0].model.parameters()) / 1e6:.1f} M parameters, ", end="")
    print(f"batch {shape[0]}, {shape[1]} + {shape[2]} tokens, {work / 1e9:.1f} GFLOP a step")
    rows = []
    for name, (forward, backward, step, whole) in medians.items():
        limit = peaks["bf16" if "bf16" in name else "fp32"]
        rows.append(
            [
                name,
                *(f"{1000 * t:.1f}" for t in (forward, backward, step, whole)),
                f"{tokens / whole:,.0f}",
                f"{fastest / whole:.2f}",
                f"{100 * work / whole / limit:.0f} %",
                f"{losses[name]:.3f}",
            ]
        )
    last = "fastest other" if others else "written out"
    measure.table(["", "forward ms", "backward", "step", "all", "tokens/s", f"times {last}", "of peak", "loss"], rows)


def main() -> None:
    """Compare at each size."""
    known = measure.arguments(__doc__)
    measure.header(known)
    clock = measure.Clock(known)
    peaks = {name: measure.peak(clock, dtype) for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16))}
    print("matrix product: " + ", ".join(f"{value / 1e9:,.0f} GFLOP/s {name}" for name, value in peaks.items()))
    everyone = [who.Ours, who.OursDefault, who.OfPyTorch, who.XTransformers, who.HuggingFace]
    began = time.perf_counter()
    compare("The lesson's size", everyone, who.lesson_sizes(), known, peaks)
    if not known.quick:
        compare("The paper's base, small vocabulary", everyone, who.base_like_sizes(), known, peaks)
        config = replace(who.base_like_sizes()[0], N=2, longest=1024)
        ours = [who.Ours, who.OursDefault, who.OursWrittenOut]
        compare("Long texts", ours, (config, 1, 1024, 1024), known, peaks)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()

"""What each switch of fast training gives, on the machine at hand: one switch after the other, all on the same batches.

On a GPU it trains the paper's base model, elsewhere a small one by the same lines. Tokens are those of source and
target together. The share of the peak is taken of what a large matrix product reaches here in the same number format,
not of what a data sheet says.
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from course_lib.experiments.training_bugs import write_out
from course_lib.model.config import BASE, Config, tiny
from course_lib.model.transformer import Transformer
from course_lib.train.loss import smoothed_loss_sum
from course_lib.train.precision import TYPES, Machine, Plan, autocast, scaler
from course_lib.training import one_thread


@dataclass(frozen=True)
class Switches:
    """How one model is trained."""

    sdpa: bool = False  # one fused kernel in the place of the formula written out
    fused: bool = False  # AdamW: all parameters in one kernel
    tf32: bool = False  # matrix products of fp32 numbers with 10 bits behind the point; on NVIDIA GPUs
    precision: str = "fp32"  # matrix products in "bf16" or "fp16"
    pinned: bool = False  # the next batch is copied while the GPU still computes
    compiled: bool = False  # kernels joined by torch.compile


class Row(NamedTuple):
    """What was measured with some switches on."""

    tokens_per_second: float
    share_of_peak: float
    megabytes: float  # the most memory that the GPU held; NaN elsewhere
    loss: float  # after the steps, nats a token

    def __str__(self) -> str:
        memory = "" if math.isnan(self.megabytes) else f", {self.megabytes:,.0f} MB"
        return f"{self.tokens_per_second:10,.0f} tokens a second, {self.share_of_peak:4.0%} of the peak{memory}"


class Size(NamedTuple):
    """How large a model and a batch are."""

    config: Config
    sentences: int
    tokens: int  # of the source, and of the target


def size_for(machine: Machine) -> Size:
    """Return the paper's base with as many tokens a step as fit on a GPU, up to its 25,000, and less elsewhere."""
    if machine.device == "cuda":
        roomy = torch.cuda.is_available() and torch.cuda.get_device_properties(0).total_memory > 40e9
        return Size(replace(BASE, dropout=0.0), 384 if roomy else 64, 64)
    if machine.device == "mps":
        return Size(replace(BASE, dropout=0.0), 32, 32)
    return Size(tiny(512, 512, d_model=256, d_ff=1024), 8, 32)


def ladder(machine: Machine) -> dict[str, Switches]:
    """Return one switch after the other, each on top of those before; what a machine does not have is left out.

    >>> list(ladder(Machine("cpu")))
    ['formula, fp32', '+ SDPA', '+ fused AdamW']
    """
    steps: dict[str, dict] = {"formula, fp32": {}, "+ SDPA": {"sdpa": True}, "+ fused AdamW": {"fused": True}}
    if machine.device == "cuda" and machine.capability >= (8, 0):
        steps["+ TF32"] = {"tf32": True}
    if machine.device != "mps":
        if machine.bf16:
            steps["+ bf16"] = {"precision": "bf16"}
        elif machine.capability >= (7, 0):
            steps["+ fp16 with scaling"] = {"precision": "fp16"}
    if machine.device == "cuda":
        steps["+ pinned batches"] = {"pinned": True}
        steps["+ compile"] = {"compiled": True}
    rungs, on = {}, Switches()
    for name, change in steps.items():
        on = rungs[name] = replace(on, **change)
    return rungs


def climb(machine: Machine, size: Size, steps: int = 4, warm_up: int = 2) -> dict[str, Row]:
    """Measure every rung of the ladder."""
    with one_thread() if machine.device == "cpu" else nullcontext():
        n = {"cuda": 8192, "mps": 2048, "cpu": 1024}[machine.device]
        formats = {on.precision for on in ladder(machine).values()}
        peaks = {name: peak(_clock(machine), machine.device, TYPES[name], n) for name in formats}
        work = operations(size.config, size.sentences, size.tokens, size.tokens)
        rows = {}
        for name, switches in ladder(machine).items():
            seconds, loss, megabytes = measure(machine, size, switches, steps, warm_up)
            share = work / seconds / peaks[switches.precision]
            rows[name] = Row(2 * size.sentences * size.tokens / seconds, share, megabytes, loss)
    return rows


def measure(machine: Machine, size: Size, on: Switches, steps: int, warm_up: int) -> tuple[float, float, float]:
    """Train with these switches and return the seconds of a step, the loss at the end and the megabytes."""
    device = torch.device(machine.device)
    before = torch.get_float32_matmul_precision()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Transformer(size.config).to(device)
    if not on.sdpa:
        write_out(model)
    step = torch.compile(model) if on.compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=on.fused, foreach=None if on.fused else False)
    plan = Plan(machine.device, on.precision, on.compiled, small=machine.device == "cpu")
    scaling = scaler(plan)
    batches = [_batch(size, i) for i in range(warm_up + steps)]
    torch.set_float32_matmul_precision("high" if on.tf32 else "highest")
    if machine.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    clock, began = _clock(machine), 0.0
    try:
        for i, batch in enumerate(batches):
            if i == warm_up:
                began = clock()
            source, target, wanted = (_move(ids, device, on.pinned) for ids in batch)
            with autocast(plan):
                logits = step(source, target)
            loss = smoothed_loss_sum(logits, wanted) / wanted.numel()
            scaling.scale(loss).backward()
            scaling.step(optimizer)
            scaling.update()
            optimizer.zero_grad(set_to_none=True)
        seconds = (clock() - began) / steps
    finally:
        torch.set_float32_matmul_precision(before)
    memory = torch.cuda.max_memory_allocated() / 1e6 if machine.device == "cuda" else float("nan")
    return seconds, loss.item(), memory


def peak(clock: Callable[[], float], device: str, dtype: torch.dtype, n: int = 2048) -> float:
    """Measure floating-point operations a second in a product of two n × n matrices: the best of six."""
    a, b = (torch.randn(n, n, device=device).to(dtype) for _ in range(2))
    best = 0.0
    for _ in range(6):
        began = clock()
        a @ b
        best = max(best, 2 * n**3 / max(clock() - began, 1e-9))
    return best


def operations(config: Config, sentences: int, source: int, target: int) -> float:
    """Count the floating-point operations of one step, forward and backward, with the formula written out."""
    model = Transformer(config)
    write_out(model)
    ids, read, wanted = (torch.full((1, n), config.pad_id + 1) for n in (source, target, target))  # no padding
    with FlopCounterMode(display=False) as counter:
        smoothed_loss_sum(model(ids, read), wanted).backward()
    return float(counter.get_total_flops()) * sentences


def _batch(size: Size, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, shape = np.random.default_rng(seed), (size.sentences, size.tokens)
    most = size.config.target_vocabulary
    return tuple(rng.integers(4, most, size=shape) for _ in range(3))


def _move(ids: np.ndarray, device: torch.device, pinned: bool) -> Tensor:
    tensor = torch.from_numpy(ids)
    return tensor.pin_memory().to(device, non_blocking=True) if pinned else tensor.to(device)


def _clock(machine: Machine) -> Callable[[], float]:
    """Return a clock: of the wall once the GPU has finished, or, on a CPU, of this thread's own work."""
    if machine.device == "cpu":
        return time.process_time

    def read() -> float:
        torch.cuda.synchronize() if machine.device == "cuda" else torch.mps.synchronize()
        return time.perf_counter()

    return read

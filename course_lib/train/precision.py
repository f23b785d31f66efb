"""Which device, which number format, compiled or not: chosen from what the machine can do and what was found to pay.

Found: half precision pays for wide models alone (bf16 on a CPU: 1.65 times at 384 numbers a token, 0.6 times at 64);
compiling pays on NVIDIA GPUs and in long runs; small models run on one CPU thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from course_lib.training import one_thread

WIDE = 256  # numbers a token, from which half precision and several threads pay
LONG = 1000  # steps, from which compiling does
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Machine:
    """What there is to compute with."""

    device: str  # "cuda", "mps" or "cpu"
    bf16: bool = False  # in hardware, not emulated
    capability: tuple[int, int] = (0, 0)  # of an NVIDIA GPU: 7.0 and later have fast fp16


@dataclass(frozen=True)
class Plan:
    """What was chosen."""

    device: str
    precision: str
    compile: bool
    small: bool  # one CPU thread

    def __str__(self) -> str:
        words = {"cuda": "GPU (CUDA)", "mps": "GPU (MPS)", "cpu": "CPU, one thread" if self.small else "CPU"}
        return f"{words[self.device]}, {self.precision}{', compiled' if self.compile else ''}"


def this_machine() -> Machine:
    """Look what this machine has."""
    if torch.cuda.is_available():
        bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
        return Machine("cuda", bf16, torch.cuda.get_device_capability())
    if torch.backends.mps.is_available():
        return Machine("mps")
    return Machine("cpu", _cpu_has_bf16())


def choose(machine: Machine, width: int, steps: int, precision: str = "auto", compiled: str = "auto") -> Plan:
    """Choose for a model of `width` numbers a token that trains for so many steps; what is not "auto" is obeyed.

    >>> str(choose(Machine("cuda", bf16=True, capability=(9, 0)), width=512, steps=100_000))
    'GPU (CUDA), bf16, compiled'
    >>> str(choose(Machine("cpu", bf16=True), width=64, steps=500))
    'CPU, one thread, fp32'
    """
    if precision == "auto":
        precision = "fp32"
        if width >= WIDE and machine.device != "mps":
            if machine.bf16:
                precision = "bf16"
            elif machine.capability >= (7, 0):
                precision = "fp16"
    on = compiled == "on" or (compiled == "auto" and machine.device == "cuda" and width >= WIDE and steps >= LONG)
    return Plan(machine.device, precision, on, machine.device == "cpu" and width < WIDE)


@contextmanager
def prepared(plan: Plan) -> Iterator[None]:
    """Run the block with the plan's threads, and with TF32 for what stays in fp32 on an NVIDIA GPU."""
    before = torch.get_float32_matmul_precision()
    if plan.device == "cuda":
        torch.set_float32_matmul_precision("high")
    try:
        if plan.small:
            with one_thread():
                yield
        else:
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def autocast(plan: Plan) -> torch.autocast:
    """Compute matrix products in the plan's number format; sums, norms and the loss stay in fp32."""
    half = plan.precision != "fp32"
    return torch.autocast(plan.device, TYPES[plan.precision] if half else torch.bfloat16, enabled=half)


def scaler(plan: Plan) -> torch.amp.GradScaler:
    """Scale the loss so that small gradients survive in fp16; in the other formats it does nothing."""
    return torch.amp.GradScaler(plan.device, enabled=plan.precision == "fp16")


def _cpu_has_bf16() -> bool:
    """Read the processor's own list; where there is none, do without."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(flag in flags for flag in ("avx512_bf16", "amx_bf16"))

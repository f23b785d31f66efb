"""Clock, medians, tables and processes apart, for all benchmarks."""

import argparse
import multiprocessing
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import date
from multiprocessing.connection import Connection
from typing import TypeVar

import torch

Key = TypeVar("Key")


def arguments(description: str) -> argparse.Namespace:
    """Read the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=7, help="measurements of each, interleaved; the median counts (7)"
    )
    parser.add_argument("--threads", type=int, default=0, help="CPU threads (as many as PyTorch takes)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--cpu-time", action="store_true", help="processor time instead of wall time, on a busy machine"
    )
    parser.add_argument("--quick", action="store_true", help="the smallest sizes alone, to see that it runs")
    known = parser.parse_args()
    use_threads(known)
    return known


def use_threads(known: argparse.Namespace) -> None:
    """Take the wanted number of CPU threads; each new process has to."""
    if known.threads:
        torch.set_num_threads(known.threads)


class Clock:
    """Seconds, of the wall or of the processor, after the device has finished."""

    def __init__(self, known: argparse.Namespace):
        self.read = time.process_time if known.cpu_time else time.perf_counter
        self.device = known.device

    def __call__(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return self.read()


class Apart:
    """What `make(*arguments)` returns, living in a process of its own and called from here.

    Each contestant then has its memory for itself, as it has where somebody trains with it: in a shared process the
    order of the contestants decides who finds memory ready and who must ask the system for it.

    Raises:
        ImportError: if `make` does, there.
    """

    def __init__(self, make: Callable, *arguments: object):
        context = multiprocessing.get_context("spawn")  # a fork would share what must be apart
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.receive()

    def __call__(self) -> object:
        self.pipe.send(True)
        return self.receive()

    def receive(self) -> object:
        """Return the next answer, or raise what went wrong over there."""
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.join()


def interleaved(
    rounds: int, runs: dict[Key, Callable[[], Sequence[float]]], warm_up: int = 1
) -> dict[Key, list[float]]:
    """Run each in turn, several times over, and return the medians of what they measured."""
    seen: dict[Key, list[Sequence[float]]] = {name: [] for name in runs}
    for i in range(warm_up + rounds):
        for name, run in runs.items():
            measured = run()
            if i >= warm_up:
                seen[name].append(measured)
    return {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in seen.items()}


def header(known: argparse.Namespace) -> None:
    """Say what was measured on, and how."""
    name = torch.cuda.get_device_name() if known.device == "cuda" else _processor()
    clock = "processor time" if known.cpu_time else "wall time"
    print(f"{date.today()}, {name}, {torch.get_num_threads()} threads, PyTorch {torch.__version__}, {clock}, ", end="")
    print(f"medians of {known.rounds}, interleaved")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        print(
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        )


def _serve(pipe: Connection, make: Callable, arguments: tuple) -> None:
    try:
        function = make(*arguments)
        pipe.send(None)
        while pipe.recv():
            pipe.send(function())
    except EOFError:  # closed over there
        return
    except Exception as error:
        pipe.send(error)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()

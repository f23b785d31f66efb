"""What one submission may use. Standard library alone: the command line imports it for its help."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]  # the checkout, or what stands for it: solutions/ and exercises/ lie there


def _budget(default: float | int, what: str) -> Any:
    return field(default=default, metadata={"what": f"{what} ({default:g})"})


@dataclass(frozen=True)
class Budgets:
    """What one submission may use. Cells and calls are timed in CPU seconds, so that a busy machine harms nobody."""

    cell_seconds: float = _budget(10.0, "for one cell")
    question_seconds: float = _budget(5.0, "for all calls of one function")
    patience: float = _budget(3.0, "how many times as long each may take on the clock")
    submission_seconds: float = _budget(60.0, "for the whole submission, all its runs together")
    memory_mb: int = _budget(1024, "memory beyond what the libraries take")
    output_kb: int = _budget(64, "how much of what is printed is kept")
    files_mb: int = _budget(16, "files that it may write")
    reply_mb: int = _budget(8, "size of one result")


class NoSandbox(RuntimeError):
    """The tier that was asked for cannot be had here; the message says why and what to do."""

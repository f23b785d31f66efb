"""What a run tells while it goes: JSON lines in a file, a progress bar, and TensorBoard where it is installed."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

Line = dict[str, Any]
MINUTE = 60.0  # seconds


class History:
    """The lines of a run, as arrays.

    >>> history = History([{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}, {"step": 2, "held_out_loss": 1.5}])
    >>> history.steps.tolist(), history.losses.tolist(), history.held_out
    ([1, 2], [2.0, 1.0], [(2, 1.5)])
    """

    def __init__(self, lines: list[Line]):
        self.lines = lines
        training = [line for line in lines if "loss" in line]
        self.steps = np.array([line["step"] for line in training], dtype=int)
        self.losses = np.array([line["loss"] for line in training], dtype=float)  # nats a token
        self.held_out = [(line["step"], line["held_out_loss"]) for line in lines if "held_out_loss" in line]

    def tokens_per_second(self) -> float:
        """Return the median over the lines; target tokens, padding not counted."""
        return float(
            np.median([line["tokens_per_second"] for line in self.lines if "tokens_per_second" in line] or [0])
        )

    def __repr__(self) -> str:
        if not len(self.steps):
            return "History: no step yet"
        return f"History: {self.steps[-1]} steps, loss {self.losses[0]:.2f} to {self.losses[-1]:.2f}"


class Log:
    """Keeps the lines of a run, in memory and in `metrics.jsonl`, and shows them."""

    def __init__(self, out: Path | None, upto: int, steps: int, bar: bool | str):
        self.path = None if out is None else out / "metrics.jsonl"
        self.lines: list[Line] = []
        if self.path is not None:
            self.lines = kept_lines(self.path, upto)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            aside = self.path.with_suffix(".part")
            aside.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
            os.replace(aside, self.path)
        self._bar = (Lines if bar == "lines" else _progress_bar)(steps, upto) if bar else None
        self._board = _tensorboard(out)

    def add(self, line: Line) -> None:
        """Keep and show one line."""
        self.lines.append(line)
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        if self._bar is not None and "loss" in line:
            self._bar.set_postfix_str(
                f"loss {line['loss']:.3f}, {line['tokens_per_second']:,.0f} tokens/s", refresh=False
            )
        if self._board is not None:
            for name, value in line.items():
                if name != "step":
                    self._board.add_scalar(name, value, line["step"])

    def reached(self, step: int) -> None:
        """Move the bar on."""
        if self._bar is not None:
            self._bar.update(step - self._bar.n)

    def close(self) -> None:
        """Finish the bar and TensorBoard's file."""
        if self._bar is not None:
            self._bar.close()
        if self._board is not None:
            self._board.close()


def kept_lines(path: Path, upto: int) -> list[Line]:
    """Return the lines up to a step; what was written after it, or only half, is left out."""
    kept = []
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                break
            if line["step"] <= upto:
                kept.append(line)
    return kept


class Lines:
    """A progress bar's stand-in where nothing can be drawn over: ten lines, and more where they would come slowly."""

    def __init__(self, steps: int, done: int):
        self.steps, self.n, self.first, self.news = steps, done, done, ""
        self.began = self.said = time.perf_counter()

    def set_postfix_str(self, news: str, refresh: bool = True) -> None:
        """Keep what the next line tells."""
        self.news = news

    def update(self, steps: int) -> None:
        """Go on by so many steps, and print a line after each tenth of all or after a minute."""
        before, self.n, now = self.n, self.n + steps, time.perf_counter()
        if 10 * before // self.steps < 10 * self.n // self.steps or now - self.said > MINUTE:
            self.said = now
            left = (now - self.began) / max(1, self.n - self.first) * (self.steps - self.n)
            news = f"{self.news}, " if self.news else ""
            print(f"step {self.n:,} of {self.steps:,}: {news}{left:.0f} s left", flush=True)

    def close(self) -> None:
        """There is nothing to tidy up."""


def _progress_bar(steps: int, done: int):
    from tqdm import tqdm

    shape = "{desc}{percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} steps, {remaining} left, {postfix}"
    return tqdm(total=steps, initial=done, leave=False, file=sys.stderr, bar_format=shape)


def _tensorboard(out: Path | None):
    if out is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # not installed: the JSON lines say the same
        return None
    return SummaryWriter(str(out / "tensorboard"))

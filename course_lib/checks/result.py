"""What a check answers: the verdict as text and HTML, and how inputs and values are written in it."""

import html
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

GREEN, ORANGE, GREY = "#1a7f37", "#c4590c", "#6e7781"  # each readable on white and on JupyterLab's dark grey
HEADLINES = {
    "passed": "Right",
    "not_written": "Not written yet",
    "not_a_function": "Not a function",
    "raised": "It raised an error",
    "returned_nothing": "Nothing came back",
    "wrong_kind": "Wrong type or shape",
    "wrong_value": "Wrong value",
    "changed_input": "The input was changed",
}


class WrongAnswer(Exception):
    """Raised by `Result.must_pass`, so that a grader sees the cell fail. It prints one line and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class Result:
    """The verdict of a check. `passed` and `mistake` are for programs, `message` and the display for people."""

    exercise_id: str
    status: str  # a key of HEADLINES
    text: str
    passed_probes: int = 0
    probes: int = 0
    mistake: str | None = None  # the id of the known mistake that the answer makes
    advice: tuple[tuple[str, str], ...] = ()
    remark: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is right on every probe."""
        return self.status == "passed"

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        count = f", on all {self.probes} inputs" if self.passed else ""
        return f"{self.exercise_id}: {HEADLINES[self.status]}{count}."

    @property
    def message(self) -> str:
        """The whole verdict as plain text."""
        return "\n".join([self.headline, *self._paragraphs()])

    def must_pass(self) -> "Result":
        """Return the result if the answer is right; otherwise show it and stop the cell with one line.

        Raises:
            WrongAnswer: if the answer is not right.
        """
        if self.passed:
            return self
        try:
            from IPython.display import display
        except ImportError:
            display = print
        display(self)
        named = f" (mistake: {self.mistake})" if self.mistake else ""
        raise WrongAnswer(f"{self.headline}{named}")

    def _paragraphs(self) -> list[str]:
        paragraphs = [self.text] if self.text else []
        paragraphs += [f"{label}: {text}" for label, text in self.advice]
        if self.remark:
            paragraphs.append(f"Remark: {self.remark}")
        if self.passed_probes and not self.passed:
            paragraphs.append(f"{self.passed_probes} of {self.probes} inputs came out right.")
        return paragraphs

    def __repr__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        colour = GREEN if self.passed else GREY if self.status == "not_written" else ORANGE
        paragraphs = "".join(f'<p style="margin: .3em 0">{_markup(text)}</p>' for text in self._paragraphs())
        sign = "✓" if self.passed else "…" if self.status == "not_written" else "✗"
        head = f'<strong style="color: {colour}">{sign} {_markup(self.headline)}</strong>'
        return (
            f'<div style="border-left: 4px solid {colour}; padding: .2em .8em; margin: .3em 0">{head}{paragraphs}</div>'
        )


def _markup(text: str) -> str:
    """Write text as HTML: `code` between backticks, a line break a line; a label before a colon in bold."""
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    escaped = re.sub(
        r"^(What was probably done|Why it matters|Where to look|Known mistake|Remark):", r"<b>\1:</b>", escaped
    )
    return escaped.replace("\n", "<br>")


def value_text(value: object) -> str:
    """Write a value in a few words: a small array whole, a larger one by its shape.

    >>> value_text(np.array([1.0, 0.25])), value_text(np.zeros((7, 9)))
    ('[1.0, 0.25]', 'an array of shape (7, 9)')
    """
    if isinstance(value, np.ndarray):
        if value.size > 8 or value.size == 0:
            return f"an array of shape {value.shape}"
        numbers = np.array([float(f"{x:.4g}") for x in value.ravel()]) if value.dtype.kind == "f" else value
        return repr(numbers.reshape(value.shape).tolist())
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if inspect.isfunction(value):
        return value.__name__
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def call_text(function: Callable, name: str, args: tuple) -> str:
    """Write the call that a probe made, with the names of the function's own arguments.

    >>> call_text(lambda x, axis: x, "softmax", (np.zeros((3, 20)), 0))
    '`softmax(x, axis=0)` with `x` of shape (3, 20).'
    """
    names = list(inspect.signature(function).parameters)[: len(args)]
    arrays = {n: a for n, a in zip(names, args, strict=True) if isinstance(a, np.ndarray)}
    shown = [n if n in arrays else f"{n}={value_text(a)}" for n, a in zip(names, args, strict=True)]
    whole = sum(a.size for a in arrays.values()) <= 12 and all(0 < a.size <= 8 for a in arrays.values())
    shapes = {n: f" of shape {a.shape}" for n, a in arrays.items()}
    given = ", ".join(f"`{n}` = {value_text(a)}" if whole else f"`{n}`{shapes[n]}" for n, a in arrays.items())
    return f"`{name}({', '.join(shown)})`" + (f" with {given}." if given else ".")


def kind_text(value: object) -> str:
    """Say of what kind a value is: the shape of an array, the type of anything else.

    >>> kind_text(np.zeros((2, 3))), kind_text("two")
    ('an array of numbers of shape (2, 3)', "text ('two')")
    """
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}: " + ", ".join(kind_text(item) for item in value)
    if isinstance(value, str):
        return f"text ({value_text(value)})"
    if not isinstance(value, np.ndarray):
        return f"an object of type {type(value).__name__} ({value_text(value)})"
    what = {"b": "booleans", "U": "texts", "c": "complex numbers", "O": "objects"}.get(value.dtype.kind, "numbers")
    if value.ndim == 0:
        return f"one {what[:-1]}"
    if value.ndim == 1 and value.dtype.kind in "iu" and 0 < value.size <= 8:  # a shape, say: its numbers tell most
        return f"the whole numbers {tuple(value.tolist())}"
    return f"an array of {what} of shape {value.shape}"


def first_difference(wanted: object, got: object, same: Callable[[object, object], bool]) -> tuple[str, str, str]:
    """Find the first entry in which two results of one kind differ: where, wanted, got, each as text."""
    if isinstance(wanted, tuple):
        for position, (w, g) in enumerate(zip(wanted, got, strict=True)):
            if not same(w, g):
                index, *entries = first_difference(w, g, same)
                return f" in part {position} of the tuple{index}", *entries
    if isinstance(wanted, np.ndarray):
        for index in np.ndindex(wanted.shape):
            if not same(np.asarray(wanted[index]), np.asarray(got[index])):
                where = f" [{', '.join(map(str, index))}]" if index else ""
                return where, _entry(wanted[index]), _entry(got[index])
    return "", value_text(wanted), value_text(got)


def _entry(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)

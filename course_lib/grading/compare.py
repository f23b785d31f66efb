"""One submission from its cells to its marks: talk to the student side, compare, give partial credit. Trusted side.

What comes back is values; whether they are right is decided here. What one question does (loop, crash, memory, exit)
costs that question: the submission is run again without the cell, or without asking the question again.
"""

import builtins
import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from course_lib.checks.engine import Outcome, Probe, agree, judge, plain
from course_lib.checks.result import Result, kind_text
from course_lib.grading import given, wire
from course_lib.grading.probes import Asked, Bench, Lesson
from course_lib.grading.sandbox import Channel, Gone, Late

ATTEMPTS = 12  # runs of one submission, each without one more cell or question
GRACE = 1.0  # seconds that the student side gets to stop by itself
RAISED = "raised"
LARGEST_ARGUMENT = 4096  # numbers in an array that a submission hands to a function of ours


@dataclass
class Question:
    """What one exercise earned, and what is said of it."""

    exercise: str  # its id
    title: str
    status: str  # right, partly, wrong, not_written, missing, stopped, rule_broken, not_graded
    points: float | None  # None: not graded, which is never 0
    max_points: float
    text: str = ""
    mistake: str | None = None
    advice: list[list[str]] = field(default_factory=list)
    remark: str | None = None
    passed: int = 0
    probes: int = 0
    hidden_text: str = ""  # with the inputs that counted: for the instructor


@dataclass
class Graded:
    """What one submission earned."""

    questions: list[Question]
    notes: list[str]  # what happened to cells, and to the file
    output: str = ""
    cpu_seconds: float = 0.0
    attempts: int = 0


@dataclass
class _State:
    """What is known after each attempt."""

    judged: dict[str, Question] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)  # cells, and why
    broken: dict[int, str] = field(default_factory=dict)  # cells that are no Python
    failed: dict[int, str] = field(default_factory=dict)  # cells that raised
    used: dict[str, list[str]] = field(default_factory=dict)  # forbidden names, by function
    foreign: list[str] = field(default_factory=list)
    output: str = ""
    letters: int = 0
    careful: bool = False
    cpu_seconds: float = 0.0
    cell: int | None = None  # where the student side is
    bench: Bench | None = None
    got: dict[str, list[Outcome]] = field(default_factory=dict)


def grade(sandbox: Any, lesson: Lesson, cells: Sequence[tuple[int, str]]) -> Graded:
    """Grade the numbered code cells of one submission.

    Raises:
        Gone: if the sandbox itself has ended; the submission is not to blame and may be tried in a new one.
    """
    state, begun = _State(), time.monotonic()
    attempts = 0
    while attempts < ATTEMPTS and len(state.judged) < len(lesson.benches):
        left = sandbox.budgets.submission_seconds - (time.monotonic() - begun)
        if left <= 0 or state.cpu_seconds >= sandbox.budgets.submission_seconds:
            break
        attempts += 1
        if _attempt(sandbox, lesson, cells, state, time.monotonic() + left):
            break
    for bench in lesson.benches:
        if bench.exercise.id not in state.judged:
            why = f"the submission used up its {attempts} runs or its time before this question could be asked"
            state.judged[bench.exercise.id] = not_graded(bench, why)
    questions = [state.judged[bench.exercise.id] for bench in lesson.benches]
    return Graded(questions, _notes(state), state.output, round(state.cpu_seconds, 4), attempts)


def not_graded(bench: Bench, why: str) -> Question:
    """Return the question as one that nobody could judge, with the reason."""
    exercise = bench.exercise
    return Question(exercise.id, exercise.title, "not_graded", None, bench.points, f"Not graded: {why}.")


def _attempt(sandbox: Any, lesson: Lesson, cells: Sequence[tuple[int, str]], state: _State, end: float) -> bool:
    """Run the submission once, without what stopped it before; say whether it came to its end."""
    channel = sandbox.open()
    state.cell = state.bench = None
    state.got = {}
    reason = ""
    try:
        _run_cells(channel, lesson, cells, state, end)
        for bench in lesson.benches:
            if bench.exercise.id not in state.judged:
                state.cell, state.bench, state.got = None, bench, {}
                _ask(channel, bench, cells, state, end)
    except Late as error:
        reason = f"was stopped: {error}"
    except wire.Malformed as error:
        reason = f"sent what is no answer: {error}"
    except Gone:
        reason = "ended the process"
    finally:
        status, seconds, _ = sandbox.close_one(channel)
        state.cpu_seconds += seconds
    if not reason:
        return True
    if reason == "ended the process" and status < 0:
        reason += f" (signal {-status})"
    _blame(lesson, cells, state, reason, time.monotonic() >= end)
    return False


def _blame(lesson: Lesson, cells: Sequence[tuple[int, str]], state: _State, reason: str, over: bool) -> None:
    """Charge the question or the cell that stopped the run; where it is unknown, be careful the next time."""
    if state.bench is not None and not state.careful and not over:
        state.careful = True  # ask again, and have each answer sent at once
    elif state.bench is not None:
        state.judged[state.bench.exercise.id] = _judge(state.bench, state, reason, cells)
    elif state.cell is not None:
        state.left_out[state.cell] = reason
    elif not state.careful:
        state.careful = True
    else:  # it was stopped outside of any cell: nothing to leave out
        for bench in lesson.benches:
            state.judged.setdefault(bench.exercise.id, not_graded(bench, f"the submission {reason}"))


def _run_cells(channel: Channel, lesson: Lesson, cells: Sequence[tuple[int, str]], state: _State, end: float) -> None:
    kept = [(number, source) for number, source in cells if number not in state.left_out]
    forbidden = {bench.exercise.function_name: list(bench.exercise.forbidden) for bench in lesson.benches}
    channel.send(
        {
            "cells": kept,
            "careful": state.careful,
            "forbidden": forbidden,
            "given": lesson.given,
            "modules": lesson.modules,
            "silent": [f"course_lib.{name}" for name in given.SILENT_MODULES],
            "silent_text": given.SILENT,
        }
    )
    budgets, numbers = channel.budgets, {number for number, _ in kept}
    state.failed, read = {}, False
    while True:
        until = min(end, time.monotonic() + budgets.cell_seconds * budgets.patience + GRACE)
        header, _ = channel.receive(max(0.0, until - time.monotonic()))
        kind, cell = header.get("kind"), header.get("cell")
        if kind == "read" and not read:  # sent before any line of the submission ran: this may be believed
            read = True
            state.cell = None
            state.broken = {int(n): wire.clean(text) for n, text in _pairs(header.get("broken")) if n.isdecimal()}
            state.used = {name: _texts(names) for name, names in _pairs(header.get("used"))}
            state.foreign = _texts(header.get("foreign"))
        elif kind == "at" and cell in numbers:
            state.cell = cell
        elif kind == "failed" and cell in numbers and read:
            state.failed[cell] = wire.clean(header.get("error"))
        elif kind == "ready" and read:
            state.output = wire.clean(header.get("output"), budgets.output_kb * 1024)
            letters = header.get("letters")
            state.letters = letters if type(letters) is int and letters >= 0 else 0
            return
        else:
            raise wire.Malformed("a frame out of turn")


def _ask(channel: Channel, bench: Bench, cells: Sequence[tuple[int, str]], state: _State, end: float) -> None:
    """Ask first the inputs that everybody knows, then those that count, and judge."""
    budgets, exercise = channel.budgets, bench.exercise
    for name, asked in (("public", bench.public), ("hidden", bench.hidden)):
        outcomes = state.got[name] = []
        channel.send_bytes(asked.frame)
        until = min(end, time.monotonic() + budgets.question_seconds * budgets.patience + GRACE)
        while len(outcomes) < len(asked.probes):
            header, body = channel.receive(max(0.0, until - time.monotonic()))
            if header.get("kind") == "call":
                _call_back(channel, asked.probes[len(outcomes)], header, body)
                continue
            if header.get("kind") == "no_function":
                tree = header.get("value")
                value = None if tree is None else kind_text(plain(wire.decode(tree, body)))
                state.judged[exercise.id] = _no_function(bench, value, state, cells)
                return
            if header.get("kind") != "got":
                raise wire.Malformed("a frame out of turn")
            outcomes.append(_outcome(header, body))
            if outcomes[-1].status == "stopped":
                break
        if all(outcome.status == "unwritten" for outcome in outcomes):  # the untouched stub
            state.got["hidden"] = outcomes[:1]
            break
    state.judged[exercise.id] = _judge(bench, state, "", cells)


def _call_back(channel: Channel, probe: Probe, header: dict, body: bytes) -> None:
    """Call one of the probe's own functions on values from the student side, if these are plain and small."""
    number, args = header.get("n"), wire.decode(header.get("args"), body)
    if type(number) is not int or not 0 <= number < len(probe.args) or not callable(probe.args[number]):
        raise wire.Malformed("a call of what is no function")
    args = tuple(map(plain, args)) if isinstance(args, tuple) else ()
    if not all(isinstance(arg, np.ndarray) and arg.size <= LARGEST_ARGUMENT for arg in args):
        channel.send({"kind": "raised", "text": f"wanted arrays of at most {LARGEST_ARGUMENT} numbers"})
        return
    data = bytearray()
    try:
        with np.errstate(all="ignore"):
            value = wire.encode(probe.args[number](*args), data)
    except Exception as error:
        channel.send({"kind": "raised", "text": wire.clean(str(error))})
    else:
        channel.send({"kind": "return", "value": value}, bytes(data))


def _outcome(header: dict, body: bytes) -> Outcome:
    """Read what came of one call. Only values can earn anything, and they are compared."""
    status = header.get("status")
    if status in ("value", "changed_input"):
        return Outcome(status, value=plain(wire.decode(header.get("value"), body)))
    if status == "nothing":
        return Outcome(status)
    if status in ("unwritten", RAISED, "stopped"):
        return Outcome(status, error=_error(wire.clean(header.get("error"), 60), wire.clean(header.get("text"))))
    raise wire.Malformed("an outcome that is none")


def _error(name: str, text: str) -> BaseException:
    """Build an error that prints as the submission's own did; only known classes of Python and NumPy are used."""
    text = text.removeprefix(f"{name}: ")
    known = getattr(builtins, name, None) or getattr(np.exceptions, name, None) or getattr(np.linalg, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(text)
        except TypeError:  # a UnicodeDecodeError wants more than a text
            pass
    return type(name if name.isidentifier() else "Error", (Exception,), {})(text)


def _judge(bench: Bench, state: _State, stopped: str, cells: Sequence[tuple[int, str]]) -> Question:
    """Compare what came with what is right, count, and name the mistake."""
    exercise = bench.exercise
    public, hidden = (
        _filled(asked, state.got.get(name, []), stopped)
        for name, asked in (("public", bench.public), ("hidden", bench.hidden))
    )
    seen, counted = (
        judge(exercise, asked.probes, got, bench.call)
        for asked, got in ((bench.public, public), (bench.hidden, hidden))
    )
    right = sum(
        agree(got, bench.call(exercise.reference, p)) for got, p in zip(hidden, bench.hidden.probes, strict=True)
    )
    question = Question(exercise.id, exercise.title, "wrong", 0.0, bench.points)
    question.passed, question.probes, question.remark = right, len(hidden), counted.remark
    question.points = bench.points if counted.passed else math.floor(100 * bench.points * right / len(hidden)) / 100
    question.status = "right" if counted.passed else "partly" if right else "wrong"
    if counted.status == "not_written" and not right:
        question.status = "not_written"
    if not counted.passed:
        _explain(question, bench, seen, counted, public, hidden)
    if broken := state.used.get(exercise.function_name):
        names = ", ".join(f"`{name}`" for name in broken)
        question.status, question.points = "rule_broken", 0.0
        question.text = f"The exercise asks to do without {names}, and the answer uses it.\n{question.text}".strip()
    return question


def _filled(asked: Asked, got: list[Outcome], stopped: str) -> list[Outcome]:
    """Give the inputs that were not reached the fate of the one that was stopped."""
    missing = len(asked.probes) - len(got)
    last = got[-1] if got and got[-1].status in ("stopped", "unwritten") else None
    return got + [last or Outcome("stopped", error=_error("Stopped", stopped or "not asked"))] * missing


def _explain(
    question: Question, bench: Bench, seen: Result, counted: Result, public: list[Outcome], hidden: list[Outcome]
) -> None:
    """Say what was found: on the self-check's inputs where it fails there too, else without the inputs that count."""
    source = seen if not seen.passed else counted
    question.mistake = counted.mistake or seen.mistake
    named = counted if counted.mistake else seen if seen.mistake else source
    question.advice = [list(pair) for pair in named.advice if question.status != "not_written"]
    question.text, question.hidden_text = seen.text, counted.text
    for got, result, probes in ((public, seen, bench.public.probes), (hidden, counted, bench.hidden.probes)):
        first = next((i for i, o in enumerate(got) if not agree(o, bench.call(bench.exercise.reference, probes[i]))), 0)
        if got[first].status == "stopped" and not result.passed:
            text = f"`{bench.exercise.function_name}` on {probes[first].name}: {got[first].error}."
            question.text = text if result is seen or seen.passed else question.text
            question.advice = [] if question.mistake is None else question.advice
            question.status = "partly" if question.passed else "stopped"
    if seen.passed and not question.text:
        misses = question.probes - question.passed
        question.text = (
            f"It passes the inputs of the self-check, but not {misses} of the {question.probes} inputs that only the"
            " grading uses: it may be fitted to the sizes or the numbers of the self-check."
        )


def _no_function(bench: Bench, value: str | None, state: _State, cells: Sequence[tuple[int, str]]) -> Question:
    """Say why there is no function of that name."""
    name, exercise = bench.exercise.function_name, bench.exercise
    question = Question(exercise.id, exercise.title, "missing", 0.0, bench.points, probes=len(bench.hidden.probes))
    if value is not None:
        question.status, question.text = "wrong", f"Wanted the function `{name}` itself, got {value}."
        return question
    question.text = f"After the last cell there is no function `{name}`."
    makes = re.compile(rf"\bdef\s+{name}\b|\b{name}\s*=|\bas\s+{name}\b|import\s.*\b{name}\b")
    for number, source in cells:
        if makes.search(source):
            why = state.left_out.get(number) or state.broken.get(number) or state.failed.get(number)
            if why:
                question.text = f"Cell {number}, which should make `{name}`, did not: {why}."
    answers = [name for name in state.foreign if name.split(".")[-1] == bench.exercise.function_name]
    if answers:
        question.status = "rule_broken"
        question.text = f"The answer is imported from the course (`{answers[0]}`), which the exercise does not allow."
    return question


def _notes(state: _State) -> list[str]:
    cells = [(n, f"Cell {n} {why}; the notebook was run again without it.") for n, why in state.left_out.items()]
    cells += [(n, f"Cell {n} is no Python: {why}") for n, why in state.broken.items()]
    cells += [(n, f"Cell {n} failed: {why}") for n, why in state.failed.items()]
    notes = [note for _, note in sorted(cells)]
    notes += [f"`{name}` is imported from the course, which the exercise does not give." for name in state.foreign]
    if state.letters > len(state.output):
        notes.append(f"It printed {state.letters} letters; the first {len(state.output)} were kept.")
    return notes


def _pairs(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _texts(value: object) -> list[str]:
    return [wire.clean(text) for text in value[:50]] if isinstance(value, list) else []


def as_json(graded: Graded) -> dict:
    """Return the whole as what JSON can hold."""
    return json.loads(json.dumps(asdict(graded)))

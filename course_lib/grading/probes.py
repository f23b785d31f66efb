"""What a class is asked: the probes of each exercise, drawn from the instructor's secret, and what is right on them.

The course is public, so its self-checks' inputs are known to everybody. For grading the same probes are drawn with
seeds that only the secret gives, the same for the whole class. What the reference and the known mistakes answer is
worked out once, here on the trusted side, and remembered.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from course_lib.checks.engine import SEED, Exercise, Outcome, Probe, call, find_exercises, judge
from course_lib.grading import given, wire

DRAWS = 20  # so often the probes are drawn again if a known mistake would slip through
NAME = re.compile(r"(\d\d)_(\w+)")


@dataclass(frozen=True)
class Asked:
    """A list of probes, and the same as it goes to the student side."""

    probes: tuple[Probe, ...]
    trees: tuple[dict, ...]
    body: bytes
    frame: bytes


@dataclass(frozen=True)
class Bench:
    """One exercise, ready to judge any number of answers."""

    exercise: Exercise
    points: float
    public: Asked  # the inputs of the self-check: what is said of them, a student can see at home
    hidden: Asked  # the inputs that count
    call: Callable[[Callable, Probe], Outcome]  # remembers
    untold: tuple[str, ...] = ()  # known mistakes that no drawing tells from the rest


@dataclass(frozen=True)
class Lesson:
    """One notebook's exercises, and what its submissions may import."""

    name: str  # "03_worked_softmax", the notebook's file name without its ending
    benches: tuple[Bench, ...]
    given: dict[str, list[str]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    preload: tuple[str, ...] = ("numpy",)  # what its cells import from elsewhere

    @property
    def max_points(self) -> float:
        """What the notebook's automatic questions are worth together."""
        return sum(bench.points for bench in self.benches)

    @property
    def fingerprint(self) -> str:
        """Changes when anything changes that a mark depends on, so that a submission is graded again."""
        digest = hashlib.sha256(repr((self.name, self.given, sorted(self.modules.items()))).encode())
        for bench in self.benches:
            digest.update(bench.hidden.body + json.dumps(bench.hidden.trees).encode() + repr(bench.points).encode())
            for name, function in _functions(bench.exercise):
                outcomes = [bench.call(function, probe) for probe in bench.hidden.probes]
                body = bytearray()
                trees = [(outcome.status, wire.encode(outcome.value, body)) for outcome in outcomes]
                digest.update(repr((name, trees)).encode() + body)
            texts = [(m.id, m.what, m.why, m.where) for m in bench.exercise.mistakes]
            digest.update(repr((texts, bench.exercise.forbidden)).encode())
        return digest.hexdigest()


def read_secret(path: Path) -> bytes:
    """Return the instructor's secret; it is made, readable by its owner alone, the first time.

    Raises:
        ValueError: if the file holds less than 16 letters.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        secret = path.read_bytes().strip()
        if len(secret) < 16:
            raise ValueError(f"secret: wanted 16 letters or more in {path}, got {len(secret)}") from None
        return secret
    secret = secrets.token_hex(32).encode()
    with os.fdopen(handle, "wb") as file:
        file.write(secret + b"\n")
    return secret


def lesson_names(root: Path) -> dict[str, list[Exercise]]:
    """Return the exercises of each notebook that has some, by the notebook's name."""
    by_stem: dict[str, list[Exercise]] = {}
    for exercise in find_exercises().values():
        by_stem.setdefault(exercise.id.partition("/")[0], []).append(exercise)
    names = {match[2]: path.stem for path in _notebooks(root) if (match := NAME.fullmatch(path.stem))}
    return dict(sorted((names.get(stem, stem), exercises) for stem, exercises in by_stem.items()))


def find_lessons(root: Path, secret: bytes, only: Iterable[str] | None = None) -> dict[str, Lesson]:
    """Return the course's lessons with exercises, by name, or those that are asked for.

    Points are read from the solutions; an exercise without any is worth one. What submissions may import is read from
    the released exercise.
    """
    from course_lib.authoring import points

    worth, wanted = points(root), None if only is None else set(only)
    paths = {path.stem: path for path in _notebooks(root)}
    found = {}
    for name, exercises in lesson_names(root).items():
        if wanted is None or name in wanted:
            pairs = [(exercise, worth.get(exercise.id, 1.0)) for exercise in exercises]
            found[name] = make_lesson(name, pairs, secret, given.code_cells(paths[name]) if name in paths else ())
    return found


def _notebooks(root: Path) -> list[Path]:
    """The released exercises, or their solutions where an exercise has not been made yet."""
    pattern = "[0-9][0-9]_*.ipynb"
    released = {path.name: path for path in (root / "exercises").glob(pattern)}
    return list(({path.name: path for path in (root / "solutions").glob(pattern)} | released).values())


def make_lesson(
    name: str, exercises: Sequence[tuple[Exercise, float]], secret: bytes, cells: Sequence[str] = ()
) -> Lesson:
    """Draw the probes of the exercises of one notebook, whose released code cells say what may be imported."""
    benches = tuple(make_bench(exercise, points, secret) for exercise, points in exercises)
    names = given.given_names(cells)
    modules = given.given_modules(names)
    return Lesson(name, benches, names, modules, given.preloads([*cells, *modules.values()]))


def make_bench(exercise: Exercise, points: float, secret: bytes) -> Bench:
    """Draw an exercise's probes from the secret, again if a known mistake would pass them or lose its name.

    Where no drawing tells all of them apart, the one that tells the most is taken, and `untold` lists the rest.

    Raises:
        ValueError: if an input cannot be sent.
    """
    public = _asked(exercise, exercise.probes(np.random.default_rng(SEED)))
    best: Bench | None = None
    for draw in range(DRAWS):
        seed = hmac.new(secret, f"{exercise.id} {draw}".encode(), hashlib.sha256).digest()
        hidden = _asked(exercise, exercise.probes(np.random.default_rng(int.from_bytes(seed))))
        bench = Bench(exercise, points, public, hidden, remembering())
        bench = replace(bench, untold=_untold(bench))
        if best is None or len(bench.untold) < len(best.untold):
            best = bench
        if not best.untold:
            break
    _work_out(best)
    return best


def remembering() -> Callable[[Callable, Probe], Outcome]:
    """Return a `call` that calls each function on each probe only once."""
    known: dict[tuple[int, int], tuple[Callable, Probe, Outcome]] = {}

    def remembered(function: Callable, probe: Probe) -> Outcome:
        key = id(function), id(probe)
        if key not in known:
            known[key] = function, probe, call(function, probe)  # holding both keeps their ids their own
        return known[key][2]

    return remembered


def _untold(bench: Bench) -> tuple[str, ...]:
    """Return the known mistakes that these probes let pass, or name as another one."""
    found = []
    for mistake in bench.exercise.mistakes:
        got = [bench.call(mistake.answer, probe) for probe in bench.hidden.probes]
        result = judge(bench.exercise, bench.hidden.probes, got, bench.call)
        if result.passed or result.mistake != mistake.id:
            found.append(mistake.id)
    return tuple(found)


def _work_out(bench: Bench) -> None:
    """Call what will be compared with now, in one thread: the switch that quietens warnings is not for several."""
    functions = [
        bench.exercise.reference,
        *(other.answer for other in bench.exercise.mistakes + bench.exercise.remarks),
    ]
    for asked in (bench.public, bench.hidden):
        for function in functions:
            for probe in asked.probes:
                bench.call(function, probe)


def _asked(exercise: Exercise, probes: Sequence[Probe]) -> Asked:
    body = bytearray()
    trees = tuple({"t": "tuple", "items": _described(probe.args, body)} for probe in probes)
    if '"foreign"' in json.dumps(trees):
        raise ValueError(f"{exercise.id}: an input of its probes is neither array, number, text, list nor tuple")
    frame = wire.pack({"kind": "ask", "name": exercise.function_name, "probes": trees}, bytes(body))
    return Asked(tuple(probes), trees, bytes(body), frame)


def _described(args: tuple, body: bytearray) -> list[dict]:
    """Describe a probe's inputs; a function is only numbered: it stays here and is called from there."""
    return [{"t": "function", "n": n} if callable(arg) else wire.encode(arg, body) for n, arg in enumerate(args)]


def _functions(exercise: Exercise) -> list[tuple[str, Callable]]:
    return [("reference", exercise.reference), *((mistake.id, mistake.answer) for mistake in exercise.mistakes)]

"""The engine of the checks: it runs an answer on probes and compares it with the reference and the known mistakes.

A check is a mutation test. An exercise holds probes (inputs chosen so that wrong answers show), a reference, and the
mistakes that people really make, each as a small function. An answer that misses the reference is compared with every
mistake on every probe, and the one that it equals is named. What an exercise holds is data in `checks/<stem>.py`;
`tests/checks/test_exercise_banks.py` proves all of it.
"""

import copy
import importlib.util
import pkgutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib.checks.result import Result, call_text, first_difference, kind_text, value_text

SEED = 2017  # the self-checks draw their probes from this seed; grading draws them from its own
RTOL, ATOL = 1e-5, 1e-6  # wide enough for an answer that computes in float32, far narrower than any known mistake


@dataclass(frozen=True)
class Probe:
    """One input for an answer.

    An `extreme` probe (scores of a thousand, one token, an empty batch) may break an answer in its own way; a mistake
    is then recognised by the ordinary probes alone.
    """

    name: str  # said to the learner: "three queries on five keys"
    args: tuple
    extreme: bool = False


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people really give, as a function, and what to tell who gave it (never the solution)."""

    id: str  # "softmax_over_queries"
    answer: Callable  # the mistake itself
    what: str  # what was probably done: "The softmax runs over the queries, not over the keys."
    why: str  # why it matters: "Then the weights of one query do not sum to one."
    where: str  # where to look: "Look at the axis of the softmax: which axis of the scores counts the keys?"


@dataclass(frozen=True)
class Remark:
    """An answer that differs from the reference on some probe and is right all the same, and what to say of it."""

    id: str
    answer: Callable
    text: str


@dataclass(frozen=True)
class Exercise:
    """One exercise: what `check` needs, and what the list of exercises shows. Its points stand in the notebook."""

    id: str  # the lesson's stem, a slash, the function's name
    title: str  # one line
    minutes: int
    difficulty: str  # easy, medium or hard
    kind: str  # fill, fix, predict or measure
    reference: Callable
    probes: Callable[[np.random.Generator], Sequence[Probe]]
    mistakes: tuple[Mistake, ...]
    right_answers: Mapping[str, Callable] = field(default_factory=dict)  # written differently; the tests try them
    remarks: tuple[Remark, ...] = ()
    forbidden: tuple[str, ...] = ()  # what an answer may not use: "torch.softmax", or ".softmax" for any method

    @property
    def function_name(self) -> str:
        """The name that the answer has in the notebook."""
        return self.id.split("/")[1]


@dataclass(frozen=True)
class Outcome:
    """What one call of an answer came to: `status` is value, raised, nothing, unwritten or changed_input."""

    status: str
    value: object = None
    error: BaseException | None = None


def distinct_sizes(rng: np.random.Generator, count: int, low: int = 2, high: int = 8) -> list[int]:
    """Draw sizes that all differ, so that a wrong axis cannot pass.

    >>> len(set(distinct_sizes(np.random.default_rng(0), 4)))
    4
    """
    return [int(size) for size in rng.permutation(np.arange(low, high + 1))[:count]]


def call(function: Callable, probe: Probe) -> Outcome:
    """Call `function` on copies of the probe's inputs and say what came of it; warnings are kept quiet."""
    args = copy.deepcopy(probe.args)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args)
    except NotImplementedError as error:
        return Outcome("unwritten", error=error)
    except (Exception, SystemExit) as error:
        return Outcome("raised", error=error)
    if value is None or value is Ellipsis:
        return Outcome("nothing")
    if not all(same(before, after) for before, after in zip(probe.args, args, strict=True)):
        return Outcome("changed_input", value=plain(value))
    return Outcome("value", value=plain(value))


def plain(value: object) -> object:
    """Turn a result into arrays, strings and tuples of them; what can be none of these stays as it is.

    >>> plain([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if isinstance(value, np.ndarray):
        return np.asarray(value)  # without a subclass's own ideas of comparing
    if isinstance(value, str | dict):
        return value
    if isinstance(value, tuple) and not all(np.isscalar(item) for item in value):
        return tuple(plain(item) for item in value)
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):  # a list of arrays of several shapes, for one
        return [plain(item) for item in value] if isinstance(value, list) else value
    return array if array.dtype.kind in "biufU" else value


def same(a: object, b: object) -> bool:
    """Say whether two results agree: the same kind, the same shape, and numbers that agree to five digits.

    >>> same(np.array([1.0, np.nan]), np.array([1.0, np.nan])), same(np.ones(2), np.ones((2, 1)))
    (True, False)
    """
    if isinstance(a, tuple | list) or isinstance(b, tuple | list):
        alike = type(a) is type(b) and len(a) == len(b)
        return alike and all(same(x, y) for x, y in zip(a, b, strict=True))
    if not same_kind(a, b):
        return False
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return bool(a == b)
    if a.dtype.kind in "bU":
        return bool(np.array_equal(a, b))
    if a.dtype == b.dtype and a.tobytes() == b.tobytes():  # most right answers, and much faster
        return True
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True))


def same_kind(a: object, b: object) -> bool:
    """Say whether two results are of one kind: arrays of numbers (or booleans) of one shape, or of one other type."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        numbers = dict.fromkeys("iuf", "number")
        kinds = [numbers.get(array.dtype.kind, array.dtype.kind) for array in (a, b)]
        return a.shape == b.shape and kinds[0] == kinds[1]
    if isinstance(a, tuple | list) and type(a) is type(b):
        return len(a) == len(b) and all(same_kind(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b)


def agree(a: Outcome, b: Outcome) -> bool:
    """Say whether two calls came to the same: equal values, or both raised."""
    if a.status != b.status:
        return False
    return same(a.value, b.value) if a.status in ("value", "changed_input") else True


def run(exercise: Exercise, answer: object, rng: np.random.Generator | None = None) -> Result:
    """Run `answer` on every probe and return the verdict; with the first miss, the mistake that it matches."""
    if not callable(answer):
        text = f"Wanted the function `{exercise.function_name}` itself, got {kind_text(answer)}."
        return Result(exercise.id, "not_a_function", text)
    probes = list(exercise.probes(rng or np.random.default_rng(SEED)))
    got = []
    for probe in probes:
        got.append(call(answer, probe))
        if got[-1].status == "unwritten":
            break
    return judge(exercise, probes, got)


def judge(
    exercise: Exercise,
    probes: Sequence[Probe],
    got: Sequence[Outcome],
    call: Callable[[Callable, Probe], Outcome] = call,
) -> Result:
    """Return the verdict on outcomes that are there already: the grader gets them from another process.

    `call` runs the reference, the remarks and the known mistakes; who judges many answers on the same probes hands in
    one that remembers.
    """
    if any(outcome.status == "unwritten" for outcome in got):
        return Result(exercise.id, "not_written", NOT_WRITTEN, probes=len(probes))
    wanted = [call(exercise.reference, probe) for probe in probes]
    passed = [agree(*pair) for pair in zip(got, wanted, strict=True)]
    if all(passed):
        return Result(exercise.id, "passed", "", passed_probes=len(probes), probes=len(probes))
    for remark in exercise.remarks:
        if all(map(agree, got, (call(remark.answer, probe) for probe in probes))):
            return Result(exercise.id, "passed", "", len(probes), len(probes), remark=remark.text)
    miss = passed.index(False)
    status, text = _explain(exercise, probes[miss], wanted[miss], got[miss])
    name, lines = _name_mistake(exercise, probes, wanted, got, call)
    return Result(exercise.id, status, text, sum(passed), len(probes), mistake=name, advice=lines)


NOT_WRITTEN = "Not written yet: put your code in place of `raise NotImplementedError()`, run its cell, then this one."
RETURNS_NOTHING = (
    ("What was probably done", "The function ends without `return`, or its body is still `...` or `pass`."),
    ("Why it matters", "Python then hands back `None`, whatever the function has computed."),
    ("Where to look", "The last line of the function."),
)
CHANGES_INPUT = (
    ("What was probably done", "An array that came in was written to (`x -= ...`, `x[...] = ...`), not a copy of it."),
    ("Why it matters", "Whoever calls the function finds other numbers in their own array afterwards."),
    ("Where to look", "Each assignment with `+=`, `-=`, `/=` or `[...] =`: make a new array there."),
)


def _explain(exercise: Exercise, probe: Probe, wanted: Outcome, got: Outcome) -> tuple[str, str]:
    """Say in one paragraph what went wrong on this probe: the status, and the text with the input."""
    name, where = exercise.function_name, call_text(exercise.reference, exercise.function_name, probe.args)
    on = f"on {probe.name}: {where}"
    if got.status == "raised":
        return "raised", f"`{name}` raised `{type(got.error).__name__}: {got.error}` {on}"
    if got.status == "nothing":
        return "returned_nothing", f"`{name}` returned nothing {on}"
    if got.status == "changed_input":
        return "changed_input", f"`{name}` changed the array that it was given {on}"
    if not same_kind(got.value, wanted.value):
        kinds = f"Wanted {kind_text(wanted.value)}, got {kind_text(got.value)}."
        return "wrong_kind", f"`{name}` returned the wrong kind of result {on}\n{kinds}"
    index, wanted_entry, got_entry = first_difference(wanted.value, got.value, lambda a, b: same(a, b))
    text = f"`{name}` returned a wrong value {on}\nFirst wrong entry{index}: wanted {wanted_entry}, got {got_entry}."
    return "wrong_value", text


def _name_mistake(
    exercise: Exercise,
    probes: Sequence[Probe],
    wanted: Sequence[Outcome],
    got: Sequence[Outcome],
    call: Callable[[Callable, Probe], Outcome],
) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """Find the known mistake that came to the same as the answer, first on every probe, then on the ordinary ones."""
    tried = [(mistake, [call(mistake.answer, probe) for probe in probes]) for mistake in exercise.mistakes]
    for chosen in (range(len(probes)), [i for i, probe in enumerate(probes) if not probe.extreme]):
        for mistake, made in tried:
            if _matches([got[i] for i in chosen], [made[i] for i in chosen], [wanted[i] for i in chosen]):
                advice = ("What was probably done", mistake.what), ("Why it matters", mistake.why)
                return mistake.id, (*advice, ("Where to look", mistake.where))
    if all(outcome.status == "nothing" for outcome in got):
        return "returns_nothing", RETURNS_NOTHING
    if any(outcome.status == "changed_input" for outcome in got):
        return "changes_input", CHANGES_INPUT
    known = f"It matches none of the {len(tried)} mistakes that this check knows."
    return None, (("Known mistake", known),)


def _matches(got: Iterable[Outcome], made: Iterable[Outcome], wanted: Iterable[Outcome]) -> bool:
    """Say whether an answer is this mistake: it agrees with it everywhere, and somewhere that tells it from right."""
    triples = list(zip(got, made, wanted, strict=True))
    if not all(agree(g, m) for g, m, _ in triples):
        return False
    comparable = any(m.status == "value" for _, m, _ in triples)
    telling = any(not agree(m, w) and (m.status != "raised" or type(g.error) is type(m.error)) for g, m, w in triples)
    return comparable and telling


def find_exercises() -> dict[str, Exercise]:
    """Return every exercise by its id, in the order of the files and of each file."""
    import course_lib.checks as package

    found = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        if module in ("engine", "result"):
            continue
        for exercise in importlib.import_module(f"course_lib.checks.{module}").EXERCISES:
            if exercise.id != f"{module}/{exercise.function_name}":
                raise ValueError(f"id: wanted '{module}/<function>' in checks/{module}.py, got '{exercise.id}'")
            if exercise.id in found:
                raise ValueError(f"id: wanted each exercise once, got '{exercise.id}' twice")
            found[exercise.id] = exercise
    return found


def find_exercise(exercise_id: str) -> Exercise:
    """Return the exercise of that id.

    Raises:
        ValueError: if there is none; the message lists those of that lesson, or all lessons.
    """
    stem = exercise_id.partition("/")[0]
    path = f"course_lib.checks.{stem}"
    if stem.isidentifier() and stem not in ("engine", "result") and importlib.util.find_spec(path):
        exercises = {exercise.id: exercise for exercise in importlib.import_module(path).EXERCISES}
        if exercise_id in exercises:
            return exercises[exercise_id]
    else:
        exercises = find_exercises()
    raise ValueError(f"exercise: wanted one of {', '.join(exercises)}; got {value_text(exercise_id)}")

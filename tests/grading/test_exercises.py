"""Every exercise of the course, graded as a class is: the solution earns all, the stub nothing, each mistake its name.

Lessons that are added later are found by themselves.
"""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import course_lib
from course_lib.authoring import points
from course_lib.checks.engine import SEED, call, find_exercises
from course_lib.grading import compare, given, probes, sandbox, wire
from course_lib.grading.budgets import Budgets, NoSandbox
from course_lib.grading.notebook import read_notebook

ROOT = Path(course_lib.__file__).parent.parent
EXERCISES = find_exercises()
NAMES = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))
SECRET = b"another secret of the tests"

every_notebook = pytest.mark.parametrize("name", NAMES)
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))


@pytest.fixture(scope="module")
def lessons():
    return probes.find_lessons(ROOT, SECRET)


@pytest.fixture(scope="module")
def warm():
    """A sandbox for each set of libraries; the strongest tier that this machine has."""
    open_ones = {}

    def get(preload):
        if preload not in open_ones:
            try:
                root = os.name == "posix" and os.geteuid() == 0
                open_ones[preload] = sandbox.start("auto", Budgets(), preload, allow_root=root)
            except NoSandbox as error:
                pytest.skip(str(error))
        return open_ones[preload]

    yield get
    for one in open_ones.values():
        one.stop()


@every_notebook
def test_the_solution_earns_full_marks(name, lessons, warm):
    lesson = lessons[name]
    cells = read_notebook((ROOT / "solutions" / f"{name}.ipynb").read_bytes()).cells
    graded = compare.grade(warm(lesson.preload), lesson, cells)
    assert [(q.exercise, q.status, q.text) for q in graded.questions] == [
        (bench.exercise.id, "right", "") for bench in lesson.benches
    ], graded.notes
    assert (
        sum(q.points for q in graded.questions)
        == lesson.max_points
        == sum(worth for key, worth in points(ROOT).items() if key.split("/")[0] == name[3:])
    )
    assert not graded.notes


@every_notebook
def test_the_untouched_exercise_earns_nothing(name, lessons, warm):
    lesson = lessons[name]
    path = ROOT / "exercises" / f"{name}.ipynb"
    if not path.is_file():
        pytest.skip("it has not been made yet")
    graded = compare.grade(warm(lesson.preload), lesson, read_notebook(path.read_bytes()).cells)
    assert [q.points for q in graded.questions] == [0.0] * len(lesson.benches)
    assert {q.status for q in graded.questions} <= {"not_written", "wrong", "stopped"}


@every_exercise
def test_each_known_mistake_earns_less_and_is_named_in_the_record(exercise, lessons, warm):
    """The mistakes' outcomes go through the whole judging; what a mistake does in a sandbox, the toy shows."""
    bench = next(b for lesson in lessons.values() for b in lesson.benches if b.exercise.id == exercise.id)
    assert exercise.mistakes and not bench.untold
    for mistake in exercise.mistakes:
        state = compare._State(
            got={
                "public": [_crossed(bench.call(mistake.answer, probe)) for probe in bench.public.probes],
                "hidden": [_crossed(bench.call(mistake.answer, probe)) for probe in bench.hidden.probes],
            }
        )
        question = compare._judge(bench, state, "", [])
        assert question.points < bench.points, mistake.id
        assert question.mistake == mistake.id, (mistake.id, question)
        assert question.advice and question.text


def _crossed(outcome):
    """Send an outcome through the wire and back, as it comes from the student side."""
    if outcome.status in ("value", "changed_input"):
        body = bytearray()
        header = {"status": outcome.status, "value": wire.encode(outcome.value, body)}
        return compare._outcome(json.loads(json.dumps(header)), bytes(body))
    error = outcome.error
    header = {"status": outcome.status, "error": type(error).__name__, "text": str(error)}
    return compare._outcome(header, b"")


@every_exercise
def test_every_input_crosses_the_wire_unchanged(exercise, monkeypatch):
    for probe in exercise.probes(np.random.default_rng(SEED)):
        body = bytearray()
        trees = json.loads(json.dumps(probes._described(probe.args, body)))
        own = probe.args
        monkeypatch.setattr(wire, "CALL", lambda n, args, own=own: own[n](*args))
        args = tuple(wire.decode(tree, bytes(body)) for tree in trees)
        again = type(probe)(probe.name, args)
        assert len(args) == len(probe.args)
        assert compare.agree(call(exercise.reference, probe), call(exercise.reference, again)), probe.name


@every_notebook
def test_no_answer_is_among_what_a_submission_may_import(name, lessons):
    answers = {bench.exercise.function_name for bench in lessons[name].benches}
    for module, text in lessons[name].modules.items():
        defined = set(re.findall(r"^def (\w+)", text, re.MULTILINE))
        assert not answers & defined, f"{module} gives {answers & defined} away"


def test_the_secret_decides_what_is_asked():
    exercise = next(iter(EXERCISES.values()))
    one, same, other = (probes.make_bench(exercise, 1.0, secret).hidden for secret in (b"a" * 16, b"a" * 16, b"b" * 16))
    assert one.trees == same.trees and one.body == same.body
    assert (one.trees, one.body) != (other.trees, other.body)
    assert (one.trees, one.body) != (probes.make_bench(exercise, 1.0, b"a" * 16).public.trees, b"")


def test_what_draws_or_checks_is_silent_for_a_submission():
    modules = given.given_modules({"course_lib.plots": ["common"], "course_lib.checks": ["check"]})
    namespace = {}
    exec(modules["course_lib.checks"], namespace)
    check = namespace["__getattr__"]("check")
    assert check("any/thing", None).must_pass() is not None and list(check) == [] and repr(check) == ""
    assert "must_pass" not in modules["course_lib.checks"]

"""Every exercise is proved against its own bank: right answers pass, each known mistake is refused under its own name.

A probe that is weakened until it accepts a known mistake turns this file red.
"""

import copy
import time

import numpy as np
import pytest

from course_lib.checks.engine import SEED, agree, call, find_exercises, run, same

EXERCISES = find_exercises()
SEEDS = (SEED, 0, 1, 2, 3)  # grading draws its probes from other seeds than the notebooks, and must name as well

every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
every_mistake = pytest.mark.parametrize(
    ("exercise", "mistake"),
    [pytest.param(e, m, id=f"{e.id}-{m.id}") for e in EXERCISES.values() for m in e.mistakes],
)
every_right_answer = pytest.mark.parametrize(
    ("exercise", "answer"),
    [pytest.param(e, f, id=f"{e.id}-{name}") for e in EXERCISES.values() for name, f in e.right_answers.items()],
)

every_remark = pytest.mark.parametrize(
    ("exercise", "remark"),
    [pytest.param(e, r, id=f"{e.id}-{r.id}") for e in EXERCISES.values() for r in e.remarks],
)


def test_there_are_exercises():
    assert EXERCISES


@every_exercise
@pytest.mark.parametrize("seed", SEEDS)
def test_the_reference_passes(exercise, seed):
    result = run(exercise, exercise.reference, np.random.default_rng(seed))
    assert result.passed, result.message
    assert result.remark is None
    assert result.probes >= 3


@every_exercise
def test_the_untouched_stub_is_not_written_yet(exercise):
    def stub(*args, **options):
        raise NotImplementedError()

    result = run(exercise, stub)
    assert (result.status, result.passed, result.mistake) == ("not_written", False, None)


@every_exercise
def test_an_answer_without_return_is_told_so(exercise):
    result = run(exercise, lambda *args, **options: None)
    assert (result.status, result.mistake) == ("returned_nothing", "returns_nothing")


@every_mistake
@pytest.mark.parametrize("seed", SEEDS)
def test_each_known_mistake_is_refused_under_its_own_name(exercise, mistake, seed):
    result = run(exercise, mistake.answer, np.random.default_rng(seed))
    assert not result.passed
    assert result.mistake == mistake.id, result.message


@every_right_answer
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_answer_written_differently_passes(exercise, answer, seed):
    result = run(exercise, answer, np.random.default_rng(seed))
    assert result.passed, result.message
    assert result.remark is None


@every_remark
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_answer_that_differs_passes_with_its_own_remark(exercise, remark, seed):
    result = run(exercise, remark.answer, np.random.default_rng(seed))
    assert result.passed, result.message
    assert result.remark == remark.text


@every_exercise
def test_an_answer_that_rounds_its_inputs_to_float32_passes(exercise):
    def in_float32(*args):
        return exercise.reference(*[a.astype(np.float32) if is_float(a) else a for a in args])

    result = run(exercise, in_float32)
    assert result.passed, result.message


@every_exercise
def test_an_answer_that_returns_lists_passes(exercise):
    def as_lists(*args):
        value = exercise.reference(*args)
        # An empty array has no list that keeps its shape.
        return value.tolist() if isinstance(value, np.ndarray) and value.size else value

    result = run(exercise, as_lists)
    assert result.passed, result.message


@every_exercise
def test_an_answer_that_changes_its_input_is_refused(exercise):
    def careless(*args):
        value = copy.deepcopy(exercise.reference(*args))
        for array in args:
            if isinstance(array, np.ndarray) and array.size and array.flags.writeable:
                array += 1 if array.dtype != bool else True
        return value

    if not any(isinstance(a, np.ndarray) for p in exercise.probes(np.random.default_rng(0)) for a in p.args):
        pytest.skip("none of its inputs can be changed")
    result = run(exercise, careless)
    assert (result.status, result.mistake) == ("changed_input", "changes_input")


@every_exercise
def test_a_bare_wrong_answer_matches_no_known_mistake(exercise):
    result = run(exercise, lambda *args, **options: object())
    assert (result.status, result.mistake) == ("wrong_kind", None)
    assert "none of the" in result.message


@every_exercise
def test_a_check_takes_under_a_second_even_when_it_looks_for_the_mistake(exercise):
    started = time.process_time()
    run(exercise, lambda *args, **options: "wrong")
    assert time.process_time() - started < 1


@every_exercise
def test_some_probe_is_asymmetric_in_its_sizes(exercise):
    """If every array of every probe had equal sizes, a transposed answer could pass."""
    shapes = [a.shape for p in exercise.probes(np.random.default_rng(0)) for a in p.args if isinstance(a, np.ndarray)]
    matrices = [shape for shape in shapes if len(shape) > 1]
    assert not matrices or any(len(set(shape)) == len(shape) for shape in matrices)


@every_exercise
def test_probes_are_the_same_for_the_same_seed_and_differ_in_what_they_ask(exercise):
    first, second = (exercise.probes(np.random.default_rng(3)) for _ in range(2))
    assert all(same(a, b) for p, q in zip(first, second, strict=True) for a, b in zip(p.args, q.args, strict=True))
    wanted = [call(exercise.reference, probe) for probe in first]
    assert not all(agree(wanted[0], outcome) for outcome in wanted[1:]), "one constant would pass every probe"


@every_exercise
def test_what_a_learner_reads_is_there_and_short(exercise):
    assert exercise.title and exercise.minutes > 0
    assert exercise.difficulty in ("easy", "medium", "hard")
    assert exercise.kind in ("fill", "fix", "predict", "measure")
    assert len({m.id for m in exercise.mistakes}) == len(exercise.mistakes) >= 2
    for mistake in exercise.mistakes:
        for text in (mistake.what, mistake.why, mistake.where):
            assert text.strip().endswith((".", "?", ")")) and len(text) < 420, text


@every_mistake
def test_no_advice_gives_the_solution_away(exercise, mistake):
    """The advice may not hold a line of code that the reference consists of."""
    import inspect

    lines = [line.strip() for line in inspect.getsource(exercise.reference).splitlines()]
    code = [line for line in lines if "=" in line or line.startswith("return ")]
    bodies = [line.removeprefix("return ").split("#")[0].strip() for line in code]
    for text in (mistake.what, mistake.why, mistake.where):
        assert not [body for body in bodies if len(body) > 12 and body in text]


def is_float(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"

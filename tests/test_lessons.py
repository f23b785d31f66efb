"""Every lesson and every solution keeps the rules of course_lib.authoring, each rule a test of its own.

nbval compares the outputs; these rules see what it lets through: a stale picture, a stripped notebook, a doubled id.
"""

from pathlib import Path

import pytest

from course_lib.authoring import PATTERN, lessons
from course_lib.authoring.cells import load
from course_lib.authoring.rules import RULES
from course_lib.authoring.rules_lesson import LESSON_RULES
from course_lib.authoring.rules_solution import SOLUTION_RULES

ROOT = Path(__file__).parent.parent
NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "notebooks").glob(PATTERN))}
SOLUTIONS = {path.stem: path for path in sorted((ROOT / "solutions").glob(PATTERN))}


def name(value):
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize("rule", [*RULES, *LESSON_RULES], ids=name)
@pytest.mark.parametrize("stem", NOTEBOOKS)
def test_the_lesson_keeps_the_rule(stem, rule):
    complaints = rule(load(NOTEBOOKS[stem], ROOT))
    assert not complaints, "\n".join([f"{stem}: {rule.__doc__}", *complaints])


@pytest.mark.parametrize("rule", [*RULES, *SOLUTION_RULES], ids=name)
@pytest.mark.parametrize("stem", SOLUTIONS)
def test_the_solution_keeps_the_rule(stem, rule):
    complaints = rule(load(SOLUTIONS[stem], ROOT))
    assert not complaints, "\n".join([f"{stem}: {rule.__doc__}", *complaints])


def test_there_are_lessons_and_each_has_a_solution():
    assert NOTEBOOKS
    assert list(NOTEBOOKS) == list(SOLUTIONS)


def test_no_number_and_no_stem_is_taken_twice():
    found = lessons(ROOT)
    assert len({lesson.number for lesson in found}) == len(found)
    assert len({lesson.stem for lesson in found}) == len(found)


def test_every_notebook_of_the_three_folders_is_found_by_its_name():
    for folder in ("notebooks", "solutions", "exercises"):
        strays = [path.name for path in (ROOT / folder).glob("*.ipynb") if not path.match(PATTERN)]
        assert not strays, f"{folder}: wanted names such as 03_worked_softmax.ipynb, got {strays}"

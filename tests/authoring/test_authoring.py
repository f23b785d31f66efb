"""Lessons are found by their names, points in their solutions, copies are never overwritten, and `new` is complete."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.authoring import Lesson, checked, lessons, new, points, work
from course_lib.authoring.cells import load
from course_lib.authoring.rules import RULES
from course_lib.authoring.rules_lesson import LESSON_RULES
from course_lib.authoring.rules_solution import SOLUTION_RULES

ROOT = Path(__file__).parent.parent.parent


def put(root, folder, name, *sources, nbgrader=None):
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": [sources[0]]}]
    for number, source in enumerate(sources[1:]):
        metadata = {"nbgrader": nbgrader} if nbgrader else {}
        cell = {"cell_type": "code", "id": f"b{number}", "metadata": metadata, "source": source}
        cells.append({**cell, "outputs": [], "execution_count": None})
    path = root / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return path


def test_lessons_are_found_by_name_in_order_with_title_and_minutes(tmp_path):
    put(tmp_path, "notebooks", "10_later.ipynb", "# Later\n\nNeeds: 02. 45 minutes.")
    put(tmp_path, "notebooks", "02_first.ipynb", "Intro\n# First: the start\n20 min")
    put(tmp_path, "notebooks", "notes.ipynb", "# No lesson")
    put(tmp_path, "notebooks", "11_bare.ipynb", "no heading")
    first, later, bare = lessons(tmp_path)
    assert first == Lesson(tmp_path, "02", "first", "First: the start", "", 20)
    assert (later.title, later.minutes) == ("Later", 45)
    assert (bare.title, bare.minutes) == ("bare", 0)
    assert first.exercise == tmp_path / "exercises" / "02_first.ipynb"
    assert first.notebook.is_file() and not first.solution.exists()


def test_there_are_no_lessons_in_an_empty_folder(tmp_path):
    assert lessons(tmp_path) == []
    assert points(tmp_path) == {}


def test_points_are_those_of_the_check_cells(tmp_path):
    check = 'check("toy/double", double).must_pass()'
    put(tmp_path, "solutions", "02_toy.ipynb", "# x", check, nbgrader={"grade": True, "points": 3})
    put(tmp_path, "solutions", "03_other.ipynb", "# x", 'check("other/f", f)', nbgrader={"grade": False, "points": 3})
    assert points(tmp_path) == {"toy/double": 3.0}


def test_checks_are_found_in_any_python_and_in_nothing_else():
    assert checked('x = [check("a/b", f), check("c/d", g).must_pass()]') == ["a/b", "c/d"]
    assert checked("check(name, f)\nrecheck('a/b', f)\ncheck()") == []
    assert checked("!check('a/b')") == []


def test_work_copies_the_exercise_once_and_keeps_what_the_learner_wrote(tmp_path, capsys):
    source = put(tmp_path, "exercises", "03_toy.ipynb", "# Toy", "write here")
    mine = work("3", tmp_path)
    assert mine == tmp_path / "my_work" / "03_toy.ipynb"
    assert (
        json.loads(mine.read_text(encoding="utf-8"))["cells"] == json.loads(source.read_text(encoding="utf-8"))["cells"]
    )
    mine.write_text(mine.read_text(encoding="utf-8").replace("write here", "my answer"))
    written = mine.read_bytes()
    assert work("03", tmp_path) == mine
    assert mine.read_bytes() == written
    assert [path.name for path in mine.parent.iterdir()] == ["03_toy.ipynb"]
    assert "Kept your file" in capsys.readouterr().out


def test_work_lays_a_newer_exercise_beside_the_copy_once(tmp_path, capsys):
    put(tmp_path, "exercises", "03_toy.ipynb", "# Toy", "write here")
    mine = work("03", tmp_path)
    written = mine.read_bytes()
    put(tmp_path, "exercises", "03_toy.ipynb", "# Toy", "write here, better asked")
    work("03", tmp_path)
    assert "has changed" in capsys.readouterr().out
    work("03", tmp_path)
    assert "has changed" not in capsys.readouterr().out
    put(tmp_path, "exercises", "03_toy.ipynb", "# Toy", "write here, still better asked")
    work("03", tmp_path)
    names = sorted(path.name for path in mine.parent.iterdir())
    assert names == ["03_toy.ipynb", "03_toy.new.ipynb", "03_toy.new2.ipynb"]
    assert mine.read_bytes() == written
    assert "still better" in (mine.parent / "03_toy.new2.ipynb").read_text(encoding="utf-8")


def test_work_keeps_a_copy_that_is_no_notebook_any_more(tmp_path):
    put(tmp_path, "exercises", "03_toy.ipynb", "# Toy")
    mine = work("03", tmp_path)
    mine.write_text("half a file", encoding="utf-8")
    assert work("03", tmp_path) == mine
    assert mine.read_text(encoding="utf-8") == "half a file"


def test_work_refuses_a_number_that_no_exercise_has(tmp_path):
    put(tmp_path, "exercises", "03_toy.ipynb", "# Toy")
    for number in ("7", "toy"):
        with pytest.raises(FileNotFoundError, match=r"wanted the number of an exercise, got .*; there are 03"):
            work(number, tmp_path)


@pytest.mark.parametrize(
    ("number", "title", "wanted"),
    [
        ("7", "Fine", "number: wanted two digits such as 07, got '7'"),
        ("08", "2 heads", "title: wanted words"),
        ("08", "…", "title: wanted words"),
        ("03", "Another", r"number: 03 is taken by 03_toy\.ipynb"),
        ("08", "Toy", r"title: toy is taken by 03_toy\.ipynb"),
        ("08", "Engine", r"title: .*engine\.py is there already"),
    ],
)
def test_new_refuses_what_is_taken_or_is_no_name_and_writes_nothing(tmp_path, number, title, wanted):
    put(tmp_path, "notebooks", "03_toy.ipynb", "# Toy")
    (tmp_path / "course_lib" / "checks").mkdir(parents=True)
    (tmp_path / "course_lib" / "checks" / "engine.py").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=wanted):
        new(number, title, tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A copy of the tree without lessons, in which one has been begun."""
    pytest.importorskip("nbgrader", reason="no nbgrader: install the extra `test`")
    root = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("course_lib", "tests"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    for path in (root / "course_lib" / "checks").glob("*.py"):
        if path.name not in ("__init__.py", "engine.py", "result.py"):
            path.unlink()
    return root, new("77", 'Über "heads"', root)


def test_new_writes_a_lesson_a_solution_its_checks_and_the_exercise(begun):
    root, written = begun
    assert [path.relative_to(root).as_posix() for path in written] == [
        "notebooks/77_uber_heads.ipynb",
        "solutions/77_uber_heads.ipynb",
        "course_lib/checks/uber_heads.py",
        "exercises/77_uber_heads.ipynb",
    ]
    assert all(
        path.is_file() and "__" not in path.read_text(encoding="utf-8").replace("__init__", "") for path in written
    )
    (lesson,) = lessons(root)
    assert (lesson.number, lesson.title, lesson.minutes) == ("77", "Über 'heads'", 10)


def test_a_lesson_that_has_just_begun_keeps_every_rule(begun):
    root, _ = begun
    lesson, solution = (load(root / folder / "77_uber_heads.ipynb", root) for folder in ("notebooks", "solutions"))
    assert [line for rule in (*RULES, *LESSON_RULES) for line in rule(lesson)] == []
    assert [line for rule in (*RULES, *SOLUTION_RULES) for line in rule(solution)] == []


def test_a_lesson_that_has_just_begun_passes_the_tests_of_exercises_and_checks(begun):
    """All but the grading by nbgrader, which takes as long as the rest of this file."""
    root, _ = begun
    environ = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "-k", "not nbgrader_gives"]
    command += ["--deselect=tests/test_exercises.py::test_nbgrader_takes_the_points_of_one_wrong_answer_and_no_other"]
    command += ["tests/test_exercises.py", "tests/checks/test_exercise_banks.py"]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

"""The exercises are what nbgrader makes of the solutions, give nothing away, and are graded as promised."""

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_lib.authoring import PATTERN, checked, points
from course_lib.authoring.cells import Cell, load
from course_lib.authoring.normalise import read
from course_lib.checks.engine import find_exercises

pytest.importorskip("nbgrader", reason="no nbgrader: install the extra `test`")

ROOT = Path(__file__).parent.parent
SOLUTIONS = sorted((ROOT / "solutions").glob(PATTERN))
ASSIGNMENT = "course"

every_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)


def answers(path: Path) -> list[Cell]:
    """The cells of a notebook that the learner writes in code."""
    return [cell for cell in load(path, ROOT).code if cell.nbgrader.get("solution")]


def given_away(solution: Path) -> Iterator[str]:
    """Yield each line of a solution that a release may not show: answers, and notes to the instructor."""
    for cell in load(solution, ROOT).cells:
        lines = [line.strip() for line in cell.source.split("\n")]
        if "### BEGIN SOLUTION" in lines:
            lines = lines[lines.index("### BEGIN SOLUTION") + 1 : lines.index("### END SOLUTION")]
        elif "instructor" not in cell.tags:
            lines = []
        # `return x` and `weights = …` of a word or two may well be said elsewhere.
        yield from [line for line in lines if len(line) > 16 and not line.startswith("#")]


def without_code_given(cell: Cell) -> str:
    """A cell's text without the code that it shows openly: the function to be mended, say. Hints stay whole."""
    if cell.kind == "code" and not cell.nbgrader.get("solution"):
        return ""
    hints = "".join(re.findall(r"<details>.*?</details>", cell.source, re.DOTALL))
    return hints + re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)


def test_there_is_an_exercise_for_each_solution_and_no_other():
    assert SOLUTIONS
    assert [path.name for path in sorted((ROOT / "exercises").glob("*.ipynb"))] == [path.name for path in SOLUTIONS]


@every_solution
def test_the_exercise_is_what_the_solution_gives(solution):
    from course_lib.authoring.release import released

    committed = (ROOT / "exercises" / solution.name).read_text(encoding="utf-8")
    assert committed == released(read(solution)), "run `course build`; exercises are never edited by hand"


@every_solution
def test_no_line_of_an_answer_or_of_the_instructors_notes_is_in_the_exercise(solution):
    exercise = load(ROOT / "exercises" / solution.name, ROOT)
    lines = list(given_away(solution))
    assert lines
    for cell in exercise.cells:
        leaked = [line for line in lines if line in without_code_given(cell)]
        assert not leaked, f"cell {cell.number} gives away {leaked}"
        assert "SOLUTION" not in cell.source and "instructor" not in cell.tags and not cell.outputs


@every_solution
def test_each_answer_has_become_a_stub(solution):
    for cell in answers(ROOT / "exercises" / solution.name):
        body = cell.source.rstrip().split("\n")[-2:]
        assert [line.strip() for line in body] == ["# YOUR CODE HERE", "raise NotImplementedError()"]


def test_each_exercise_of_the_checks_has_one_check_cell_and_the_other_way_round():
    cells = [(path, cell) for path in SOLUTIONS for cell in load(path, ROOT).code if cell.nbgrader.get("grade")]
    found = [(exercise_id, path.stem[3:]) for path, cell in cells for exercise_id in checked(cell.source)]
    assert sorted(exercise_id for exercise_id, _ in found) == sorted(find_exercises())
    assert all(exercise_id.split("/")[0] == stem for exercise_id, stem in found)


def test_every_exercise_has_points():
    worth = points(ROOT)
    assert set(worth) == set(find_exercises())
    assert all(value > 0 for value in worth.values())


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[float, float]]]:
    """Let nbgrader grade three students: their points, and the most they could have, by check cell.

    One hands in every answer of the solutions, one the untouched exercises, and one the first lesson's answers with
    the last of them wrong.
    """
    root = tmp_path_factory.mktemp("nbgrader")
    for path in SOLUTIONS:
        exercise = read(ROOT / "exercises" / path.name)
        solved = {cell.nbgrader["grade_id"]: cell.source for cell in answers(path)}
        last = list(solved)[-1]
        _put(read(path), root / "source" / ASSIGNMENT / path.name)
        _put(exercise, root / "submitted" / "untouched" / ASSIGNMENT / path.name)
        _put(_filled(exercise, solved), root / "submitted" / "solver" / ASSIGNMENT / path.name)
        if path == SOLUTIONS[0]:
            wrong = {**solved, last: f"def {last}(*args, **options):\n    return 'wrong'"}
            _put(_filled(exercise, wrong), root / "submitted" / "partly" / ASSIGNMENT / path.name)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # nbgrader's own, of the libraries under it
        # nbgrader calls `alembic` by its name, and would take a kernel of the user's before this Python's.
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        patch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
        _grade(root)
        return _scores(root)


def _filled(exercise: dict, by_grade_id: dict[str, str]) -> dict:
    notebook = json.loads(json.dumps(exercise))
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = by_grade_id.get(name, cell["source"])
    return notebook


def _put(notebook: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def _grade(root: Path) -> None:
    from nbgrader.converters import Autograde, GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = ASSIGNMENT
    config.Execute.timeout = 120
    config.Execute.extra_arguments = ["--log-level=ERROR"]
    GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
    Autograde(coursedir=CourseDirectory(config=config), config=config).start()


def _scores(root: Path) -> dict[str, dict[str, tuple[float, float]]]:
    from nbgrader.api import Gradebook

    found: dict[str, dict[str, tuple[float, float]]] = {}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for student in gradebook.students:
            found[student.id] = {}
            for notebook in gradebook.find_submission(ASSIGNMENT, student.id).notebooks:
                for grade in notebook.grades:
                    if grade.cell.cell_type == "code":
                        name = f"{notebook.name[3:]}/{grade.name.removeprefix('check_')}"
                        found[student.id][name] = (grade.auto_score, grade.max_score)
    for path in root.glob(f"autograded/*/{ASSIGNMENT}/*.ipynb"):
        outputs = [output for cell in read(path)["cells"] for output in cell.get("outputs", [])]
        assert not [output for output in outputs if output.get("name") == "stderr"], path
    return found


def test_nbgrader_gives_the_solutions_every_point(scores):
    assert scores["solver"] == {name: (worth, worth) for name, worth in points(ROOT).items()}


def test_nbgrader_gives_untouched_exercises_no_point(scores):
    assert scores["untouched"] == {name: (0, worth) for name, worth in points(ROOT).items()}


def test_nbgrader_takes_the_points_of_one_wrong_answer_and_no_other(scores):
    stem = SOLUTIONS[0].stem[3:]
    last = answers(SOLUTIONS[0])[-1].nbgrader["grade_id"]
    right = {name for name in points(ROOT) if name.startswith(f"{stem}/")} - {f"{stem}/{last}"}
    assert right
    assert {name for name, (score, _) in scores["partly"].items() if score} == right

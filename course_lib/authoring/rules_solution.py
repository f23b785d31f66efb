"""The rules of a solution, the source of an exercise: its parts, its hints, and its check cells."""

import ast
import re

from course_lib.authoring import checked
from course_lib.authoring.cells import Cell, Notebook

FEWEST, MOST = 3, 6  # exercises a lesson, the open questions among them
HINTS = 2  # for each exercise in code


def opens_as_an_exercise(notebook: Notebook) -> list[str]:
    """The first cell has the title and the minutes."""
    first = notebook.cells[0]
    wanted = {"# Exercises: Title": r"^# (\d+ )?Exercises: \S", "minutes": r"\d+\s+min"}
    return [f"cell 1: no {what}" for what, pattern in wanted.items() if not re.search(pattern, first.source)]


def exercises_are_numbered(notebook: Notebook) -> list[str]:
    """The headings count 1, 2, …, each with its minutes and its difficulty; there are three to six."""
    complaints = []
    parts = _parts(notebook)
    if not FEWEST <= len(parts) <= MOST:
        complaints.append(f"wanted {FEWEST} to {MOST} exercises (headings such as '## 1. Title'), got {len(parts)}")
    for wanted, part in enumerate(parts, start=1):
        text = "\n".join(cell.source for cell in part if cell.kind == "markdown" and "instructor" not in cell.tags)
        number = int(re.match(r"## (\d+)", part[0].source)[1])
        where = f"cell {part[0].number}"
        if number != wanted:
            complaints.append(f"{where}: wanted exercise {wanted}, got {number}")
        if not re.search(r"\d+\s+min", text):
            complaints.append(f"{where}: no minutes")
        if not re.search(r"\b(easy|medium|hard)\b", text, re.IGNORECASE):
            complaints.append(f"{where}: not easy, medium or hard")
    return complaints


def hints_are_folded(notebook: Notebook) -> list[str]:
    """Each exercise in code has two hints before its answer, folded."""
    complaints = []
    for part in _parts(notebook):
        answers = [cell for cell in part if cell.kind == "code" and cell.nbgrader.get("solution")]
        if not answers:
            continue
        before = "\n".join(c.source for c in part if c.kind == "markdown" and c.number < answers[0].number)
        folded = re.findall(r"<details>\s*<summary>[^<]*[Hh]int.*?</details>", before, re.DOTALL)
        if len(folded) != HINTS:
            complaints.append(f"cell {part[0].number}: wanted {HINTS} folded hints, got {len(folded)}")
        if re.search(r"<details\s+open", before):
            complaints.append(f"cell {part[0].number}: a hint is open")
    return complaints


def answers_stand_between_the_markers(notebook: Notebook) -> list[str]:
    """Each answer in code is a function with a docstring whose body stands between nbgrader's markers."""
    complaints = []
    for cell in notebook.cells:
        if not cell.nbgrader.get("solution"):
            continue
        where = f"cell {cell.number}"
        if [line.strip() for line in cell.source.split("\n") if "SOLUTION" in line] != [
            "### BEGIN SOLUTION",
            "### END SOLUTION",
        ]:
            complaints.append(f"{where}: wanted one pair of lines ### BEGIN SOLUTION, ### END SOLUTION")
        if cell.kind == "code":
            names = {node.name: node for node in cell.statements if isinstance(node, ast.FunctionDef)}
            answer = names.get(cell.nbgrader.get("grade_id", ""))
            if answer is None:
                complaints.append(f"{where}: wanted the function that its grade_id names")
            elif not ast.get_docstring(answer):
                complaints.append(f"{where}: {answer.name} has no docstring")
    return complaints


def checks_are_as_nbgrader_wants_them(notebook: Notebook) -> list[str]:
    """Each check cell holds the one line that checks the answer before it, is locked, and has points."""
    complaints = []
    stem = notebook.name.removesuffix(".ipynb")[3:]
    answers = [cell.nbgrader.get("grade_id") for cell in _answers(notebook)]
    checks = [cell for cell in notebook.code if cell.nbgrader.get("grade")]
    for cell in checks:
        name = cell.nbgrader.get("grade_id", "").removeprefix("check_")
        wanted = {"grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
        wrong = [key for key, value in wanted.items() if cell.nbgrader.get(key) != value]
        complaints += [f"cell {cell.number}: nbgrader: wanted {key}: {wanted[key]}" for key in wrong]
        if not cell.nbgrader.get("points", 0) > 0:
            complaints.append(f"cell {cell.number}: wanted points")
        if cell.source.strip() != f'check("{stem}/{name}", {name}).must_pass()':
            complaints.append(f'cell {cell.number}: wanted check("{stem}/{name}", {name}).must_pass() and nothing else')
        earlier = [other for other in notebook.code if other.number < cell.number and other in _answers(notebook)]
        if not earlier or earlier[-1].nbgrader.get("grade_id") != name:
            complaints.append(f"cell {cell.number}: the answer before it is not {name}")
    if len(checks) != len(answers):
        complaints.append(f"{len(answers)} answers in code and {len(checks)} check cells")
    loose = [cell for cell in notebook.code if checked(cell.source) and cell not in checks]
    return complaints + [f"cell {cell.number}: a check that nobody grades" for cell in loose]


def no_answer_is_imported(notebook: Notebook) -> list[str]:
    """What an exercise asks for is not imported from the companion package."""
    asked = {cell.nbgrader.get("grade_id") for cell in _answers(notebook)}
    return [
        f"cell {cell.number}: {alias.name} is imported, and asked for"
        for cell in notebook.code
        for node in cell.statements
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in asked
    ]


SOLUTION_RULES = (
    opens_as_an_exercise,
    exercises_are_numbered,
    hints_are_folded,
    answers_stand_between_the_markers,
    checks_are_as_nbgrader_wants_them,
    no_answer_is_imported,
)


def _answers(notebook: Notebook) -> list[Cell]:
    return [cell for cell in notebook.code if cell.nbgrader.get("solution")]


def _parts(notebook: Notebook) -> list[list[Cell]]:
    """The cells of each exercise, from its numbered heading on."""
    parts: list[list[Cell]] = []
    for cell in notebook.cells:
        if cell.kind == "markdown" and re.match(r"## \d+", cell.source):
            parts.append([])
        if parts:
            parts[-1].append(cell)
    return parts

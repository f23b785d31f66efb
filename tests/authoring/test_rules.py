"""Each rule finds the bad notebook that it is there for, and leaves the good one alone."""

import ast
import json
from dataclasses import replace

import pytest

from course_lib.authoring.cells import Cell, Notebook, definitions, load, syntax
from course_lib.authoring.rules import RULES
from course_lib.authoring.rules_lesson import LESSON_RULES, MOST_NAMES, bound_names
from course_lib.authoring.rules_solution import SOLUTION_RULES

PICTURE = '<img alt="a looks most at b (0.90)" src="data:image/png;base64,/tmp/x">'
FOLDED = "<details><summary>Open</summary>2</details>"


def code(source, *outputs, tags=(), nbgrader=None):
    metadata = {"tags": list(tags)} | ({"nbgrader": nbgrader} if nbgrader else {})
    return Cell(0, "code", source, metadata=metadata, outputs=outputs)


def prose(source, tags=(), nbgrader=None):
    metadata = {"tags": list(tags)} | ({"nbgrader": nbgrader} if nbgrader else {})
    return Cell(0, "markdown", source, metadata=metadata)


def notebook(*cells, name="03_toy.ipynb", **more):
    """Number the cells, and the code cells among them, where nothing else is said."""
    numbered, count = [], 0
    for number, cell in enumerate(cells, start=1):
        count += cell.kind == "code"
        given = {"number": number, "id": f"id-{number}" if cell.id is None else cell.id}
        if cell.kind == "code" and cell.count is None:
            given["count"] = count
        numbered.append(replace(cell, **given))
    return Notebook(name, tuple(numbered), **more)


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": [text]}


def html(text, plain="Figure"):
    return {"output_type": "execute_result", "data": {"text/html": [text], "text/plain": [plain]}, "metadata": {}}


def error(name="ValueError"):
    return {"output_type": "error", "ename": name, "evalue": "no", "traceback": ["ValueError: no"]}


def meta(grade_id, **other):
    common = {"grade_id": grade_id, "schema_version": 3, "task": False, "grade": False, "solution": False}
    return {**common, "locked": False, **other}


OPENING = prose("# Toy\n\nIn this lesson we will try.\n\nNeeds: nothing. 5 minutes.")
IMPORTS = code("import numpy as np\nfrom course_lib.predict import predict")
CLOSING = prose("## What we showed\n\nThat it works.\n\nNext: `exercises/03_toy.ipynb`.")
LESSON = (
    OPENING,
    IMPORTS,
    prose("**Predict.** What is one and one?"),
    code('predict("sum", 1 + 1)', html(FOLDED)),
    prose("It is two."),
    code("def double(x: int) -> int:\n    'Twice x.'\n    return 2 * x", tags=["defines"]),
    prose("Now look."),
    code("plots.map(double(2))", html(PICTURE)),
    prose("And how long did it take?"),
    code("import_free = 1\nprint(0.1)\nassert import_free", stream("0.1"), tags=["nbval-ignore-output"]),
    CLOSING,
)
HINTS = "<details><summary>Hint 1: the idea</summary>\nA\n</details>\n<details><summary>Hint 2</summary>\nB\n</details>"
ANSWER = code(
    'def double(x):\n    """Twice x."""\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION',
    nbgrader=meta("double", solution=True),
)
CHECK = code(
    'check("toy/double", double).must_pass()',
    html("Right"),
    nbgrader=meta("check_double", grade=True, locked=True, points=2),
)
OPEN = prose(
    "### BEGIN SOLUTION\nBecause.\n### END SOLUTION", nbgrader=meta("why", grade=True, solution=True, points=0)
)
SOLUTION = (
    prose("# Exercises: Toy\n\n20 minutes."),
    code("from course_lib.checks import check"),
    prose(f"## 1. Double\n\n5 minutes, easy.\n\n{HINTS}"),
    ANSWER,
    CHECK,
    prose("## 2. Why?\n\n5 minutes, hard."),
    OPEN,
    prose("## 3. Why not?\n\n5 minutes, medium."),
    replace(OPEN, metadata={"nbgrader": meta("why_not", grade=True, solution=True, points=0)}),
)


def lesson(**changed):
    """The good lesson with some of its cells replaced: `c3=cell`, or `c3=(cell, cell)`; `()` takes one out."""
    double = syntax(ast.parse("def double(x):\n    return 2 * x").body[0])
    return notebook(*_changed(LESSON, changed), definitions={"double": double})


def solution(**changed):
    """The good solution with some of its cells replaced."""
    return notebook(*_changed(SOLUTION, changed))


def _changed(cells, changed):
    new = []
    for number, cell in enumerate(cells, start=1):
        other = changed.get(f"c{number}", cell)
        new += other if isinstance(other, tuple) else [other]
    return new


def says(source):
    """A cell of a lesson that has the source `source` and shows something."""
    return code(source, stream("1"))


BAD_ANYWHERE = [
    ("ids_are_present_and_unique", {"c3": replace(LESSON[2], id="")}, "wanted an id"),
    ("ids_are_present_and_unique", {"c3": replace(LESSON[2], id="two words")}, "wanted an id"),
    ("ids_are_present_and_unique", {"c3": replace(LESSON[2], id="id-1")}, "another cell's"),
    ("code_has_been_run_in_order", {"c4": replace(LESSON[3], count=7)}, "wanted count 2, got 7"),
    ("outputs_are_there", {"c4": replace(LESSON[3], outputs=())}, "nothing is shown"),
    ("outputs_are_there", {"c8": replace(LESSON[7], outputs=())}, "nothing is shown"),
    ("outputs_are_there", {"c10": replace(LESSON[9], outputs=())}, "nothing is shown"),
    ("outputs_are_there", {"c8": code("1 + 1")}, "nothing is shown"),
    ("errors_are_announced", {"c8": code("1 / 0", error("ZeroDivisionError"))}, "ZeroDivisionError"),
    ("errors_are_announced", {"c8": replace(LESSON[7], metadata={"tags": ["raises-exception"]})}, "it raised none"),
    ("nothing_on_stderr", {"c8": code("f()", stream("careful", "stderr"))}, "stderr"),
    ("no_path_of_a_machine", {"c8": code("f()", stream("in /home/ada/x"))}, "/home/"),
    ("no_path_of_a_machine", {"c8": code("f()", stream("C:\\Users\\ada"))}, "C:"),
    ("no_path_of_a_machine", {"c8": code("f()", stream("at ~/course/x.py"))}, "~/c"),
    ("no_path_of_a_machine", {"c8": code("f()", html("<p>/tmp/ipykernel_12/3.py</p>"))}, "/tmp/"),
    ("no_path_of_a_machine", {"c8": code("f()", {**error(), "traceback": ["File /usr/lib/x.py"]})}, "/usr/"),
    ("pictures_have_alternative_text", {"c8": code("f()", html('<img src="data:image/png;base64,AA">'))}, "<img>"),
    ("pictures_have_alternative_text", {"c8": code("f()", html('<img alt="" src="a.png">'))}, "<img>"),
    ("pictures_have_alternative_text", {"c8": code("f()", html("<svg><path/></svg>"))}, "<svg>"),
    ("pictures_have_alternative_text", {"c7": prose("![](a.png)")}, "a picture"),
    (
        "pictures_have_alternative_text",
        {"c8": code("f()", {"output_type": "display_data", "data": {"image/png": "AA"}})},
        "bare image/png",
    ),
    ("nothing_is_done_to_the_machine", {"c8": says("!pip install numpy")}, "no shell"),
    ("nothing_is_done_to_the_machine", {"c8": says("x = 1\n%config InlineBackend")}, "no shell"),
    ("nothing_is_done_to_the_machine", {"c8": says("import subprocess as s; s.run('pip install x')")}, "no installs"),
    ("nothing_is_done_to_the_machine", {"c8": says("urllib.request.urlopen('x')")}, "no downloads"),
    ("nothing_is_done_to_the_machine", {"c8": says("warnings.simplefilter('ignore')")}, "no warning filters"),
    ("nothing_is_done_to_the_machine", {"c8": says("np.set_printoptions(precision=2)")}, "no settings"),
    ("nothing_is_done_to_the_machine", {"c8": says("np.random.seed(0)")}, "no settings"),
    ("nothing_is_done_to_the_machine", {"c8": says("torch.manual_seed(0)")}, "no settings"),
    ("nothing_is_done_to_the_machine", {"c8": says("plt.plot(x)")}, "no pyplot"),
    ("nothing_is_done_to_the_machine", {"c8": says("interact(f, x=1)")}, "no Output"),
    ("nothing_is_done_to_the_machine", {"c8": says("for x in tqdm(y): f(x)")}, "no progress bars"),
    ("nothing_is_done_to_the_machine", {"c8": says("# NBVAL_SKIP\nf()")}, "no nbval comments"),
    ("tags_are_known", {"c8": replace(LESSON[7], metadata={"tags": ["nbval-skip"]})}, "nbval-skip"),
    ("machine_dependent_outputs_are_asserted", {"c10": code("f()", tags=["nbval-ignore-output"])}, "nothing asserted"),
    ("predictions_are_folded", {"c4": code('predict("sum", 2)', html("<details open>2</details>"))}, "not folded"),
    ("predictions_are_folded", {"c4": code('predict("sum", 2)', stream("2"), html(FOLDED))}, "not folded"),
    ("predictions_are_folded", {"c3": prose("One and one.")}, "asks for no prediction"),
]
LONG = "\n".join(f"total = f({i})" for i in range(16))
MANY = "; ".join(f"name_{i} = {i}" for i in range(MOST_NAMES + 1))
BAD_LESSONS = [
    ("opens_as_a_lesson", {"c1": prose("# Toy\n\nNeeds: nothing. 5 minutes.")}, "no In this lesson"),
    ("opens_as_a_lesson", {"c1": prose("In this lesson we will try. Needs: nothing. 5 minutes.")}, "no # Title"),
    ("opens_as_a_lesson", {"c1": prose("# Toy\n\nIn this lesson we try. 5 minutes.")}, "no Needs"),
    ("opens_as_a_lesson", {"c1": prose("# Toy\n\nIn this lesson we try. Needs: nothing.")}, "no minutes"),
    ("opens_as_a_lesson", {"c2": code("import numpy as np\nx = 1")}, "cell 2"),
    ("opens_as_a_lesson", {"c2": prose("No code.")}, "cell 2"),
    ("closes_as_a_lesson", {"c11": prose("## The end\n\n`03_toy.ipynb`")}, "no ## What we showed"),
    ("closes_as_a_lesson", {"c11": prose("## What we showed\n\nThat it works.")}, "name of the exercise"),
    ("closes_as_a_lesson", {"c11": (CLOSING, says("print(1)"))}, "wanted prose"),
    ("cells_are_short", {"c8": says(LONG)}, "16 lines"),
    ("cells_are_short", {f"c{n}": says("f()\n" * 8) for n in (4, 6, 8)}, "the median"),
    ("never_three_code_cells_in_a_row", {"c5": (), "c7": ()}, "third code cell"),
    ("prose_has_its_share", {f"c{n}": () for n in (3, 5, 7, 9)}, "wanted 40%"),
    ("imports_stand_in_the_second_cell", {"c8": says("import torch")}, "outside cell 2"),
    ("names_are_bound_once", {"c8": says("double = 3")}, "cell 8: double is bound in cell 6"),
    ("names_are_bound_once", {"c4": says("total = 0"), "c8": says("total += 1")}, "total"),
    ("names_are_bound_once", {"c4": says("a, (b, *c) = x"), "c8": says("with f() as c: pass")}, "c is bound"),
    ("names_are_bound_once", {"c8": says("for np in range(3): pass")}, "the loop takes np"),
    ("names_are_bound_once", {"c4": says("for i in x: pass"), "c8": says("i = 1")}, "i is bound"),
    ("names_are_bound_once", {"c8": says("def predict(): pass")}, "predict"),
    ("names_are_few", {"c8": says(MANY)}, f"wanted {MOST_NAMES} at most"),
    ("definitions_equal_the_reference", {"c6": code("def double(x): return x + x", tags=["defines"])}, "differs"),
    ("definitions_equal_the_reference", {"c6": code("def triple(x): return 3 * x", tags=["defines"])}, "no triple"),
    ("definitions_equal_the_reference", {"c6": code("def double(x): return 2*x\ndouble(1)", tags=["defines"])}, "one"),
]
UNGRADED = replace(CHECK, metadata={})
BAD_SOLUTIONS = [
    ("opens_as_an_exercise", {"c1": prose("# Toy\n\n20 minutes.")}, "no # Exercises"),
    ("opens_as_an_exercise", {"c1": prose("# Exercises: Toy")}, "no minutes"),
    ("exercises_are_numbered", {"c8": ()}, "wanted 3 to 6"),
    ("exercises_are_numbered", {"c8": prose("## 4. Why not?\n\n5 minutes, hard.")}, "wanted exercise 3, got 4"),
    ("exercises_are_numbered", {"c8": prose("## 3. Why not?\n\nHard.")}, "no minutes"),
    ("exercises_are_numbered", {"c8": prose("## 3. Why not?\n\n5 minutes.")}, "not easy, medium or hard"),
    ("hints_are_folded", {"c3": prose("## 1. Double\n\nHint 1: a. Hint 2: b.")}, "got 0"),
    ("hints_are_folded", {"c3": prose(SOLUTION[2].source.replace("<details>", "<details open>", 1))}, "got 1"),
    ("answers_stand_between_the_markers", {"c4": replace(ANSWER, source="def double(x):\n    return 2 * x")}, "pair"),
    ("answers_stand_between_the_markers", {"c7": replace(OPEN, source="Because.")}, "pair"),
    (
        "answers_stand_between_the_markers",
        {"c4": replace(ANSWER, source=ANSWER.source.replace("double", "twice"))},
        "id",
    ),
    (
        "answers_stand_between_the_markers",
        {"c4": replace(ANSWER, source=ANSWER.source.replace('"""Twice x."""', "pass"))},
        "no docstring",
    ),
    ("checks_are_as_nbgrader_wants_them", {"c5": replace(CHECK, source="check('toy/double', double)")}, "nothing else"),
    ("checks_are_as_nbgrader_wants_them", {"c5": UNGRADED}, "nobody grades"),
    ("checks_are_as_nbgrader_wants_them", {"c5": ()}, "0 check cells"),
    ("checks_are_as_nbgrader_wants_them", {"c4": CHECK, "c5": ANSWER}, "the answer before it"),
    (
        "checks_are_as_nbgrader_wants_them",
        {"c5": replace(CHECK, metadata={"nbgrader": {**CHECK.nbgrader, "points": 0}})},
        "wanted points",
    ),
    (
        "checks_are_as_nbgrader_wants_them",
        {"c5": replace(CHECK, metadata={"nbgrader": {**CHECK.nbgrader, "locked": False}})},
        "wanted locked: True",
    ),
    ("no_answer_is_imported", {"c2": code("from course_lib.reference.toy import double")}, "double is imported"),
]


def complaints(rules, name, subject):
    return {rule.__name__: rule for rule in rules}[name](subject)


@pytest.mark.parametrize("rule", [*RULES, *LESSON_RULES], ids=lambda rule: rule.__name__)
def test_a_good_lesson_keeps_every_rule(rule):
    assert rule(lesson()) == []


@pytest.mark.parametrize("rule", [*RULES, *SOLUTION_RULES], ids=lambda rule: rule.__name__)
def test_a_good_solution_keeps_every_rule(rule):
    assert rule(solution()) == []


@pytest.mark.parametrize(("rule", "changed", "wanted"), [*BAD_ANYWHERE, *BAD_LESSONS])
def test_a_bad_lesson_is_complained_of(rule, changed, wanted):
    found = complaints([*RULES, *LESSON_RULES], rule, lesson(**changed))
    assert any(wanted in line for line in found), found


@pytest.mark.parametrize(("rule", "changed", "wanted"), BAD_SOLUTIONS)
def test_a_bad_solution_is_complained_of(rule, changed, wanted):
    found = complaints(SOLUTION_RULES, rule, solution(**changed))
    assert any(wanted in line for line in found), found


def test_a_file_that_is_too_large_is_complained_of():
    assert "2,000,001 bytes" in complaints(RULES, "the_file_is_small", replace(lesson(), size=2_000_001))[0]


def test_widgets_are_looked_at_as_well():
    shown = replace(lesson(), widgets='<img src="x"> from /home/ada/x.png')
    assert "widgets" in complaints(RULES, "pictures_have_alternative_text", shown)[0]
    assert "widgets" in complaints(RULES, "no_path_of_a_machine", shown)[0]


def test_every_rule_has_a_notebook_that_breaks_it():
    broken = {name for name, *_ in [*BAD_ANYWHERE, *BAD_LESSONS, *BAD_SOLUTIONS]} | {"the_file_is_small"}
    assert broken == {rule.__name__ for rule in [*RULES, *LESSON_RULES, *SOLUTION_RULES]}


def test_the_bytes_of_a_picture_may_spell_a_path():
    assert complaints(RULES, "no_path_of_a_machine", lesson(c8=code("plots.f()", html(PICTURE)))) == []


def test_a_semicolon_may_silence_a_cell_and_a_call_may_return_nothing():
    quiet = lesson(c8=code("np.mean(1);"), c6=code("np.testing.assert_allclose(1, 1)"))
    assert complaints(RULES, "outputs_are_there", quiet) == []


def test_an_assertion_two_code_cells_later_is_near_enough():
    tagged = code("f()", stream("0.1"), tags=["nbval-ignore-output"])
    near = [tagged, code("g()"), code("assert 1")]
    far = [tagged, code("g()"), code("g()"), code("assert 1")]
    assert complaints(RULES, "machine_dependent_outputs_are_asserted", notebook(*near)) == []
    assert complaints(RULES, "machine_dependent_outputs_are_asserted", notebook(*far))


def test_loops_may_share_a_variable_and_functions_have_names_of_their_own():
    shared = lesson(
        c4=code("for i, x in y:\n    _ = i"),
        c8=code("for x in y:\n    _ = x\ndef f(x):\n    np = x\n    return [i for i in np]"),
    )
    assert complaints(LESSON_RULES, "names_are_bound_once", shared) == []


def test_bound_names_tells_lasting_names_from_those_of_loops():
    cell = code("import a.b as c, d.e\nx, *y = (z := 1)\nfor i in x:\n    w = i\nx[0] = 1\nclass K:\n    q = 1")
    assert bound_names(cell) == ({"c", "d", "x", "y", "z", "w", "K"}, {"i"})


def test_syntax_sees_what_a_function_does_and_not_how_it_is_annotated():
    plain, annotated, other = (
        syntax(ast.parse(text).body[0])
        for text in (
            "def f(x, y=1):\n    z = x\n    return z",
            "def f(x: int, y: int = 1) -> int:\n    'Doc.'\n    z: int = x  # why\n    return z",
            "def f(x, y=2):\n    z = x\n    return z",
        )
    )
    assert plain == annotated != other


def test_load_reads_the_raw_file_and_the_reference_beside_it(tmp_path):
    cell = {"cell_type": "code", "source": ["1 +\n", " 1"], "metadata": {}, "outputs": [], "execution_count": None}
    path = tmp_path / "03_toy.ipynb"
    path.write_text(
        json.dumps({"cells": [cell, {"cell_type": "markdown", "source": "x"}], "nbformat": 4}), encoding="utf-8"
    )
    (tmp_path / "course_lib" / "reference").mkdir(parents=True)
    (tmp_path / "course_lib" / "reference" / "toy.py").write_text(
        "def double(x):\n    return 2 * x\n", encoding="utf-8"
    )
    loaded = load(path, tmp_path)
    assert [cell.source for cell in loaded.cells] == ["1 +\n 1", "x"]
    assert loaded.cells[0].id is None and loaded.cells[0].count is None
    assert list(loaded.definitions) == list(definitions(tmp_path)) == ["double"]

"""What happens to honest people: whatever is wrong with a file, its right parts keep their points."""

import csv
import json

import pytest

SETUP = "import numpy as np\nfrom course_lib.checks import check"
DOUBLE = "def double(x):\n    return x + x"
SUMS = "def row_sums(table):\n    return table.sum(axis=1)"
CHECKS = 'check("toy/double", double).must_pass()'
NAMES = {"comma": "Smith, Jr", "letters": "李 小龙 Þórður"}


def cell(source, kind="code", **more):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **code, **more}


def notebook(*cells, minor=5, **more):
    filled = [one if isinstance(one, dict) else cell(one) for one in cells]
    return json.dumps(
        {"cells": filled, "metadata": {}, "nbformat": 4, "nbformat_minor": minor, **more}, ensure_ascii=False
    )


def with_metadata(source, grade_id):
    settings = {"grade": False, "solution": True, "locked": False, "schema_version": 3, "grade_id": grade_id}
    return cell(source, metadata={"nbgrader": settings}, id=grade_id)


FULL, HALF, NONE = (2.0, 1.0), (0.0, 1.0), (0.0, 0.0)
UNGRADED = (None, None)
# name: (the file, points of double and row_sums, what the notes or texts say)
MISHAPS = {
    "right": (notebook(SETUP, DOUBLE, SUMS, CHECKS), FULL, ""),
    "untouched": (
        notebook(
            SETUP,
            "def double(x):\n    raise NotImplementedError()",
            "def row_sums(t):\n    raise NotImplementedError()",
        ),
        NONE,
        "Not written yet",
    ),
    "syntax error": (notebook(SETUP, "def double(x:\n    return", SUMS), HALF, "SyntaxError"),
    "error in a cell": (notebook(SETUP, "1 / 0", DOUBLE, SUMS), FULL, "ZeroDivisionError"),
    "infinite loop in a cell": (notebook(SETUP, DOUBLE, "while True: pass", SUMS), FULL, "not done after"),
    "infinite loop in a function": (
        notebook(SETUP, "def double(x):\n    while True: pass", SUMS),
        HALF,
        "not done after",
    ),
    "a loop that catches all": (
        notebook(SETUP, DOUBLE, "while True:\n    try: 1 / 0\n    except: pass", SUMS),
        FULL,
        "Cell 3",
    ),
    "sleeping": (notebook(SETUP, DOUBLE, "import time\ntime.sleep(1000)", SUMS), FULL, "not done after"),
    "os._exit in a cell": (notebook(SETUP, DOUBLE, "import os\nos._exit(1)", SUMS), FULL, "ended the process"),
    "os._exit in a function": (notebook(SETUP, "import os\ndef double(x):\n    os._exit(0)", SUMS), HALF, "ended the"),
    "sys.exit": (notebook(SETUP, "import sys\nsys.exit()", DOUBLE, SUMS), FULL, "SystemExit"),
    "segmentation fault in a cell": (
        notebook(SETUP, DOUBLE, "import ctypes\nctypes.string_at(0)", SUMS),
        FULL,
        "signal 11",
    ),
    "segmentation fault in a function": (
        notebook(SETUP, "import ctypes\ndef double(x):\n    return ctypes.string_at(0)", SUMS),
        HALF,
        "signal 11",
    ),
    "two cells that end the process": (
        notebook(SETUP, DOUBLE, "import os\nos._exit(1)", "os.abort()", SUMS),
        FULL,
        "ended the process",
    ),
    "endless recursion": (notebook(SETUP, "def double(x):\n    return double(x)", SUMS), HALF, "RecursionError"),
    "memory hog": (
        notebook(SETUP, DOUBLE, "x = [0] * 10**10", "y = np.ones((10**5, 10**5))", SUMS),
        FULL,
        "MemoryError",
    ),
    "100 MB of output": (
        notebook(SETUP, DOUBLE, "for i in range(100):\n    print('x' * 10**6)", SUMS),
        FULL,
        "letters",
    ),
    "warnings on stderr": (
        notebook(
            SETUP,
            "import warnings, sys\ndef double(x):\n    warnings.warn('old')\n    print('!', file=sys.stderr)\n"
            "    np.log(-1.0)\n    return 2 * x",
            SUMS,
        ),
        FULL,
        "",
    ),
    "deleted cell": (notebook(SETUP, DOUBLE), (2.0, 0.0), "no function `row_sums`"),
    "duplicated cell": (
        notebook(SETUP, with_metadata(DOUBLE, "double"), with_metadata(DOUBLE, "double"), SUMS),
        FULL,
        "",
    ),
    "renamed cells": (notebook(SETUP, with_metadata(DOUBLE, "my own"), with_metadata(SUMS, "")), FULL, ""),
    "reordered cells": (notebook(SUMS, DOUBLE, SETUP), FULL, ""),
    "stripped metadata": (
        json.dumps({"cells": [{"cell_type": "code", "source": s} for s in (SETUP, DOUBLE, SUMS)]}),
        FULL,
        "",
    ),
    "nbformat 4.0 without ids": (notebook(SETUP, DOUBLE, SUMS, minor=0), FULL, ""),
    "nbformat 3": (
        json.dumps(
            {
                "nbformat": 3,
                "worksheets": [{"cells": [{"cell_type": "code", "input": s} for s in (SETUP, DOUBLE, SUMS)]}],
            }
        ),
        FULL,
        "",
    ),
    "a mark before UTF-8": ("\ufeff" + notebook(SETUP, DOUBLE, SUMS), FULL, ""),
    "UTF-16": (notebook(SETUP, DOUBLE, SUMS).encode("utf-16"), FULL, ""),
    "not UTF-8": (
        notebook(SETUP, "name = 'Zoë Müller'\n" + DOUBLE, SUMS).encode("cp1252"),
        FULL,
        "not written in UTF-8",
    ),
    "cut off": (notebook(SETUP, DOUBLE, SUMS, "x = 1" * 99)[:-150], FULL, "damaged or cut off"),
    "cut off early": (notebook(SETUP, DOUBLE, SUMS)[: len(notebook(SETUP, DOUBLE)) + 40], (2.0, 0.0), "cut off"),
    "magics": (
        notebook(
            "%matplotlib inline\n%pip install torch\n!ls -l\n" + SETUP,
            "%%time\n" + DOUBLE,
            "files = !ls\nfor f in files:\n    print(f)",
            "%%bash\nrm -rf ~",
            "double?",
            SUMS,
            "%timeit \\\n  double(1)",
        ),
        FULL,
        "",
    ),
    "pip cell": (notebook("%pip install --quiet numpy", "!pip install torch", SETUP, DOUBLE, SUMS), FULL, ""),
    "display and input": (
        notebook(SETUP, "display(1)\nget_ipython().run_line_magic('time', '')", DOUBLE, SUMS, "input('name')"),
        FULL,
        "EOFError",
    ),
    "an empty notebook": (notebook(), NONE, "no function"),
    "an empty file": ("", UNGRADED, "empty"),
    "no notebook": ("hello", UNGRADED, "no notebook"),
    "a list": ("[1, 2]", UNGRADED, "no notebook"),
    "cells of nonsense": (
        json.dumps({"cells": [1, None, {"cell_type": "code", "source": 3}, {}]}),
        NONE,
        "no function",
    ),
    "a markdown cell for code": (notebook(SETUP, cell(DOUBLE, "markdown"), SUMS), HALF, "no function `double`"),
    "a function under another name": (notebook(SETUP, "def Double(x):\n    return 2 * x", SUMS), HALF, "no function"),
    "not a function": (notebook(SETUP, "double = 3", SUMS), HALF, "Wanted the function"),
    "a known mistake": (notebook(SETUP, "def double(x):\n    return x * x", SUMS), HALF, "It is squared."),
    "changes its input": (notebook(SETUP, "def double(x):\n    x *= 2\n    return x", SUMS), HALF, "changed the array"),
    "fitted to one size": (
        notebook(SETUP, "def double(x):\n    return 2 * x if len(x) < 6 else x", SUMS),
        (1.5, 1.0),
        "3 of 4",
    ),
    "lists and float32": (
        notebook(
            SETUP,
            "def double(x):\n    return [2.0 * v for v in x]",
            "def row_sums(t):\n    return np.float32(t).sum(1)",
        ),
        FULL,
        "",
    ),
    "plots and predictions": (
        notebook(SETUP, "from course_lib.plots import common\ncommon.lines([1])[0].title", DOUBLE, SUMS),
        FULL,
        "",
    ),
    NAMES["comma"]: (notebook(SETUP, DOUBLE, SUMS), FULL, ""),
    NAMES["letters"]: (notebook(SETUP, DOUBLE, SUMS), FULL, ""),
}


@pytest.fixture(scope="module")
def the_class(tmp_path_factory):
    """All mishaps as one class."""
    folder = tmp_path_factory.mktemp("class")
    for name, (content, _, _) in MISHAPS.items():
        path = folder / "submissions" / name / "98_toy.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture(scope="module")
def graded():
    """What was graded, kept over the tests of this file."""
    return {}


@pytest.fixture
def records(graded, the_class, grade_folder, tier):
    if tier not in graded:
        graded[tier], counts = grade_folder(the_class / "submissions", the_class / f"results {tier}", tier)
        assert counts == (len(MISHAPS), 0)
    return graded[tier]


@pytest.mark.parametrize("mishap", MISHAPS)
def test_right_parts_keep_their_points(records, mishap, tier):
    _, points, said = MISHAPS[mishap]
    record = records[mishap]
    assert tuple(q["points"] for q in record["questions"]) == points, record
    texts = [*record["notes"], *(q["text"] for q in record["questions"])]
    texts += [text for q in record["questions"] for _, text in q["advice"]] + [
        f"{q['passed']} of {q['probes']}" for q in record["questions"]
    ]
    assert said in "\n".join(texts), texts
    if not said:
        assert not record["notes"]
    assert record["status"] == ("not_graded" if points == UNGRADED else "graded")
    assert (record["points"] is None) == (points == UNGRADED)


def test_the_known_mistake_is_named(records, tier):
    named = {q["exercise"]: q["mistake"] for q in records["a known mistake"]["questions"]}
    assert named == {"toy/double": "squared", "toy/row_sums": None}


def test_nothing_is_lost_and_the_marks_are_one_line_each(records, the_class, tier):
    from course_lib.grading import exports, late

    path = the_class / f"results {tier}" / "results.csv"
    exports.write_results(path, [late.with_late(record, {}, None) for record in records.values()])
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["student"] for row in rows) == sorted(MISHAPS)
    empty = {row["student"] for row in rows if row["points"] == ""}
    assert empty == {name for name, (_, points, _) in MISHAPS.items() if points == UNGRADED}

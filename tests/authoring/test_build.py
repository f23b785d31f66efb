"""`build` runs notebooks in clean kernels and writes what can be compared; a second build changes nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.authoring import build
from course_lib.authoring.execute import executed
from course_lib.authoring.normalise import read

pytest.importorskip("nbgrader", reason="no nbgrader: install the extra `test`")

ROOT = Path(__file__).parent.parent.parent
SETUP = """\
import time
import numpy as np
import ipywidgets as w
from course_lib.plots import common
from course_lib.predict import predict
from course_lib.widgets.common import FigureExplorer
"""
LESSON = (
    SETUP,
    "weights = np.array([[0.1, 0.9], [0.6, 0.4]])\ncommon.attention_map(weights, ['a', 'b'], ['c', 'd'])",
    "FigureExplorer(lambda row: common.bars({'c': weights[row, 0]}, 'weight'), row=w.IntSlider(0, 0, 1))",
    "predict('sum', weights.sum())",
    ("time.perf_counter()", ["nbval-ignore-output"]),
    ("weights @ np.eye(3)", ["raises-exception"]),
    "print(1)\nprint(2)\nweights.sum(axis=0);",
    "len(Out)",
    "common.bars({'c': 0.5}, 'weight')",
)


def put(root, folder, name, *sources):
    """Write a notebook without ids or outputs, as somebody may have written it by hand."""
    cells = []
    for source in sources:
        text, tags = source if isinstance(source, tuple) else (source, [])
        cells.append({"cell_type": "code", "source": text, "metadata": {"tags": tags} if tags else {}, "outputs": []})
        cells[-1]["execution_count"] = None
    path = root / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A tree with one lesson and one solution, built once, and what the build returned."""
    root = tmp_path_factory.mktemp("tree")
    put(root, "notebooks", "03_toy.ipynb", *LESSON)
    put(root, "solutions", "03_toy.ipynb", "x = 1\nx")
    return root, build([], root)


def test_build_returns_what_it_wrote(built):
    root, changed = built
    assert [path.relative_to(root).as_posix() for path in changed] == [
        "notebooks/03_toy.ipynb",
        "solutions/03_toy.ipynb",
        "exercises/03_toy.ipynb",
    ]


def test_building_twice_changes_nothing_even_with_a_widget_and_a_clock(built, capsys):
    root, _ = built
    before = {path: path.read_bytes() for path in root.glob("*s/*.ipynb")}
    assert build(["3"], root) == []
    assert {path: path.read_bytes() for path in root.glob("*s/*.ipynb")} == before
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(line.endswith("s, unchanged") for line in lines)


def test_the_built_file_has_counts_outputs_and_no_trace_of_the_machine(built):
    root, _ = built
    text = (root / "notebooks" / "03_toy.ipynb").read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, 10))
    assert cells[6]["outputs"][0]["text"] == ["1\n", "2\n"]
    assert "execution" not in cells[0]["metadata"] and str(root) not in text and "ipykernel_" not in text


def test_changing_the_code_of_a_machine_dependent_cell_renews_its_output(built):
    root, _ = built
    notebook = read(root / "notebooks" / "03_toy.ipynb")
    notebook["cells"][4]["source"] += " * 0"
    renewed = executed(notebook, root / "notebooks", ROOT)
    assert notebook["cells"][4]["outputs"][0]["data"]["text/plain"] != "0.0"
    assert renewed["cells"][4]["outputs"][0]["data"]["text/plain"] == "0.0"


def test_a_notebook_that_fails_is_named_and_left_alone_and_the_others_are_built(tmp_path, capsys):
    bad = put(tmp_path, "notebooks", "01_bad.ipynb", ("1 / 0", ["raises-exception"]), "print('before')\n1 / 0")
    good = put(tmp_path, "notebooks", "02_good.ipynb", "1 + 1")
    before = bad.read_bytes()
    wanted = r"01_bad\.ipynb, cell 2 \(print\('before'\)\): ZeroDivisionError: division by zero"
    with pytest.raises(ValueError, match=wanted) as caught:
        build([], tmp_path)
    assert "02_good" not in str(caught.value)
    assert bad.read_bytes() == before
    assert read(good)["cells"][0]["outputs"]
    assert "failed after" in capsys.readouterr().out


def test_a_cell_that_hangs_and_a_kernel_that_dies_are_named(tmp_path):
    path = put(tmp_path, "notebooks", "01_slow.ipynb", "1", "import time\ntime.sleep(60)")
    with pytest.raises(ValueError, match=r"cell 2 \(import time\): not done after 1 second"):
        executed(read(path), path.parent, ROOT, cell_seconds=1)
    path = put(tmp_path, "notebooks", "01_dead.ipynb", "import os\nos._exit(1)")
    with pytest.raises(ValueError, match=r"cell 1 \(import os\): the kernel died"):
        executed(read(path), path.parent, ROOT)


def test_a_number_that_no_lesson_has_is_refused_with_those_that_there_are(tmp_path):
    put(tmp_path, "notebooks", "02_good.ipynb", "1")
    with pytest.raises(FileNotFoundError, match="got 07; there are 02"):
        build(["7"], tmp_path)


def test_nbval_compares_numbers_sentences_of_figures_and_predictions(built, tmp_path):
    """The line that the suite runs, on a notebook in which four cells and the pixels of every figure are changed."""
    root, _ = built
    text = (root / "notebooks" / "03_toy.ipynb").read_text(encoding="utf-8")
    changes = {"(0.60)": "(0.61)", "c 0.10": "c 0.11", "sum: 2.": "sum: 3.", '"2\\n"': '"7\\n"'}
    changes["base64,iVBORw0K"] = "base64,iVBORw0A"
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    for name in ("conftest.py", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "toy.ipynb").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    command += ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval.cfg'}"]
    command += ["--nbval-cell-timeout=60", "toy.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert failed == [f"FAILED toy.ipynb::Cell {number}" for number in (1, 2, 3, 6)], done.stdout
    assert done.returncode == 1 and "4 failed, 5 passed" in done.stdout

"""A toy notebook of two questions, warm sandboxes in the tiers that this machine has, and ways to grade with them."""

import json
import os
from pathlib import Path

import pytest

from course_lib.checks.engine import Exercise, Mistake, Probe
from course_lib.grading import batch, compare, discover, probes, sandbox
from course_lib.grading.budgets import Budgets, NoSandbox

SECRET = b"a secret of the tests"
BUDGETS = Budgets(
    cell_seconds=0.4, question_seconds=0.4, patience=3.0, submission_seconds=12.0, memory_mb=256, files_mb=4
)
ROOT_ALLOWED = os.name == "posix" and os.geteuid() == 0  # in a container the tests may run as root


def double(x):
    return 2 * x


def row_sums(table):
    return table.sum(axis=1)


def _vectors(rng):
    return [Probe(f"{n} numbers", (rng.normal(size=n),)) for n in (3, 4, 5, 6)]


def _tables(rng):
    return [Probe(f"{n} rows", (rng.normal(size=(n, n + 1)),)) for n in (2, 3)] + [
        Probe("a square", (rng.normal(size=(3, 3)),))
    ]


def _mistake(name, answer):
    return Mistake(name, answer, what=f"It is {name}.", why="Then it is wrong.", where="Look again.")


DOUBLE = Exercise(
    id="toy/double",
    title="Twice each number",
    minutes=1,
    difficulty="easy",
    kind="fill",
    reference=double,
    probes=_vectors,
    mistakes=(_mistake("unchanged", lambda x: x), _mistake("squared", lambda x: x * x)),
    forbidden=("numpy.multiply", ".repeat"),
)
ROW_SUMS = Exercise(
    id="toy/row_sums",
    title="The sum of each row",
    minutes=1,
    difficulty="easy",
    kind="fill",
    reference=row_sums,
    probes=_tables,
    mistakes=(
        _mistake("column_sums", lambda table: table.sum(axis=0)),
        _mistake("all_summed", lambda table: table.sum()),
    ),
)
SETUP = "import numpy as np\nfrom course_lib.checks import check\nfrom course_lib.reference.attention import softmax"
RIGHT_DOUBLE = "def double(x):\n    return x + x"
RIGHT_SUMS = "def row_sums(table):\n    return np.einsum('ij->i', table)"
WRONG_DOUBLE = "def double(x):\n    return x * 0"
CHECKS = 'check("toy/double", double).must_pass()\ncheck("toy/row_sums", row_sums).must_pass()'


@pytest.fixture(scope="session")
def toy():
    """The toy notebook's lesson: two points and one."""
    return probes.make_lesson("98_toy", [(DOUBLE, 2.0), (ROW_SUMS, 1.0)], SECRET, [SETUP])


@pytest.fixture(scope="session")
def open_sandbox():
    """Return the warm sandbox of a tier, or skip and say what this machine lacks."""
    open_ones = {}

    def get(tier):
        if os.name != "posix" or os.uname().sysname != "Linux":
            pytest.skip("the sandboxes are Linux's")
        if tier not in open_ones or open_ones[tier].process.poll() is not None:
            try:
                open_ones[tier] = sandbox.start(tier, BUDGETS, ["numpy"], trust=tier == "C", allow_root=ROOT_ALLOWED)
            except NoSandbox as error:
                pytest.skip(str(error))
        return open_ones[tier]

    yield get
    for one in open_ones.values():
        one.stop()


@pytest.fixture
def quick(monkeypatch):
    """Let the trusted side be as impatient as the tests."""
    monkeypatch.setattr(compare, "GRACE", 0.2)


@pytest.fixture
def grade(toy, open_sandbox, quick):
    """Grade code cells in a tier and return the points by question, and all that was found."""

    def run(tier, *cells):
        graded = compare.grade(open_sandbox(tier), toy, list(enumerate(cells, start=1)))
        return {q.exercise.split("/")[1]: q.points for q in graded.questions}, graded

    return run


def write_notebook(path, cells, **more):
    """Write code cells as a notebook."""
    content = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for i, source in enumerate(cells)
    ]
    notebook = {"cells": content, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


@pytest.fixture
def grade_folder(toy, quick):
    """Grade a folder of toy submissions from beginning to end; return the records by student."""

    def run(folder, out, tier="B", jobs=1, **more):
        settings = batch.Settings(tier, False, ROOT_ALLOWED, jobs, BUDGETS)
        found, _ = discover.find_submissions(Path(folder), [toy.name])
        try:
            counts = batch.grade_class(found, {toy.name: toy}, Path(out), settings, **more)
        except NoSandbox as error:
            pytest.skip(str(error))
        return {record["student"]: record for record in batch.read_records([Path(out)])}, counts

    return run


def pytest_generate_tests(metafunc):
    """Run what asks for a `tier` in both sandboxed ones."""
    if "tier" in metafunc.fixturenames:
        metafunc.parametrize("tier", ["A", "B"])

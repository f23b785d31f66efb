"""The summary at the end of a test run says in words what happened."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

specification = importlib.util.spec_from_file_location("conftest_of_tests", Path(__file__).with_name("conftest.py"))
conftest = importlib.util.module_from_spec(specification)
specification.loader.exec_module(conftest)


def reports(*nodes, reason=None):
    return [SimpleNamespace(nodeid=node, longrepr=("file", 1, f"Skipped: {reason}")) for node in nodes]


def test_lessons_solutions_and_cells_are_counted_apart_from_the_tests():
    cells = ["notebooks/00_a.ipynb::Cell 0", "notebooks/00_a.ipynb::Cell 1", "solutions/00_a.ipynb::Cell 0"]
    first, last = conftest.summary({"passed": reports("tests/test_a.py::test_x", *cells)}, 185)
    assert first == (
        "1 test; 1 lesson and 1 solution executed, 3 cells compared with what the notebooks show; 3 min 5 s."
    )
    assert last == "Everything that ran holds."


def test_what_was_skipped_is_said_once_with_its_reason():
    skipped = reports("a::x", "a::y", reason="no browser: install Chromium")
    assert "Skipped 2: no browser: install Chromium" in conftest.summary({"skipped": skipped}, 1)


def test_failures_name_their_files_and_how_to_run_one_alone():
    failed = reports("notebooks/00_a.ipynb::Cell 1", "notebooks/00_a.ipynb::Cell 2")
    lines = conftest.summary({"failed": failed, "error": reports("tests/test_b.py::test_y")}, 1)
    assert lines[-2:] == [
        "3 failed, in notebooks/00_a.ipynb, tests/test_b.py.",
        "To run one of them alone:  python3 -m course_lib test notebooks/00_a.ipynb",
    ]
    assert not [line for line in lines if "holds" in line]

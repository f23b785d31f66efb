"""For every test, and for nbval's comparison of the notebooks: kernels like a learner's, one thread, this checkout."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
collect_ignore_glob = ["course_lib/templates/*"]  # they become a lesson when their blanks are filled


def pytest_configure(config: pytest.Config) -> None:
    """Let every kernel and process that a test starts find this checkout, and compute on one thread.

    Two threads on two busy cores cost a small model twenty times the time.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["COURSE_PROGRESS"] = "off"  # no test's check goes into the learner's own record
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    if getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False):
        _let_nbval_run_cells_as_a_notebook_does()


def _let_nbval_run_cells_as_a_notebook_does() -> None:
    """Make nbval count its cells.

    nbval runs each cell with `store_history=False`. Then IPython knows no execution count, no `Out` and no `_`, and
    takes no notice of a semicolon at the end of a line, so that such cells fail although they are right.
    """
    from nbval.kernel import RunningKernel

    def execute_cell_input(self: RunningKernel, cell_input: str, allow_stdin: bool | None = None) -> str:
        return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)

    RunningKernel.execute_cell_input = execute_cell_input

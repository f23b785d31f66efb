"""Run a notebook from top to bottom in a kernel of its own.

The kernel is this very Python, started in the notebook's folder as JupyterLab and nbval do it, on one thread, and with
no start-up file of the person who builds.
"""

import copy
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from course_lib.authoring.normalise import STATE, VIEW, normalised

CELL_SECONDS = 300  # a cell that takes longer has hung
IGNORED = "nbval-ignore-output"  # the tag of a cell whose output depends on the machine
FINGERPRINT = "code"  # the notebook's metadata key that says of which code the outputs are


def executed(notebook: dict[str, Any], folder: Path, root: Path, cell_seconds: int = CELL_SECONDS) -> dict[str, Any]:
    """Return the notebook with the outputs of a fresh run, normalised.

    Where the code is the code of the last run, and every cell but the machine-dependent ones gave the same outputs
    again, the machine-dependent ones keep the outputs that they have: building twice changes nothing.

    Raises:
        ValueError: if a cell fails, hangs or kills its kernel; the message says which cell and how.
    """
    fresh = normalised(_run(notebook, folder, root, cell_seconds))
    fingerprint = _fingerprint(fresh)
    if notebook.get("metadata", {}).get(FINGERPRINT) == fingerprint:
        _keep_machine_dependent(normalised(notebook), fresh)
    fresh["metadata"][FINGERPRINT] = fingerprint
    return fresh


def _run(notebook: dict[str, Any], folder: Path, root: Path, cell_seconds: int) -> dict[str, Any]:
    import nbformat
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    node = nbformat.from_dict(copy.deepcopy(notebook))
    node.metadata.pop("widgets", None)
    place = 0

    def remember(cell: Any, cell_index: int) -> None:
        nonlocal place
        place = cell_index

    # Without folders to look in, jupyter_client falls back on the kernel of the running Python.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    client = NotebookClient(
        node,
        km=manager,
        timeout=cell_seconds,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=remember,
        extra_arguments=["--log-level=ERROR"],  # or each kernel warns that it talks to us without encryption
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as private:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "COURSE_PROGRESS": "off",
            "IPYTHONDIR": private,
            "PYTHONPATH": _path(root),
        }
        try:
            client.execute(env=environment, cleanup_kc=True)
        except CellExecutionError as error:
            raise ValueError(f"{_where(node, place)}: {error.ename}: {error.evalue}") from None
        except CellTimeoutError:
            raise ValueError(f"{_where(node, place)}: not done after {cell_seconds} seconds") from None
        except DeadKernelError:
            raise ValueError(f"{_where(node, place)}: the kernel died") from None
    return node


def _path(root: Path) -> str:
    return os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))


def _where(notebook: dict[str, Any], place: int) -> str:
    first = notebook["cells"][place]["source"].strip().split("\n")[0]
    return f"cell {place + 1} ({first[:60]})"


def _fingerprint(notebook: dict[str, Any]) -> str:
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]


def _keep_machine_dependent(old: dict[str, Any], fresh: dict[str, Any]) -> None:
    """Put the old outputs of machine-dependent cells into `fresh`, if all else came out as it was."""
    pairs = [(a, b) for a, b in zip(old["cells"], fresh["cells"], strict=True) if b["cell_type"] == "code"]
    machine = [(a, b) for a, b in pairs if IGNORED in b["metadata"].get("tags", [])]
    # A widget's outputs are only half in its cell: the other half is the notebook's widget state.
    with_widgets = any(
        VIEW in output.get("data", {}) for pair in machine for cell in pair for output in cell["outputs"]
    )
    stale = any(a["execution_count"] is None for a, b in pairs)
    others_equal = all(a["outputs"] == b["outputs"] for a, b in pairs if IGNORED not in b["metadata"].get("tags", []))
    widgets_equal = old["metadata"].get("widgets", {}).get(STATE) == fresh["metadata"].get("widgets", {}).get(STATE)
    if others_equal and widgets_equal and not with_widgets and not stale:
        for a, b in machine:
            b["outputs"] = a["outputs"]

"""Write a notebook so that its bytes depend on its sources and outputs alone.

Left out of the file: who ran it, when, how often, with which minor version of Python, and the random names that
widgets get in every run. What is left is the same over runs, so a difference in git is a difference in the lesson.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
REFERENCE = re.compile(r"IPY_MODEL_([0-9A-Za-z-]+)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FRAME_IN_FILE = re.compile(r"File ")

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
KEPT_METADATA = ("tags", "nbgrader", "slideshow", "editable", "deletable")


def read(path: Path) -> dict[str, Any]:
    """Read a notebook as plain JSON, with each text as one string and an id for each cell.

    nbformat would repair missing and doubled ids by random ones; here they come from the cell's text and place.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is not a notebook of format 4.
    """
    if not path.is_file():
        raise FileNotFoundError(f"path: wanted a notebook, got {path}, which is not there")
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: wanted a notebook, got text that is not JSON ({error})") from error
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or "cells" not in notebook:
        raise ValueError(f"{path}: wanted a notebook of format 4, got something else")
    return _with_ids(_joined(notebook))


def write(notebook: dict[str, Any]) -> str:
    """Return the text of the notebook's file: sorted keys, one space of indent, a list of lines for each text."""
    import nbformat

    node = nbformat.from_dict(notebook)
    nbformat.validate(node)
    return nbformat.writes(node, version=4, indent=1, ensure_ascii=False) + "\n"


def normalised(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with counts 1..n, the course's own metadata only and widgets numbered in order of appearance."""
    widgets = notebook.get("metadata", {}).get("widgets", {})
    cells = []
    count = 0
    for cell in notebook["cells"]:
        kept = {name: cell["metadata"][name] for name in KEPT_METADATA if name in cell.get("metadata", {})}
        new = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": kept, "source": cell["source"]}
        if cell.get("attachments"):
            new["attachments"] = cell["attachments"]
        if cell["cell_type"] == "code":
            ran = cell.get("execution_count") is not None
            count += ran
            new["execution_count"] = count if ran else None
            new["outputs"] = [_output(output, count) for output in cell.get("outputs", [])]
        cells.append(new)
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}}
    result = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    _number_widgets(result, widgets.get(STATE, {}).get("state", {}))
    return result


def _joined(notebook: dict[str, Any]) -> dict[str, Any]:
    """Join the lists of lines that files keep sources and outputs in."""
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell.get("source") or "")
        cell.setdefault("metadata", {})
        for output in cell.get("outputs", []):
            if "text" in output:
                output["text"] = "".join(output["text"])
            for kind, value in output.get("data", {}).items():
                if isinstance(value, list) and not kind.endswith("json"):
                    output["data"][kind] = "".join(value)
    return notebook


def _with_ids(notebook: dict[str, Any]) -> dict[str, Any]:
    """Give an id to each cell that has none or shares one."""
    seen: set[str] = set()
    for place, cell in enumerate(notebook["cells"]):
        name = cell.get("id")
        salt = f"{place}{cell['source']}"
        while not name or name in seen:
            name = hashlib.sha256(salt.encode()).hexdigest()[:8]
            salt = name
        cell["id"] = name
        seen.add(name)
    notebook["nbformat_minor"] = 5
    return notebook


def _output(output: dict[str, Any], count: int) -> dict[str, Any]:
    """Copy an output with the cell's count, and a traceback without the frames that lie in files of this machine."""
    new = json.loads(json.dumps(output))
    if new["output_type"] == "execute_result":
        new["execution_count"] = count
    if new["output_type"] == "error":
        frames = new["traceback"]
        new["traceback"] = [frame for frame in frames if not FRAME_IN_FILE.match(COLOUR.sub("", frame))]
    return new


def _number_widgets(notebook: dict[str, Any], state: dict[str, Any]) -> None:
    """Rename the models 1, 2, … as the outputs reach them, and keep only those that they reach."""
    names: dict[str, str] = {}

    def visit(model: str) -> None:
        if model in names or model not in state:
            return
        names[model] = f"{len(names) + 1:032x}"
        # Sorted, so that the order does not depend on how the kernel happened to send the traits.
        for found in REFERENCE.findall(json.dumps(state[model], sort_keys=True)):
            visit(found)

    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get(VIEW)
            if view:
                visit(view["model_id"])
                view["model_id"] = names.get(view["model_id"], view["model_id"])
    if names:
        text = json.dumps({names[model]: _short(state[model]) for model in names}, sort_keys=True)
        text = REFERENCE.sub(lambda match: f"IPY_MODEL_{names.get(match[1], match[1])}", text)
        models = {"state": json.loads(text), "version_major": 2, "version_minor": 0}
        notebook["metadata"]["widgets"] = {STATE: models}


def _short(model: dict[str, Any]) -> dict[str, Any]:
    """Leave out the forty settings of a layout that are not set."""
    if model["model_name"] != "LayoutModel":
        return model
    return {**model, "state": {name: value for name, value in model["state"].items() if value is not None}}

"""nbgrader's gradebook and formgrader: our marks go in through its own API, written answers are marked there by hand.

Each exercise becomes an assignment of one notebook. The submitted notebooks are laid where formgrader looks for them,
with the cells' metadata taken from the solution again where an editor lost it.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib.grading.batch import write_text
from course_lib.grading.notebook import Unreadable


def write_gradebook(
    folder: Path, root: Path, records: Sequence[Mapping[str, Any]], notebooks: Mapping[tuple[str, str], bytes]
) -> int:
    """Write `gradebook.db` and `autograded/` into an nbgrader course folder; return how many marks were written.

    `notebooks` are the submitted files by student and exercise; without a file, formgrader shows the marks alone.
    """
    from nbgrader.api import Gradebook

    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    with _programs_beside_python(), Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        sources = {name: _cells(root / "solutions" / f"{name}.ipynb") for name in {r["exercise"] for r in records}}
        for name, cells in sources.items():
            _describe(book, name, cells)
        for record in records:
            written += _write_one(book, record, sources[record["exercise"]])
            data = notebooks.get((record["student"], record["exercise"]))
            if data:
                _lay_out(folder, record, sources[record["exercise"]], data)
        book.db.commit()
    return written


@contextlib.contextmanager
def _programs_beside_python() -> Iterator[None]:
    """Let nbgrader find `alembic`, which it starts by its bare name to make a new gradebook."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def student_id(student: str) -> str:
    """Return the name under which a student's folder is kept: nbgrader takes no slash and no space in it."""
    return (
        "".join(letter if letter.isalnum() or letter in "-_.@" else "_" for letter in student).lstrip(".") or "unknown"
    )


def _cells(solution: Path) -> list[dict[str, Any]]:
    return json.loads(solution.read_text(encoding="utf-8"))["cells"]


def _settings(cell: Mapping[str, Any]) -> dict[str, Any]:
    return cell["metadata"].get("nbgrader", {})


def _describe(book: Any, name: str, cells: Sequence[Mapping[str, Any]]) -> None:
    """Enter the exercise and its cells, as `nbgrader generate_assignment` does."""
    book.update_or_create_assignment(name)
    book.update_or_create_notebook(name, name, kernelspec="{}")
    for cell in cells:
        settings, source = _settings(cell), "".join(cell["source"])
        if not settings.get("grade_id"):
            continue
        key, kind = settings["grade_id"], cell["cell_type"]
        if settings.get("grade"):
            points = float(settings.get("points", 0))
            book.update_or_create_grade_cell(key, name, name, max_score=points, cell_type=kind)
        if settings.get("solution"):
            book.update_or_create_solution_cell(key, name, name)
        locked = bool(settings.get("locked"))
        book.update_or_create_source_cell(key, name, name, cell_type=kind, source=source, locked=locked)


def _write_one(book: Any, record: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> int:
    from course_lib.authoring import checked

    name, student = record["exercise"], student_id(record["student"])
    book.update_or_create_student(student, last_name=record["student"])
    moment = datetime.fromtimestamp(record["handed_in"], UTC).replace(tzinfo=None) if record["handed_in"] else None
    book.update_or_create_submission(name, student, timestamp=moment)
    marks = {q["exercise"]: q for q in record["questions"]}
    written = 0
    for cell in cells:
        settings = _settings(cell)
        if not settings.get("grade"):
            continue
        grade = book.find_grade(settings["grade_id"], name, name, student)
        asked = [marks[key] for key in checked("".join(cell["source"])) if key in marks]
        if asked and all(q["points"] is not None for q in asked):
            grade.auto_score = sum(q["points"] for q in asked)
            grade.needs_manual_grade = False
            written += 1
        else:  # written answers, and what could not be graded
            grade.needs_manual_grade = float(settings.get("points", 0)) > 0
    return written


def _lay_out(folder: Path, record: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], data: bytes) -> None:
    """Write the submitted notebook where formgrader reads it, if it is a notebook at all."""
    try:
        notebook = json.loads(data)
        submitted = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    except (ValueError, KeyError, TypeError, RecursionError, Unreadable):
        return
    import nbformat

    by_source = {"".join(cell["source"]): _settings(cell) for cell in cells if _settings(cell).get("locked")}
    places = iter([_settings(cell) for cell in cells if _settings(cell).get("grade_id")])
    known = {settings["grade_id"]: settings for settings in places}
    seen: set[str] = set()
    for cell in submitted:
        metadata = cell.setdefault("metadata", {})
        source = cell.get("source", "")
        text = "".join(source) if isinstance(source, list) else str(source)
        own = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        key = own.get("grade_id") if isinstance(own, dict) else by_source.get(text, {}).get("grade_id")
        cell["metadata"] = {}
        if key in known and key not in seen:
            cell["metadata"]["nbgrader"] = {**known[key], "schema_version": 3}
            seen.add(key)
    try:
        node = nbformat.from_dict({**notebook, "cells": submitted, "nbformat": 4, "nbformat_minor": 4})
        text = nbformat.writes(node, version=4)
    except Exception:  # whatever a damaged notebook makes of nbformat, the marks are written already
        return
    path = folder / "autograded" / student_id(record["student"]) / record["exercise"] / f"{record['exercise']}.ipynb"
    write_text(path, text)

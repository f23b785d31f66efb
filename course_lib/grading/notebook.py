"""Read a submitted notebook, whatever editors, networks and people did to it. Trusted side; nothing of it is run.

Only the sources of the code cells are taken. Metadata, ids and outputs are not looked at: editors lose or double them.
"""

import json
import re
from dataclasses import dataclass

LARGEST = 64 << 20  # bytes of one file; pictures in outputs make files large
MOST_CELLS = 2000
LONGEST_CELL = 200_000  # letters


class Unreadable(ValueError):
    """A file of which nothing can be graded; the message says why."""


@dataclass(frozen=True)
class Notebook:
    """The code cells of a submission, numbered as a reader counts them, and what had to be mended."""

    cells: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]


def read_notebook(data: bytes) -> Notebook:
    """Read a notebook from its bytes.

    >>> read_notebook(b'{"cells": [{"cell_type": "code", "source": ["x = 1"]}], "nbformat": 4}').cells
    ((1, 'x = 1'),)

    Raises:
        Unreadable: if it is empty, too large, or no notebook even in part.
    """
    if not data.strip():
        raise Unreadable("the file is empty")
    if len(data) > LARGEST:
        raise Unreadable(f"the file has {len(data) >> 20} MB, more than {LARGEST >> 20}")
    text, notes = _text(data)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raw = _salvaged(text)
        if not raw:
            raise Unreadable("the file is no notebook: not even one cell can be read") from None
        notes.append(f"The file is damaged or cut off: its first {len(raw)} cells could be read.")
    else:
        raw = _raw_cells(content)
    cells = []
    for number, cell in enumerate(raw[:MOST_CELLS], start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = _source(cell.get("source", cell.get("input", "")))
        if len(source) > LONGEST_CELL:
            notes.append(f"Cell {number} has more than {LONGEST_CELL} letters and was left out.")
        elif source.strip():
            cells.append((number, source))
    if len(raw) > MOST_CELLS:
        notes.append(f"The notebook has {len(raw)} cells; the first {MOST_CELLS} were read.")
    return Notebook(tuple(cells), tuple(notes))


def _text(data: bytes) -> tuple[str, list[str]]:
    """Decode the file: UTF-8 with or without a mark, UTF-16 with one, else as well as it goes."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig")):
        if data.startswith(mark):
            try:
                return data.decode(encoding), []
            except UnicodeDecodeError:
                continue
    return data.decode("cp1252", "replace"), ["The file is not written in UTF-8; it was read as Western European text."]


def _raw_cells(content: object) -> list:
    """Find the list of cells; notebooks of format 3 keep them in a worksheet."""
    cells = content.get("cells") if isinstance(content, dict) else None
    if cells is None and isinstance(content, dict):
        sheets = content.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets else {}
        cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("the file is no notebook: it has no list of cells")
    return cells


def _salvaged(text: str) -> list:
    """Read as many complete cells as stand after the word "cells" of a damaged file."""
    begin = re.search(r'"cells"\s*:\s*\[', text)
    if not begin:
        return []
    decoder, place, found = json.JSONDecoder(), begin.end(), []
    while len(found) <= MOST_CELLS:
        place = re.compile(r"[\s,]*").match(text, place).end()
        try:
            cell, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return found
        found.append(cell)
    return found


def _source(source: object) -> str:
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return ""
    return source.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")

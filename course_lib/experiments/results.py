"""The tables that the commands in `benchmarks/` have printed and the lessons show, read back from `benchmarks/results`.

Training that takes minutes is not done anew in a lesson: the lesson trains one row of the table and reads the others.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "results"

Table = tuple[str, list[dict[str, str]]]


def read(name: str, folder: Path = FOLDER) -> Table:
    """Return the caption of a table and its rows, each a text by the head of its column; the first head is "".

    Raises:
        FileNotFoundError: if nobody has kept the table; the message says how to make it.
    """
    path = folder / f"{name}.txt"
    if not path.exists():
        raise FileNotFoundError(f"{path.name}: wanted it in benchmarks/results; python3 benchmarks/{name}.py prints it")
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Table:
    """Read the last block of a benchmark's output: a caption, a line of heads, and rows with two spaces between cells.

    >>> parse("some news\\n\\nafter 2 steps\\n       loss  seeds 1 to 3\\nright  0.50  1.0 0.9 1.0\\n")
    ('after 2 steps', [{'': 'right', 'loss': '0.50', 'seeds 1 to 3': '1.0 0.9 1.0'}])
    """
    caption, heads, *rows = text.strip().split("\n\n")[-1].splitlines()
    names = ["", *re.split(r"\s{2,}", heads.strip())]
    return caption, [dict(zip(names, re.split(r"\s{2,}", row.strip()), strict=True)) for row in rows]


def by_seed(rows: list[dict[str, str]], column: str) -> dict[str, list[float]]:
    """Return the numbers of a column by the row's name: a cell may hold several, and rows of one name add up.

    >>> by_seed([{"": "GRU", "all": "0.2"}, {"": "GRU", "all": "0.3 0.4"}], "all")
    {'GRU': [0.2, 0.3, 0.4]}
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row[""], []).extend(float(number) for number in row[column].split())
    return found


def runs(rows: list[dict[str, str]], columns: list[str]) -> dict[str, list[list[float]]]:
    """Return, by the row's name, the numbers in these columns, a list for each row of that name.

    >>> runs([{"": "GRU", "short": "0.9", "long": "0.1"}, {"": "GRU", "short": "0.8", "long": "0"}], ["short", "long"])
    {'GRU': [[0.9, 0.1], [0.8, 0.0]]}
    """
    found: dict[str, list[list[float]]] = {}
    for row in rows:
        found.setdefault(row[""], []).append([float(row[column]) for column in columns])
    return found

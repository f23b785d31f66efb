"""The table of lessons in README.md, made from the lessons' own first cells: nobody keeps a list of them by hand."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

BEGIN = "<!-- lessons: made by `course build`, do not edit -->"
END = "<!-- lessons: end -->"


@dataclass(frozen=True)
class Lesson:
    """What the first cell of a lesson says about it."""

    number: str
    path: str
    title: str
    promise: str
    minutes: str


def lessons(root: Path) -> list[Lesson]:
    """Read title, promise and minutes of every lesson in `root`, in order."""
    return [_lesson(path) for path in sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb"))]


def _lesson(path: Path) -> Lesson:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join(cells[0]["source"]) if cells else ""
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    promise = re.search(r"In this lesson we will\s+([\s\S]+?[.:])(?=[\s*_]|$)", text)
    minutes = re.search(r"(\d+) min", text)
    words = " ".join(promise[1].split()).rstrip(".:*_") if promise else ""
    heading = re.sub(rf"^{path.name[:2]}\W+", "", title[1].strip()) if title else path.stem[3:]
    minutes_or_none = minutes[1] if minutes else ""
    return Lesson(path.name[:2], f"notebooks/{path.name}", heading, words[:1].upper() + words[1:], minutes_or_none)


def table(root: Path) -> str:
    """Return the table of lessons in Markdown."""
    rows = ["|  | Lesson | We will ... | Minutes |", "|---|---|---|---|"]
    rows += [
        f"| {item.number} | [{item.title}]({item.path}) | {item.promise} | {item.minutes} |" for item in lessons(root)
    ]
    return "\n".join(rows)


def updated(text: str, root: Path) -> str:
    """Return `text` with the table between the two marks made anew.

    Raises:
        ValueError: if `text` lacks a mark.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"README.md: wanted the lines {BEGIN} and {END} around the table of lessons")
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{table(root)}\n{END}{rest.split(END, 1)[1]}"


def update(root: Path) -> bool:
    """Bring the table in README.md up to date and say whether it changed."""
    path = root / "README.md"
    old = path.read_text(encoding="utf-8")
    new = updated(old, root)
    if new != old:
        path.write_text(new, encoding="utf-8", newline="\n")
    return new != old

"""Find the lessons, build them, copy an exercise to work on, and start a new lesson.

A lesson is a notebook `notebooks/NN_stem.ipynb`. The solution of the same name is the source of the exercise of the
same name. Nothing keeps a list of lessons: they are found by their names.
"""

import ast
import hashlib
import itertools
import json
import re
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATTERN = "[0-9][0-9]_*.ipynb"
SLUG = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
TAKEN_FROM = "taken_from"  # the key in which a copy keeps the digest of its exercise
TEMPLATES = Path(__file__).parent.parent / "templates"


@dataclass(frozen=True)
class Lesson:
    """One lesson, as its notebook's name and first cell tell it."""

    root: Path  # the checkout
    number: str  # "03"
    stem: str  # "worked_softmax"
    title: str  # its first heading
    promise: str  # what "In this lesson we will ..." promises, up to the first full stop or colon
    minutes: int  # as its first cell says; 0 where it does not

    @property
    def file_name(self) -> str:
        """The name that the lesson, its solution and its exercise share."""
        return f"{self.number}_{self.stem}.ipynb"

    @property
    def notebook(self) -> Path:
        """The lesson itself."""
        return self.root / "notebooks" / self.file_name

    @property
    def solution(self) -> Path:
        """The source of the exercise; it may not exist."""
        return self.root / "solutions" / self.file_name

    @property
    def exercise(self) -> Path:
        """What learners work on, derived from the solution."""
        return self.root / "exercises" / self.file_name


def lessons(root: Path) -> list[Lesson]:
    """Find the lessons by their file names, in the order of their numbers."""
    found = []
    for path in sorted((root / "notebooks").glob(PATTERN)):
        first = _sources(path)[0]
        heading = re.search(r"^# +(.+)$", first, re.MULTILINE)
        minutes = re.search(r"(\d+)\s+min", first)
        promise = re.search(r"In this lesson we will\s+([\s\S]+?[.:])(?=[\s*_]|$)", first)
        title = heading[1].strip() if heading else path.stem[3:]
        words = " ".join(promise[1].split()).rstrip(".:*_") if promise else ""
        number, stem = path.stem[:2], path.stem[3:]
        found.append(Lesson(root, number, stem, title, words, int(minutes[1]) if minutes else 0))
    return found


def points(root: Path) -> dict[str, float]:
    """Read from the solutions how many points each exercise is worth: the check cells say it."""
    found: dict[str, float] = {}
    for path in sorted((root / "solutions").glob(PATTERN)):
        for cell in _cells(path):
            settings = cell.get("metadata", {}).get("nbgrader", {})
            if cell["cell_type"] == "code" and settings.get("grade"):
                for exercise_id in checked("".join(cell["source"])):
                    found[exercise_id] = found.get(exercise_id, 0.0) + float(settings.get("points", 0))
    return found


def checked(source: str) -> list[str]:
    """List the exercises that a cell checks: the first arguments of its calls of `check`.

    >>> checked('check("worked_softmax/attention", attention).must_pass()')
    ['worked_softmax/attention']
    """
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except SyntaxError:  # a magic, say
        return []
    checks = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "check" and call.args]
    return [call.args[0].value for call in checks if isinstance(call.args[0], ast.Constant)]


def build(numbers: list[str], root: Path) -> list[Path]:
    """Execute the lessons and solutions of these numbers (of all, if there are none) and derive their exercises.

    A notebook in which a cell fails is left as it was, the others are built all the same. Returns the files whose
    bytes changed; a second build changes none.

    Raises:
        FileNotFoundError: if no lesson or solution has one of the numbers.
        ValueError: at the end, with one line for each notebook that failed.
    """
    changed: list[Path] = []
    failures: list[str] = []
    for path in _chosen(numbers, root):
        name = path.relative_to(root)
        print(f"{name} ...", end=" ", flush=True)
        begun = time.perf_counter()
        try:
            written = _build_one(path, root)
        except ValueError as error:
            failures.append(f"{name}, {error}")
            print(f"failed after {time.perf_counter() - begun:.0f} s")
            continue
        changed += written
        what = ", ".join(f"{file.parent.name} written" for file in written) or "unchanged"
        print(f"{time.perf_counter() - begun:.0f} s, {what}")
    if failures:
        raise ValueError("These notebooks failed, and were left as they were:\n" + "\n".join(failures))
    return changed + _update_readme(root)


def work(number: str, root: Path) -> Path:
    """Copy an exercise into `my_work/`, for the learner to write in, and return the copy.

    A copy that is there already is kept. Where the exercise has changed since, the new one is laid beside it.

    Raises:
        FileNotFoundError: if no exercise has this number.
    """
    source = _one(number, root / "exercises")
    text = source.read_text(encoding="utf-8")
    mine = root / "my_work" / source.name
    if not mine.exists():
        mine.parent.mkdir(exist_ok=True)
        _take(text, mine)
        print(f"Copied the exercise to {mine.relative_to(root)}: write there, it is yours.")
        return mine
    print(f"Kept your file {mine.relative_to(root)} as you left it.")
    # Your file, then mine.new.ipynb, mine.new2.ipynb, …: the first that is free, unless one holds this text already.
    for count in itertools.count(1):
        copy = mine if count == 1 else mine.with_name(f"{mine.stem}.new{count - 1 if count > 2 else ''}.ipynb")
        if not copy.exists():
            _take(text, copy)
            print(f"The exercise has changed since you took it: the new one lies beside it, {copy.relative_to(root)}.")
            break
        if _taken_from(copy) == _digest(text):
            break
    return mine


def new(number: str, title: str, root: Path) -> list[Path]:
    """Write a lesson, its solution and its checks from templates that pass the tests as they are.

    Raises:
        ValueError: if the number is not two digits, the title gives no name, or one of them is taken.
    """
    if not re.fullmatch(r"\d\d", number):
        raise ValueError(f"number: wanted two digits such as 07, got {number!r}")
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")
    if not SLUG.fullmatch(slug):
        raise ValueError(f"title: wanted words that make a file name and begin with a letter, got {title!r}")
    for lesson in lessons(root):
        if lesson.number == number:
            raise ValueError(f"number: {number} is taken by {lesson.file_name}")
        if lesson.stem == slug:
            raise ValueError(f"title: {slug} is taken by {lesson.file_name}")
    files = {
        "lesson.ipynb": root / "notebooks" / f"{number}_{slug}.ipynb",
        "solution.ipynb": root / "solutions" / f"{number}_{slug}.ipynb",
        "checks.py": root / "course_lib" / "checks" / f"{slug}.py",
    }
    for path in files.values():
        if path.exists():
            raise ValueError(f"title: {path.relative_to(root)} is there already")
    words = {"NUMBER": number, "SLUG": slug, "TITLE": " ".join(title.replace("\\", "").replace('"', "'").split())}
    for template, path in files.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        filled = re.sub(r"__([A-Z]+)__", lambda match: words[match[1]], text)
        _replaced(path, filled)
    build([number], root)
    return [*files.values(), root / "exercises" / files["solution.ipynb"].name]


def _take(text: str, copy: Path) -> None:
    """Write a copy that knows of which text it was taken, in a key that editors leave alone."""
    notebook = json.loads(text)
    notebook["metadata"][TAKEN_FROM] = _digest(text)
    copy.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def _taken_from(copy: Path) -> str:
    try:
        return json.loads(copy.read_text(encoding="utf-8"))["metadata"].get(TAKEN_FROM, "")
    except (ValueError, KeyError, AttributeError):  # the learner's file may be in any state
        return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    if not cells:
        raise ValueError(f"{path}: wanted a notebook with cells, got none")
    return cells


def _sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in _cells(path)]


def _chosen(numbers: list[str], root: Path) -> list[Path]:
    """The notebooks to build, each lesson before its solution."""
    folders = (root / "notebooks", root / "solutions")
    found = sorted((path for folder in folders for path in folder.glob(PATTERN)), key=lambda path: path.name)
    wanted = [f"{int(number):02d}" if number.isdecimal() else number for number in numbers]
    for number in wanted:
        if not any(path.name.startswith(f"{number}_") for path in found):
            raise FileNotFoundError(
                f"numbers: wanted the number of a lesson, got {number}; there are {_numbers(found)}"
            )
    return [path for path in found if not wanted or path.name[:2] in wanted]


def _one(number: str, folder: Path) -> Path:
    wanted = f"{int(number):02d}" if number.isdecimal() else number
    found = sorted(folder.glob(PATTERN))
    for path in found:
        if path.name.startswith(f"{wanted}_"):
            return path
    raise FileNotFoundError(f"number: wanted the number of an exercise, got {number}; there are {_numbers(found)}")


def _numbers(paths: list[Path]) -> str:
    return ", ".join(sorted({path.name[:2] for path in paths})) or "none"


def _build_one(path: Path, root: Path) -> list[Path]:
    from course_lib.authoring.execute import executed
    from course_lib.authoring.normalise import read, write
    from course_lib.authoring.release import released

    notebook = executed(read(path), path.parent, root)
    texts = {path: write(notebook)}
    if path.parent.name == "solutions":
        texts[root / "exercises" / path.name] = released(notebook)
    return [file for file, text in texts.items() if _replaced(file, text)]


def _replaced(path: Path, text: str) -> bool:
    """Write the text where the file differs, and say whether it did."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return True


def _update_readme(root: Path) -> list[Path]:
    """Let the README's table follow the lessons, where there is a README."""
    from course_lib import readme

    page = root / "README.md"
    return [page] if page.is_file() and readme.update(root) else []

"""Find the submissions of a class: folders, nbgrader's layout, or the zip files that Canvas and Moodle export.

Nothing is unpacked and no link is followed: what is found is read as bytes, and only regular files inside the folder or
the zip. Of several files for the same student and exercise the latest counts.
"""

import os
import re
import stat
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from course_lib.grading.notebook import LARGEST, Unreadable

MOODLE = re.compile(r"^(?P<student>.+?)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?$")
CANVAS = re.compile(r"^(?P<student>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_(?P<upload>\d+)_(?P<file>.+)$")
AGAIN = re.compile(r"-(\d+)$")  # Canvas numbers what is handed in again
OURS = {"notebooks", "submitted", "autograded", "release", "source", "feedback"}


@dataclass(frozen=True)
class Submission:
    """One file that somebody handed in."""

    student: str  # as the folder, or the export, names them
    lesson: str  # "03_worked_softmax"
    place: Path  # the file, or the zip that it lies in
    member: str = ""  # its name inside the zip
    key: str = ""  # the number by which Canvas or Moodle knows the student
    handed_in: float = 0.0  # seconds since 1970
    again: int = 0
    problem: str = ""  # why it will not be read

    def read(self) -> bytes:
        """Return the file's bytes.

        Raises:
            Unreadable: if it is no regular file, or cannot be read.
        """
        if self.problem:
            raise Unreadable(self.problem)
        try:
            return _read_member(self.place, self.member) if self.member else _read_file(self.place)
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
            raise Unreadable(f"the file cannot be read: {error}") from error


def find_submissions(place: Path, lessons: Iterable[str]) -> tuple[list[Submission], list[str]]:
    """Return the submissions under a folder or in a zip, one for each student and exercise, and what was passed over.

    Raises:
        FileNotFoundError: if there is no such folder or file.
    """
    if not place.exists():
        raise FileNotFoundError(f"SUBMISSIONS: wanted a folder, a zip or a notebook, got {place}, which is not there")
    known = sorted(lessons, key=len, reverse=True)
    passed_over: list[str] = []
    found: dict[tuple[str, str], Submission] = {}
    ranks: dict[tuple[str, str], tuple[bool, int, float]] = {}
    for candidate, name, student in _candidates(place, passed_over):
        lesson = next((lesson for lesson in known if lesson in name or _bare(lesson) in name), "")
        named = bool(lesson)
        if not named and len(known) == 1:  # only one exercise is asked for: whatever its file is called now
            lesson = known[0]
        if not lesson:
            passed_over.append(f"{name}: it is named after no exercise")
            continue
        new = _with_student(candidate, name, student, lesson)
        key, rank = (new.student, lesson), (named, new.again, new.handed_in)
        if key in found and new.key and found[key].key not in ("", new.key):  # two people of one name
            new = replace(new, student=f"{new.student} ({new.key})")
            key = new.student, lesson
        if key in found:
            worse = new if rank < ranks[key] else found[key]
            passed_over.append(f"{worse.member or worse.place.name} of {worse.student}: another one counts")
        if key not in found or rank >= ranks[key]:
            found[key], ranks[key] = new, rank
    return sorted(found.values(), key=lambda s: (s.student, s.lesson)), passed_over


def _bare(lesson: str) -> str:
    return re.sub(r"^\d\d_", "", lesson)


def _candidates(place: Path, passed_over: list[str]) -> Iterable[tuple[Submission, str, str]]:
    """Yield each notebook with its file's name and the name of the folder that says whose it is."""
    if place.is_file() and place.suffix.lower() == ".zip":
        yield from _in_zip(place, passed_over)
        return
    if place.is_file():
        yield _of_file(place), place.name, place.parent.name
        return
    for folder, folders, files in os.walk(place, followlinks=False):
        for name in list(folders):
            if Path(folder, name).is_symlink():
                passed_over.append(f"{name}: a link, which is not followed")
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(folder, name)
            parts = path.relative_to(place).parts
            if name.lower().endswith(".zip") and not path.is_symlink():
                yield from _in_zip(path, passed_over, parts[0] if len(parts) > 1 else "")
            elif name.lower().endswith(".ipynb") and not name.startswith("."):
                yield _of_file(path), name, _student_of(parts)


def _student_of(parts: tuple[str, ...]) -> str:
    """Return the folder that names the student: the first one, or the one after nbgrader's `submitted`.

    >>> _student_of(("ada", "03_x.ipynb")), _student_of(("submitted", "ada", "03_x", "03_x.ipynb"))
    ('ada', 'ada')
    """
    folders = [part for part in parts[:-1] if part not in OURS]
    return folders[0] if folders else ""


def _in_zip(path: Path, passed_over: list[str], student: str = "") -> Iterable[tuple[Submission, str, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        passed_over.append(f"{path.name}: a zip that cannot be read ({error})")
        return
    for member in members:
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        if member.is_dir() or not parts or not parts[-1].lower().endswith(".ipynb") or "__MACOSX" in parts:
            continue
        if member.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            passed_over.append(f"{member.filename}: its path leads out of the zip")
            continue
        if stat.S_ISLNK(member.external_attr >> 16):
            passed_over.append(f"{member.filename}: a link, which is not followed")
            continue
        problem = f"the file has {member.file_size >> 20} MB" if member.file_size > LARGEST else ""
        when = time.mktime((*member.date_time, 0, 0, -1))
        yield Submission("", "", path, member.filename, "", when, 0, problem), parts[-1], student or _student_of(parts)


def _of_file(path: Path) -> Submission:
    try:
        found = path.lstat()
    except OSError as error:
        return Submission("", "", path, problem=str(error))
    problem = "" if stat.S_ISREG(found.st_mode) else "it is a link or no regular file, which is not followed"
    return Submission("", "", path, handed_in=_timestamp(path) or found.st_mtime, problem=problem)


def _timestamp(path: Path) -> float:
    """Read nbgrader's `timestamp.txt` beside the notebook."""
    note = path.with_name("timestamp.txt")
    try:
        if note.is_symlink():
            return 0.0
        text = note.read_text(encoding="utf-8")[:60].strip()
        for form in ("%Y-%m-%d %H:%M:%S.%f %Z", "%Y-%m-%d %H:%M:%S %Z"):
            try:
                moment = datetime.strptime(text, form)
            except ValueError:
                continue
            return moment.timestamp() if not text.endswith("UTC") else (moment - datetime(1970, 1, 1)).total_seconds()
        return datetime.fromisoformat(text).timestamp()
    except (OSError, ValueError):
        return 0.0


def _with_student(candidate: Submission, name: str, folder: str, lesson: str) -> Submission:
    """Read from the names who handed it in: a folder, Moodle's folder, or Canvas's long file name."""
    stem = name[: -len(".ipynb")]
    student, key = folder, ""
    if moodle := MOODLE.match(folder):
        student, key = moodle["student"], moodle["id"]
    elif canvas := CANVAS.match(stem):
        student, key = canvas["student"], canvas["id"]
    elif not folder:
        student = (
            re.sub(rf"_?({re.escape(lesson)}|{re.escape(_bare(lesson))}).*$", "", stem) or candidate.place.parent.name
        )
    again = AGAIN.search(stem)
    return replace(candidate, student=student or "unknown", lesson=lesson, key=key, again=int(again[1]) if again else 0)


def _read_file(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("it is no regular file")
        return file.read(LARGEST + 1)


def _read_member(place: Path, member: str) -> bytes:
    with zipfile.ZipFile(place) as archive, archive.open(member) as file:
        return file.read(LARGEST + 1)  # whatever the zip says of its size

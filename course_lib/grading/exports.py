"""Marks as files that spreadsheets, Canvas and Moodle read.

Canvas and Moodle are served by filling the file that the instructor exported from them, since its columns differ from
school to school and language to language: only one column (and Moodle's feedback) is written. A mark that is not there,
or not complete, stays empty. Every text that came from a student is made safe against spreadsheet formulas.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.grading.batch import write_text

COLUMNS = (
    "student",
    "exercise",
    "points",
    "max_points",
    "status",
    "earned",
    "seconds_late",
    "mistakes",
    "note",
    "tier",
)
PARTICIPANT = re.compile(r"^\D*\b(\d+)$")
GRADE_NAMES = ("grade", "bewertung", "note", "calificación", "nota", "valutazione", "cijfer", "ocena")
FEEDBACK_NAMES = ("feedback", "kommentar", "commentaire", "comentario", "commento")


def safe(text: object) -> str:
    """Keep a spreadsheet from reading a text as a formula.

    >>> safe("=cmd|x"), safe("Smith, Jr"), safe(-1.5)
    ("'=cmd|x", 'Smith, Jr', '-1.5')
    """
    if isinstance(text, int | float):
        return f"{text:g}"
    text = str(text or "").replace("\x00", "")
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) or text.startswith(("\t", "\r", "\n")) else text


def number(value: float | int | None) -> str:
    """Write points; what is not graded is empty, never 0.

    >>> number(None), number(0.0), number(7.25)
    ('', '0', '7.25')
    """
    return "" if value is None else f"{round(value, 2):g}"


def write_results(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write `results.csv`: one line a submission."""
    rows = []
    for record in records:
        mistakes = [f"{q['exercise']}: {q['mistake']}" for q in record["questions"] if q["mistake"]]
        note = "; ".join(record["notes"])[:500]
        rows.append(
            [
                safe(record["student"]),
                safe(record["exercise"]),
                number(record["final_points"]),
                number(record["max_points"]),
                record["status"],
                number(record["points"]),
                f"{record['seconds_late']:.0f}",
                safe("; ".join(mistakes)),
                safe(note),
                safe(record["tier"]),
            ]
        )
    _write(path, [list(COLUMNS), *rows])


def write_questions(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write `questions.csv`: one line a question of a submission."""
    head = ["student", "exercise", "question", "points", "max_points", "status", "mistake"]
    rows = []
    for record in records:
        for q in record["questions"]:
            who = [safe(record["student"]), safe(record["exercise"]), q["exercise"]]
            rows.append([*who, number(q["points"]), number(q["max_points"]), q["status"], q["mistake"] or ""])
    _write(path, [head, *rows])


def _write(path: Path, rows: Sequence[Sequence[str]], mark: str = "") -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    write_text(path, mark + text.getvalue())


def _read(path: Path) -> tuple[list[list[str]], str]:
    text = path.read_text(encoding="utf-8")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix("\ufeff")
    dialect = ";" if text.split("\n")[0].count(";") > text.split("\n")[0].count(",") else ","
    return list(csv.reader(io.StringIO(text), delimiter=dialect)), mark


def complete(records: Sequence[Mapping[str, Any]], exercise: str) -> list[Mapping[str, Any]]:
    """Return the records of one exercise whose mark is final; the others want a look first."""
    return [record for record in records if record["exercise"] == exercise and record["status"] == "graded"]


def fill_canvas(
    template: Path, out: Path, records: Sequence[Mapping[str, Any]], exercise: str, column: str = ""
) -> list[str]:
    """Fill one assignment's column of a gradebook exported from Canvas; return the students it does not know.

    Raises:
        ValueError: if the file is no such export, or no column is named after the exercise.
    """
    rows, mark = _read(template)
    if not rows or "Student" not in rows[0] or "ID" not in rows[0]:
        raise ValueError(f"{template}: wanted a gradebook exported from Canvas, with the columns Student and ID")
    head = rows[0]
    target = _column(head, column or exercise, template)
    people = [name for name in ("ID", "SIS User ID", "SIS Login ID", "Integration ID", "Student") if name in head]
    known = _Known(complete(records, exercise))
    for row in rows[1:]:
        row += [""] * (len(head) - len(row))
        if row[0].strip() in ("Points Possible", "") or row[head.index("ID")].strip() == "":
            continue
        found = known.take(row[head.index(name)] for name in people)
        if found:
            row[target] = number(found["final_points"])
    _write(out, rows, mark)
    return known.left()


def fill_moodle(
    template: Path, out: Path, records: Sequence[Mapping[str, Any]], exercise: str, column: str = ""
) -> list[str]:
    """Fill the grades and the feedback of Moodle's offline grading worksheet; return the students it does not know.

    Raises:
        ValueError: if the file is no such worksheet.
    """
    rows, mark = _read(template)
    people = [i for i, _ in enumerate(rows[0] if rows else []) if _all_participants(rows, i)]
    if not people:
        raise ValueError(f"{template}: wanted Moodle's grading worksheet, with a column of participants' numbers")
    head = rows[0]
    target = _column(head, column, template) if column else _by_name(head, GRADE_NAMES, template)
    feedback = next((i for i, name in enumerate(head) if name.lower().startswith(FEEDBACK_NAMES)), None)
    known = _Known(complete(records, exercise))
    for row in rows[1:]:
        row += [""] * (len(head) - len(row))
        keys = [PARTICIPANT.match(row[people[0]].strip())[1], *(row[i] for i in range(len(head)) if i != target)]
        found = known.take(keys)
        if found:
            row[target] = number(found["final_points"])
            if feedback is not None:
                row[feedback] = safe(summary(found))
    _write(out, rows, mark)
    return known.left()


def summary(record: Mapping[str, Any]) -> str:
    """Say in a few lines what a submission earned and why."""
    lines = []
    for q in record["questions"]:
        advice = " ".join(text for _, text in q["advice"])
        earned = f"{q['exercise'].split('/')[-1]}: {number(q['points'])} of {number(q['max_points'])}"
        lines.append(f"{earned}. {advice}".strip())
    return "\n".join(lines)


class _Known:
    """The records of an exercise by all the names that an export may use for a student."""

    def __init__(self, records: Sequence[Mapping[str, Any]]):
        self.records, self.taken = list(records), set()
        self.by_name: dict[str, int] = {}
        for i, record in enumerate(self.records):
            for name in (record["key"], record["student"]):
                for form in _forms(name):
                    # Two people of one name: nobody gets the other's mark by it.
                    self.by_name[form] = -1 if self.by_name.get(form, i) != i else i

    def take(self, names: Any) -> Mapping[str, Any] | None:
        """Return the record of who has one of these names; the most certain names come first."""
        for name in names:
            for form in _forms(name):
                found = self.by_name.get(form, -1)
                if found >= 0:
                    self.taken.add(found)
                    return self.records[found]
        return None

    def left(self) -> list[str]:
        """Return the students that the export did not name."""
        return [record["student"] for i, record in enumerate(self.records) if i not in self.taken]


def _forms(name: str) -> list[str]:
    """The ways in which a name is compared: as it stands, and, for `Last, First` or `First Last`, as Canvas joins it.

    >>> _forms("Smith, Ann")
    ['smith, ann', 'smithann', 'ann smith']
    """
    plain = name.strip().casefold()
    if not plain:
        return []
    forms = [plain]
    if "," in plain:
        last, _, first = plain.partition(",")
        forms += [re.sub(r"[\W_]", "", plain), f"{first.strip()} {last.strip()}"]
    elif " " in plain:
        *first, last = plain.split()
        forms.append(re.sub(r"[\W_]", "", last + "".join(first)))
    return forms


def _column(head: Sequence[str], name: str, template: Path) -> int:
    """Find an assignment's column: `name`, `Name (123)`, with or without the number of the lesson."""
    wanted = {_bare(name), _bare(re.sub(r"^\d\d_", "", name))}
    found = [i for i, title in enumerate(head) if title == name] or [
        i for i, title in enumerate(head) if _bare(re.sub(r"\s*\(\d+\)$", "", title)) in wanted
    ]
    if len(found) != 1:
        raise ValueError(f"{template}: wanted one column for {name}, got {len(found)} of: {', '.join(head)}")
    return found[0]


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _by_name(head: Sequence[str], names: Sequence[str], template: Path) -> int:
    found = [i for i, title in enumerate(head) if title.strip().casefold() in names]
    if len(found) != 1:
        raise ValueError(f"{template}: name the column of the grades with --moodle-column; it has: {', '.join(head)}")
    return found[0]


def _all_participants(rows: Sequence[Sequence[str]], column: int) -> bool:
    entries = [row[column].strip() for row in rows[1:] if len(row) > column]
    return bool(entries) and all(PARTICIPANT.match(entry) and not entry[0].isdigit() for entry in entries)

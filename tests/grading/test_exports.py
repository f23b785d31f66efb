"""Marks in the files of other systems: what is written, what stays empty, and what no student's name can do."""

import csv
import io
import json
import stat
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

import course_lib
from course_lib.grading import exports, gradebook, gradescope, late

ROOT = Path(course_lib.__file__).parent.parent


def record(student, points, status="graded", key="", exercise="03_x", **more):
    question = {
        "exercise": "x/f",
        "title": "F",
        "status": "right" if points == 4 else "wrong",
        "points": points,
        "max_points": 4.0,
        "text": "What was found.",
        "mistake": None if points == 4 else "wrong_axis",
        "advice": [["Where to look", "At the axis."]],
        "remark": None,
        "passed": 1,
        "probes": 2,
        "hidden_text": "",
    }
    values = {"student": student, "exercise": exercise, "status": status, "points": points, "max_points": 4.0}
    values |= {"questions": [question], "notes": [], "output": "", "key": key, "handed_in": 0.0, "tier": "B"}
    return late.with_late({**values, **more}, {}, None)


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def test_results_are_quoted_and_safe_and_what_is_not_graded_is_empty(tmp_path):
    names = ["Smith, Jr", '=HYPERLINK("http://x")', "+1", "-1", "@x", "\t=1", '"quoted"', "李 小龙", " =1"]
    records = [record(name, 2.5) for name in names] + [record("late one", None, "not_graded"), record("zero", 0.0)]
    exports.write_results(tmp_path / "results.csv", records)
    head, *rows = rows_of(tmp_path / "results.csv")
    assert head[:5] == ["student", "exercise", "points", "max_points", "status"]
    assert all(len(row) == len(head) for row in rows) and len(rows) == 11
    assert not [row[0] for row in rows if row[0].strip()[:1] in "=+-@"]
    assert rows[0][0] == "Smith, Jr" and rows[7][0] == "李 小龙"
    assert [row[2] for row in rows[-2:]] == ["", "0"] and rows[-2][4] == "not_graded"


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,03 X (4711),Other (12),Final Score
    Points Possible,,,,,4,10,(read only)
"Lovelace, Ada",101,u1,ada@x.org,S1,,7,70
"Bo, Bo",102,u2,bo@x.org,S1,3,,
"Nobody, No",103,u3,no@x.org,S1,1,2,3
"Student, Test",,,,S1,,,
"""


def test_canvas_gets_its_own_file_back_with_one_column_filled(tmp_path):
    (tmp_path / "t.csv").write_text(CANVAS)
    records = [record("lovelaceada", 4.0, key="101"), record("bo@x.org", 2.25), record("stranger", 1.0)]
    records += [record("Nobody, No", None, "not_graded")]
    left = exports.fill_canvas(tmp_path / "t.csv", tmp_path / "out.csv", records, "03_x")
    before, after = rows_of(tmp_path / "t.csv"), rows_of(tmp_path / "out.csv")
    assert [row[5] for row in after] == ["03 X (4711)", "4", "4", "2.25", "1", ""]
    assert [row[:5] + row[6:] for row in after] == [row[:5] + row[6:] for row in before]
    assert left == ["stranger"]


def test_canvas_names_match_as_its_zip_writes_them(tmp_path):
    (tmp_path / "t.csv").write_text(CANVAS)
    exports.fill_canvas(tmp_path / "t.csv", tmp_path / "out.csv", [record("lovelaceada", 4.0)], "03_x")
    assert rows_of(tmp_path / "out.csv")[2][5] == "4"


def test_two_people_of_one_name_get_no_mark_by_it(tmp_path):
    (tmp_path / "t.csv").write_text(CANVAS.replace('"Bo, Bo"', '"Lovelace, Ada"'))
    records = [record("Lovelace, Ada", 4.0), record("lovelaceada", 1.0)]
    assert exports.fill_canvas(tmp_path / "t.csv", tmp_path / "out.csv", records, "03_x")
    assert "1" not in [row[5] for row in rows_of(tmp_path / "out.csv")[2:4]]


def test_a_canvas_file_without_the_column_is_refused_with_those_that_it_has(tmp_path):
    (tmp_path / "t.csv").write_text(CANVAS)
    with pytest.raises(ValueError, match=r"04_y.*Other \(12\)"):
        exports.fill_canvas(tmp_path / "t.csv", tmp_path / "out.csv", [], "04_y")
    exports.fill_canvas(tmp_path / "t.csv", tmp_path / "out.csv", [record("u1", 3.0)], "03_x", "Other (12)")
    assert rows_of(tmp_path / "out.csv")[2][6] == "3"


@pytest.mark.parametrize(
    ("head", "column"),
    [
        ("Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments", ""),
        (
            "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert,Feedback als Kommentar",
            "",
        ),
        ("Id,Nome,Email,Stato,Punti,Massimo,Ultima modifica,Commento", "Punti"),
    ],
)
def test_moodle_gets_its_own_worksheet_back_in_whatever_language(tmp_path, head, column):
    lines = [
        f"Participant {n},{name},{name[0]}@x.org,,{grade},4,," for n, name, grade in ((7, "Ada L", ""), (8, "Bo B", 2))
    ]
    (tmp_path / "t.csv").write_text("\ufeff" + "\n".join([head, *lines]) + "\n", encoding="utf-8")
    records = [record("Ada L", 3.5, key="7"), record("b@x.org", 4.0, key="99"), record("Eve", 0.0, key="5")]
    left = exports.fill_moodle(tmp_path / "t.csv", tmp_path / "out.csv", records, "03_x", column)
    rows = rows_of(tmp_path / "out.csv")
    assert rows[0] == head.split(",")
    assert [row[4] for row in rows[1:]] == ["3.5", "2"] or [row[4] for row in rows[1:]] == ["3.5", "4"]
    assert "At the axis." in rows[1][7] and left[-1] == "Eve"
    assert (tmp_path / "out.csv").read_bytes().startswith("\ufeff".encode())


def test_a_late_policy_starts_from_the_points_as_earned_each_time():
    due = late.read_due(["2027-01-01T12:00"])
    handed_in = datetime(2027, 1, 2, 13).timestamp()
    kept = {**record("ada", 4.0), "handed_in": handed_in}
    once = late.with_late(kept, due, late.percent_per_day(10))
    assert (once["final_points"], once["points"], once["seconds_late"]) == (3.2, 4.0, 25 * 3600)
    assert late.with_late(once, due, late.percent_per_day(10))["final_points"] == 3.2
    assert late.with_late(once, late.read_due(["2027-01-03T12:00"]), late.percent_per_day(10))["final_points"] == 4.0
    assert (
        late.with_late(kept, late.read_due(["04_y=2027-01-01T12:00"]), late.percent_per_day(10))["final_points"] == 4.0
    )
    assert late.with_late({**kept, "points": None}, due, late.percent_per_day(10))["final_points"] is None


def test_a_policy_of_ones_own_can_only_take_away(tmp_path):
    (tmp_path / "p.py").write_text("def late(points, max_points, seconds_late):\n    return points + 5\n")
    due = late.read_due(["2026-01-01T12:00"])
    kept = {**record("ada", 2.0), "handed_in": datetime(2026, 1, 2).timestamp()}
    assert late.with_late(kept, due, late.read_policy(tmp_path / "p.py"))["final_points"] == 2.0
    (tmp_path / "q.py").write_text("x = 1")
    with pytest.raises(ValueError, match="late"):
        late.read_policy(tmp_path / "q.py")


def test_gradescope_reads_points_and_reasons_and_no_score_for_what_is_not_graded(tmp_path):
    found = gradescope.results([record("ada", 2.0), record("ada", None, "not_graded", exercise="04_y")])
    assert found["score"] == 2.0
    assert {key for test in found["tests"] for key in test} <= {
        "name",
        "score",
        "max_score",
        "status",
        "output",
        "visibility",
    }
    assert found["tests"][0] == {
        "name": "x/f: F",
        "score": 2.0,
        "max_score": 4.0,
        "status": "failed",
        "output": "What was found.\nWhere to look: At the axis.",
        "visibility": "visible",
    }
    assert "score" not in found["tests"][1]
    gradescope.write_first(tmp_path / "results" / "results.json")
    first = json.loads((tmp_path / "results" / "results.json").read_text())
    assert first["tests"] == [] and "Not graded yet" in first["output"]


def test_the_gradescope_bundle_has_its_two_programs_at_the_root(tmp_path):
    name = sorted(path.stem for path in (ROOT / "exercises").glob("[0-9][0-9]_*.ipynb"))[0]
    gradescope.write_bundle(tmp_path / "a.zip", ROOT, b"s" * 20, name)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = set(archive.namelist())
        assert {
            "setup.sh",
            "run_autograder",
            "secret",
            "course_lib/grading/command.py",
            f"solutions/{name}.ipynb",
        } <= names
        for program in ("setup.sh", "run_autograder"):
            assert archive.getinfo(program).external_attr >> 16 & stat.S_IXUSR
            assert archive.read(program).startswith(b"#!/usr/bin/env bash")
        assert name in archive.read("run_autograder").decode()
        assert archive.read("secret") == b"s" * 20 + b"\n"


def test_nbgraders_gradebook_takes_the_marks_through_its_own_api(tmp_path):
    api = pytest.importorskip("nbgrader.api", reason="no nbgrader: install the extra `test`")
    import warnings

    from course_lib.authoring import points

    name = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))[0]
    worth = {key: value for key, value in points(ROOT).items() if key.startswith(f"{name[3:]}/")}
    base = record("Lovelace, Ada", 1.0, exercise=name)
    questions = [{**base["questions"][0], "exercise": key, "points": value / 2} for key, value in worth.items()]
    records = [
        {**base, "questions": questions},
        {**base, "student": "Bo", "questions": [{**q, "points": None} for q in questions]},
    ]
    notebook = (ROOT / "exercises" / f"{name}.ipynb").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy's own about nbgrader
        for _ in range(2):  # a second time changes nothing
            files = {("Lovelace, Ada", name): notebook, ("Bo", name): b"damaged"}
            assert gradebook.write_gradebook(tmp_path, ROOT, records, files) == len(worth)
        with api.Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
            ada = book.find_submission(name, gradebook.student_id("Lovelace, Ada"))
            bo = book.find_submission(name, "Bo")
            assert ada.score == sum(worth.values()) / 2 and ada.max_score >= sum(worth.values())
            assert bo.needs_manual_grade
    laid = tmp_path / "autograded" / gradebook.student_id("Lovelace, Ada") / name / f"{name}.ipynb"
    cells = json.loads(laid.read_text())["cells"]
    keys = [cell["metadata"]["nbgrader"]["grade_id"] for cell in cells if "nbgrader" in cell["metadata"]]
    assert len(keys) == len(set(keys)) >= len(worth)


def test_a_csv_that_we_write_is_read_back_as_it_was():
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerow([exports.safe('a,"b"\nc'), exports.number(1 / 3)])
    assert next(csv.reader(io.StringIO(text.getvalue()))) == ['a,"b"\nc', "0.33"]

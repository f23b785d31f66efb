"""A class from beginning to end: nothing graded twice, nothing lost, whatever interrupts it; parts and merging."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import course_lib
from course_lib.grading import batch, command, compare, discover, report, sandbox
from course_lib.grading.budgets import NoSandbox

ROOT = Path(course_lib.__file__).parent.parent
RIGHT = ("import numpy as np", "def double(x):\n    return 2 * x", "def row_sums(t):\n    return t.sum(axis=1)")
WRONG = ("def double(x):\n    return x", *RIGHT[2:])


def write(folder, student, cells, name="98_toy.ipynb"):
    content = {"cells": [{"cell_type": "code", "metadata": {}, "source": source} for source in cells]}
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**content, "nbformat": 4, "nbformat_minor": 4}))
    return path


def test_an_unchanged_submission_is_not_graded_again_and_a_changed_one_is(tmp_path, grade_folder):
    work, out = tmp_path / "work", tmp_path / "out"
    for student in ("ada", "bo", "cy"):
        write(work, student, RIGHT)
    assert grade_folder(work, out)[1] == (3, 0)
    assert grade_folder(work, out)[1] == (0, 3)
    write(work, "bo", WRONG)
    records, counts = grade_folder(work, out)
    assert counts == (1, 2)
    assert [records[name]["points"] for name in ("ada", "bo", "cy")] == [3.0, 1.0, 3.0]


def test_a_damaged_record_is_made_again(tmp_path, grade_folder):
    write(tmp_path / "work", "ada", RIGHT)
    grade_folder(tmp_path / "work", tmp_path / "out")
    path = batch.record_path(tmp_path / "out", "ada", "98_toy")
    path.write_text(path.read_text()[:100])
    records, counts = grade_folder(tmp_path / "work", tmp_path / "out")
    assert counts == (1, 0) and records["ada"]["points"] == 3.0


def test_interrupted_it_keeps_what_is_done_and_goes_on(tmp_path, grade_folder):
    for i in range(12):
        write(tmp_path / "work", f"s{i:02}", RIGHT)

    def interrupt(done, skipped, total):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_folder(tmp_path / "work", tmp_path / "out", progress=interrupt)
    done = len(batch.read_records([tmp_path / "out"]))
    assert done >= 3
    records, counts = grade_folder(tmp_path / "work", tmp_path / "out", jobs=2)
    assert counts == (12 - done, done)
    assert {record["points"] for record in records.values()} == {3.0} and len(records) == 12


def test_killed_in_the_middle_it_leaves_whole_records_only(tmp_path):
    """The whole process is killed, and the same command finishes the class."""
    stem = next(iter(sorted((ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))))
    for i in range(6):
        target = tmp_path / "work" / f"s{i}" / stem.name
        target.parent.mkdir(parents=True)
        target.write_bytes(stem.read_bytes())
    line = [sys.executable, "-m", "course_lib.grading.command", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    line += ["--jobs", "1", "--only", stem.stem, *(["--allow-root"] if os.geteuid() == 0 else [])]
    first = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while time.monotonic() < end and first.poll() is None and not list(tmp_path.glob("out/submissions/*/*.json")):
        time.sleep(0.005)
    first.send_signal(signal.SIGKILL)
    said = first.communicate()[0].decode()
    if "no sandbox" in said:
        pytest.skip(said)
    kept = [json.loads(path.read_text()) for path in tmp_path.glob("out/submissions/*/*.json")]
    assert kept
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"unchanged {len(kept)}" in done.stdout
    assert len((tmp_path / "out" / "results.csv").read_text().splitlines()) == 7
    assert (tmp_path / "out" / "class.html").is_file() and len(list((tmp_path / "out" / "reports").glob("*.html"))) == 6


def test_a_sandbox_that_dies_is_started_anew_and_the_submission_is_not_to_blame(tmp_path, grade_folder, monkeypatch):
    write(tmp_path / "work", "ada", RIGHT)
    real, calls = compare.grade, []

    def dies_once(where, lesson, cells):
        calls.append(where)
        if len(calls) == 1:
            raise sandbox.Gone("gone")
        return real(where, lesson, cells)

    monkeypatch.setattr(compare, "grade", dies_once)
    records, _ = grade_folder(tmp_path / "work", tmp_path / "out")
    assert records["ada"]["points"] == 3.0 and len(calls) == 2


def test_what_the_grader_could_not_do_is_not_graded_and_tried_again(tmp_path, grade_folder, monkeypatch):
    write(tmp_path / "work", "ada", RIGHT)
    real = compare.grade

    def dies(*args):
        raise sandbox.Gone("gone")

    monkeypatch.setattr(compare, "grade", dies)
    records, _ = grade_folder(tmp_path / "work", tmp_path / "out")
    assert records["ada"]["status"] == "not_graded" and records["ada"]["points"] is None
    assert "grade again" in records["ada"]["notes"][0]
    monkeypatch.setattr(compare, "grade", real)
    records, counts = grade_folder(tmp_path / "work", tmp_path / "out")
    assert counts == (1, 0) and records["ada"]["points"] == 3.0


def test_the_time_of_a_whole_submission_is_bounded(toy, open_sandbox, quick):
    """Every cell spins past a blocked alarm; the questions that come too late are not graded, rather than 0."""
    from dataclasses import replace

    one = open_sandbox("B")
    budgets = one.budgets
    cell = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass"
    one.budgets = replace(budgets, submission_seconds=2.5)
    begun = time.monotonic()
    try:
        graded = compare.grade(one, toy, [(i, f"# {i}\n{cell}") for i in range(20)])
    finally:
        one.budgets = budgets
    assert time.monotonic() - begun < 8
    assert {(q.status, q.points) for q in graded.questions} == {("not_graded", None)}
    assert "used up" in graded.questions[0].text


def test_a_function_among_the_inputs_stays_on_the_trusted_side(open_sandbox, quick):
    """The submission can call it, with small arrays, as often as its time lasts, and learns nothing else of it."""
    import numpy as np

    from course_lib.checks.engine import Exercise, Mistake, Probe
    from course_lib.grading import probes

    def at_ten(f, x):
        return f(10 * x)

    def ask(rng):
        return [Probe("a function", (f, rng.normal(size=3))) for f in (np.sin, np.cos, np.negative)]

    wrong = Mistake("at_one", lambda f, x: f(x), what="No.", why="No.", where="No.")
    exercise = Exercise("toy/at_ten", "At ten", 1, "easy", "fill", at_ten, ask, (wrong,))
    lesson = probes.make_lesson("97_toy", [(exercise, 1.0)], b"s" * 20)
    answers = {
        "def at_ten(f, x): return f(10 * x)": (1.0, None),
        "def at_ten(f, x): return f(x)": (0.0, "at_one"),
        "def at_ten(f, x): return f.__name__": (0.0, None),
        "def at_ten(f, x): return f(np.zeros((100, 100)))": (0.0, None),
        "def at_ten(f, x): return f('no array')": (0.0, None),
        "def at_ten(f, x):\n    while True: f(x)": (0.0, None),
        "def at_ten(f, x): return f(f, x)": (0.0, None),
    }
    for cell, wanted in answers.items():
        question = compare.grade(open_sandbox("B"), lesson, [(1, "import numpy as np"), (2, cell)]).questions[0]
        assert (question.points, question.mistake) == wanted, (cell, question)


def test_the_parts_of_a_class_are_disjoint_and_complete(tmp_path):
    for i in range(60):
        write(tmp_path, f"student {i}", RIGHT)
    found, _ = discover.find_submissions(tmp_path, ["98_toy"])
    parts = [{s.student for s in found if batch.in_shard(s, (i, 4))} for i in range(4)]
    assert sum(map(len, parts)) == 60 and len(set.union(*parts)) == 60
    assert min(map(len, parts)) >= 5


def test_parts_merge_to_what_one_run_gives(tmp_path, grade_folder, capsys):
    for i in range(8):
        write(tmp_path / "work", f"s{i}", RIGHT if i % 2 else WRONG)
    whole, _ = grade_folder(tmp_path / "work", tmp_path / "whole")
    for part in range(2):  # each part sees a share of the folder
        for i in range(8):
            if i % 4 // 2 == part:
                write(tmp_path / f"work{part}", f"s{i}", RIGHT if i % 2 else WRONG)
        grade_folder(tmp_path / f"work{part}", tmp_path / f"part{part}")
    line = ["merge", str(tmp_path / "part0"), str(tmp_path / "part1"), "--out", str(tmp_path / "all")]
    assert command.main(_options(line)) == 0
    assert "8 records of 2 parts" in capsys.readouterr().out
    merged = {record["student"]: record["points"] for record in batch.read_records([tmp_path / "all"])}
    assert merged == {student: record["points"] for student, record in whole.items()}
    assert len((tmp_path / "all" / "results.csv").read_text().splitlines()) == 9


def _options(line):
    import argparse

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(line)


def test_a_part_wants_the_secret_that_all_parts_share(tmp_path, capsys):
    assert command.main(_options([str(tmp_path), "--out", str(tmp_path / "out"), "--shard", "0/2"])) == 2
    assert "--secret" in capsys.readouterr().err
    assert command.main(_options([str(tmp_path), "--out", str(tmp_path / "out"), "--shard", "2/2"])) == 2


def test_root_is_refused_unless_it_is_allowed(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(NoSandbox, match="--allow-root"):
        sandbox.start("auto", sandbox.Budgets())


def test_tier_c_wants_to_be_trusted():
    with pytest.raises(NoSandbox, match="--trust-submissions"):
        sandbox.start("C", sandbox.Budgets(), allow_root=True)


def test_without_any_sandbox_it_says_why_and_what_to_do(monkeypatch):
    def nothing(*args):
        raise NoSandbox("tier B does not start here: this kernel has no Landlock")

    monkeypatch.setattr(sandbox, "Sandbox", nothing)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    with pytest.raises(NoSandbox, match=r"apt install bubblewrap.*Landlock.*--trust-submissions"):
        sandbox.start("auto", sandbox.Budgets(), allow_root=True)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    from course_lib.grading.probes import read_secret

    first = read_secret(tmp_path / "secret")
    assert read_secret(tmp_path / "secret") == first and len(first) == 64
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0
    (tmp_path / "short").write_text("abc")
    with pytest.raises(ValueError, match="16 letters"):
        read_secret(tmp_path / "short")


def test_tier_c_without_fork_grades_as_well(toy, quick):
    """The way of macOS and Windows: a new process for each submission, on pipes."""
    from course_lib.grading import cold
    from course_lib.grading.budgets import Budgets

    with pytest.raises(NoSandbox, match="container"):
        cold.start("auto", Budgets(), trust=False)
    one = cold.start("auto", Budgets(cell_seconds=0.5, patience=3.0), True, ["numpy"])
    cells = [*enumerate(RIGHT, start=1), (4, "import os\nos._exit(1)")]
    graded = compare.grade(one, toy, cells)
    one.stop()
    assert [q.points for q in graded.questions] == [2.0, 1.0] and graded.attempts == 2
    assert "no sandbox" in one.description


def test_grading_on_a_dask_cluster_gives_the_same_records(tmp_path):
    distributed = pytest.importorskip("distributed", reason="no Dask: pip install dask[distributed]")
    from course_lib.grading import far, probes

    lessons = probes.find_lessons(ROOT, b"x" * 32)
    stem = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))[0]
    for i in range(4):
        target = tmp_path / "work" / f"s{i}" / f"{stem}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_bytes((ROOT / "solutions" / f"{stem}.ipynb").read_bytes())
    found, _ = discover.find_submissions(tmp_path / "work", [stem])
    settings = batch.Settings(allow_root=os.geteuid() == 0)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address
        chosen = {stem: lessons[stem]}
        assert far.grade_class(found, chosen, tmp_path / "out", settings, address, b"x" * 32) == (4, 0)
        assert far.grade_class(found, chosen, tmp_path / "out", settings, address, b"x" * 32) == (0, 4)
    assert {record["points"] for record in batch.read_records([tmp_path / "out"])} == {lessons[stem].max_points}


def test_dask_that_is_not_there_is_said_so(tmp_path, monkeypatch):
    from course_lib.grading import far

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"attention-course\[dask\]"):
        far.grade_class([], {}, tmp_path, batch.Settings(), "tcp://127.0.0.1:1", b"")


def test_progress_says_how_long_it_will_take(capsys, monkeypatch):
    show = command.Progress()
    show.begun -= 100
    show(50, 10, 160)
    assert "60 of 160, about 3 min 20 s left" in capsys.readouterr().out


def test_the_pages_load_nothing_and_escape_what_students_wrote(tmp_path, grade_folder):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    path = write(tmp_path / "work", "a & b <b>", [*RIGHT[:1], f"print({evil!r})\nraise ValueError({evil!r})", WRONG[0]])
    assert path.is_file()
    records, _ = grade_folder(tmp_path / "work", tmp_path / "out")
    from course_lib.grading.late import with_late

    full = [with_late(record, {}, None) for record in records.values()]
    for page in (report.student_page("a & b <b>", full), report.class_page(full)):
        assert "<script" not in page and "<img" not in page and "http" not in page.replace("http-equiv", "")
        assert 'name="viewport"' in page and "aria-label=" in page and "tier B" in page.replace("tier B:", "tier B")
    page = report.student_page("a & b <b>", full)
    assert "a &amp; b &lt;b&gt;" in page and "unchanged" in page and "Look again." in page
    assert report.slug("a & b <b>") not in (".", "..")


def test_the_inputs_that_count_are_shown_only_when_asked_for(tmp_path, grade_folder):
    write(tmp_path / "work", "ada", ["def double(x):\n    return 2 * x if len(x) < 6 else x", RIGHT[2]])
    records, _ = grade_folder(tmp_path / "work", tmp_path / "out")
    record = {**records["ada"], "final_points": 2.5, "seconds_late": 0.0}
    hidden = record["questions"][0]["hidden_text"]
    assert hidden and report.marked_up(hidden) not in report.student_page("ada", [record])
    assert report.marked_up(hidden) in report.student_page("ada", [record], show_inputs=True)


def test_a_learners_own_record_is_kept_and_shown(tmp_path, monkeypatch):
    from course_lib import progress
    from course_lib.checks.engine import find_exercises
    from course_lib.grading import learner

    exercises = list(find_exercises().values())
    first = exercises[0]
    file = tmp_path / "my_work" / "progress.sqlite"
    verdict = SimpleNamespace(
        exercise_id=first.id, status="wrong_value", mistake=first.mistakes[0].id, passed_probes=1, probes=9
    )
    assert progress.read(file) == []
    progress.remember(verdict, file)  # not in a notebook: nothing is written
    assert not file.exists()
    file.parent.mkdir()
    progress.write(verdict, file)
    assert progress.standing(progress.read(file), exercises)[0]["state"] == "tried"
    page = learner.page(progress.standing(progress.read(file), exercises), exercises)
    assert report.marked_up(first.mistakes[0].where) in page
    progress.write(SimpleNamespace(**{**vars(verdict), "status": "passed", "mistake": None}), file)
    row = progress.standing(progress.read(file), exercises)[0]
    assert (row["state"], row["tries"]) == ("solved", 2)
    file.write_bytes(b"no database at all, but a text of more than a hundred letters " * 3)
    assert progress.read(file) == []


def test_a_record_that_cannot_be_written_disturbs_no_check(tmp_path, monkeypatch):
    from course_lib import progress

    (tmp_path / "exercises").mkdir()
    (tmp_path / "my_work").write_text("a file where the folder should be")
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    progress.remember(SimpleNamespace(), tmp_path / "my_work" / "progress.sqlite")

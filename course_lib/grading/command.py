"""The commands `grade`, `grade merge` and `grade gradescope`: from a folder of submissions to marks and reports."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from course_lib.grading.budgets import ROOT, Budgets, NoSandbox

EXAMPLES = """\
examples:
  grade submissions/ --out results --jobs 4      grade a folder, or a zip from Canvas or Moodle
  grade submissions/ --out results               again: only what is new or has changed
  grade submissions/ --out part0 --shard 0/20    one of twenty machines, each with the same --secret
  grade merge part*/ --out results               put the parts together, write marks and reports
  grade results --out results --canvas-template canvas.csv --only 03_worked_softmax
  grade gradescope --only 03_worked_softmax --out autograder.zip
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `grade`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.add_argument(
        "paths", nargs="+", metavar="SUBMISSIONS", help="a folder, zip or notebook; or merge RESULTS; or gradescope"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="RESULTS", help="where records and reports go")
    parser.add_argument("--jobs", type=int, default=_cores(), help="sandboxes at a time (default: one a core)")
    parser.add_argument("--only", action="append", default=[], metavar="NN", help="only this exercise (03, 03_...)")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="seeds the probes (default: RESULTS/secret)")
    parser.add_argument("--shard", metavar="I/N", help="only part I of N, counted from 0; then grade merge")
    safety = parser.add_argument_group("the sandbox")
    safety.add_argument("--tier", choices=("auto", "A", "B", "C"), default="auto", help="default: the strongest here")
    safety.add_argument("--trust-submissions", action="store_true", help="no sandbox: run them as your own code")
    safety.add_argument("--allow-root", action="store_true", help="grade as root, in a machine made for it")
    for field in fields(Budgets):
        name = f"--{field.name.replace('_', '-')}"
        safety.add_argument(
            name, type=type(field.default), default=field.default, metavar="N", help=field.metadata["what"]
        )
    marks = parser.add_argument_group("marks and reports")
    marks.add_argument(
        "--due",
        action="append",
        default=[],
        metavar="TIME",
        help="2027-01-31T23:59, or NN_STEM=TIME for one",
    )
    marks.add_argument("--late-percent", type=float, metavar="P", help="taken off for each day begun after --due")
    marks.add_argument(
        "--late-policy", type=Path, metavar="FILE", help="Python: late(points, max_points, seconds_late)"
    )
    marks.add_argument("--show-inputs", action="store_true", help="show in the reports the inputs that count")
    marks.add_argument("--canvas-template", type=Path, metavar="CSV", help="Canvas's own export, to fill")
    marks.add_argument("--canvas-column", default="", metavar="NAME", help="where it is not named like the exercise")
    marks.add_argument("--moodle-template", type=Path, metavar="CSV", help="Moodle's grading worksheet, to fill")
    marks.add_argument("--moodle-column", default="", metavar="NAME", help="where it is not named Grade")
    marks.add_argument("--gradescope", type=Path, metavar="JSON", help="write Gradescope's results.json here")
    marks.add_argument("--nbgrader", type=Path, metavar="COURSE", help="write marks into this nbgrader course")
    far = parser.add_argument_group("beyond one machine")
    far.add_argument("--executor", choices=("threads", "dask"), default="threads")
    far.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask cluster, such as tcp://host:8786")


def grade(extra: Sequence[str], known: argparse.Namespace) -> int:
    """Grade a class: safe against what the submissions do, and nothing is lost."""
    return main(known)


def main(known: argparse.Namespace) -> int:
    """Do what the options say and return the exit status: 0, or 2 for a wrong wish, 3 for want of a sandbox."""
    try:
        if known.paths[0] == "merge":
            return _merge(known)
        if known.paths[0] == "gradescope":
            return _bundle(known)
        return _grade(known)
    except NoSandbox as error:
        print(f"grade: {error}", file=sys.stderr)
        if known.gradescope:
            from course_lib.grading import batch, gradescope

            batch.write_json(known.gradescope, gradescope.results([], f"Not graded: {error}"))
        return 3
    except (ValueError, FileNotFoundError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2


def _grade(known: argparse.Namespace) -> int:
    from course_lib.grading import batch, gradescope, probes
    from course_lib.grading.discover import find_submissions

    if known.gradescope:
        gradescope.write_first(known.gradescope)
    place = Path(known.paths[0])
    shard = _shard(known.shard)
    if shard and not known.secret:
        raise ValueError("--shard: wanted --secret FILE as well, the same for all parts, or each part asks otherwise")
    known.out.mkdir(mode=0o700, parents=True, exist_ok=True)  # marks are nobody else's
    if (place / "submissions").is_dir() and place.resolve() == known.out.resolve():
        kept = [record for record in batch.read_records([place]) if _is_one_of(record["exercise"], known.only)]
        return _write_all(known, kept, {})  # only write them out again
    secret = probes.read_secret(known.secret or known.out / "secret")
    names = _only(probes.lesson_names(ROOT), known.only)
    found, passed_over = find_submissions(place, names)
    for line in passed_over[:20]:
        print(f"passed over: {printable(line)}")
    if len(passed_over) > 20:
        print(f"passed over: {len(passed_over) - 20} more")
    if shard:
        found = [submission for submission in found if batch.in_shard(submission, shard)]
    if known.gradescope:
        found = [replace(submission, student="submission") for submission in found]
    print(f"{len(found)} submissions of {len({s.student for s in found})} students")
    lessons = probes.find_lessons(ROOT, secret, {submission.lesson for submission in found})
    for bench in (bench for lesson in lessons.values() for bench in lesson.benches if bench.untold):
        print(f"{bench.exercise.id}: its inputs do not tell apart: {', '.join(bench.untold)}")
    budgets = Budgets(**{field.name: getattr(known, field.name) for field in fields(Budgets)})
    settings = batch.Settings(known.tier, known.trust_submissions, known.allow_root, known.jobs, budgets)
    show = Progress()
    try:
        if known.executor == "dask":
            from course_lib.grading import far

            done, skipped = far.grade_class(found, lessons, known.out, settings, known.scheduler, secret, show)
        else:
            done, skipped = batch.grade_class(found, lessons, known.out, settings, show)
    except KeyboardInterrupt:
        print("\nStopped. What is graded is kept: the same command goes on from there.")
        return 130
    show.end()
    print(f"graded {done}, unchanged {skipped}")
    if shard:
        print(f"This was part {shard[0]} of {shard[1]}; when all are there: grade merge RESULTS ... --out ALL")
        return 0
    wanted = {(submission.student, submission.lesson): submission for submission in found}
    records = batch.read_records([known.out]) if found else []
    return _write_all(known, [r for r in records if (r["student"], r["exercise"]) in wanted], wanted)


def _merge(known: argparse.Namespace) -> int:
    from course_lib.grading import batch

    parts = [Path(path) for path in known.paths[1:]]
    if not parts:
        raise ValueError("merge: wanted the folders of the parts, got none")
    records = batch.read_records(parts)
    for part in parts:
        if part.resolve() != known.out.resolve():
            for path in sorted((part / "submissions").glob("*/*.json")):
                target = known.out / path.relative_to(part)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    print(f"{len(records)} records of {len(parts)} parts")
    return _write_all(known, records, {})


def _write_all(known: argparse.Namespace, records: Sequence[dict[str, Any]], submissions: dict[Any, Any]) -> int:
    """Write marks and reports from the records."""
    from course_lib.grading import exports, gradescope, late, report
    from course_lib.grading.batch import write_json

    policy = late.read_policy(known.late_policy) if known.late_policy else None
    if known.late_percent is not None:
        policy = late.percent_per_day(known.late_percent)
    due = late.read_due(known.due)
    records = [late.with_late(record, due, policy) for record in records]
    exports.write_results(known.out / "results.csv", records)
    exports.write_questions(known.out / "questions.csv", records)
    pages = report.write_reports(known.out, records, known.show_inputs)
    if known.gradescope:
        write_json(known.gradescope, gradescope.results(records, "" if records else "No notebook was found."))
    for kind in ("canvas", "moodle"):
        template = getattr(known, f"{kind}_template")
        if template:
            fill = exports.fill_canvas if kind == "canvas" else exports.fill_moodle
            names = {record["exercise"] for record in records}
            for name in sorted(names):
                column = getattr(known, f"{kind}_column")
                if len(names) > 1 and kind == "moodle":
                    raise ValueError("--moodle-template: a worksheet is of one exercise: name it with --only")
                left = fill(template, known.out / f"{kind}.csv", records, name, column)
                template = known.out / f"{kind}.csv"  # the next column goes into the same file
                for student in left:
                    print(f"{kind}: {printable(student)} of {name} is not in the template")
    if known.nbgrader:
        _into_gradebook(known.nbgrader, records, submissions)
    counts = {
        status: sum(r["status"] == status for r in records) for status in ("graded", "partly_graded", "not_graded")
    }
    print(", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items() if count) or "nothing")
    print(f"{known.out / 'results.csv'}\n{pages[0]}\n{len(pages) - 1} reports in {known.out / 'reports'}")
    return 0


def _into_gradebook(course: Path, records: Sequence[dict[str, Any]], submissions: dict[Any, Any]) -> None:
    from course_lib.grading import gradebook
    from course_lib.grading.notebook import Unreadable

    files = {}
    for key, submission in submissions.items():
        try:
            files[key] = submission.read()
        except Unreadable:
            continue
    written = gradebook.write_gradebook(course, ROOT, records, files)
    print(f"{written} marks in {course / 'gradebook.db'}; written answers wait in formgrader")


def _bundle(known: argparse.Namespace) -> int:
    from course_lib.grading import gradescope, probes

    secret = probes.read_secret(known.secret or Path("secret"))
    lessons = _only(probes.lesson_names(ROOT), known.only)
    if len(lessons) != 1:
        raise ValueError(f"gradescope: wanted one exercise with --only, got {len(lessons)}")
    gradescope.write_bundle(known.out, ROOT, secret, next(iter(lessons)))
    print(f"{known.out}: upload it as the autograder; it holds the secret and the solutions, keep it private")
    return 0


def progress_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `progress`."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the hints as well")


def progress(extra: Sequence[str], known: argparse.Namespace) -> int:
    """Show how far you are: exercises solved, tries, and mistakes to look at again."""
    from course_lib import progress as record
    from course_lib.grading import learner
    from course_lib.grading.probes import lesson_names

    exercises = [exercise for own in lesson_names(ROOT).values() for exercise in own]
    rows = record.standing(record.read(record.FILE), exercises)
    signs = {"solved": "✓", "tried": "◐", "seen": "…", "open": " "}
    stem = ""
    for row in rows:
        if row["exercise"].split("/")[0] != stem:
            stem = row["exercise"].split("/")[0]
            own = [other for other in rows if other["exercise"].startswith(f"{stem}/")]
            print(f"\n{stem.replace('_', ' ')}: {sum(o['state'] == 'solved' for o in own)} of {len(own)}")
        mistakes = f"  seen: {', '.join(row['mistakes'])}" if row["mistakes"] and row["state"] != "solved" else ""
        tries = f"  {row['tries']} tries" if row["tries"] > 1 else ""
        print(f"  {signs[row['state']]} {row['exercise'].split('/')[1]}{tries}{mistakes}")
    print(f"\n{sum(row['state'] == 'solved' for row in rows)} of {len(rows)} exercises solved.")
    if not record.FILE.is_file():
        print("No check has been recorded yet: each check(...) in a notebook is.")
    if known.html:
        known.html.write_text(learner.page(rows, exercises), encoding="utf-8")
        print(known.html)
    return 0


def _only(lessons: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return lessons
    chosen = {}
    for name in names:
        found = [lesson for lesson in lessons if _is_one_of(lesson, [name])]
        if not found:
            raise ValueError(f"--only: wanted one of {', '.join(lessons)}; got {name}")
        chosen |= {lesson: lessons[lesson] for lesson in found}
    return chosen


def _is_one_of(lesson: str, names: Sequence[str]) -> bool:
    return not names or any(name in (lesson, lesson[:2], lesson[3:]) for name in names)


def printable(text: str) -> str:
    """Take out of a name what would steer a terminal.

    >>> printable("\\x1b[2Jada")
    '?[2Jada'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _shard(text: str | None) -> tuple[int, int] | None:
    if not text:
        return None
    part, _, count = text.partition("/")
    if not (part.isdigit() and count.isdigit() and int(part) < int(count)):
        raise ValueError(f"--shard: wanted I/N with I from 0 to N - 1, such as 0/20, got {text}")
    return int(part), int(count)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Progress:
    """Says how far it is and how long it will take: one line on a terminal, a line now and then in a file."""

    def __init__(self) -> None:
        self.begun, self.said, self.terminal = time.monotonic(), 0.0, sys.stdout.isatty()

    def __call__(self, done: int, skipped: int, total: int) -> None:
        """Print the state, not too often."""
        now, left = time.monotonic(), total - done - skipped
        if now - self.said < (0.2 if self.terminal else 10) or not done:
            return
        self.said = now
        seconds = left * (now - self.begun) / done
        text = f"{done + skipped} of {total}, about {seconds // 60:.0f} min {seconds % 60:.0f} s left"
        print(f"\r{text:<60}" if self.terminal else text, end="" if self.terminal else "\n", flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self.terminal and self.said:
            print()


if __name__ == "__main__":
    own = argparse.ArgumentParser(prog="grade", description=grade.__doc__)
    add_arguments(own)
    sys.exit(main(own.parse_args()))

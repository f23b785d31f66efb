"""What grading costs: CPU seconds a submission, ours against `nbgrader autograde`, and a class from beginning to end.

    python benchmarks/grading_speed.py [--class 3000] [--jobs 2] [--no-nbgrader] [--allow-root]

CPU seconds of whole process trees are compared, since wall time depends on what else the machine does. Both graders get
the same ten notebooks in one run, each in one batch. The first part is overhead: the exercises compute next to nothing,
and with a second of real work in a notebook the lead shrinks to that second.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
ENVIRONMENT = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "COURSE_PROGRESS": "off"}
ENVIRONMENT["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def main() -> None:
    """Run the parts that were asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--class", dest="size", type=int, default=3000, help="submissions of the class; 0 for none")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-nbgrader", action="store_true")
    parser.add_argument("--tier", default="auto")
    parser.add_argument("--allow-root", action="store_true")
    known = parser.parse_args()
    more = ["--tier", known.tier, *(["--allow-root"] if known.allow_root else [])]
    solutions = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ten = _write_class(place / "ten", solutions[:1], 10)
        ours = _run(_grade(ten, place / "ten results", 1, more))
        many = _write_class(place / "many", solutions[:1], 110)
        further = (_run(_grade(many, place / "many results", 1, more))[0] - ours[0]) / 100
        print(f"the exercise is {solutions[0].stem}\n")
        print(f"{'ten submissions in one batch':<44}{'CPU s':>8}{'each':>8}{'wall s':>8}")
        if not known.no_nbgrader:
            theirs = _nbgrader(place / "course", solutions[0], ten)
            print(f"{'nbgrader autograde':<44}{theirs[0]:>8.1f}{theirs[0] / 10:>8.2f}{theirs[1]:>8.1f}")
        print(f"{'course grade, with its start and reports':<44}{ours[0]:>8.1f}{ours[0] / 10:>8.2f}{ours[1]:>8.1f}")
        print(f"{'course grade, each further submission':<44}{'':>8}{further:>8.3f}")
        if not known.no_nbgrader:
            print(f"\n{theirs[0] / 10 / further:.0f} times less CPU for each submission")
        if known.size:
            students = -(-known.size // len(solutions))
            whole = _write_class(place / "class", solutions, students)
            cpu, wall = _run(_grade(whole, place / "class results", known.jobs, more))
            count = students * len(solutions)
            print(f"\na class: {students} students, {count} submissions, {known.jobs} sandboxes at a time")
            print(f"{wall:.0f} s on the clock, {cpu:.0f} CPU s, {1000 * cpu / count:.0f} ms each, reports included")
            again = _run(_grade(whole, place / "class results", known.jobs, more))
            print(f"the same again, nothing changed: {again[1]:.0f} s")


def _grade(submissions: Path, out: Path, jobs: int, more: list[str]) -> list[str]:
    line = [sys.executable, "-m", "course_lib.grading.command", str(submissions), "--out", str(out)]
    return [*line, "--jobs", str(jobs), *more]


def _run(line: list[str], **more: object) -> tuple[float, float]:
    """Run a command; return the CPU seconds of its process tree, and the wall time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(line, env=ENVIRONMENT, cwd=more.get("cwd", ROOT), capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(line)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begun


def _write_class(folder: Path, solutions: list[Path], students: int) -> Path:
    """Write solutions as submissions, no two alike, every third with a mistake that many make."""
    for path in solutions:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for student in range(students):
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"])
                if student % 3 == 0 and cell["cell_type"] == "code":
                    cell["source"] = re.sub(r"keepdims=True", "keepdims=False", cell["source"])
            target = folder / f"student{student:04}" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            comment = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "own"}
            own = [*notebook["cells"], {**comment, "source": f"# {student}"}]
            target.write_text(json.dumps({**notebook, "cells": own}), encoding="utf-8")
            notebook = json.loads(path.read_text(encoding="utf-8"))
    return folder


def _nbgrader(course: Path, solution: Path, submissions: Path) -> tuple[float, float]:
    """Grade the same notebooks with nbgrader, in one batch."""
    source = course / "source" / solution.stem / solution.name
    source.parent.mkdir(parents=True)
    shutil.copyfile(solution, source)
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'course'\n")
    nbgrader = [sys.executable, "-m", "nbgrader"]
    _run([*nbgrader, "generate_assignment", solution.stem], cwd=course)
    for path in submissions.glob("*/*.ipynb"):
        target = course / "submitted" / path.parent.name / solution.stem / solution.name
        target.parent.mkdir(parents=True)
        shutil.copyfile(path, target)
    return _run([*nbgrader, "autograde", solution.stem], cwd=course)


if __name__ == "__main__":
    main()

"""The command line: `python3 -m course_lib ...` in the checkout, or `course ...` where the package is installed.

At import time it needs the standard library alone, so that help is there before anything is installed and at once;
what a command needs is imported inside it.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from course_lib.bootstrap import ROOT, run_instead, split_wish
from course_lib.commands import train as training
from course_lib.commands import translate as translating
from course_lib.grading import command as grading

FIRST_LESSON = "notebooks/00_start_here.ipynb"
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
COMMANDS = {
    "lab": "read, run and solve: open JupyterLab",
    "test": "run every test, lesson and solution",
    "exercises": "list every exercise",
    "work": "copy an exercise into my_work/",
    "progress": "what you have solved, and what to look at again",
    "grade": "for instructors: grade a class",
    "build": "for authors: execute lessons, make the exercises from the solutions",
    "new": "for authors: begin a lesson and its solution",
    "train": "train a translator on number words or on your own text",
    "translate": "put a trained translator to work",
}
EPILOG = """\
Each command has its own --help. The first call makes .venv and installs the course into it; later ones start at once.
On Linux without an NVIDIA GPU it takes PyTorch's CPU build: --cpu and --gpu, after the command, choose otherwise.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments, _ = split_wish(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console that cannot show a √ is no reason to stop
    # What lab and test do not know belongs to JupyterLab and pytest, so they are not parsed any further.
    if arguments[:1] in (["lab"], ["test"]) and not {"-h", "--help"} & set(arguments[1:2]):
        known, extra = argparse.Namespace(run={"lab": lab, "test": suite}[arguments[0]]), arguments[1:]
    else:
        known, extra = parser().parse_args(arguments or ["--help"]), []
    try:
        return known.run(extra, known)
    except ModuleNotFoundError as error:
        print(f"course: {_missing(error)}", file=sys.stderr)
    except (ValueError, FileNotFoundError, FileExistsError) as error:
        print(f"course: {error}", file=sys.stderr)
    return 2


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    listed = [f"  {name:<10} {text}" for name, text in COMMANDS.items()]
    top = argparse.ArgumentParser(
        prog="course" if Path(sys.argv[0]).stem == "course" else "python3 -m course_lib",
        description="Attention, one cell at a time: a notebook course on attention and the transformer.",
        epilog="\n".join(["commands:", *listed, "", EPILOG]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND", prog=top.prog, help="one of those below")

    def add(name: str, run: Callable[..., int], **more: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, description=run.__doc__.split("\n")[0], **more)
        command.set_defaults(run=run)
        return command

    add("lab", lab, usage="%(prog)s [--cpu | --gpu] [any option of JupyterLab]")
    add("test", suite, usage="%(prog)s [--cpu | --gpu] [any option of pytest]")
    add("exercises", exercises)
    add("work", work).add_argument("number", metavar="NN", help="number of the lesson, such as 03")
    building = add("build", build)
    building.add_argument("numbers", metavar="NN", nargs="*", help="numbers of lessons; all of them if none is given")
    beginning = add("new", new)
    beginning.add_argument("number", metavar="NN", help="the number of the new lesson")
    beginning.add_argument("title", metavar='"TITLE"', help="its title, in quotation marks")
    for command in (training, translating):  # their imports are inside, too
        command.add_arguments(add(command.__name__.split(".")[-1], command.run))
    grading.add_arguments(add("grade", grading.grade))
    grading.progress_arguments(add("progress", grading.progress))
    return top


def lab(extra: list[str], known: argparse.Namespace | None = None) -> int:
    """Open JupyterLab on the first lesson; every option goes on to JupyterLab (--no-browser, --port 9000, ...)."""
    _require("jupyterlab")
    # Our own settings for JupyterLab's page: no question about news, no panels for setting up assignments.
    paths = [str(ROOT / "course_lib" / "jupyter"), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    return run_instead(lab_command(ROOT, extra))


def lab_command(root: Path, extra: list[str]) -> list[str]:
    """Return JupyterLab's command line: the checkout is its root, and it asks no server for news or updates."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--LabApp.extension_manager=readonly"]
    opens_something = any(argument.endswith(".ipynb") or "default_url" in argument for argument in extra)
    if not opens_something and (root / FIRST_LESSON).exists():
        command.append(f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}")
    return command + extra


def suite(extra: list[str], known: argparse.Namespace | None = None) -> int:
    """Run every test, doctest, lesson and solution; every option goes on to pytest (-k softmax, -x, a path, ...)."""
    for module in ("pytest", "nbval", "xdist", "beartype"):
        _require(module)
    environ = {**os.environ, **ONE_THREAD}  # two workers with two threads each take longer than with one each
    return subprocess.run(suite_command(ROOT, extra), cwd=ROOT, env=environ, check=False).returncode


def suite_command(root: Path, extra: list[str]) -> list[str]:
    """Return pytest's command line: the whole suite, or only the paths that `extra` names."""
    workers = max(1, min(4, _cores()))
    command = [sys.executable, "-m", "pytest", "-n", str(workers), "--dist", "loadfile"]
    command += ["--doctest-modules", "--jaxtyping-packages=course_lib,beartype.beartype"]
    if importlib.util.find_spec("torch") is None:
        command.append("--doctest-ignore-import-errors")  # no PyTorch is made for some machines
    command += ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(root / "tests" / "nbval.cfg")]
    command += ["--nbval-cell-timeout", "200"]
    if not any((root / argument.split("::")[0]).exists() for argument in extra):
        command += ["tests", "course_lib", "notebooks", "solutions"]
    return command + extra


def exercises(extra: list[str], known: argparse.Namespace | None = None) -> int:
    """List every exercise: its id, minutes, points and what it asks for."""
    from course_lib.authoring import lessons, points
    from course_lib.checks.engine import find_exercises

    worth = points(ROOT)
    place = {lesson.stem: lesson.number for lesson in lessons(ROOT)}
    found = sorted(find_exercises().values(), key=lambda exercise: place.get(exercise.id.split("/")[0], ""))
    rows = [
        (exercise.id, f"{exercise.minutes} min", f"{worth.get(exercise.id, 0):g}", exercise.title) for exercise in found
    ]
    print(table(("exercise", "time", "points", "what it asks for"), rows))
    total = sum(exercise.minutes for exercise in found)
    print(f"\n{len(rows)} exercises, {total} minutes, {sum(worth.values()):g} points")
    return 0


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Line columns up with two spaces between them.

    >>> print(table(("id", "what"), [("start_here/softmax", "a softmax")]))
    id                  what
    start_here/softmax  a softmax
    """
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    lines = ["  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)) for row in [heads, *rows]]
    return "\n".join(line.rstrip() for line in lines)


def build(extra: list[str], known: argparse.Namespace) -> int:
    """Execute lessons and solutions, make the exercises from the solutions, bring README's table up to date."""
    from course_lib import authoring

    authoring.build([_number(number) for number in known.numbers], ROOT)
    return 0


def work(extra: list[str], known: argparse.Namespace) -> int:
    """Copy an exercise into my_work/, where updates of the course never touch it; never overwrite one."""
    from course_lib import authoring

    path = authoring.work(_number(known.number), ROOT)
    print(f"Open it with  python3 -m course_lib lab {_shown(path)}")
    return 0


def new(extra: list[str], known: argparse.Namespace) -> int:
    """Begin a lesson, its solution and its checks from the templates, which pass the tests as they are."""
    from course_lib import authoring

    number = _number(known.number)
    print(*map(_shown, authoring.new(number, known.title, ROOT)), sep="\n")
    print(f"Now write them, then  python3 -m course_lib build {number}")
    return 0


def _number(text: str) -> str:
    return text.zfill(2) if text.isdigit() else text


def _shown(path: Path) -> str:
    path = Path(path)
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _require(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(name=module)


def _missing(error: ModuleNotFoundError) -> str:
    return (
        f"the package {error.name} is missing here. In the course's own environment: delete the folder .venv and type "
        "the command again. In an environment of yours: pip install -e '.[test]'"
    )


if __name__ == "__main__":
    sys.exit(main())

"""The command line: what it starts, what it hands on, and how it says that something is wrong."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib import authoring, cli
from course_lib.checks import engine

ROOT = Path(__file__).parent.parent


@pytest.fixture
def started(monkeypatch):
    """Collect command lines in place of running them."""
    commands = []
    monkeypatch.setattr(cli, "run_instead", lambda command: commands.append(command) or 0)
    monkeypatch.setattr(
        cli.subprocess, "run", lambda command, **more: commands.append(command) or SimpleNamespace(returncode=5)
    )
    return commands


def test_lab_opens_the_first_lesson_and_asks_for_no_news(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / cli.FIRST_LESSON).touch()
    command = cli.lab_command(tmp_path, [])
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--LabApp.default_url=/lab/tree/{cli.FIRST_LESSON}" in command
    assert "--LabApp.news_url=None" in command
    assert f"--ServerApp.root_dir={tmp_path}" in command


def test_lab_opens_what_was_asked_for(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / cli.FIRST_LESSON).touch()
    command = cli.lab_command(tmp_path, ["my_work/03_worked_softmax.ipynb"])
    assert command[-1] == "my_work/03_worked_softmax.ipynb"
    assert not [part for part in command if "default_url" in part]


def test_every_option_of_jupyterlab_is_one_that_it_knows():
    pytest.importorskip("jupyterlab")
    code = (
        "import sys; from jupyterlab.labapp import LabApp; app = LabApp(); app.parse_command_line(sys.argv[1:]); "
        "print(app.news_url, app.extension_manager, app.check_for_updates_class.__name__)"
    )
    options = [part for part in cli.lab_command(ROOT, []) if part.startswith("--LabApp")]
    done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["None", "readonly", "NeverCheckForUpdate"], done.stderr


@pytest.mark.parametrize("command", ["lab", "test"])
def test_unknown_options_go_on_in_their_order(started, command):
    extra = ["--no-browser", "--port", "9000", "--", "-x", "--ServerApp.token=a b"]
    cli.main([command, *extra])
    assert started[0][-len(extra) :] == extra


def test_the_suite_runs_everything_with_shapes_checked(started):
    cli.main(["test"])
    (command,) = started
    assert command[-4:] == ["tests", "course_lib", "notebooks", "solutions"]
    assert "--doctest-modules" in command
    assert "--nbval" in command
    assert "--jaxtyping-packages=course_lib,beartype.beartype" in command
    assert command[command.index("--dist") + 1] == "loadfile"  # a notebook's cells stay together


def test_a_path_replaces_the_whole_suite():
    assert cli.suite_command(ROOT, ["tests/test_cli.py::test_x", "-x"])[-2:] == ["tests/test_cli.py::test_x", "-x"]
    assert "solutions" not in cli.suite_command(ROOT, ["tests/test_cli.py"])
    assert "solutions" in cli.suite_command(ROOT, ["-k", "softmax"])


def test_pytests_exit_status_is_kept(started):
    assert cli.main(["test"]) == 5


def test_shapes_are_checked_in_this_run(request):
    jaxtyping = pytest.importorskip("jaxtyping")
    if not request.config.getoption("--jaxtyping-packages", None):
        pytest.skip("shapes are checked under  python3 -m course_lib test  only")
    import numpy as np

    from course_lib.reference.attention import soft_lookup

    with pytest.raises(jaxtyping.TypeCheckError):
        soft_lookup(np.ones(2), np.ones((3, 4)), np.ones((3, 4)))


def test_plain_shapes_reach_the_librarys_own_errors(plain_shapes):
    import numpy as np

    from course_lib.reference.attention import attention

    with pytest.raises(ValueError, match="same d_k"):
        attention(np.eye(2), np.eye(3), np.eye(3))


@pytest.mark.parametrize("error", [ValueError("number: wanted two digits"), FileNotFoundError("no lesson 77")])
def test_a_mistake_of_the_user_is_one_line_and_status_two(monkeypatch, capsys, error):
    def fails(*arguments):
        raise error

    monkeypatch.setattr(authoring, "work", fails)
    assert cli.main(["work", "77"]) == 2
    assert capsys.readouterr().err == f"course: {error}\n"


def test_a_missing_package_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["lab"]) == 2
    assert "course: the package jupyterlab is missing here" in capsys.readouterr().err


def test_numbers_may_be_written_without_their_zero(monkeypatch):
    asked = []
    monkeypatch.setattr(authoring, "build", lambda numbers, root: asked.append((numbers, root)) or [])
    assert cli.main(["build", "3", "00"]) == 0
    assert asked == [(["03", "00"], ROOT)]


def test_work_says_how_to_open_the_copy(monkeypatch, capsys):
    monkeypatch.setattr(authoring, "work", lambda number, root: root / "my_work" / f"{number}_a.ipynb")
    cli.main(["work", "3"])
    assert "lab my_work/03_a.ipynb" in capsys.readouterr().out


def test_exercises_are_listed_with_minutes_points_and_title(monkeypatch, capsys):
    exercise = SimpleNamespace(id="start_here/softmax", title="a softmax that survives 1,000", minutes=8)
    monkeypatch.setattr(engine, "find_exercises", lambda: {exercise.id: exercise})
    monkeypatch.setattr(authoring, "points", lambda root: {exercise.id: 2.0})
    assert cli.main(["exercises"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split(maxsplit=4) == ["start_here/softmax", "8", "min", "2", "a softmax that survives 1,000"]
    assert lines[-1] == "1 exercises, 8 minutes, 2 points"


def test_no_command_shows_the_help(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 0
    assert "commands:" in capsys.readouterr().out

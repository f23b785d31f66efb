"""The set-up's decisions, with a stand-in for pip; what pip itself does is not run here."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course_lib import __main__ as entry
from course_lib import bootstrap
from course_lib.bootstrap import Environment, Plan, SetupError, ensure, plan, split_wish

ROOT = Path(__file__).parent.parent
PYPROJECT = """\
[project]
name = "attention-course"
dependencies = ["numpy"]
[tool.course]
torch = "2.13.0"
[tool.ruff]
line-length = 120
"""
NETWORK = (
    "2026-01-31T12:00:00,000   Installing collected packages: setuptools\n"  # in a build's scratch environment
    "2026-01-31T12:00:01,000 Collecting numpy\n"
    "2026-01-31T12:00:02,000 ERROR: Failed to establish a new connection: [Errno 101] Network is unreachable\n"
)


class Stage(Environment):
    """An environment whose pip only writes down what it was asked, and ends as the test says."""

    def __init__(self, root):
        super().__init__(root)
        self.asked = []
        self.made = 0
        self.has_wheel = True
        self.outcome = lambda arguments: True
        self.says = ""

    def make(self):
        self.made += 1
        self.stamp_file.unlink(missing_ok=True)
        self.scripts.mkdir(parents=True, exist_ok=True)
        (self.folder / "pyvenv.cfg").write_text("version = 3.11.7\n")
        self.python.unlink(missing_ok=True)
        self.python.symlink_to(sys.executable)
        self.unfinished.touch()

    def pip(self, *arguments, quiet=False):
        if quiet:
            return self.has_wheel
        self.asked.append(arguments)
        assert self.unfinished.exists(), "pip runs only while the mark stands"
        self.log.write_text(self.says)
        return self.outcome(arguments)

    def targets(self):
        return [arguments[-1] for arguments in self.asked]


@pytest.fixture
def stage(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    bootstrap._settings.cache_clear()
    monkeypatch.setattr(bootstrap, "this_machine", lambda wish=None: plan("Linux", "x86_64", False, wish))
    monkeypatch.setattr(bootstrap, "_free", lambda folder: 10**12)
    yield Stage(tmp_path)
    bootstrap._settings.cache_clear()


def edit(stage, old, new):
    text = (stage.root / "pyproject.toml").read_text()
    assert old in text
    (stage.root / "pyproject.toml").write_text(text.replace(old, new))
    bootstrap._settings.cache_clear()


# --- which Python


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 8, 18), (3, 10, 13)])
def test_an_old_python_is_told_so(version):
    assert f"This is Python {version[0]}.{version[1]}, which is too old" in entry.refusal(version, [])


def test_a_python_newer_than_the_packages_is_told_so():
    assert "This is Python 3.15, which is too new" in entry.refusal((3, 15, 0), [])


def test_a_refused_python_names_one_that_is_installed():
    assert "type  python3.13 -m course_lib" in entry.refusal((3, 9), ["python3.13", "python3.11"])


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_a_supported_python_is_not_refused(minor):
    assert entry.refusal((3, minor, 2), []) is None


def test_the_entry_and_the_project_support_the_same_pythons():
    wanted = bootstrap._settings(ROOT / "pyproject.toml")["project"]["requires-python"]
    assert wanted == f">={entry._dotted(entry.OLDEST)},<3.{entry.NEWEST[1] + 1}"


@pytest.mark.parametrize("minor", [6, 7, 8, 9, 10])
def test_the_entry_can_be_read_by_an_old_python(minor):
    import ast

    for name in ("__main__.py", "__init__.py"):
        ast.parse((ROOT / "course_lib" / name).read_text(encoding="utf-8"), feature_version=(3, minor))


def test_the_entry_has_nothing_that_python_2_cannot_read():
    text = (ROOT / "course_lib" / "__main__.py").read_text(encoding="utf-8")
    assert text.isascii()
    import ast

    kinds = {type(node) for node in ast.walk(ast.parse(text))}
    assert not kinds & {ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Nonlocal}
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg) and node.annotation]


# --- which PyTorch


@pytest.mark.parametrize(
    ("system", "machine", "nvidia", "wish", "torch"),
    [
        ("Linux", "x86_64", False, None, "cpu"),
        ("Linux", "aarch64", False, None, "cpu"),
        ("Linux", "x86_64", True, None, "pypi"),
        ("Linux", "x86_64", True, "cpu", "cpu"),
        ("Linux", "x86_64", False, "gpu", "pypi"),
        ("Darwin", "arm64", False, None, "pypi"),
        ("Darwin", "arm64", False, "cpu", "pypi"),
        ("Darwin", "x86_64", False, None, "none"),
        ("Windows", "AMD64", False, None, "pypi"),
        ("Windows", "AMD64", True, None, "pypi"),
        ("Windows", "ARM64", False, None, "none"),
    ],
)
def test_each_machine_gets_its_pytorch(system, machine, nvidia, wish, torch):
    assert plan(system, machine, nvidia, wish).torch == torch


def test_a_machine_without_pytorch_is_told_so_and_keeps_the_numpy_lessons():
    for system, machine in (("Darwin", "x86_64"), ("Windows", "ARM64")):
        assert "The NumPy lessons work" in plan(system, machine, nvidia=False).note


def test_gigabytes_are_announced_before_they_are_downloaded():
    assert "3 GB" in plan("Linux", "x86_64", nvidia=True).download
    assert "MB" in plan("Linux", "x86_64", nvidia=False).download


def test_a_cpu_build_that_pip_finds_by_itself_is_taken_and_no_index_asked(stage):
    ensure(stage, ())
    assert stage.asked[0] == ("install", "--no-index", "--no-deps", "torch==2.13.0+cpu")
    assert stage.asked[1] == ("install", "-e", ".")


def test_without_one_pytorchs_cpu_index_is_asked_for_that_release_alone(stage):
    stage.has_wheel = False
    ensure(stage, ())
    assert stage.asked[0] == ("install", "--extra-index-url", bootstrap.CPU_INDEX, "--no-deps", "torch==2.13.0+cpu")
    assert bootstrap.CPU_INDEX not in stage.asked[1]


def test_a_cpu_build_that_cannot_be_had_stops_the_set_up_and_names_the_choice(stage):
    stage.outcome, stage.says = lambda arguments: False, NETWORK
    with pytest.raises(SetupError, match="add --gpu"):
        ensure(stage, ())
    assert len(stage.asked) == 1  # nothing else is downloaded


def test_a_machine_with_a_gpu_takes_what_pypi_offers(stage, monkeypatch):
    monkeypatch.setattr(bootstrap, "this_machine", lambda wish=None: Plan("pypi", "about 3 GB", 7.0))
    ensure(stage, ())
    assert stage.targets() == ["."]


def test_the_pinned_pytorch_lies_in_the_range_of_the_project():
    packaging = pytest.importorskip("packaging.requirements")
    settings = bootstrap._settings(ROOT / "pyproject.toml")
    ranges = [packaging.Requirement(line) for line in settings["project"]["dependencies"]]
    (torch,) = [requirement for requirement in ranges if requirement.name == "torch"]
    assert torch.specifier.contains(settings["tool"]["course"]["torch"])
    for system, machine, has_one in (
        ("darwin", "x86_64", False),
        ("darwin", "arm64", True),
        ("win32", "ARM64", False),
        ("win32", "AMD64", True),
        ("linux", "x86_64", True),
    ):
        assert torch.marker.evaluate({"sys_platform": system, "platform_machine": machine}) == has_one


# --- the stamp


def test_a_second_call_runs_no_pip(stage):
    ensure(stage, ("test",))
    stage.asked.clear()
    ensure(stage, ("test",))
    ensure(stage, ())  # the lab needs less than the tests
    assert stage.asked == []
    assert stage.made == 1


def test_the_tests_needs_are_added_to_a_set_up_of_the_lab_in_place(stage):
    ensure(stage, ())
    ensure(stage, ("test",))
    assert stage.made == 1
    assert stage.targets()[-1] == ".[test]"
    assert stage.stamp().extras == ("test",)


def test_what_was_installed_besides_stays_when_something_changes(stage):
    ensure(stage, ("test",))
    edit(stage, '"numpy"', '"numpy", "matplotlib"')
    ensure(stage, ())
    assert stage.targets()[-1] == ".[test]"


def test_changed_needs_install_again(stage):
    ensure(stage, ())
    edit(stage, '"numpy"', '"numpy>=2"')
    ensure(stage, ())
    assert stage.targets() == ["torch==2.13.0+cpu", "."] * 2


def test_a_new_pinned_pytorch_installs_again(stage):
    ensure(stage, ())
    edit(stage, "2.13.0", "2.14.0")
    ensure(stage, ())
    assert "torch==2.14.0+cpu" in stage.targets()


def test_the_formatters_settings_install_nothing(stage):
    ensure(stage, ())
    edit(stage, "line-length = 120", "line-length = 100")
    stage.asked.clear()
    ensure(stage, ())
    assert stage.asked == []


def test_an_interrupted_set_up_is_made_anew(stage):
    def killed(arguments):
        raise KeyboardInterrupt

    stage.outcome = killed
    with pytest.raises(KeyboardInterrupt):
        ensure(stage, ())
    assert stage.stamp() is None
    stage.outcome = lambda arguments: True
    ensure(stage, ())
    assert stage.made == 2
    assert stage.stamp() is not None


def test_an_update_that_was_killed_is_made_anew(stage):
    ensure(stage, ())
    stage.unfinished.touch()  # what a killed pip leaves
    ensure(stage, ())
    assert stage.made == 2


def test_a_python_that_is_gone_is_replaced(stage):
    ensure(stage, ())
    stage.python.unlink()
    stage.python.symlink_to(stage.root / "no-such-python")
    ensure(stage, ())
    assert stage.made == 2


def test_a_moved_checkout_is_set_up_anew(stage, tmp_path):
    ensure(stage, ())
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    tmp_path.rename(moved)
    other = Stage(moved)
    ensure(other, ())
    assert other.made == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"course": 1}', '{"extras": null}'])
def test_a_damaged_stamp_counts_as_none(stage, text):
    ensure(stage, ())
    stage.stamp_file.write_text(text)
    assert stage.stamp() is None


def test_another_pytorch_is_wished_for_only_by_a_flag(stage):
    ensure(stage, (), "gpu")
    ensure(stage, ())
    assert stage.made == 1
    ensure(stage, (), "cpu")
    assert stage.made == 2
    assert stage.stamp().torch == "cpu"


# --- failures


def test_a_failed_set_up_leaves_no_stamp_and_says_why(stage):
    stage.outcome, stage.says = lambda arguments: "-e" not in arguments, NETWORK
    with pytest.raises(SetupError, match="the network cannot be reached"):
        ensure(stage, ())
    assert stage.stamp() is None
    assert not stage.stamp_file.exists()


def test_a_failure_before_anything_changed_keeps_what_worked(stage):
    ensure(stage, ())
    stage.outcome, stage.says = lambda arguments: False, NETWORK
    with pytest.raises(SetupError):
        ensure(stage, ("test",))
    stage.asked.clear()
    ensure(stage, ())
    assert stage.asked == []


def test_a_failure_while_packages_were_changing_keeps_nothing(stage):
    ensure(stage, ())
    stage.outcome, stage.says = (
        lambda arguments: False,
        "2026-01-31T12:00:00,000 Installing collected packages: pytest\n[Errno 28]",
    )
    with pytest.raises(SetupError, match="disk is full"):
        ensure(stage, ("test",))
    assert stage.stamp() is None


def test_too_small_a_disk_is_seen_before_anything_is_downloaded(stage, monkeypatch):
    monkeypatch.setattr(bootstrap, "_free", lambda folder: 10**8)
    with pytest.raises(SetupError, match=r"0\.1 GB free, the set-up needs about 1\.7 GB"):
        ensure(stage, ())
    assert stage.asked == []
    assert not stage.folder.exists()


def test_a_folder_that_cannot_be_written_is_named(stage, monkeypatch):
    def refused():
        raise PermissionError(13, "Permission denied", str(stage.folder))

    monkeypatch.setattr(stage, "make", refused)
    with pytest.raises(SetupError, match="not allowed to write there"):
        ensure(stage, ())


def test_a_python_without_venv_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"sudo apt install python3\.\d+-venv"):
        Environment(tmp_path).make()


def test_the_command_ends_with_status_one_and_no_traceback(monkeypatch, capsys):
    def fails(*arguments):
        raise SetupError("The set-up stopped at numpy.")

    monkeypatch.setattr(bootstrap, "ensure", fails)
    monkeypatch.setattr(bootstrap, "installed_here", lambda: False)
    assert bootstrap.main(["lab"]) == 1
    assert capsys.readouterr().err == "\nThe set-up stopped at numpy.\n"


# --- a foreign .venv, and this Python


def test_the_folder_of_another_tool_is_used_if_it_works(stage):
    Stage.make(stage)
    stage.unfinished.unlink()
    stage.is_foreign_but_usable = lambda: True
    ensure(stage, ())
    assert stage.made == 1  # the one made above


def test_a_foreign_folder_without_pip_is_not_usable(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    assert not Environment(tmp_path).is_foreign_but_usable()


def test_flags_of_the_set_up_do_not_reach_jupyterlab():
    assert split_wish(["lab", "--gpu", "--no-browser", "--port=1"]) == (["lab", "--no-browser", "--port=1"], "gpu")
    assert split_wish(["test", "-k", "cpu"]) == (["test", "-k", "cpu"], None)


def test_a_python_that_has_this_checkout_installed_needs_no_set_up(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(bootstrap.sys, "prefix", str(tmp_path))
    assert not bootstrap.installed_here()
    record = tmp_path / "attention_course-0.1.0.dist-info" / "direct_url.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"url": "file:///somewhere/else"}))
    assert not bootstrap.installed_here()
    record.write_text(json.dumps({"url": bootstrap.ROOT.as_uri()}))
    assert bootstrap.installed_here()


# --- before anything is installed


def test_help_needs_the_standard_library_alone_and_is_quick(tmp_path):
    code = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('course_lib', run_name='__main__')"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    began = time.perf_counter()
    # -S and -I: no installed package can be imported, no variable is read
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", code, ROOT, "--help"],
        capture_output=True,
        text=True,
        env=environ,
        cwd=tmp_path,
        check=False,
    )
    took = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    for command in ("lab", "test", "exercises", "work", "build", "new"):
        assert f"\n  {command} " in done.stdout
    assert took < 3  # ten times what it takes on a quiet machine: it must not import NumPy or ask a network

"""Set-up on a machine that has nothing but Python: make `.venv`, install the course into it, go on inside it.

Uses the standard library alone. A stamp in `.venv` records what was installed, so that a second call only compares and
goes on: no pip, no network. A mark beside it stands while pip works, so that an interrupted set-up is seen and made
anew. What a failure means is in diagnosis.py. Leaves out other installers: pip is what every Python brings.
"""

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from course_lib.diagnosis import AGAIN, CPU_INDEX, explain

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"lab": (), "exercises": (), "work": (), "test": ("test",), "build": ("test",), "new": ("test",)}
EXTRAS |= {"train": ("text",), "translate": ("text",), "grade": (), "progress": ()}

# pip's own line in its log; the same line of a build's scratch environment is indented.
CHANGING = r"^(?:\d\S+ )?Installing collected packages"


class SetupError(Exception):
    """A set-up that failed; its text names the package, the likely reason and the way out."""


# --- what the machine gets


@dataclass(frozen=True)
class Plan:
    """What is installed here, and what it costs."""

    torch: str  # "cpu": PyTorch's CPU build; "pypi": the one PyPI offers here; "none": there is none for this machine
    download: str  # in words, for the line before it starts
    disk: float  # gigabytes in .venv
    note: str = ""  # what else a learner on this machine should know


def plan(system: str, machine: str, nvidia: bool, wish: str | None = None) -> Plan:
    """Choose the PyTorch for a machine: on Linux without a GPU the CPU build, elsewhere the one that PyPI offers.

    `system` and `machine` are named as `platform` names them, `nvidia` says whether `nvidia-smi` is there, and `wish`
    is "cpu", "gpu" or None.

    >>> plan("Linux", "x86_64", nvidia=False).torch, plan("Linux", "x86_64", nvidia=True).torch
    ('cpu', 'pypi')
    """
    if system == "Darwin" and machine == "x86_64":
        note = (
            "PyTorch is no longer made for Intel Macs. The NumPy lessons work; cells that train a model need another "
            "machine. (On a Mac with an Apple chip, this Python was made for Intel: take the one from python.org.)"
        )
        return Plan("none", "about 100 MB", 0.8, note)
    if system == "Windows" and machine.upper() == "ARM64":
        note = (
            "PyPI has no PyTorch for Windows on ARM. The NumPy lessons work; cells that train a model need another "
            "machine. (The x64 Python from python.org runs on this one too, and has it.)"
        )
        return Plan("none", "about 100 MB", 0.8, note)
    if system == "Linux" and wish != "gpu" and (wish == "cpu" or not nvidia):
        return Plan("cpu", "300 to 400 MB", 1.7)
    if system == "Linux":
        return Plan(
            "pypi", "about 3 GB, nearly all of it CUDA", 7.0, "--cpu takes a build without CUDA: 300 to 400 MB."
        )
    note = "--cpu and --gpu matter on Linux only: this system has one PyTorch on PyPI." if wish else ""
    return Plan("pypi", "200 to 300 MB", 1.5, note)


def this_machine(wish: str | None = None) -> Plan:
    """Return the plan for the machine that this runs on."""
    return plan(platform.system(), platform.machine(), shutil.which("nvidia-smi") is not None, wish)


# --- what was installed


@dataclass(frozen=True)
class Stamp:
    """What a finished set-up had installed; a later call compares it with what it wants."""

    course: str  # where the checkout was: a moved .venv does not work
    needs: str  # digest of pyproject.toml's part that decides about packages
    python: str  # the interpreter behind .venv
    extras: tuple[str, ...]
    torch: str

    def covers(self, wanted: "Stamp") -> bool:
        """Say whether nothing is left to do for `wanted`."""
        return set(wanted.extras) <= set(self.extras) and replace(self, extras=wanted.extras) == wanted


class Environment:
    """The `.venv` of one checkout: what state it is in, and how it is made."""

    def __init__(self, root: Path):
        self.root = root
        self.folder = root / ".venv"
        scripts, program = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        self.scripts = self.folder / scripts
        self.python = self.scripts / program
        self.stamp_file = self.folder / "course-stamp.json"
        self.unfinished = self.folder / "course-set-up-unfinished"
        self.log = self.folder / "course-set-up.log"

    def stamp(self) -> Stamp | None:
        """Read what the last finished set-up installed; None if there was none, or it is not whole any more."""
        try:
            fields = json.loads(self.stamp_file.read_text(encoding="utf-8"))
            stamp = Stamp(**{**fields, "extras": tuple(fields["extras"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        if self.unfinished.exists() or stamp.course != str(self.root) or stamp.python != self.interpreter():
            return None
        return stamp

    def wanted(self, extras: tuple[str, ...], torch: str) -> Stamp:
        """Return the stamp of a set-up that has all that is wanted now."""
        return Stamp(str(self.root), needs(self.root / "pyproject.toml"), self.interpreter(), extras, torch)

    def interpreter(self) -> str:
        """Return where the Python behind `.venv` really lies, or "" if it is gone."""
        try:
            settings = (self.folder / "pyvenv.cfg").read_text(encoding="utf-8")
            version = re.search(r"^version\s*=\s*(\S+)", settings, re.MULTILINE)
            return f"{self.python.resolve(strict=True)} {version[1] if version else ''}".strip()
        except OSError:
            return ""

    def is_foreign_but_usable(self) -> bool:
        """Say whether another tool made this `.venv` and we can install into it."""
        if self.stamp_file.exists() or self.unfinished.exists() or not self.interpreter():
            return False
        test = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))"
        return subprocess.run([self.python, "-I", "-c", test], capture_output=True, check=False).returncode == 0

    def make(self) -> None:
        """Make an empty environment in place of whatever is there."""
        if importlib.util.find_spec("ensurepip") is None:
            package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            raise SetupError(
                f"This Python has no venv and pip of its own.\nOn Debian and Ubuntu type  sudo apt install {package}  "
                f"(elsewhere: a Python from https://www.python.org/downloads/). {AGAIN}"
            )
        import venv

        with contextlib.suppress(FileNotFoundError):
            self.stamp_file.unlink()
        if self.folder.is_symlink() or self.folder.is_file():
            self.folder.unlink()
        elif self.folder.exists():
            shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.unfinished.touch()
        venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt").create(self.folder)

    def pip(self, *arguments: str, quiet: bool = False) -> bool:
        """Run pip inside; say whether it went well. What it did is added to the log."""
        command = [self.python, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        if not quiet:
            command += ["--log", self.log]
        silence = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if quiet else {}
        environ = {**os.environ, "PIP_USER": "0"}
        return (
            subprocess.run([*command, *arguments], cwd=self.root, env=environ, check=False, **silence).returncode == 0
        )


def needs(pyproject: Path) -> str:
    """Digest the part of pyproject.toml that decides what is installed: not, say, the formatter's settings."""
    settings = _settings(pyproject)
    tools = {name: settings.get("tool", {}).get(name) for name in ("course", "setuptools")}
    parts = [settings["project"], settings.get("build-system"), tools]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@functools.cache
def _settings(pyproject: Path) -> dict:
    import tomllib

    return tomllib.loads(pyproject.read_text(encoding="utf-8"))


# --- doing it


def ensure(environment: Environment, extras: tuple[str, ...], wish: str | None = None) -> None:
    """Leave `environment` with everything that `extras` need, doing nothing where it has it already.

    Raises:
        SetupError: if that could not be done.
    """
    if _ready(environment, extras, wish):
        return
    with _alone(environment.root):
        stamp = environment.stamp()
        if _ready(environment, extras, wish):  # another process has just done it
            return
        chosen = this_machine(wish)
        if stamp is not None and wish is None:
            chosen = replace(chosen, torch=stamp.torch)
        try:
            _install(environment, stamp, extras, chosen)
        except PermissionError as error:
            raise SetupError(
                f"{error.filename or environment.folder}: not allowed to write there.\nClose a JupyterLab that is "
                f"still running from this folder, or put the course into a folder of your own. {AGAIN}"
            ) from error
        except (OSError, subprocess.CalledProcessError) as error:
            output = getattr(error, "output", None) or b""
            text = f"{error}\n{output.decode(errors='replace') if isinstance(output, bytes) else output}"
            raise SetupError(explain(text, _free(environment.root))) from error


def _ready(environment: Environment, extras: tuple[str, ...], wish: str | None) -> bool:
    stamp = environment.stamp()
    if stamp is None:
        return False
    torch = this_machine(wish).torch if wish else stamp.torch
    return stamp.covers(environment.wanted(extras, torch))


def _install(environment: Environment, stamp: Stamp | None, extras: tuple[str, ...], chosen: Plan) -> None:
    began = time.monotonic()
    # Packages of a finished set-up are brought up to date in place; anything else is made anew.
    keeps = stamp.torch == chosen.torch if stamp else environment.is_foreign_but_usable()
    found = environment.folder.exists()
    _announce(chosen, keeps, found)
    if keeps:
        extras = tuple(sorted({*extras, *(stamp.extras if stamp else ())}))
        environment.unfinished.touch()
    else:
        free = _free(environment.root) + (_size(environment.folder) if found else 0)
        if free < chosen.disk * 1e9:
            raise SetupError(
                f"Disk full: {environment.root} has {free / 1e9:.1f} GB free, the set-up needs about "
                f"{chosen.disk:.1f} GB.\nFree some space, or move the course to a larger disk. {AGAIN}"
            )
        environment.make()
    with contextlib.suppress(FileNotFoundError):
        environment.log.unlink()

    target = f".[{','.join(extras)}]" if extras else "."
    torch_went_well = chosen.torch != "cpu" or _install_cpu_torch(environment)
    if not (torch_went_well and environment.pip("install", "-e", target)):
        text = environment.log.read_text(encoding="utf-8", errors="replace") if environment.log.exists() else ""
        if keeps and stamp and not re.search(CHANGING, text, re.MULTILINE):
            environment.unfinished.unlink()  # nothing was touched: what worked before still does
        raise SetupError(explain(text[-100_000:], _free(environment.root), environment.log, not torch_went_well))
    _write(environment.stamp_file, json.dumps(asdict(environment.wanted(extras, chosen.torch))))
    environment.unfinished.unlink()
    print(f"Set up in {time.monotonic() - began:.0f} s. The next start is at once.\n", flush=True)


def _install_cpu_torch(environment: Environment) -> bool:
    """Install the one pinned CPU build, alone, so that PyTorch's index serves nothing but PyTorch."""
    release = f"torch=={_settings(environment.root / 'pyproject.toml')['tool']['course']['torch']}+cpu"
    if environment.pip("install", "--no-index", "--no-deps", "--dry-run", release, quiet=True):
        return environment.pip("install", "--no-index", "--no-deps", release)  # found without any index
    return environment.pip("install", "--extra-index-url", CPU_INDEX, "--no-deps", release)


def _announce(chosen: Plan, keeps: bool, found: bool) -> None:
    torch = {"cpu": "PyTorch (CPU build), ", "pypi": "PyTorch, ", "none": ""}[chosen.torch]
    print("\nAttention, one cell at a time:", "bringing the set-up up to date." if keeps else "setting up, once.")
    if found and not keeps:
        print("  The set-up in .venv is unfinished or for another machine: it is made anew.")
    if keeps:
        print("  What   what this command needs besides, or what has changed, into .venv")
    else:
        print(f"  What   {torch}NumPy, matplotlib, JupyterLab and all that they need, into the folder .venv")
        print(f"  Size   {chosen.download} to download (less where pip has it already), {chosen.disk:.1f} GB on disk")
        print("  Time   one to five minutes: a hundred packages are downloaded and unpacked")
    for line in filter(None, [chosen.note]):
        print(f"  Note   {line}")
    print(flush=True)


@contextlib.contextmanager
def _alone(root: Path):
    """Let one set-up of a checkout run at a time; the system frees the lock of a killed one."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    folder = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up of this folder is running: waiting until it is done.", flush=True)
            fcntl.flock(folder, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(folder)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


# --- the entry


def main(argv: list[str]) -> int:
    """Set up what the command needs, then run it inside; help needs no set-up."""
    command = argv[0] if argv else None
    if command not in EXTRAS or {"-h", "--help"} & set(argv[1:2]) or installed_here():
        from course_lib import cli

        return cli.main(argv)
    environment = Environment(ROOT)
    arguments, wish = split_wish(argv)
    try:
        ensure(environment, EXTRAS[command], wish)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command makes the set-up whole.", file=sys.stderr)
        return 130
    return _go_on(environment, arguments)


def split_wish(argv: list[str]) -> tuple[list[str], str | None]:
    """Take `--cpu` and `--gpu` out of a command line: they are for the set-up alone.

    >>> split_wish(["lab", "--cpu", "--port", "9000"])
    (['lab', '--port', '9000'], 'cpu')
    """
    wishes = [argument[2:] for argument in argv if argument in ("--cpu", "--gpu")]
    return [argument for argument in argv if argument not in ("--cpu", "--gpu")], wishes[-1] if wishes else None


def installed_here() -> bool:
    """Say whether this very Python, say a conda environment, already has this checkout installed outside `.venv`."""
    if Path(sys.prefix) == ROOT / ".venv":
        return False
    for record in Path(sysconfig.get_path("purelib")).glob("attention_course-*.dist-info/direct_url.json"):
        if json.loads(record.read_text(encoding="utf-8")).get("url") == ROOT.as_uri():
            return True
    return False


def _go_on(environment: Environment, argv: list[str]) -> int:
    os.environ["VIRTUAL_ENV"] = str(environment.folder)
    os.environ["PATH"] = os.pathsep.join([str(environment.scripts), os.environ.get("PATH", os.defpath)])
    return run_instead([str(environment.python), "-m", "course_lib.cli", *argv])


def run_instead(command: list[str]) -> int:
    """Become `command`; where a system cannot do that (Windows), run it and return its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.execv(command[0], command)
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the child has got it too, and decides
                continue

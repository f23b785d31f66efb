"""Starts the student side in the strongest sandbox that this machine has, and talks to it. Trusted side, Linux.

Tier A: bubblewrap (namespaces, no network, an empty file system with a sized place to write), and tier B inside it.
Tier B: Landlock, seccomp and resource limits, without any privilege. Tier C: none; only for submissions that are
trusted. Every report says which tier it was.
"""

import contextlib
import json
import os
import platform
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from course_lib.grading import wire
from course_lib.grading.budgets import ROOT, Budgets, NoSandbox
from course_lib.grading.worker import ENDED

NOBODY = 65534
LARGEST_HEADER = 2 << 20  # bytes of JSON in one frame
START_SECONDS = 120  # torch from a cold disk
TIERS = {
    "A": "A: bubblewrap, Landlock, seccomp and resource limits",
    "B": "B: Landlock, seccomp and resource limits",
    "C": "C: no sandbox, because the submissions are trusted",
}


class Gone(Exception):
    """The student side's process ended before its answer was complete."""


class Late(Exception):
    """The student side took longer than it may."""


class Sandbox:
    """One warm student-side process in one tier. `open` begins a submission, `close_one` ends it."""

    def __init__(self, tier: str, budgets: Budgets, preload: Sequence[str] = ("numpy",)):
        self.tier, self.budgets = tier, budgets
        self.folder = Path(tempfile.mkdtemp(prefix="grading-"))
        self.work = self.folder / "work"
        self.work.mkdir()
        drop = tier == "B" and os.geteuid() == 0 and _anybody_reads(Path(sysconfig.get_paths()["stdlib"]))
        if drop:
            os.chmod(self.folder, 0o711)
            os.chown(self.work, NOBODY, NOBODY)
        settings = {
            **asdict(budgets),
            "tier": tier,
            "uid": NOBODY if drop else 0,
            "root": str(ROOT),
            "readable": readable_paths(),
            "writable": ["/tmp/work" if tier == "A" else str(self.work), os.devnull],
            "work": "/tmp/work" if tier == "A" else str(self.work),
            "preload": list(preload),
            "machine": platform.machine(),
        }
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors = open(self.folder / "errors", "w+b")  # noqa: SIM115
        command = [*(bubblewrap(budgets) if tier == "A" else []), *python("serve")]
        try:
            self.process = subprocess.Popen(
                command, stdin=theirs, stdout=self.errors, stderr=self.errors, env=environment(), cwd=self.work
            )
            theirs.close()  # now: if the process ends, its end of the socket is the last, and we are told
            self.control.settimeout(START_SECONDS)
            self.control.send(json.dumps(settings).encode())
            hello = self.control.recv(1 << 16)
        except OSError as error:
            theirs.close()
            text = self._last_words() if isinstance(error, BrokenPipeError | ConnectionResetError) else str(error)
            self.stop()
            raise NoSandbox(f"tier {tier} does not start here: {text}") from error
        if not hello:
            text = self._last_words()
            self.stop()
            raise NoSandbox(f"tier {tier} does not start here: {text}")
        self.has = json.loads(hello)
        if tier != "C" and not (self.has["seccomp"] and (self.has["landlock"] or tier == "A")):
            self.stop()
            raise NoSandbox(f"tier {tier} does not start here: this kernel has no Landlock")

    @property
    def description(self) -> str:
        """The tier in words, for the reports."""
        without = " (this kernel has no Landlock)" if self.tier == "A" and not self.has["landlock"] else ""
        return TIERS[self.tier] + without

    def open(self) -> "Channel":
        """Begin a submission: fork a child and return the way to talk to it.

        Raises:
            Gone: if the process has ended.
        """
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.control, [b"go"], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise Gone("the sandbox has ended") from error
        finally:
            theirs.close()
        return Channel(ours, self.budgets, self.work if self.tier != "A" else None)

    def close_one(self, channel: "Channel") -> tuple[int, float, int]:
        """End the submission whatever it does: return its exit status, CPU seconds and peak memory in kB.

        Raises:
            Gone: if the whole sandbox has ended.
        """
        channel.close()
        try:
            self.control.send(b"kill")
            self.control.settimeout(30)
            status, milliseconds, memory = ENDED.unpack(self.control.recv(64))
        except (OSError, struct.error) as error:
            words = self._last_words()
            self.stop()
            raise Gone(f"the sandbox has ended: {words}") from error
        return status, milliseconds / 1000, memory

    def stop(self) -> None:
        """End the process and remove its folder."""
        self.control.close()
        process = getattr(self, "process", None)
        if process and process.poll() is None:
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it ended at once"

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


class Channel:
    """The trusted side's end of one submission's channel. Whatever comes is counted, measured and mistrusted."""

    def __init__(self, stream: socket.socket, budgets: Budgets, watched: Path | None):
        self.stream, self.budgets, self.watched = stream, budgets, watched
        self.frames = 0
        self.data = bytearray()

    def send(self, header: dict, body: bytes = b"") -> None:
        """Send a frame; as `send_bytes`."""
        self.send_bytes(wire.pack(header, body))

    def send_bytes(self, frame: bytes, seconds: float | int = 10.0) -> None:
        """Send the bytes of a frame.

        Raises:
            Gone, Late: if nobody takes them.
        """
        self.stream.settimeout(seconds)
        try:
            self.stream.sendall(frame)
        except TimeoutError as error:
            raise Late("it does not read") from error
        except OSError as error:
            raise Gone("it has ended") from error

    def receive(self, seconds: float | int) -> tuple[dict, bytes]:
        """Return the next frame.

        Raises:
            Late: if it is not complete within so many seconds.
            Gone: if the process ended before.
            wire.Malformed: if it is no frame, or larger than the budget.
        """
        end = time.monotonic() + seconds
        self.frames += 1
        if self.frames > 20_000:
            raise wire.Malformed("too many frames")
        header, body = wire.LENGTHS.unpack(self._exactly(wire.LENGTHS.size, end))
        limit = self.budgets.reply_mb << 20
        if header > LARGEST_HEADER or body > limit:
            raise wire.Malformed("a frame larger than it may be")
        return wire.unpack_header(self._exactly(header, end)), self._exactly(body, end)

    def _exactly(self, count: int, end: float | int) -> bytes:
        while len(self.data) < count:
            left = end - time.monotonic()
            if left <= 0:
                raise Late("it takes too long")
            self.stream.settimeout(min(left, 0.05) if self.watched else left)
            try:
                part = self.stream.recv(1 << 18)
            except TimeoutError:
                self._watch()
                continue
            except OSError:
                part = b""
            if not part:
                raise Gone("it has ended")
            self.data += part
        taken = bytes(self.data[:count])
        del self.data[:count]
        return taken

    def _watch(self) -> None:
        """Stop who writes more files than it may, where no sized file system does it."""
        if self.watched is None:
            return
        total = count = 0
        for entry in os.scandir(self.watched):
            count += 1
            with contextlib.suppress(OSError):
                total += entry.stat(follow_symlinks=False).st_size
        if total > self.budgets.files_mb << 20 or count > 1000:
            raise Late("it writes more files than it may")

    def close(self) -> None:
        """Hang up."""
        self.stream.close()


def start(
    wish: str, budgets: Budgets, preload: Sequence[str] = ("numpy",), trust: bool = False, allow_root: bool = False
) -> Sandbox:
    """Start the sandbox of the tier that was wished for: `A`, `B`, `C`, or `auto` for the strongest that starts here.

    Raises:
        NoSandbox: if there is none; the message says why and what to do.
    """
    if os.geteuid() == 0 and not allow_root:
        raise NoSandbox("grading as root is refused: use an ordinary user, or --allow-root in a machine made for it")
    if wish == "C" or trust:
        if not trust:
            raise NoSandbox("tier C is no sandbox: it needs --trust-submissions")
        return Sandbox("C", budgets, preload)
    reasons = []
    for tier in ("A", "B") if wish == "auto" else (wish,):
        if tier == "A" and not shutil.which("bwrap"):
            reasons.append("tier A needs bubblewrap (apt install bubblewrap)")
            continue
        try:
            return Sandbox(tier, budgets, preload)
        except NoSandbox as error:
            reasons.append(str(error))
    raise NoSandbox(
        f"no sandbox here: {'; '.join(reasons)}. Use Linux 5.13 or newer (docs/grading.md names ways), or, for"
        " submissions that you trust as your own code, --trust-submissions"
    )


def python(function: str) -> list[str]:
    """Return the command that starts a function of the worker in a Python that reads nothing from its surroundings."""
    code = f"import sys; sys.path += {library_paths()!r}; sys.path.insert(0, {str(ROOT)!r}); "
    code += f"from course_lib.grading.worker import {function}; {function}()"
    return [sys.executable, "-I", "-B", "-c", code]


def environment() -> dict[str, str]:
    """Return the environment of the student side: nothing of ours, one thread, no GPU."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    fixed = {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONHASHSEED": "0"}
    system = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ and os.name == "nt"}
    return fixed | threads | system | {"CUDA_VISIBLE_DEVICES": "", "MPLBACKEND": "agg", "MPLCONFIGDIR": "/nonexistent"}


def library_paths() -> list[str]:
    """Return where Python finds the installed libraries; never the checkout, nor the present folder."""
    here = {str(ROOT), os.getcwd(), ""}
    return [path for path in sys.path if path not in here and os.path.isdir(path) and "packages" in path]


def readable_paths() -> list[str]:
    """Return what a submission may read: Python, the libraries and the system's, but never the course's package."""
    paths = sysconfig.get_paths()
    places = {paths["stdlib"], paths["platstdlib"], *library_paths()}
    places |= {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/localtime"}
    places |= {"/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/dev/zero"}
    course = {Path(path, "course_lib") for path in [*library_paths(), *sys.path] if Path(path, "course_lib").is_dir()}
    found: list[str] = []
    for place in sorted(os.path.realpath(place) for place in places if os.path.exists(place)):
        found += _without(Path(place), {path.resolve() for path in course})
    return sorted(set(found))


def _anybody_reads(folder: Path) -> bool:
    """Say whether an ordinary user reaches the folder; a Python of root's own may lie where nobody else does."""
    return all(path.stat().st_mode & 0o001 for path in [folder, *folder.resolve().parents])


def _without(place: Path, excluded: set[Path]) -> list[str]:
    """Return the place itself, or the parts of it that leave the excluded folders out."""
    if place in excluded:
        return []
    if not any(place in path.parents for path in excluded):
        return [str(place)]
    return [path for entry in sorted(place.iterdir()) for path in _without(entry, excluded)]


def bubblewrap(budgets: Budgets) -> list[str]:
    """Return the command before the command: what the student side sees of the machine."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    for path in ("/usr", "/lib", "/lib64", "/lib32", "/bin"):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            command += ["--ro-bind", path, path]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"):
        command += ["--ro-bind-try", path, path]
    seen: list[str] = []
    for path in sorted({os.path.abspath(p) for p in (sys.prefix, sys.base_prefix, *library_paths())}):
        if not any(Path(path).is_relative_to(other) for other in ("/usr", *seen)):
            command += ["--ro-bind", path, path]
            seen.append(path)
    # The links from the virtual environment's Python to the real one, wherever they lead.
    for link in _links(Path(sys.executable)):
        if not any(link.is_relative_to(other) for other in ("/usr", "/bin", *seen)):
            command += ["--ro-bind", str(link), str(link)]
    for path in library_paths():
        if Path(path, "course_lib").is_dir():
            command += ["--tmpfs", f"{path}/course_lib"]
    own = [ROOT / "course_lib" / "__init__.py", ROOT / "course_lib" / "grading"]
    command += [part for path in own for part in ("--ro-bind", str(path), str(path))]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--size", str(budgets.files_mb << 20), "--tmpfs", "/tmp/work", "--remount-ro", "/"]
    return [*command, "--chdir", "/tmp/work", "--"]


def _links(path: Path) -> list[Path]:
    found = []
    while path.is_symlink():
        path = path.parent / os.readlink(path)
        found.append(Path(os.path.abspath(path)))
    return found

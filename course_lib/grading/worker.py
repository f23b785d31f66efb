"""The student side: a warm parent that forks one child a submission, and that child. It holds no answer.

The parent (called zygote) is started by `sandbox.py` as a process of its own. It imports the libraries, gives up the
files (Landlock), and then only forks, waits, kills and wipes. A child limits itself, gives up its system calls
(seccomp), reads its request, runs the cells in order, and calls functions on the inputs that it is sent. What it sends
back is believed by nobody, so nothing here has to withstand the submission; the kernel does that.
"""

import contextlib
import ctypes
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

from course_lib.grading import landlock, rules, seccomp, wire
from course_lib.grading.child import answer, read_frame, warm_up

with contextlib.suppress(ImportError):  # Windows has none
    import resource

ENDED = struct.Struct("!iII")  # what the zygote says of a child: its exit status, CPU milliseconds, memory in kB
CHANNEL = 3  # the child's only descriptor beside the three standard ones


def serve() -> None:
    """Be the zygote: descriptor 0 is the control socket."""
    control = socket.socket(fileno=0)
    settings = json.loads(control.recv(1 << 20))
    missing = prepare(settings)
    null = os.open(os.devnull, os.O_RDWR)
    abi, code = 0, None
    if settings["tier"] != "C":
        if os.geteuid() == 0:
            _be_no_root(settings["uid"])
        abi = landlock.restrict(settings["readable"], settings["writable"]) if landlock.version() else 0
        code = seccomp.program(settings["machine"])
        _try_filter(code)
    warm_up(settings)
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"landlock": abi, "seccomp": code is not None, "missing": missing}).encode())
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 16, 1)
        if not message:
            return
        if not descriptors:  # told to kill a child that has ended by itself
            continue
        process = os.fork()
        if process == 0:
            _be_a_child(descriptors[0], null, settings, code)
        os.close(descriptors[0])
        control.send(ENDED.pack(*_wait(control, process)))
        _wipe(settings["work"])


def prepare(settings: dict[str, Any]) -> list[str]:
    """Import what the submissions will need, forget what is the course's, and return what is not installed."""
    sys.path.remove(settings["root"])
    missing = []
    for name in settings["preload"]:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    torch = sys.modules.get("torch")
    if torch:  # a second thread cannot start, and OpenMP would end the process over it
        torch.set_num_threads(1)
        torch.set_num_threads = torch.set_num_interop_threads = lambda count: None
        wire.TENSORS = True
    for name in [name for name in sys.modules if name.split(".")[0] == rules.OWN]:
        del sys.modules[name]
    settings["memory_now"] = _memory_now()
    os.environ.pop("PYTHONPATH", None)
    return missing


def _memory_now() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _be_no_root(user: int) -> None:
    """Become an ordinary user, if `user` is one; in any case give up every capability of root."""
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    libc = ctypes.CDLL(None, use_errno=True)
    version_3, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    if libc.capset(version_3, nothing):
        raise OSError(ctypes.get_errno(), "root's capabilities could not be given up")


def _try_filter(code: bytes) -> None:
    """Find out in a throw-away child whether the kernel takes the filter."""
    process = os.fork()
    if process == 0:
        try:
            seccomp.restrict(code)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(process, 0)[1]:
        raise seccomp.Unavailable("this kernel takes no seccomp filter")


def _wait(control: socket.socket, process: int) -> tuple[int, int, int]:
    """Wait for the child, or kill it as soon as the trusted side says so or is gone."""
    handle = os.pidfd_open(process)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control, select.POLLIN)
    gone = False
    while not any(ready == handle for ready, _ in poll.poll()):
        gone = not control.recv(16)
        os.kill(process, signal.SIGKILL)
        poll.unregister(control)
    os.close(handle)
    _, status, usage = os.wait4(process, 0)
    if os.getpid() == 1:  # in a namespace of our own: whatever else may live there
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    if gone:
        os._exit(0)
    return os.waitstatus_to_exitcode(status), int(1000 * (usage.ru_utime + usage.ru_stime)), usage.ru_maxrss


def _wipe(work: str) -> None:
    for entry in os.scandir(work):
        with contextlib.suppress(OSError):
            os.unlink(entry.path)


def _be_a_child(channel: int, null: int, settings: dict[str, Any], code: bytes | None) -> None:
    try:
        for target in (0, 1, 2):
            os.dup2(null, target)
        if channel != CHANNEL:
            os.dup2(channel, CHANNEL)
        os.closerange(CHANNEL + 1, 4096)
        os.chdir(settings["work"])
        _limit(settings)
        if code is not None:
            seccomp.restrict(code)
        answer(CHANNEL, CHANNEL, settings)
    finally:
        os._exit(0)


def _limit(settings: dict[str, Any]) -> None:
    mega = 1 << 20
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": 64,
        "RLIMIT_FSIZE": settings["files_mb"] * mega,
        "RLIMIT_CPU": max(1, int(settings["submission_seconds"])),  # the kernel kills, whatever is blocked
    }
    if settings["memory_now"]:
        limits["RLIMIT_AS"] = settings["memory_now"] + settings["memory_mb"] * mega
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))


def serve_once() -> None:
    """Be the student side of one submission, cold and without a sandbox: where there is no fork. Pipes for a socket."""
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target)
    settings, _ = read_frame(incoming)
    prepare(settings)
    try:
        answer(incoming, outgoing, settings)
    finally:
        os._exit(0)

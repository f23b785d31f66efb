# ruff: noqa: E501 (an attack reads best with its list in one line)
"""Submissions that try to earn what they did not do, to see what is not theirs, or to do harm. None succeeds.

Each attack stands in a notebook whose `row_sums` is right and whose `double` is wrong. It must earn one point and no
more, leave the machine as it was, and leave the next submission what it deserves. An attack prints LEAK where it got
through. They are bounded: small budgets, and only this process tree is attacked.
"""

import os
import socket
import threading
import time
from pathlib import Path

import pytest

import course_lib

ROOT = Path(course_lib.__file__).parent.parent
SETUP = "import numpy as np\nfrom course_lib.checks import check"
RIGHT_SUMS = "def row_sums(table):\n    return table.sum(axis=1)"
WRONG_DOUBLE = "def double(x):\n    return x * 0"
HONEST = (SETUP, "def double(x):\n    return x + x", RIGHT_SUMS)

ATTACKS = {
    "reading the answers from disk": """
import os
for folder in (ROOT, os.path.join(ROOT, "course_lib"), os.path.join(ROOT, "solutions"), PRIVATE, "/etc", "/var", "/home"):
    try:
        print("LEAK", folder, os.listdir(folder)) if set(os.listdir(folder)) - {"course_lib", "__init__.py", "grading"} else 0
    except OSError:
        pass
for path in (ROOT + "/course_lib/checks/engine.py", ROOT + "/course_lib/reference/attention.py", PRIVATE + "/secret",
             "/etc/passwd", "/proc/self/environ", "/proc/self/maps", "/proc/1/mem", "/proc/self/mem"):
    try:
        print("LEAK", path, open(path, "rb").read(9))
    except OSError:
        pass
""",
    "importing the answers": """
import importlib, sys
sys.path[:0] = [ROOT, ROOT + "/course_lib"]
for name in ("course_lib.checks.engine", "course_lib.checks.start_here", "course_lib.reference.attention", "course_lib.grading",
             "course_lib.grading.compare", "course_lib.model.attention", "attention", "compare"):
    try:
        module = importlib.import_module(name)
        found = [n for n in ("attention", "EXERCISES", "judge", "grade", "find_exercises") if n in vars(module)]
        print("LEAK", name, found) if found else 0
    except ImportError:
        pass
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "Given"]
for name in [name for name in sys.modules if name.startswith("course_lib")]:
    del sys.modules[name]
try:
    import course_lib.checks.engine
    print("LEAK engine")
except ImportError:
    pass
""",
    "searching the memory": """
import gc, sys
words = ("wanted", "expected", "secret", "reference", "SECRET", "hidden", "points")
for thing in gc.get_objects():
    if type(thing) is dict and any(word in thing for word in words) and "t" not in thing:
        if thing.get("__name__", "").split(".")[0] in ("toy", "conftest") or "a secret of" in repr(thing.get("secret")):
            print("LEAK", list(thing)[:5])
""",
    "walking the frames": """
import sys, inspect
def double(x):
    frame = sys._getframe()
    while frame:
        for name, value in frame.f_locals.items():
            if name in ("wanted", "expected", "reference", "points", "secret", "exercise"):
                return value
        frame = frame.f_back
    return x * 0
""",
    "patching the comparison": """
import builtins
np.allclose = np.array_equal = np.isclose = np.testing.assert_allclose = lambda *a, **k: True
np.ndarray.__eq__ if False else None
builtins.all = builtins.any = lambda *a: True
builtins.AssertionError = Exception
import unittest
unittest.TestCase.assertEqual = lambda *a: None
""",
    "patching the course's check": """
import course_lib.checks, sys
course_lib.checks.check = lambda *a: True
sys.modules["course_lib.checks.engine"] = course_lib.checks
sys.modules["course_lib.checks.engine"].agree = lambda *a: True
check.points = 100
check("toy/double", double).must_pass()
print(100)
""",
    "forging frames before the questions": """
import os, json, struct
def frame(header, body=b""):
    text = json.dumps(header).encode()
    return struct.pack(">II", len(text), len(body)) + text + body
one = frame({"kind": "got", "status": "value", "points": 999, "score": 999, "value": {"t": "value", "v": 1}})
try:
    os.write(3, one * 5 + frame({"kind": "judged", "points": 999}))
except OSError:
    pass
""",
    "forging the end of the cells": """
import os, json, struct
text = json.dumps({"kind": "ready", "output": "", "letters": 0, "points": {"toy/double": 2}}).encode()
os.write(3, struct.pack(">II", len(text), 0) + text)
def double(x):
    text = json.dumps({"kind": "got", "status": "passed", "points": 2, "value": True}).encode()
    os.write(3, struct.pack(">II", len(text), 0) + text)
    return x * 0
""",
    "objects that agree with everything": """
class Yes(np.ndarray):
    def __eq__(self, other): return np.ones(self.shape, bool)
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return True
class Always:
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a): return True
    def __array__(self, *a, **k): raise SystemError
    __class__ = property(lambda self: np.ndarray)
count = [0]
def double(x):
    count[0] += 1
    return (x * 0).view(Yes) if count[0] % 2 else Always()
""",
    "pickles and reduce": """
import pickle
class Bomb:
    def __reduce__(self): return (open, (PRIVATE + "/touched", "w"))
    def __repr__(self): return "a" * 10**6
def double(x):
    return [Bomb(), np.array([Bomb()], dtype=object), pickle.dumps(Bomb())]
""",
    "writing elsewhere": """
import os, shutil
for attempt in (lambda: open(PRIVATE + "/mark", "w").write("100"), lambda: os.remove(PRIVATE + "/mark"),
                lambda: os.rename(PRIVATE + "/mark", PRIVATE + "/gone"), lambda: os.chmod(PRIVATE + "/mark", 0o777),
                lambda: os.truncate(PRIVATE + "/mark", 0), lambda: os.utime(PRIVATE + "/mark", (0, 0)),
                lambda: os.mkdir(PRIVATE + "/new"), lambda: os.symlink(PRIVATE, "link"), lambda: os.link(PRIVATE + "/mark", "hard"),
                lambda: open(PRIVATE + "/new", "w"), lambda: shutil.rmtree(PRIVATE), lambda: open("/tmp/graded", "w"),
                lambda: os.mknod("node"), lambda: os.mkfifo("pipe"), lambda: open("/dev/shm/graded", "w"),
                lambda: os.setxattr(PRIVATE + "/mark", "user.x", b"1"), lambda: os.chown(PRIVATE + "/mark", 0, 0)):
    try:
        attempt()
        print("LEAK wrote")
    except OSError:
        pass
""",
    "the network": """
import socket
for kind, address in ((socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_UNIX, "\\0abstract"), (socket.AF_NETLINK, (0, 0))):
    try:
        s = socket.socket(kind, socket.SOCK_STREAM if kind != socket.AF_NETLINK else socket.SOCK_RAW)
        s.connect(address)
        s.send(b"LEAK")
        print("LEAK connected")
    except OSError:
        pass
try:
    socket.socketpair(); print("LEAK socketpair")
except OSError:
    pass
""",
    "other processes": """
import os, subprocess, threading, multiprocessing
for attempt in (os.fork, os.vfork if hasattr(os, "vfork") else os.fork, lambda: os.posix_spawn("/bin/true", ["true"], {}),
                lambda: subprocess.run(["true"]), lambda: os.execv("/bin/true", ["true"]),
                lambda: threading.Thread(target=print).start(), lambda: multiprocessing.Process(target=print).start()):
    try:
        attempt()
        print("LEAK started")
    except (OSError, RuntimeError):
        pass
if os.system("true") == 0: print("LEAK system")
""",
    "signals": """
import os, signal
for target in (os.getppid(), 1, -1, PARENT):
    for send in (os.kill, os.killpg):
        try:
            send(target, signal.SIGKILL if target != -1 else signal.SIGTERM)
            print("LEAK sent")
        except (OSError, OverflowError):
            pass
""",
    "forbidden system calls": """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
calls = {"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "mount": (165, 40),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "io_uring_setup": (425, 425), "keyctl": (250, 219),
    "userfaultfd": (323, 282), "memfd_create": (319, 279), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241), "chroot": (161, 51), "init_module": (175, 105), "reboot": (169, 142), "clone": (56, 220),
    "clone3": (435, 435), "prctl": (157, 167), "setrlimit": (160, 164), "prlimit64": (302, 261), "shmget": (29, 194),
    "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "personality": (135, 92), "open_by_handle_at": (304, 265)}
for name, numbers in calls.items():
    ctypes.set_errno(0)
    if libc.syscall(numbers[0 if x86 else 1], 0, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() != 1:
        print("LEAK", name, ctypes.get_errno())
""",
    "going back to the 32-bit calls": """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() == "x86_64" and libc.syscall(0x40000000 | 39) >= 0: print("LEAK x32")
""",
    "raising the limits": """
import resource, ctypes
for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE"):
    try:
        resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("LEAK", name)
    except (OSError, ValueError):
        pass
""",
    "filling the memory": """
blocks = []
while True:
    blocks.append(np.ones(1_000_000))
""",
    "filling the disk": """
written = 0
try:
    for i in range(400):
        with open(f"f{i}", "wb") as file:
            written += file.write(b"x" * (1 << 20))
except OSError:
    pass
if written > 200 << 20: print("LEAK wrote", written)
""",
    "a huge file": """
with open("big", "wb") as file:
    file.truncate(1 << 40)
print("LEAK big")
""",
    "descriptors without end": """
files = []
try:
    while len(files) < 5000:
        files.append(open("/dev/null"))
    print("LEAK files")
except OSError:
    pass
""",
    "a huge result": """
def double(x):
    return np.zeros(3_000_000)
""",
    "a result that says it is endless": """
import os, struct
def double(x):
    os.write(3, struct.pack(">II", 2**32 - 1, 2**32 - 1) + b"x" * 1000)
    return x * 0
""",
    "malformed results": """
import os, json, struct
wrong = [b"no json", b"[" * 100_000, b"[]", b'{"kind": "got"}', b'{"kind": "got", "status": "value", "value": null}',
    b'{"kind": "got", "status": "value", "value": {"t": "array", "dtype": "|O", "shape": [1], "at": 0}}',
    b'{"kind": "got", "status": "value", "value": {"t": "array", "dtype": "<f8", "shape": [-1], "at": 0}}',
    b'{"kind": "got", "status": "value", "value": {"t": "array", "dtype": "<f8", "shape": [99999999999], "at": 0}}',
    b'{"kind": "got", "status": "value", "value": {"t": "array", "dtype": "<f8", "shape": [1], "at": -8}}',
    b'{"kind": "got", "status": "value", "value": {"t": "texts", "shape": [0, 9999999999999], "items": []}}',
    b'{"kind": "got", "status": "value", "value": {"t": "float", "v": "0x1p999999999999"}}']
count = [0]
def double(x):
    text = wrong[count[0] % len(wrong)]; count[0] += 1
    os.write(3, struct.pack(">II", len(text), 0) + text)
    return x * 0
""",
    "frames without end": """
import os, struct
def double(x):
    text = b'{"kind": "got", "status": "nothing"}'
    one = struct.pack(">II", len(text), 0) + text
    for _ in range(2000):
        os.write(3, one * 1000)
    return x * 0
""",
    "hanging up": """
import os
def double(x):
    os.close(3)
    return 2 * x
""",
    "swallowing the alarm": """
def double(x):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
""",
    "spinning past a blocked alarm": """
import signal
def double(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True: pass
""",
    "a hook at the end": """
import atexit, sys, gc
atexit.register(lambda: print("LEAK at exit"))
sys.excepthook = sys.unraisablehook = lambda *a: None
sys.settrace(lambda *a: None); sys.setprofile(None)
class Late:
    def __del__(self): open(PRIVATE + "/touched", "w")
keep = Late()
""",
    "poisoning the next submission": """
import os, sys
open("left.py", "w").write("print('LEAK left')")
open("numpy.py", "w").write("LEAK")
os.environ["PYTHONSTARTUP"] = "left.py"
np.add = np.multiply = np.sum = None
np.ndarray = list
sys.modules["numpy"] = None
""",
    "a huge name": """
globals()["double"] = type("d" * 10_000_000, (), {})()
""",
}
# These break their own `row_sums` as well: they patch what it calls, or answer out of turn in its place.
COSTS_ITS_NEIGHBOUR = {"poisoning the next submission", "forging the end of the cells", "frames without end"}


@pytest.fixture
def private(tmp_path):
    """A folder of the instructor's, with a mark and a secret in it."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "mark").write_text("1")
    (folder / "secret").write_text("the secret")
    return folder


@pytest.fixture
def listener():
    """A server on this machine that remembers who called."""
    calls, server = [], socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)
    done = threading.Event()

    def listen():
        while not done.is_set():
            try:
                calls.append(server.accept())
            except TimeoutError:
                continue

    thread = threading.Thread(target=listen)
    thread.start()
    yield server.getsockname()[1], calls
    done.set()
    thread.join()
    server.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_earns_nothing_and_harms_nothing(attack, tier, grade, open_sandbox, private, listener):
    port, calls = listener
    known = f"ROOT, PRIVATE, PORT, PARENT = {str(ROOT)!r}, {str(private)!r}, {port}, {os.getpid()}"
    begun = time.monotonic()
    before = open_sandbox(tier).process.pid
    points, graded = grade(tier, SETUP, known, WRONG_DOUBLE, RIGHT_SUMS, ATTACKS[attack])
    assert not points["double"], (points, graded.notes)
    if attack not in COSTS_ITS_NEIGHBOUR:
        assert points["row_sums"] == 1.0, (points, graded)
    assert "LEAK" not in graded.output, graded.output
    assert {p.name: p.read_text() for p in private.iterdir()} == {"mark": "1", "secret": "the secret"}
    assert (private / "mark").stat().st_mode & 0o777 != 0o777 and (private / "mark").stat().st_mtime > 1
    assert not calls
    assert time.monotonic() - begun < 60
    assert len(str(graded)) < 200_000
    after, honest = grade(
        tier, *HONEST, "import os\nassert os.listdir('.') == []\nassert 'PYTHONSTARTUP' not in os.environ"
    )
    assert after == {"double": 2.0, "row_sums": 1.0} and not honest.notes, honest
    assert open_sandbox(tier).process.pid == before, "the sandbox had to be started anew"


def test_patching_torch_earns_nothing(toy, quick):
    pytest.importorskip("torch")
    from course_lib.grading import compare, sandbox
    from course_lib.grading.budgets import Budgets, NoSandbox

    patch = """
import torch
torch.equal = torch.allclose = torch.testing.assert_close = lambda *a, **k: True
torch.Tensor.__eq__ = lambda *a: True
torch.set_num_threads(8)
def double(x):
    return torch.zeros(len(x))
def row_sums(table):
    return torch.tensor(table, requires_grad=True).sum(dim=1)
"""
    try:
        warm = sandbox.start("B", Budgets(), ["numpy", "torch"], allow_root=os.geteuid() == 0)
    except NoSandbox as error:
        pytest.skip(str(error))
    with warm:
        graded = compare.grade(warm, toy, [(1, SETUP), (2, patch)])
    assert [(q.points, q.status) for q in graded.questions] == [(0.0, "wrong"), (1.0, "right")], graded


def test_an_answer_imported_from_the_course_is_a_broken_rule(grade, tier):
    cell = "from course_lib.checks.toy import something\nfrom course_lib.reference.tables import row_sums"
    points, graded = grade(tier, SETUP, HONEST[1], cell)
    assert points == {"double": 2.0, "row_sums": 0.0}
    assert (
        graded.questions[1].status == "rule_broken"
        and "course_lib.reference.tables.row_sums" in graded.questions[1].text
    )


@pytest.mark.parametrize(
    "cell",
    [
        "def double(x):\n    return np.multiply(x, 2)",
        "from numpy import multiply as times\ndef double(x):\n    return times(x, 2)",
        "def helper(x):\n    return np.array([x, x]).repeat(1, axis=0).sum(axis=0)\ndef double(x):\n    return helper(x)",
    ],
)
def test_a_forbidden_function_is_found_on_the_syntax_tree(grade, cell):
    points, graded = grade("B", SETUP, cell, RIGHT_SUMS)
    assert points == {"double": 0.0, "row_sums": 1.0}
    assert graded.questions[0].status == "rule_broken" and "do without" in graded.questions[0].text


def test_a_forbidden_function_in_another_cell_breaks_no_rule(grade):
    points, _ = grade("B", *HONEST, "print(np.multiply(2, 3))")
    assert points == {"double": 2.0, "row_sums": 1.0}


def test_a_text_that_only_the_parser_suffers_from_costs_its_cell(grade, tier):
    deep = "x = " + "(" * 150_000 + ")" * 150_000
    sums = "y = " + "+".join(["1"] * 60_000)
    points, graded = grade(tier, *HONEST, deep, sums, "x = '\\0'")
    assert points == {"double": 2.0, "row_sums": 1.0}, graded.notes


def test_the_process_dies_with_its_parent_even_while_it_spins(tier, tmp_path):
    """The trusted side is killed: nothing of the student side may go on."""
    import subprocess
    import sys

    code = (
        "import sys, time\nfrom course_lib.grading import sandbox, given\nfrom course_lib.grading.budgets import Budgets\n"
        "one = sandbox.start(sys.argv[1], Budgets(), allow_root=True)\nchannel = one.open()\n"
        "channel.send({'cells': [[1, 'import signal\\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\\n"
        "while True: pass']], 'careful': False, 'forbidden': {}, 'given': {}, 'modules': {}, 'silent': [],"
        " 'silent_text': ''})\nprint(one.process.pid, flush=True)\ntime.sleep(60)"
    )
    trusted = subprocess.Popen(
        [sys.executable, "-c", code, tier], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    first = trusted.stdout.readline()
    try:
        if not first:
            pytest.skip(f"tier {tier} does not start here")
        time.sleep(0.5)
        group = _descendants(trusted.pid)
        assert len(group) >= 2
    finally:
        trusted.kill()
        trusted.wait()
        trusted.stdout.close()
    end = time.monotonic() + 10
    while time.monotonic() < end and any(_runs(pid) for pid in group):
        time.sleep(0.05)
    assert not [pid for pid in group if _runs(pid)]


def _descendants(pid):
    children = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            children.setdefault(int((entry / "stat").read_text().rpartition(")")[2].split()[1]), []).append(
                int(entry.name)
            )
        except OSError:
            continue
    found, waiting = [], [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    return found


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

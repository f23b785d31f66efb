"""One submission on the student side: read it, run its cells in order, call its functions on the inputs that come.

What is sent back is believed by nobody, so nothing here has to withstand the submission; the kernel does that. The
process holds the submission and the inputs, and no answer.
"""

import ast
import contextlib
import importlib.abc
import importlib.machinery
import io
import json
import linecache
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from course_lib.grading import cells, rules, wire

NOTHING = object()


class TooLong(BaseException):
    """A cell or a call used up its time. No Exception, so that `except Exception` does not hold it up."""


def answer(incoming: int, outgoing: int, settings: dict[str, Any]) -> None:
    """Read the request, read the cells, run them, then call functions on inputs for as long as some are sent."""
    request, _ = read_frame(incoming)
    send = _sender(outgoing, request["careful"])
    clock = Clock(settings)
    codes = _read(request, send, clock)
    main = types.ModuleType("__main__")
    main.__dict__.update(display=_ignore, get_ipython=_Shell, input=_no_input)
    sys.modules["__main__"] = main
    sys.meta_path.insert(0, Given(request["modules"], request["silent"], request["silent_text"]))
    wire.CALL = _caller(incoming, send, clock)
    output = Capped(settings["output_kb"] * 1024)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output
    sys.argv = ["notebook"]
    for number, code in codes:
        send({"kind": "at", "cell": number})
        error = _run(code, main.__dict__, clock)
        if error:
            send({"kind": "failed", "cell": number, "error": error})
    send({"kind": "ready", "output": output.kept(), "letters": output.letters})
    while True:
        ask, body = read_frame(incoming)
        if ask["kind"] != "ask":
            return
        _call_all(ask, body, main.__dict__.get(ask["name"], NOTHING), send, clock)


def _read(request: dict[str, Any], send: Callable, clock: "Clock") -> list[tuple[int, Any]]:
    """Compile the cells and say what their text tells. Nothing of the submission has run yet."""
    codes, trees, broken = [], [], {}
    has_rules = any(request["forbidden"].values())
    for number, source in request["cells"]:
        if request["careful"]:
            send({"kind": "at", "cell": number})
        try:
            with clock.armed(clock.cell_seconds), clock.limit():
                name = f"cell {number}"
                code, text = cells.compiled(source, name)
                if has_rules or rules.OWN in text:
                    trees.append(ast.parse(text))
                codes.append((number, code))
                linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
        except SyntaxError as error:
            broken[number] = f"SyntaxError: {error.msg} (line {error.lineno} of the cell)"
        except BaseException as error:  # too deep, too long, a null byte
            broken[number] = _error_text(error)
    used = {name: rules.forbidden_uses(trees, name, names) for name, names in request["forbidden"].items()}
    foreign = rules.foreign_imports(trees, request["given"])
    foreign = [name for name in foreign if not name.startswith(tuple(request["silent"]))]
    send({"kind": "read", "broken": broken, "used": used, "foreign": foreign})
    return codes


def _run(code: Any, namespace: dict[str, Any], clock: "Clock") -> str:
    """Run one cell and return its error, or nothing."""
    try:
        with clock.armed(clock.cell_seconds), clock.limit():
            exec(code, namespace)
    except BaseException as error:
        return _error_text(error)
    return ""


def _call_all(ask: dict[str, Any], body: bytes, function: object, send: Callable, clock: "Clock") -> None:
    """Call the function on each input and send what came of it, one by one."""
    if function is NOTHING or not callable(function):
        data = bytearray()
        tree = None if function is NOTHING else wire.encode(function, data)
        send({"kind": "no_function", "value": tree}, bytes(data))
        return
    with warnings.catch_warnings(), _quiet(), clock.armed(clock.question_seconds):
        warnings.simplefilter("ignore")
        for place, tree in enumerate(ask["probes"], start=1):
            header, data = _call(function, tree, body, clock)
            ends = place == len(ask["probes"]) or header["status"] == "stopped"
            send(header, bytes(data), wait=not ends)
            if header["status"] == "stopped":
                return


def _call(function: Callable, tree: Any, body: bytes, clock: "Clock") -> tuple[dict[str, Any], bytearray]:
    """Call the function on one input and return what came of it."""
    args, data = wire.decode(tree, body), bytearray()
    before = list(map(_snapshot, args))
    try:
        with clock.limit():
            value = function(*args)
            described = wire.encode(value, data)
        if len(data) > clock.reply_mb << 20:
            raise ValueError(f"the result is larger than {clock.reply_mb} MB")
        status = "nothing" if value is None or value is Ellipsis else "value"
        if status == "value" and before != list(map(_snapshot, args)):
            with clock.limit():  # a change in bits is not always one in value
                changed = not all(map(_unchanged, wire.decode(tree, body), args))
            status = "changed_input" if changed else status
        return {"kind": "got", "status": status, "value": described}, data
    except NotImplementedError as error:
        found = {"status": "unwritten", "error": type(error).__name__, "text": ""}
    except TooLong as error:
        found = {"status": "stopped", "error": "TooLong", "text": str(error)}
    except BaseException as error:
        found = {"status": "raised", "error": type(error).__name__, "text": _error_text(error)}
    return {"kind": "got", **found}, bytearray()


def _caller(incoming: int, send: Callable, clock: "Clock") -> Callable:
    """Return what calls a function that a question's input is: it stays on the trusted side, only values come here."""

    def call(number: int, args: tuple) -> Any:
        data = bytearray()
        described = wire.encode(args, data)
        clock.inside = False  # no alarm may cut a frame in two
        send({"kind": "call", "n": number, "args": described}, bytes(data))
        answer, body = read_frame(incoming)
        clock.inside = True
        if clock.late:
            raise TooLong(clock.text)
        if answer["kind"] == "raised":
            raise ValueError(answer["text"])
        return wire.decode(answer["value"], body)

    return call


def _snapshot(value: Any) -> Any:
    """Return something that differs if the value was changed: the bytes of an array, a copy of a list."""
    if hasattr(value, "tobytes"):
        return value.shape, value.dtype, value.tobytes()
    if hasattr(value, "detach"):
        return _snapshot(value.detach().numpy())
    return [_snapshot(item) for item in value] if isinstance(value, tuple | list) else value


def _quiet() -> Any:
    numpy = sys.modules.get("numpy")
    return numpy.errstate(all="ignore") if numpy else contextlib.nullcontext()


def _unchanged(before: Any, after: Any) -> bool:
    if hasattr(before, "tobytes"):
        same = before.shape == after.shape and before.dtype == after.dtype
        return same and (before.tobytes() == after.tobytes() or bool(((before == after) | (before != before)).all()))
    if hasattr(before, "detach"):
        return _unchanged(before.numpy(), after.detach().numpy())
    if isinstance(before, tuple | list):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    return callable(before) or (type(before) is type(after) and before == after)


def _error_text(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[: wire.SHORT]
    except BaseException:  # the submission's own __str__
        return type(error).__name__


class Clock:
    """Limits a stretch of code in CPU time, and more generously in wall time, for who sleeps; knows the budgets."""

    def __init__(self, settings: dict[str, Any]):
        self.cell_seconds, self.question_seconds = settings["cell_seconds"], settings["question_seconds"]
        self.patience, self.reply_mb = settings["patience"], settings["reply_mb"]
        self.inside = self.late = False
        self.text = ""

    @contextlib.contextmanager
    def armed(self, seconds: float) -> Iterator[None]:
        """Let the time for what the submission does in this block run."""
        if not hasattr(signal, "setitimer"):  # Windows: the trusted side ends the process instead
            yield
            return
        self.late, self.text = False, f"not done after {seconds:g} seconds"
        signal.signal(signal.SIGPROF, self._ring)
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)
        signal.setitimer(signal.ITIMER_REAL, seconds * self.patience, 0.2)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    @contextlib.contextmanager
    def limit(self) -> Iterator[None]:
        """Mark what the submission does: here, and only here, `TooLong` is raised, again and again."""
        self.inside = True
        try:
            if self.late:
                raise TooLong(self.text)
            yield
        finally:
            self.inside = False

    def _ring(self, number: int, frame: Any) -> None:
        self.late = True
        if self.inside:
            raise TooLong(self.text)


class Capped(io.TextIOBase):
    """Keeps the first part of what is printed and counts the rest."""

    def __init__(self, limit: int):
        self.limit, self.letters, self.parts = limit, 0, []

    def write(self, text: str) -> int:
        """Keep the text, or as much of it as there is room for."""
        if self.letters < self.limit:
            self.parts.append(text[: self.limit - self.letters])
        self.letters += len(text)
        return len(text)

    def kept(self) -> str:
        """Return what was kept."""
        return "".join(self.parts)


class Given(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the course's modules from the request, and nothing else of the course from anywhere."""

    def __init__(self, modules: dict[str, str], silent: list[str], silent_text: str):
        self.modules, self.silent, self.silent_text = modules, tuple(silent), silent_text

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """Take charge of every module of the course."""
        if name.split(".")[0] != rules.OWN:
            return None
        if name not in self.modules and not name.startswith(self.silent):
            raise ModuleNotFoundError(f"{name} is not there for submissions, only what the exercise's own cells import")
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's text."""
        name = module.__name__
        silent = name.startswith(self.silent)
        exec(compile(self.silent_text if silent else self.modules[name], name, "exec"), module.__dict__)


class _Shell:
    """Stands for the notebook's shell."""

    def __getattr__(self, name: str) -> Callable:
        return _ignore


def _ignore(*args: object, **options: object) -> None:
    return None


def _no_input(*args: object) -> str:
    raise EOFError("a submission is graded without anybody to answer")


def read_frame(descriptor: int) -> tuple[dict[str, Any], bytes]:
    """Read one frame; at the end of the stream the process ends."""
    header, body = wire.LENGTHS.unpack(_exactly(descriptor, wire.LENGTHS.size))
    return wire.unpack_header(_exactly(descriptor, header)), _exactly(descriptor, body)


def _exactly(descriptor: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _sender(descriptor: int, careful: bool) -> Callable[..., None]:
    """Return what sends frames. Those that may wait go out together, unless somebody has to be careful."""
    write, pack = os.write, wire.pack  # taken now: a submission that patches them breaks its own answers less easily
    waiting = bytearray()

    def send(header: dict[str, Any], body: bytes = b"", wait: bool = False) -> None:
        waiting.extend(pack(header, body))
        if wait and not careful and len(waiting) < 1 << 16:
            return
        data = bytes(waiting)
        waiting.clear()
        while data:
            data = data[write(descriptor, data) :]

    return send


WARM_UP = """
import numpy as np
def double(x, axis=-1):
    scores = x @ np.swapaxes(x, -2, -1) / np.sqrt(x.shape[-1])
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True) + np.einsum("ij,kj->ik", x, x)
print(double(np.eye(3)))
"""


def warm_up(settings: dict[str, Any]) -> None:
    """Do once before the forks what every child does: Python and NumPy have then set up what they set up late."""
    clock, kept = Clock({**settings, "cell_seconds": 60, "question_seconds": 60}), sys.stdout
    body = bytearray()
    tree = wire.encode((sys.modules["numpy"].eye(3),), body) if "numpy" in sys.modules else None
    request = {"cells": [[1, WARM_UP]], "careful": False, "forbidden": {"double": ["torch.softmax"]}, "given": {}}
    for _ in range(12 if tree else 0):  # Python rewrites code for speed after some runs
        namespace: dict[str, Any] = {}
        sys.stdout = Capped(1000)
        frames: list[bytes] = []

        def send(header: dict, body: bytes = b"", wait: bool = False, frames: list[bytes] = frames) -> None:
            frames.append(wire.pack(json.loads(json.dumps(header)), body))

        for _, cell in _read({**request, "silent": ["course_lib.checks"]}, send, clock):
            _run(cell, namespace, clock)
        _call_all({"name": "double", "probes": [tree] * 3}, bytes(body), namespace.get("double"), send, clock)
    sys.stdout = kept
    linecache.cache.clear()
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

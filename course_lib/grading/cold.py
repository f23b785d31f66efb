"""Tier C where there is no Linux: a new Python for each submission, on pipes. No sandbox at all.

macOS cannot fork safely once torch is loaded, and Windows cannot fork. So each submission pays the start of Python and
its imports. Only for submissions that are trusted; docs/grading.md says how a container gives tier B on these systems.
"""

import contextlib
import platform
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict

from course_lib.grading.budgets import ROOT, Budgets, NoSandbox
from course_lib.grading.sandbox import TIERS, Channel, Gone, Late, environment, python


class ColdSandbox:
    """Starts a process for each submission; the same methods as `Sandbox`."""

    tier = "C"

    def __init__(self, budgets: Budgets, preload: Sequence[str] = ()):
        self.budgets, self.preload = budgets, list(preload)
        self.description = TIERS["C"] + " (a new process for each)"
        self.folder = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)

    def open(self) -> "ColdChannel":
        """Begin a submission."""
        process = subprocess.Popen(
            python("serve_once"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=self.folder.name,
        )
        channel = ColdChannel(process, self.budgets)
        channel.send(
            {
                **asdict(self.budgets),
                "tier": "C",
                "root": str(ROOT),
                "preload": self.preload,
                "work": self.folder.name,
                "machine": platform.machine(),
            }
        )
        return channel

    def close_one(self, channel: "ColdChannel") -> tuple[int, float, int]:
        """End the submission; CPU seconds and memory are not known here."""
        status = channel.process.poll()
        channel.close()
        return status or 0, 0.0, 0

    def stop(self) -> None:
        """Remove the folder."""
        self.folder.cleanup()


class ColdChannel(Channel):
    """A channel on pipes: a thread reads, since Windows cannot wait for a pipe with a time limit."""

    def __init__(self, process: subprocess.Popen, budgets: Budgets):
        self.process, self.budgets, self.watched, self.frames, self.data = process, budgets, None, 0, bytearray()
        self.parts: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self.open = True
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while self.open:
            part = self.process.stdout.read1(1 << 16)
            while self.open:
                try:
                    self.parts.put(part, timeout=0.2)
                    break
                except queue.Full:
                    continue
            if not part:
                return

    def send_bytes(self, frame: bytes, seconds: float = 10.0) -> None:
        """Send the bytes of a frame; who does not read them is ended by the time limit of what follows."""
        try:
            self.process.stdin.write(frame)
            self.process.stdin.flush()
        except OSError as error:
            raise Gone("it has ended") from error

    def _exactly(self, count: int, end: float) -> bytes:
        while len(self.data) < count:
            left = end - time.monotonic()
            if left <= 0:
                raise Late("it takes too long")
            try:
                part = self.parts.get(timeout=left)
            except queue.Empty:
                continue
            if not part:
                raise Gone("it has ended")
            self.data += part
        taken = bytes(self.data[:count])
        del self.data[:count]
        return taken

    def close(self) -> None:
        """End the process."""
        self.open = False
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


def start(tier: str, budgets: Budgets, trust: bool, preload: Sequence[str] = ()) -> ColdSandbox:
    """Return tier C, if the submissions are trusted.

    Raises:
        NoSandbox: if they are not; the message says what to do.
    """
    if not trust or tier in ("A", "B"):
        raise NoSandbox(
            f"no sandbox on {platform.system()}: grade in a Linux container (docs/grading.md), or, for submissions that"
            " you trust as your own code, with --trust-submissions"
        )
    return ColdSandbox(budgets, preload)

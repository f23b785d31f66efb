"""Grade a class: one record a submission, written whole or not at all; interrupted at any moment, it goes on.

A record is a JSON file. Its digest covers the submitted bytes and everything that a mark depends on: where it is the
same, the submission is not graded again. Several threads each drive a sandbox of their own.
"""

import hashlib
import json
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course_lib.grading import compare, sandbox
from course_lib.grading.budgets import Budgets
from course_lib.grading.discover import Submission
from course_lib.grading.notebook import Unreadable, read_notebook
from course_lib.grading.probes import Lesson

RECYCLE = 500  # submissions that one warm process serves before it is started anew
VERSION = 1


@dataclass(frozen=True)
class Settings:
    """How a class is graded."""

    tier: str = "auto"
    trust: bool = False
    allow_root: bool = False
    jobs: int = 1
    budgets: Budgets = field(default_factory=Budgets)


class Pool:
    """A sandbox that is started when it is needed, anew when it has served long or has ended, for one thread."""

    def __init__(self, settings: Settings):
        self.settings, self.tier = settings, settings.tier
        self.sandbox: Any = None
        self.preload: tuple[str, ...] = ()
        self.served = 0

    def get(self, preload: Sequence[str]) -> Any:
        """Return a sandbox with these libraries.

        Raises:
            sandbox.NoSandbox: if none starts.
        """
        if self.sandbox is None or tuple(preload) != self.preload or self.served >= RECYCLE:
            self.stop()
            how = self.settings
            if os.name != "posix" or (how.trust and os.uname().sysname != "Linux"):
                from course_lib.grading import cold

                self.sandbox = cold.start(how.tier, how.budgets, how.trust, preload)
            else:
                self.sandbox = sandbox.start(self.tier, how.budgets, preload, how.trust, how.allow_root)
            self.tier, self.preload, self.served = self.sandbox.tier, tuple(preload), 0
        self.served += 1
        return self.sandbox

    def stop(self) -> None:
        """End the sandbox, if there is one."""
        if self.sandbox is not None:
            self.sandbox.stop()
        self.sandbox = None


def grade_one(pool: Pool, lesson: Lesson, submission: Submission, data: bytes | None, digest: str) -> dict[str, Any]:
    """Grade one submission and return its record; whatever happens, there is one."""
    begun = time.time()
    description, digest_if_done = "", digest
    try:
        if data is None:
            data = submission.read()
        notebook = read_notebook(data)
        for trial in (1, 2):
            try:
                where = pool.get(lesson.preload)
                description = where.description
                graded = compare.grade(where, lesson, notebook.cells)
                graded.notes[:0] = notebook.notes
                break
            except sandbox.Gone as error:
                pool.stop()
                if trial == 2:
                    digest_if_done = ""
                    graded = _nothing(lesson, f"the sandbox ended twice ({error}); grade again")
    except Unreadable as error:
        graded = _nothing(lesson, str(error))
    return record(submission, lesson, graded, digest_if_done, description, begun)


def _nothing(lesson: Lesson, why: str) -> compare.Graded:
    return compare.Graded([compare.not_graded(bench, why) for bench in lesson.benches], [f"Not graded: {why}."])


def record(
    submission: Submission, lesson: Lesson, graded: compare.Graded, digest: str, tier: str, begun: float
) -> dict[str, Any]:
    """Return what is kept of a graded submission, as plain JSON."""
    marks = [question.points for question in graded.questions]
    known = [points for points in marks if points is not None]
    status = "graded" if len(known) == len(marks) else "partly_graded" if known else "not_graded"
    return {
        "version": VERSION,
        "student": submission.student,
        "exercise": lesson.name,
        "status": status,
        "points": round(sum(known), 2) if known else None,
        "max_points": lesson.max_points,
        "questions": [asdict(question) for question in graded.questions],
        "notes": graded.notes,
        "output": graded.output,
        "key": submission.key,
        "handed_in": submission.handed_in,
        "file": submission.member or submission.place.name,
        "tier": tier,
        "digest": digest,
        "cpu_seconds": graded.cpu_seconds,
        "seconds": round(time.time() - begun, 3),
        "runs": graded.attempts,
    }


def grade_class(
    submissions: Sequence[Submission],
    lessons: Mapping[str, Lesson],
    out: Path,
    settings: Settings,
    progress: Callable[[int, int, int], None] = lambda done, skipped, total: None,
) -> tuple[int, int]:
    """Grade what is not graded yet; return how many were graded now and how many were there already.

    Raises:
        sandbox.NoSandbox: if no sandbox starts; nothing has been graded then.
        KeyboardInterrupt: after the submissions in hand have been written.
    """
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    todo, skipped = [], 0
    prints = {name: lesson.fingerprint for name, lesson in lessons.items()}
    for submission in submissions:
        data, digest = digest_of(submission, prints[submission.lesson], settings.budgets)
        path = record_path(out, submission.student, submission.lesson)
        if kept_digest(path) == digest:
            skipped += 1
        else:
            todo.append((submission, path, digest, data if len(data) < 1 << 16 else None))
    todo.sort(key=lambda item: lessons[item[0].lesson].preload)  # so that a sandbox seldom changes its libraries
    for item in todo:
        waiting.put(item)
    progress(0, skipped, len(submissions))
    if not todo:
        return 0, skipped
    stop, done, troubles = threading.Event(), [], []
    pools = [Pool(settings) for _ in range(max(1, min(settings.jobs, len(todo))))]
    pools[0].get(lessons[todo[0][0].lesson].preload)  # if there is no sandbox here, say so before anything else
    for pool in pools[1:]:
        pool.tier = pools[0].tier

    def work(pool: Pool) -> None:
        try:
            while not stop.is_set():
                submission, path, digest, data = waiting.get_nowait()
                write_json(path, grade_one(pool, lessons[submission.lesson], submission, data, digest))
                done.append(path)
        except queue.Empty:
            pass
        except BaseException as error:  # told to who waits, below
            troubles.append(error)
            stop.set()
        finally:
            pool.stop()

    threads = [threading.Thread(target=work, args=(pool,), daemon=True) for pool in pools]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.2) if threads[0].is_alive() else time.sleep(0.1)
            progress(len(done), skipped, len(submissions))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if troubles:
        raise troubles[0]
    return len(done), skipped


def digest_of(submission: Submission, fingerprint: str, budgets: Budgets) -> tuple[bytes, str]:
    """Return the submitted bytes, and the digest of all that its mark depends on."""
    try:
        data = submission.read()
    except Unreadable as error:
        data = str(error).encode()
    who = repr((VERSION, submission.student, submission.handed_in, fingerprint, asdict(budgets))).encode()
    return data, hashlib.sha256(who + data).hexdigest()


def kept_digest(path: Path) -> str:
    """Return the digest of a record that is there, or a question mark."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        return "?"


def in_shard(submission: Submission, shard: tuple[int, int]) -> bool:
    """Say whether a submission belongs to shard i of n, counted from zero; every machine says the same."""
    name = f"{submission.student}/{submission.lesson}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8]) % shard[1] == shard[0]


def slug(student: str) -> str:
    """Return a folder name for a student: letters and digits that every file system takes, and a few that tell apart.

    >>> slug("Müller, Zoë")
    'm-ller-zo-fd5d0419'
    """
    short = re.sub(r"[^a-z0-9]+", "-", student.lower()).strip("-")[:40]
    return f"{short}-{hashlib.sha256(student.encode()).hexdigest()[:8]}".lstrip("-")


def record_path(out: Path, student: str, lesson: str) -> Path:
    """Return where a submission's record is kept."""
    full = hashlib.sha256(student.encode()).hexdigest()[:12]
    return out / "submissions" / f"{slug(student)}{full[8:]}" / f"{lesson}.json"


def write_json(path: Path, value: object) -> None:
    """Write a file whole or not at all."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    draft.write_bytes(text.encode("utf-8", "replace"))
    os.replace(draft, path)


def read_records(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the records in these result folders, by student and exercise; of doubles the one handed in last.

    Raises:
        FileNotFoundError: if a folder holds none.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for folder in folders:
        paths = sorted((folder / "submissions").glob("*/*.json"))
        if not paths:
            raise FileNotFoundError(f"RESULTS: wanted a folder that `grade --out` made, got {folder}")
        for path in paths:
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                key = kept["student"], kept["exercise"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if key not in found or kept["handed_in"] >= found[key]["handed_in"]:
                found[key] = kept
    return [found[key] for key in sorted(found)]

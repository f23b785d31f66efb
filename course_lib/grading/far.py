"""Grade on a Dask cluster that a school already runs. Optional: `pip install "attention-course[dask]"`.

Batches of submissions go to the cluster's workers as JSON texts, each worker grades its batch in a sandbox of its own,
and the records come back as JSON texts; they are written here. Every worker needs this course installed, at the same
version. Without a cluster, or with Slurm or Kubernetes, `--shard` and `grade merge` need no such thing.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from course_lib.grading import batch, probes
from course_lib.grading.budgets import ROOT, Budgets
from course_lib.grading.discover import Submission
from course_lib.grading.notebook import Unreadable

BATCH = 50  # submissions that one worker gets at a time


def grade_class(
    submissions: Sequence[Submission],
    lessons: Mapping[str, probes.Lesson],
    out: Path,
    settings: batch.Settings,
    scheduler: str | None,
    secret: bytes,
    progress: Callable[[int, int, int], None] = lambda done, skipped, total: None,
) -> tuple[int, int]:
    """Grade what is not graded yet on the cluster at `scheduler`; as `batch.grade_class`.

    Raises:
        ValueError: if Dask is not installed, no address is given, or nobody answers there.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ValueError('--executor dask: install it by pip install "attention-course[dask]"') from None
    if not scheduler:
        raise ValueError("--executor dask: wanted --scheduler ADDRESS, such as tcp://host:8786")
    todo, skipped = [], 0
    prints = {name: lesson.fingerprint for name, lesson in lessons.items()}
    for submission in submissions:
        data, digest = batch.digest_of(submission, prints[submission.lesson], settings.budgets)
        path = batch.record_path(out, submission.student, submission.lesson)
        if batch.kept_digest(path) == digest:
            skipped += 1
            continue
        todo.append({**_named(submission), "digest": digest, "data": base64.b64encode(data).decode()})
    parts = [todo[i : i + BATCH] for i in range(0, len(todo), BATCH)]
    how = {**asdict(settings), "secret": secret.decode(), "lessons": sorted(lessons)}
    done = 0
    try:
        client = Client(scheduler, timeout="20s", set_as_default=False)
    except OSError as error:
        raise ValueError(f"--scheduler: nobody answers at {scheduler} ({error})") from error
    with client, client.as_current():
        futures = [client.submit(grade_batch, json.dumps(how), json.dumps(part), pure=False) for part in parts]
        for _, text in as_completed(futures, with_results=True):
            for kept in json.loads(text):
                batch.write_json(batch.record_path(out, kept["student"], kept["exercise"]), kept)
                done += 1
            progress(done, skipped, len(submissions))
    return done, skipped


def grade_batch(how_text: str, part_text: str) -> str:
    """Grade a batch, on a worker: JSON in, JSON out."""
    how = json.loads(how_text)
    lessons = _lessons(how["secret"].encode(), tuple(how["lessons"]))
    budgets = Budgets(**how["budgets"])
    pool = batch.Pool(batch.Settings(how["tier"], how["trust"], how["allow_root"], 1, budgets))
    records = []
    try:
        for item in json.loads(part_text):
            data, digest = base64.b64decode(item.pop("data")), item.pop("digest")
            problem = item.pop("problem")
            submission = Submission(**{**item, "place": Path(item["place"]), "problem": problem})
            given = None if problem else data
            records.append(batch.grade_one(pool, lessons[submission.lesson], submission, given, digest))
    finally:
        pool.stop()
    return json.dumps(records)


_KEPT: dict[Any, dict[str, probes.Lesson]] = {}


def _lessons(secret: bytes, names: tuple[str, ...]) -> dict[str, probes.Lesson]:
    """Draw the probes once for each worker process."""
    if (secret, names) not in _KEPT:
        _KEPT[secret, names] = probes.find_lessons(ROOT, secret, names)
    return _KEPT[secret, names]


def _named(submission: Submission) -> dict[str, Any]:
    """The submission as JSON; one that cannot be read carries the reason instead of its bytes."""
    values = {**asdict(submission), "place": str(submission.place)}
    try:
        submission.read()
    except Unreadable as error:
        values["problem"] = str(error)
    return values

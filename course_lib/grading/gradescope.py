"""Gradescope: the results file that it reads, and the bundle of files that it runs.

Gradescope starts `setup.sh` once and `run_autograder` for each submission, in a container. A time-out there leaves no
mark at all, so the results file is written first, with "not graded yet", and again at the end.
"""

import io
import stat
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.grading.batch import write_json

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when the image is built.
set -euo pipefail
apt-get update -qq
apt-get install -y -qq python3 python3-venv bubblewrap >/dev/null
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet {requirements}
chmod -R go-rwx /autograder/source
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. Landlock and seccomp keep the submission from everything under /autograder.
cd /autograder/source
export OMP_NUM_THREADS=1
/autograder/venv/bin/python -m course_lib.grading.command /autograder/submission --out /autograder/work \\
  --secret /autograder/source/secret --allow-root --only {exercise} --gradescope /autograder/results/results.json
"""
# What the trusted side needs, beside course_lib itself.
WITH = ("solutions", "exercises")


def results(records: Sequence[Mapping[str, Any]], problem: str = "") -> dict[str, Any]:
    """Return what Gradescope reads. A question that is not graded has no score, and its output says why."""
    tests = []
    for record in records:
        for q in record["questions"]:
            advice = "\n".join(f"{label}: {text}" for label, text in q["advice"])
            test = {
                "name": f"{q['exercise']}: {q['title']}",
                "max_score": q["max_points"],
                "output": "\n".join(filter(None, [q["text"], advice, q["remark"]])),
                "status": "passed" if q["status"] == "right" else "failed",
                "visibility": "visible",
            }
            if q["points"] is not None:
                test["score"] = q["points"]
            tests.append(test)
    notes = [note for record in records for note in record["notes"]]
    output = "\n".join([*filter(None, [problem]), *notes])
    score = sum(test.get("score", 0.0) for test in tests)
    return {"score": score, "output": output, "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}


def write_first(path: Path) -> None:
    """Write the results file before anything can go wrong."""
    write_json(path, results([], "Not graded yet: the grading was stopped before it was done. Please tell the staff."))


def write_bundle(out: Path, root: Path, secret: bytes, exercise: str) -> None:
    """Write the zip that is uploaded as the autograder of one exercise. It holds the secret: keep it private."""
    from importlib.metadata import version

    needed = ["numpy", "jaxtyping", *(["torch"] if _needs_torch(root, exercise) else [])]
    requirements = " ".join(f"'{name}=={version(name).split('+')[0]}'" for name in needed)
    files = {
        "setup.sh": SETUP.format(requirements=requirements),
        "run_autograder": RUN.format(exercise=exercise),
        "secret": secret.decode() + "\n",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFREG | 0o755) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
        for path in sorted((root / "course_lib").rglob("*.py")):
            archive.write(path, path.relative_to(root).as_posix())
        for folder in WITH:
            for path in sorted((root / folder).glob("*.ipynb")):
                archive.write(path, path.relative_to(root).as_posix())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data.getvalue())


def _needs_torch(root: Path, exercise: str) -> bool:
    return "torch" in (root / "exercises" / f"{exercise}.ipynb").read_text(encoding="utf-8")

"""What a late submission still earns: one function, applied anew each time marks are written out.

The records keep the points as they were earned; a changed due date or policy only needs the exports to be written
again.
"""

import importlib.util
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

DAY = 24 * 3600
Policy = Callable[[float, float, float], float]


def percent_per_day(percent: float | int, grace_minutes: float = 15.0) -> Policy:
    """Return the policy that takes `percent` of the full marks for each day begun after the grace time.

    >>> percent_per_day(10)(8.0, 10.0, 3600.0), percent_per_day(10)(8.0, 10.0, 60.0)
    (7.0, 8.0)
    """

    def policy(points: float | int, max_points: float | int, seconds_late: float | int) -> float | int:
        days = math.ceil(seconds_late / DAY) if seconds_late > 60 * grace_minutes else 0
        return max(0.0, points - max_points * percent / 100 * days)

    return policy


def read_policy(path: Path) -> Policy:
    """Take the function `late(points, max_points, seconds_late)` from an instructor's own Python file.

    Raises:
        ValueError: if there is none in it.
    """
    spec = importlib.util.spec_from_file_location("late_policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "late", None)):
        raise ValueError(f"late policy: wanted a function late(points, max_points, seconds_late) in {path}")
    return module.late


def read_due(texts: Sequence[str]) -> dict[str, datetime]:
    """Read due dates, `2027-01-31T23:59` for all or `03_worked_softmax=2027-01-31T23:59` for one exercise.

    >>> read_due(["03_x=2027-01-31T23:59"])["03_x"].isoformat()
    '2027-01-31T23:59:00'
    """
    due = {}
    for text in texts:
        name, _, moment = text.rpartition("=")
        try:
            due[name] = datetime.fromisoformat(moment)
        except ValueError:
            raise ValueError(f"--due: wanted a time such as 2027-01-31T23:59, got {moment!r}") from None
    return due


def with_late(record: dict[str, Any], due: dict[str, datetime], policy: Policy | None) -> dict[str, Any]:
    """Return the record with `final_points` and `seconds_late` worked out from the points as earned."""
    moment = due.get(record["exercise"]) or due.get("")
    seconds = max(0.0, record["handed_in"] - moment.timestamp()) if moment else 0.0
    final = record["points"]
    if final is not None and policy and seconds:
        final = round(min(final, max(0.0, policy(final, record["max_points"], seconds))), 2)
    return {**record, "seconds_late": seconds, "final_points": final}

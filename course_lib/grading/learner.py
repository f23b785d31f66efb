"""A page for a learner alone: what the own record of checks tells, in the dress of a student's report."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from course_lib.grading.charts import bars
from course_lib.grading.report import escaped, marked_up, whole_page
from course_lib.progress import FILE


def page(rows: Sequence[dict[str, Any]], exercises: Sequence[Any]) -> str:
    """Return the record as a page: how far each lesson is, and the known mistakes that were made, with their hints."""
    known = {(exercise.id, mistake.id): mistake for exercise in exercises for mistake in exercise.mistakes}
    stems = list(dict.fromkeys(row["exercise"].split("/")[0] for row in rows))
    shares = []
    for stem in stems:
        own = [row for row in rows if row["exercise"].split("/")[0] == stem]
        shares.append((stem.replace("_", " "), sum(row["state"] == "solved" for row in own) / len(own)))
    solved = sum(row["state"] == "solved" for row in rows)
    parts = ["<h1>My progress</h1>", f"<p>{solved} of {len(rows)} exercises solved.</p>"]
    parts.append(bars(shares, "Exercises solved, by lesson"))
    for stem in stems:
        parts.append(f"<h2>{escaped(stem.replace('_', ' '))}</h2>")
        for row in rows:
            if row["exercise"].split("/")[0] == stem:
                parts.append(_card(row, known))
    parts.append(f"<p class=soft>From {escaped(FILE.name)} in my_work; delete it whenever you like.</p>")
    return whole_page("My progress", parts)


def _card(row: dict[str, Any], known: dict[Any, Any]) -> str:
    sign, kind = {"solved": ("✓", "right"), "tried": ("◐", "partly")}.get(row["state"], ("…", "not_written"))
    tries = f", {row['tries']} {'try' if row['tries'] == 1 else 'tries'}" if row["tries"] else ""
    when = f", on {datetime.fromtimestamp(row['solved_at']):%d %B %Y}" if row["solved_at"] else ""
    body = f"<p><span class=verdict>{sign} {row['state']}</span>{tries}{when}</p>"
    for name, count in row["mistakes"].items():
        mistake = known.get((row["exercise"], name))
        if mistake and row["state"] != "solved":
            times = f" ({count} times)" if count > 1 else ""
            body += f"<p><b>Seen{times}:</b> {marked_up(mistake.what)} {marked_up(mistake.where)}</p>"
    return f'<div class="card {kind}"><h3>{escaped(row["title"])}</h3>{body}</div>'

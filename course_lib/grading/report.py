"""What a student reads, and what the instructor looks at before tomorrow's lecture: self-contained HTML files.

No script, no font and no picture is loaded from anywhere; every text that came from a submission is escaped. Figures
have a sentence for who cannot see them.
"""

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.grading.batch import slug, write_text
from course_lib.grading.charts import STYLE as CHART_STYLE
from course_lib.grading.charts import bars, histogram
from course_lib.grading.exports import number

WORDS = {
    "right": ("✓", "right"),
    "partly": ("◐", "partly right"),
    "wrong": ("✗", "wrong"),
    "not_written": ("…", "not written"),
    "missing": ("✗", "not there"),
    "stopped": ("✗", "stopped"),
    "rule_broken": ("✗", "a rule was broken"),
    "not_graded": ("?", "not graded"),
}
STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --card: #f6f8fa;
  --good: #1a7f37; --half: #8a5a00; --bad: #b3400a; --bar: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #3d444d; --back: #0d1117;
  --card: #161b22; --good: #4ac26b; --half: #e3b341; --bad: #ff9466; --bar: #56b4e9; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 46rem; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 0; font-weight: 600; }
p { margin: .4rem 0; } .soft { color: var(--soft); font-size: .9rem; }
.card { background: var(--card); border: 1px solid var(--line); border-left: 5px solid var(--soft); border-radius: 6px;
  padding: .6rem .9rem; margin: .7rem 0; }
.right { border-left-color: var(--good); } .partly { border-left-color: var(--half); }
.wrong, .missing, .stopped, .rule_broken { border-left-color: var(--bad); }
.head { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between; align-items: baseline; }
.points { font-variant-numeric: tabular-nums; white-space: nowrap; }
.verdict { font-weight: 600; } .right .verdict { color: var(--good); } .partly .verdict { color: var(--half); }
.wrong .verdict, .missing .verdict, .stopped .verdict, .rule_broken .verdict { color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-size: .95rem; } th, td { text-align: left; padding: .35rem .5rem;
  border-bottom: 1px solid var(--line); vertical-align: top; } th, td { overflow-wrap: normal; }
td.n, th.n { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: .9em ui-monospace, monospace; background: color-mix(in srgb, var(--line) 45%, transparent);
  border-radius: 3px; padding: 0 .2em; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); padding: .5rem; font-size: .85rem;
  white-space: pre-wrap; }
@media (max-width: 30rem) { th, td { padding: .3rem .2rem; } }
summary { cursor: pointer; } details { margin: .4rem 0; }
"""


def write_reports(out: Path, records: Sequence[Mapping[str, Any]], show_inputs: bool = False) -> list[Path]:
    """Write a page for each student and one for the class; return the paths, the class's first."""
    by_student: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_student.setdefault(record["student"], []).append(record)
    paths = [out / "class.html"]
    write_text(paths[0], class_page(records))
    for student, own in by_student.items():
        paths.append(out / "reports" / f"{slug(student)}.html")
        write_text(paths[-1], student_page(student, own, show_inputs))
    return paths


def student_page(student: str, records: Sequence[Mapping[str, Any]], show_inputs: bool = False) -> str:
    """Return the page of one student: each question with its points, what was found and where to look."""
    parts = [f"<h1>{escaped(student)}</h1>", f"<p>{_total(records)}</p>"]
    parts.append(bars([(record["exercise"], _share(record)) for record in records], "Points by exercise"))
    for record in records:
        parts.append(f"<h2>{escaped(record['exercise'])}: {_earned(record)}</h2>")
        if record.get("seconds_late"):
            parts.append(f"<p class=soft>Handed in {_span(record['seconds_late'])} late.</p>")
        parts += [_card(q, show_inputs) for q in record["questions"]]
        if record["notes"]:
            notes = "".join(f"<li>{marked_up(note)}</li>" for note in record["notes"])
            parts.append(f"<details open><summary>What happened to the file</summary><ul>{notes}</ul></details>")
        if record["output"]:
            output = f"<pre>{escaped(record['output'][:5000])}</pre>"
            parts.append(f"<details><summary>What it printed</summary>{output}</details>")
    tiers = sorted({record["tier"] for record in records if record["tier"]})
    parts.append(f"<p class=soft>Sandbox, tier {escaped('; '.join(tiers) or 'none: nothing was run')}.</p>")
    return whole_page(f"Marks: {student}", parts)


def class_page(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of the class: how the marks lie, what was hard, and which known mistakes were made how often."""
    students = {record["student"] for record in records}
    graded = [record for record in records if record["status"] == "graded"]
    parts = ["<h1>The class</h1>"]
    parts.append(f"<p>{_count(len(records), 'submission')} of {_count(len(students), 'student')}.</p>")
    shares = [100 * r["final_points"] / r["max_points"] for r in graded if r["max_points"]]
    if shares:
        parts.append(histogram(shares, "Share of the points, in per cent"))
    parts += ["<h2>Exercises</h2>", _exercise_table(records)]
    questions = [(r, q) for r in records for q in r["questions"]]
    parts += ["<h2>Hardest questions</h2>", _hardest(questions)]
    parts += ["<h2>Known mistakes, for the next lecture</h2>", *_mistakes(questions)]
    look = [r for r in records if r["status"] != "graded"]
    if look:
        rows = "".join(
            f"<li><b>{escaped(r['student'])}</b>, {escaped(r['exercise'])}: {marked_up(_why(r))}</li>"
            for r in look[:200]
        )
        parts += [f"<h2>Not graded: {len(look)}</h2>", "<p>These marks are empty, not 0.</p>", f"<ul>{rows}</ul>"]
    tiers = Counter(r["tier"] or "none: nothing was run" for r in records)
    text = "; ".join(f"{tier} ({count})" for tier, count in tiers.most_common())
    parts.append(f"<p class=soft>Sandbox, tier {escaped(text)}.</p>")
    return whole_page("The class", parts)


def _exercise_table(records: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for name in sorted({r["exercise"] for r in records}):
        own = [r for r in records if r["exercise"] == name]
        marks = sorted(r["final_points"] for r in own if r["status"] == "graded")
        middle = number(marks[len(marks) // 2]) if marks else "–"
        mean = f"{sum(marks) / len(marks):.1f}" if marks else "–"
        cells = "".join(f"<td class=n>{text}</td>" for text in (len(own), mean, middle, number(own[0]["max_points"])))
        rows.append(f"<tr><td>{escaped(name).replace('_', '_<wbr>')}</td>{cells}</tr>")
    heads = "".join(f"<th class=n>{text}</th>" for text in ("handed in", "mean", "median", "of"))
    return f"<table><tr><th>exercise</th>{heads}</tr>{''.join(rows)}</table>"


def _hardest(questions: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    shares: dict[str, list[float]] = {}
    for _, q in questions:
        if q["points"] is not None and q["max_points"]:
            shares.setdefault(q["exercise"], []).append(q["points"] / q["max_points"])
    means = sorted(((name, sum(values) / len(values)) for name, values in shares.items()), key=lambda pair: pair[1])
    return bars(means[:12], "Mean share of the points by question, hardest first")


def _mistakes(questions: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[str]:
    counts = Counter((q["exercise"], q["mistake"]) for _, q in questions if q["mistake"])
    what = {(q["exercise"], q["mistake"]): q["advice"] for _, q in questions if q["mistake"]}
    asked = Counter(q["exercise"] for _, q in questions)
    parts = []
    for (exercise, mistake), count in counts.most_common(30):
        advice = "".join(f"<p>{marked_up(text)}</p>" for _, text in what[exercise, mistake][:2])
        head = f"<h3>{escaped(exercise)}: {escaped(mistake)}</h3><span class=points>{count} of {asked[exercise]}</span>"
        parts.append(f"<div class=card><div class=head>{head}</div>{advice}</div>")
    return parts or ["<p>None was recognised.</p>"]


def _card(q: Mapping[str, Any], show_inputs: bool) -> str:
    sign, word = WORDS[q["status"]]
    earned = "not graded" if q["points"] is None else f"{number(q['points'])} of {number(q['max_points'])}"
    head = f"<h3>{escaped(q['title'])}</h3><span class=points>{earned}</span>"
    count = f", {q['passed']} of {q['probes']} inputs came out right" if q["status"] in ("partly", "wrong") else ""
    body = f"<p><span class=verdict>{sign} {word}</span>{count} · <code>{escaped(q['exercise'])}</code></p>"
    if q["text"] and q["status"] != "right":
        body += f"<p>{marked_up(q['text'])}</p>"
    body += "".join(f"<p><b>{escaped(label)}:</b> {marked_up(text)}</p>" for label, text in q["advice"])
    if q["remark"]:
        body += f"<p><b>Remark:</b> {marked_up(q['remark'])}</p>"
    if show_inputs and q["hidden_text"]:
        body += f"<p><b>On the inputs that count:</b> {marked_up(q['hidden_text'])}</p>"
    return f'<div class="card {q["status"]}"><div class=head>{head}</div>{body}</div>'


def _why(record: Mapping[str, Any]) -> str:
    texts = [q["text"] for q in record["questions"] if q["points"] is None]
    return texts[0] if texts else " ".join(record["notes"])


def _total(records: Sequence[Mapping[str, Any]]) -> str:
    known = [r for r in records if r["final_points"] is not None]
    points, most = sum(r["final_points"] for r in known), sum(r["max_points"] for r in known)
    text = f"{number(points)} of {number(most)} points in {_count(len(known), 'exercise')}."
    missing = len(records) - len(known)
    return text + (f" {_count(missing, 'exercise')} could not be graded: that is not 0." if missing else "")


def _earned(record: Mapping[str, Any]) -> str:
    if record["final_points"] is None:
        return "not graded"
    so_far = " so far" if record["status"] == "partly_graded" else ""
    return f"{number(record['final_points'])} of {number(record['max_points'])}{so_far}"


def _share(record: Mapping[str, Any]) -> float | None:
    points, most = record["final_points"], record["max_points"]
    return None if points is None or not most else points / most


def _span(seconds: float) -> str:
    return f"{seconds / 86400:.1f} days" if seconds >= 86400 else f"{max(1, round(seconds / 60))} minutes"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def escaped(text: object) -> str:
    """Write a text so that HTML takes none of it for its own."""
    return html.escape(str(text))


def marked_up(text: str) -> str:
    """Escape a text, then write `code` between backticks and line breaks as HTML."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escaped(text)).replace("\n", "<br>")


def whole_page(title: str, parts: Sequence[str]) -> str:
    """Return a page that loads nothing from anywhere."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    body = "\n".join(parts)
    head += f"<title>{escaped(title)}</title><style>{STYLE}{CHART_STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>\n{body}\n</main></body></html>\n'

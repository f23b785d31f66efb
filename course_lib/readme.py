"""The table of lessons in README.md, made from the lessons' own first cells: nobody keeps a list of them by hand."""

from pathlib import Path

from course_lib.authoring import lessons

BEGIN = "<!-- lessons: made by `course build`, do not edit -->"
END = "<!-- lessons: end -->"


def table(root: Path) -> str:
    """Return the table of lessons in Markdown."""
    rows = ["|  | Lesson | We will ... | Minutes |", "|---|---|---|---|"]
    for lesson in lessons(root):
        link = f"[{lesson.title}](notebooks/{lesson.file_name})"
        promise = lesson.promise[:1].upper() + lesson.promise[1:]
        rows.append(f"| {lesson.number} | {link} | {promise} | {lesson.minutes or ''} |")
    return "\n".join(rows)


def updated(text: str, root: Path) -> str:
    """Return `text` with the table between the two marks made anew.

    Raises:
        ValueError: if `text` lacks a mark.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"README.md: wanted the lines {BEGIN} and {END} around the table of lessons")
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{table(root)}\n{END}{rest.split(END, 1)[1]}"


def update(root: Path) -> bool:
    """Bring the table in README.md up to date and say whether it changed."""
    path = root / "README.md"
    old = path.read_text(encoding="utf-8")
    new = updated(old, root)
    if new != old:
        path.write_text(new, encoding="utf-8", newline="\n")
    return new != old

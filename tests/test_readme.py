"""The table of lessons in README follows the lessons."""

import json
import re
from pathlib import Path

import pytest

from course_lib import readme

ROOT = Path(__file__).parent.parent
FIRST = "# Query: key & value\n\n*In this lesson we will look things up\nsoftly, and see why.* More.\n\n45 minutes."


@pytest.fixture
def course(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "README.md").write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n", encoding="utf-8")
    return tmp_path


def write(course, name, source):
    cells = [{"cell_type": "markdown", "source": source.splitlines(keepends=True)}]
    (course / "notebooks" / name).write_text(json.dumps({"cells": cells}), encoding="utf-8")


def test_readme_of_this_checkout_lists_the_lessons_as_they_are():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.updated(text, ROOT) == text, "run  python3 -m course_lib build"


def test_the_example_in_readme_gets_the_answer_that_stands_below_it():
    import numpy as np

    from course_lib.checks import check

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {"np": np}
    exec(re.search(r"```python\n([\s\S]+?)```", text)[1], names)
    said = str(check("worked_softmax/attention", names["attention"]))
    for line in re.search(r"```text\n([\s\S]+?)```", text)[1].splitlines():
        assert line in said


def test_a_lesson_becomes_a_row_with_title_promise_and_minutes(course):
    write(course, "02_query_key_value.ipynb", FIRST)
    row = "| 02 | [Query: key & value](notebooks/02_query_key_value.ipynb) | Look things up softly, and see why | 45 |"
    assert readme.table(course).splitlines()[-1] == row


def test_lessons_stand_in_the_order_of_their_numbers_and_other_files_are_left_out(course):
    for name in ("10_b.ipynb", "02_a.ipynb", "scratch.ipynb"):
        write(course, name, FIRST)
    assert [row[:4] for row in readme.table(course).splitlines()[2:]] == ["| 02", "| 10"]


def test_an_update_changes_the_table_alone_and_a_second_one_nothing(course):
    write(course, "02_a.ipynb", FIRST)
    assert readme.update(course)
    text = (course / "README.md").read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert not readme.update(course)


def test_a_lesson_that_says_little_of_itself_still_has_its_row(course):
    write(course, "02_a_stem.ipynb", "nothing much")
    assert readme.table(course).splitlines()[-1] == "| 02 | [a_stem](notebooks/02_a_stem.ipynb) |  |  |"


def test_a_readme_without_the_marks_is_refused(tmp_path):
    with pytest.raises(ValueError, match="wanted the lines"):
        readme.updated("no marks", tmp_path)

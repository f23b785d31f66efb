"""A release is what nbgrader itself makes of a solution, without the notes to the instructor."""

import json

import pytest

from course_lib.authoring.release import released

nbgrader = pytest.importorskip("nbgrader", reason="no nbgrader: install the extra `test`")

ANSWER = 'def double(x):\n    """Twice x."""\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION'


def meta(grade_id, **other):
    common = {"grade_id": grade_id, "schema_version": 3, "task": False, "grade": False, "solution": False}
    return {"nbgrader": {**common, "locked": False, **other}}


def cell(kind, source, metadata=None):
    new = {"cell_type": kind, "id": f"id-{len(source)}", "source": source, "metadata": metadata or {}}
    return new | ({"execution_count": 1, "outputs": [OUTPUT]} if kind == "code" else {})


OUTPUT = {"output_type": "stream", "name": "stdout", "text": "the answer is 4"}


def solution(*more):
    cells = [
        cell("markdown", "# Exercises: Toy"),
        cell("markdown", "Expected: 4, and nothing else.", {"tags": ["instructor"]}),
        cell("code", ANSWER, meta("double", solution=True)),
        cell("code", "assert double(2) == 4", meta("check_double", grade=True, locked=True, points=2)),
        *more,
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def open_question(**grader):
    text = "Why?\n\n### BEGIN SOLUTION\nBecause two and two are four.\n### END SOLUTION"
    return cell("markdown", text, meta("why", solution=True, **grader))


def test_a_release_has_stubs_and_neither_answers_nor_outputs_nor_notes():
    text = released(solution(open_question(grade=True, points=0)))
    cells = json.loads(text)["cells"]
    assert "return 2" not in text and "the answer" not in text and "Expected" not in text and "Because" not in text
    assert len(cells) == 4
    assert "".join(cells[1]["source"]).endswith("    # YOUR CODE HERE\n    raise NotImplementedError()")
    assert "".join(cells[3]["source"]) == "Why?\n\nYOUR ANSWER HERE"


def test_a_release_has_nbgraders_own_checksums_and_locks():
    from nbformat import from_dict
    from nbgrader.utils import compute_checksum

    cells = json.loads(released(solution()))["cells"]
    answer, check = (from_dict({**cell, "source": "".join(cell["source"])}) for cell in cells[1:])
    assert check.metadata.nbgrader.checksum == compute_checksum(check)
    assert answer.metadata.nbgrader.checksum == compute_checksum(answer)
    assert (check.metadata.deletable, check.metadata.editable) == (False, False)
    assert answer.metadata.deletable is False and "editable" not in answer.metadata


def test_the_same_solution_gives_the_same_bytes_and_is_left_as_it_is():
    source = solution()
    before = json.dumps(source)
    assert released(source) == released(source)
    assert json.dumps(source) == before


def test_an_open_question_without_grade_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r'cell 5: nbgrader wants an open question .* "grade": true'):
        released(solution(open_question()))


def test_a_grade_id_that_is_there_twice_is_refused_in_nbgraders_words():
    twice = cell("code", "assert True", meta("check_double", grade=True, locked=True, points=1))
    with pytest.raises(ValueError, match="nbgrader refuses the solution: Duplicate grade id: check_double"):
        released(solution(twice))


def test_a_solution_without_its_end_is_refused():
    source = solution()
    source["cells"][2]["source"] = ANSWER.replace("### END SOLUTION", "")
    with pytest.raises(ValueError, match="no end solution"):
        released(source)

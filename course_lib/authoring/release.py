"""Derive the notebook that learners get from its solution, as nbgrader does it.

The steps and their order are those of nbgrader's `generate_assignment`, without its database. Before them the cells
tagged `instructor` go. Left out: nbgrader's headers, footers and generated tests, which the course does not use.
"""

import copy
from typing import Any

from course_lib.authoring.normalise import normalised, write

INSTRUCTOR = "instructor"


def released(solution: dict[str, Any]) -> str:
    """Return the text of the exercise notebook of a solution: no answers, no outputs, no instructor's notes.

    Raises:
        ValueError: if nbgrader refuses the solution; the message is its own.
    """
    _check_open_questions(solution)
    try:
        import nbgrader  # noqa: F401
    except ImportError:
        raise ValueError('exercises are made by nbgrader: install it by `pip install -e ".[test]"`') from None
    import nbformat
    from nbconvert.preprocessors import TagRemovePreprocessor
    from nbgrader import preprocessors as steps

    node = nbformat.from_dict(copy.deepcopy(normalised(solution)))
    resources: dict[str, Any] = {}
    removal = TagRemovePreprocessor(remove_cell_tags={INSTRUCTOR}, enabled=True)
    order = (
        steps.LockCells,
        steps.ClearSolutions,
        steps.ClearOutput,
        steps.CheckCellMetadata,
        steps.ComputeChecksums,
        steps.ClearHiddenTests,
        steps.ClearMarkScheme,
        steps.ComputeChecksums,
        steps.CheckCellMetadata,
    )
    try:
        for step in (removal, *(make() for make in order)):
            node, resources = step.preprocess(node, resources)
    except Exception as error:  # each step has errors of its own, some of them plain RuntimeErrors
        reason = str(error.__context__ or error).split("\n")[0]  # the context knows the cell, the error often does not
        raise ValueError(f"nbgrader refuses the solution: {reason}") from error
    return write(normalised(node))


def _check_open_questions(solution: dict[str, Any]) -> None:
    """Refuse, in plain words, the one mistake that nbgrader explains badly."""
    for number, cell in enumerate(solution["cells"], start=1):
        settings = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "markdown" and settings.get("solution") and not settings.get("grade"):
            raise ValueError(
                f"cell {number}: nbgrader wants an open question (a markdown cell with solution: true) to have"
                f' "grade": true and "points" as well; "points": 0 where nobody marks it by hand'
            )

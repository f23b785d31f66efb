"""Checks that name the mistake: `check` for the notebooks, the engine under it, and one file of exercises a lesson."""

from course_lib.checks.engine import Result, find_exercise, run
from course_lib.progress import remember


def check(exercise_id: str, answer: object) -> Result:
    """Try `answer` on the exercise's probes and say whether it is right, or which known mistake it makes.

    It never raises on a mistake in the answer: an exception inside it is reported with the input that caused it.

    >>> check("start_here/softmax", lambda x, axis=-1: x).passed
    False

    Raises:
        ValueError: if there is no exercise of that id; the message lists those that there are.
    """
    result = run(find_exercise(exercise_id), answer)
    remember(result)
    return result

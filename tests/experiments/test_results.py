"""The kept tables of the benchmarks can be read, and hold what the lesson says of them."""

import numpy as np
import pytest

from course_lib.experiments import results


def test_a_table_that_nobody_has_kept_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"python3 benchmarks/absent\.py prints it"):
        results.read("absent", tmp_path)


def test_the_kept_table_of_bugs_says_what_the_lesson_says():
    _, rows = results.read("training_bugs")
    exact, forced = (results.by_seed(rows, name) for name in ("exact match", "teacher-forced accuracy"))
    fatal = ("softmax over the queries", "heads merged without transposing", "no masks", "target not shifted")
    assert all(exact[bug] == [0, 0, 0] and min(forced[bug]) > 0.9 for bug in fatal)
    others = ("right", "no scale", "divided by √d_model")
    assert set(exact) == {*fatal, *others} and min(min(exact[name]) for name in others) > 0.97


def test_the_kept_table_of_the_bottleneck_has_three_seeds_of_each():
    _, rows = results.read("bottleneck")
    found = results.runs(rows, list(rows[0])[4:])
    wanted = dict.fromkeys(("GRU", "GRU with attention", "transformer"), (3, 5))
    assert {name: np.shape(runs) for name, runs in found.items()} == wanted
    assert np.max(found["GRU"], axis=0)[-1] < 0.1 < 0.9 < np.min(found["GRU with attention"])

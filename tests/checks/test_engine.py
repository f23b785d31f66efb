"""The engine of the checks: what it says of right, wrong, odd and hostile answers."""

import numpy as np
import pytest

from course_lib.checks import check
from course_lib.checks.engine import (
    Exercise,
    Mistake,
    Probe,
    Remark,
    distinct_sizes,
    find_exercise,
    plain,
    run,
    same,
    same_kind,
)
from course_lib.checks.result import Result, WrongAnswer


def row_sums(x):
    return x.sum(axis=1)


def column_sums(x):
    return x.sum(axis=0)


def fragile_row_sums(x):
    return np.log(np.exp(x).prod(axis=1))  # right until exp overflows


def probes(rng):
    rows, columns = distinct_sizes(rng, 2)
    return [
        Probe("a matrix", (rng.normal(size=(rows, columns)),)),
        Probe("a square matrix", (rng.normal(size=(3, 3)),)),
        Probe("entries near a thousand", (np.full((2, 3), 1000.0),), extreme=True),
    ]


EXERCISE = Exercise(
    id="toy/row_sums",
    title="Sum each row",
    minutes=1,
    difficulty="easy",
    kind="fill",
    reference=row_sums,
    probes=probes,
    mistakes=(
        Mistake("columns", column_sums, what="It sums columns.", why="A row is a token.", where="The axis."),
        Mistake("fragile", fragile_row_sums, what="It overflows.", why="exp is large.", where="The exp."),
    ),
)


def test_a_right_answer_passes():
    result = run(EXERCISE, lambda x: [sum(row) for row in x])
    assert result.passed and result.mistake is None and result.passed_probes == result.probes == 3
    assert "Right" in result.message


def test_a_known_mistake_is_named_with_what_why_and_where():
    result = run(EXERCISE, lambda x: x.T.sum(axis=1))
    assert (result.passed, result.mistake) == (False, "columns")
    for text in ("It sums columns.", "A row is a token.", "The axis."):
        assert text in result.message


def test_a_wrong_shape_says_wanted_and_got_and_for_which_input():
    result = run(EXERCISE, lambda x: x.sum())
    assert result.status == "wrong_kind"
    assert "Wanted an array of numbers of shape (" in result.message and "got one number" in result.message
    assert "on a matrix" in result.message


def test_the_first_wrong_entry_is_shown_with_its_index():
    def off_by_one_at_the_end(x):
        result = x.sum(axis=1)
        result[-1] += 1
        return result

    result = run(EXERCISE, off_by_one_at_the_end, np.random.default_rng(0))
    rows = probes(np.random.default_rng(0))[0].args[0].shape[0]
    assert result.status == "wrong_value"
    assert f"First wrong entry [{rows - 1}]" in result.message
    assert "none of the 2 mistakes" in result.message


def test_a_mistake_that_only_an_extreme_probe_shows_is_named():
    assert run(EXERCISE, fragile_row_sums).mistake == "fragile"


def test_a_mistake_is_named_though_the_answer_breaks_elsewhere_on_an_extreme_probe():
    result = run(EXERCISE, lambda x: np.log(np.exp(x).prod(axis=0)))
    assert result.mistake == "columns"


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), SystemExit(3), RecursionError("deep"), KeyError("k")])
def test_an_exception_in_the_answer_is_reported_with_the_input(error):
    def broken(x):
        raise error

    result = run(EXERCISE, broken)
    assert (result.status, result.mistake) == ("raised", None)
    assert type(error).__name__ in result.message and "row_sums(x)" in result.message


def test_an_interrupt_by_the_learner_is_not_swallowed():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(EXERCISE, interrupted)


def test_an_answer_with_too_few_arguments_is_reported():
    assert "TypeError" in run(EXERCISE, lambda: 0).message


def test_what_is_no_function_is_told_so():
    result = run(EXERCISE, np.ones(3))
    assert (result.status, result.passed) == ("not_a_function", False)


@pytest.mark.parametrize("value", ["text", object(), {"a": 1}, [[1, 2], [3]], np.array([1j]), 1 + 2j, b"bytes", set()])
def test_odd_results_are_a_wrong_kind_and_never_an_error(value):
    assert run(EXERCISE, lambda x: value).status == "wrong_kind"


@pytest.mark.parametrize("turn", [lambda x: x.astype(complex), lambda x: x.astype(object), lambda x: x > 0])
def test_numbers_of_another_kind_are_a_wrong_kind_though_their_shape_is_right(turn):
    assert run(EXERCISE, lambda x: turn(x.sum(axis=1))).status == "wrong_kind"


def test_a_result_that_pretends_to_be_equal_to_everything_does_not_pass():
    class Yes:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    assert not run(EXERCISE, lambda x: Yes()).passed


def test_a_subclass_of_ndarray_that_lies_about_comparison_does_not_pass():
    class Liar(np.ndarray):
        def __array_function__(self, function, types, args, options):
            return True

        def __eq__(self, other):
            return True

        def tobytes(self, order=None):
            return row_sums(np.ones((3, 3))).tobytes()

    assert not run(EXERCISE, lambda x: x.sum(axis=0).view(Liar)).passed


def test_warnings_of_an_answer_stay_quiet(capsys):
    run(EXERCISE, lambda x: np.log(-np.abs(x)).sum(axis=1) / 0)
    assert capsys.readouterr().err == ""


def test_an_answer_that_writes_to_its_input_is_refused():
    def careless(x):
        x *= 2
        return x.sum(axis=1) / 2

    result = run(EXERCISE, careless)
    assert (result.status, result.mistake) == ("changed_input", "changes_input")


def test_a_right_answer_that_differs_passes_with_its_remark():
    with_nan = Exercise(
        **{k: getattr(EXERCISE, k) for k in ("id", "title", "minutes", "difficulty", "kind", "reference", "mistakes")},
        probes=lambda rng: [*probes(rng), Probe("no columns", (np.zeros((2, 0)),), extreme=True)],
        remarks=(
            Remark("nan", lambda x: x.sum(axis=1) if x.size else np.full(len(x), np.nan), "NaN for an empty row."),
        ),
    )
    result = run(with_nan, lambda x: x.sum(axis=1) if x.size else np.full(len(x), np.nan))
    assert result.passed and result.remark == "NaN for an empty row." and "NaN" in result.message
    assert run(with_nan, row_sums).remark is None


def test_a_tuple_is_compared_part_by_part():
    exercise = Exercise(
        "toy/both", "t", 1, "easy", "fill", lambda x: (x.sum(axis=1), x.mean()), probes, EXERCISE.mistakes[:1]
    )
    result = run(exercise, lambda x: (x.sum(axis=1), x.mean() + 1))
    assert "in part 1 of the tuple" in result.message


def test_must_pass_returns_a_right_result_and_stops_at_a_wrong_one(capsys):
    assert run(EXERCISE, row_sums).must_pass().passed
    with pytest.raises(WrongAnswer) as caught:
        run(EXERCISE, column_sums).must_pass()
    assert str(caught.value).endswith("(mistake: columns)")
    assert len(caught.value._render_traceback_()) == 1
    assert "It sums columns." in capsys.readouterr().out


def test_the_html_escapes_what_comes_from_the_answer():
    def hostile(x):
        raise ValueError("<script>alert(1)</script>")

    page = run(EXERCISE, hostile)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_same_tells_shapes_kinds_and_numbers_apart():
    assert same(np.array([1.0]), np.array([1.0 + 1e-7]))
    assert not same(np.array([1.0]), np.array([1.001]))
    assert not same(np.array([True]), np.array([1]))
    assert not same(np.array([1.0]), np.array([[1.0]]))
    assert not same("a", "b") and same("a", "a")


def test_plain_takes_torch_tensors_that_require_gradients():
    torch = pytest.importorskip("torch")
    assert plain(torch.ones(2, requires_grad=True)).tolist() == [1, 1]


def test_an_unknown_exercise_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"start_here/softmax.*got 'start_here/sotfmax'"):
        check("start_here/sotfmax", row_sums)
    with pytest.raises(ValueError, match="start_here/softmax"):
        find_exercise("../etc/passwd")


def test_a_result_is_true_to_its_plain_text():
    result = Result("toy/row_sums", "not_written", "Not written yet.")
    assert repr(result) == result.message and not result.passed


def test_lists_of_arrays_of_several_shapes_are_compared_one_by_one():
    lists = [plain([np.ones(2), np.full(3, last)]) for last in (1.0, 1.0, 2.0)]
    assert same(lists[0], lists[1]) and not same(lists[0], lists[2])
    assert not same(lists[0], tuple(lists[0])) and not same_kind(lists[0], lists[0][:1])

"""The exercises of the lesson *Start here*: shapes, the dot product as a similarity, and the softmax along one axis.

A row that is −∞ throughout is no input here: what it should give is decided in the lesson on masks. Nor is a vector
without entries. Whole numbers are inputs, for the reference turns them into floats first.
"""

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes
from course_lib.reference import attention

# --- shape_of_sum ---------------------------------------------------------------------------------------------------


def shape_of_sum(shape, axis, keepdims=False):
    """Return the shape of `np.zeros(shape).sum(axis, keepdims=keepdims)`."""
    return np.zeros(shape).sum(axis=axis, keepdims=keepdims).shape


def _counted(shape, axis, keepdims=False):
    place = axis % len(shape)
    kept = (1,) if keepdims else ()
    return tuple(shape[:place]) + kept + tuple(shape[place + 1 :])


def _popped(shape, axis, keepdims=False):
    sizes = list(shape)
    if keepdims:
        sizes[axis] = 1
    else:
        sizes.pop(axis)
    return sizes


def _named_axis_left(shape, axis, keepdims=False):
    return (shape[axis],) if not keepdims else tuple(n if i == axis % len(shape) else 1 for i, n in enumerate(shape))


def _counts_from_one(shape, axis, keepdims=False):
    return shape_of_sum(shape, axis - 1 if axis > 0 else axis, keepdims)


def _negative_axis_missed(shape, axis, keepdims=False):
    if keepdims:
        return tuple(1 if i == axis else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i != axis)


def _negative_axis_sliced(shape, axis, keepdims=False):
    return tuple(shape[:axis]) + ((1,) if keepdims else ()) + tuple(shape[axis + 1 :])


def _shape_probes(rng):
    a, b, c, d = distinct_sizes(rng, 4)
    # Those with `keepdims` count as extreme, so that a mistake in the axis is named whatever was made of `keepdims`.
    return [
        Probe("the rows of a table", ((a, b), 0)),
        Probe("the columns of a table", ((a, b), 1)),
        Probe("the last axis, counted from the end", ((a, b), -1)),
        Probe("the axis in the middle", ((a, b, c), 1)),
        Probe("the first of three axes, counted from the end", ((a, b, c), -3)),
        Probe("four axes", ((a, b, c, d), 2)),
        Probe("the last axis, kept with length one", ((a, b, c), -1, True), extreme=True),
        Probe("the first axis, kept with length one", ((a, b, c), 0, True), extreme=True),
        Probe("a vector: its sum is one number, without any axis", ((a,), 0), extreme=True),
        Probe("a table without rows", ((0, b), 1), extreme=True),
    ]


SHAPE_OF_SUM = Exercise(
    id="start_here/shape_of_sum",
    title="Say what shape is left after a sum along one axis",
    minutes=4,
    difficulty="easy",
    kind="predict",
    reference=shape_of_sum,
    probes=_shape_probes,
    right_answers={"counted": _counted, "popped from a list": _popped},
    mistakes=(
        Mistake(
            "named_axis_left",
            _named_axis_left,
            what="The axis that is summed was kept, and the other axes went.",
            why="The axis that you name is the one that the sum walks along, so it is the one that disappears.",
            where="Which sizes go into the result: the one at `axis`, or all the others?",
        ),
        Mistake(
            "other_axis",
            lambda shape, axis, keepdims=False: shape_of_sum(shape, -1 - axis, keepdims),
            what="The axes were counted from the wrong end: axis 0 was taken for the last.",
            why="Axis 0 is the outermost one, the first number of the shape.",
            where="Print `shape[axis]` for the first input of the check: is it the number that you drop?",
        ),
        Mistake(
            "always_last",
            lambda shape, axis, keepdims=False: shape_of_sum(shape, -1, keepdims),
            what="The last axis goes, whichever axis was asked for.",
            why="A table has two directions to sum in, and they leave different shapes.",
            where="Does your function use `axis` at all?",
        ),
        Mistake(
            "always_first",
            lambda shape, axis, keepdims=False: shape_of_sum(shape, 0, keepdims),
            what="The first axis goes, whichever axis was asked for.",
            why="A table has two directions to sum in, and they leave different shapes.",
            where="Does your function use `axis` at all?",
        ),
        Mistake(
            "counts_from_one",
            _counts_from_one,
            what="The axes were counted from one.",
            why="Python counts from zero: axis 1 of a table is its second axis, the columns.",
            where="Try axis 0 and axis 1 of a shape whose sizes differ.",
        ),
        Mistake(
            "negative_axis_missed",
            _negative_axis_missed,
            what="A negative axis is never met: no place in the shape has the number -1, so nothing was dropped.",
            why="Axis -1 is the last one, whatever the number of axes: most of this course is written with it.",
            where="The comparison of a place with `axis`: which place does -1 stand for?",
        ),
        Mistake(
            "negative_axis_sliced",
            _negative_axis_sliced,
            what="The shape was cut before and after `axis`; for axis -1 the second cut starts at 0, the "
            "whole shape again.",
            why="`shape[axis + 1:]` means all that follows only where `axis` is counted from the front.",
            where="What is `axis + 1` when `axis` is -1?",
        ),
        Mistake(
            "keepdims_ignored",
            lambda shape, axis, keepdims=False: shape_of_sum(shape, axis),
            what="`keepdims` makes no difference.",
            why="With `keepdims=True` the axis stays, with length one, so that each row can be divided by its own sum.",
            where="Look for `keepdims` in the body of the function.",
        ),
        Mistake(
            "keepdims_reversed",
            lambda shape, axis, keepdims=False: shape_of_sum(shape, axis, not keepdims),
            what="`keepdims` works the wrong way round.",
            why="Without it the axis disappears; with it the axis stays, with length one.",
            where="The two branches of your `if`.",
        ),
        Mistake(
            "kept_as_it_was",
            lambda shape, axis, keepdims=False: tuple(shape) if keepdims else shape_of_sum(shape, axis),
            what="With `keepdims=True` the axis kept its size.",
            why="The sum has made one number of all the entries along the axis: its length is one afterwards.",
            where="What `keepdims=True` puts in the place of the axis.",
        ),
        Mistake(
            "returns_zero",
            lambda shape, axis, keepdims=False: tuple(0 if i == axis % len(shape) else n for i, n in enumerate(shape)),
            what="The axis was set to 0 instead of being taken out of the shape.",
            why="A shape with a 0 in it belongs to an array with no entries; the sum has as many axes less one.",
            where="How many numbers does the result of a sum have in its shape?",
        ),
    ),
)

# --- similarities ---------------------------------------------------------------------------------------------------


def similarities(query, keys):
    """Return the dot product of the query with each key."""
    return keys @ query


def _similar_by_loops(query, keys):
    return [sum(float(q) * float(k) for q, k in zip(query, key, strict=True)) for key in keys]


def _query_first(query, keys):
    return query @ keys


def _similarity_probes(rng):
    n, d = sorted(distinct_sizes(rng, 2), reverse=True)
    return [
        Probe("a query along the first axis", (np.array([1.0, 0.0]), np.array([[3.0, 4.0], [-2.0, 5.0], [0.5, 1.0]]))),
        Probe("more keys than numbers in each", (rng.normal(size=d), rng.normal(size=(n, d)))),
        Probe("fewer keys than numbers in each", (rng.normal(size=n), rng.normal(size=(d, n)))),
        Probe("as many keys as numbers in each", (rng.normal(size=d), rng.normal(size=(d, d)))),
        Probe("whole numbers", (rng.integers(-3, 4, size=d), rng.integers(1, 9, size=(n, d)))),
        Probe("one key", (rng.normal(size=d), rng.normal(size=(1, d))), extreme=True),
        Probe("vectors of a single number", (np.array([2.0]), rng.normal(size=(n, 1))), extreme=True),
        Probe("no keys at all", (rng.normal(size=d), np.zeros((0, d))), extreme=True),
    ]


SIMILARITIES = Exercise(
    id="start_here/similarities",
    title="Compare a query with every key by the dot product",
    minutes=3,
    difficulty="easy",
    kind="fill",
    reference=similarities,
    probes=_similarity_probes,
    right_answers={
        "loops": _similar_by_loops,
        "einsum": lambda query, keys: np.einsum("d,nd->n", query, keys),
        "product and sum": lambda query, keys: (keys * query).sum(axis=-1),
        "keys turned": lambda query, keys: query @ keys.T,
        "float32": lambda query, keys: keys.astype(np.float32) @ query.astype(np.float32),
        "a list of dot products": lambda query, keys: [np.dot(key, query) for key in keys],
    },
    mistakes=(
        Mistake(
            "query_times_columns",
            _query_first,
            what="`query @ keys` pairs the query with the columns of `keys`; the keys are its rows.",
            why="It raises an error unless there are as many keys as numbers in each, and then it is silently wrong.",
            where="Write the two shapes side by side: the axes that meet in the middle of `@` must both be `d`.",
        ),
        Mistake(
            "not_summed",
            lambda query, keys: keys * query,
            what="The numbers were multiplied in pairs, but the products were not added up.",
            why="The dot product of two vectors is one number: here one for each key.",
            where="The result has an axis too many. Which one must go?",
        ),
        Mistake(
            "summed_over_keys",
            lambda query, keys: (keys * query).sum(axis=0),
            what="The products were added along axis 0, over the keys.",
            why="That leaves a number for each feature; a similarity is a number for each key.",
            where="The axis of the sum: the axis that you name is the one that disappears.",
        ),
        Mistake(
            "summed_over_all",
            lambda query, keys: (keys * query).sum(),
            what="All the products of all the keys were added up into a single number.",
            why="Then the keys can no longer be told apart.",
            where="The sum needs to be told along which axis it runs.",
        ),
        Mistake(
            "cosine",
            lambda query, keys: keys @ query / (np.linalg.norm(keys, axis=-1) * np.linalg.norm(query)),
            what="The dot product was divided by both lengths: that is the cosine of the angle.",
            why="The cosine forgets how long a key is. In the dot product a longer key counts for more, as "
            "attention has it.",
            where="Whatever you divide by: the plain dot product has no division.",
        ),
        Mistake(
            "scaled",
            lambda query, keys: keys @ query / np.sqrt(query.shape[-1]),
            what="The dot products were divided by the square root of d.",
            why="Attention will do that, from lesson 03 on; the dot product alone does not.",
            where="Whatever you divide by: the plain dot product has no division.",
        ),
        Mistake(
            "mean_of_products",
            lambda query, keys: (keys * query).mean(axis=-1),
            what="The products were averaged, not added.",
            why="The mean divides by d, so the same match would count for less in longer vectors.",
            where="`mean` where `sum` is meant.",
        ),
        Mistake(
            "distance",
            lambda query, keys: np.linalg.norm(keys - query, axis=-1),
            what="The distance between query and key was taken.",
            why="A distance is small where things are alike; a similarity is large there.",
            where="The dot product multiplies the numbers in pairs; nothing is subtracted.",
        ),
        Mistake(
            "negative_distance",
            lambda query, keys: -np.linalg.norm(keys - query, axis=-1),
            what="The distance between query and key was taken, with its sign turned.",
            why="That is a similarity too, but another one: it prefers a near key to a long one.",
            where="The dot product multiplies the numbers in pairs; nothing is subtracted.",
        ),
        Mistake(
            "absolute",
            lambda query, keys: np.abs(keys @ query),
            what="The sign was taken away.",
            why="A key that points the other way has a negative dot product: it is the least similar, not the most.",
            where="The absolute value, or the square.",
        ),
        Mistake(
            "already_softmax",
            lambda query, keys: attention.softmax((keys @ query).astype(float)),
            what="The similarities went through a softmax already.",
            why="Scores and weights are two stages: here the scores themselves are asked for.",
            where="The last step of the function is one too many.",
        ),
        Mistake(
            "column",
            lambda query, keys: keys @ query[:, None],
            what="The query was made a column first, so the result is a column too, of shape (n, 1).",
            why="The next steps expect one axis, (n,); a second axis of length one changes how arrays broadcast.",
            where="A vector of shape (d,) can stand to the right of `@` as it is.",
        ),
    ),
)

# --- the softmax, of one vector and along an axis -------------------------------------------------------------------


def stable_softmax(x):
    """Return the softmax of one vector."""
    return attention.softmax(np.asarray(x, dtype=float))


def softmax(x, axis=-1):
    """Return the softmax along an axis."""
    return attention.softmax(np.asarray(x, dtype=float), axis)


def _normalised(exponentials, axis=-1):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _naive(x, axis=-1):
    return _normalised(np.exp(x), axis)


def _minus_mean(x, axis=-1):
    return _normalised(np.exp(x - x.mean(axis=axis, keepdims=True)), axis)


def _minus_min(x, axis=-1):
    return _normalised(np.exp(x - x.min(axis=axis, keepdims=True)), axis)


def _minus_absolute_max(x, axis=-1):
    return _normalised(np.exp(x - np.abs(x).max(axis=axis, keepdims=True)), axis)


def _divided_by_max(x, axis=-1):
    return _normalised(np.exp(x / x.max(axis=axis, keepdims=True)), axis)


def _sign_turned(x, axis=-1):
    return _normalised(np.exp(x.max(axis=axis, keepdims=True) - x), axis)


def _clipped(x, axis=-1):
    return _normalised(np.exp(np.clip(x, -700, 700)), axis)


def _not_normalised(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))


def _over_largest(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.max(axis=axis, keepdims=True)


def _no_exp(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


def _shifted_no_exp(x, axis=-1):
    return _normalised(x - x.min(axis=axis, keepdims=True), axis)


def _two_to_the(x, axis=-1):
    return _normalised(np.exp2(x - x.max(axis=axis, keepdims=True)), axis)


def _winner(x, axis=-1):
    largest = x.argmax(axis=axis)
    return np.moveaxis(np.eye(x.shape[axis])[largest], -1, axis)


def _winner_by_comparison(x, axis=-1):
    return (x == x.max(axis=axis, keepdims=True)).astype(float)


def _twice(x, axis=-1):
    return softmax(softmax(x, axis), axis)


def _logarithm(x, axis=-1):
    return np.log(softmax(x, axis))


def _sigmoid(x, axis=-1):
    return 1 / (1 + np.exp(-x))


def _rounded(x, axis=-1):
    return softmax(x, axis).round(2)


def _into_integers(x, axis=-1):
    result = np.zeros_like(x)
    result[...] = softmax(x, axis)
    return result


def _whole_array(x, axis=-1):
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def _whole_array_naive(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum()


def _max_of_the_whole(x, axis=-1):
    return _normalised(np.exp(x - x.max()), axis)


def _max_along_the_other(x, axis=-1):
    return _normalised(np.exp(x - x.max(axis=_other(x, axis), keepdims=True)), axis)


def _other(x, axis):
    """The axis that is taken by mistake: the first for the last, the last for every other."""
    return 0 if axis in (-1, x.ndim - 1) else -1


def _no_keepdims(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis))
    return exponentials / exponentials.sum(axis=axis)


def _no_keepdims_in_sum(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis)


def _no_keepdims_in_max(x, axis=-1):
    return _normalised(np.exp(x - x.max(axis=axis)), axis)


def _always_a_column(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis)[..., None])
    return exponentials / exponentials.sum(axis=axis)[..., None]


def _left_moved(x, axis=-1):
    return softmax(np.moveaxis(x, axis, -1), -1)


def _softmax_by_loops(x, axis=-1):
    moved = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    result = np.empty_like(moved)
    for index in np.ndindex(moved.shape[:-1]):
        shares = np.exp(moved[index] - max(moved[index]))
        result[index] = shares / sum(shares)
    return np.moveaxis(result, -1, axis)


def _softmax_in_logarithms(x, axis=-1):
    largest = np.max(x, axis=axis, keepdims=True)
    return np.exp(x - largest - np.log(np.sum(np.exp(x - largest), axis=axis, keepdims=True)))


def _softmax_expanded(x, axis=-1):
    exponentials = np.exp(x - np.expand_dims(np.max(x, axis), axis))
    return exponentials / np.expand_dims(np.sum(exponentials, axis), axis)


def _softmax_in_float32(x, axis=-1):
    return attention.softmax(np.asarray(x, dtype=np.float32), axis)


RIGHT_SOFTMAXES = {
    "loops": _softmax_by_loops,
    "through logarithms": _softmax_in_logarithms,
    "expand_dims": _softmax_expanded,
    "float32": _softmax_in_float32,
}

SOFTMAX_MISTAKES = (
    Mistake(
        "overflow",
        _naive,
        what="The exponentials were taken of the scores as they are.",
        why="exp(1000) is too large for a float: it becomes `inf`, and `inf / inf` is `nan`. The mathematics "
        "is right, the arithmetic breaks.",
        where="A constant may be taken from all the scores before `exp`, without changing the weights. Which "
        "one makes overflow impossible?",
    ),
    Mistake(
        "minus_mean",
        _minus_mean,
        what="The mean of the scores was taken away, not the largest.",
        why="A score far above the mean still overflows, and a single −∞ makes the mean −∞ too.",
        where="After which subtraction is no score above zero?",
    ),
    Mistake(
        "minus_min",
        _minus_min,
        what="The smallest score was taken away, not the largest.",
        why="That leaves every score above zero: the large ones overflow as before, or sooner.",
        where="After which subtraction is no score above zero?",
    ),
    Mistake(
        "minus_absolute_max",
        _minus_absolute_max,
        what="The largest absolute value was taken away.",
        why="Where all scores are near −1000 it pushes them to −2000: every exponential becomes 0, and 0/0 is `nan`.",
        where="The largest score of [-1001, -1000] is -1000.",
    ),
    Mistake(
        "divided_by_max",
        _divided_by_max,
        what="The scores were divided by the largest one.",
        why="The softmax ignores what is added to all scores, but not a factor: a division changes the weights.",
        where="The line before `exp`: which of the four operations leaves the weights alone?",
    ),
    Mistake(
        "sign_turned",
        _sign_turned,
        what="The sign of the scores is turned: the smallest score gets the largest weight.",
        why="Weights must follow the scores: the larger the score, the larger the weight.",
        where="The order of the subtraction before `exp`.",
    ),
    Mistake(
        "clipped",
        _clipped,
        what="The scores were cut off at some limit, so that `exp` cannot overflow.",
        why="Beyond the limit all scores look the same: 1000 and 999 get equal weights, and their difference is lost.",
        where="Instead of cutting, shift: what may be subtracted from all scores without changing anything?",
    ),
    Mistake(
        "not_normalised",
        _not_normalised,
        what="The exponentials were not divided by their sum.",
        why="Then the weights do not sum to one.",
        where="The last line: what must all the exponentials be divided by?",
    ),
    Mistake(
        "over_largest",
        _over_largest,
        what="The exponentials were divided by the largest of them, or not divided by their sum at all.",
        why="Then the largest weight is one, and the weights together are more than one.",
        where="The last line: what must all the exponentials be divided by?",
    ),
    Mistake(
        "no_exp",
        _no_exp,
        what="The scores themselves were divided by their sum.",
        why="A negative score then gets a negative weight, and where the scores sum to zero nothing comes out at all.",
        where="What makes every score positive before the division?",
    ),
    Mistake(
        "shifted_no_exp",
        _shifted_no_exp,
        what="The smallest score was taken away and the rest divided by the sum, without `exp`.",
        why="The smallest score then always gets weight 0, and the ratio of two weights depends on all other scores.",
        where="What makes every score positive before the division, whatever it was?",
    ),
    Mistake(
        "two_to_the",
        _two_to_the,
        what="Powers of 2 were taken, not of e.",
        why="It is a softmax at another temperature: flatter than the one that everybody means.",
        where="`np.exp2` or `2 ** x` where `np.exp` is meant.",
    ),
    Mistake(
        "winner_takes_all",
        _winner,
        what="The largest score got weight 1, all others 0.",
        why="That is the hard maximum. The softmax is soft: every score gets a share.",
        where="`argmax` is not needed here.",
    ),
    Mistake(
        "winner_by_comparison",
        _winner_by_comparison,
        what="The scores that equal the largest got weight 1, all others 0.",
        why="That is the hard maximum. The softmax is soft: every score gets a share.",
        where="The comparison with the maximum: subtract instead.",
    ),
    Mistake(
        "twice",
        _twice,
        what="The softmax was applied twice.",
        why="The weights still sum to one, but they are far flatter than the scores say: the second time, "
        "the scores lie between 0 and 1.",
        where="Count the calls of `np.exp`: is some input a result of the softmax already?",
    ),
    Mistake(
        "logarithm",
        _logarithm,
        what="The logarithms of the weights were returned.",
        why="They are useful in a loss, but they are negative and do not sum to one.",
        where="The last line.",
    ),
    Mistake(
        "sigmoid",
        _sigmoid,
        what="Each score was squashed on its own, by 1 / (1 + exp(-x)).",
        why="That is the sigmoid. In a softmax the scores compete: if one weight rises, the others fall.",
        where="What must the exponentials be divided by, so that all weights together are one?",
    ),
    Mistake(
        "rounded",
        _rounded,
        what="The weights were rounded.",
        why="Rounded weights no longer sum to one, and small ones vanish. Round what you print, not what you compute.",
        where="The call of `round`.",
    ),
    Mistake(
        "into_integers",
        _into_integers,
        what="The weights were written into an array of the input's own type; for whole numbers that cuts them to 0.",
        why="`np.zeros_like(x)` of an array of integers holds integers, and 0.64 becomes 0 in it, without any error.",
        where="The line that makes the array for the result: which `dtype` has it?",
    ),
)

AXIS_MISTAKES = (
    Mistake(
        "other_axis",
        lambda x, axis=-1: softmax(x, _other(x, axis) if x.ndim > 1 else axis),
        what="The softmax runs along the wrong axis: for `axis=-1` along the first, for `axis=0` along the last.",
        why="The shape is right and no error is raised, but the rows do not sum to one: other scores compete.",
        where="The axis that you give to `max` and `sum` is the one along which the weights will sum to one.",
    ),
    Mistake(
        "always_first",
        lambda x, axis=-1: softmax(x, 0),
        what="The softmax runs along the first axis, whatever `axis` says.",
        why="The shape is right and no error is raised, but along the axis that was asked for the weights do "
        "not sum to one.",
        where="Look for `axis` in the body: every `max` and every `sum` needs it.",
    ),
    Mistake(
        "always_last",
        lambda x, axis=-1: softmax(x, -1),
        what="The softmax runs along the last axis, whatever `axis` says.",
        why="The shape is right and no error is raised, but along the axis that was asked for the weights do "
        "not sum to one.",
        where="Look for `axis` in the body: every `max` and every `sum` needs it.",
    ),
    Mistake(
        "always_second",
        lambda x, axis=-1: softmax(x, 1),
        what="The softmax runs along axis 1, whatever `axis` says.",
        why="That is the last axis of a table only: a vector has no axis 1, and of three axes it is the middle one.",
        where="Look for a 1 in the body where `axis` should stand.",
    ),
    Mistake(
        "whole_array",
        _whole_array,
        what="All the entries of the array were normalised together.",
        why="Then the whole table sums to one, and each row to less: rows that have nothing to do with each "
        "other compete.",
        where="`sum()` without an axis adds up everything.",
    ),
    Mistake(
        "whole_array_naive",
        _whole_array_naive,
        what="All the entries of the array were normalised together, and their exponentials taken as they are.",
        why="Then the whole table sums to one, and each row to less; and large scores overflow.",
        where="`sum()` without an axis adds up everything. Mend that first.",
    ),
    Mistake(
        "max_of_the_whole",
        _max_of_the_whole,
        what="The largest score of the whole array was taken away, not the largest along the axis.",
        why="A row that lies far below the others then has only exponentials of 0, and 0/0 is `nan`.",
        where="`max()` needs the same axis as `sum`.",
    ),
    Mistake(
        "max_along_the_other",
        _max_along_the_other,
        what="The maximum was taken along another axis than the sum.",
        why="Then not the same constant is taken from all the scores that compete, and that does change the weights.",
        where="`max` and `sum` need the same axis.",
    ),
    Mistake(
        "no_keepdims",
        _no_keepdims,
        what="The maximum and the sum lost their axis, so NumPy lines them up with the wrong axis of `x`.",
        why="It raises an error where the sizes differ. Where they agree, in a square table, each row is "
        "divided by the sum of another one, silently.",
        where="What keeps an axis, with length one, in `max` and `sum`?",
    ),
    Mistake(
        "no_keepdims_in_sum",
        _no_keepdims_in_sum,
        what="The sum lost its axis, so NumPy lines it up with the wrong axis of the exponentials.",
        why="It raises an error where the sizes differ. Where they agree, in a square table, each row is "
        "divided by the sum of another one, silently.",
        where="What keeps an axis, with length one, in `sum`?",
    ),
    Mistake(
        "no_keepdims_in_max",
        _no_keepdims_in_max,
        what="The maximum lost its axis, so NumPy lines it up with the wrong axis of `x`.",
        why="It raises an error where the sizes differ. Where they agree, in a square table, each score "
        "loses the maximum of another row, silently.",
        where="What keeps an axis, with length one, in `max`?",
    ),
    Mistake(
        "always_a_column",
        _always_a_column,
        what="The axis was put back at the end, whichever axis it was (`[..., None]`, `[:, None]` or a `reshape`).",
        why="That is right for the last axis alone; for another one the sums line up with the wrong entries.",
        where="What keeps the axis where it was, in `max` and `sum`?",
    ),
    Mistake(
        "left_moved",
        _left_moved,
        what="The axis was moved to the end and not moved back (a transpose, a `swapaxes` or a `moveaxis`).",
        why="The numbers are right but stand in another order; in a square table even the shape looks right.",
        where="What undoes the first move, after the division?",
    ),
)


def _vector_probes(rng):
    n = distinct_sizes(rng, 1, low=4)[0]
    return [
        Probe("three scores, one of them negative", (np.array([2.0, 1.0, -1.0]),)),
        Probe("scores drawn at random", (rng.normal(size=n) * 2,)),
        Probe("two scores that share the first place", (np.array([2.0, 0.0, 2.0]),)),
        Probe("scores that are all negative", (-1 - rng.random(size=n) * 3,)),
        Probe("whole numbers", (np.array([1, 3, 2, 0]),)),
        Probe("one score", (np.array([4.0]),), extreme=True),
        Probe("scores near 1000", (np.array([1000.0, 998.0, 999.0]),), extreme=True),
        Probe("scores near -1000", (np.array([-1002.0, -1000.0, -1001.0]),), extreme=True),
        Probe("scores from -1000 to 1000", (np.array([-1000.0, 0.0, 1000.0, 999.0]),), extreme=True),
        Probe("an entry of -inf, which gets weight 0", (np.array([0.0, -np.inf, 1.0]),), extreme=True),
    ]


def _axis_probes(rng):
    rows, columns, layers = distinct_sizes(rng, 3)
    far = rng.integers(-16, 17, size=(rows, columns)) / 8  # exact in float32, a thousand higher too
    far[0] += 1000
    hidden = rng.normal(size=(columns, columns))
    hidden[np.triu_indices(columns, 1)] = -np.inf
    return [
        Probe("a table, along its rows", (np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]]), -1)),
        Probe("a table, along its columns", (np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]]), 0)),
        Probe("a vector", (rng.normal(size=columns), -1)),
        Probe("a square table, along its rows", (rng.normal(size=(rows, rows)) * 2, 1)),
        Probe("a square table, along its columns", (rng.normal(size=(rows, rows)) * 2, 0)),
        Probe("three axes, along the middle one", (rng.normal(size=(layers, rows, columns)), 1)),
        Probe("three axes, along the one before the last", (rng.normal(size=(layers, rows, columns)), -2)),
        Probe("three axes, without saying which: the last", (rng.normal(size=(layers, rows, columns)),)),
        Probe("whole numbers", (rng.integers(-2, 4, size=(rows, columns)), -1)),
        Probe("a single column, along its rows", (rng.normal(size=(rows, 1)), -1), extreme=True),
        Probe(
            "scores of 1000 and -1000",
            (np.array([[1000.0, 999.0, -1000.0], [-1000.0, -1000.0, -998.0]]), -1),
            extreme=True,
        ),
        Probe("rows that lie 1000 apart", (far, -1), extreme=True),
        Probe("columns that lie 1000 apart", (far.T.copy(), 0), extreme=True),
        Probe("some entries of -inf, which get weight 0", (hidden, -1), extreme=True),
        Probe("a table without rows", (np.zeros((0, columns)), -1), extreme=True),
    ]


STABLE_SOFTMAX = Exercise(
    id="start_here/stable_softmax",
    title="A softmax of one vector that survives scores of 1,000",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=stable_softmax,
    probes=_vector_probes,
    right_answers={**RIGHT_SOFTMAXES, "a list": lambda x: softmax(x).tolist()},
    mistakes=SOFTMAX_MISTAKES,
)
SOFTMAX = Exercise(
    id="start_here/softmax",
    title="The softmax along any axis",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=softmax,
    probes=_axis_probes,
    right_answers=RIGHT_SOFTMAXES,
    mistakes=AXIS_MISTAKES + SOFTMAX_MISTAKES,
)

# --- softmax_at -----------------------------------------------------------------------------------------------------


def softmax_at(x, temperature):
    """Return the softmax of x / temperature along the last axis."""
    return softmax(np.asarray(x, dtype=float) / temperature)


def _brackets_missing(x, temperature):
    return _normalised(np.exp(x - x.max(axis=-1, keepdims=True) / temperature))


def _brackets_elsewhere(x, temperature):
    return _normalised(np.exp(x / temperature - x.max(axis=-1, keepdims=True)))


def _overflowing(x, temperature):
    return _normalised(np.exp(x / temperature))


def _temperature_probes(rng):
    rows, columns = distinct_sizes(rng, 2, low=3)
    return [
        Probe("three scores at temperature 2", (np.array([2.0, 1.0, 0.0]), 2.0)),
        Probe("three scores at temperature 0.5", (np.array([2.0, 1.0, 0.0]), 0.5)),
        Probe("three scores at temperature 1", (np.array([2.0, 1.0, 0.0]), 1.0)),
        Probe("a table at temperature 0.7", (rng.normal(size=(rows, columns)), 0.7)),
        Probe("whole numbers at temperature 3", (rng.integers(-4, 5, size=(rows, columns)), 3.0)),
        Probe("a nearly freezing temperature", (np.array([0.3, 0.1, 0.2]), 0.001), extreme=True),
        Probe("scores of a thousand at temperature 10", (np.array([9000.0, 8990.0, 8980.0]), 10.0), extreme=True),
        Probe("scores of 600 at temperature 0.5", (np.array([600.0, 599.0, 598.0]), 0.5), extreme=True),
        Probe("rows that lie 10000 apart", (np.array([[1e4, 9990.0], [5.0, 0.0]]), 8.0), extreme=True),
    ]


SOFTMAX_AT = Exercise(
    id="start_here/softmax_at",
    title="Mend a softmax whose temperature does nothing",
    minutes=5,
    difficulty="medium",
    kind="fix",
    reference=softmax_at,
    probes=_temperature_probes,
    right_answers={
        "loops": lambda x, temperature: _softmax_by_loops(np.asarray(x, dtype=float) / temperature),
        "brackets": lambda x, temperature: _normalised(np.exp((x - x.max(axis=-1, keepdims=True)) / temperature)),
        "float32": lambda x, temperature: _softmax_in_float32(
            np.asarray(x, dtype=np.float32) / np.float32(temperature)
        ),
        "both divided": lambda x, temperature: _normalised(
            np.exp(x / temperature - x.max(axis=-1, keepdims=True) / temperature)
        ),
    },
    mistakes=(
        Mistake(
            "brackets_missing",
            _brackets_missing,
            what="The temperature still divides the maximum alone: the division binds tighter than the subtraction.",
            why="Then only the constant changes that is taken from all scores, and the softmax ignores a constant.",
            where="Work out by hand what is divided in `x - m / T`.",
        ),
        Mistake(
            "brackets_elsewhere",
            _brackets_elsewhere,
            what="The scores are divided by the temperature, but not the maximum that is taken from them.",
            why="For ordinary scores the weights are right, for a constant changes nothing. But the largest "
            "score is no longer 0 after the shift: for large scores every exponential is 0 or overflows.",
            where="Both parts of the difference must be at the same temperature.",
        ),
        Mistake(
            "ignored",
            lambda x, temperature: softmax(x),
            what="The temperature is not used, or it divides the exponentials and their sum alike and cancels.",
            why="A high temperature must flatten the weights, a low one sharpen them.",
            where="Look for `temperature` in the body of the function: does it come before `exp`?",
        ),
        Mistake(
            "multiplied",
            lambda x, temperature: softmax(x * temperature),
            what="The scores were multiplied by the temperature.",
            why="Then heat sharpens and cold flattens, the wrong way round.",
            where="The factor before the softmax.",
        ),
        Mistake(
            "weights_divided",
            lambda x, temperature: softmax(x) / temperature,
            what="The weights were divided by the temperature, after the softmax.",
            why="Then they no longer sum to one, and their ratios are as before.",
            where="The division must come before `exp`.",
        ),
        Mistake(
            "sum_divided",
            lambda x, temperature: softmax(x) * temperature,
            what="The sum of the exponentials was divided by the temperature, or the weights multiplied by it.",
            why="Then they no longer sum to one, and their ratios are as before.",
            where="The division must come before `exp`.",
        ),
        Mistake(
            "root_of_temperature",
            lambda x, temperature: softmax(np.asarray(x, dtype=float) / np.sqrt(temperature)),
            what="The scores were divided by the square root of the temperature.",
            why="A square root stands in the paper's formula, but what it divides by is √d_k: the "
            "temperature itself is the number that the scores are divided by.",
            where="The divisor before `exp`.",
        ),
        Mistake(
            "whole_division",
            lambda x, temperature: softmax(np.asarray(x // temperature, dtype=float)),
            what="`//` divides and rounds down.",
            why="Scores that differ by less than the temperature become equal.",
            where="One slash too many.",
        ),
        Mistake(
            "overflow",
            _overflowing,
            what="The shift by the maximum is gone.",
            why="The temperature works, but large scores, or a low temperature, overflow again.",
            where="Which line of the broken version kept the exponentials from overflowing?",
        ),
        Mistake(
            "whole_array",
            lambda x, temperature: _whole_array(np.asarray(x, dtype=float) / temperature),
            what="All the entries of the table were normalised together.",
            why="Each row must sum to one by itself.",
            where="`sum` and `max` lost their axis.",
        ),
        Mistake(
            "max_of_the_whole",
            lambda x, temperature: _max_of_the_whole(np.asarray(x, dtype=float) / temperature),
            what="The largest score of the whole table was taken away, not the largest of each row.",
            why="A row that lies far below the others then has only exponentials of 0, and 0/0 is `nan`.",
            where="`max` lost its axis.",
        ),
    ),
)

EXERCISES = (SHAPE_OF_SUM, SIMILARITIES, STABLE_SOFTMAX, SOFTMAX, SOFTMAX_AT)

"""The exercises of the lesson *Scaling and masks*: probes, references and known mistakes.

Decided here: an answer that masks after the softmax and divides again by the sum is refused. It is right mathematics,
but where a forbidden key fits a thousand times better than the allowed ones it divides zero by zero, and one of the
probes does that. What a query gets that may attend to nothing is free: whoever fills with -inf, adds the fill or
returns zeros passes with a remark.
"""

import math

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, Remark, distinct_sizes
from course_lib.reference.attention import attention, softmax
from course_lib.reference.masks import causal_mask, padding_mask

# --- 1. score_spread ------------------------------------------------------------------------------------------------


def score_spread(d_k, q_std=1.0, k_std=1.0):
    """Return the standard deviation of q · k, for independent entries with mean 0 and these standard deviations."""
    return math.sqrt(d_k) * q_std * k_std


def _spread_probes(rng):
    d_k = int(rng.integers(20, 400))
    q_std, k_std = rng.uniform(0.3, 0.8), rng.uniform(1.5, 4)
    return [
        Probe("one number a vector", (1, 1.0, 1.0)),
        Probe("four numbers of size one", (4, 1.0, 1.0)),
        Probe("the paper's 64", (64, 1.0, 1.0)),
        Probe("larger queries", (64, 3.0, 1.0)),
        Probe("smaller keys", (100, 1.0, 0.5)),
        Probe("all three at once", (d_k, round(q_std, 2), round(k_std, 2))),
        Probe("a thousand", (1024, 1.0, 1.0)),
    ]


SCORE_SPREAD = Exercise(
    id="scaling_and_masks/score_spread",
    title="How large does a dot product get?",
    minutes=5,
    difficulty="easy",
    kind="predict",
    reference=score_spread,
    probes=_spread_probes,
    right_answers={
        "the root of a sum of variances": lambda d_k, q=1.0, k=1.0: sum((q * k) ** 2 for _ in range(d_k)) ** 0.5,
        "numpy": lambda d_k, q=1.0, k=1.0: np.sqrt(d_k * q**2 * k**2),
    },
    mistakes=(
        Mistake(
            "variance",
            lambda d_k, q=1.0, k=1.0: d_k * q**2 * k**2,
            what="This is the variance of the dot product.",
            why="The variance is in squared units: scores of 64 dimensions are off by 8 or so, not by 64.",
            where="Wanted is the standard deviation. How do you get it from a variance?",
        ),
        Mistake(
            "sizes_forgotten",
            lambda d_k, q=1.0, k=1.0: d_k**0.5,
            what="The root of d_k is there; how large the entries of q and k are plays no part.",
            why="Ten times larger queries make ten times larger scores.",
            where="Two of the arguments are not used.",
        ),
        Mistake(
            "linear_in_d_k",
            lambda d_k, q=1.0, k=1.0: d_k * q * k,
            what="The products of all d_k places were added as if they all had the same sign.",
            why="Some are positive and some negative, so most of the sum cancels: four times as many only double it.",
            where="For independent numbers it is the variances that add up, not the standard deviations.",
        ),
        Mistake(
            "variances_taken",
            lambda d_k, q=1.0, k=1.0: (d_k * q * k) ** 0.5,
            what="The two standard deviations went under the root as they are.",
            why="Under the root stand variances. Doubling a vector must double the score.",
            where="What is the variance of an entry whose standard deviation is 3?",
        ),
        Mistake(
            "only_the_sizes",
            lambda d_k, q=1.0, k=1.0: q * k,
            what="This is the standard deviation of one product, at one place.",
            why="A dot product is a sum of d_k of them.",
            where="d_k is not used yet.",
        ),
        Mistake(
            "only_one_vector",
            lambda d_k, q=1.0, k=1.0: d_k**0.5 * q,
            what="The keys' standard deviation is not used.",
            why="Larger keys make larger scores, just as larger queries do.",
            where="The third argument.",
        ),
        Mistake(
            "sizes_averaged",
            lambda d_k, q=1.0, k=1.0: d_k**0.5 * (q + k) / 2,
            what="The mean of the two standard deviations was taken.",
            why="At each place q and k are multiplied: queries ten times larger make scores ten times larger, and not "
            "five times or so.",
            where="With 3 and 1, what is the standard deviation of a single product?",
        ),
        Mistake(
            "sizes_added",
            lambda d_k, q=1.0, k=1.0: (d_k * (q**2 + k**2)) ** 0.5,
            what="The two variances were added.",
            why="That is the rule for a sum, and at each place q and k are multiplied.",
            where="With both 1 a single product has the standard deviation 1, not √2.",
        ),
    ),
)

# --- 2. causal_mask -------------------------------------------------------------------------------------------------


def _causal_probes(rng):
    return [
        Probe("three positions", (3,)),
        Probe("two positions", (2,)),
        Probe("more positions", (int(rng.integers(5, 9)),)),
        Probe("one position", (1,), extreme=True),
        Probe("no position at all", (0,), extreme=True),
    ]


def _causal_by_loops(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            mask[i, j] = j <= i
    return mask


NUMBERS = {
    "what": "The mask holds numbers (ones and zeros), not truth values.",
    "why": "`np.where` does not mind, but `~mask` turns 1 into −2, and `mask & other` fails on floats. A library may "
    "even take a mask of numbers for numbers to be added to the scores.",
    "where": "The `dtype`, or a comparison, which gives truth values by itself.",
}
ADDITIVE = {
    "what": "The mask holds 0 where one may attend and a very negative number elsewhere: it is meant to be added.",
    "why": 'Some libraries use masks like this. Here True means "may attend", so that masks can be joined by `&`.',
    "where": "Return truth values; what a blocked score is filled with is decided in `attention`.",
}
CAUSAL = Exercise(
    id="scaling_and_masks/causal_mask",
    title="Nobody looks ahead",
    minutes=4,
    difficulty="easy",
    kind="fill",
    reference=causal_mask,
    probes=_causal_probes,
    right_answers={
        "loops": _causal_by_loops,
        "compare the places": lambda n: np.arange(n)[None, :] <= np.arange(n)[:, None],
        "tri": lambda n: np.tri(n, dtype=bool),
        "the other triangle turned round": lambda n: ~np.triu(np.ones((n, n), dtype=bool), k=1),
        "the transpose of the upper": lambda n: np.triu(np.ones((n, n), dtype=bool)).T,
    },
    mistakes=(
        Mistake(
            "upper_triangle",
            lambda n: np.triu(np.ones((n, n), dtype=bool)),
            what="This is the other triangle: every position looks at itself and at those *after* it.",
            why="Rows are queries and columns keys. The first row now sees everything, the last only itself.",
            where="Row 0 belongs to the first token. Which columns may be True there?",
        ),
        Mistake(
            "polarity",
            lambda n: np.triu(np.ones((n, n), dtype=bool), k=1),
            what="True stands where one may *not* attend.",
            why='Some libraries mean it so, PyTorch\'s `nn.MultiheadAttention` for one. Here True means "may attend": '
            "with this mask every word sees the future and nothing else.",
            where="Say row 0 aloud: the first token may attend to what?",
        ),
        Mistake(
            "diagonal_hidden",
            lambda n: np.tril(np.ones((n, n), dtype=bool), k=-1),
            what="The diagonal is False: no position may look at itself.",
            why="The first position then may look at nothing at all, and every other loses its own token.",
            where="The diagonal is where query and key are the same token.",
        ),
        Mistake(
            "one_ahead",
            lambda n: np.tril(np.ones((n, n), dtype=bool), k=1),
            what="Each position may also look at the next one.",
            why="The next token is just what a language model must guess. It would learn to copy it: a loss near zero "
            "in training, and nothing learnt.",
            where="Row 0 has one True too many.",
        ),
        Mistake(
            "everyone",
            lambda n: np.ones((n, n), dtype=bool),
            what="Everything is True: everybody may look at everybody.",
            why="A mask without False does nothing.",
            where="Which squares of the table lie in the future of their row?",
        ),
        Mistake(
            "only_itself",
            lambda n: np.eye(n, dtype=bool),
            what="Only the diagonal is True: each position may look at itself alone.",
            why="Nothing could ever be learnt from the words before.",
            where="Row 2 may look at three positions.",
        ),
        Mistake("numbers", lambda n: np.tril(np.ones((n, n))), **NUMBERS),
        Mistake("additive", lambda n: np.where(np.tri(n, dtype=bool), 0.0, -np.inf), **ADDITIVE),
        Mistake("additive_finite", lambda n: np.where(np.tri(n, dtype=bool), 0.0, -1e9), **ADDITIVE),
        Mistake(
            "in_a_batch",
            lambda n: np.tril(np.ones((1, n, n), dtype=bool)),
            what="The mask has an axis for the batch in front.",
            why="It would do its work, for NumPy adds such an axis by itself. But wanted is the shape (n, n).",
            where="The shape, or an index with `None`.",
        ),
    ),
)

# --- 3. padding_mask ------------------------------------------------------------------------------------------------


def _ids(rng, lengths, n, pad_id, left=False):
    """Draw rows of token ids of these lengths, filled up to n with `pad_id` behind (or, with `left`, in front)."""
    ids = rng.integers(1, 50, size=(len(lengths), n)) + (rng.integers(0, 2, size=(len(lengths), n)) * 50)
    ids = np.where(ids == pad_id, 7 if pad_id != 7 else 8, ids)
    for row, length in zip(ids, lengths, strict=True):
        if left:
            row[: n - length] = pad_id
        else:
            row[length:] = pad_id
    return ids


def _padding_probes(rng):
    batch, n = distinct_sizes(rng, 2, low=3, high=7)
    lengths = [int(rng.integers(1, n)) for _ in range(batch)]
    zero_inside = np.array([[5, 0, 9, -1], [3, 3, -1, -1]])
    return [
        Probe("two rows of three", (np.array([[7, 8, 0], [9, 0, 0]]), 0)),
        Probe("as many rows as columns", (np.array([[4, 2, 0], [6, 0, 0], [1, 5, 3]]), 0)),
        Probe("padding that is not zero", (np.array([[7, 0, 1, 1], [0, 1, 1, 1]]), 1)),
        Probe("a negative padding id", (zero_inside, -1)),
        Probe("padding in front", (np.array([[0, 0, 7, 8], [0, 6, 5, 4], [1, 2, 3, 4]]), 0)),
        Probe("other sizes", (_ids(rng, lengths, n, 2), 2)),
        Probe("no padding at all", (_ids(rng, [n, n], n, 0), 0)),
        Probe("a row of nothing but padding", (np.array([[3, 3, 3], [1, 3, 3]]), 3), extreme=True),
    ]


def _padding_by_lengths(ids, pad_id):
    lengths = (ids != pad_id).sum(axis=1)
    return (np.arange(ids.shape[1]) < lengths[:, None])[:, None, :]


def _padding_by_loops(ids, pad_id):
    return np.array([[[token != pad_id for token in row]] for row in ids])


def _whole_padding(ids, pad_id):
    return np.repeat(padding_mask(ids, pad_id), ids.shape[1], axis=1)


QUERIES_TOO = {
    "what": "The rows of the padding are hidden as well: padding may neither be looked at nor look.",
    "why": "A query that may look at nothing has no weights, and `-inf` makes NaN of it. What padding sees is never "
    "used anyway: it is enough that nobody looks *at* it.",
    "where": "Which of the two axes stands for who is looked at? Only that one needs the ids.",
}
PADDING = Exercise(
    id="scaling_and_masks/padding_mask",
    title="Nobody looks at padding",
    minutes=6,
    difficulty="medium",
    kind="fill",
    reference=padding_mask,
    probes=_padding_probes,
    right_answers={
        "loops": _padding_by_loops,
        "expand_dims": lambda ids, pad_id: np.expand_dims(ids != pad_id, 1),
        "reshape": lambda ids, pad_id: np.not_equal(ids, pad_id).reshape(len(ids), 1, -1),
    },
    remarks=(
        Remark(
            "one_row_a_query",
            _whole_padding,
            "Right, and n times as large as it must be: an axis of length one for the queries would do, for NumPy "
            "stretches it (it broadcasts).",
        ),
    ),
    mistakes=(
        Mistake(
            "polarity",
            lambda ids, pad_id: (ids == pad_id)[:, None, :],
            what="True stands where the padding is.",
            why="Then everybody looks at the padding and at nothing else. PyTorch's `key_padding_mask` means it so; "
            'here True means "may attend".',
            where="The comparison.",
        ),
        Mistake(
            "queries_masked",
            lambda ids, pad_id: (ids != pad_id)[:, :, None],
            what="The axis of length one is the last: the mask says who may look, not who may be looked at.",
            why="The words still look at the padding, and the padding may look at nothing.",
            where="The order of axes is (batch, query, key). Which of them do the ids run along?",
        ),
        Mistake(
            "no_axis_for_the_queries",
            lambda ids, pad_id: ids != pad_id,
            what="The mask has the shape of the ids: there is no axis for the queries.",
            why="Against scores of shape (batch, query, key) NumPy lines axes up from the right: your batch meets the "
            "queries. That raises, or, when both are equally long, hides the wrong words silently.",
            where="One axis of length one, in the right place.",
        ),
        Mistake(
            "queries_too",
            lambda ids, pad_id: (ids != pad_id)[:, :, None] & (ids != pad_id)[:, None, :],
            **QUERIES_TOO,
        ),
        Mistake(
            "zero_assumed",
            lambda ids, pad_id: (ids != 0)[:, None, :],
            what="The ids are compared with 0, not with `pad_id`.",
            why="Not every vocabulary gives its padding the number 0, and where it does not, 0 is a word.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "larger_than_padding",
            lambda ids, pad_id: (ids > pad_id)[:, None, :],
            what="Ids below `pad_id` count as padding too.",
            why="Ids are names, not sizes: a word may well have a smaller number than the padding.",
            where="The comparison.",
        ),
        Mistake(
            "padding_at_the_end_assumed",
            _padding_by_lengths,
            what="The tokens were counted, and so many of the first places allowed.",
            why="That is right as long as the padding stands behind. Who generates text in batches pads in front.",
            where="Each id says by itself whether it is padding. No counting is needed.",
        ),
        Mistake("numbers", lambda ids, pad_id: (ids != pad_id)[:, None, :].astype(float), **NUMBERS),
        Mistake("additive", lambda ids, pad_id: np.where((ids != pad_id)[:, None, :], 0.0, -np.inf), **ADDITIVE),
        Mistake("additive_finite", lambda ids, pad_id: np.where((ids != pad_id)[:, None, :], 0.0, -1e9), **ADDITIVE),
        Mistake(
            "axis_for_heads",
            lambda ids, pad_id: (ids != pad_id)[:, None, None, :],
            what="There are two axes of length one: one for heads and one for queries.",
            why="That is what scores of shape (batch, head, query, key) need, and lesson 05 will. Here there are no "
            "heads: against (batch, query, key) it would make four axes of three.",
            where="Take one of the two `None` out.",
        ),
    ),
)

# --- 4. attention ---------------------------------------------------------------------------------------------------


def _tables(rng, *shapes):
    return tuple(rng.normal(size=shape).round(2) + 0.001 for shape in shapes)


def _seen(rng, *shape):
    """Draw a mask in which each row has at least one True and, if it has two keys or more, one False."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return rng.permuted(mask, axis=-1)


def _attention_probes(rng):
    n_query, n_key, d_k, d_v = distinct_sizes(rng, 4, low=3)
    one = _tables(rng, (3, 4), (3, 4), (3, 2))
    heads = _tables(rng, (2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7))
    same = _tables(rng, (3, 3, 3), (3, 3, 3), (3, 3, 3))
    # Every score is a whole number, also in float32, and the forbidden key fits a thousand times better.
    tempting = np.array([[2.0, 0, 0, 0], [0, 2, 0, 0]]), np.array([[1.0, 2, 0, 0], [2, 1, 0, 0], [3000, 2000, 1, 0]])
    values = rng.normal(size=(3, 2)).round(2)
    far = np.array([[20000.0, 0, 0, 0], [0, 20000, 0, 0]]), -np.array([[2.0, 3, 0, 0], [3, 2, 0, 0], [-1, -1, 0, 0]])
    nothing = np.array([[True, False, True], [False, False, False], [False, True, False]])
    # Equal scores, and values that cancel: here a fill of -1e-9 can be told from one of 0.
    cancel = np.zeros((1, 4)), rng.normal(size=(2, 4)).round(2), np.array([[1e9], [-1e9]]), np.array([True, False])
    return [
        Probe("three words without a mask", one),
        Probe("the same words with a causal mask", (*one, causal_mask(3))),
        Probe("other sizes, all different", _tables(rng, (n_query, d_k), (n_key, d_k), (n_key, d_v))),
        Probe(
            "other sizes with a mask",
            (*_tables(rng, (n_query, d_k), (n_key, d_k), (n_key, d_v)), _seen(rng, n_query, n_key)),
        ),
        Probe("as many words as numbers in a word", (*_tables(rng, *[(4, 4)] * 3), _seen(rng, 4, 4))),
        Probe("a batch, and a mask for each", (*_tables(rng, (2, 4, 6), (2, 5, 6), (2, 5, 3)), _seen(rng, 2, 4, 5))),
        Probe("a batch of three, everything of length three", (*same, _seen(rng, 3, 3))),
        Probe("a batch with a padding mask", (*_tables(rng, (2, 3, 5), (2, 4, 5), (2, 4, 6)), _seen(rng, 2, 1, 4))),
        Probe("one mask for all queries", (*_tables(rng, (3, 5), (4, 5), (4, 2)), _seen(rng, 4))),
        Probe("a batch with heads, without a mask", heads),
        Probe("a batch with heads and a padding mask", (*heads, _seen(rng, 2, 1, 1, 6))),
        Probe("a forbidden key that fits a thousand times better", (*tempting, values, np.array([True, True, False]))),
        Probe("allowed scores far below zero", (*far, values, np.array([True, True, False])), extreme=True),
        Probe("scores of thousands", (1000 * tempting[0], tempting[1], values), extreme=True),
        Probe("two huge values, one of them hidden", cancel, extreme=True),
        Probe("one query on one key", _tables(rng, (1, 3), (1, 3), (1, 2)), extreme=True),
        Probe("a query that may attend to nothing", (*_tables(rng, (3, 4), (3, 4), (3, 2)), nothing), extreme=True),
    ]


def _scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])


def _masked(mask, scores, fill=-1e9):
    return scores if mask is None else np.where(mask, scores, fill)


def _divided(divisor):
    """Make an attention whose scores are divided by another number."""

    def answer(Q, K, V, mask=None):
        return softmax(_masked(mask, Q @ K.swapaxes(-1, -2) / divisor(Q, K, V))) @ V

    return answer


def _filled(fill):
    """Make an attention that fills the blocked scores with another number."""
    return lambda Q, K, V, mask=None: softmax(_masked(mask, _scores(Q, K), fill)) @ V


def _weighted(change):
    """Make an attention that changes the weights by the mask after the softmax."""

    def answer(Q, K, V, mask=None):
        weights = softmax(_scores(Q, K))
        return (weights if mask is None else change(weights, mask)) @ V

    return answer


def _after_and_renormalised(weights, mask):
    kept = weights * mask
    return kept / kept.sum(axis=-1, keepdims=True)


def _changed_mask(change):
    """Make an attention that uses another mask than it was given."""

    def answer(Q, K, V, mask=None):
        return attention(Q, K, V, None if mask is None else change(mask))

    return answer


def _along(axis):
    """Make an attention whose softmax runs along another axis."""

    def answer(Q, K, V, mask=None):
        return softmax(_masked(mask, _scores(Q, K)), axis=axis) @ V

    return answer


def _all_axes_transposed(Q, K, V, mask=None):
    return softmax(_masked(mask, Q @ K.T / np.sqrt(Q.shape[-1]))) @ V


def _indexed(Q, K, V, mask=None):
    scores = _scores(Q, K)
    if mask is not None:
        scores[~mask] = -1e9
    return softmax(scores) @ V


def _if_mask(Q, K, V, mask=None):
    scores = _scores(Q, K)
    if mask:
        scores = np.where(mask, scores, -1e9)
    return softmax(scores) @ V


def _none_hides_all(Q, K, V, mask=None):
    return softmax(np.where(mask, _scores(Q, K), -1e9)) @ V


def _mask_added(Q, K, V, mask=None):
    return softmax(_scores(Q, K) if mask is None else _scores(Q, K) + mask) @ V


def _always_causal(Q, K, V, mask=None):
    scores = _scores(Q, K)
    return softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -1e9)) @ V


def _plain_exponentials(Q, K, V, mask=None):
    raised = np.exp(_masked(mask, _scores(Q, K)))
    return raised / raised.sum(axis=-1, keepdims=True) @ V


def _d_model(Q, _K, _V):
    heads = Q.shape[-3] if Q.ndim > 3 else 1
    return np.sqrt(heads * Q.shape[-1])


def _added(Q, K, V, mask=None):
    return softmax(_scores(Q, K) if mask is None else _scores(Q, K) + np.where(mask, 0, -1e9)) @ V


def _zeros_for_nothing(Q, K, V, mask=None):
    found = attention(Q, K, V, mask)
    if mask is None:
        return found
    some = np.broadcast_to(mask, (*np.broadcast_shapes(mask.shape, (*found.shape[:-1], 1))[:-1], mask.shape[-1]))
    return np.where(some.any(axis=-1, keepdims=True), found, 0.0)


def _by_einsum(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K) / Q.shape[-1] ** 0.5
    return np.einsum("...qk,...kv->...qv", softmax(_masked(mask, scores, np.finfo(float).min)), V)


def _one_query_at_a_time(Q, K, V, mask=None):
    leading = Q.shape[:-2]
    full = np.ones((*leading, Q.shape[-2], K.shape[-2]), dtype=bool) if mask is None else mask
    full = np.broadcast_to(full, (*leading, Q.shape[-2], K.shape[-2]))
    output = np.empty((*leading, Q.shape[-2], V.shape[-1]))
    for place in np.ndindex(*output.shape[:-1]):
        keys, values = K[place[:-1]], V[place[:-1]]
        allowed = full[place] if full[place].any() else np.ones(len(keys), dtype=bool)
        scores = (keys @ Q[place] / len(Q[place]) ** 0.5)[allowed] * full[place].any()
        output[place] = softmax(scores) @ values[allowed]
    return output


def _largest_of_the_allowed(Q, K, V, mask=None):
    scores = _scores(Q, K)
    allowed = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape)
    nothing = ~allowed.any(axis=-1, keepdims=True)
    allowed, scores = allowed | nothing, np.where(nothing, 0.0, scores)
    top = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True)
    raised = np.where(allowed, np.exp(np.minimum(scores - top, 0)), 0)
    return raised / raised.sum(axis=-1, keepdims=True) @ V


ANSWERS_NOTHING = "For a query that may attend to nothing yours returns {}; the course's own returns the plain mean. "
ATTENTION = Exercise(
    id="scaling_and_masks/attention",
    title="Attention with a mask, for any leading axes",
    minutes=15,
    difficulty="hard",
    kind="fill",
    reference=attention,
    probes=_attention_probes,
    right_answers={
        "einsum, and the lowest number": _by_einsum,
        "one query at a time": _one_query_at_a_time,
        "the largest of the allowed scores": _largest_of_the_allowed,
        "the queries scaled first": lambda Q, K, V, mask=None: (
            softmax(_masked(mask, Q / np.sqrt(Q.shape[-1]) @ np.moveaxis(K, -1, -2))) @ V
        ),
        "masked, then scaled": lambda Q, K, V, mask=None: (
            softmax(_masked(mask, Q @ K.swapaxes(-1, -2), -1e12) / np.sqrt(K.shape[-1])) @ V
        ),
        "filled with -1e30": _filled(-1e30),
    },
    remarks=(
        Remark(
            "minus_infinity",
            _filled(-np.inf),
            ANSWERS_NOTHING.format("NaN")
            + "Both are right wherever a query may attend to something. But one NaN spreads: in the next layer every "
            "query that gives it the weight 0 becomes NaN too, for 0 times NaN is NaN.",
        ),
        Remark(
            "fill_added",
            _added,
            ANSWERS_NOTHING.format("what it would see without a mask (all its scores are lowered alike)")
            + "Wherever a query may attend to something, adding −1e9 and putting it in place come to the same.",
        ),
        Remark(
            "zeros_for_nothing",
            _zeros_for_nothing,
            ANSWERS_NOTHING.format("zeros")
            + "PyTorch's `scaled_dot_product_attention` does the same as yours. Both are finite, and neither means "
            "anything.",
        ),
    ),
    mistakes=(
        Mistake(
            "no_scale",
            _divided(lambda Q, K, V: 1),
            what="The scores went into the softmax without being scaled.",
            why="With 256 numbers a vector one key then gets nearly everything, and training breaks: you saw it.",
            where="Between the scores and the softmax.",
        ),
        Mistake(
            "divided_by_d_k",
            _divided(lambda Q, K, V: Q.shape[-1]),
            what="The scores were divided by d_k itself.",
            why="That is too much: the more numbers in a vector, the more alike all weights become.",
            where="The divisor. What is the standard deviation of a dot product?",
        ),
        Mistake(
            "root_of_d_model",
            _divided(_d_model),
            what="With heads, the scores were divided by √d_model: by the length of all heads together.",
            why="A query and a key of one head have d_k numbers each, so their product varies by √d_k. Without heads "
            "the two are the same, and nothing shows.",
            where="The number under the root: it is the length of the axis that is summed over.",
        ),
        Mistake(
            "root_of_n_key",
            _divided(lambda Q, K, V: np.sqrt(K.shape[-2])),
            what="The scores were divided by the root of the number of keys.",
            why="A dot product grows with the length of the vectors, not with how many there are.",
            where="Which axis of K is d_k? Count from the end, for there may be axes in front.",
        ),
        Mistake(
            "second_axis_for_d_k",
            _divided(lambda Q, K, V: np.sqrt(Q.shape[1])),
            what="`Q.shape[1]` was taken for d_k.",
            why="With an axis for the batch in front, axis 1 counts the queries (or the heads).",
            where="Count the axes from the end: −1 stays the last, whatever stands in front.",
        ),
        Mistake(
            "root_of_d_v",
            _divided(lambda Q, K, V: np.sqrt(V.shape[-1])),
            what="The scores were divided by the root of the values' length.",
            why="The values take no part in the scores.",
            where="The root: whose length goes into it?",
        ),
        Mistake(
            "multiplied_by_the_root",
            _divided(lambda Q, K, V: 1 / np.sqrt(Q.shape[-1])),
            what="The scores are multiplied by √d_k, not divided.",
            why="The scale is there to make large scores smaller.",
            where="The sign between the scores and the root.",
        ),
        Mistake(
            "all_axes_transposed",
            _all_axes_transposed,
            what="`K.T` turned *all* axes of K round, not the last two.",
            why="For a matrix it is the same. With a batch in front, the batch becomes the last axis: NumPy raises an "
            "error, or, if the lengths happen to fit, mixes the sentences silently.",
            where="Only query and key change places; the axes in front must stay. NumPy has a function for two axes.",
        ),
        Mistake(
            "softmax_over_queries",
            _along(-2),
            what="The softmax runs over the queries, not over the keys.",
            why="Then the weights of one query do not sum to one.",
            where="The axis of the softmax.",
        ),
        Mistake(
            "softmax_along_axis_one",
            _along(1),
            what="The softmax runs along axis 1.",
            why="In a matrix that is the axis of the keys. With a batch in front it is that of the queries.",
            where="The keys are always the last axis.",
        ),
        Mistake(
            "mask_ignored",
            lambda Q, K, V, mask=None: attention(Q, K, V),
            what="The mask is not used.",
            why="Everybody still sees everybody.",
            where="Between the scores and the softmax something must happen to the scores that are not allowed.",
        ),
        Mistake(
            "polarity",
            _changed_mask(np.logical_not),
            what="The mask is taken the wrong way round: what is True is hidden.",
            why='Some libraries mean it so. Here True means "may attend".',
            where="The order of the two values in `np.where`, or a `~` too many or too few.",
        ),
        Mistake(
            "mask_transposed",
            _changed_mask(lambda mask: mask.swapaxes(-1, -2) if mask.ndim > 1 else mask),
            what="The mask's rows and columns have changed places.",
            why="A causal mask then lets everybody see the future and nothing else.",
            where="The mask arrives as (…, query, key), just as the scores are. Leave it as it is.",
        ),
        Mistake(
            "after_the_softmax",
            _weighted(lambda weights, mask: weights * mask),
            what="The weights were set to zero after the softmax, and left so.",
            why="They no longer sum to one, and worse: the sum that the softmax divided by had the forbidden words in "
            "it. Change one of those, and the output moves.",
            where="The mask must have its say before the softmax, so that what is hidden has no part in the sum.",
        ),
        Mistake(
            "after_the_softmax_and_renormalised",
            _weighted(_after_and_renormalised),
            what="The weights were set to zero after the softmax and divided by their new sum: right mathematics, "
            "fragile numerics.",
            why="If a forbidden key fits far better than the allowed ones, their weights are rounded to 0 before the "
            "mask comes, and 0 / 0 is no number.",
            where="Hide the scores before the softmax: then the largest score is one of the allowed.",
        ),
        Mistake(
            "renormalised_with_an_epsilon",
            _weighted(lambda weights, mask: weights * mask / ((weights * mask).sum(axis=-1, keepdims=True) + 1e-9)),
            what="The weights were set to zero after the softmax, and divided by their new sum plus a tiny number: "
            "right mathematics, fragile numerics.",
            why="If a forbidden key fits far better than the allowed ones, their weights are rounded to 0 before the "
            "mask comes. The tiny number turns the NaN into zeros, and nobody notices any more.",
            where="Hide the scores before the softmax: then the largest score is one of the allowed.",
        ),
        Mistake(
            "filled_with_zero",
            _filled(0.0),
            what="The scores that are not allowed became 0: set to 0, or multiplied by the mask.",
            why="A score of 0 is an ordinary score: e⁰ = 1. It may even be the largest of all.",
            where="Which score has the exponential 0, or nearly?",
        ),
        Mistake(
            "filled_with_nearly_zero",
            _filled(-1e-9),
            what="The scores that are not allowed were set to −1e-9: that is −0.000000001.",
            why="It is as good as 0, and e⁰ = 1: hidden words count like a word with the score 0.",
            where="A sign in the exponent.",
        ),
        Mistake(
            "filled_with_a_large_number",
            _filled(1e9),
            what="The scores that are not allowed were set to +1e9.",
            why="Then they are the largest of all, and get all the weight.",
            where="The sign in front of the number.",
        ),
        Mistake(
            "filled_not_low_enough",
            _filled(-1e4),
            what="The scores that are not allowed were set to −10000, and there are scores below that.",
            why="It works until all allowed scores lie lower still. Then the hidden word gets everything.",
            where="Choose a number that no score can reach.",
        ),
        Mistake(
            "mask_added",
            _mask_added,
            what="The mask itself was added to the scores.",
            why="True counts as 1 and False as 0: the allowed scores grew by one, and nothing is hidden.",
            where="What must be added where the mask is False so that the exponential becomes 0?",
        ),
        Mistake(
            "boolean_index",
            _indexed,
            what="The scores were picked by the mask in square brackets.",
            why="That needs a mask of the same shape as the scores. A mask may be smaller and meant for every query, "
            "or for the whole batch: it must broadcast.",
            where="`np.where` broadcasts its three arguments.",
        ),
        Mistake(
            "truth_of_an_array",
            _if_mask,
            what="The mask was asked for its truth value: `if mask`, `mask == None` or `mask or …`.",
            why="An array of many truth values has none of its own, so NumPy refuses.",
            where="Ask only whether there is a mask: whether it `is` something.",
        ),
        Mistake(
            "none_hides_all",
            _none_hides_all,
            what="Without a mask everything is hidden: `np.where` takes None for False.",
            why="All scores are then equal, and every query gets the plain mean.",
            where="What should happen when `mask` is None?",
        ),
        Mistake(
            "always_causal",
            _always_causal,
            what="A causal mask is used, whatever `mask` says.",
            why="The function should serve everybody: the encoder looks ahead, and padding must be hidden.",
            where="The argument `mask`.",
        ),
        Mistake(
            "weights_returned",
            lambda Q, K, V, mask=None: softmax(_masked(mask, _scores(Q, K))),
            what="The weights are returned.",
            why="They say how much each value counts; the values have not been touched yet.",
            where="The last piece of the formula is missing.",
        ),
        Mistake(
            "sum_of_keys",
            lambda Q, K, V, mask=None: attention(Q, K, K, mask),
            what="The keys are averaged, not the values.",
            why="A key says by what a word is found, the value what it gives.",
            where="The last product.",
        ),
        Mistake(
            "softmax_at_the_end",
            lambda Q, K, V, mask=None: softmax(_masked(mask, _scores(Q, K), 0) @ V),
            what="The softmax was taken of the result, behind the product with V.",
            why="It is the *scores* that become shares; what comes out is an average of values, and may be negative or "
            "large.",
            where="The brackets: what stands between those of the softmax?",
        ),
        Mistake(
            "scale_after_softmax",
            lambda Q, K, V, mask=None: softmax(_masked(mask, Q @ K.swapaxes(-1, -2))) / np.sqrt(Q.shape[-1]) @ V,
            what="The division comes after the softmax.",
            why="The weights keep the sharpness of the unscaled scores, and no longer sum to one.",
            where="The order: score, scaling, mask, softmax.",
        ),
        Mistake(
            "overflow",
            _plain_exponentials,
            what="The exponentials are taken of the scores as they are.",
            why="From about 710 on e^x overflows to infinity, and infinity divided by infinity is no number.",
            where="Lesson 00: what may be taken away from all scores of a query without changing its weights?",
        ),
    ),
)

# --- 5. combined_mask -----------------------------------------------------------------------------------------------


def combined_mask(ids, pad_id):
    """Let every position look at itself and at those before it, as far as they are no padding."""
    return causal_mask(ids.shape[1]) & padding_mask(ids, pad_id)


def _combined_probes(rng):
    batch, n = distinct_sizes(rng, 2, low=3, high=7)
    lengths = [int(rng.integers(1, n)) for _ in range(batch)]
    return [
        Probe("two rows of three", (np.array([[7, 8, 0], [9, 0, 0]]), 0)),
        Probe("as many rows as columns", (np.array([[4, 2, 0], [6, 0, 0], [1, 5, 3]]), 0)),
        Probe("padding that is not zero", (np.array([[7, 0, 1, 1], [0, 1, 1, 1]]), 1)),
        Probe("padding in front", (np.array([[2, 2, 7, 8], [2, 0, 5, 4], [1, 3, 3, 4]]), 2)),
        Probe("other sizes", (_ids(rng, lengths, n, 5), 5)),
        Probe("one row of one token", (np.array([[4]]), 0), extreme=True),
    ]


def _combined_by_loops(ids, pad_id):
    batch, n = ids.shape
    places = [(b, i, j) for b in range(batch) for i in range(n) for j in range(n)]
    return np.array([j <= i and ids[b, j] != pad_id for b, i, j in places]).reshape(batch, n, n)


def _only_causal(ids, pad_id):
    return np.repeat(causal_mask(ids.shape[1])[None], len(ids), axis=0)


COMBINED = Exercise(
    id="scaling_and_masks/combined_mask",
    title="Neither ahead nor at padding",
    minutes=5,
    difficulty="medium",
    kind="fill",
    reference=combined_mask,
    probes=_combined_probes,
    right_answers={
        "loops": _combined_by_loops,
        "multiplied": lambda ids, pad_id: causal_mask(ids.shape[1]) * padding_mask(ids, pad_id),
        "tril of a whole mask": lambda ids, pad_id: np.tril(_whole_padding(ids, pad_id)),
        "where": lambda ids, pad_id: np.where(causal_mask(ids.shape[1]), padding_mask(ids, pad_id), False),
    },
    mistakes=(
        Mistake(
            "or_for_and",
            lambda ids, pad_id: causal_mask(ids.shape[1]) | padding_mask(ids, pad_id),
            what="The two masks are joined by *or*: it is enough if one of them allows a look.",
            why="Real words of the future may then be looked at, and padding of the past.",
            where="A look must be allowed by both.",
        ),
        Mistake(
            "only_causal",
            _only_causal,
            what="This is the causal mask alone.",
            why="Padding that stands before a word is looked at, and every padding sees padding.",
            where="The ids are not used, only their shape.",
        ),
        Mistake(
            "only_padding",
            _whole_padding,
            what="This is the padding mask alone.",
            why="Every word sees the future.",
            where="The second mask of the lesson.",
        ),
        Mistake(
            "polarity",
            lambda ids, pad_id: ~combined_mask(ids, pad_id),
            what="True stands where one may *not* attend.",
            why='Here True means "may attend".',
            where="A `~` too many, or comparisons the wrong way round.",
        ),
        Mistake(
            "padding_polarity",
            lambda ids, pad_id: causal_mask(ids.shape[1]) & ~padding_mask(ids, pad_id),
            what="The causal part is right; in the padding part True stands where the padding is.",
            why="Every position then looks at padding and at nothing else.",
            where="The comparison of the ids.",
        ),
        Mistake(
            "causal_polarity",
            lambda ids, pad_id: ~causal_mask(ids.shape[1]) & padding_mask(ids, pad_id),
            what="The padding part is right; in the causal part True stands in the future.",
            why="Every position sees only what comes after it.",
            where="The triangle.",
        ),
        Mistake(
            "upper_triangle",
            lambda ids, pad_id: causal_mask(ids.shape[1]).T & padding_mask(ids, pad_id),
            what="The triangle is the other one: every position looks at itself and ahead.",
            why="Rows are queries and columns keys.",
            where="The first row of the first table: which columns may be True?",
        ),
        Mistake(
            "diagonal_hidden",
            lambda ids, pad_id: np.tril(_whole_padding(ids, pad_id), k=-1),
            what="No position may look at itself.",
            why="The first position then may look at nothing, and every other loses its own token.",
            where="The diagonal.",
        ),
        Mistake(
            "one_ahead",
            lambda ids, pad_id: np.tril(_whole_padding(ids, pad_id), k=1),
            what="Each position may also look at the next one.",
            why="The next token is just what a language model must guess.",
            where="The diagonal just above the middle one.",
        ),
        Mistake(
            "queries_masked",
            lambda ids, pad_id: causal_mask(ids.shape[1]) & (ids != pad_id)[:, :, None],
            what="The rows of the padding are hidden, not its columns: the padding may not look.",
            why="The words still look at padding that stands before them.",
            where="The order of axes is (batch, query, key). Along which do the ids run?",
        ),
        Mistake(
            "queries_too",
            lambda ids, pad_id: combined_mask(ids, pad_id) & (ids != pad_id)[:, :, None],
            **QUERIES_TOO,
        ),
        Mistake(
            "zero_assumed",
            lambda ids, pad_id: combined_mask(ids, 0),
            what="The ids are compared with 0, not with `pad_id`.",
            why="Not every vocabulary gives its padding the number 0.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "padding_at_the_end_assumed",
            lambda ids, pad_id: causal_mask(ids.shape[1]) & _padding_by_lengths(ids, pad_id),
            what="The tokens were counted, and so many of the first places allowed.",
            why="That is right as long as the padding stands behind. Who generates text in batches pads in front.",
            where="Each id says by itself whether it is padding.",
        ),
        Mistake("numbers", lambda ids, pad_id: combined_mask(ids, pad_id).astype(int), **NUMBERS),
        Mistake(
            "axis_for_heads",
            lambda ids, pad_id: combined_mask(ids, pad_id)[:, None],
            what="There is an axis for the heads.",
            why="Lesson 05 will need it. Here the shape (batch, query, key) is asked for.",
            where="Take the axis of length one out.",
        ),
    ),
)

# --- 6. leaks -------------------------------------------------------------------------------------------------------
# What the learner's test is tried on: functions from tokens (n, d) to outputs (n, d). Some let the future leak.


def only_the_past(X):
    """Look at yourself and back; nothing leaks."""
    return attention(X, X, X, causal_mask(len(X)))


def only_itself(X):
    """Look at nothing but yourself; nothing leaks."""
    return 2 * X


def mean_so_far(X):
    """Take the mean of all tokens so far; nothing leaks."""
    return np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None]


def centred(X):
    """Take a mean of all tokens away and add it again: only rounding errors tell of the future. Nothing leaks."""
    mean = X.mean(axis=0)
    return attention(X, X, X - mean, causal_mask(len(X))) + mean


def strictly_before(X):
    """Look back and not at yourself, and give the first token, which may look at nothing, zeros; nothing leaks."""
    found = attention(X, X, X, np.tri(len(X), k=-1, dtype=bool))
    return np.concatenate([np.zeros_like(found[:1]), found[1:]])


def everyone(X):
    """Look at all; the future leaks everywhere."""
    return attention(X, X, X)


def one_ahead(X):
    """Look one token too far."""
    return attention(X, X, X, np.tri(len(X), k=1, dtype=bool))


def two_ahead(X):
    """Look at the token after the next, and not at the next."""
    return attention(X, X, X, causal_mask(len(X)) | np.eye(len(X), k=2, dtype=bool))


def masked_too_late(X):
    """Set the weights of the future to zero after the softmax: it has had its part in the sum."""
    n, d = X.shape
    return (softmax(X @ X.T / np.sqrt(d)) * causal_mask(n)) @ X


def hidden_too_little(X):
    """Fill the future's scores with a number that is not low enough: a thousandth part leaks."""
    n, d = X.shape
    scores = np.clip(X @ X.T / np.sqrt(d), -1, 1)
    return softmax(np.where(causal_mask(n), scores, -8.0)) @ X


def first_sees_second(X):
    """Nearly a causal mask: a single square too much, in the first row."""
    mask = causal_mask(len(X))
    mask[0, 1:2] = True
    return attention(X, X, X, mask)


def last_but_one_sees_last(X):
    """Nearly a causal mask: a single square too much, in the last row but one."""
    mask = causal_mask(len(X))
    mask[-2:, -1] = True
    return attention(X, X, X, mask)


def mean_for_nothing(X):
    """Look back and not at yourself: the first token may look at nothing, and gets the mean of all."""
    return attention(X, X, X, np.tri(len(X), k=-1, dtype=bool))


def leaks(attend, X):
    """Say whether any output of `attend(X)` depends on a token that comes after it."""
    before = attend(X)
    for j in range(1, len(X)):
        changed = X.copy()
        changed[j] += 1.0
        if not np.allclose(attend(changed)[:j], before[:j], rtol=0, atol=1e-5):
            return True
    return False


def _leak_probes(rng):
    def tokens(n, d):
        return rng.normal(size=(n, d)).round(2) + 0.001

    zeros = tokens(4, 3)
    zeros[1] = 0
    right = (only_the_past, only_itself, mean_so_far, centred, strictly_before)
    wrong = (
        everyone,
        one_ahead,
        two_ahead,
        masked_too_late,
        hidden_too_little,
        first_sees_second,
        last_but_one_sees_last,
        mean_for_nothing,
    )
    return [
        Probe("a function with the right mask", (only_the_past, tokens(4, 3))),
        Probe("a function without a mask", (everyone, tokens(4, 3))),
        *[Probe(f"the right function {f.__name__}", (f, tokens(5, 2))) for f in right],
        *[Probe(f"the leaking function {f.__name__}", (f, tokens(6, 4))) for f in wrong],
        Probe("a token of zeros that leaks", (first_sees_second, zeros)),
        Probe("two tokens", (one_ahead, tokens(2, 3))),
        Probe("one token, which has no future", (everyone, tokens(1, 3)), extreme=True),
    ]


def _tester(changed, watched=lambda j: slice(0, j), tolerance=1e-6, tokens=lambda n: range(1, n)):
    """Make a leak test: how a token is changed, which outputs are watched, how exactly, which tokens are tried."""

    def answer(attend, X):
        before = attend(X)
        for j in tokens(len(X)):
            after = attend(changed(X, j))
            if (np.abs(after - before)[watched(j)] > tolerance).any():
                return True
        return False

    return answer


def _plus_one(X, j):
    X = X.copy()
    X[j] += 1
    return X


def _doubled(X, j):
    X = X.copy()
    X[j] *= 2
    return X


def _future_reversed(X, j):
    return np.concatenate([X[:j], X[j:][::-1]])


def _poisoned(attend, X):
    for j in range(1, len(X)):
        poisoned = X.copy()
        poisoned[j] = np.nan
        if np.isnan(attend(poisoned)[:j]).any():
            return True
    return False


def _cut_off(attend, X):
    whole = attend(X)
    return not all(np.allclose(attend(X[:n]), whole[:n]) for n in range(1, len(X)))


def _all_of_the_future(X, j):
    return np.concatenate([X[:j], X[j:] + 3])


LEAKS = Exercise(
    id="scaling_and_masks/leaks",
    title="A test that catches a leak",
    minutes=12,
    difficulty="hard",
    kind="measure",
    reference=leaks,
    probes=_leak_probes,
    right_answers={
        "the sentence cut off": _cut_off,
        "all of the future changed": _tester(_all_of_the_future),
        "the last output of each beginning": lambda attend, X: any(
            not np.allclose(attend(X[: i + 1])[-1], attend(X)[i]) for i in range(len(X))
        ),
        "the other token drawn": _tester(lambda X, j: _plus_one(X, j) - 3 * (np.arange(len(X)) == j)[:, None]),
    },
    mistakes=(
        Mistake(
            "polarity",
            lambda attend, X: not leaks(attend, X),
            what="True and False have changed places: this says whether a function is causal.",
            why="The name asks whether it leaks.",
            where="The two `return`s.",
        ),
        Mistake(
            "own_output_watched",
            _tester(_plus_one, watched=lambda j: slice(None), tokens=range),
            what="Outputs that may move were watched too: that of the changed token itself, and those after it.",
            why="They move in every attention that is worth the name. Your test calls everybody guilty.",
            where="If token j is changed, the outputs of which positions must stay?",
        ),
        Mistake(
            "never",
            lambda attend, X: False,
            what="The test never finds anything.",
            why="Perhaps it changes the first token, which lies in nobody's future, or compares an array with itself.",
            where="Print what is different between the two inputs, and which outputs you compare.",
        ),
        Mistake(
            "looks_at_the_past",
            _tester(_plus_one, watched=lambda j: slice(j + 1, None), tokens=range),
            what="The outputs *after* the changed token were watched.",
            why="That finds out who looks back, and looking back is allowed.",
            where="The slice of the outputs.",
        ),
        Mistake(
            "only_the_last_token",
            _tester(_plus_one, tokens=lambda n: range(n - 1, n)),
            what="Only the last token was changed.",
            why="A mask may hide the last token and let another one through.",
            where="Every token after the first lies in somebody's future: try each of them.",
        ),
        Mistake(
            "only_the_first_output",
            _tester(_plus_one, watched=lambda j: slice(0, min(j, 1))),
            what="Only the first output was watched.",
            why="The leak may lie in another row.",
            where="All outputs before the changed token must stay.",
        ),
        Mistake(
            "only_the_one_before",
            _tester(_plus_one, watched=lambda j: slice(j - 1, j)),
            what="Only the output right before the changed token was watched.",
            why="That finds who looks one ahead. Others look two ahead.",
            where="All outputs before the changed token must stay.",
        ),
        Mistake(
            "exactly_equal",
            _tester(_plus_one, tolerance=0),
            what="The outputs were compared digit by digit.",
            why="A function may take something of the future away and add it again, as a centring does. What is left "
            "is a rounding error of 1e-16, and no leak.",
            where="Compare with a tolerance, as `np.allclose` does.",
        ),
        Mistake(
            "too_tolerant",
            _tester(_plus_one, tolerance=1e-2),
            what="A leak of less than about a hundredth passes.",
            why="A fill that is not low enough lets a thousandth part through, and a model will find and use it.",
            where="The tolerance. Rounding errors are about 1e-15.",
        ),
        Mistake(
            "change_that_changes_nothing",
            _tester(_doubled),
            what="The token was multiplied, or set to zero, and a token of zeros stays what it was.",
            why="An input that has not changed cannot show a leak.",
            where="Change the token so that it is another one whatever it was.",
        ),
        Mistake(
            "shuffled",
            _tester(_future_reversed),
            what="The tokens of the future were put into another order.",
            why="Attention does not know the order of its keys: it sums over them. Who looks at all of them, forwards "
            "or backwards, sees the same. (Lesson 06 is about that.)",
            where="Change a token itself.",
        ),
        Mistake(
            "poisoned",
            _poisoned,
            what="A NaN was put into the future and looked for in the outputs before it.",
            why="A clever idea, but a weight of 0 times NaN is NaN: also a right function is called guilty.",
            where="Put an ordinary number there and compare.",
        ),
    ),
)

EXERCISES = (SCORE_SPREAD, CAUSAL, PADDING, ATTENTION, COMBINED, LEAKS)

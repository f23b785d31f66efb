"""The exercises of the lesson *Query, key, value*: hard and soft lookup, shapes, cross-attention, how loud to ask.

The scale 1/√d_k is not part of these lookups: it comes with the next lesson, and who divides already is told so.
"""

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes
from course_lib.reference.attention import soft_lookup, softmax

# --- hard_lookup ----------------------------------------------------------------------------------------------------


def hard_lookup(query, keys, values):
    """Return the value of the key that matches the query best."""
    return values[np.argmax(keys @ query)]


def _hard_by_loop(query, keys, values):
    best, best_score = None, -np.inf
    for key, value in zip(keys, values, strict=True):
        score = sum(a * b for a, b in zip(query, key, strict=True))
        if score > best_score:
            best, best_score = value, score
    return best


def _hard_by_sorting(query, keys, values):
    return values[np.argsort(np.einsum("nk,k->n", keys, query))[-1]]


def _distances(query, keys):
    return np.linalg.norm(keys - query, axis=1)


def _lookup_probes(rng):
    n, d_k, d_v = distinct_sizes(rng, 3, low=3)
    m, c_k, c_v = distinct_sizes(rng, 3, low=3)
    size, width = distinct_sizes(rng, 2, low=3)
    large = rng.integers(20, 60, size=(n, d_k)) * rng.choice([-1.0, 1.0], size=(n, d_k))
    return [
        Probe("two things with two numbers in a key", _two_things(rng)),
        _lookup_probe(rng, "a few keys, all sizes different", n, d_k, d_v),
        _lookup_probe(rng, "other sizes", m, c_k, c_v),
        _lookup_probe(rng, "as many keys as numbers in a key and in a value", size, size, size),
        _lookup_probe(rng, "values as wide as keys", width + 1, width, width),
        _lookup_probe(rng, "a single thing", 1, d_k, d_v, extreme=True),
        Probe("scores in the thousands", (large[0], large, rng.normal(size=(n, d_v))), extreme=True),
    ]


def _two_things(rng):
    """A query at the second key, and near the first by distance, so that the two ways of matching differ."""
    return np.array([1.0, 0.25]), np.array([[1.0, 0.0], [2.5, 1.0]]), rng.integers(1, 50, size=(2, 3)) + 0.5


def _lookup_probe(rng, name, n, d_k, d_v, extreme=False):
    """Draw a lookup whose best key is not the first, nor the nearest, the longest or the best aimed."""
    for _ in range(20_000):
        query, keys = rng.normal(size=d_k), rng.normal(size=(n, d_k)) * rng.uniform(0.5, 2, size=(n, 1))
        scores = keys @ query
        best = np.argmax(scores)
        lengths = np.linalg.norm(keys, axis=1)
        tempting = (0, np.argmin(_distances(query, keys)), np.argmax(lengths), np.argmax(scores / lengths))
        margin = n == 1 or np.diff(np.sort(scores)[-2:])[0] > 0.1
        if n == 1 or (best not in tempting and margin):
            return Probe(name, (query, keys, rng.normal(size=(n, d_v)) * 3), extreme=extreme)
    raise RuntimeError("no lookup of this kind was drawn")


HARD_LOOKUP = Exercise(
    id="query_key_value/hard_lookup",
    title="Return the value of the key that matches best",
    minutes=5,
    difficulty="easy",
    kind="fill",
    reference=hard_lookup,
    probes=_lookup_probes,
    right_answers={"a loop": _hard_by_loop, "einsum and sorting": _hard_by_sorting},
    mistakes=(
        Mistake(
            "index_returned",
            lambda query, keys, values: np.argmax(keys @ query),
            what="The place of the best key came back, not what is kept there.",
            why="Whoever looks something up wants the value; the place is only how to find it.",
            where="What do you do with the result of `argmax`?",
        ),
        Mistake(
            "key_returned",
            lambda query, keys, values: keys[np.argmax(keys @ query)],
            what="The best *key* came back, not its value: K was used for V.",
            why="A key is for being found. Handing it back is as if a phone book answered with the name.",
            where="The last line: which of the two arrays do you take the row from?",
        ),
        Mistake(
            "score_returned",
            lambda query, keys, values: np.max(keys @ query),
            what="The best score came back, one number.",
            why="A score says how well a key fits; it holds nothing of what is kept under it.",
            where="You need to know *where* the best score is, rather than how large.",
        ),
        Mistake(
            "matched_with_values",
            lambda query, keys, values: values[np.argmax(values @ query)],
            what="The query was compared with the values: V was used for K.",
            why="Values have numbers of another meaning, and often another length, than queries.",
            where="Which two of the three arrays share the size d_k?",
        ),
        Mistake(
            "nearest_key",
            lambda query, keys, values: values[np.argmin(_distances(query, keys))],
            what="The nearest key was taken, by distance.",
            why="Attention compares by the dot product, and there a long key may win from far away.",
            where="Look again at how the lesson scores a key.",
        ),
        Mistake(
            "longest_key",
            lambda query, keys, values: values[np.argmax(np.linalg.norm(keys, axis=1))],
            what="The longest key was taken, whatever the query is.",
            why="Length helps a key, but only in a direction that the query asks for.",
            where="Does the query occur in the line that chooses?",
        ),
        Mistake(
            "best_by_cosine",
            lambda query, keys, values: values[np.argmax(keys @ query / np.linalg.norm(keys, axis=1))],
            what="The keys were divided by their lengths first, so the smallest angle won.",
            why="The dot product is not the angle alone: a longer key speaks louder.",
            where="Is there a norm in your function? The lesson's score has none.",
        ),
        Mistake(
            "worst_key",
            lambda query, keys, values: values[np.argmin(keys @ query)],
            what="The key with the *smallest* score was taken.",
            why="A dot product is a similarity: large is alike. It is a distance that should be small.",
            where="Should the best score be the smallest or the largest?",
        ),
        Mistake(
            "transposed_keys",
            lambda query, keys, values: values[np.argmax(query @ keys)],
            what="The query was multiplied with the columns of the keys instead of the rows.",
            why="A key is a row. The columns fit only by chance, when there are as many keys as numbers in a key.",
            where="The order of the product: which axis of `keys` has the length of the query?",
        ),
        Mistake(
            "soft",
            soft_lookup,
            what="All values were mixed: that is the soft lookup.",
            why="The hard lookup returns exactly one of the values, untouched.",
            where="Keep your function for exercise 2. Here nothing is to be averaged.",
        ),
        Mistake(
            "mean_of_values",
            lambda query, keys, values: values.mean(axis=0),
            what="The plain mean of all values came back.",
            why="Then query and keys have no say.",
            where="Does the result change with the query?",
        ),
        Mistake(
            "largest_values",
            lambda query, keys, values: values.max(axis=0),
            what="The largest entry of each column of the values came back.",
            why="It mixes the numbers of different things into one that does not exist.",
            where="The best *score* decides, for a whole row at once.",
        ),
    ),
)

# --- soft_lookup ----------------------------------------------------------------------------------------------------


def _soft_by_loop(query, keys, values):
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    exponentials = [np.exp(score - max(scores)) for score in scores]
    return sum(e / sum(exponentials) * value for e, value in zip(exponentials, values, strict=True))


def _soft_by_einsum(query, keys, values):
    return np.einsum("n,nv->v", softmax(np.einsum("k,nk->n", query, keys)), values)


def _soft_divided_last(query, keys, values):
    exponentials = np.exp(keys @ query - np.max(keys @ query))
    return (exponentials[:, None] * values).sum(axis=0) / exponentials.sum()


def _overflows(query, keys, values):
    exponentials = np.exp(keys @ query)
    return exponentials / exponentials.sum() @ values


SOFT_LOOKUP = Exercise(
    id="query_key_value/soft_lookup",
    title="Return the values' average, weighted by how well the keys match",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=soft_lookup,
    probes=_lookup_probes,
    right_answers={"loops": _soft_by_loop, "einsum": _soft_by_einsum, "divided at the end": _soft_divided_last},
    mistakes=(
        Mistake(
            "weights_returned",
            lambda query, keys, values: softmax(keys @ query),
            what="The weights came back: how much to take of each value, but no value.",
            why="There is one weight a key; the answer should be as wide as a value.",
            where="One step is missing at the end.",
        ),
        Mistake(
            "scores_returned",
            lambda query, keys, values: keys @ query,
            what="The scores came back, neither made into weights nor used.",
            why="There is one score a key; the answer should be as wide as a value.",
            where="Two steps are missing after the scores.",
        ),
        Mistake(
            "keys_averaged",
            lambda query, keys, values: softmax(keys @ query) @ keys,
            what="The *keys* were averaged: K was used for V.",
            why="Keys decide where to look, values what you get. The result has the width of a key.",
            where="The last product: which array stands on its right?",
        ),
        Mistake(
            "matched_with_values",
            lambda query, keys, values: softmax(values @ query) @ values,
            what="The query was compared with the values: V was used for K.",
            why="The values may never change the weights, and they need not even be as long as the query.",
            where="The line of the scores: which array should the query meet?",
        ),
        Mistake(
            "keys_and_values_swapped",
            lambda query, keys, values: softmax(values @ query) @ keys,
            what="Keys and values changed places: the values were matched and the keys averaged.",
            why="Keys decide where to look, values what you get.",
            where="Compare the order of the arguments with the order in which you use them.",
        ),
        Mistake(
            "transposed_keys",
            lambda query, keys, values: softmax(query @ keys) @ values,
            what="The query was multiplied with the columns of the keys instead of the rows.",
            why="A key is a row. The columns fit only by chance, when there are as many keys as numbers in a key.",
            where="The order of the product: which axis of `keys` has the length of the query?",
        ),
        Mistake(
            "no_softmax",
            lambda query, keys, values: (keys @ query) @ values,
            what="The scores themselves were used as weights: the softmax is missing.",
            why="Scores can be negative and need not sum to one, so this is no average: it leaves the values' hull.",
            where="Between the scores and the last product.",
        ),
        Mistake(
            "divided_by_the_sum",
            lambda query, keys, values: (keys @ query) / (keys @ query).sum() @ values,
            what="The scores were divided by their sum, without the exponential.",
            why="They sum to one then, but negative scores stay negative, and the sum may be near zero.",
            where="Lesson 00 turned scores into weights in two steps; only the second is here.",
        ),
        Mistake(
            "hard",
            hard_lookup,
            what="Only the best key's value came back: that is the hard lookup of exercise 1.",
            why="Soft means that every value has a part, even if a small one; then a small change of the query "
            "makes a small change of the answer.",
            where="Is there an `argmax` left? Nothing is chosen here.",
        ),
        Mistake(
            "scaled_by_root_d_k",
            lambda query, keys, values: softmax(keys @ query / np.sqrt(len(query))) @ values,
            what="The scores were divided by √d_k.",
            why="You know more than this lesson asks: the paper does so, and lesson 03 begins with it. Here the "
            "lookup takes the plain dot products.",
            where="Take the division away and keep it for lesson 03.",
        ),
        Mistake(
            "scaled_by_d_k",
            lambda query, keys, values: softmax(keys @ query / len(query)) @ values,
            what="The scores were divided by d_k.",
            why="Here the lookup takes the plain dot products. (A scale comes in lesson 03, and it is another one.)",
            where="Take the division away.",
        ),
        Mistake(
            "by_cosine",
            lambda query, keys, values: (
                softmax(keys @ query / np.linalg.norm(keys, axis=1) / np.linalg.norm(query)) @ values
            ),
            what="The lengths were divided out, so the scores are cosines.",
            why="Then no query can ask louder: its length makes no difference, and the weights stay flat.",
            where="Is there a norm in your function? The lesson's score has none.",
        ),
        Mistake(
            "by_distance",
            lambda query, keys, values: softmax(-_distances(query, keys)) @ values,
            what="The weights come from the distances between query and keys.",
            why="Near is another notion of alike than the dot product, and gives other weights.",
            where="The line of the scores.",
        ),
        Mistake(
            "by_squared_distance",
            lambda query, keys, values: softmax(-(_distances(query, keys) ** 2)) @ values,
            what="The weights come from the squared distances between query and keys.",
            why="Near is another notion of alike than the dot product, and gives other weights.",
            where="The line of the scores.",
        ),
        Mistake(
            "farthest_wins",
            lambda query, keys, values: softmax(-(keys @ query)) @ values,
            what="The scores have the wrong sign: the worst key gets the largest weight.",
            why="A dot product is a similarity: large is alike.",
            where="Is there a minus too many?",
        ),
        Mistake(
            "softmax_along_wrong_axis",
            lambda query, keys, values: softmax((keys @ query)[:, None], axis=-1)[:, 0] @ values,
            what="The softmax ran along an axis of length one, so every weight is 1 and the values were added up.",
            why="The keys must compete: the weights of all keys together sum to one.",
            where="Print the shape of your scores. Along which axis do the keys lie?",
        ),
        Mistake(
            "softmax_twice",
            lambda query, keys, values: softmax(softmax(keys @ query)) @ values,
            what="The softmax was applied twice.",
            why="The second one takes weights for scores. They lie between 0 and 1, so it makes them nearly equal.",
            where="Count the softmaxes on the way from the scores to the result.",
        ),
        Mistake(
            "softmax_at_the_end",
            lambda query, keys, values: softmax(keys @ query @ values),
            what="The softmax was taken of the result, behind the product with the values.",
            why="It is the *scores* that become shares; what comes out is an average of values, and may be negative or "
            "large.",
            where="The brackets: what stands between those of the softmax?",
        ),
        Mistake(
            "softmax_of_values",
            lambda query, keys, values: softmax(keys @ query) @ softmax(values, axis=0),
            what="The values went through a softmax too.",
            why="Values are what you get, and they should come as they are; only the scores become weights.",
            where="What do you do with `values` before the last product?",
        ),
        Mistake(
            "largest_norm_key",
            lambda query, keys, values: values[np.argmax(np.linalg.norm(keys, axis=1))],
            what="The value of the longest key came back, whatever the query is.",
            why="Length helps a key, but only in a direction that the query asks for.",
            where="Does the query occur in what you compute?",
        ),
        Mistake(
            "mean_of_values",
            lambda query, keys, values: values.mean(axis=0),
            what="The plain mean of all values came back.",
            why="Then all weights are equal, and query and keys have no say.",
            where="Does the result change with the query?",
        ),
        Mistake(
            "mean_of_weighted_values",
            lambda query, keys, values: (softmax(keys @ query)[:, None] * values).mean(axis=0),
            what="The weighted values were averaged once more: the result is too small by the number of keys.",
            why="The weights sum to one already, so adding up *is* the average.",
            where="The last step: a sum or a mean?",
        ),
        Mistake(
            "not_added_up",
            lambda query, keys, values: softmax(keys @ query)[:, None] * values,
            what="Each value was multiplied by its weight, but the products were not added up.",
            why="A lookup gives one answer, as wide as a value, and not one for each key.",
            where="Which axis must disappear?",
        ),
        Mistake(
            "overflows",
            _overflows,
            what="The exponential of a score in the thousands is too large for a float.",
            why="It becomes infinite, and infinite divided by infinite is no number.",
            where="The softmax of lesson 00 survives this; the set-up cell has imported it for you.",
        ),
    ),
)

# --- cross_attention_shapes -----------------------------------------------------------------------------------------


def cross_attention_shapes(n_query, n_key, d_k, d_v):
    """Return the shapes of scores and output, found by doing it on zeros."""
    Q, K, V = np.zeros((n_query, d_k)), np.zeros((n_key, d_k)), np.zeros((n_key, d_v))
    scores = Q @ K.T
    return scores.shape, (softmax(scores) @ V).shape


def _shape_probes(rng):
    a, b, c, d = distinct_sizes(rng, 4)
    return [
        Probe("a short text that asks a long one", (3, 7, 4, 5)),
        Probe("four sizes that all differ", (a, b, c, d)),
        Probe("the same sizes, the other way round", (d, c, b, a)),
        Probe("one query", (1, b, c, d)),
        Probe("one key", (a, 1, c, d), extreme=True),
        Probe("keys and values of one width", (a, b, c, c), extreme=True),
        Probe("the sizes of the paper", (10, 12, 64, 64), extreme=True),
    ]


CROSS_ATTENTION_SHAPES = Exercise(
    id="query_key_value/cross_attention_shapes",
    title="Say the shapes of scores and output before you compute them",
    minutes=5,
    difficulty="easy",
    kind="predict",
    reference=cross_attention_shapes,
    probes=_shape_probes,
    right_answers={
        "written down": lambda n_query, n_key, d_k, d_v: ((n_query, n_key), (n_query, d_v)),
        "as arrays": lambda n_query, n_key, d_k, d_v: (np.array([n_query, n_key]), np.array([n_query, d_v])),
    },
    mistakes=(
        Mistake(
            "same_number_assumed",
            lambda n_query, n_key, d_k, d_v: ((n_query, n_query), (n_query, d_v)),
            what="As many keys as queries were assumed.",
            why="That holds when a text looks at itself. Here one text asks another, of another length.",
            where="The shape of the scores: one row a query, and one column for each … what?",
        ),
        Mistake(
            "same_number_assumed_of_keys",
            lambda n_query, n_key, d_k, d_v: ((n_key, n_key), (n_key, d_v)),
            what="As many queries as keys were assumed.",
            why="That holds when a text looks at itself. Here one text asks another, of another length.",
            where="How many questions are asked, and how many answers should come back?",
        ),
        Mistake(
            "scores_transposed",
            lambda n_query, n_key, d_k, d_v: ((n_key, n_query), (n_query, d_v)),
            what="The scores have a row a key and a column a query: rows and columns changed places.",
            why="In this course each query has its row, so that the softmax along the last axis is over the keys.",
            where="The shape of the scores.",
        ),
        Mistake(
            "everything_transposed",
            lambda n_query, n_key, d_k, d_v: ((n_key, n_query), (n_key, d_v)),
            what="Queries and keys changed places: it was the keys that asked.",
            why="Each *query* gets a row of scores and one answer.",
            where="Which of the two texts asks?",
        ),
        Mistake(
            "one_answer_a_key",
            lambda n_query, n_key, d_k, d_v: ((n_query, n_key), (n_key, d_v)),
            what="The output has one row for each key.",
            why="The keys and values are what is mixed; whoever asks gets the mixture.",
            where="Who gets an answer?",
        ),
        Mistake(
            "as_wide_as_a_key",
            lambda n_query, n_key, d_k, d_v: ((n_query, n_key), (n_query, d_k)),
            what="The output is as wide as a key.",
            why="It is an average of *values*, so it has their width, and that may differ from the keys'.",
            where="The last size of the output.",
        ),
        Mistake(
            "output_as_wide_as_the_keys_are_many",
            lambda n_query, n_key, d_k, d_v: ((n_query, n_key), (n_query, n_key)),
            what="The output has the shape of the weights.",
            why="The product with the values takes the axis of the keys away and puts the values' width in its place.",
            where="Which two axes meet in weights times values?",
        ),
        Mistake(
            "axes_not_summed",
            lambda n_query, n_key, d_k, d_v: ((n_query, d_k), (n_query, d_v)),
            what="The scores still have the axis d_k.",
            why="A dot product adds up over d_k: it leaves one number for a query and a key.",
            where="Which axis do Q and K share, and what becomes of it?",
        ),
        Mistake(
            "output_first",
            lambda n_query, n_key, d_k, d_v: ((n_query, d_v), (n_query, n_key)),
            what="The two shapes are right, but in the other order.",
            why="The function promises the scores first and the output second.",
            where="The order in the `return`.",
        ),
        Mistake(
            "only_the_output",
            lambda n_query, n_key, d_k, d_v: (n_query, d_v),
            what="Only the shape of the output came back.",
            why="The function promises two shapes.",
            where="Return a pair: the shape of the scores, and the shape of the output.",
        ),
    ),
)

# --- cross_attention ------------------------------------------------------------------------------------------------


def cross_attention(X, Y, W_Q, W_K, W_V):
    """Let each row of X ask all rows of Y: project, match, average."""
    Q, K, V = X @ W_Q, Y @ W_K, Y @ W_V
    return softmax(Q @ K.T) @ V


def _cross_by_loop(X, Y, W_Q, W_K, W_V):
    return np.array([soft_lookup(x @ W_Q, Y @ W_K, Y @ W_V) for x in X]).reshape(len(X), W_V.shape[1])


def _cross_by_einsum(X, Y, W_Q, W_K, W_V):
    scores = np.einsum("qm,mk,nk->qn", X, W_Q, np.einsum("nm,mk->nk", Y, W_K))
    return np.einsum("qn,nm,mv->qv", softmax(scores), Y, W_V)


def _cross_averaged_first(X, Y, W_Q, W_K, W_V):
    return softmax((W_K @ W_Q.T @ X.T).T @ Y.T, axis=1) @ Y @ W_V


def _as_given(X, Y, W_Q, W_K, W_V):
    Q, K, V = X @ W_K, Y @ W_Q, Y @ W_V
    return softmax(Q @ K.T, axis=0) @ V


def _cross_overflows(X, Y, W_Q, W_K, W_V):
    exponentials = np.exp(X @ W_Q @ (Y @ W_K).T)
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ (Y @ W_V)


def _projection_probes(rng):
    n_query, n_key, d_model, d_k, d_v = distinct_sizes(rng, 5)
    size, width = distinct_sizes(rng, 2, low=3)
    return [
        _projection_probe(rng, "two words that ask three", 2, 3, 4, 5, 6),
        _projection_probe(rng, "all sizes different", n_query, n_key, d_model, d_k, d_v),
        _projection_probe(rng, "two texts of one length", size, size, size + 1, size + 2, size + 3),
        _projection_probe(rng, "all sizes equal", size, size, size, size, size),
        _projection_probe(rng, "keys and values of one width", 3, 4, 6, width, width),
        _projection_probe(rng, "one word that asks one", 1, 1, d_model, d_k, d_v, extreme=True),
        _projection_probe(rng, "scores in the thousands", n_query, n_key, d_model, d_k, d_v, 60.0, extreme=True),
    ]


def _projection_probe(rng, name, n_query, n_key, d_model, d_k, d_v, factor=1.0, extreme=False):
    sizes = ((n_query, d_model), (n_key, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v))
    texts = [np.round(rng.normal(size=size) * 4 * factor) / 4 for size in sizes[:2]]
    matrices = [np.round(rng.normal(size=size) * 4) / 4 for size in sizes[2:]]  # quarters are exact in float32 too
    return Probe(name, (*texts, *matrices), extreme)


CROSS_ATTENTION = Exercise(
    id="query_key_value/cross_attention",
    title="Mend a cross-attention that raises no error",
    minutes=12,
    difficulty="hard",
    kind="fix",
    reference=cross_attention,
    probes=_projection_probes,
    right_answers={"a loop": _cross_by_loop, "einsum": _cross_by_einsum, "regrouped": _cross_averaged_first},
    mistakes=(
        Mistake(
            "as_given",
            _as_given,
            what="This is the function as it was given, with both of its faults.",
            why="Its shapes are right and it raises no error. That is what makes such faults live long.",
            where="Go through it line by line with the formulas of part 4. What is each of the three matrices for?",
        ),
        Mistake(
            "query_and_key_matrices_swapped",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_K @ (Y @ W_Q).T) @ (Y @ W_V),
            what="W_Q and W_K changed places: the text that asks uses the matrix for keys.",
            why="Both have the same shape, so nothing breaks; but each was learnt for its own role.",
            where="The line with the projections. One fault of the two is still there.",
        ),
        Mistake(
            "softmax_over_queries",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T, axis=0) @ (Y @ W_V),
            what="The softmax runs over the queries, not over the keys.",
            why="Then the queries compete for each key, and the weights of one query do not sum to one.",
            where="The axis of the softmax. One fault of the two is still there.",
        ),
        Mistake(
            "looks_at_itself",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (X @ W_K).T) @ (X @ W_V),
            what="All three projections are taken from X: that is self-attention, and Y has no say.",
            why="In cross-attention one text asks *another*.",
            where="Which of Q, K and V belong to the text that is asked?",
        ),
        Mistake(
            "source_looks_at_itself",
            lambda X, Y, W_Q, W_K, W_V: softmax(Y @ W_Q @ (Y @ W_K).T) @ (Y @ W_V),
            what="All three projections are taken from Y, and X has no say.",
            why="Then nobody has asked anything: the answer is the same for each X.",
            where="Who asks, X or Y?",
        ),
        Mistake(
            "texts_swapped",
            lambda X, Y, W_Q, W_K, W_V: softmax(Y @ W_Q @ (X @ W_K).T) @ (X @ W_V),
            what="The two texts changed places: Y asks X.",
            why="The rows of X should each get an answer.",
            where="The line with the projections.",
        ),
        Mistake(
            "values_from_the_asker",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T) @ (X @ W_V),
            what="The values come from X, the text that asks.",
            why="Key and value are two sides of one thing: what is found under a word of Y belongs to that word.",
            where="How many rows must the values have?",
        ),
        Mistake(
            "keys_from_the_asker",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (X @ W_K).T) @ (Y @ W_V),
            what="The keys come from X, the text that asks.",
            why="Key and value are two sides of one thing: what is matched must be what is found.",
            where="How many rows must the keys have?",
        ),
        Mistake(
            "keys_averaged",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T) @ (Y @ W_K),
            what="The *keys* were averaged: K was used for V.",
            why="Keys decide where to look, values what you get. The result has the width of a key.",
            where="The last product.",
        ),
        Mistake(
            "values_not_projected",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T) @ Y,
            what="The words of Y were averaged as they are, without W_V.",
            why="W_V says what a word contributes if it is selected, and it sets the width of the output.",
            where="Does W_V occur in your function?",
        ),
        Mistake(
            "scaled_by_root_d_k",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T / np.sqrt(W_Q.shape[1])) @ (Y @ W_V),
            what="The scores were divided by √d_k.",
            why="You know more than this lesson asks: the paper does so, and lesson 03 begins with it. Here the scores "
            "are the plain dot products.",
            where="Take the division away and keep it for lesson 03.",
        ),
        Mistake(
            "no_softmax",
            lambda X, Y, W_Q, W_K, W_V: X @ W_Q @ (Y @ W_K).T @ (Y @ W_V),
            what="The scores themselves were used as weights: the softmax is missing.",
            why="Scores can be negative and need not sum to one, so this is no average.",
            where="Between the scores and the last product.",
        ),
        Mistake(
            "weights_returned",
            lambda X, Y, W_Q, W_K, W_V: softmax(X @ W_Q @ (Y @ W_K).T),
            what="The weights came back: how much each word looks at each other, but no value.",
            why="They have a column for each word of Y; the answer should be as wide as a value.",
            where="One step is missing at the end.",
        ),
        Mistake(
            "overflows",
            _cross_overflows,
            what="The exponential of a score in the thousands is too large for a float.",
            why="It becomes infinite, and infinite divided by infinite is no number.",
            where="The softmax of lesson 00 survives this; the set-up cell has imported it for you.",
        ),
    ),
)

# --- loudness_needed ------------------------------------------------------------------------------------------------

SHARE = 0.99  # what the best key must get


def loudness_needed(query, keys, factors):
    """Return the first of the rising factors at which the best key gets 0.99 or more, infinity if none is enough."""
    for factor in factors:
        if softmax(keys @ (factor * query)).max() >= SHARE:
            return float(factor)
    return np.inf


def _loud_at_once(query, keys, factors):
    enough = softmax(np.outer(factors, keys @ query)).max(axis=1) >= SHARE
    return factors[enough.argmax()] if enough.any() else float("inf")


def _loud_backwards(query, keys, factors):
    found = np.inf
    for factor in sorted(factors, reverse=True):
        if max(softmax(factor * (keys @ query))) < SHARE:
            break
        found = factor
    return found


def _first(factors, is_enough, otherwise=np.inf):
    return next((float(factor) for factor in factors if is_enough(factor)), otherwise)


def _loud_index(query, keys, factors):
    return _first(range(len(factors)), lambda place: softmax(keys @ (factors[place] * query)).max() >= SHARE)


def _loud_weight(query, keys, factors):
    return next((w for w in (softmax(keys @ (f * query)).max() for f in factors) if w >= SHARE), np.inf)


def _loud_last_of_all(query, keys, factors):
    enough = [factor for factor in factors if softmax(keys @ (factor * query)).max() >= SHARE]
    return enough[-1] if enough else np.inf


def _loud_accumulated(query, keys, factors):
    for factor in factors:
        query = query * factor
        if softmax(keys @ query).max() >= SHARE:
            return float(factor)
    return np.inf


def _loud_none_is_last(query, keys, factors):
    return _first(factors, lambda f: softmax(keys @ (f * query)).max() >= SHARE, float(factors[-1]))


def _loudness_probes(rng):
    n, d_k = distinct_sizes(rng, 2, low=3)
    m, c_k = distinct_sizes(rng, 2, low=3)
    fine = np.cumsum(rng.uniform(0.1, 1.5, size=250))
    tied = np.vstack([keys := rng.normal(size=(n, d_k)), keys[:1] * 0 + 3, keys[:1] * 0 + 3])
    large = np.round(rng.normal(size=(n, d_k)) * 40) + np.arange(n)[:, None]
    return [
        _loudness_probe(rng, "a few keys, fine steps", n, d_k, fine),
        _loudness_probe(rng, "other sizes, whole numbers", m, c_k, np.arange(1.0, 400.0)),
        _loudness_probe(rng, "powers of two", n, d_k, 2.0 ** np.arange(12)),
        _loudness_probe(rng, "as many keys as numbers in a key", n, n, fine),
        _loudness_probe(rng, "factors that begin below one", m, c_k, fine / 60, loud=60),
        Probe("two best keys, exactly alike: no factor is enough", (np.ones(d_k), tied, np.array([1.0, 4.0, 16.0]))),
        Probe("a single key", (rng.normal(size=d_k), rng.normal(size=(1, d_k)), fine[:5]), extreme=True),
        Probe("scores in the thousands", (large[0], large, np.array([1.0, 2.0, 3.0])), extreme=True),
    ]


def _loudness_probe(rng, name, n, d_k, factors, loud=1.0):
    """Draw keys of which the best is not the first, and needs some factor in the middle of those that are offered."""
    for _ in range(2000):
        query, keys = rng.normal(size=d_k) * 0.4 * loud, rng.normal(size=(n, d_k))
        needed = loudness_needed(query, keys, factors)
        scores = keys @ query
        if factors[2] < needed < factors[-1] / 3 and scores.argmax() not in (0, np.linalg.norm(keys, axis=1).argmax()):
            return Probe(name, (query, keys, factors))
    raise RuntimeError("no keys of this kind were drawn")


LOUDNESS_NEEDED = Exercise(
    id="query_key_value/loudness_needed",
    title="Measure how loud to ask until the soft lookup is nearly hard",
    minutes=8,
    difficulty="medium",
    kind="measure",
    reference=loudness_needed,
    probes=_loudness_probes,
    right_answers={"all factors at once": _loud_at_once, "from the loudest down": _loud_backwards},
    mistakes=(
        Mistake(
            "index_returned",
            _loud_index,
            what="The place of the factor came back, not the factor.",
            why="The question is how loud, not how many tries it took.",
            where="What does your loop run over, and what does it return?",
        ),
        Mistake(
            "weight_returned",
            _loud_weight,
            what="The weight that was reached came back, not the factor that reached it.",
            why="The question is how loud to ask.",
            where="The `return` inside the loop.",
        ),
        Mistake(
            "watches_the_first_key",
            lambda query, keys, factors: _first(factors, lambda f: softmax(keys @ (f * query))[0] >= SHARE),
            what="The weight of the *first* key was watched.",
            why="Which key is best depends on the query; another one's weight goes to zero and never reaches 0.99.",
            where="Which of the n weights do you compare with 0.99?",
        ),
        Mistake(
            "weights_multiplied",
            lambda query, keys, factors: _first(factors, lambda f: f * softmax(keys @ query).max() >= SHARE),
            what="The weights were multiplied by the factor, not the query.",
            why="Weights sum to one whatever you ask. To ask louder is to change the scores, before the softmax.",
            where="Where does the factor enter: before or after the softmax?",
        ),
        Mistake(
            "query_divided",
            lambda query, keys, factors: _first(factors, lambda f: softmax(keys @ (query / f)).max() >= SHARE),
            what="The query was divided by the factor: it asks more and more quietly.",
            why="The weights then become flatter, never sharper.",
            where="The line in which the factor meets the query.",
        ),
        Mistake(
            "factor_added",
            lambda query, keys, factors: _first(factors, lambda f: softmax(keys @ (query + f)).max() >= SHARE),
            what="The factor was added to the query.",
            why="That turns the query into another direction: it asks another question.",
            where="The line in which the factor meets the query.",
        ),
        Mistake(
            "accumulated",
            _loud_accumulated,
            what="Each factor multiplied a query that had been multiplied before.",
            why="After three rounds the query is louder than the third factor says, by the first and the second.",
            where="Does your loop overwrite the query?",
        ),
        Mistake(
            "scores_not_weights",
            lambda query, keys, factors: _first(factors, lambda f: (keys @ (f * query)).max() >= SHARE),
            what="The best *score* was compared with 0.99; the softmax is missing.",
            why="A score is no share of anything: it may be far above 1 while the weights are nearly equal.",
            where="What do you compare with 0.99?",
        ),
        Mistake(
            "last_of_all",
            _loud_last_of_all,
            what="The loudest factor came back, not the first that is enough.",
            why="Every larger factor is enough too; the question is where it begins.",
            where="When does your loop stop?",
        ),
        Mistake(
            "first_of_all",
            lambda query, keys, factors: float(factors[0]),
            what="The first factor came back, whether it was enough or not.",
            why="A `return` in the loop ends the function at once.",
            where="Is the `return` inside the `if`?",
        ),
        Mistake(
            "one_too_early",
            lambda query, keys, factors: _first(factors, lambda f: softmax(keys @ (f * query)).max() >= 0.9),
            what="The bound was 0.9 instead of 0.99.",
            why="With 0.9 a tenth of the answer still comes from the other keys.",
            where="The number in the comparison.",
        ),
        Mistake(
            "none_is_last",
            _loud_none_is_last,
            what="Where no factor is enough, the last one came back.",
            why="Whoever reads it would believe that it was enough. Two keys that fit equally well share for ever.",
            where="What happens after the loop?",
        ),
    ),
)

EXERCISES = (HARD_LOOKUP, SOFT_LOOKUP, CROSS_ATTENTION_SHAPES, CROSS_ATTENTION, LOUDNESS_NEEDED)

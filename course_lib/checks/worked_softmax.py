"""The exercises of the lesson *The worked softmax example*: probes, references and known mistakes."""

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, Remark, distinct_sizes
from course_lib.reference.attention import attention, softmax

# --- inputs ---------------------------------------------------------------------------------------------------------


def _tables(rng, n_query, n_key, d_k, d_v):
    """Draw Q, K and V with two digits each, so that small ones can be read in a message."""
    shapes = ((n_query, d_k), (n_key, d_k), (n_key, d_v))
    return tuple(rng.normal(size=shape).round(2) + 0.001 for shape in shapes)


def _large(rng, n_query, n_key, d_v):
    """Draw tables whose scores are whole thousands, exact also in float32; √d_k is 2."""
    Q = 1000.0 * rng.choice([-3, -2, -1, 1, 2, 3], size=(n_query, 4))
    K = np.stack([rng.permutation([1.0, 2, 4, 8]) * sign for sign in rng.permutation([1, -1] * n_key)[:n_key]])
    return Q, K, rng.normal(size=(n_key, d_v)).round(2)


# --- 1. scores ------------------------------------------------------------------------------------------------------


def scores(Q, K):
    """Return the dot product of each query with each key."""
    return Q @ K.T


def _scores_probes(rng):
    def pair(n_query, n_key, d_k):
        return _tables(rng, n_query, n_key, d_k, 1)[:2]

    return [
        Probe("two queries and two keys", pair(2, 2, 3)),
        Probe("three queries and five keys", pair(3, 5, 4)),
        Probe("as many keys as numbers in a key", pair(2, 4, 4)),
        Probe("other sizes, all different", pair(*distinct_sizes(rng, 3))),
        Probe("one query and one key", pair(1, 1, 3), extreme=True),
        Probe("scores of thousands", _large(rng, 3, 5, 1)[:2], extreme=True),
    ]


def _cosine(Q, K):
    def unit(rows):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return unit(Q) @ unit(K).T


SCORES = Exercise(
    id="worked_softmax/scores",
    title="The score of every query with every key",
    minutes=4,
    difficulty="easy",
    kind="fill",
    reference=scores,
    probes=_scores_probes,
    right_answers={
        "loops": lambda Q, K: [[sum(a * b for a, b in zip(q, k, strict=True)) for k in K] for q in Q],
        "einsum": lambda Q, K: np.einsum("qd,kd->qk", Q, K),
        "inner": np.inner,
        "the other way round, then transposed": lambda Q, K: (K @ Q.T).T,
    },
    mistakes=(
        Mistake(
            "not_transposed",
            lambda Q, K: Q @ K,
            what="The keys went into the product as they are.",
            why="The product then pairs a query with a column of K: with one number of every key, not with a key.",
            where="Write the two shapes side by side: which axis must be summed over, and where does it stand in K?",
        ),
        Mistake(
            "reshaped",
            lambda Q, K: Q @ K.reshape(K.shape[::-1]),
            what="K was reshaped to the shape that its transpose has.",
            why="`reshape` keeps the numbers in reading order and only breaks the lines elsewhere: the new columns mix "
            "numbers of several keys, and no error tells you.",
            where="Print a small K before and after. Is each key still in one piece, as a column?",
        ),
        Mistake(
            "swapped",
            lambda Q, K: K @ Q.T,
            what="Q and K have changed places: there is a row for each key.",
            why="A row of scores must belong to one query, since the softmax will make one query's weights of it.",
            where="Wanted is the shape (n_query, n_key). Which of the two tables must stand first?",
        ),
        Mistake(
            "keys_with_keys",
            lambda Q, K: K @ K.T,
            what="The keys are compared with the keys.",
            why="What the queries look for then plays no part. On Hello World nobody would notice, since there Q = K.",
            where="Both names must occur in the product, Q and K.",
        ),
        Mistake(
            "queries_with_queries",
            lambda Q, K: Q @ Q.T,
            what="The queries are compared with the queries.",
            why="What the keys offer then plays no part. On Hello World nobody would notice, since there Q = K.",
            where="Both names must occur in the product, Q and K.",
        ),
        Mistake(
            "place_by_place",
            lambda Q, K: Q * K,
            what="Queries and keys were multiplied place by place and not added up.",
            why="A score is one number for a pair. These products are still d_k numbers, and only for equal rows.",
            where="After multiplying comes the sum; and the first query must meet every key, not only the first.",
        ),
        Mistake(
            "only_its_own_key",
            lambda Q, K: (Q * K).sum(axis=-1),
            what="Each query met only the key of its own row.",
            why="Every word may look at every other word: a table of scores is wanted, not one list.",
            where="How many pairs of a query and a key are there? The result needs that many numbers.",
        ),
        Mistake(
            "scaled_already",
            lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1]),
            what="The scores are divided by √d_k here already.",
            why="It is no error in attention, but here the plain dot products are asked for; the scale comes next.",
            where="Leave the division away.",
        ),
        Mistake(
            "cosine",
            _cosine,
            what="The vectors were made of length one first: this is the cosine.",
            why="The paper takes the plain dot product. A long key may score higher than a short one.",
            where="Leave the norms away.",
        ),
    ),
)

# --- 2. weights -----------------------------------------------------------------------------------------------------


def weights(scores, d_k):
    """Scale the scores and turn each query's row of them into weights."""
    return softmax(scores / np.sqrt(d_k))


def _weights_probes(rng):
    n_query, n_key, d_k = distinct_sizes(rng, 3, low=3)

    def draw(*shape):
        return (2 * rng.normal(size=shape)).round(2)

    whole = 1000.0 * np.stack([rng.permutation(5) for _ in range(2)])
    return [
        Probe("two queries and two keys", (draw(2, 2), 5)),
        Probe("three queries on two keys", (draw(3, 2), 8)),
        Probe("other sizes, all different", (draw(n_query, n_key), d_k)),
        Probe("one query on four keys", (draw(1, 4), 7)),
        Probe("one query on one key", (draw(1, 1), 2), extreme=True),
        Probe("scores of thousands", (whole, 4), extreme=True),
    ]


def _plain_weights(scores, d_k):
    exponentials = np.exp(scores / np.sqrt(d_k))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def _whole_weights(scores, d_k):
    exponentials = np.exp(scores / np.sqrt(d_k) - np.max(scores / np.sqrt(d_k)))
    return exponentials / exponentials.sum()


def _weights_by_loop(scores, d_k):
    rows = []
    for row in scores:
        raised = [np.exp((score - max(row)) / d_k**0.5) for score in row]
        rows.append([number / sum(raised) for number in raised])
    return rows


NO_SCALE = {
    "what": "The scores went into the softmax without being scaled.",
    "why": "The longer the vectors, the larger the dot products: without the scale the weights get too sharp.",
    "where": "Between the scores and the softmax. Which square root does the paper divide by?",
}
BY_D_K = {
    "what": "The scores were divided by d_k itself.",
    "why": "That is too much: the weights of long vectors come out nearly all alike.",
    "where": "The divisor. Compare it with the formula's, sign by sign.",
}
OVER_QUERIES = {
    "what": "The softmax runs over the queries: down each column.",
    "why": "Then what one query gives out does not sum to one. Hello World cannot show it, because its table of scores "
    "is symmetric.",
    "where": "The axis of the softmax. Which axis counts the keys, among which one query divides its attention?",
}
OVER_ALL = {
    "what": "The softmax runs over the whole table at once.",
    "why": "Then all weights together sum to one, and the weights of one query to less.",
    "where": "The axis of the softmax, or of the sum that you divide by.",
}
OVERFLOW = {
    "what": "The exponentials are taken of the scores as they are.",
    "why": "From about 710 on e^x overflows to infinity, and infinity divided by infinity is no number.",
    "where": "Lesson 00: what may be taken away from all scores of a query without changing its weights?",
}
SCALE_LATER = {
    "what": "The division comes after the softmax.",
    "why": "Then the weights keep the sharpness of the unscaled scores, and no longer sum to one.",
    "where": "The order: score, scaling, softmax.",
}
MULTIPLIED = {
    "what": "The scores are multiplied by √d_k, not divided.",
    "why": "The scale is there to make large scores smaller; this makes them larger.",
    "where": "The sign between the scores and the root.",
}

WEIGHTS = Exercise(
    id="worked_softmax/weights",
    title="Mend a function that Hello World calls right",
    minutes=7,
    difficulty="medium",
    kind="fix",
    reference=weights,
    probes=_weights_probes,
    right_answers={
        "loops": _weights_by_loop,
        "the scale as a power": lambda scores, d_k: softmax(scores * d_k**-0.5, axis=1),
        "columns of the transpose": lambda scores, d_k: softmax(scores.T / np.sqrt(d_k), axis=0).T,
    },
    mistakes=(
        Mistake(
            "not_mended",
            lambda scores, d_k: softmax(scores / np.sqrt(3), axis=0),
            what="This is the broken function as it was.",
            why="It has two faults that cancel out, or do not show, on Hello World.",
            where="What in it is right for Hello World only? And along which axis do its results sum to one?",
        ),
        Mistake(
            "root_of_three",
            lambda scores, d_k: softmax(scores / np.sqrt(3), axis=1),
            what="The axis is right, but √3 still stands there: the d_k of Hello World.",
            why="With vectors of any other length the scores are scaled wrongly.",
            where="One of the arguments is not used yet.",
        ),
        Mistake(
            "softmax_over_queries",
            lambda scores, d_k: softmax(scores / np.sqrt(d_k), axis=0),
            **OVER_QUERIES,
        ),
        Mistake("no_scale", lambda scores, d_k: softmax(scores), **NO_SCALE),
        Mistake("divided_by_d_k", lambda scores, d_k: softmax(scores / d_k), **BY_D_K),
        Mistake(
            "root_of_n_key",
            lambda scores, d_k: softmax(scores / np.sqrt(scores.shape[1])),
            what="The scores are divided by the root of their own number of columns, that is of n_key.",
            why="How many keys there are says nothing about how large a dot product gets.",
            where="The number under the root: it comes in as an argument.",
        ),
        Mistake("softmax_over_everything", _whole_weights, **OVER_ALL),
        Mistake("overflow", _plain_weights, **OVERFLOW),
        Mistake("scale_after_softmax", lambda scores, d_k: softmax(scores) / np.sqrt(d_k), **SCALE_LATER),
        Mistake("multiplied", lambda scores, d_k: softmax(scores * np.sqrt(d_k)), **MULTIPLIED),
    ),
)

# --- 3. attention ---------------------------------------------------------------------------------------------------


def _attention_probes(rng):
    n_query, n_key, d_k, d_v = distinct_sizes(rng, 4)
    return [
        Probe("two words that look at each other", _tables(rng, 2, 2, 4, 3)),
        Probe("three queries on five keys", _tables(rng, 3, 5, 4, 2)),
        Probe("values as long as keys", _tables(rng, 4, 3, 5, 5)),
        Probe("as many keys as numbers in a key", _tables(rng, 2, 6, 6, 3)),
        Probe("other sizes, all different", _tables(rng, n_query, n_key, d_k, d_v)),
        Probe("one query on one key", _tables(rng, 1, 1, 3, 2), extreme=True),
        Probe("scores of thousands", _large(rng, 3, 5, 2), extreme=True),
    ]


def _weights_of(Q, K):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1]))


def _no_max(Q, K, V):
    return _plain_weights(Q @ K.T, Q.shape[1]) @ V


def _over_everything(Q, K, V):
    return _whole_weights(Q @ K.T, Q.shape[1]) @ V


def _rounded_steps(Q, K, V):
    scaled = np.round(Q @ K.T / np.sqrt(Q.shape[1]), 2)
    return np.round(softmax(scaled), 2) @ V


def _attention_by_loops(Q, K, V):
    output = []
    for query in Q:
        scaled = [float(query @ key) / len(query) ** 0.5 for key in K]
        raised = [np.exp(score - max(scaled)) for score in scaled]
        output.append([sum(r * v[i] for r, v in zip(raised, V, strict=True)) / sum(raised) for i in range(V.shape[1])])
    return output


def _attention_by_einsum(Q, K, V):
    return np.einsum("qk,kv->qv", softmax(np.einsum("qd,kd->qk", Q, K) / np.sqrt(K.shape[1])), V)


def _attention_in_float32(Q, K, V):
    Q, K, V = (table.astype(np.float32) for table in (Q, K, V))
    return softmax(Q @ K.T / np.float32(np.sqrt(Q.shape[1]))) @ V


ATTENTION = Exercise(
    id="worked_softmax/attention",
    title="Attention, the whole formula",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=attention,
    probes=_attention_probes,
    right_answers={
        "loops": _attention_by_loops,
        "einsum": _attention_by_einsum,
        "the queries scaled first": lambda Q, K, V: softmax((Q / np.sqrt(Q.shape[1])) @ K.T) @ V,
        "both scaled by the fourth root": lambda Q, K, V: softmax(Q / len(Q.T) ** 0.25 @ (K / len(K.T) ** 0.25).T) @ V,
        "in float32": _attention_in_float32,
        "as lists": lambda Q, K, V: attention(Q, K, V).tolist(),
        "divided by the sum at the end": lambda Q, K, V: (
            np.exp((s := Q @ K.T / np.sqrt(Q.shape[-1])) - s.max(axis=1, keepdims=True))
            @ V
            / np.exp(s - s.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
        ),
    },
    mistakes=(
        Mistake("no_scale", lambda Q, K, V: softmax(Q @ K.T) @ V, **NO_SCALE),
        Mistake("divided_by_d_k", lambda Q, K, V: softmax(Q @ K.T / Q.shape[1]) @ V, **BY_D_K),
        Mistake(
            "root_of_n_key",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(len(K))) @ V,
            what="The scores are divided by the root of the number of keys.",
            why="A dot product grows with the length of the vectors, not with how many of them there are.",
            where="`len` of a table counts its rows. Which axis of K has the length d_k?",
        ),
        Mistake(
            "root_of_n_query",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(len(Q))) @ V,
            what="The scores are divided by the root of the number of queries.",
            why="A dot product grows with the length of the vectors, not with how many of them there are.",
            where="`len` of a table counts its rows. Which axis of Q has the length d_k?",
        ),
        Mistake(
            "root_of_d_v",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(V.shape[1])) @ V,
            what="The scores are divided by the root of the values' length, d_v.",
            why="The values take no part in the scores. Hello World cannot show it: there d_v = d_k.",
            where="The root: whose length goes into it?",
        ),
        Mistake(
            "root_of_three",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(3)) @ V,
            what="√3 stands in the function: the d_k of Hello World.",
            why="With vectors of any other length the scores are scaled wrongly.",
            where="The divisor must be computed from the shape of an input.",
        ),
        Mistake(
            "softmax_over_queries",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[1]), axis=0) @ V,
            **OVER_QUERIES,
        ),
        Mistake("softmax_over_everything", _over_everything, **OVER_ALL),
        Mistake(
            "sum_of_keys",
            lambda Q, K, V: _weights_of(Q, K) @ K,
            what="The weights are right, and then the keys are averaged, not the values.",
            why="A key says by what a word is found, the value what it gives. Hello World cannot show it: there K = V.",
            where="The last product. Is V used at all?",
        ),
        Mistake(
            "sum_of_queries",
            lambda Q, K, V: _weights_of(Q, K) @ Q,
            what="The weights are right, and then the queries are averaged, not the values.",
            why="The queries ask. What comes back must be made of values. Hello World cannot show it: there Q = V.",
            where="The last product. Is V used at all?",
        ),
        Mistake(
            "swapped",
            lambda Q, K, V: softmax(K @ Q.T / np.sqrt(Q.shape[1])) @ V,
            what="Q and K have changed places: the keys ask, and the queries answer.",
            why="There must be one row of weights, and one result, for each query. On Hello World Q = K hides it.",
            where="The product that makes the scores: its shape should be (n_query, n_key).",
        ),
        Mistake(
            "keys_and_values_swapped",
            lambda Q, K, V: softmax(Q @ V.T / np.sqrt(Q.shape[1])) @ K,
            what="K and V have changed places: the scores come from the values, and the keys are averaged.",
            why="Then words are found by what they give, and give what they are found by. Hello World hides it: K = V.",
            where="Go through the formula from left to right: which letter stands in the scores, which at the end?",
        ),
        Mistake(
            "weights_returned",
            lambda Q, K, V: _weights_of(Q, K),
            what="The weights are returned.",
            why="They say how much each value counts; the values have not been touched yet.",
            where="The last piece of the formula is missing.",
        ),
        Mistake(
            "not_transposed",
            lambda Q, K, V: softmax(Q @ K / np.sqrt(Q.shape[1])) @ V,
            what="The keys went into the product as they are.",
            why="The product then pairs a query with a column of K: with one number of every key, not with a key.",
            where="The T in the formula.",
        ),
        Mistake(
            "reshaped",
            lambda Q, K, V: softmax(Q @ K.reshape(K.shape[::-1]) / np.sqrt(Q.shape[1])) @ V,
            what="K was reshaped to the shape that its transpose has.",
            why="`reshape` keeps the numbers in reading order: the new columns mix several keys, without any error.",
            where="Print a small K before and after. Is each key still in one piece, as a column?",
        ),
        Mistake(
            "weights_transposed",
            lambda Q, K, V: _weights_of(Q, K).T @ V,
            what="The weights were transposed before they met the values.",
            why="Then the weights that meet the values are those of one key over all queries, and do not sum to one. "
            "On Hello World they are symmetric, and nothing shows.",
            where="The last product: the axis that is summed over must be that of the keys, in both factors.",
        ),
        Mistake(
            "rounded_steps",
            _rounded_steps,
            what="The scaled scores and the weights were rounded to two digits on the way, as the text does by hand.",
            why="The result agrees to about two digits only. On paper that is fine; code rounds when it prints.",
            where="Take the rounding out.",
        ),
        Mistake(
            "rounded_weights",
            lambda Q, K, V: np.round(_weights_of(Q, K), 2) @ V,
            what="The weights were rounded to two digits before they met the values.",
            why="The result agrees to about two digits only, and the weights may no longer sum to one.",
            where="Take the rounding out.",
        ),
        Mistake(
            "rounded_result",
            lambda Q, K, V: np.round(attention(Q, K, V), 2),
            what="The result is right, but rounded to two digits.",
            why="What is rounded away is gone for whoever computes on with it.",
            where="Take the rounding out; round when you print.",
        ),
        Mistake("overflow", _no_max, **OVERFLOW),
        Mistake(
            "scale_after_softmax",
            lambda Q, K, V: softmax(Q @ K.T) / np.sqrt(Q.shape[1]) @ V,
            **SCALE_LATER,
        ),
        Mistake("multiplied", lambda Q, K, V: softmax(Q @ K.T * np.sqrt(Q.shape[1])) @ V, **MULTIPLIED),
        Mistake(
            "softmax_at_the_end",
            lambda Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[1]) @ V),
            what="The softmax was taken of the result, behind the product with V.",
            why="It is the *scores* that become shares; what comes out is an average of values, and may be negative or "
            "large.",
            where="The brackets: what stands between those of the softmax?",
        ),
        Mistake(
            "softmax_missing",
            lambda Q, K, V: Q @ K.T / np.sqrt(Q.shape[1]) @ V,
            what="The scaled scores multiply the values directly; there is no softmax.",
            why="Scores can be negative and sum to anything: the result is no average of the values.",
            where="Between the scaling and the last product.",
        ),
    ),
)

# --- 4. by_hand -----------------------------------------------------------------------------------------------------

Q_BY_HAND = np.array([[0.0, 2, 0, 0], [-2, 2, 2, 0]])
K_BY_HAND = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 2]])
V_BY_HAND = np.array([[10.0], [0], [50]])


def _worked(step, divisor=2.0, normalise=softmax, digits=True, scores=None):
    """Work the twin by hand down to `step`, with two digits for the weights and whole numbers for the output."""
    scores = Q_BY_HAND @ K_BY_HAND.T if scores is None else scores
    weights = normalise(scores / divisor)
    output = weights @ V_BY_HAND
    if digits:
        weights, output = weights.round(2), output.round(0)
    return {"scores": scores, "scaled": scores / divisor, "weights": weights, "output": output}[step]


def by_hand(step):
    """Return the table of numbers of this step."""
    return _worked(step)


def _by_hand_probes(rng):
    return [Probe(f"the step {step}", (step,)) for step in ("scores", "scaled", "weights", "output")]


def _with_rounded_steps(step):
    raised = np.exp(Q_BY_HAND @ K_BY_HAND.T / 2).round(2)
    weights = (raised / raised.sum(axis=1, keepdims=True)).round(2)
    return (weights @ V_BY_HAND).round(0) if step == "output" else weights if step == "weights" else _worked(step)


BY_HAND = Exercise(
    id="worked_softmax/by_hand",
    title="The twin with paper and pencil",
    minutes=10,
    difficulty="medium",
    kind="predict",
    reference=by_hand,
    probes=_by_hand_probes,
    right_answers={
        "lists": lambda step: by_hand(step).tolist(),
        "two digits all the way, as on paper": _with_rounded_steps,
    },
    remarks=(
        Remark(
            "more_digits",
            lambda step: _worked(step, digits=False),
            "These are the exact numbers, with more digits than were asked for. Did the pencil give the same two?",
        ),
    ),
    mistakes=(
        Mistake("no_scale", lambda step: _worked(step, divisor=1.0), **NO_SCALE),
        Mistake("divided_by_d_k", lambda step: _worked(step, divisor=4.0), **BY_D_K),
        Mistake(
            "root_of_n_key",
            lambda step: _worked(step, divisor=np.sqrt(3)),
            what="The scores are divided by √3 ≈ 1.73, as in Hello World. Three is the number of keys here.",
            why="Under the root belongs the length of a key.",
            where="Count the numbers in one key.",
        ),
        Mistake(
            "softmax_over_queries", lambda step: _worked(step, normalise=lambda x: softmax(x, axis=0)), **OVER_QUERIES
        ),
        Mistake(
            "shares_without_exponential",
            lambda step: _worked(step, normalise=lambda x: x / x.sum(axis=1, keepdims=True)),
            what="The scaled scores are divided by their sum; no exponential was taken.",
            why="A share of the scores is no softmax: a score of 0 would get nothing at all, and a negative one less.",
            where="Step 4 of the text: what is done to each number before they are added up?",
        ),
        Mistake(
            "not_divided",
            lambda step: _worked(step, normalise=np.exp),
            what="The exponentials are given as weights; they are not divided by their sum.",
            why="Then the weights do not sum to one, and the output lies outside of the values.",
            where="Add up one row of your weights.",
        ),
    ),
)

# --- 5. find_scale --------------------------------------------------------------------------------------------------


def find_scale(Q, K, weights):
    """Return the number that the scores were divided by before the softmax gave these weights."""
    scores = Q @ K.T
    row = np.ptp(scores, axis=1).argmax()
    high, low = scores[row].argmax(), scores[row].argmin()
    return (scores[row, high] - scores[row, low]) / np.log(weights[row, high] / weights[row, low])


def _find_scale_probes(rng):
    def case(Q, K, divisor):
        return Q, K, softmax(Q @ K.T / divisor)

    def draw(n_query, n_key, d_k):
        return _tables(rng, n_query, n_key, d_k, 1)[:2]

    Q, K = draw(3, 4, 5)
    Q[0] = 0  # a query that looks at all alike says nothing about the divisor
    return [
        Probe("two queries on three keys, divided by √d_k", case(*draw(2, 3, 4), 2.0)),
        Probe("three queries on five keys, divided by d_k", case(*draw(3, 5, 4), 4.0)),
        Probe("four queries on three keys, not scaled", case(*draw(4, 3, 5), 1.0)),
        Probe("other sizes and another divisor", case(*draw(*distinct_sizes(rng, 3)), round(rng.uniform(1.5, 6), 2))),
        Probe("a first query of zeros", case(Q, K, round(rng.uniform(1.5, 6), 2))),
    ]


def _by_least_squares(Q, K, weights):
    scores = Q @ K.T
    scores = scores - scores.mean(axis=1, keepdims=True)
    logs = np.log(weights) - np.log(weights).mean(axis=1, keepdims=True)
    return (scores**2).sum() / (scores * logs).sum()


def _by_halving(Q, K, weights):
    """Halve an interval: the larger the divisor, the smaller the largest weight of the row with the largest spread."""
    scores = Q @ K.T
    row = np.ptp(scores, axis=1).argmax()
    low, high = 1e-3, 1e3
    for _ in range(80):
        middle = (low * high) ** 0.5
        too_sharp = softmax(scores[row] / middle).max() > weights[row].max()
        low, high = (middle, high) if too_sharp else (low, middle)
    return middle


def _first_two(Q, K, weights):
    scores = Q @ K.T
    return (scores[0, 0] - scores[0, 1]) / np.log(weights[0, 0] / weights[0, 1])


FIND_SCALE = Exercise(
    id="worked_softmax/find_scale",
    title="Which scale made these weights?",
    minutes=12,
    difficulty="hard",
    kind="measure",
    reference=find_scale,
    probes=_find_scale_probes,
    right_answers={"least squares": _by_least_squares, "halving an interval": _by_halving},
    mistakes=(
        Mistake(
            "guessed_root_of_d_k",
            lambda Q, K, weights: np.sqrt(Q.shape[1]),
            what="√d_k is returned whatever the weights are.",
            why="Here the divisor is not given away by the shape: it has to be read off the weights.",
            where="`weights` must be used.",
        ),
        Mistake(
            "inverse",
            lambda Q, K, weights: 1 / find_scale(Q, K, weights),
            what="The factor came out, not the divisor: 0.5 where 2 is wanted.",
            why="The question is what the scores were *divided* by.",
            where="Which difference stands above the line, and which below?",
        ),
        Mistake(
            "no_difference",
            lambda Q, K, weights: (Q @ K.T)[-1, 0] / np.log(weights[-1, 0]),
            what="One score was divided by the logarithm of its weight.",
            why="The softmax also divides by a sum that you do not know. One weight alone cannot be undone.",
            where="Take two keys of one query. What is in both of their weights, and how do you get rid of it?",
        ),
        Mistake(
            "no_difference_first",
            lambda Q, K, weights: (Q @ K.T)[0, 0] / np.log(weights[0, 0]),
            what="The first score was divided by the logarithm of its weight.",
            why="The softmax also divides by a sum that you do not know. One weight alone cannot be undone.",
            where="Take two keys of one query. What is in both of their weights, and how do you get rid of it?",
        ),
        Mistake(
            "no_logarithm",
            lambda Q, K, weights: np.ptp(Q @ K.T, axis=1).max() / np.ptp(weights[np.ptp(Q @ K.T, axis=1).argmax()]),
            what="A difference of scores was divided by the difference of the weights.",
            why="Weights come from an exponential: a difference of scores becomes a *factor* between weights.",
            where="What undoes the exponential?",
        ),
        Mistake(
            "across_queries",
            lambda Q, K, weights: ((Q @ K.T)[-1, 0] - (Q @ K.T)[-2, 0]) / np.log(weights[-1, 0] / weights[-2, 0]),
            what="Two queries were compared, on the same key.",
            why="Each query divides its exponentials by a sum of its own; between two queries it does not cancel.",
            where="Stay in one row.",
        ),
        Mistake(
            "first_two_keys",
            _first_two,
            what="Only the first query's first two keys are compared.",
            why="Where their scores are equal this is zero divided by zero.",
            where="Which pair of keys tells most? Search for it, or use all pairs.",
        ),
    ),
)

EXERCISES = (SCORES, WEIGHTS, ATTENTION, BY_HAND, FIND_SCALE)

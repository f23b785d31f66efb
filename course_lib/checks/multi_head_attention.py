"""The exercises of the lesson *Multi-head attention*: probes, references and known mistakes."""

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes
from course_lib.reference.attention import attention, softmax
from course_lib.reference.heads import merge_heads, multi_head_attention, split_heads
from course_lib.reference.masks import causal_mask

# --- 1. split_heads -------------------------------------------------------------------------------------------------


def _split_probes(rng):
    def draw(batch, n, h, d_k):
        return rng.normal(size=(batch, n, h * d_k)).round(2), h

    batch, n, h, d_k = distinct_sizes(rng, 4)
    return [
        Probe("one sequence of two tokens, two heads", (np.arange(8.0).reshape(1, 2, 4), 2)),
        Probe("two sequences of five tokens, three heads", draw(2, 5, 3, 4)),
        Probe("as many tokens as heads", draw(2, 3, 3, 4)),
        Probe("as many heads as numbers in a head", draw(2, 4, 3, 3)),
        Probe("as many sequences as heads", draw(3, 6, 3, 2)),
        Probe("other sizes, all different", draw(batch, n, h, d_k)),
        Probe("one head", draw(2, 3, 1, 5), extreme=True),
        Probe("heads of one number", draw(2, 3, 5, 1), extreme=True),
        Probe("one token", draw(2, 1, 3, 4), extreme=True),
        Probe("no sequence at all", draw(0, 5, 3, 2), extreme=True),
    ]


def _by_reshape(X, h):
    batch, n, d_model = X.shape
    return X.reshape(batch, h, n, d_model // h)


def _heads_stay_third(X, h):
    batch, n, d_model = X.shape
    return X.reshape(batch, n, h, d_model // h)


def _strided(X, h):
    batch, n, d_model = X.shape
    return X.reshape(batch, n, d_model // h, h).transpose(0, 3, 1, 2)


def _strided_merge(X):
    batch, h, n, d_v = X.shape
    return X.transpose(0, 2, 3, 1).reshape(batch, n, h * d_v)


def _split_by_loops(X, h):
    batch, n, d_model = X.shape
    d_k = d_model // h
    heads = np.empty((batch, h, n, d_k))
    for i in range(h):
        heads[:, i] = X[:, :, i * d_k : (i + 1) * d_k]
    return heads


SPLIT = Exercise(
    id="multi_head_attention/split_heads",
    title="Split tokens into heads",
    minutes=7,
    difficulty="medium",
    kind="fill",
    reference=split_heads,
    probes=_split_probes,
    right_answers={
        "a loop over the heads": _split_by_loops,
        "transpose of all axes": lambda X, h: X.reshape(*X.shape[:2], h, X.shape[2] // h).transpose(0, 2, 1, 3),
        "cut and stacked": lambda X, h: np.stack(np.split(X, h, axis=-1), axis=1),
        "einsum": lambda X, h: np.einsum("bnhd->bhnd", X.reshape(*X.shape[:2], h, X.shape[2] // h)),
        "moveaxis": lambda X, h: np.moveaxis(X.reshape(*X.shape[:2], h, X.shape[2] // h), 2, 1),
    },
    mistakes=(
        Mistake(
            "reshape_alone",
            _by_reshape,
            what="X went to the wanted shape by `reshape` alone.",
            why="The shape is right and no error is raised, but `reshape` keeps the numbers in reading order: head 0 "
            "gets the first tokens whole, cut to pieces, and the last tokens go to other heads. Tokens are mixed.",
            where="Number the entries of a small X and print head 0. It must hold a piece of every token.",
        ),
        Mistake(
            "heads_axis_in_the_wrong_place",
            _heads_stay_third,
            what="The pieces are cut, and the axis of heads still stands behind the positions.",
            why="Attention works on the last two axes. There the heads of one token would look at one another, and no "
            "token at any other.",
            where="Which two axes must stand last, so that tokens meet tokens? One exchange of axes is missing.",
        ),
        Mistake(
            "strided_heads",
            _strided,
            what="Head i took the columns i, i + h, i + 2h, … and not a piece of neighbours.",
            why="This is right up to a permutation of the columns: a model trained so from the start would learn as "
            "well. But weights that someone else trained would meet the wrong columns, and the course and PyTorch cut "
            "neighbours.",
            where="The order of the two new sizes in `reshape`: which of them counts within one head?",
        ),
        Mistake(
            "sizes_exchanged",
            lambda X, h: X.reshape(X.shape[0], X.shape[1], -1, h).swapaxes(1, 2),
            what="There are d_model / h heads of h numbers each, in place of h heads of d_model / h numbers.",
            why="The number of heads is then set by the width, and the weights of a trained model do not fit.",
            where="The two sizes that replace d_model: which comes first?",
        ),
        Mistake(
            "positions_last",
            lambda X, h: _by_right(X, h).swapaxes(-2, -1),
            what="Heads and pieces are right, and the last two axes are exchanged: (batch, h, d_k, n).",
            why="A row must be a token, with its d_k numbers along the last axis.",
            where="Wanted is (batch, h, n, d_k). Write the shape behind each line.",
        ),
        Mistake(
            "heads_first",
            lambda X, h: _by_right(X, h).swapaxes(0, 1),
            what="The axis of heads stands before the axis of the batch.",
            why="Then a mask of shape (batch, 1, n, n), or the merge, meets the wrong axis.",
            where="The batch stays first: which axes change places?",
        ),
        Mistake(
            "batch_mixed_in",
            lambda X, h: X.reshape(h, X.shape[0], X.shape[1], X.shape[2] // h).swapaxes(0, 1),
            what="X was reshaped with the heads in front, and two axes exchanged afterwards.",
            why="`reshape` cuts in reading order, so that already the sequences of the batch are mixed.",
            where="Cut the last axis, and nothing but the last axis, before you move any.",
        ),
        Mistake(
            "positions_cut",
            lambda X, h: np.stack(np.split(X, h, axis=1), axis=1),
            what="The sequence was cut into h pieces, not the vectors.",
            why="Every head must see every token, with a part of its numbers; here each sees a part of the tokens.",
            where="Which axis has the d_model numbers of a token?",
        ),
        Mistake(
            "whole_vectors_copied",
            lambda X, h: np.stack([X] * h, axis=1),
            what="Every head got the whole vector: d_k was taken as d_model.",
            why="Then all heads are the same, and together they are h times as wide as the tokens.",
            where="A head has d_model / h numbers a token.",
        ),
    ),
)


def _by_right(X, h):
    return _heads_stay_third(X, h).swapaxes(1, 2)


# --- 2. merge_heads -------------------------------------------------------------------------------------------------


def _merge_probes(rng):
    def draw(*shape):
        return (rng.normal(size=shape).round(2),)

    return [
        Probe("one sequence of two tokens, two heads", (np.arange(8.0).reshape(1, 2, 2, 2),)),
        Probe("two sequences, three heads, five tokens", draw(2, 3, 5, 4)),
        Probe("as many tokens as heads", draw(2, 3, 3, 4)),
        Probe("as many tokens as numbers in a head", draw(2, 3, 4, 4)),
        Probe("other sizes, all different", draw(*distinct_sizes(rng, 4))),
        Probe("one head", draw(2, 1, 3, 5), extreme=True),
        Probe("heads of one number", draw(2, 5, 3, 1), extreme=True),
        Probe("one token", draw(2, 3, 1, 4), extreme=True),
        Probe("no sequence at all", draw(0, 3, 5, 2), extreme=True),
    ]


MERGE = Exercise(
    id="multi_head_attention/merge_heads",
    title="Put the heads side by side again",
    minutes=5,
    difficulty="medium",
    kind="fill",
    reference=merge_heads,
    probes=_merge_probes,
    right_answers={
        "concatenate": lambda X: np.concatenate([X[:, i] for i in range(X.shape[1])], axis=-1),
        "transpose of all axes": lambda X: X.transpose(0, 2, 1, 3).reshape(
            X.shape[0], X.shape[2], X.shape[1] * X.shape[3]
        ),
        "einsum": lambda X: np.einsum("bhnd->bnhd", X).reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3]),
    },
    mistakes=(
        Mistake(
            "reshape_alone",
            lambda X: X.reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3]),
            what="The heads went to the wanted shape by `reshape` alone.",
            why="Every number is there, in another order: `reshape` reads head 0 to its end before it comes to head 1. "
            "A row then holds several tokens of one head, not one token of all heads.",
            where="Which axis must stand beside d_v before the two can become one?",
        ),
        Mistake(
            "interleaved",
            _strided_merge,
            what="The heads are interleaved: the first number of every head, then the second of every head.",
            why="All numbers of a token are in its row, so this is right up to a permutation of the columns. But W_O "
            "expects head 0 whole, then head 1 whole.",
            where="The order of the axes before the last reshape: which of h and d_v must change faster?",
        ),
        Mistake(
            "not_merged",
            lambda X: X.swapaxes(1, 2),
            what="The axes are exchanged, and the heads still have an axis of their own.",
            why="W_O multiplies one row of h · d_v numbers a token.",
            where="One step is missing: two neighbouring axes become one.",
        ),
        Mistake(
            "mean_of_heads",
            lambda X: X.mean(axis=1),
            what="The heads were averaged.",
            why="A mean forgets which head brought what, and that is what several heads are for.",
            where="The paper says Concat: side by side, h · d_v numbers a token.",
        ),
        Mistake(
            "sum_of_heads",
            lambda X: X.sum(axis=1),
            what="The heads were added up.",
            why="A sum forgets which head brought what. What may be added are the heads after their part of W_O.",
            where="The paper says Concat: side by side, h · d_v numbers a token.",
        ),
        Mistake(
            "one_after_another",
            lambda X: X.reshape(X.shape[0], X.shape[1] * X.shape[2], X.shape[3]),
            what="The heads stand one below the other: the sequence has become h times as long.",
            why="There must be one row a token, as before the split.",
            where="Which axis grows in a concatenation of the heads: the positions, or the numbers of a token?",
        ),
        Mistake(
            "first_head_only",
            lambda X: X[:, 0],
            what="Only the first head came back.",
            why="What the others found is lost.",
            where="Wanted are h · d_v numbers a token.",
        ),
        Mistake(
            "wrong_axes_exchanged",
            lambda X: X.swapaxes(1, 3).reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3]),
            what="The axis of heads changed places with the last axis, or a wrong one with it.",
            why="The shape comes out right after the `reshape`, and a row holds numbers of several tokens or in "
            "another order.",
            where="Before: (batch, head, n, d_v). Just before the reshape the positions must follow the batch.",
        ),
        Mistake(
            "transposed_pieces",
            lambda X: X.swapaxes(2, 3).reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3]),
            what="The last two axes changed places before the `reshape`.",
            why="Then the numbers of one head are read token by token down a column, and rows mix tokens.",
            where="Which axis has to move in front of the heads?",
        ),
    ),
)

# --- 3. multi_head_attention ----------------------------------------------------------------------------------------


def _inputs(rng, batch, query, key, d_model, h, d_k, d_v):
    """Draw X_query, X_key, the four matrices and h; the numbers are large enough for weights that are not even."""

    def draw(*shape):
        return rng.normal(size=shape).round(2)

    X_query, X_key = draw(batch, query, d_model), draw(batch, key, d_model)
    return (
        X_query,
        X_key,
        draw(d_model, h * d_k),
        draw(d_model, h * d_k),
        draw(d_model, h * d_v),
        draw(h * d_v, d_model),
        h,
    )


def _self(inputs):
    return (inputs[0], inputs[0], *inputs[2:])


def _padding(lengths, key):
    return (np.arange(key) < np.array(lengths)[:, None])[:, None]  # (batch, 1, key)


def _multi_probes(rng):
    query, key, d_model, half, d_v = distinct_sizes(rng, 5, low=3)
    large = _inputs(rng, 2, 3, 4, 4, 2, 2, 3)
    large = (1000 * np.sign(large[0]), *large[1:])
    return [
        Probe("self-attention of three tokens, two heads", _self(_inputs(rng, 1, 3, 3, 4, 2, 2, 2))),
        Probe("as many queries as keys, from different tokens", _inputs(rng, 2, 4, 4, 6, 2, 3, 3)),
        Probe("more keys than queries", _inputs(rng, 2, 3, 5, 6, 3, 2, 2)),
        Probe("a width of the heads of its own", _inputs(rng, 2, 4, 4, 6, 2, 5, 4)),
        Probe("self-attention with a causal mask", (*_self(_inputs(rng, 3, 5, 5, 8, 2, 4, 4)), causal_mask(5))),
        Probe("as many sequences as heads, with padding", (*_inputs(rng, 2, 3, 4, 4, 2, 2, 2), _padding([2, 4], 4))),
        Probe(
            "as many sequences as heads, a mask for each pair",
            (*_inputs(rng, 2, 3, 3, 4, 2, 2, 2), np.tril(rng.random((2, 3, 3)) < 0.5) | np.eye(3, dtype=bool)),
        ),
        Probe("as many tokens as heads", _self(_inputs(rng, 2, 3, 3, 6, 3, 2, 2))),
        Probe("other sizes, all different", _inputs(rng, 2, query, key, d_model, 3, half, d_v)),
        Probe("one head", _inputs(rng, 2, 3, 4, 5, 1, 3, 2), extreme=True),
        Probe("one token looks at one token", _inputs(rng, 2, 1, 1, 4, 2, 2, 2), extreme=True),
        Probe("scores of thousands", large, extreme=True),
    ]


def _variant(
    split=split_heads,
    merge=merge_heads,
    attend=attention,
    queries=lambda X_query, X_key: X_query,
    keys=lambda X_query, X_key: X_key,
    values=lambda X_query, X_key: X_key,
    weights=lambda *W: W,
    widen=lambda mask: np.expand_dims(mask, -3),
    finish=lambda merged, W_O, X_query: merged @ W_O,
):
    """Make multi-head attention with one of its parts exchanged."""

    def answer(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
        W_Q, W_K, W_V, W_O = weights(W_Q, W_K, W_V, W_O)
        X = (X_query, X_key)
        Q, K, V = split(queries(*X) @ W_Q, h), split(keys(*X) @ W_K, h), split(values(*X) @ W_V, h)
        heads = attend(Q, K, V, None if mask is None else widen(mask))
        return finish(merge(heads), W_O, X_query)

    return answer


def _attend(divisor=lambda Q: np.sqrt(Q.shape[-1]), axis=-1, mask_after=False):
    """Make attention with another divisor or axis, or with the mask laid on the weights."""

    def attend(Q, K, V, mask=None):
        scores = Q @ K.swapaxes(-2, -1) / divisor(Q)
        if mask is not None and not mask_after:
            scores = np.where(mask, scores, -1e9)
        weights = softmax(scores, axis=axis)
        return (weights * mask if mask is not None and mask_after else weights) @ V

    return attend


def _root_of_d_model(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    attend = _attend(lambda Q: np.sqrt(X_query.shape[-1]))
    return _variant(attend=attend)(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask)


def _first_head_masked(Q, K, V, mask):
    heads = attention(Q, K, V)
    if mask is not None:
        heads[:, :1] = attention(Q[:, :1], K[:, :1], V[:, :1], mask)
    return heads


def _across_heads(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    Q, K, V = (_heads_stay_third(X, h) for X in (X_query @ W_Q, X_key @ W_K, X_key @ W_V))
    heads = attention(Q, K, V)  # (batch, n, head, d_v)
    return heads.reshape(*heads.shape[:2], -1) @ W_O


def _one_big_head(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    return attention(X_query @ W_Q, X_key @ W_K, X_key @ W_V, mask) @ W_O


def _first_head(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    parts = [W[:, : W.shape[1] // h] for W in (W_Q, W_K, W_V)]
    return attention(X_query @ parts[0], X_key @ parts[1], X_key @ parts[2], mask) @ W_O[: len(W_O) // h]


def _first_weights_for_all(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    first = [W[:, : W.shape[1] // h] for W in (W_Q, W_K, W_V)]
    head = attention(X_query @ first[0], X_key @ first[1], X_key @ first[2], mask)
    return np.concatenate([head] * h, axis=-1) @ W_O


def _split_before_projecting(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    width = X_query.shape[-1] // h
    first = [W[:width, : W.shape[1] // h] for W in (W_Q, W_K, W_V)]
    Q, K, V = (split_heads(X, h) @ W for X, W in zip((X_query, X_key, X_key), first, strict=True))
    mask = None if mask is None else np.expand_dims(mask, -3)
    return merge_heads(attention(Q, K, V, mask)) @ W_O


def _loop_and_sum(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    parts = [np.split(W, h, axis=1) for W in (W_Q, W_K, W_V)] + [np.split(W_O, h)]
    return sum(attention(X_query @ q, X_key @ k, X_key @ v, mask) @ o for q, k, v, o in zip(*parts, strict=True))


def _loop_and_concatenate(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    parts = [np.split(W, h, axis=1) for W in (W_Q, W_K, W_V)]
    heads = [attention(X_query @ q, X_key @ k, X_key @ v, mask) for q, k, v in zip(*parts, strict=True)]
    return np.concatenate(heads, axis=-1) @ W_O


def _einsum(X_query, X_key, W_Q, W_K, W_V, W_O, h, mask=None):
    Q, K, V = (
        np.einsum("bnd,dhk->bhnk", X, W.reshape(len(W), h, W.shape[1] // h))
        for X, W in ((X_query, W_Q), (X_key, W_K), (X_key, W_V))
    )
    scores = np.einsum("bhqd,bhkd->bhqk", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, (*Q.shape[:1], *scores.shape[2:]))[:, None], scores, -np.inf)
    return np.einsum("bhqk,bhkv,hvd->bqd", softmax(scores), V, W_O.reshape(h, len(W_O) // h, -1))


MULTI = Exercise(
    id="multi_head_attention/multi_head_attention",
    title="Multi-head attention, whole",
    minutes=12,
    difficulty="hard",
    kind="fill",
    reference=multi_head_attention,
    probes=_multi_probes,
    right_answers={
        "a loop, and what the heads add summed": _loop_and_sum,
        "a loop, and the heads side by side": _loop_and_concatenate,
        "einsum and -inf": _einsum,
        "the queries scaled first": _variant(
            attend=lambda Q, K, V, mask=None: _attend(lambda Q: 1)(Q / np.sqrt(Q.shape[-1]), K, V, mask)
        ),
        "the projections of all heads one by one": _variant(split=_split_by_loops),
    },
    mistakes=(
        Mistake(
            "split_by_reshape",
            _variant(split=_by_reshape),
            what="The projections were split by `reshape` alone, or by a `view` without exchanging axes.",
            why="The shape is right, and the rows of a head are then pieces of neighbouring tokens: a token looks with "
            "another token's query. Under a causal mask the future leaks.",
            where="Check your split on numbered entries: does head 0 hold a piece of every token?",
        ),
        Mistake(
            "merge_by_reshape",
            _variant(merge=lambda X: X.reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3])),
            what="The heads were merged by `reshape` alone, without exchanging axes first.",
            why="A row of the result then holds what several tokens found in one head.",
            where="Between the attention and W_O: which axis must stand beside d_v before the two become one?",
        ),
        Mistake(
            "split_and_merge_by_reshape",
            _variant(split=_by_reshape, merge=lambda X: X.reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3])),
            what="Both split and merge use `reshape` alone.",
            why="One after the other they give back what went in, so a test of the round trip is content. But in "
            "between each head sees pieces of tokens as if they were tokens.",
            where="Test the split by itself: does head 0 hold a piece of every token?",
        ),
        Mistake(
            "strided_heads",
            _variant(split=_strided, merge=_strided_merge),
            what="Head i took every h-th column of the projections, at splitting and at merging.",
            why="Right up to a permutation of the columns: a model that is trained so learns as well. With weights "
            "that are given, as here, it computes something else.",
            where="The order of the two sizes that replace the last axis at the split.",
        ),
        Mistake(
            "strided_split",
            _variant(split=_strided),
            what="At the split head i took every h-th column; the merge puts the heads side by side.",
            why="The columns of a head's projection no longer belong together, nor meet their rows of W_O.",
            where="The order of the two sizes that replace the last axis at the split.",
        ),
        Mistake(
            "strided_merge",
            _variant(merge=_strided_merge),
            what="The merge interleaves the heads: the first number of each, then the second of each.",
            why="Row j of W_O then meets a number that it was not trained for.",
            where="The order of the axes before the last reshape of the merge.",
        ),
        Mistake(
            "attention_across_heads",
            _across_heads,
            what="The heads of each token look at one another: the axes were not exchanged after cutting.",
            why="Attention works on the last two axes. Here these are head and d_k, so that no token ever sees "
            "another, and a mask over tokens has no place.",
            where="The shape just before the attention: wanted (batch, head, n, d_k).",
        ),
        Mistake(
            "one_big_head",
            _one_big_head,
            what="The projections were not split: this is one head of the whole width.",
            why="There is one softmax a query where there should be h, so that one average is all that a token gets.",
            where="Between the projections and the attention.",
        ),
        Mistake(
            "root_of_d_model",
            _root_of_d_model,
            what="The scores were divided by √d_model.",
            why="A head's dot product has d_k terms. √d_model is too much and makes the weights too even.",
            where="The divisor. How many numbers has a query of one head? (The imported `attention` looks for itself.)",
        ),
        Mistake(
            "root_of_all_heads",
            lambda *args: _variant(attend=_attend(lambda Q: np.sqrt(Q.shape[1] * Q.shape[-1])))(*args),
            what="The scores were divided by the root of the width of all heads together, h · d_k.",
            why="A head's dot product has d_k terms. More than √d_k makes the weights too even.",
            where="The divisor: take d_k after the split, not before.",
        ),
        Mistake(
            "no_scale",
            _variant(attend=_attend(lambda Q: 1)),
            what="The scores went into the softmax without being scaled.",
            why="The wider a head, the larger its dot products, and the sharper its weights (lesson 04).",
            where="Between the scores and the softmax.",
        ),
        Mistake(
            "divided_by_d_k",
            _variant(attend=_attend(lambda Q: Q.shape[-1])),
            what="The scores were divided by d_k itself.",
            why="That is too much: the weights come out nearly even (lesson 04).",
            where="The divisor. Compare it with the formula's, sign by sign.",
        ),
        Mistake(
            "softmax_over_heads",
            _variant(attend=_attend(axis=1)),
            what="The softmax runs over the heads.",
            why="Then the heads compete for every pair of tokens, and the weights of one query do not sum to one.",
            where="The axis of the softmax: scores are (batch, head, query, key). Which axis counts the keys?",
        ),
        Mistake(
            "softmax_over_queries",
            _variant(attend=_attend(axis=-2)),
            what="The softmax runs over the queries.",
            why="Then the weights of one query do not sum to one.",
            where="The axis of the softmax: which one counts the keys?",
        ),
        Mistake(
            "mean_of_heads",
            _variant(merge=lambda X: X.mean(axis=1), finish=lambda merged, W_O, X_query: merged),
            what="The heads were averaged and returned.",
            why="A mean forgets which head brought what; and W_O, which has a row for every number of every head, is "
            "left out.",
            where="The paper says Concat(head_1, …, head_h) W_O.",
        ),
        Mistake(
            "sum_of_heads",
            _variant(merge=lambda X: X.sum(axis=1), finish=lambda merged, W_O, X_query: merged),
            what="The heads were added up and returned.",
            why="A sum forgets which head brought what. Only after its own part of W_O may a head be added to others.",
            where="The paper says Concat(head_1, …, head_h) W_O.",
        ),
        Mistake(
            "no_W_O",
            _variant(finish=lambda merged, W_O, X_query: merged),
            what="The merged heads were returned: the last projection, W_O, is missing.",
            why="Without W_O the result is h · d_v wide, and every head can write to its own columns alone.",
            where="The last line. Is every argument used?",
        ),
        Mistake(
            "only_the_first_head",
            _first_head,
            what="Only the first head was computed.",
            why="The other columns of the projections, and the other rows of W_O, play no part.",
            where="The loop over the heads, or an index 0 too many.",
        ),
        Mistake(
            "same_weights_for_all_heads",
            _first_weights_for_all,
            what="Every head uses the first head's columns of W_Q, W_K and W_V.",
            why="Then all heads find the same, and h of them know no more than one.",
            where="The columns of head i are i · d_k to (i + 1) · d_k.",
        ),
        Mistake(
            "split_before_projecting",
            _split_before_projecting,
            what="The tokens were split first, and each piece was projected by the same small corner of W.",
            why="Then all heads share their weights, and each sees only a part of a token. A head must see the whole "
            "token through its own columns.",
            where="The order: which comes first, `@ W_Q` or the split?",
        ),
        Mistake(
            "keys_from_queries",
            _variant(keys=lambda X_query, X_key: X_query),
            what="The keys were made from X_query.",
            why="In self-attention nobody notices, since both are the same. Who asks and who is asked may differ.",
            where="Which X goes into W_K?",
        ),
        Mistake(
            "values_from_queries",
            _variant(values=lambda X_query, X_key: X_query),
            what="The values were made from X_query.",
            why="In self-attention nobody notices. What is looked up belongs to those who are looked at.",
            where="Which X goes into W_V?",
        ),
        Mistake(
            "everything_from_queries",
            _variant(keys=lambda X_query, X_key: X_query, values=lambda X_query, X_key: X_query),
            what="Keys and values were made from X_query: X_key is never used.",
            why="This is self-attention, whatever the second argument is.",
            where="Which X goes into W_K and W_V?",
        ),
        Mistake(
            "queries_from_keys",
            _variant(queries=lambda X_query, X_key: X_key),
            what="The queries were made from X_key.",
            why="The result needs a row for each token of X_query, the ones that ask.",
            where="Which X goes into W_Q?",
        ),
        Mistake(
            "roles_of_X_swapped",
            _variant(
                queries=lambda X_query, X_key: X_key,
                keys=lambda X_query, X_key: X_query,
                values=lambda X_query, X_key: X_query,
            ),
            what="X_query and X_key have changed places.",
            why="The result has a row for each token that was asked, not for each that asks.",
            where="Queries come from X_query; keys and values from X_key.",
        ),
        Mistake(
            "W_K_and_W_V_swapped",
            _variant(weights=lambda W_Q, W_K, W_V, W_O: (W_Q, W_V, W_K, W_O)),
            what="W_K and W_V have changed places.",
            why="Where d_k = d_v no error is raised, and each does the other's work with weights made for its own.",
            where="The three projections, letter by letter.",
        ),
        Mistake(
            "W_Q_and_W_K_swapped",
            _variant(weights=lambda W_Q, W_K, W_V, W_O: (W_K, W_Q, W_V, W_O)),
            what="W_Q and W_K have changed places.",
            why="The shapes always fit; but then who asks does it in the words of who is asked.",
            where="The three projections, letter by letter.",
        ),
        Mistake(
            "W_O_transposed",
            _variant(weights=lambda W_Q, W_K, W_V, W_O: (W_Q, W_K, W_V, W_O.T)),
            what="W_O was transposed.",
            why="A square W_O hides it. In this course a token's row stands left of the matrix: row @ W_O. PyTorch's "
            "`nn.Linear` keeps the transpose.",
            where="The last product.",
        ),
        Mistake(
            "all_matrices_transposed",
            _variant(weights=lambda *W: [matrix.T for matrix in W]),
            what="All four matrices were transposed, as PyTorch's `nn.Linear` keeps them.",
            why="In this course they are (d_model, h · d_k): a token's row stands left of the matrix. Square ones hide "
            "it.",
            where="Every `.T` behind a W.",
        ),
        Mistake(
            "mask_dropped",
            _variant(widen=lambda mask: None),
            what="The mask is never used.",
            why="Then tokens see the future, and padding.",
            where="Which argument does not occur in the body?",
        ),
        Mistake(
            "mask_inverted",
            _variant(widen=lambda mask: ~np.expand_dims(mask, -3)),
            what="The mask was turned round: True was read as hidden.",
            why="In this course True means may attend. PyTorch's `nn.MultiheadAttention` means the opposite.",
            where="Every `~`, `not` and `np.where` that touches the mask.",
        ),
        Mistake(
            "mask_on_the_first_head",
            _variant(attend=_first_head_masked),
            what="The mask reached only the first head.",
            why="One head that sees the future is enough for the token to know it.",
            where="Where the mask goes into the attention: it must hold for every head.",
        ),
        Mistake(
            "mask_meets_heads",
            _variant(widen=lambda mask: mask),
            what="The mask (batch, query, key) went as it is to scores of four axes, (batch, head, query, key).",
            why="NumPy lines axes up from the right: the mask's batch meets the heads. With as many sequences as heads "
            "no error is raised, and head i gets the mask of sequence i.",
            where="The mask needs one more axis, of length one. At which place?",
        ),
        Mistake(
            "mask_after_softmax",
            _variant(attend=_attend(mask_after=True)),
            what="The mask was laid on the weights, after the softmax.",
            why="The hidden keys have taken their share already, so that the weights no longer sum to one (lesson 04).",
            where="The mask belongs between the scores and the softmax; the imported `attention` does it.",
        ),
        Mistake(
            "residual_added",
            _variant(finish=lambda merged, W_O, X_query: X_query + merged @ W_O),
            what="X_query was added to the result.",
            why="That is the residual path of a whole block (lesson 07). Multi-head attention by itself has none.",
            where="The last line.",
        ),
    ),
)

# --- 4. parameters --------------------------------------------------------------------------------------------------


def parameters(d_model, h, d_k, d_v):
    """Return how many numbers W_Q, W_K, W_V and W_O hold together, without biases."""
    return 2 * d_model * h * d_k + 2 * d_model * h * d_v


def _parameters_probes(rng):
    d_model, h, d_k, d_v = distinct_sizes(rng, 4)
    return [
        Probe("a small layer", (4, 2, 3, 5)),
        Probe("the paper's base model", (512, 8, 64, 64)),
        Probe("the same width with one head", (512, 1, 512, 512)),
        Probe("narrow keys, as in Table 3, row B", (512, 8, 16, 64)),
        Probe("other sizes, all different", (d_model, h, d_k, d_v)),
        Probe("one of everything", (1, 1, 1, 1), extreme=True),
    ]


PARAMETERS = Exercise(
    id="multi_head_attention/parameters",
    title="How many numbers does it learn?",
    minutes=5,
    difficulty="easy",
    kind="predict",
    reference=parameters,
    probes=_parameters_probes,
    right_answers={
        "matrix by matrix": lambda d_model, h, d_k, d_v: sum(
            [d_model * h * d_k, d_model * h * d_k, d_model * h * d_v, h * d_v * d_model]
        ),
        "factored": lambda d_model, h, d_k, d_v: 2 * h * d_model * (d_k + d_v),
        "arrays made and measured": lambda d_model, h, d_k, d_v: (
            2 * np.zeros((d_model, h * d_k)).size
            + np.zeros((d_model, h * d_v)).size
            + np.zeros((h * d_v, d_model)).size
        ),
    },
    mistakes=(
        Mistake(
            "no_W_O",
            lambda d_model, h, d_k, d_v: d_model * h * (2 * d_k + d_v),
            what="W_O is not counted.",
            why="It holds as many numbers as W_V.",
            where="There are four matrices.",
        ),
        Mistake(
            "heads_forgotten",
            lambda d_model, h, d_k, d_v: 2 * d_model * (d_k + d_v),
            what="This is the count for one head.",
            why="Each head has its own columns of W_Q, W_K, W_V and its own rows of W_O.",
            where="The argument that does not occur.",
        ),
        Mistake(
            "four_squares",
            lambda d_model, h, d_k, d_v: 4 * d_model**2,
            what="This is 4 · d_model², right only if h · d_k and h · d_v are d_model.",
            why="That is the paper's choice, and no law: row B of its Table 3 varies d_k alone.",
            where="The widths of the four matrices, in h, d_k and d_v.",
        ),
        Mistake(
            "biases_counted",
            lambda d_model, h, d_k, d_v: 2 * d_model * h * (d_k + d_v) + 2 * h * d_k + h * d_v + d_model,
            what="A bias for every output of the four projections is counted as well.",
            why="The paper's formula has four matrices and no biases, though many libraries add them.",
            where="Count products of two sizes only.",
        ),
        Mistake(
            "d_k_for_d_v",
            lambda d_model, h, d_k, d_v: 4 * d_model * h * d_k,
            what="W_V and W_O are counted with d_k.",
            why="Values may have another width than keys.",
            where="Which matrices have to do with values?",
        ),
        Mistake(
            "W_V_as_wide_as_W_Q",
            lambda d_model, h, d_k, d_v: 3 * d_model * h * d_k + d_model * h * d_v,
            what="W_V is counted with d_k, W_O with d_v.",
            why="W_V makes the values, and a head's value has d_v numbers.",
            where="The third matrix.",
        ),
        Mistake(
            "d_k_taken_as_d_model",
            lambda d_model, h, d_k, d_v: 4 * d_model * h * d_model,
            what="Every head is counted with the whole width d_model.",
            why="A head is narrower than a token, which is why h heads cost no more than one.",
            where="The widths of one head: d_k and d_v.",
        ),
        Mistake(
            "square_W_O",
            lambda d_model, h, d_k, d_v: d_model * h * (2 * d_k + d_v) + d_model**2,
            what="W_O is counted as d_model × d_model.",
            why="It goes from the merged heads to the token's width, and the merged heads are h · d_v wide.",
            where="The number of rows of W_O.",
        ),
        Mistake(
            "small_W_O",
            lambda d_model, h, d_k, d_v: d_model * h * (2 * d_k + d_v) + d_v * d_model,
            what="W_O is counted with d_v rows.",
            why="It takes the heads side by side, and so has d_v rows for each of them.",
            where="The number of rows of W_O.",
        ),
        Mistake(
            "one_projection_for_keys_and_values",
            lambda d_model, h, d_k, d_v: d_model * h * (d_k + 2 * d_v),
            what="W_Q or W_K is missing.",
            why="Queries and keys each have a matrix of their own, or every token would look most at its like.",
            where="There are four matrices.",
        ),
    ),
)

# --- 5. mend a leak -------------------------------------------------------------------------------------------------


def causal_heads(X, W_Q, W_K, W_V, W_O, h):
    """Let every token look at itself and at earlier tokens, with h heads."""
    return multi_head_attention(X, X, W_Q, W_K, W_V, W_O, h, causal_mask(X.shape[1]))


def _causal_probes(rng):
    def draw(batch, n, d_model, h, d_k, d_v):
        X, _, *rest = _inputs(rng, batch, n, 1, d_model, h, d_k, d_v)
        return X, *rest

    n, d_model, d_k, d_v = distinct_sizes(rng, 4, low=3)
    return [
        Probe("three tokens, two heads", draw(1, 3, 4, 2, 2, 2)),
        Probe("as many sequences as heads", draw(2, 4, 6, 2, 3, 3)),
        Probe("as many tokens as heads", draw(2, 3, 6, 3, 2, 2)),
        Probe("heads with a width of their own", draw(2, 5, 7, 3, 2, 4)),
        Probe("other sizes, all different", draw(2, n, d_model, 3, d_k, d_v)),
        Probe("one head", draw(2, 4, 5, 1, 3, 2), extreme=True),
        Probe("one token", draw(2, 1, 4, 2, 3, 2), extreme=True),
    ]


def _causal(mask=causal_mask, **parts):
    variant = _variant(**parts)

    def answer(X, W_Q, W_K, W_V, W_O, h):
        return variant(X, X, W_Q, W_K, W_V, W_O, h, mask(X.shape[1]))

    return answer


def _plain_reshape(X):
    return X.reshape(X.shape[0], X.shape[2], X.shape[1] * X.shape[3])


CAUSAL = Exercise(
    id="multi_head_attention/causal_heads",
    title="Find the leak",
    minutes=8,
    difficulty="medium",
    kind="fix",
    reference=causal_heads,
    probes=_causal_probes,
    right_answers={
        "a loop over the heads": lambda X, *rest: _loop_and_concatenate(X, X, *rest, causal_mask(X.shape[1])),
        "what the heads add, summed": lambda X, *rest: _loop_and_sum(X, X, *rest, causal_mask(X.shape[1])),
        "token by token, from its own past": lambda X, W_Q, W_K, W_V, W_O, h: np.stack(
            [multi_head_attention(X[:, [t]], X[:, : t + 1], W_Q, W_K, W_V, W_O, h)[:, 0] for t in range(X.shape[1])],
            axis=1,
        ),
    },
    mistakes=(
        Mistake(
            "not_mended",
            _causal(split=_by_reshape),
            what="This is the leaking function as it was.",
            why="The mask is right, but it is laid on rows that are no tokens: each row of a head holds pieces of "
            "neighbouring tokens, later ones among them.",
            where="Number the entries of a small X, and print what the split makes of it.",
        ),
        Mistake(
            "both_by_reshape",
            _causal(split=_by_reshape, merge=_plain_reshape),
            what="Now split and merge fit each other, and both are wrong.",
            why="Without attention in between they would give back what went in. With it, the mask is still laid on "
            "rows that are no tokens.",
            where="The merge was right. Look at the split by itself.",
        ),
        Mistake(
            "merge_broken",
            _causal(merge=_plain_reshape),
            what="The split is mended, and the merge is broken.",
            why="A row of the result now holds what several tokens found in one head, later ones among them.",
            where="The merge was right as it was.",
        ),
        Mistake(
            "mask_gone",
            _causal(mask=lambda n: np.ones((n, n), dtype=bool)),
            what="The split is mended, and nothing hides the future any more.",
            why="Every token now sees every other.",
            where="The last argument of the attention.",
        ),
        Mistake(
            "mask_turned_round",
            _causal(mask=lambda n: causal_mask(n).T),
            what="The split is mended, and the mask shows the future and hides the past.",
            why="A row of the mask is a query: it may see the columns up to its own.",
            where="Print the mask of three tokens: what may the first see?",
        ),
        Mistake(
            "diagonal_hidden",
            _causal(mask=lambda n: np.tril(np.ones((n, n), dtype=bool), -1)),
            what="The split is mended, and a token no longer sees itself.",
            why="The first token then may look at nothing at all.",
            where="The diagonal of the mask.",
        ),
        Mistake(
            "strided_heads",
            _causal(split=_strided, merge=_strided_merge),
            what="Nothing leaks any more; but head i takes every h-th column, at splitting and at merging.",
            why="Right up to a permutation of the columns: a model trained so learns as well. With given weights it "
            "computes something else.",
            where="The order of the two sizes that replace the last axis at the split.",
        ),
        Mistake(
            "strided_split",
            _causal(split=_strided),
            what="Nothing leaks any more; but at the split head i takes every h-th column.",
            why="A head's projection is a piece of neighbouring columns; these do not belong together.",
            where="The order of the two sizes that replace the last axis at the split.",
        ),
        Mistake(
            "no_W_O",
            _causal(finish=lambda merged, W_O, X_query: merged),
            what="The split is mended, and the last projection is gone.",
            why="The result must be as wide as a token.",
            where="The last line.",
        ),
    ),
)

EXERCISES = (SPLIT, MERGE, MULTI, PARAMETERS, CAUSAL)

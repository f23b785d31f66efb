"""The exercises of the lesson *The encoder-decoder*: probes, references and known mistakes.

Decided here: the smoothing's share is spread over all real words, the right one among them, as in Szegedy et al. 2016.
Whoever spreads it over the wrong words alone passes with a remark; whoever gives padding a share is refused, because a
model would then learn to say it. At step 0 the learning rate has no value: a rate of zero, where the straight line
begins, passes; an error and the rate of step 1 pass with a remark. The masks may come as a list, with a remark.
"""

import math

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, Remark, distinct_sizes
from course_lib.reference.loss import smoothed_loss, smoothed_targets
from course_lib.reference.masks import causal_mask, padding_mask
from course_lib.reference.schedule import noam_rate
from course_lib.reference.transformer import shift_right

# --- 1. shift_right -------------------------------------------------------------------------------------------------


def _shift_probes(rng):
    batch, n = distinct_sizes(rng, 2)
    square = int(rng.integers(3, 6))

    def ids(*shape):
        return rng.integers(4, 30, size=shape)

    return [
        Probe("one target of three tokens", (np.array([[7, 8, 2]]), 1)),
        Probe("two targets, one with padding", (np.array([[7, 8, 9, 2], [5, 2, 0, 0]]), 1)),
        Probe("as many targets as tokens", (ids(square, square), 1)),
        Probe("another begin token", (ids(batch, n), 3)),
        Probe("a begin token that is 0", (ids(2, 5), 0)),
        Probe("targets of one token", (ids(3, 1), 1), extreme=True),
    ]


def _begin_written_over_the_first(target, begin_id):
    read = target.copy()
    read[:, 0] = begin_id
    return read


def _along_the_batch(target, begin_id):
    return np.concatenate([np.full_like(target[:1], begin_id), target[:-1]])


def _by_loops(target, begin_id):
    read = np.empty_like(target)
    for row in range(target.shape[0]):
        for t in range(target.shape[1]):
            read[row, t] = begin_id if t == 0 else target[row, t - 1]
    return read


def _rolled_and_written(target, begin_id):
    read = np.roll(target, 1, axis=1)
    read[:, 0] = begin_id
    return read


def _shifted_left(target, begin_id):
    return np.concatenate([target[:, 1:], np.full_like(target[:, :1], begin_id)], axis=1)


SHIFT = Exercise(
    id="encoder_decoder/shift_right",
    title="What the decoder reads",
    minutes=5,
    difficulty="easy",
    kind="fill",
    reference=shift_right,
    probes=_shift_probes,
    right_answers={
        "loops": _by_loops,
        "rolled, then the first column": _rolled_and_written,
        "padded in front": lambda target, begin_id: np.pad(target, ((0, 0), (1, 0)), constant_values=begin_id)[:, :-1],
        "insert": lambda target, begin_id: np.insert(target, 0, begin_id, axis=1)[:, :-1],
    },
    mistakes=(
        Mistake(
            "not_shifted",
            lambda target, begin_id: target.copy(),
            what="The target comes back as it was.",
            why="The decoder then reads in each row the very token that this row has to predict: it learns to copy, "
            "and when it has to translate there is nothing to copy.",
            where="What may the first row know, before the first token has been said?",
        ),
        Mistake(
            "wrong_way",
            _shifted_left,
            what="The tokens moved one place to the left.",
            why="Each row then reads the token *after* the one that it has to predict: the future, two steps ahead.",
            where="Which end does the begin token belong to?",
        ),
        Mistake(
            "nothing_falls_off",
            lambda target, begin_id: np.insert(target, 0, begin_id, axis=1),
            what="The begin token stands in front, and all the others are still there.",
            why="Then there is a row too many: after the last token nothing is left to predict.",
            where="The last column.",
        ),
        Mistake(
            "last_comes_round",
            lambda target, begin_id: np.roll(target, 1, axis=1),
            what="The last token came in again at the front, as `np.roll` does.",
            why="The decoder then begins with the end of what it has to say, and nothing tells it to begin.",
            where="The first column.",
        ),
        Mistake(
            "begin_written_over_the_first",
            _begin_written_over_the_first,
            what="The begin token was written over the first token, and the others stayed where they were.",
            why="From the second row on the decoder reads the token that it has to predict.",
            where="Where should the first token of the target be now?",
        ),
        Mistake(
            "along_the_batch",
            _along_the_batch,
            what="It was the *rows* that moved: each sentence got the tokens of the one before it.",
            why="The axes are (batch, n); time runs along the second one.",
            where="The axis of `concatenate`, `roll` or `insert`.",
        ),
        Mistake(
            "begin_is_one",
            lambda target, begin_id: shift_right(target, 1),
            what="The begin token is always 1 here.",
            why="Not every vocabulary gives it that number.",
            where="One of the arguments is not used.",
        ),
    ),
)

# --- 2. decoder_masks -----------------------------------------------------------------------------------------------


def decoder_masks(source, read, pad_id):
    """Return who may look at whom in a decoder's self-attention, and in its cross-attention."""
    return causal_mask(read.shape[1]) & padding_mask(read, pad_id), padding_mask(source, pad_id)


def _mask_probes(rng):
    batch, n, m = distinct_sizes(rng, 3, low=3)

    def padded(rows, length, pad_id=0):
        ids = rng.integers(4, 30, size=(rows, length))
        for row in range(1, rows):
            ids[row, length - int(rng.integers(1, length)) :] = pad_id
        return ids

    return [
        Probe("three source tokens, two target tokens", (np.array([[5, 6, 2]]), np.array([[1, 7]]), 0)),
        Probe("two pairs with padding", (np.array([[5, 6, 7], [5, 0, 0]]), np.array([[1, 7, 8, 9], [1, 7, 0, 0]]), 0)),
        Probe("source and target equally long", (padded(3, 4), padded(3, 4), 0)),
        Probe("all sizes different", (padded(batch, m), padded(batch, n), 0)),
        Probe("another id for the padding", (padded(2, 5, 3), padded(2, 4, 3), 3)),
        Probe("padding in front", (np.array([[0, 0, 5, 6]]), np.array([[0, 1, 7]]), 0)),
        Probe("one token each", (np.array([[5]]), np.array([[1]]), 0), extreme=True),
    ]


def _masks_by_loops(source, read, pad_id):
    batch, n = read.shape
    own = np.zeros((batch, n, n), dtype=bool)
    for row in range(batch):
        for query in range(n):
            for key in range(query + 1):
                own[row, query, key] = read[row, key] != pad_id
    return own, np.array([[[token != pad_id for token in ids]] for ids in source])


def _whole_rows(source, read, pad_id):
    own, cross = decoder_masks(source, read, pad_id)
    return own, np.repeat(cross, read.shape[1], axis=1)


def _only_causal(source, read, pad_id):
    return np.repeat(causal_mask(read.shape[1])[None], len(read), axis=0), padding_mask(source, pad_id)


def _with_own(rule):
    """Make an answer whose first mask is `rule(read, pad_id)`, and whose second one is right."""
    return lambda source, read, pad_id: (rule(read, pad_id), padding_mask(source, pad_id))


def _past(read):
    return np.tri(read.shape[1], dtype=bool)


def _causal_memory(source, read, pad_id):
    own, cross = decoder_masks(source, read, pad_id)
    return own, cross & np.tri(read.shape[1], source.shape[1], dtype=bool)


MASKS = Exercise(
    id="encoder_decoder/decoder_masks",
    title="The decoder's two masks",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=decoder_masks,
    probes=_mask_probes,
    right_answers={
        "loops": _masks_by_loops,
        "multiplied": lambda source, read, pad_id: (
            np.tri(read.shape[1], dtype=bool) * (read != pad_id)[:, None],
            (source != pad_id)[:, None],
        ),
    },
    remarks=(
        Remark(
            "a_row_for_each_query",
            _whole_rows,
            "Your cross-attention mask has a row for each query, all of them alike. That is right; an axis of length "
            "one says the same, and broadcasting does the rest.",
        ),
        Remark(
            "a_list",
            lambda *args: list(decoder_masks(*args)),
            "Both masks are right. You return them in a list; a tuple, `return a, b`, is what Python has for a fixed "
            "number of things, each with a meaning of its own.",
        ),
    ),
    mistakes=(
        Mistake(
            "memory_mask_from_the_target",
            lambda source, read, pad_id: (decoder_masks(source, read, pad_id)[0], padding_mask(read, pad_id)),
            what="The mask for cross-attention was made of the target's ids.",
            why="In cross-attention the keys come from the source. If both are equally long no error is raised: words "
            "of the source are hidden and its padding is read.",
            where="A mask hides keys. Whose are the keys there?",
        ),
        Mistake(
            "swapped",
            lambda source, read, pad_id: decoder_masks(source, read, pad_id)[::-1],
            what="Both masks are right, in the other order.",
            why="Whoever takes them apart gives each attention the mask of the other.",
            where="The `return`: self-attention first.",
        ),
        Mistake(
            "source_and_target_swapped",
            lambda source, read, pad_id: decoder_masks(read, source, pad_id),
            what="The source got the causal mask and the target the plain one.",
            why="The source is known from the beginning; it is the target that is said one token at a time.",
            where="Which of the two must not look ahead?",
        ),
        Mistake(
            "causal_memory",
            _causal_memory,
            what="The mask for cross-attention is causal too.",
            why="The first word of a translation may well depend on the last word of the source.",
            where="Nothing of the source lies in the future.",
        ),
        Mistake(
            "or_for_and",
            lambda source, read, pad_id: (
                causal_mask(read.shape[1]) | padding_mask(read, pad_id),
                padding_mask(source, pad_id),
            ),
            what="In the first mask it is enough if *one* of the two rules allows a look.",
            why="Real words of the future may then be looked at.",
            where="A look must be allowed by both.",
        ),
        Mistake(
            "only_causal",
            _only_causal,
            what="The first mask is the causal one alone.",
            why="With padding behind that does no harm to real words; with padding in front they look at it.",
            where="The target's ids are not used, only their shape.",
        ),
        Mistake(
            "only_padding",
            lambda source, read, pad_id: (
                np.repeat(padding_mask(read, pad_id), read.shape[1], axis=1),
                padding_mask(source, pad_id),
            ),
            what="The first mask hides the padding and not the future.",
            why="Each row then sees the word that it has to predict, one place to the right.",
            where="Lesson 04 had two masks.",
        ),
        Mistake(
            "future_for_past",
            _with_own(
                lambda read, pad_id: np.triu(np.ones((read.shape[1],) * 2, dtype=bool)) & (read != pad_id)[:, None]
            ),
            what="In the first mask each position may look at itself and at those *after* it.",
            why="It is the past that is known; what comes after is still to be said.",
            where="The upper triangle or the lower one? Rows are queries, columns are keys.",
        ),
        Mistake(
            "padding_hides_queries",
            _with_own(lambda read, pad_id: _past(read) & (read != pad_id)[:, :, None]),
            what="In the first mask padding hides the *queries*: its rows are empty, and its columns are open.",
            why="Real words may then look at padding, if it stands in front of them, and the rows of the padding have "
            "nothing to look at: a softmax over nothing gives NaN.",
            where="The axes are (batch, query, key). Along which one does the padding lie?",
        ),
        Mistake(
            "padding_hides_queries_in_both",
            lambda source, read, pad_id: (
                _past(read) & (read != pad_id)[:, :, None],
                (source != pad_id)[:, :, None],
            ),
            what="In both masks the ids lie along the axis of the queries.",
            why="A mask hides keys: real words may here look at padding, and the second mask does not even fit.",
            where="The axes are (batch, query, key). Where does the axis of length one belong?",
        ),
        Mistake(
            "padding_hides_queries_too",
            _with_own(
                lambda read, pad_id: _past(read) & (read != pad_id)[:, None] & (read != pad_id)[:, :, None],
            ),
            what="In the first mask padding is hidden as a key, and its own rows are empty too.",
            why="A softmax over a row with nothing in it gives NaN. What padding finds is nobody's business: the loss "
            "leaves it out.",
            where="A mask hides keys, and nothing else.",
        ),
        Mistake(
            "axis_missing",
            lambda source, read, pad_id: (decoder_masks(source, read, pad_id)[0], source != pad_id),
            what="The second mask has the shape (batch, n_source): the axis for the queries is missing.",
            why="Broadcasting lines shapes up from the right: the batch would be taken for the queries.",
            where="The shape that is asked for has three axes, and one of them has length one.",
        ),
        Mistake(
            "axis_missing_in_both",
            lambda source, read, pad_id: (_past(read) & (read != pad_id), source != pad_id),
            what="The ids are compared, and the axis for the queries is missing, in both masks.",
            why="Broadcasting lines shapes up from the right: the batch is taken for the queries. With one sentence, "
            "or as many as it has words, no error is raised.",
            where="The shapes that are asked for have three axes each.",
        ),
        Mistake(
            "polarity",
            lambda source, read, pad_id: tuple(~mask for mask in decoder_masks(source, read, pad_id)),
            what="True stands where one may *not* attend.",
            why='Here True means "may attend".',
            where="A `~` too many, or comparisons the wrong way round.",
        ),
        Mistake(
            "diagonal_hidden",
            lambda source, read, pad_id: (
                np.tri(read.shape[1], k=-1, dtype=bool) & padding_mask(read, pad_id),
                padding_mask(source, pad_id),
            ),
            what="No position of the target may look at itself.",
            why="The target is shifted already: what stands at a position is known. The first row would have nothing.",
            where="The diagonal.",
        ),
        Mistake(
            "zero_assumed",
            lambda source, read, pad_id: decoder_masks(source, read, 0),
            what="The ids are compared with 0, not with `pad_id`.",
            why="Not every vocabulary gives its padding the number 0.",
            where="One of the arguments is not used.",
        ),
    ),
)

# --- 3. decoder_layer -----------------------------------------------------------------------------------------------
# Parts to be wired: each does something of its own, so that no two wirings come to the same.


def attend(queries, keys):
    """Self-attention, with weights and mask already in it: functions of where queries and keys come from."""
    return np.tanh(0.7 * queries) + 0.3 * keys[:, :1]


def look(queries, keys):
    """Cross-attention: a lookup of each query in the keys."""
    scores = queries @ keys.swapaxes(1, 2)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return 2 * (weights / weights.sum(axis=-1, keepdims=True)) @ keys


def feed_forward(x):
    """A feed-forward layer."""
    return np.maximum(0, x + 0.25) * 1.5


def norm_1(x):
    """Stand in for the first LayerNorm."""
    return 0.9 * (x - x.mean(axis=-1, keepdims=True))


def norm_2(x):
    """Stand in for the second LayerNorm."""
    return 0.8 * x + 0.1


def norm_3(x):
    """Stand in for the third LayerNorm."""
    return np.tanh(x) + 0.2


PARTS = (attend, look, feed_forward, norm_1, norm_2, norm_3)


def decoder_layer(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    """Wire the paper's decoder layer: three sub-layers, each LayerNorm(x + Sublayer(x))."""
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(x, memory))
    return norm_3(x + feed_forward(x))


def _layer_probes(rng):
    batch, target, source, d_model = distinct_sizes(rng, 4)

    def tokens(*shape):
        return rng.normal(size=shape).round(2)

    return [
        Probe("two target tokens and two of the source", (tokens(1, 2, 2), tokens(1, 2, 2), *PARTS)),
        Probe("equally long", (tokens(2, 4, 3), tokens(2, 4, 3), *PARTS)),
        Probe("a longer source", (tokens(1, 2, 3), tokens(1, 5, 3), *PARTS)),
        Probe("all sizes different", (tokens(batch, target, d_model), tokens(batch, source, d_model), *PARTS)),
        Probe("one token of the source", (tokens(2, 3, 4), tokens(2, 1, 4), *PARTS)),
    ]


def _wired(x, memory, attend, look, feed_forward, norms):
    x = norms[0](x + attend(x, x))
    x = norms[1](x + look(x, memory))
    return norms[2](x + feed_forward(x))


def _step_by_step(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    after_attention = norm_1(np.add(attend(x, x), x))
    found = look(after_attention, memory)
    after_look = norm_2(found + after_attention)
    return norm_3(feed_forward(after_look) + after_look)


def _queries_from_memory(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(memory, x))
    return norm_3(x + feed_forward(x))


def _keys_from_target(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(x, x))
    return norm_3(x + feed_forward(x))


def _memory_looks_at_itself(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(memory, memory))
    return norm_3(x + feed_forward(x))


def _memory_in_self_attention(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, memory))
    x = norm_2(x + look(x, memory))
    return norm_3(x + feed_forward(x))


def _memory_normalised(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(x, norm_2(memory)))
    return norm_3(x + feed_forward(x))


def _look_first(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + look(x, memory))
    x = norm_2(x + attend(x, x))
    return norm_3(x + feed_forward(x))


def _both_at_once(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    own = norm_1(x + attend(x, x))
    x = norm_2(own + look(x, memory))
    return norm_3(x + feed_forward(x))


def _pre_ln(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    normal = norm_1(x)
    x = x + attend(normal, normal)
    x = x + look(norm_2(x), memory)
    return x + feed_forward(norm_3(x))


def _no_residual_path(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    return norm_3(feed_forward(norm_2(look(norm_1(attend(x, x)), memory))))


def _no_residual_at_the_look(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(look(x, memory))
    return norm_3(x + feed_forward(x))


def _residual_from_the_start(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    own = norm_1(x + attend(x, x))
    found = norm_2(x + look(own, memory))
    return norm_3(x + feed_forward(found))


def _norm_before_the_sum(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = x + norm_1(attend(x, x))
    x = x + norm_2(look(x, memory))
    return x + norm_3(feed_forward(x))


def _one_norm(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    return _wired(x, memory, attend, look, feed_forward, (norm_1,) * 3)


def _no_look(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    return norm_3(x + feed_forward(x))


def _last_norm_missing(x, memory, attend, look, feed_forward, norm_1, norm_2, norm_3):
    x = norm_1(x + attend(x, x))
    x = norm_2(x + look(x, memory))
    return x + feed_forward(x)


LAYER = Exercise(
    id="encoder_decoder/decoder_layer",
    title="Wire a decoder layer",
    minutes=10,
    difficulty="medium",
    kind="fill",
    reference=decoder_layer,
    probes=_layer_probes,
    right_answers={
        "a name a step": _step_by_step,
        "a loop": lambda x, memory, attend, look, feed_forward, *norms: _wired(
            x, memory, attend, look, feed_forward, norms
        ),
    },
    mistakes=(
        Mistake(
            "queries_from_memory",
            _queries_from_memory,
            what="In cross-attention the memory asks, and the target is looked up.",
            why="The result then has a row for each word of the *source*. If both are equally long no error is raised.",
            where="Who wants to know something there: the decoder, or the source?",
        ),
        Mistake(
            "keys_from_target",
            _keys_from_target,
            what="The cross-attention looks at the target again.",
            why="The memory is never read: the decoder says something fluent that has nothing to do with the source.",
            where="Is `memory` used everywhere it should be?",
        ),
        Mistake(
            "memory_looks_at_itself",
            _memory_looks_at_itself,
            what="In cross-attention the memory asks the memory.",
            why="What is added has a row for each word of the *source*, and the target has asked nothing. If both are "
            "equally long no error is raised.",
            where="Who wants to know something there? It gives the queries.",
        ),
        Mistake(
            "no_look",
            _no_look,
            what="There are two sub-layers, as in the encoder; the cross-attention is missing.",
            why="The memory is never read: the decoder says something fluent that has nothing to do with the source.",
            where="Two of the functions are not used.",
        ),
        Mistake(
            "memory_in_self_attention",
            _memory_in_self_attention,
            what="The first attention looks at the memory too.",
            why="The decoder then never looks at what it has said so far, and does not know where it is.",
            where="The first sub-layer is *self*-attention.",
        ),
        Mistake(
            "look_first",
            _look_first,
            what="Cross-attention comes first, and self-attention after it.",
            why="It can work, but it is not the paper's model, and weights that were trained in one order are "
            "worthless in the other.",
            where="The right tower of figure 1, from below.",
        ),
        Mistake(
            "look_asks_with_the_layers_input",
            _both_at_once,
            what="The cross-attention asks with what came into the layer, not with what self-attention made of it.",
            why="The decoder asks before it has looked at what it has said so far.",
            where="Which `x` goes into `look`?",
        ),
        Mistake(
            "memory_normalised",
            _memory_normalised,
            what="The memory was normalised again on its way in.",
            why="It comes out of the encoder as it should be, and is the same for every decoder layer.",
            where="What goes into `look` as keys?",
        ),
        Mistake(
            "pre_ln",
            _pre_ln,
            what="This is today's order: a LayerNorm before each sub-layer.",
            why="It is a good one (lesson 07), but the paper's, and this exercise's, is LayerNorm(x + Sublayer(x)).",
            where="Each norm belongs after its sum.",
        ),
        Mistake(
            "norm_before_the_sum",
            _norm_before_the_sum,
            what="Each sub-layer's output was normalised, and then added.",
            why="Then nothing normalises the sum, and it grows from layer to layer.",
            where="LayerNorm(x + Sublayer(x)): what stands inside the brackets?",
        ),
        Mistake(
            "no_residual_path",
            _no_residual_path,
            what="The sub-layers follow one another, and nothing is added.",
            why="Without the residual path tokens become alike with depth (lesson 07).",
            where="LayerNorm(x + Sublayer(x)): the first x.",
        ),
        Mistake(
            "no_residual_at_the_look",
            _no_residual_at_the_look,
            what="The cross-attention has no residual path.",
            why="What the decoder has said so far is thrown away there, and only what was found in the source is left.",
            where="The second of the three sums.",
        ),
        Mistake(
            "residual_from_the_start",
            _residual_from_the_start,
            what="It is always the layer's *input* that is added.",
            why="Each sum should carry on from the one before; here the first two sub-layers are half forgotten.",
            where="Which x is added in the second and in the third sum?",
        ),
        Mistake(
            "one_norm",
            _one_norm,
            what="One LayerNorm serves all three sub-layers.",
            why="Each has a gain and a bias of its own, which are learned.",
            where="Two of the functions are not used.",
        ),
        Mistake(
            "last_norm_missing",
            _last_norm_missing,
            what="The last sum is not normalised.",
            why="In the paper's order every sub-layer ends on its LayerNorm, the last one too.",
            where="The `return`.",
        ),
    ),
)

# --- 4. learning_rate -----------------------------------------------------------------------------------------------


def learning_rate(step, d_model, warmup):
    """Return the paper's learning rate; steps are counted from 1, and where step 0 would be the line begins with 0."""
    return noam_rate(step, d_model, warmup) if step else 0.0


def _rate_probes(rng):
    warmup = int(rng.integers(50, 900))
    return [
        Probe("four steps of warm-up, at its end", (4, 4, 4)),
        Probe("in the warm-up", (2, 4, 4)),
        Probe("after it", (16, 4, 4)),
        Probe("the paper's base model at its peak", (4000, 512, 4000)),
        Probe("the big model at its end", (300_000, 1024, 4000)),
        Probe("drawn, early", (warmup // 3, 256, warmup)),
        Probe("drawn, late", (warmup * 5, 48, warmup)),
        Probe("the first step", (1, 4, 9)),
        Probe("step 0 (an error and the rate of step 1 are right there too)", (0, 4, 9), extreme=True),
    ]


def _rate(step, d_model, warmup, choose=min, width=-0.5, rise=-1.5):
    return d_model**width * choose(step**-0.5, step * warmup**rise)


AT_STEP_0 = "Raise an error at step 0, or return 0 or the rate of step 1 there. Everything else is right."


def _rate_or(at_step_0):
    return lambda step, d_model, warmup: _rate(step, d_model, warmup) if step else at_step_0


def _rate_by_cases(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    return peak * step / warmup if step < warmup else peak * math.sqrt(warmup / step)


RATE = Exercise(
    id="encoder_decoder/learning_rate",
    title="The paper's learning rate",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=learning_rate,
    probes=_rate_probes,
    right_answers={
        "by cases": _rate_by_cases,
        "in NumPy, where one over zero is infinite": lambda step, d_model, warmup: (
            min(1 / np.sqrt(step), step / warmup / math.sqrt(warmup)) / math.sqrt(d_model)
        ),
    },
    remarks=(
        Remark(
            "error_at_step_0",
            _rate,
            "At step 0 your function raises an error, and so does course_lib's: nobody counts from 0 unawares. To "
            "return 0 there, or the rate of step 1, would have been right as well.",
        ),
        Remark(
            "step_0_is_step_1",
            lambda step, d_model, warmup: _rate(max(step, 1), d_model, warmup),
            "At step 0 you return the rate of step 1. Many libraries do so, as their schedulers begin with 0; then the "
            "first two steps have the same rate, which does no harm. course_lib raises an error.",
        ),
    ),
    mistakes=(
        Mistake(
            "max_for_min",
            lambda step, d_model, warmup: _rate(step, d_model, warmup, choose=max),
            what="The larger of the two arms was taken.",
            why="Then the rate starts enormous and, after the warm-up, grows without end.",
            where="At step 1 one arm is 1 and the other next to nothing. Which do you want there?",
        ),
        Mistake(
            "width_missing",
            lambda step, d_model, warmup: _rate(step, d_model, warmup, width=0),
            what="The factor d_model^−0.5 is missing.",
            why="At d_model = 512 the rate is 22.6 times as large as the paper's, and at 1024 it is 32 times as large.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "width_multiplied",
            lambda step, d_model, warmup: _rate(step, d_model, warmup, width=0.5),
            what="The rate was multiplied by √d_model.",
            why="Wider models want smaller steps; at 512 this one is 512 times too large.",
            where="The sign of the exponent.",
        ),
        Mistake(
            "width_undone",
            lambda step, d_model, warmup: _rate(step, d_model, warmup, width=-1),
            what="The rate was divided by d_model, not by its root.",
            why="At 512 it is 22.6 times too small.",
            where="The exponent of d_model.",
        ),
        Mistake(
            "rise_with_half",
            lambda step, d_model, warmup: _rate(step, d_model, warmup, rise=-0.5),
            what="The rising arm has warmup^−0.5.",
            why="The two arms must meet at step = warmup, and there they do not.",
            where="Put step = warmup into both arms: what must the exponent be?",
        ),
        Mistake(
            "only_the_fall",
            lambda step, d_model, warmup: (d_model * step) ** -0.5,
            what="There is no warm-up: the rate falls from the first step on.",
            why="The first steps, when Adam knows least about the gradients, are then the largest.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "only_the_rise",
            lambda step, d_model, warmup: d_model**-0.5 * step * warmup**-1.5,
            what="The rate rises for ever.",
            why="After the warm-up it should fall with the root of the step.",
            where="The formula has two arms.",
        ),
        Mistake(
            "no_fall",
            lambda step, d_model, warmup: _rate(min(step, warmup), d_model, warmup),
            what="The rate rises and then stays at its peak.",
            why="The paper's falls again, with the inverse root of the step.",
            where="The other arm.",
        ),
        Mistake(
            "counted_from_zero",
            lambda step, d_model, warmup: _rate(step + 1, d_model, warmup),
            what="The steps were taken as counted from 0: there is a `step + 1`.",
            why="Here the first step is step 1; the peak would come one step early.",
            where="What is the rate at step = warmup?",
        ),
        Mistake(
            "warmup_ignored",
            lambda step, d_model, warmup: _rate(step, d_model, 4000),
            what="The warm-up is always 4000 steps long.",
            why="That is the paper's number. A run of a thousand steps would end in the middle of it.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "width_in_the_fall_alone",
            lambda step, d_model, warmup: min((d_model * step) ** -0.5, step * warmup**-1.5),
            what="The factor d_model^−0.5 is in the falling arm only.",
            why="The arms then meet long before step = warmup, and the rise is too steep.",
            where="A pair of brackets: the factor stands before the choice, and is for both arms.",
        ),
        Mistake(
            "width_in_the_rise_alone",
            lambda step, d_model, warmup: min(step**-0.5, d_model**-0.5 * step * warmup**-1.5),
            what="The factor d_model^−0.5 is in the rising arm only.",
            why="The rate goes on rising after the warm-up, to a far higher peak.",
            where="The factor stands before the choice, and is for both arms.",
        ),
        Mistake(
            "power_of_the_product",
            lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, (step * warmup) ** -1.5),
            what="In the second arm the power is taken of step · warmup, not of warmup alone.",
            why="That arm then falls, from the first step on, and faster than the other one.",
            where="A power binds more tightly than a product: which brackets are too many?",
        ),
        Mistake(
            "nan_at_step_0",
            _rate_or(float("nan")),
            what="At step 0 you return NaN.",
            why="A rate of NaN makes every weight NaN in one step, and no error is raised.",
            where=AT_STEP_0,
        ),
        Mistake(
            "infinite_at_step_0",
            _rate_or(float("inf")),
            what="At step 0 you return infinity.",
            why="The falling arm is infinite there, but the smaller of the two counts. One such step ends it all.",
            where=AT_STEP_0,
        ),
        Mistake(
            "one_at_step_0",
            _rate_or(1.0),
            what="At step 0 you return 1.",
            why="The base model's rate is 0.0007 at its peak: a step more than a thousand times as long undoes all.",
            where=AT_STEP_0,
        ),
        Mistake(
            "none_at_step_0",
            _rate_or(None),
            what="At step 0 you return `None`, or end without `return`.",
            why="Whoever multiplies by the rate gets an error, in another place and without a word about the step.",
            where=AT_STEP_0,
        ),
    ),
)

# --- 5. smoothed_loss -----------------------------------------------------------------------------------------------


def _loss_probes(rng):
    tokens, vocabulary = distinct_sizes(rng, 2, low=4, high=9)

    def targets(count, words, pads, pad_id=0):
        ids = rng.choice([word for word in range(words) if word != pad_id], size=count)
        ids[count - pads :] = pad_id
        return ids

    def logits(*shape):
        return rng.normal(size=shape).round(2) * 2

    return [
        Probe("one token, no smoothing", (np.array([[0.0, 2.0, 1.0]]), np.array([1]), 0.0, 0)),
        Probe("one token, smoothed", (np.array([[0.0, 2.0, 1.0, -1.0]]), np.array([1]), 0.2, 0)),
        Probe("two tokens and a padding", (logits(3, 5), targets(3, 5, 1), 0.1, 0)),
        Probe("much padding", (logits(8, 6), targets(8, 6, 5), 0.1, 0)),
        Probe("no padding, all sizes different", (logits(tokens, vocabulary), targets(tokens, vocabulary, 0), 0.3, 0)),
        Probe("another id for the padding", (logits(6, 7), targets(6, 7, 2, pad_id=3), 0.1, 3)),
        Probe("padding that the model predicts well", (logits(4, 4) + 6 * np.eye(4)[0], targets(4, 4, 2), 0.1, 0)),
        Probe("logits of a thousand", (np.array([[0.0, 1000.0, -1000.0]]), np.array([1]), 0.1, 0), extreme=True),
    ]


def _log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _cross_entropies(logits, targets, smoothing, pad_id):
    """One number a token; padding gets one too."""
    return -(smoothed_targets(targets, logits.shape[1], smoothing, pad_id) * _log_softmax(logits)).sum(axis=1)


def _loss_by_loops(logits, targets, smoothing, pad_id):
    losses = []
    for row, right in zip(logits, targets, strict=True):
        if right != pad_id:
            log_p = row - row.max() - np.log(sum(np.exp(x - row.max()) for x in row))
            real = [word for word in range(len(row)) if word != pad_id]
            spread = sum(log_p[word] for word in real) / len(real)
            losses.append(-(1 - smoothing) * log_p[right] - smoothing * spread)
    return sum(losses) / len(losses)


def _loss_with(wanted, mean_over=None, logarithm=_log_softmax):
    """Make a loss of `wanted(targets, vocabulary, smoothing, pad_id)`."""

    def answer(logits, targets, smoothing, pad_id):
        losses = -(wanted(targets, logits.shape[1], smoothing, pad_id) * logarithm(logits)).sum(axis=1)
        return float(losses[targets != pad_id].mean())

    return answer


def _share_for_padding(targets, vocabulary, smoothing, pad_id):
    return smoothing / vocabulary + (1 - smoothing) * np.eye(vocabulary)[targets]


def _wrong_words_alone(targets, vocabulary, smoothing, pad_id):
    wanted = np.full((len(targets), vocabulary), smoothing / (vocabulary - 2))
    wanted[:, pad_id] = 0
    wanted[np.arange(len(targets)), targets] = 1 - smoothing
    return wanted


def _padding_among_the_wrong_words(targets, vocabulary, smoothing, pad_id):
    wanted = np.full((len(targets), vocabulary), smoothing / (vocabulary - 1))
    wanted[np.arange(len(targets)), targets] = 1 - smoothing
    return wanted


def _not_one_in_sum(targets, vocabulary, smoothing, pad_id):
    wanted = np.full((len(targets), vocabulary), smoothing / (vocabulary - 1))
    wanted[:, pad_id] = 0
    wanted[np.arange(len(targets)), targets] = 1 - smoothing
    return wanted


def _padding_not_emptied(targets, vocabulary, smoothing, pad_id):
    return smoothing / (vocabulary - 1) + (1 - smoothing) * np.eye(vocabulary)[targets]


def _too_much(targets, vocabulary, smoothing, pad_id):
    return smoothed_targets(targets, vocabulary, smoothing, pad_id) + smoothing * np.eye(vocabulary)[targets]


def _twice(logits):
    return _log_softmax(np.exp(_log_softmax(logits)))


def _overflowing(logits):
    return np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))


def _kl(logits, targets, smoothing, pad_id):
    wanted = smoothed_targets(targets, logits.shape[1], smoothing, pad_id)[targets != pad_id]
    entropy = -(wanted * np.log(np.where(wanted > 0, wanted, 1))).sum(axis=1).mean()
    return smoothed_loss(logits, targets, smoothing, pad_id) - float(entropy)


def _mean_over_all_positions(logits, targets, smoothing, pad_id):
    losses = _cross_entropies(logits, targets, smoothing, pad_id)
    return float(np.where(targets != pad_id, losses, 0).mean())


def _summed(logits, targets, smoothing, pad_id):
    return float(_cross_entropies(logits, targets, smoothing, pad_id)[targets != pad_id].sum())


LOSS = Exercise(
    id="encoder_decoder/smoothed_loss",
    title="The loss, smoothed and without padding",
    minutes=14,
    difficulty="hard",
    kind="fill",
    reference=smoothed_loss,
    probes=_loss_probes,
    right_answers={
        "loops": _loss_by_loops,
        "weighted by ones and zeros": lambda logits, targets, smoothing, pad_id: float(
            np.average(_cross_entropies(logits, targets, smoothing, pad_id), weights=targets != pad_id)
        ),
    },
    remarks=(
        Remark(
            "spread_over_the_wrong_words",
            _loss_with(_wrong_words_alone),
            "You give ε to the wrong words alone, so that the right one keeps 1 − ε. That is another way to read "
            '"smoothing", and some libraries do it; ours, after Szegedy et al., spreads ε over all real words.',
        ),
    ),
    mistakes=(
        Mistake(
            "padding_counted",
            lambda logits, targets, smoothing, pad_id: float(
                -(_share_for_padding(targets, logits.shape[1], smoothing, pad_id) * _log_softmax(logits))
                .sum(axis=1)
                .mean()
            ),
            what="Padding is learned like a word: it has a loss, and a share of the smoothing.",
            why="A model that says nothing but padding then looks good, in a batch that is half padding.",
            where="`pad_id` is not used.",
        ),
        Mistake(
            "padding_in_the_loss",
            lambda logits, targets, smoothing, pad_id: float(
                _cross_entropies(logits, targets, smoothing, pad_id).mean()
            ),
            what="The positions that are padding have a loss too.",
            why="Nobody reads them. The model spends its effort on filling up rectangles.",
            where="The mean at the end: over which positions?",
        ),
        Mistake(
            "mean_over_all_positions",
            _mean_over_all_positions,
            what="Padding adds nothing to the sum, but the sum was divided by *all* positions.",
            why="The more padding a batch has, the smaller its loss and its gradient, whatever the model says.",
            where="Divide by the number of what?",
        ),
        Mistake(
            "smoothing_on_padding",
            _loss_with(_share_for_padding),
            what="Padding gets its share of the smoothing, as one word among the others (ε / vocabulary each).",
            why="The model is told that padding might always be right. PyTorch's own `label_smoothing` does this.",
            where="How many words are real?",
        ),
        Mistake(
            "padding_among_the_wrong_words",
            _loss_with(_padding_among_the_wrong_words),
            what="ε was spread over all words but the right one, and padding is among them.",
            why="The model is told that padding might always be right.",
            where="What share does `pad_id` get?",
        ),
        Mistake(
            "padding_not_emptied",
            _loss_with(_padding_not_emptied),
            what="ε was divided by the number of the real words, and padding got such a share all the same.",
            why="The model is told that padding might always be right, and the shares add up to more than 1.",
            where="What share does `pad_id` get? Print the wanted shares of one token.",
        ),
        Mistake(
            "not_one_in_sum",
            _loss_with(_not_one_in_sum),
            what="The shares do not add up to 1: the right word has 1 − ε, without its part of what is spread.",
            why="A loss against shares that are no probabilities has its minimum in the wrong place.",
            where="Print the wanted shares of one token, and their sum.",
        ),
        Mistake(
            "more_than_one_in_sum",
            _loss_with(_too_much),
            what="The right word kept all of its 1, and the spread was added to it.",
            why="The shares add up to 1 + ε.",
            where="What is spread has to be taken from somebody.",
        ),
        Mistake(
            "smoothing_and_rest_swapped",
            lambda logits, targets, smoothing, pad_id: smoothed_loss(logits, targets, 1 - smoothing, pad_id),
            what="ε went to the right word and 1 − ε was spread.",
            why="The model learns to be as unsure as it can.",
            where="ε is what is taken away: a tenth.",
        ),
        Mistake(
            "not_smoothed",
            lambda logits, targets, smoothing, pad_id: smoothed_loss(logits, targets, 0.0, pad_id),
            what="This is the plain cross-entropy.",
            why="It never lets go: the right word's logit is pushed up for ever.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "softmax_twice",
            _loss_with(smoothed_targets, logarithm=_twice),
            what="The softmax was applied twice: the log-softmax got probabilities, not logits.",
            why="Probabilities lie between 0 and 1, so the second softmax can hardly prefer anything: the loss never "
            "gets near its floor. It is what happens if the model ends on a softmax and the loss has one too.",
            where="What goes into the last logarithm?",
        ),
        Mistake(
            "logarithm_missing",
            _loss_with(smoothed_targets, logarithm=lambda logits: np.exp(_log_softmax(logits))),
            what="The probabilities were weighted, not their logarithms.",
            why="Cross-entropy is a mean of −log p. Without the logarithm no error ever costs more than 1.",
            where="The formula: a sum of shares times … of probabilities.",
        ),
        Mistake(
            "logits_for_logarithms",
            _loss_with(smoothed_targets, logarithm=lambda logits: logits),
            what="The logits themselves were weighted; no softmax is in it.",
            why="Then the loss falls for ever if all logits rise together.",
            where="From logits to logarithms of probabilities there is one step.",
        ),
        Mistake(
            "sign",
            lambda logits, targets, smoothing, pad_id: -smoothed_loss(logits, targets, smoothing, pad_id),
            what="The sign is missing.",
            why="Logarithms of probabilities are negative, and a loss is to be made small.",
            where="The `return`.",
        ),
        Mistake(
            "summed",
            _summed,
            what="The losses were added up, not averaged.",
            why="A batch of twice as many tokens then has twice the loss and twice the gradient.",
            where="The last step.",
        ),
        Mistake(
            "mean_over_the_vocabulary_too",
            lambda logits, targets, smoothing, pad_id: (
                smoothed_loss(logits, targets, smoothing, pad_id) / logits.shape[1]
            ),
            what="The mean runs over the words of the vocabulary too.",
            why="Cross-entropy is a *sum* over the words and a mean over the tokens. This one, and its gradient, "
            "become smaller with every word that the vocabulary has.",
            where="Which axis is summed, and which is averaged?",
        ),
        Mistake(
            "kl_divergence",
            _kl,
            what="The entropy of the wanted shares was taken off: this is the Kullback-Leibler divergence.",
            why="Its gradient is the same and its floor is 0, which is handy. But it is no cross-entropy, and two "
            "curves of the two kinds cannot be compared.",
            where="Leave the logarithms of the wanted shares out.",
        ),
        Mistake(
            "zero_assumed",
            lambda logits, targets, smoothing, pad_id: smoothed_loss(logits, targets, smoothing, 0),
            what="The padding is taken to be 0.",
            why="Not every vocabulary gives it that number.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "overflow",
            _loss_with(smoothed_targets, logarithm=_overflowing),
            what="The exponentials overflow, or their logarithm becomes −∞.",
            why="Logits of a thousand occur, and a loss that is NaN or infinite once ends the training.",
            where="Lesson 00: which number may be taken from all logits of a token? And do not take the logarithm of "
            "what has been rounded to zero.",
        ),
    ),
)

# --- 6. parameters --------------------------------------------------------------------------------------------------


def parameters(N, d_model, d_ff, h, d_k, d_v, vocabulary):
    """Count the numbers that the paper's model learns."""
    attention = d_model * h * (2 * d_k + 2 * d_v)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norm = 2 * d_model
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    return N * (encoder_layer + decoder_layer) + vocabulary * d_model


def _count_probes(rng):
    d_model, d_ff, d_k, d_v = distinct_sizes(rng, 4, low=5, high=40)
    return [
        Probe("everything is one", (1, 1, 1, 1, 1, 1, 1)),
        Probe("no layer at all: the embedding", (0, 8, 16, 2, 4, 4, 10)),
        Probe("one layer, no words", (1, 4, 10, 2, 2, 2, 0)),
        Probe("a small model", (2, 8, 20, 2, 4, 4, 30)),
        Probe("d_k and d_v differ", (2, d_model, d_ff, 3, d_k, d_v, 50)),
        Probe("heads that do not add up to the width", (2, 10, 20, 3, 4, 5, 7)),
        Probe("row B of table 3", (6, 512, 2048, 8, 16, 64, 37_000)),
        Probe("the base model", (6, 512, 2048, 8, 64, 64, 37_000)),
        Probe("the big model", (6, 1024, 4096, 16, 64, 64, 37_000)),
    ]


def _count(
    N, d_model, d_ff, h, d_k, d_v, vocabulary, *, attentions=3, norms=5, ff_bias=1, bias=0, tables=1, layers=2, last=0
):
    """Count with variations: what each layer has, how many tables of words, what stands at the end."""
    attention = d_model * h * 2 * (d_k + d_v) + bias * (h * (2 * d_k + d_v) + d_model)
    feed_forward = 2 * d_model * d_ff + ff_bias * (d_ff + d_model)
    return N * (attentions * attention + layers * feed_forward + norms * 2 * d_model) + (
        tables * vocabulary * d_model + last
    )


def _counted(**changes):
    return lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: _count(
        N, d_model, d_ff, h, d_k, d_v, vocabulary, **changes
    )


COUNT = Exercise(
    id="encoder_decoder/parameters",
    title="The parameters of any row",
    minutes=15,
    difficulty="hard",
    kind="predict",
    reference=parameters,
    probes=_count_probes,
    right_answers={
        "in one line": _counted(),
        "matrix by matrix": lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: (
            vocabulary * d_model
            + sum(
                sum(
                    3 * a * b
                    for a, b in ((d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model))
                )
                + 2 * (d_model * d_ff + d_ff + d_ff * d_model + d_model)
                + 5 * (d_model + d_model)
                for _ in range(N)
            )
        ),
    },
    mistakes=(
        Mistake(
            "not_tied",
            _counted(tables=3),
            what="Source, target and output have a matrix of words each.",
            why="In the paper they are one matrix; a matrix that is used three times is learned once.",
            where="How often does the vocabulary occur in your sum?",
        ),
        Mistake(
            "output_counted_again",
            _counted(tables=2),
            what="The matrix of words is counted twice.",
            why="Source, target and output share a single one. If tying copied it, there would be more to learn.",
            where="How often does the vocabulary occur in your sum?",
        ),
        Mistake(
            "no_words",
            _counted(tables=0),
            what="The matrix of words is missing.",
            why="In the base model it is nearly a third of everything.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "one_attention_in_the_decoder",
            _counted(attentions=2),
            what="The decoder layer has only one attention.",
            why="It has two: it looks at itself, and at the memory.",
            where="The right tower of figure 1.",
        ),
        Mistake(
            "encoder_alone",
            _counted(attentions=1, norms=2, layers=1),
            what="This is the encoder, with the words.",
            why="There are N layers in each of the two towers.",
            where="The right tower of figure 1.",
        ),
        Mistake(
            "decoder_alone",
            _counted(attentions=2, norms=3, layers=1),
            what="This is the decoder, with the words.",
            why="There are N layers in each of the two towers.",
            where="The left tower of figure 1.",
        ),
        Mistake(
            "two_decoders",
            _counted(attentions=4, norms=6),
            what="The encoder layer was counted like a decoder layer.",
            why="An encoder has nobody to look at: no cross-attention and no third LayerNorm.",
            where="The left tower of figure 1.",
        ),
        Mistake(
            "two_norms_in_the_decoder",
            _counted(norms=4),
            what="The decoder layer has only two LayerNorms.",
            why="Each sub-layer ends on one, and the decoder has three.",
            where="How many yellow boxes has a decoder layer in figure 1?",
        ),
        Mistake(
            "no_norms",
            _counted(norms=0),
            what="The LayerNorms are missing.",
            why="A gain and a bias for each of the d_model numbers are learned. It is little, but count it.",
            where="The yellow boxes of figure 1.",
        ),
        Mistake(
            "gain_without_bias",
            _counted(norms=2.5),
            what="A LayerNorm has only its gain.",
            why="It has a gain and a bias, each with d_model numbers.",
            where="Lesson 07.",
        ),
        Mistake(
            "no_bias_in_the_feed_forward_layer",
            _counted(ff_bias=0),
            what="The two biases of the feed-forward layer are missing.",
            why="Equation 2 of the paper has them: b₁ with d_ff numbers and b₂ with d_model.",
            where="max(0, x W₁ + b₁) W₂ + b₂.",
        ),
        Mistake(
            "bias_in_attention",
            _counted(bias=1),
            what="The attention's four matrices have biases.",
            why="In many libraries they do; in the paper's formula there are none.",
            where="Q = X W_Q, and nothing else.",
        ),
        Mistake(
            "one_head_alone",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: _count(N, d_model, d_ff, 1, d_k, d_v, vocabulary),
            what="The attention has a single head of width d_k.",
            why="There are h of them, each with its own columns.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "four_squares",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: (
                N * (3 * 4 * d_model**2 + 2 * (2 * d_model * d_ff + d_ff + d_model) + 10 * d_model)
                + vocabulary * d_model
            ),
            what="Each attention has 4 · d_model² numbers, whatever d_k and d_v are.",
            why="That holds if h · d_k and h · d_v are d_model. In row B of table 3 d_k is smaller.",
            where="The widths of W_Q and of W_V.",
        ),
        Mistake(
            "d_k_for_d_v",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: _count(N, d_model, d_ff, h, d_k, d_k, vocabulary),
            what="The values have the width of the keys.",
            why="W_V and W_O have the values' width, d_v. In row B of table 3 only d_k is made smaller.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "no_output_matrix",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: (
                _count(N, d_model, d_ff, h, d_k, d_v, vocabulary) - N * 3 * d_model * h * d_v
            ),
            what="W_O is missing.",
            why="What the heads bring home goes through one more matrix.",
            where="Lesson 05: split, attend, merge, and then?",
        ),
        Mistake(
            "square_output_matrix",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: (
                _count(N, d_model, d_ff, h, d_k, d_v, vocabulary) + N * 3 * d_model * (d_model - h * d_v)
            ),
            what="W_O was taken as d_model × d_model.",
            why="It is that in the base model, where h · d_v is d_model. It takes what the heads bring home side by "
            "side, however wide that is.",
            where="Lesson 05: how wide are h heads of width d_v, merged?",
        ),
        Mistake(
            "last_norms",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: _count(
                N, d_model, d_ff, h, d_k, d_v, vocabulary, last=4 * d_model
            ),
            what="There is one more LayerNorm at the end of each tower.",
            why="Pre-LN models need it. The paper's post-LN ends on a LayerNorm already.",
            where="The top of each tower in figure 1.",
        ),
        Mistake(
            "generator_bias",
            lambda N, d_model, d_ff, h, d_k, d_v, vocabulary: _count(
                N, d_model, d_ff, h, d_k, d_v, vocabulary, last=vocabulary
            ),
            what="The generator has a bias: one number a word.",
            why="It is the matrix of words, used backwards, and nothing else.",
            where="The term with the vocabulary.",
        ),
    ),
)

EXERCISES = (SHIFT, MASKS, LAYER, RATE, LOSS, COUNT)

"""The exercises of the lesson *The transformer block*: probes, references and known mistakes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes
from course_lib.reference.heads import multi_head_attention
from course_lib.reference.layers import feed_forward, layer_norm, post_ln_block, pre_ln_block

# --- 1. layer_norm --------------------------------------------------------------------------------------------------


def _norm_probes(rng):
    def draw(*shape, scale=1.0, **options):
        x = (scale * rng.normal(1, 2, size=shape)).round(6)
        return x, rng.normal(1, 1, size=shape[-1]).round(2), rng.normal(size=shape[-1]).round(2), *options.values()

    batch, n, d_model = distinct_sizes(rng, 3, low=3)
    constant = np.full((2, 4), 7.0) * np.array([[1.0], [-2]])
    return [
        Probe("one token of four numbers", (np.array([1.0, 3, 2, 6]), np.ones(4), np.zeros(4))),
        Probe("three tokens", draw(3, 5)),
        Probe("as many tokens as numbers in a token", draw(4, 4)),
        Probe("a batch of sentences", draw(2, 3, 5)),
        Probe("other sizes, all different", draw(batch, n, d_model)),
        Probe("very quiet tokens, where eps counts", draw(3, 5, scale=1e-3)),
        Probe("another eps", draw(3, 4, eps=0.5)),
        Probe("tokens of equal numbers", (constant, *draw(2, 4)[1:])),
        Probe("a batch of one sentence with one token", draw(1, 1, 4), extreme=True),
        Probe("no token at all", draw(0, 4), extreme=True),
    ]


def _norm_with(
    axis: int | None = -1,
    variance: Callable = lambda x, axis: x.var(axis=axis, keepdims=True),
    divisor: Callable = lambda variance, eps: np.sqrt(variance + eps),
    finish: Callable = lambda normal, gain, bias: gain * normal + bias,
    centre: bool = True,
):
    """Make LayerNorm with one of its parts exchanged."""

    def answer(x, gain, bias, eps=1e-5):
        centred = x - x.mean(axis=axis, keepdims=True) if centre else x
        return finish(centred / divisor(variance(x, axis), eps), gain, bias)

    return answer


def _no_keepdims(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + bias


def _norm_by_loops(x, gain, bias, eps=1e-5):
    result = np.empty(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        token = x[index]
        mean = sum(token) / len(token)
        variance = sum((value - mean) ** 2 for value in token) / len(token)
        result[index] = [
            g * (v - mean) / (variance + eps) ** 0.5 + b for v, g, b in zip(token, gain, bias, strict=True)
        ]
    return result


LAYER_NORM = Exercise(
    id="transformer_block/layer_norm",
    title="LayerNorm",
    minutes=9,
    difficulty="medium",
    kind="fill",
    reference=layer_norm,
    probes=_norm_probes,
    right_answers={
        "a loop over the tokens": _norm_by_loops,
        "the variance as a mean of squares": _norm_with(
            variance=lambda x, axis: ((x - x.mean(axis=axis, keepdims=True)) ** 2).mean(axis=axis, keepdims=True)
        ),
        "the standard deviation squared": _norm_with(variance=lambda x, axis: x.std(axis=axis, keepdims=True) ** 2),
        "a power of minus one half": _norm_with(divisor=lambda variance, eps: 1 / (variance + eps) ** -0.5),
    },
    mistakes=(
        Mistake(
            "unbiased_variance",
            _norm_with(variance=lambda x, axis: x.var(axis=axis, keepdims=True, ddof=1)),
            what="The variance was divided by one less than the number of entries (`ddof=1`, or `torch.var`).",
            why="That is the statistician's estimate. LayerNorm takes the plain mean square, and the weights of a "
            "trained model were learned with it.",
            where="By how many numbers is the sum of squares divided?",
        ),
        Mistake(
            "eps_outside_the_root",
            _norm_with(divisor=lambda variance, eps: np.sqrt(variance) + eps),
            what="`eps` was added to the standard deviation, after the root.",
            why="For ordinary tokens nobody notices. A quiet token, whose variance is near `eps`, comes out several "
            "times too loud.",
            where="The formula: what stands under the root?",
        ),
        Mistake(
            "eps_missing",
            _norm_with(divisor=lambda variance, eps: np.sqrt(variance)),
            what="`eps` is nowhere.",
            why="A token of equal numbers has variance zero, and zero divided by zero is not a number. One NaN spreads "
            "through the whole model.",
            where="What is the last argument for?",
        ),
        Mistake(
            "eps_fixed",
            lambda x, gain, bias, eps=1e-5: layer_norm(x, gain, bias, 1e-5),
            what="The number 1e-5 was written into the formula in place of the argument `eps`.",
            why="Models are trained with different ones, 1e-12 to 1e-5, and who calls the function chooses.",
            where="Every place where a small number stands.",
        ),
        Mistake(
            "divided_by_the_variance",
            _norm_with(divisor=lambda variance, eps: variance + eps),
            what="The tokens were divided by the variance, not by its root.",
            why="Twice as loud a token then comes out half as loud, and nothing has variance one.",
            where="Check it: what is the variance of your result with gain 1 and bias 0?",
        ),
        Mistake(
            "over_the_sentence",
            _norm_with(axis=-2),
            what="Mean and variance run over the tokens of a sentence, not over the numbers of a token.",
            why="The shape is right and no error is raised, but every token now depends on all others, the later ones "
            "too: a leak that no mask can stop.",
            where="The axis. Change one token of a sentence: which rows of the result change?",
        ),
        Mistake(
            "over_the_batch",
            _norm_with(axis=0),
            what="Mean and variance run over the first axis: over the sentences of the batch.",
            why="That is batch normalisation. A sentence then comes out differently in other company.",
            where="The axis: which one holds the numbers of one token?",
        ),
        Mistake(
            "over_everything",
            _norm_with(axis=None),
            what="One mean and one variance were taken of the whole array.",
            why="Each token must have mean 0 and variance 1 by itself; here only all of them together have.",
            where="`mean` and `var` without an axis take everything.",
        ),
        Mistake(
            "no_keepdims",
            _no_keepdims,
            what="The means lost their last axis, so that they are lined up with the numbers of a token.",
            why="With a shape that does not fit this is an error; with as many tokens as numbers it is silently wrong: "
            "number j of each token loses the mean of token j.",
            where="`keepdims`, as in lesson 00.",
        ),
        Mistake(
            "no_gain_no_bias",
            _norm_with(finish=lambda normal, gain, bias: normal),
            what="Gain and bias are not used.",
            why="They let the model choose how loud each place speaks after the normalising.",
            where="The last step of the formula.",
        ),
        Mistake(
            "no_gain",
            _norm_with(finish=lambda normal, gain, bias: normal + bias),
            what="The gain is not used.",
            why="It lets the model choose how loud each place speaks.",
            where="The last step of the formula.",
        ),
        Mistake(
            "no_bias",
            _norm_with(finish=lambda normal, gain, bias: gain * normal),
            what="The bias is not used.",
            why="It lets the model shift each place.",
            where="The last step of the formula.",
        ),
        Mistake(
            "gain_and_bias_exchanged",
            _norm_with(finish=lambda normal, gain, bias: bias * normal + gain),
            what="The bias multiplies and the gain is added.",
            why="With the values of the beginning, gain 1 and bias 0, every token would become a row of ones.",
            where="Which of the two is 1 at the beginning, so that it changes nothing?",
        ),
        Mistake(
            "bias_before_gain",
            _norm_with(finish=lambda normal, gain, bias: gain * (normal + bias)),
            what="The bias was added before the gain multiplied.",
            why="The bias is then stretched as well.",
            where="The order in the formula.",
        ),
        Mistake(
            "mean_left_in",
            _norm_with(centre=False),
            what="The mean was not taken away.",
            why="A token that is shifted as a whole then comes out shifted.",
            where="What is divided by the root?",
        ),
        Mistake(
            "root_mean_square",
            _norm_with(centre=False, variance=lambda x, axis: (x**2).mean(axis=axis, keepdims=True)),
            what="The tokens were divided by their root mean square, and the mean was left in.",
            why="This is RMSNorm, which many newer models use. It is a good norm and another function.",
            where="LayerNorm measures from the mean: above the fraction line and below.",
        ),
    ),
)

# --- 2. feed_forward ------------------------------------------------------------------------------------------------


def _feed_probes(rng):
    def draw(shape, d_ff):
        d_model = shape[-1]
        sizes = (shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))
        return tuple(rng.normal(size=size).round(2) for size in sizes)

    batch, n, d_model, d_ff = distinct_sizes(rng, 4, low=3)
    by_hand = np.array([1.0, -1]), np.eye(2), np.zeros(2), np.eye(2), np.array([0.5, 0.5])
    return [
        Probe("one token of two numbers", by_hand),
        Probe("three tokens", draw((3, 4), 6)),
        Probe("a layer that is no wider than its tokens", draw((3, 4), 4)),
        Probe("a batch of sentences", draw((2, 3, 4), 8)),
        Probe("other sizes, all different", draw((batch, n, d_model), d_ff)),
        Probe("a hidden layer of one number", draw((2, 3), 1), extreme=True),
        Probe("no token at all", draw((0, 3), 5), extreme=True),
    ]


def _relu(x):
    return np.maximum(0, x)


def _feed_by_tokens(x, W_1, b_1, W_2, b_2):
    flat = x.reshape(-1, x.shape[-1])
    hidden = [[max(0.0, value) for value in token @ W_1 + b_1] for token in flat]
    return (np.array(hidden).reshape(len(flat), len(b_1)) @ W_2 + b_2).reshape(x.shape)


FEED_FORWARD = Exercise(
    id="transformer_block/feed_forward",
    title="The feed-forward layer",
    minutes=5,
    difficulty="easy",
    kind="fill",
    reference=feed_forward,
    probes=_feed_probes,
    right_answers={
        "token by token": _feed_by_tokens,
        "where": lambda x, W_1, b_1, W_2, b_2: np.where(x @ W_1 + b_1 > 0, x @ W_1 + b_1, 0) @ W_2 + b_2,
        "einsum": lambda x, W_1, b_1, W_2, b_2: (
            np.einsum("...f,fd->...d", _relu(np.einsum("...d,df->...f", x, W_1) + b_1), W_2) + b_2
        ),
        "half of a number and its absolute value": lambda x, W_1, b_1, W_2, b_2: (
            ((x @ W_1 + b_1) + np.abs(x @ W_1 + b_1)) / 2 @ W_2 + b_2
        ),
    },
    mistakes=(
        Mistake(
            "cut_after_the_second",
            lambda x, W_1, b_1, W_2, b_2: _relu((x @ W_1 + b_1) @ W_2 + b_2),
            what="The negative numbers were cut at the very end.",
            why="The two matrices are then one, and the layer can add only positive numbers to a token.",
            where="Between which two steps does the formula have its max?",
        ),
        Mistake(
            "cut_twice",
            lambda x, W_1, b_1, W_2, b_2: _relu(_relu(x @ W_1 + b_1) @ W_2 + b_2),
            what="The negative numbers were cut in the middle and once more at the end.",
            why="The layer could then add only positive numbers to a token, and the sum would only ever grow.",
            where="How many times does the formula say max?",
        ),
        Mistake(
            "cut_nowhere",
            lambda x, W_1, b_1, W_2, b_2: (x @ W_1 + b_1) @ W_2 + b_2,
            what="Nothing was cut: the max is missing.",
            why="Two linear maps in a row are one linear map, and the wide middle is for nothing.",
            where="The first half of the formula.",
        ),
        Mistake(
            "cut_before_the_first",
            lambda x, W_1, b_1, W_2, b_2: (_relu(x) @ W_1 + b_1) @ W_2 + b_2,
            what="The token itself was cut, before the first matrix.",
            why="Half of what the token says is lost, and the two matrices are one.",
            where="What exactly stands in the brackets of the max?",
        ),
        Mistake(
            "minimum",
            lambda x, W_1, b_1, W_2, b_2: np.minimum(0, x @ W_1 + b_1) @ W_2 + b_2,
            what="The positive numbers were cut and the negative ones kept.",
            why="A trained layer says the opposite of what it learned.",
            where="max(0, …), not min.",
        ),
        Mistake(
            "first_bias_after_the_cut",
            lambda x, W_1, b_1, W_2, b_2: (_relu(x @ W_1) + b_1) @ W_2 + b_2,
            what="The first bias was added after the cut.",
            why="It then cannot decide which hidden numbers are cut, and that is what it is for.",
            where="What exactly stands in the brackets of the max?",
        ),
        Mistake(
            "no_biases",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_1) @ W_2,
            what="Neither bias is used.",
            why="The formula has both, and a trained model's are not zero.",
            where="b_1 and b_2 in the formula.",
        ),
        Mistake(
            "no_first_bias",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_1) @ W_2 + b_2,
            what="The first bias is not used.",
            why="It decides from where on a hidden number speaks.",
            where="b_1 in the formula.",
        ),
        Mistake(
            "no_second_bias",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_1 + b_1) @ W_2,
            what="The second bias is not used.",
            why="The formula has it, and a trained model's is not zero.",
            where="b_2 in the formula.",
        ),
        Mistake(
            "matrices_exchanged",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_2 + b_1) @ W_1 + b_2,
            what="The second matrix came first.",
            why="It goes from d_ff back to d_model; only where both are equal is there no error, and a wrong result.",
            where="Write the shape behind each product.",
        ),
        Mistake(
            "biases_exchanged",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_1 + b_2) @ W_2 + b_1,
            what="The biases changed places.",
            why="The first has d_ff numbers, the second d_model; only where these are equal is there no error.",
            where="Write the shape behind each sum.",
        ),
        Mistake(
            "matrices_transposed",
            lambda x, W_1, b_1, W_2, b_2: _relu(x @ W_1.T + b_1) @ W_2.T + b_2,
            what="The matrices were transposed.",
            why="PyTorch stores them so; here W_1 is (d_model, d_ff) already.",
            where="Write the shape behind each product: is anything to be turned?",
        ),
        Mistake(
            "residual_added",
            lambda x, W_1, b_1, W_2, b_2: x + feed_forward(x, W_1, b_1, W_2, b_2),
            what="The token was added to the result.",
            why="The residual path belongs to the block. Added here and there, the token would count twice.",
            where="Equation 2 has no x outside the brackets.",
        ),
    ),
)

# --- the parts that the blocks are handed ---------------------------------------------------------------------------


def double(x):
    """Say twice what came in."""
    return 2 * x


def add_ten(x):
    """Add ten to everything."""
    return x + 10


def add_one(x):
    """Add one to everything."""
    return x + 1


def halve(x):
    """Halve everything."""
    return x / 2


@dataclass(frozen=True)
class Attention:
    """Multi-head attention with random matrices that the seed makes, for tokens of any width that 2 divides."""

    seed: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Let the tokens look at one another."""
        weights = np.random.default_rng(self.seed).normal(size=(4, x.shape[-1], x.shape[-1])) / 2
        return multi_head_attention(x, x, *weights, h=2)


@dataclass(frozen=True)
class FeedForward:
    """A feed-forward layer with random weights that the seed makes."""

    seed: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Think over each token."""
        rng, d_model = np.random.default_rng(self.seed), x.shape[-1]
        shapes = ((d_model, 3 * d_model), (3 * d_model,), (3 * d_model, d_model), (d_model,))
        return feed_forward(x, *(rng.normal(size=shape) / 2 for shape in shapes))


@dataclass(frozen=True)
class LayerNorm:
    """A LayerNorm with a random gain and bias that the seed makes."""

    seed: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Normalise each token."""
        rng = np.random.default_rng(self.seed)
        return layer_norm(x, rng.normal(1, 0.5, size=x.shape[-1]), rng.normal(size=x.shape[-1]))


@dataclass(frozen=True)
class Blocks:
    """Any number of random blocks: called with tokens and a number, it applies the block of that number."""

    seed: int

    def __call__(self, x, i):
        """Apply block i."""
        first = self.seed + 10 * int(i)
        return pre_ln_block(x, Attention(first), FeedForward(first + 1), LayerNorm(first + 2), LayerNorm(first + 3))


def double_and_add_ten_times_i(x, i):
    """Double, and add ten times the number of the block; a block to follow by hand."""
    return 2 * x + 10 * int(i)


def _parts(rng):
    seeds = [int(seed) for seed in rng.choice(1000, size=4, replace=False)]
    return Attention(seeds[0]), FeedForward(seeds[1]), LayerNorm(seeds[2]), LayerNorm(seeds[3])


def _block_probes(rng):
    def draw(*shape):
        return rng.normal(size=shape).round(2), *_parts(rng)

    batch, n, half = distinct_sizes(rng, 3, low=2, high=5)
    simple = np.array([[[1.0, 2.0]]])
    return [
        Probe("one token, and parts that you can follow by hand", (simple, double, add_ten, add_one, halve)),
        Probe("the same parts in other roles", (simple, add_ten, halve, double, add_one)),
        Probe("three tokens with real parts", draw(1, 3, 4)),
        Probe("a batch of sentences", draw(2, 5, 6)),
        Probe("other sizes", draw(batch, n + 5, 2 * half)),
        Probe("one token with real parts", draw(2, 1, 4), extreme=True),
        Probe("no sentence at all", draw(0, 3, 4), extreme=True),
    ]


# --- 3. pre_ln_block ------------------------------------------------------------------------------------------------


def _residual_from_the_copy(x, attend, feed_forward, norm_1, norm_2):
    y = norm_1(x)
    x = y + attend(y)
    y = norm_2(x)
    return y + feed_forward(y)


def _norm_after_the_sub_layer(x, attend, feed_forward, norm_1, norm_2):
    x = x + norm_1(attend(x))
    return x + norm_2(feed_forward(x))


def _fed_with_the_find(x, attend, feed_forward, norm_1, norm_2):
    found = attend(norm_1(x))
    return x + found + feed_forward(norm_2(found))


def _second_path_from_the_start(x, attend, feed_forward, norm_1, norm_2):
    attended = x + attend(norm_1(x))
    return x + feed_forward(norm_2(attended))


def _no_first_path(x, attend, feed_forward, norm_1, norm_2):
    x = attend(norm_1(x))
    return x + feed_forward(norm_2(x))


def _no_norm_1(x, attend, feed_forward, norm_1, norm_2):
    x = x + attend(x)
    return x + feed_forward(norm_2(x))


def _no_norm_2(x, attend, feed_forward, norm_1, norm_2):
    x = x + attend(norm_1(x))
    return x + feed_forward(x)


def _pre_by_loop(x, attend, feed_forward, norm_1, norm_2):
    for sub_layer, normalise in zip((attend, feed_forward), (norm_1, norm_2), strict=True):
        x = np.add(sub_layer(normalise(x)), x)
    return x


def _exchange(order):
    """Make the pre-LN block with its parts exchanged: "fa21" puts the feed-forward layer and its norm first."""

    def answer(x, attend, feed_forward, norm_1, norm_2):
        parts = {"a": attend, "f": feed_forward, "1": norm_1, "2": norm_2}
        return pre_ln_block(x, *(parts[name] for name in order))

    return answer


PRE_LN = Exercise(
    id="transformer_block/pre_ln_block",
    title="The pre-LN block",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=pre_ln_block,
    probes=_block_probes,
    right_answers={
        "a loop over the two halves": _pre_by_loop,
        "in one expression": lambda x, attend, feed_forward, norm_1, norm_2: (
            (y := x + attend(norm_1(x))) + feed_forward(norm_2(y))
        ),
        "on a copy, in place": lambda x, attend, feed_forward, norm_1, norm_2: pre_ln_block(
            x.copy(), attend, feed_forward, norm_1, norm_2
        ),
    },
    mistakes=(
        Mistake(
            "post_ln",
            post_ln_block,
            what="This is the paper's post-LN block: LayerNorm after each sum.",
            why="It is a block too, and another function: weights trained in one order are useless in the other.",
            where="In the drawing of pre-LN the thick line meets no LayerNorm.",
        ),
        Mistake(
            "norm_after_the_sub_layer",
            _norm_after_the_sub_layer,
            what="LayerNorm was applied to what a sub-layer returns, before it is added.",
            why="The sub-layers then read tokens of any size, and what they find is always made equally loud: neither "
            "the text's order nor the paper's.",
            where="On the branch in the drawing: which comes first, going up?",
        ),
        Mistake(
            "no_residual_paths",
            lambda x, attend, feed_forward, norm_1, norm_2: feed_forward(norm_2(attend(norm_1(x)))),
            what="Both residual paths are missing.",
            why="The tokens are replaced and not added to: after a few blocks all of them are the same vector.",
            where="The (+x) in the text's two lines.",
        ),
        Mistake(
            "no_first_path",
            _no_first_path,
            what="The residual path around the attention is missing.",
            why="What the token itself said is lost after the first half; only averages go on.",
            where="The first (+x).",
        ),
        Mistake(
            "no_second_path",
            lambda x, attend, feed_forward, norm_1, norm_2: feed_forward(norm_2(x + attend(norm_1(x)))),
            what="The residual path around the feed-forward layer is missing.",
            why="What the token said, and what it found, is replaced by what the layer makes of it.",
            where="The second (+x).",
        ),
        Mistake(
            "residual_from_the_normalised",
            _residual_from_the_copy,
            what="The normalised token was added, not the token.",
            why="The thick line then runs through every LayerNorm, and nothing of the token passes untouched. The "
            "branch gets a copy; the path keeps the original.",
            where="What is added to the sub-layer's result?",
        ),
        Mistake(
            "one_norm_for_both",
            lambda x, attend, feed_forward, norm_1, norm_2: pre_ln_block(x, attend, feed_forward, norm_1, norm_1),
            what="The first LayerNorm was used for both halves.",
            why="Each has a gain and a bias of its own. Before training they are equal, and nobody notices.",
            where="The second half: which norm belongs to it?",
        ),
        Mistake(
            "norms_exchanged",
            _exchange("af21"),
            what="The two LayerNorms changed places.",
            why="Each has a gain and a bias of its own, learned for its sub-layer.",
            where="norm_1 belongs to the attention.",
        ),
        Mistake(
            "no_norms",
            lambda x, attend, feed_forward, norm_1, norm_2: (y := x + attend(x)) + feed_forward(y),
            what="No LayerNorm is used at all.",
            why="The numbers then grow from block to block like compound interest.",
            where="The text's two lines: what comes before each sub-layer?",
        ),
        Mistake(
            "no_first_norm",
            _no_norm_1,
            what="The attention reads the tokens as they are.",
            why="They are larger in every block, and so are the scores.",
            where="The first half: what comes before the attention?",
        ),
        Mistake(
            "no_second_norm",
            _no_norm_2,
            what="The feed-forward layer reads the tokens as they are.",
            why="They are larger in every block, and what it adds grows with them.",
            where="The second half: what comes before the feed-forward layer?",
        ),
        Mistake(
            "feed_forward_first",
            _exchange("fa21"),
            what="The feed-forward layer comes before the attention.",
            why="A block first gathers and then thinks. The other way round is another function.",
            where="The order in the text's two lines.",
        ),
        Mistake(
            "side_by_side",
            lambda x, attend, feed_forward, norm_1, norm_2: x + attend(norm_1(x)) + feed_forward(norm_2(x)),
            what="The feed-forward layer reads what came into the block, side by side with the attention.",
            why="Some models do so, to save time. Here it should think over what the attention has just found.",
            where="The second half starts from the sum of the first.",
        ),
        Mistake(
            "fed_with_the_find_alone",
            _fed_with_the_find,
            what="The feed-forward layer reads only what the attention found, without the token itself.",
            why="The branch leaves the thick line *after* the first addition.",
            where="What goes into the second LayerNorm?",
        ),
        Mistake(
            "second_path_from_the_start",
            _second_path_from_the_start,
            what="The second sum adds the block's input, not what the first half has made.",
            why="What the attention found then reaches the output only through the feed-forward layer.",
            where="The second (+x): which x is that, after the first half?",
        ),
        Mistake(
            "norm_at_the_end",
            lambda x, attend, feed_forward, norm_1, norm_2: norm_2(
                pre_ln_block(x, attend, feed_forward, norm_1, norm_2)
            ),
            what="The block's result was normalised once more.",
            why="The final norm belongs at the end of the whole stack, once. In every block it would sit on the thick "
            "line.",
            where="The last thing that happens in the block is an addition.",
        ),
        Mistake(
            "attention_twice",
            lambda x, attend, feed_forward, norm_1, norm_2: pre_ln_block(x, attend, attend, norm_1, norm_2),
            what="The attention was used in both halves.",
            why="Then nothing works on a token by itself.",
            where="The second half.",
        ),
    ),
)

# --- 4. pre_ln_stack ------------------------------------------------------------------------------------------------


def pre_ln_stack(x, block, N, final_norm):
    """Send the tokens through block 0 to block N - 1, one after the other, and normalise once at the end."""
    for i in range(N):
        x = block(x, i)
    return final_norm(x)


def _stack_probes(rng):
    def draw(N, *shape):
        seeds = rng.choice(1000, size=2, replace=False)
        return rng.normal(size=shape).round(2), Blocks(int(seeds[0])), N, LayerNorm(int(seeds[1]))

    batch, n, half = distinct_sizes(rng, 3, low=2, high=5)
    return [
        Probe(
            "three blocks that you can follow by hand",
            (np.array([[[1.0, 2.0]]]), double_and_add_ten_times_i, 3, add_one),
        ),
        Probe("two blocks", draw(2, 1, 3, 4)),
        Probe("four blocks", draw(4, 2, 5, 6)),
        Probe("three blocks, other sizes", draw(3, batch, n + 5, 2 * half)),
        Probe("one block", draw(1, 2, 3, 4), extreme=True),
        Probe("no block at all", draw(0, 2, 3, 4), extreme=True),
    ]


def _stack(
    numbers: Callable = range,
    step: Callable = lambda x, block, i, start, final_norm: block(x, i),
    finish: Callable = lambda x, final_norm: final_norm(x),
    begin: Callable = lambda x, final_norm: x,
):
    """Make a stack with one of its parts exchanged."""

    def answer(x, block, N, final_norm):
        start = x = begin(x, final_norm)
        for i in numbers(N):
            x = step(x, block, i, start, final_norm)
        return finish(x, final_norm)

    return answer


def _recursive(x, block, N, final_norm):
    def through(x, i):
        return x if i == N else through(block(x, i), i + 1)

    return final_norm(through(x, 0))


STACK = Exercise(
    id="transformer_block/pre_ln_stack",
    title="A stack with its final norm",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=pre_ln_stack,
    probes=_stack_probes,
    right_answers={"recursion": _recursive, "a loop": _stack()},
    mistakes=(
        Mistake(
            "no_final_norm",
            _stack(finish=lambda x, final_norm: x),
            what="The final norm is missing.",
            why="In a pre-LN stack nothing normalises the sum that leaves the last block; its size depends on the "
            "depth. Whatever reads it, say a layer of logits, was made for tokens of size one.",
            where="After the loop.",
        ),
        Mistake(
            "norm_after_each_block",
            _stack(step=lambda x, block, i, start, final_norm: final_norm(block(x, i)), finish=lambda x, _: x),
            what="The final norm was applied after every block.",
            why="It then sits on the thick line, and no token passes the stack untouched: half a post-LN stack.",
            where="Once, after the loop.",
        ),
        Mistake(
            "norm_after_each_block_and_at_the_end",
            _stack(step=lambda x, block, i, start, final_norm: final_norm(block(x, i))),
            what="The final norm was applied after every block, and once more at the end.",
            why="It then sits on the thick line, and no token passes the stack untouched.",
            where="Once, after the loop.",
        ),
        Mistake(
            "norm_before_the_first",
            _stack(begin=lambda x, final_norm: final_norm(x), finish=lambda x, _: x),
            what="The final norm was applied before the first block.",
            why="What leaves the last block is then as large as ever.",
            where="*Final*: after the loop.",
        ),
        Mistake(
            "norm_before_each_block",
            _stack(step=lambda x, block, i, start, final_norm: block(final_norm(x), i), finish=lambda x, _: x),
            what="The final norm was applied before every block.",
            why="Each block has its own two norms already, on its branches.",
            where="Once, after the loop.",
        ),
        Mistake(
            "first_block_again_and_again",
            _stack(step=lambda x, block, i, start, final_norm: block(x, 0)),
            what="Block 0 was applied N times.",
            why="Each block has weights of its own.",
            where="The second argument of `block`.",
        ),
        Mistake(
            "each_from_the_start",
            _stack(step=lambda x, block, i, start, final_norm: block(start, i)),
            what="Every block was given the stack's input; only the last one counts.",
            why="A stack sends through block 2 what block 1 returned.",
            where="What goes into `block`, the second time round?",
        ),
        Mistake(
            "from_top_to_bottom",
            _stack(numbers=lambda N: range(N - 1, -1, -1)),
            what="The blocks were applied from the last to the first.",
            why="Tokens enter at block 0.",
            where="The order of the loop.",
        ),
        Mistake(
            "counted_from_one",
            _stack(numbers=lambda N: range(1, N + 1)),
            what="The blocks were counted from 1 to N.",
            why="They are numbered from 0 to N − 1: block 0 is left out, and block N does not exist.",
            where="Where the loop begins.",
        ),
        Mistake(
            "last_block_left_out",
            _stack(numbers=lambda N: range(N - 1)),
            what="The last block was left out.",
            why="N blocks are numbered from 0 to N − 1.",
            where="Where the loop ends.",
        ),
        Mistake(
            "first_block_left_out",
            _stack(numbers=lambda N: range(1, N)),
            what="Block 0 was left out.",
            why="N blocks are numbered from 0 to N − 1.",
            where="Where the loop begins.",
        ),
        Mistake(
            "one_more_path",
            _stack(step=lambda x, block, i, start, final_norm: x + block(x, i)),
            what="The tokens were added to what a block returns.",
            why="A block has its residual paths inside; with another one the token counts twice, four times, eight "
            "times.",
            where="The body of the loop.",
        ),
    ),
)

# --- 5. post_ln_block -----------------------------------------------------------------------------------------------


def _broken_post(x, attend, feed_forward, norm_1, norm_2):
    x = x + norm_1(attend(x))
    return norm_1(x + feed_forward(x))


def _post_with_one_norm(x, attend, feed_forward, norm_1, norm_2):
    return post_ln_block(x, attend, feed_forward, norm_1, norm_1)


def _post_with_the_norm_inside(x, attend, feed_forward, norm_1, norm_2):
    x = x + norm_1(attend(x))
    return norm_2(x + feed_forward(x))


def _post_second_from_the_start(x, attend, feed_forward, norm_1, norm_2):
    attended = norm_1(x + attend(x))
    return norm_2(x + feed_forward(attended))


POST_LN = Exercise(
    id="transformer_block/post_ln_block",
    title="Mend a post-LN block",
    minutes=7,
    difficulty="medium",
    kind="fix",
    reference=post_ln_block,
    probes=_block_probes,
    right_answers={
        "in one expression": lambda x, attend, feed_forward, norm_1, norm_2: norm_2(
            (y := norm_1(attend(x) + x)) + feed_forward(y)
        ),
    },
    mistakes=(
        Mistake(
            "not_mended",
            _broken_post,
            what="This is the block as it was.",
            why="It has two faults: where a norm stands, and which norm is used.",
            where="Say the paper's formula aloud for each half, with its own LayerNorm.",
        ),
        Mistake(
            "still_one_norm",
            _post_with_one_norm,
            what="The norm stands in the right place now, and still one LayerNorm serves both halves.",
            why="Each has a gain and a bias of its own. Before training they are equal, and nobody notices.",
            where="The second half.",
        ),
        Mistake(
            "norm_still_inside",
            _post_with_the_norm_inside,
            what="Each half has its own LayerNorm now; that of the first still normalises only what attention found.",
            why="The sum that goes on is then not normalised, and its size grows.",
            where="LayerNorm(x + Sublayer(x)): what stands in the outer brackets?",
        ),
        Mistake(
            "both_norms_inside",
            _norm_after_the_sub_layer,
            what="Both LayerNorms normalise what a sub-layer found, before the sum.",
            why="The first half's fault was made in the second half too.",
            where="LayerNorm(x + Sublayer(x)): what stands in the outer brackets?",
        ),
        Mistake(
            "pre_ln",
            pre_ln_block,
            what="This is a pre-LN block.",
            why="It is the text's order, and a good one; the paper's normalises the sums.",
            where="LayerNorm(x + Sublayer(x)): what does the sub-layer read?",
        ),
        Mistake(
            "no_residual_paths",
            lambda x, attend, feed_forward, norm_1, norm_2: norm_2(feed_forward(norm_1(attend(x)))),
            what="The residual paths are gone.",
            why="After a few blocks all tokens are the same vector; no LayerNorm prevents that.",
            where="The x + in the formula.",
        ),
        Mistake(
            "norms_exchanged",
            lambda x, attend, feed_forward, norm_1, norm_2: post_ln_block(x, attend, feed_forward, norm_2, norm_1),
            what="The two LayerNorms changed places.",
            why="norm_1 was learned for the sum with the attention.",
            where="Which norm belongs to which half?",
        ),
        Mistake(
            "second_path_from_the_start",
            _post_second_from_the_start,
            what="The second sum adds the block's input, not what the first half has made.",
            why="What the attention found then reaches the output only through the feed-forward layer.",
            where="Which x is meant in the second half?",
        ),
        Mistake(
            "feed_forward_first",
            lambda x, attend, feed_forward, norm_1, norm_2: post_ln_block(x, feed_forward, attend, norm_1, norm_2),
            what="The feed-forward layer comes first.",
            why="A block first gathers and then thinks.",
            where="The order was right as it was.",
        ),
        Mistake(
            "norm_before_and_after",
            lambda x, attend, feed_forward, norm_1, norm_2: norm_2(
                (y := norm_1(x + attend(norm_1(x)))) + feed_forward(norm_2(y))
            ),
            what="The norms were applied before and after each sub-layer.",
            why="In post-LN the sub-layer reads the token as it is: the last sum has been normalised already.",
            where="LayerNorm(x + Sublayer(x)): how many LayerNorms does a half have?",
        ),
    ),
)

# --- 6. block_parameters --------------------------------------------------------------------------------------------


def block_parameters(d_model, d_ff):
    """Count what a block learns: four matrices without biases, two with, and two gains and biases."""
    attention = 4 * d_model**2
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    return attention + feed_forward + 2 * (2 * d_model)


def _count_probes(rng):
    d_model, d_ff = distinct_sizes(rng, 2, low=3, high=90)
    return [
        Probe("a tiny block", (2, 3)),
        Probe("four times as wide inside", (8, 32)),
        Probe("narrower inside than outside", (12, 5)),
        Probe("the paper's base size", (512, 2048)),
        Probe("other sizes", (d_model, d_ff)),
        Probe("one number a token", (1, 1), extreme=True),
    ]


COUNT = Exercise(
    id="transformer_block/block_parameters",
    title="What a block costs",
    minutes=6,
    difficulty="easy",
    kind="predict",
    reference=block_parameters,
    probes=_count_probes,
    right_answers={
        "collected": lambda d_model, d_ff: 4 * d_model**2 + 5 * d_model + d_ff * (2 * d_model + 1),
        "counted from arrays": lambda d_model, d_ff: sum(
            int(np.prod(shape))
            for shape in 4 * [(d_model, d_model)] + [(d_model, d_ff), (d_ff,), (d_ff, d_model)] + 5 * [(d_model,)]
        ),
    },
    mistakes=(
        Mistake(
            "matrices_only",
            lambda d_model, d_ff: 4 * d_model**2 + 2 * d_model * d_ff,
            what="Only the matrices were counted.",
            why="The feed-forward layer has two biases, and each LayerNorm a gain and a bias. They are few, and the "
            "count should be exact.",
            where="Every letter in the formulas that is learned.",
        ),
        Mistake(
            "twelve_squares",
            lambda d_model, d_ff: 12 * d_model**2,
            what="The rule of thumb, 12 d_model².",
            why="It holds for the matrices when d_ff is four times d_model, and d_ff may be anything here.",
            where="Which of the matrices depend on d_ff?",
        ),
        Mistake(
            "half_the_norms",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - 2 * d_model,
            what="One LayerNorm was counted, or two with a gain alone.",
            why="A block has two that share nothing, and each learns a gain and a bias.",
            where="What does one LayerNorm learn, and how many are in the drawing?",
        ),
        Mistake(
            "no_norms",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - 4 * d_model,
            what="The LayerNorms were not counted.",
            why="Each learns a gain and a bias of d_model numbers.",
            where="What does LayerNorm learn, and how often does it stand in a block?",
        ),
        Mistake(
            "three_norms",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) + 2 * d_model,
            what="Three LayerNorms were counted.",
            why="The final norm belongs to the stack, not to the block.",
            where="The drawing: how many LayerNorms are there?",
        ),
        Mistake(
            "no_feed_forward_biases",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - d_ff - d_model,
            what="The biases of the feed-forward layer were not counted.",
            why="The formula has b_1 and b_2.",
            where="How long is each?",
        ),
        Mistake(
            "biases_as_long_as_a_token",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - d_ff + d_model,
            what="Both biases of the feed-forward layer were counted with d_model numbers.",
            why="The first is added to the hidden layer.",
            where="The shape of x W_1.",
        ),
        Mistake(
            "biases_as_long_as_the_hidden",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) + d_ff - d_model,
            what="Both biases of the feed-forward layer were counted with d_ff numbers.",
            why="The second is added to what goes back to the token's width.",
            where="The shape of the layer's result.",
        ),
        Mistake(
            "attention_biases",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) + 4 * d_model,
            what="Four biases in the attention were counted.",
            why="PyTorch's layer has them by default. The paper's formula has none, and this block neither.",
            where="What stands in X W_Q?",
        ),
        Mistake(
            "no_W_O",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - d_model**2,
            what="Three matrices were counted for the attention.",
            why="After the heads are merged W_O follows.",
            where="Queries, keys, values, and?",
        ),
        Mistake(
            "one_matrix_in_the_feed_forward_layer",
            lambda d_model, d_ff: block_parameters(d_model, d_ff) - d_model * d_ff,
            what="One matrix was counted for the feed-forward layer.",
            why="One widens, one brings back.",
            where="W_1 and W_2.",
        ),
    ),
)

EXERCISES = (LAYER_NORM, FEED_FORWARD, PRE_LN, STACK, POST_LN, COUNT)

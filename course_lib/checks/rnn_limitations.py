"""The exercises of the lesson *RNN limitations*: probes, references and known mistakes."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, distinct_sizes
from course_lib.reference.rnn import jacobian_product, rnn, rnn_step

# ---------------------------------------------------------------------------------------------- one step


def _network(rng: np.random.Generator, d_x: int, d_h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw weights small enough that tanh is not flat, and a bias that cannot be overlooked."""
    W_x, W_h = rng.normal(size=(d_x, d_h)), rng.normal(size=(d_h, d_h))
    return 0.4 * W_x, 0.4 * W_h, 0.3 + 0.3 * rng.random(d_h)


def _step_probes(rng: np.random.Generator) -> list[Probe]:
    d_x, d_h = distinct_sizes(rng, 2, low=3)
    square = _network(rng, 4, 4)
    numbers = (np.array([0.5]), np.array([0.2]), np.array([[1.0]]), np.array([[2.0]]), np.array([0.1]))
    loud = rng.integers(-9, 10, size=d_x) * 100.0, rng.normal(size=d_h)
    return [
        Probe("one number each", numbers),
        Probe("token and state of the same size", (rng.normal(size=4), rng.normal(size=4), *square)),
        Probe(
            "token and state of different sizes", (rng.normal(size=d_x), rng.normal(size=d_h), *_network(rng, d_x, d_h))
        ),
        Probe(
            "the state before the first word, all zero", (rng.normal(size=d_x), np.zeros(d_h), *_network(rng, d_x, d_h))
        ),
        Probe("a token of hundreds", (*loud, *_network(rng, d_x, d_h)), extreme=True),
    ]


def _by_loops(x, h, W_x, W_h, b):
    new = []
    for j in range(len(b)):
        total = b[j]
        for i in range(len(x)):
            total = total + x[i] * W_x[i, j]
        for i in range(len(h)):
            total = total + h[i] * W_h[i, j]
        new.append(np.tanh(total))
    return np.array(new)


STEP = Exercise(
    id="rnn_limitations/rnn_step",
    title="One step of a recurrent network",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=rnn_step,
    probes=_step_probes,
    right_answers={
        "loops": _by_loops,
        "stacked": lambda x, h, W_x, W_h, b: np.tanh(np.concatenate([x, h]) @ np.concatenate([W_x, W_h]) + b),
        "matrix_first": lambda x, h, W_x, W_h, b: np.tanh(W_x.T @ x + W_h.T @ h + b),
        "einsum": lambda x, h, W_x, W_h, b: np.tanh(np.einsum("i,ij->j", x, W_x) + np.einsum("i,ij->j", h, W_h) + b),
    },
    mistakes=(
        Mistake(
            "tanh_forgotten",
            lambda x, h, W_x, W_h, b: x @ W_x + h @ W_h + b,
            what="The sum is returned as it is: the tanh is missing.",
            why="Nothing then keeps the state between −1 and 1; it can grow from word to word without bound.",
            where="What does the formula wrap around the whole sum?",
        ),
        Mistake(
            "bias_forgotten",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_x + h @ W_h),
            what="The bias `b` is not added.",
            why="A token of zeros and a state of zeros then always give a state of zeros, whatever was learnt.",
            where="Count the terms of the formula inside tanh: there are three.",
        ),
        Mistake(
            "state_forgotten",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_x + b),
            what="The old state `h` has no part in the new one.",
            why="The network then sees one word at a time and remembers none of the words before.",
            where="Which term carries the past?",
        ),
        Mistake(
            "token_forgotten",
            lambda x, h, W_x, W_h, b: np.tanh(h @ W_h + b),
            what="The token `x` has no part in the new state.",
            why="The network then reads nothing: every sentence gives the same states.",
            where="Which term brings in the new word?",
        ),
        Mistake(
            "weights_swapped",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_h + h @ W_x + b),
            what="`W_x` and `W_h` have changed places.",
            why="If token and state have the same size, no error is raised, and the numbers are wrong all the same.",
            where="The small letter of each matrix says what it is multiplied with.",
        ),
        Mistake(
            "both_transposed",
            lambda x, h, W_x, W_h, b: np.tanh(W_x @ x + W_h @ h + b),
            what="The matrices stand on the left of the vectors: `W @ x`.",
            why="Here vectors are rows and `W_x` has the shape (d_x, d_h): on the left it sums over the wrong axis.",
            where="The order inside each product, and the shapes in the docstring.",
        ),
        Mistake(
            "state_transposed",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_x + W_h @ h + b),
            what="`W_h` is used transposed (`W_h @ h` or `h @ W_h.T`), the other product is right.",
            why="`W_h` is square, so no error can be raised: only the numbers are wrong.",
            where="Write both products in the same order: a row times a matrix.",
        ),
        Mistake(
            "bias_outside",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_x + h @ W_h) + b,
            what="The bias is added after the tanh.",
            why="The new state can then leave the range from −1 to 1.",
            where="Where does the bracket of tanh close?",
        ),
        Mistake(
            "two_tanhs",
            lambda x, h, W_x, W_h, b: np.tanh(x @ W_x + b) + np.tanh(h @ W_h),
            what="Token and state are squashed one by one and added afterwards.",
            why="The sum of two numbers between −1 and 1 can be 2: the state is no longer held in its range.",
            where="How many tanhs does the formula have, and around what?",
        ),
        Mistake(
            "sigmoid",
            lambda x, h, W_x, W_h, b: 1 / (1 + np.exp(-(x @ W_x + h @ W_h + b))),
            what="The squashing function is the sigmoid (from 0 to 1), not tanh (from −1 to 1).",
            why="The sigmoid is steepest at a quarter, so a signal fades at least four times at each step.",
            where="Which function does the formula name? NumPy has it under the same name.",
        ),
        Mistake(
            "added_to_the_old_state",
            lambda x, h, W_x, W_h, b: h + np.tanh(x @ W_x + h @ W_h + b),
            what="The new state is added to the old one, where it should take its place.",
            why="That is a residual connection, a good idea of later lessons, and another network than this one.",
            where="Is there anything outside of tanh in the formula?",
        ),
    ),
)


# ---------------------------------------------------------------------------------------------- the loop


def _loop_probes(rng: np.random.Generator) -> list[Probe]:
    n, d_x, d_h = distinct_sizes(rng, 3, low=3)
    return [
        Probe("three words, all sizes three", (rng.normal(size=(3, 3)), rng.normal(size=3), *_network(rng, 3, 3))),
        Probe("all sizes different", (rng.normal(size=(n, d_x)), rng.normal(size=d_h), *_network(rng, d_x, d_h))),
        Probe("a first state of zeros", (rng.normal(size=(n, d_x)), np.zeros(d_h), *_network(rng, d_x, d_h))),
        Probe(
            "a single word", (rng.normal(size=(1, d_x)), rng.normal(size=d_h), *_network(rng, d_x, d_h)), extreme=True
        ),
    ]


def _own_row(X, h_0, W_x, W_h, b):
    H = np.zeros((len(X), len(h_0)))
    for t in range(len(X)):
        H[t] = rnn_step(X[t], H[t], W_x, W_h, b)
    return H


def _preallocated(X, h_0, W_x, W_h, b):
    H = np.zeros((len(X) + 1, len(h_0)))
    H[0] = h_0
    for t in range(len(X)):
        H[t + 1] = np.tanh(X[t] @ W_x + H[t] @ W_h + b)
    return H[1:]


def _tokens_first(X, h_0, W_x, W_h, b):
    states = [h_0]
    for from_token in X @ W_x + b:
        states.append(np.tanh(from_token + states[-1] @ W_h))
    return states[1:]


def _recursive(X, h_0, W_x, W_h, b):
    if len(X) == 0:
        return np.zeros((0, len(h_0)))
    before = _recursive(X[:-1], h_0, W_x, W_h, b)
    last = rnn_step(X[-1], before[-1] if len(before) else h_0, W_x, W_h, b)
    return np.concatenate([before, last[None]])


LOOP = Exercise(
    id="rnn_limitations/rnn",
    title="Mend the unrolled loop",
    minutes=8,
    difficulty="medium",
    kind="fix",
    reference=rnn,
    probes=_loop_probes,
    right_answers={"preallocated": _preallocated, "tokens_first": _tokens_first, "recursive": _recursive},
    mistakes=(
        Mistake(
            "own_row_for_the_row_before",
            _own_row,
            what="Step t reads row t of the states, the very row that it is about to write: h_t stands for h_(t−1).",
            why="That row still holds zeros, so every word is read with an empty memory; and `h_0` is never used.",
            where="Which state does step t need, and where does it stand when t is the first?",
        ),
        Mistake(
            "always_from_the_first_state",
            lambda X, h_0, W_x, W_h, b: np.array([rnn_step(x, h_0, W_x, W_h, b) for x in X]),
            what="Every step starts from `h_0`: the state that a step returns is not handed to the next one.",
            why="The chain is cut: no word knows of the word before it. (That is why it could all be done at once.)",
            where="Inside the loop, what is the state after the step? Who reads it in the next round?",
        ),
        Mistake(
            "initial_state_ignored",
            lambda X, h_0, W_x, W_h, b: rnn(X, np.zeros_like(h_0), W_x, W_h, b),
            what="The loop starts from zeros, not from the `h_0` that it was given.",
            why="A text that goes on where another ended then starts without memory. (With `H[t - 1]` and t = 0, "
            "Python quietly takes the last row.)",
            where="The first round: which state does it read?",
        ),
        Mistake(
            "last_state_only",
            lambda X, h_0, W_x, W_h, b: rnn(X, h_0, W_x, W_h, b)[-1],
            what="Only the last state is returned.",
            why="All n states were asked for. (Keeping only the last makes the bottleneck at the end of the lesson.)",
            where="What is collected in the loop, and what does the last line return?",
        ),
        Mistake(
            "last_state_repeated",
            lambda X, h_0, W_x, W_h, b: np.repeat(rnn(X, h_0, W_x, W_h, b)[-1:], len(X), axis=0),
            what="All rows are the last state.",
            why="One and the same array was put into the list n times, and each step wrote over it; or it was stacked "
            "after the loop.",
            where="Does a step make a new array, or change the old one (`h[:] = ...`)? Where is the state kept?",
        ),
        Mistake(
            "first_state_included",
            lambda X, h_0, W_x, W_h, b: np.concatenate([h_0[None], rnn(X, h_0, W_x, W_h, b)]),
            what="`h_0` is returned as a first row, so there is one row too many.",
            why="Row t should be the state after word t; now it is the state before it.",
            where="With what does the list begin?",
        ),
        Mistake(
            "states_before_the_words",
            lambda X, h_0, W_x, W_h, b: np.concatenate([h_0[None], rnn(X, h_0, W_x, W_h, b)[:-1]]),
            what="Each row is the state before its word, not after it.",
            why="The last word is then read by nobody: change it, and no row changes.",
            where="Which comes first in the loop: keeping the state, or making the step?",
        ),
        Mistake(
            "read_backwards",
            lambda X, h_0, W_x, W_h, b: rnn(X[::-1], h_0, W_x, W_h, b),
            what="The words are read from the last to the first.",
            why="The first row should know the first word alone; here it knows the last.",
            where="In which order does the loop take the rows of `X`?",
        ),
        Mistake(
            "same_word_again",
            lambda X, h_0, W_x, W_h, b: rnn(np.repeat(X[:1], len(X), axis=0), h_0, W_x, W_h, b),
            what="Every step reads the first word.",
            why="The rest of the sentence has no effect.",
            where="The index of `X` inside the loop.",
        ),
        Mistake(
            "tanh_forgotten",
            lambda X, h_0, W_x, W_h, b: _tokens_first_with(lambda s: s, X, h_0, W_x, W_h, b),
            what="The states are not squashed: the tanh of each step is missing.",
            why="Nothing then keeps the state between −1 and 1 as the sentence grows.",
            where="The step inside your loop: does it agree with the formula of exercise 1?",
        ),
        Mistake(
            "bias_forgotten",
            lambda X, h_0, W_x, W_h, b: rnn(X, h_0, W_x, W_h, 0 * b),
            what="The bias `b` is missing in the steps.",
            why="What the network has learnt to assume by itself is lost at every word.",
            where="The step inside your loop: are there three terms inside tanh?",
        ),
    ),
)


def _tokens_first_with(squash: Callable, X, h_0, W_x, W_h, b):
    states = [h_0]
    for x in X:
        states.append(squash(x @ W_x + states[-1] @ W_h + b))
    return np.array(states[1:])


# ---------------------------------------------------------------------------------------------- the product


def _product_probes(rng: np.random.Generator) -> list[Probe]:
    n, d_h = distinct_sizes(rng, 2, low=3, high=6)

    def states(steps: int, size: int) -> np.ndarray:
        return rng.uniform(-0.8, 0.8, size=(steps, size))

    def weights(size: int) -> np.ndarray:
        return rng.normal(size=(size, size))

    return [
        Probe("one step, two numbers", (np.array([[0.0, 0.5]]), np.array([[1.0, 2.0], [3.0, 4.0]]))),
        Probe("two steps", (states(2, 3), weights(3))),
        Probe("several steps", (states(n, d_h), weights(d_h))),
        Probe("states of one number", (states(4, 1), weights(1))),
        Probe("no step at all", (np.zeros((0, 3)), weights(3)), extreme=True),
        Probe("a state at its bound, where tanh is flat", (np.array([[0.5, -1.0], [0.2, 0.3]]), weights(2))),
    ]


def _slopes(H: np.ndarray) -> np.ndarray:
    return 1 - H**2


def _product(factors: Sequence[np.ndarray], size: int) -> np.ndarray:
    return functools.reduce(np.matmul, factors, np.eye(size))


def _from_the_end(H, W_h):
    product = np.eye(len(W_h))
    for h in H[::-1]:
        product = (W_h * (1 - h**2)) @ product
    return product


def _as_columns(H, W_h):
    product = np.eye(len(W_h))
    for h in H:
        product = np.diag(1 - h**2) @ W_h.T @ product
    return product.T


def _nudge_by_nudge(H, W_h):
    nudges = np.eye(len(W_h))
    for h in H:
        nudges = (nudges @ W_h) * (1 - h * h)
    return nudges


JACOBIANS = Exercise(
    id="rnn_limitations/jacobian_product",
    title="All steps in one matrix: the product of Jacobians",
    minutes=12,
    difficulty="hard",
    kind="fill",
    reference=jacobian_product,
    probes=_product_probes,
    right_answers={"from_the_end": _from_the_end, "as_columns": _as_columns, "nudge_by_nudge": _nudge_by_nudge},
    mistakes=(
        Mistake(
            "sum_for_product",
            lambda H, W_h: sum((W_h * s for s in _slopes(H)), np.zeros_like(W_h)),
            what="The matrices of the steps are added up, not multiplied.",
            why="A nudge goes through the steps one after the other, so each step multiplies what the last one left. A "
            "sum would grow with the distance where the true signal fades.",
            where="The line in the loop that joins the old result with the new step; and what you start from.",
        ),
        Mistake(
            "slope_of_tanh_forgotten",
            lambda H, W_h: np.linalg.matrix_power(W_h, len(H)),
            what="Each step is `W_h` alone: the slope of tanh is missing.",
            why="Then the states in `H` make no difference, and a state near its bound would pass a nudge on in full.",
            where="How much does tanh change when its input is nudged? In terms of what came out, h.",
        ),
        Mistake(
            "not_squared",
            lambda H, W_h: _product([W_h * (1 - h) for h in H], len(W_h)),
            what="The slope is taken as 1 − h: the square is missing.",
            why="For negative h the slope would be above 1, and tanh is nowhere steeper than 1.",
            where="The derivative of tanh, written with h = tanh(…).",
        ),
        Mistake(
            "slope_on_the_old_state",
            lambda H, W_h: _product([W_h * (1 - h**2)[:, None] for h in H], len(W_h)),
            what="The slopes scale the rows of `W_h`, where they should scale its columns.",
            why="Row i belongs to entry i of the old state, column j to entry j of the new one, which tanh made.",
            where="The multiplication of `W_h` with the slopes: along which axis do the slopes run?",
        ),
        Mistake(
            "one_step_transposed",
            lambda H, W_h: _product([W_h.T * (1 - h**2)[:, None] for h in H], len(W_h)),
            what="Each matrix is the transpose of the step: rows for the new state, columns for the old.",
            why="That is right where vectors are columns. Here they are rows (`nudge @ step`), and the product of "
            "transposes in this order is not even the transpose of the right product.",
            where="Entry (i, j) of a step: which of the two belongs to the old state?",
        ),
        Mistake(
            "whole_transposed",
            lambda H, W_h: _from_the_end(H, W_h).T,
            what="The result is right but transposed.",
            why="`nudge @ product` then follows the wrong axis: rows belong to the first state, columns to the last.",
            where="Did a column convention slip in (`step @ nudge`)? Then one transpose at the end is missing.",
        ),
        Mistake(
            "wrong_order",
            lambda H, W_h: _product([W_h * s for s in _slopes(H)[::-1]], len(W_h)),
            what="The steps are multiplied in the opposite order.",
            why="For matrices the order counts: a row on the left meets the leftmost matrix first, and that must be "
            "the first step.",
            where="On which side of the old result does the new step go?",
        ),
        Mistake(
            "entry_by_entry",
            lambda H, W_h: functools.reduce(np.multiply, [W_h * s for s in _slopes(H)], np.ones_like(W_h)),
            what="The matrices are multiplied entry by entry (`*`), not as matrices (`@`).",
            why="A nudge of one entry spreads to all entries in a step; entry by entry it could not.",
            where="The sign between the old result and the new step; and what to start from.",
        ),
        Mistake(
            "last_step_only",
            lambda H, W_h: W_h * (1 - H[-1] ** 2),
            what="Only the last step is returned.",
            why="That says what one step does to a nudge, not what is left of it after all of them.",
            where="Does each round of the loop use the result of the round before?",
        ),
        Mistake(
            "first_step_left_out",
            lambda H, W_h: _product([W_h * s for s in _slopes(H)[1:]], len(W_h)),
            what="The first step is left out.",
            why="The nudge is given before the first step, to h_0; the first row of `H` is already the state after it.",
            where="With which row of `H` does your loop begin?",
        ),
        Mistake(
            "last_step_left_out",
            lambda H, W_h: _product([W_h * s for s in _slopes(H)[:-1]], len(W_h)),
            what="The last step is left out.",
            why="There are as many steps as rows in `H`, each with the slope at the state that it made.",
            where="With which row of `H` does your loop end?",
        ),
        Mistake(
            "norm_returned",
            lambda H, W_h: np.linalg.norm(_from_the_end(H, W_h), 2),
            what="A single number comes back, the norm of the product.",
            why="That is what the picture in the lesson draws; here the matrix itself is asked for.",
            where="The last line.",
        ),
    ),
)


# ---------------------------------------------------------------------------------------------- table 1

ATTENTION, RECURRENT, EITHER = "self-attention", "recurrent", "either"


def operations(layer: str, n: int, d: int) -> int:
    """Return the number of multiplications that table 1 gives for a layer of width d over n words."""
    if layer == ATTENTION:
        return n**2 * d
    if layer == RECURRENT:
        return n * d**2
    raise ValueError(f"layer: wanted {ATTENTION} or {RECURRENT}, got {layer!r}")


def _operations_probes(rng: np.random.Generator) -> list[Probe]:
    n, d = (int(size) for size in rng.permutation(np.arange(11, 30))[:2])
    sizes = [
        ("a short sentence", 10, 512),
        ("a long text", 5000, 64),
        ("other sizes", n, d),
        ("as long as wide", 64, 64),
    ]
    probes = [Probe(name, (layer, n, d)) for name, n, d in sizes for layer in (ATTENTION, RECURRENT)]
    return [*probes, Probe("a single word", (ATTENTION, 1, 8), extreme=True)]


def _counts(of_attention: Callable, of_recurrent: Callable) -> Callable:
    return lambda layer, n, d: of_attention(n, d) if layer == ATTENTION else of_recurrent(n, d)


def _square(n, d):
    return n * n * d


def _weights_each_step(n, d):
    return n * d * d


OPERATIONS = Exercise(
    id="rnn_limitations/operations",
    title="Table 1: how much work a layer does",
    minutes=5,
    difficulty="easy",
    kind="fill",
    reference=operations,
    probes=_operations_probes,
    right_answers={
        "floats": lambda layer, n, d: float(n) * d * (n if layer == ATTENTION else d),
        "by_a_dictionary": lambda layer, n, d: {ATTENTION: n * n * d, RECURRENT: d * d * n}[layer],
    },
    mistakes=(
        Mistake(
            "layers_swapped",
            _counts(_weights_each_step, _square),
            what="The two layers have each other's count.",
            why="It is attention that compares every word with every other; the recurrent layer multiplies by a square "
            "matrix once a word.",
            where="Which of the two grows four times when the text is twice as long?",
        ),
        Mistake(
            "one_query_only",
            _counts(lambda n, d: n * d, _weights_each_step),
            what="For attention only one word's look around is counted.",
            why="One word compares itself with all n words; but every word does so.",
            where="How many words look, and at how many?",
        ),
        Mistake(
            "width_forgotten",
            _counts(lambda n, d: n * n, _weights_each_step),
            what="For attention the pairs of words are counted, not the work for each pair.",
            why="To compare two words is a dot product: d multiplications.",
            where="What does one comparison cost?",
        ),
        Mistake(
            "one_step_only",
            _counts(_square, lambda n, d: d * d),
            what="For the recurrent layer one step is counted.",
            why="The matrix is used again at every word; short and long texts would cost the same.",
            where="How many steps are there?",
        ),
        Mistake(
            "state_as_one_number",
            _counts(_square, lambda n, d: n * d),
            what="For the recurrent layer each step is counted as d multiplications.",
            why="The state is multiplied by a matrix of d rows and d columns, not by d numbers.",
            where="How many entries has `W_h`?",
        ),
        Mistake(
            "sum_for_product",
            _counts(lambda n, d: n**2 + d, lambda n, d: n + d**2),
            what="The factors are added.",
            why="The work is done for each word and again for the next: counts of nested loops multiply.",
            where="The signs between n and d.",
        ),
        Mistake(
            "sequential_steps",
            _counts(lambda n, d: 1, lambda n, d: n),
            what="These are the steps that wait for each other, the next column of table 1.",
            why="How long the chain is and how much work there is in all are two questions; attention is better in the "
            "first and, for long texts, worse in the second.",
            where="The column of the table: operations, not sequential steps.",
        ),
        Mistake(
            "same_for_both",
            _counts(_square, _square),
            what="Both layers get n² · d.",
            why="In the recurrent layer no word is compared with another word: a state meets a matrix, n times.",
            where="Does your function look at `layer`?",
        ),
    ),
)


def cheaper(n: int, d: int) -> str:
    """Return the layer that does less work by table 1, or "either"."""
    if n == d:
        return EITHER
    return ATTENTION if n < d else RECURRENT


def _cheaper_probes(rng: np.random.Generator) -> list[Probe]:
    small, large = sorted(int(size) for size in rng.permutation(np.arange(40, 400))[:2])
    sizes = [
        ("a sentence in the paper's model", 30, 512),
        ("a chapter in the paper's model", 5000, 512),
        ("eight words in a narrow model", 8, 64),
        ("as long as wide", 64, 64),
        ("a little shorter than wide", small, large),
        ("a little longer than wide", large, small),
        ("longer than a narrow model is wide", 300, 16),
        ("a book in a wide model", 1000, 4096),
    ]
    return [Probe(name, tuple(pair)) for name, *pair in sizes]


CHEAPER = Exercise(
    id="rnn_limitations/cheaper",
    title="Table 1: who does less work, and where they cross",
    minutes=5,
    difficulty="easy",
    kind="predict",
    reference=cheaper,
    probes=_cheaper_probes,
    right_answers={
        "by_the_counts": lambda n, d: (
            EITHER if n * n * d == n * d * d else min((n * n * d, ATTENTION), (n * d * d, RECURRENT))[1]
        ),
        "by_the_sign": lambda n, d: [EITHER, RECURRENT, ATTENTION][int(np.sign(n - d))],
    },
    mistakes=(
        Mistake(
            "attention_is_always_cheaper",
            lambda n, d: ATTENTION,
            what="The answer is attention, whatever the length.",
            why="It is what is often said, and it mixes two things up: attention always has the shorter chain, but its "
            "work grows with n².",
            where="Double n and keep d: what becomes of the two counts?",
        ),
        Mistake(
            "recurrent_is_always_cheaper",
            lambda n, d: RECURRENT,
            what="The answer is the recurrent layer, whatever the length.",
            why="With 30 words and d = 512 each word meets a matrix of 512 × 512 in the recurrent layer, but only "
            "30 words in attention.",
            where="Put n = 30 and d = 512 into both counts.",
        ),
        Mistake(
            "swapped",
            lambda n, d: {ATTENTION: RECURRENT, RECURRENT: ATTENTION}.get(cheaper(n, d), EITHER),
            what="The crossing is at the right place and the two sides are swapped: this is who does more.",
            why="Long texts are hard for attention and short ones are cheap.",
            where="The direction of the comparison.",
        ),
        Mistake(
            "tie_given_to_attention",
            lambda n, d: ATTENTION if n <= d else RECURRENT,
            what="At the crossing itself attention is said to be cheaper.",
            why="There both do the same work, and the answer is `either`.",
            where="Which two numbers are equal at the crossing? Is that case in your function?",
        ),
        Mistake(
            "tie_given_to_recurrent",
            lambda n, d: ATTENTION if n < d else RECURRENT,
            what="At the crossing itself the recurrent layer is said to be cheaper.",
            why="There both do the same work, and the answer is `either`.",
            where="Which two numbers are equal at the crossing? Is that case in your function?",
        ),
        Mistake(
            "fixed_width",
            lambda n, d: EITHER if n == 512 else ATTENTION if n < 512 else RECURRENT,
            what="The crossing is put at 512, the width of the paper's model, whatever `d` is.",
            why="A wider model makes every recurrent step dearer by d²: its crossing comes later.",
            where="Does your function look at `d`?",
        ),
        Mistake(
            "one_step_against_all_pairs",
            lambda n, d: EITHER if n * n == d else ATTENTION if n * n < d else RECURRENT,
            what="All pairs of words are compared with a single recurrent step.",
            why="The recurrent layer takes n steps, so its count has a factor n too.",
            where="Write down both counts and divide each by what they share.",
        ),
    ),
)


# ---------------------------------------------------------------------------------------------- whispers


def whispers(keep: float, m: int, hops: int) -> float:
    """Return the probability that the symbol is right after so many hops: still whole, or hit by luck.

    It is still whole with probability keepʰᵒᵖˢ; if it was ever replaced, one of m is right by luck.
    """
    whole = keep**hops
    return whole + (1 - whole) / m


def _whispers_probes(rng: np.random.Generator) -> list[Probe]:
    keep, m, hops = round(float(rng.uniform(0.6, 0.85)), 2), int(rng.integers(3, 8)), int(rng.integers(3, 7))
    return [
        Probe("one hop, a coin for a symbol", (0.5, 2, 1)),
        Probe("two hops", (0.8, 4, 2)),
        Probe("several hops", (keep, m, hops)),
        Probe("the lesson's game", (0.9, 8, 10)),
        Probe("nobody hears anything", (0.0, 5, 3)),
        Probe("everybody hears everything", (1.0, 5, 7)),
        Probe("before the first hop", (0.7, 6, 0)),
        Probe("so many hops that only luck is left", (0.9, 8, 1000), extreme=True),
    ]


def _hop_by_hop(keep, m, hops):
    right = 1.0
    for _ in range(hops):
        right = keep * right + (1 - keep) / m
    return right


def _as_a_matrix(keep, m, hops):
    hop = keep * np.eye(m) + (1 - keep) / m * np.ones((m, m))
    return np.linalg.matrix_power(hop, hops)[0, 0]


WHISPERS = Exercise(
    id="rnn_limitations/whispers",
    title="Whispers: what arrives after T hops",
    minutes=10,
    difficulty="medium",
    kind="measure",
    reference=whispers,
    probes=_whispers_probes,
    right_answers={
        "hop_by_hop": _hop_by_hop,
        "as_a_matrix": _as_a_matrix,
        "from_chance_up": lambda keep, m, hops: 1 / m + (1 - 1 / m) * keep**hops,
    },
    mistakes=(
        Mistake(
            "luck_forgotten",
            lambda keep, m, hops: keep**hops,
            what="This is the probability that nobody misheard.",
            why="Someone who mishears names one of m symbols at random, now and then the right one. After very many "
            "hops the right symbol still comes out once in m times, not never.",
            where="In how many ways can the right symbol arrive?",
        ),
        Mistake(
            "right_at_every_hop",
            lambda keep, m, hops: (keep + (1 - keep) / m) ** hops,
            what="This asks that the symbol is right after every single hop.",
            why="A symbol that was lost can come back by luck at a later hop; only the end counts.",
            where="Two hops: list the ways in which the end is right. One of them is wrong in the middle.",
        ),
        Mistake(
            "sum_for_product",
            lambda keep, m, hops: max(1 - hops * (1 - keep), 0.0),
            what="The losses of the hops are added up: hops × (1 − keep).",
            why="Each hop loses a share of what is left, not of the whole. That is why the signal fades as a power.",
            where="What is left after two hops, if each keeps 0.8? Then apply the luck.",
        ),
        Mistake(
            "one_hop_only",
            lambda keep, m, hops: keep + (1 - keep) / m,
            what="This is what arrives after one hop.",
            why="Each further hop can lose the symbol again.",
            where="Where does `hops` stand in your answer?",
        ),
        Mistake(
            "luck_of_one_hop",
            lambda keep, m, hops: keep**hops + (1 - keep) / m,
            what="The luck is counted for one mishearing hop only.",
            why="The symbol was replaced somewhere unless every hop kept it: the luck belongs to all of these cases.",
            where="What is the probability that at least one hop misheard?",
        ),
        Mistake(
            "all_luck",
            lambda keep, m, hops: keep**hops + 1 / m,
            what="Luck is added in full, also where nobody misheard.",
            why="Then nobody mishearing gives a probability above 1.",
            where="In which share of the games is luck needed at all?",
        ),
        Mistake(
            "another_symbol",
            lambda keep, m, hops: 1 / m + (1 - 1 / m) * (keep - (1 - keep) / (m - 1)) ** hops,
            what="The one who mishears always names another symbol than the one that came.",
            why="In this game the new symbol is one of all m, the old one among them.",
            where="How many symbols can the one who mishears choose from?",
        ),
        Mistake(
            "one_hop_too_few",
            lambda keep, m, hops: whispers(keep, m, max(hops - 1, 0)),
            what="One hop is missing.",
            why="T hops are T chances to mishear, the first and the last among them.",
            where="The bounds of your loop, or the exponent.",
        ),
        Mistake(
            "chance",
            lambda keep, m, hops: 1 / m,
            what="This is what is left after endlessly many hops: chance.",
            why="After few hops the symbol often arrives whole.",
            where="How often did nobody mishear?",
        ),
    ),
)

EXERCISES = (STEP, LOOP, JACOBIANS, OPERATIONS, CHEAPER, WHISPERS)

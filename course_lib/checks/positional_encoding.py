"""The exercises of the lesson *Positional encoding*: probes, references and known mistakes."""

from itertools import permutations

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe, Remark, distinct_sizes
from course_lib.reference.attention import attention
from course_lib.reference.masks import causal_mask
from course_lib.reference.positions import add_positions, alibi_bias, rotate, sinusoidal_positions


def _table(rng, *shape):
    """Draw numbers with two digits, none of them zero, so that small tables can be read in a message."""
    return rng.normal(size=shape).round(2) + 0.001


# --- 1. the matrix --------------------------------------------------------------------------------------------------


def _matrix_probes(rng):
    n, pairs = distinct_sizes(rng, 2, low=3)
    return [
        Probe("three positions of four numbers", (3, 4)),
        Probe("as many positions as numbers", (6, 6)),
        Probe("other sizes", (n, 2 * pairs)),
        Probe("more positions than numbers", (12, 8)),
        Probe("two numbers a position", (5, 2), extreme=True),
        Probe("an odd number of numbers", (4, 5), extreme=True),
        Probe("one position", (1, 6), extreme=True),
    ]


def _even(d_model):
    return np.arange(0, d_model, 2)


def _interleaved(sines, cosines, d_model):
    P = np.empty((len(sines), d_model))
    P[:, 0::2], P[:, 1::2] = sines, cosines[:, : d_model // 2]
    return P


def _sinusoids(angles_of, first=np.sin, second=np.cos, positions=np.arange):
    """Make a wrong matrix: other angles, other functions, or other positions."""

    def answer(n, d_model):
        angles = angles_of(positions(n)[:, None], d_model)
        return _interleaved(first(angles), second(angles), d_model)

    return answer


def _right_angles(p, d_model):
    return p / 10000 ** (_even(d_model) / d_model)


def _in_halves(n, d_model):
    angles = _right_angles(np.arange(n)[:, None], d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :d_model]


def _as_in_tensor2tensor(n, d_model):
    half = d_model // 2
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(half) / max(half - 1, 1))
    P = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.pad(P, ((0, 0), (0, d_model % 2)))


def _speed_for_each_column(factor):
    """Make a matrix whose every column has an exponent of its own, `factor` times its number / d_model."""

    def answer(n, d_model):
        angles = np.arange(n)[:, None] / 10000 ** (factor * np.arange(d_model) / d_model)
        P = np.sin(angles)
        P[:, 1::2] = np.cos(angles[:, 1::2])
        return P

    return answer


def _raises_on_odd(n, d_model):
    angles = _right_angles(np.arange(n)[:, None], d_model)
    P = np.zeros((n, d_model))
    P[:, 0::2] = np.sin(angles)
    P[:, 1::2] = np.cos(angles)
    return P


def _by_loops(n, d_model):
    rows = []
    for p in range(n):
        angles = [p / 10000 ** ((column - column % 2) / d_model) for column in range(d_model)]
        rows.append([np.cos(a) if column % 2 else np.sin(a) for column, a in enumerate(angles)])
    return rows


def _by_phase(n, d_model):
    column = np.arange(d_model)
    speeds = np.exp(-np.log(10000) * (column // 2 * 2) / d_model)
    return np.sin(np.outer(np.arange(n), speeds) + np.pi / 2 * (column % 2))


def _by_complex_numbers(n, d_model):
    turns = np.exp(1j * np.arange(n)[:, None] / 10000 ** (_even(d_model) / d_model))
    return np.stack([turns.imag, turns.real], axis=-1).reshape(n, -1)[:, :d_model]


MATRIX = Exercise(
    id="positional_encoding/sinusoidal_positions",
    title="The matrix of sines and cosines",
    minutes=10,
    difficulty="medium",
    kind="fill",
    reference=sinusoidal_positions,
    probes=_matrix_probes,
    right_answers={
        "loops": _by_loops,
        "a cosine is a sine a quarter turn later": _by_phase,
        "complex numbers": _by_complex_numbers,
    },
    mistakes=(
        Mistake(
            "halves",
            _in_halves,
            what="All sines stand on the left and all cosines on the right. The numbers are right, the columns stand "
            "in another order.",
            why="A model trained so is as good: its matrices learn to live with either order. But two programs must "
            "agree on one, or a table of the one does not fit the model of the other. The paper writes them in turn.",
            where="Which columns are 2i, which are 2i + 1? (A slice with a step of two gets every other one.)",
        ),
        Mistake(
            "tensor2tensor",
            _as_in_tensor2tensor,
            what="This is what the authors' own program (Tensor2Tensor) computes: sines left, cosines right, and "
            "exponents that run to exactly 1.",
            why="It works as well, and it is not what section 3.5 says. A table of this kind in a model of the other "
            "kind is wrong without an error.",
            where="Go by the paper's two lines: the exponent is 2i / d_model, and sine and cosine take turns.",
        ),
        Mistake(
            "missing_two",
            _sinusoids(lambda p, d: p / 10000 ** (np.arange(len(_even(d))) / d)),
            what="The exponent is i / d_model, where 2i / d_model is asked for.",
            why="The slowest hand then makes a step of about 1/100, not of about 1/10000: far positions look alike "
            "sooner.",
            where="i counts the pairs. What is the number of a pair's first column?",
        ),
        Mistake(
            "own_exponent_for_each_column",
            _speed_for_each_column(1),
            what="Each column has a speed of its own: the cosines take their own column number into the exponent.",
            why="Sine and cosine of *different* angles are no clock hand: their squares do not sum to 1, and a step is "
            "no rotation.",
            where="In both of the paper's lines the exponent is 2i / d_model, also in the one for column 2i + 1.",
        ),
        Mistake(
            "column_for_i",
            _speed_for_each_column(2),
            what="The number of the column was taken for i: column 3 got the exponent 6 / d_model.",
            why="i counts the *pairs*. So every column got a speed of its own, and the last ones hardly move at all.",
            where="In the paper's lines, column 2i and column 2i + 1 have the same i. Which i has column 3?",
        ),
        Mistake(
            "exponent_doubled",
            _sinusoids(lambda p, d: p / 10000 ** (2 * _even(d) / d)),
            what="The exponents are twice too large: 2 was multiplied in twice, or d_model was halved.",
            why="Half of the hands then hardly move at all.",
            where="The columns 0, 2, 4, … are 2i already.",
        ),
        Mistake(
            "multiplied",
            _sinusoids(lambda p, d: p * 10000 ** (_even(d) / d)),
            what="The position is multiplied by the power of 10000, not divided by it.",
            why="Then the hands get faster from pair to pair, up to thousands of turns a step, and look random.",
            where="The sign between `pos` and the power. Column 0 is right in both cases, so look at the later ones.",
        ),
        Mistake(
            "not_divided_by_d_model",
            _sinusoids(lambda p, d: p / 10000.0 ** _even(d)),
            what="The exponent is 2i, not 2i / d_model.",
            why="Already the second pair is divided by 10000² and stands still.",
            where="The exponent must run from 0 to just below 1.",
        ),
        Mistake(
            "integer_division",
            _sinusoids(lambda p, d: p / 10000 ** (_even(d) // d)),
            what="All pairs have the same angle. The exponent came out as 0 everywhere: `//` drops what follows the "
            "point.",
            why="With one speed only, position 6 and position 0 look nearly the same (a turn is 6.28 steps).",
            where="The division in the exponent.",
        ),
        Mistake(
            "base_1000",
            _sinusoids(lambda p, d: p / 1000 ** (_even(d) / d)),
            what="The base is 1000, not 10000.",
            why="It would work in a model, up to shorter lengths. It is not the paper's table.",
            where="Count the zeros.",
        ),
        Mistake(
            "starts_at_one",
            _sinusoids(_right_angles, positions=lambda n: np.arange(1, n + 1)),
            what="The first row belongs to position 1.",
            why="A model would hardly mind. But rows that are one off do not fit a model trained with the others.",
            where="The first row is position 0: every sine 0, every cosine 1.",
        ),
        Mistake(
            "degrees",
            _sinusoids(lambda p, d: np.deg2rad(_right_angles(p, d))),
            what="The angles were taken as degrees.",
            why="Then even the fastest hand needs 360 steps for a turn: neighbours look nearly the same.",
            where="The paper's angle is in radians, as `np.sin` wants it: no conversion.",
        ),
        Mistake(
            "full_turns",
            _sinusoids(lambda p, d: 2 * np.pi * _right_angles(p, d)),
            what="The angles were multiplied by 2π.",
            why="Then the first hand makes a full turn a step and stands at 0 for every position.",
            where="The paper has no π inside sine and cosine.",
        ),
        Mistake(
            "all_sines",
            _sinusoids(_right_angles, second=np.sin),
            what="Every column is a sine.",
            why="A sine alone cannot tell the two halves of its turn apart, and a step is no rotation.",
            where="The odd columns.",
        ),
        Mistake(
            "all_cosines",
            _sinusoids(_right_angles, first=np.cos),
            what="Every column is a cosine.",
            why="A cosine alone cannot tell forwards from backwards, and a step is no rotation.",
            where="The even columns.",
        ),
        Mistake(
            "swapped",
            _sinusoids(_right_angles, first=np.cos, second=np.sin),
            what="Sines and cosines have changed places.",
            why="A model would not mind, but the paper has the sine in column 0.",
            where="Position 0 must come out as zeros and ones in turn, a zero first.",
        ),
        Mistake(
            "transposed",
            lambda n, d_model: sinusoidal_positions(n, d_model).T,
            what="There is a column for each position.",
            why="A token's vector is a row, so its position must be one too, or they cannot be added.",
            where="Wanted is the shape (n, d_model). Which of the two factors needs `[:, None]`?",
        ),
        Mistake(
            "reversed",
            lambda n, d_model: sinusoidal_positions(n, d_model)[::-1],
            what="The positions run backwards.",
            why="Then what a position looks like depends on how long the sentence is.",
            where="Row 0 is position 0: every sine 0, every cosine 1.",
        ),
        Mistake(
            "odd_raises",
            _raises_on_odd,
            what="Everything is right but for an odd d_model, where there is one more sine than there are cosines.",
            why="With 5 columns, three are even and two are odd.",
            where="The line that fills the odd columns: leave out what finds no place.",
        ),
    ),
)

# --- 2. added to the tokens -----------------------------------------------------------------------------------------


def _adding_probes(rng):
    def pair(batch, n, longest, d_model):
        return _table(rng, batch, n, d_model), _table(rng, longest, d_model)

    batch, n, d_model = distinct_sizes(rng, 3, high=6)
    return [
        Probe("one sentence, and a table that just fits", pair(1, 2, 2, 4)),
        Probe("two sentences of three words", pair(2, 3, 5, 4)),
        Probe("as many sentences as words", pair(3, 3, 3, 2)),
        Probe("everything of one size", pair(4, 4, 4, 4)),
        Probe("other sizes, all different", pair(batch, n, n + batch, d_model)),
        Probe("a table that is much longer", pair(3, 2, 9, 5)),
        Probe("one word a sentence", pair(3, 1, 4, 2), extreme=True),
        Probe("no sentence at all", pair(0, 3, 4, 2), extreme=True),
        Probe("more words than the table has rows", pair(2, 5, 3, 4)),
        Probe("three words and a table of a single row", pair(2, 3, 1, 4), extreme=True),
    ]


def _rows(choose):
    """Make a wrong answer that adds these rows of P to each sentence."""
    return lambda X, P: X + P[choose(X.shape[1], len(P))]


def _along_the_batch(X, P):
    return X + P[: len(X), None]


def _only_as_far_as_it_goes(X, P):
    result = X.copy()
    n = min(X.shape[1], len(P))
    result[:, :n] += P[:n]
    return result


def _first_sentence_only(X, P):
    result = X.copy()
    result[:1] = add_positions(X[:1], P)
    return result


def _beside(X, P):
    return np.concatenate([X, np.broadcast_to(P[: X.shape[1]], X.shape)], axis=-1)


def _checked(answer):
    """Let an answer raise where the reference does, so that a mistake in the sum differs in the sum alone."""

    def careful(X, P):
        add_positions(X, P)
        return answer(X, P)

    return careful


ADDING = Exercise(
    id="positional_encoding/add_positions",
    title="Adding positions to a batch",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=add_positions,
    probes=_adding_probes,
    right_answers={
        "a loop over the batch": _checked(lambda X, P: np.array([x + P[: len(x)] for x in X]).reshape(X.shape)),
        "an axis for the batch": _checked(lambda X, P: X + P[None, : X.shape[1]]),
        "by indices": lambda X, P: X + np.take(P, np.arange(X.shape[1]), axis=0),
    },
    remarks=(
        Remark(
            "no_question_asked",
            lambda X, P: X + P[: X.shape[1]],
            "with a table of a single row NumPy raises no error for you: it broadcasts, and every word gets position "
            "0. Comparing the two lengths yourself is safer.",
        ),
    ),
    mistakes=(
        Mistake(
            "along_the_batch",
            _along_the_batch,
            what="The positions run along the batch: the first *sentence* got position 0, the second position 1.",
            why="Within a sentence all words then have the same place, and the order is as invisible as before. Worse, "
            "a sentence's result depends on who else is in its batch. No error tells you.",
            where="Axis 0 of X counts the sentences, axis 1 the words. Which of the two must P's rows stand along?",
        ),
        Mistake(
            "not_cut",
            lambda X, P: X + P,
            what="The whole table was added, though the sentences are shorter than it.",
            why="Shapes (batch, 3, d_model) and (5, d_model) do not fit.",
            where="How many rows of P does a sentence of n words need, and which?",
        ),
        Mistake(
            "last_rows",
            _checked(lambda X, P: X + P[len(P) - X.shape[1] :]),
            what="The last rows of P were taken.",
            why="The first word then gets a position that depends on how long the table happens to be.",
            where="The slice: the first word stands at position 0.",
        ),
        Mistake(
            "one_row_for_all",
            _checked(lambda X, P: X + P[0]),
            what="Every word got the row of position 0.",
            why="The same for all tells nobody where he stands.",
            where="How many rows of P are needed?",
        ),
        Mistake(
            "first_sentence_only",
            _first_sentence_only,
            what="Only the first sentence got its positions.",
            why="Every sentence of the batch has a first word, and all those need row 0.",
            where="NumPy adds (n, d_model) to (batch, n, d_model) for each sentence by itself: no index is needed.",
        ),
        Mistake(
            "multiplied",
            _checked(lambda X, P: X * P[: X.shape[1]]),
            what="The positions were multiplied in.",
            why="At position 0 half of P is zero: that would erase half of the first word.",
            where="The operator.",
        ),
        Mistake(
            "concatenated",
            _checked(_beside),
            what="The positions stand beside the words, not on top of them: the vectors are twice as long.",
            why="Not a foolish idea, and the model would have to be wider for it. The paper adds.",
            where="Wanted is the shape of X.",
        ),
        Mistake(
            "reversed",
            _checked(lambda X, P: X + P[: X.shape[1]][::-1]),
            what="The first word got the last position.",
            why="What a position looks like would depend on how long the sentence is.",
            where="The order of the rows.",
        ),
        Mistake(
            "words_scaled_here",
            _checked(lambda X, P: X * np.sqrt(X.shape[-1]) + P[: X.shape[1]]),
            what="The words were multiplied by √d_model here.",
            why="They must be, once, when they are looked up; done here again it would happen twice.",
            where="Only add. The next function looks words up.",
        ),
        Mistake(
            "starts_again",
            _rows(lambda n, longest: np.arange(n) % longest),
            what="Where P has no more rows, it is begun again.",
            why="Then two words of one sentence share a place, and nobody notices. Too long is an error to be told.",
            where="If X has more words than P has rows, raise a ValueError.",
        ),
        Mistake(
            "stays_at_the_last",
            _rows(lambda n, longest: np.minimum(np.arange(n), longest - 1)),
            what="Beyond the end of P all words get its last row.",
            why="Then their order is invisible, and nobody notices. Too long is an error to be told.",
            where="If X has more words than P has rows, raise a ValueError.",
        ),
        Mistake(
            "nothing_beyond",
            _only_as_far_as_it_goes,
            what="Beyond the end of P the words get no position at all.",
            why="Then their order is invisible, and nobody notices. Too long is an error to be told.",
            where="If X has more words than P has rows, raise a ValueError.",
        ),
    ),
)


def embed(ids, E, P):
    """Look each id up in E, multiply by √d_model, and add the position of each."""
    X = E[ids] * np.sqrt(E.shape[1])  # (batch, n, d_model)
    return X + P[: ids.shape[1]]


def _embed_probes(rng):
    def draw(batch, n, longest, vocab, d_model):
        return rng.integers(vocab, size=(batch, n)), _table(rng, vocab, d_model), _table(rng, longest, d_model)

    batch, n, d_model = distinct_sizes(rng, 3, low=3, high=7)
    return [
        Probe("one sentence of two words", draw(1, 2, 2, 3, 4)),
        Probe("two sentences of three words", draw(2, 3, 6, 7, 5)),
        Probe("as many sentences as words", draw(3, 3, 5, 6, 8)),
        Probe("other sizes, all different", draw(batch, n, n + batch, 11, d_model)),
        Probe("everything of one size", draw(4, 4, 4, 4, 4)),
        Probe("one number a word", draw(2, 3, 3, 4, 1), extreme=True),
    ]


def _embedded(words=lambda X: X, places=lambda P: P, after=lambda Y: Y):
    def answer(ids, E, P):
        return after(words(E[ids]) + places(P[: ids.shape[1]]))

    return answer


def _root(X):
    return np.sqrt(X.shape[-1])


EMBED = Exercise(
    id="positional_encoding/embed",
    title="From ids to tokens with a place",
    minutes=4,
    difficulty="easy",
    kind="fill",
    reference=embed,
    probes=_embed_probes,
    right_answers={
        "word by word": lambda ids, E, P: [[E[i] * len(E[i]) ** 0.5 + P[p] for p, i in enumerate(row)] for row in ids],
        "one-hot rows times E": lambda ids, E, P: np.eye(len(E))[ids] @ (E * _root(E)) + P[: ids.shape[1]],
    },
    mistakes=(
        Mistake(
            "root_forgotten",
            _embedded(),
            what="√d_model was forgotten.",
            why="Embeddings that begin as the paper's do are then far smaller than the positions, and the words drown "
            "in their places.",
            where="After the look-up, before the sum.",
        ),
        Mistake(
            "both_scaled",
            _embedded(after=lambda Y: Y * _root(Y)),
            what="The sum of word and position was multiplied by √d_model.",
            why="Then the positions have grown as well, and the words drown in their places as before.",
            where="What is multiplied, and what is added only afterwards?",
        ),
        Mistake(
            "positions_scaled",
            _embedded(places=lambda P: P * _root(P)),
            what="The positions were multiplied by √d_model, not the words.",
            why="They are the larger ones already.",
            where="The factor belongs to the embedding.",
        ),
        Mistake(
            "divided",
            _embedded(words=lambda X: X / _root(X)),
            what="The words were divided by √d_model.",
            why="It is the scores of attention that are divided by a root; the embeddings are multiplied.",
            where="The sign between E and the root.",
        ),
        Mistake(
            "by_d_model",
            _embedded(words=lambda X: X * X.shape[-1]),
            what="The words were multiplied by d_model itself.",
            why="Then they drown the positions.",
            where="Section 3.4 takes the root.",
        ),
        Mistake(
            "root_of_the_vocabulary",
            lambda ids, E, P: E[ids] * np.sqrt(len(E)) + P[: ids.shape[1]],
            what="The root is that of the number of words, not of d_model.",
            why="How long a word's vector is has nothing to do with how many words there are.",
            where="E has the shape (vocab, d_model): which of the two do you need?",
        ),
        Mistake(
            "positions_by_id",
            lambda ids, E, P: E[ids] * _root(E) + P[ids % len(P)],
            what="The rows of P were looked up by the words' ids.",
            why="A place is where a word stands, not which word it is.",
            where="Which rows of P does any sentence of n words get?",
        ),
        Mistake(
            "no_positions",
            lambda ids, E, P: E[ids] * _root(E),
            what="The positions are missing.",
            why="Then man eats fish and fish eats man are the same again.",
            where="The sum.",
        ),
        Mistake(
            "along_the_batch",
            lambda ids, E, P: E[ids] * _root(E) + P[: len(ids), None],
            what="The positions run along the batch.",
            why="Within a sentence all words then have the same place.",
            where="Axis 0 counts the sentences, axis 1 the words.",
        ),
    ),
)

# --- 3. the rotation ------------------------------------------------------------------------------------------------


def rotation_matrix(k, d_model):
    """Return the matrix that turns the encoding of any position into that of k positions later."""
    angles = k / 10000 ** (np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, angle in enumerate(angles):
        cos, sin = np.cos(angle), np.sin(angle)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, sin], [-sin, cos]]
    return M


def _rotation_probes(rng):
    return [
        Probe("one step, a single pair", (1, 2)),
        Probe("one step, two pairs", (1, 4)),
        Probe("three steps, two pairs", (3, 4)),
        Probe("five steps, four pairs", (5, 8)),
        Probe("some steps back", (-int(rng.integers(2, 5)), 6)),
        Probe("more steps", (int(rng.integers(6, 12)), 10)),
        Probe("no step at all", (0, 4), extreme=True),
    ]


def _speeds(d_model):
    return 1 / 10000 ** (np.arange(0, d_model, 2) / d_model)


def _blocks(block, speeds=_speeds):
    """Make a matrix with a square of `block(cos, sin)` for each pair on its diagonal."""

    def answer(k, d_model):
        M = np.zeros((d_model, d_model))
        for i, angle in enumerate(k * speeds(d_model)):
            M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block(np.cos(angle), np.sin(angle))
        return M

    return answer


def _right_block(cos, sin):
    return [[cos, sin], [-sin, cos]]


def _halves_matrix(k, d_model):
    cos, sin = (np.diag(f(k * _speeds(d_model))) for f in (np.cos, np.sin))
    return np.block([[cos, sin], [-sin, cos]])


def _by_indices(k, d_model):
    angles, sines = k * _speeds(d_model), np.arange(0, d_model, 2)
    M = np.zeros((d_model, d_model))
    M[sines, sines] = M[sines + 1, sines + 1] = np.cos(angles)
    M[sines, sines + 1], M[sines + 1, sines] = np.sin(angles), -np.sin(angles)
    return M


def _by_two_positions(k, d_model):
    """Find the square of each pair as the matrix that takes positions 0 and 1 to k and k + 1."""
    M = np.zeros((d_model, d_model))
    for i, speed in enumerate(_speeds(d_model)):
        before, after = (np.array([np.sin(p * speed), np.cos(p * speed)]) for p in (np.arange(2), np.arange(k, k + 2)))
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = after @ np.linalg.inv(before)
    return M


ROTATION = Exercise(
    id="positional_encoding/rotation_matrix",
    title="The matrix that goes k steps on",
    minutes=10,
    difficulty="hard",
    kind="fill",
    reference=rotation_matrix,
    probes=_rotation_probes,
    right_answers={
        "by indices": _by_indices,
        "one step, taken k times": lambda k, d_model: np.linalg.matrix_power(rotation_matrix(1, d_model), k),
        "from two encodings of each pair": _by_two_positions,
    },
    mistakes=(
        Mistake(
            "wrong_way",
            _blocks(lambda cos, sin: [[cos, -sin], [sin, cos]]),
            what="This turns the other way: it goes k steps *back*. (Or it is meant for rows, `P[p] @ M`.)",
            why="The matrix of the school book turns (cos, sin). Here the sine comes first, as on a clock, and clocks "
            "turn the other way.",
            where="Try it: `M @ P[3]` should be `P[3 + k]`. Where does the minus stand?",
        ),
        Mistake(
            "halves",
            _halves_matrix,
            what="This is the rotation for sines on the left and cosines on the right.",
            why="Right for such a table, but in the paper's the two numbers of a pair are neighbours.",
            where="Which columns form pair 0? Its four numbers must stand in their rows and columns.",
        ),
        Mistake(
            "one_speed",
            _blocks(_right_block, speeds=lambda d_model: np.ones(d_model // 2)),
            what="All pairs are turned by the same angle.",
            why="Each hand of the clock has its own speed.",
            where="The angle of pair i: k times what?",
        ),
        Mistake(
            "missing_two",
            _blocks(_right_block, speeds=lambda d_model: 1 / 10000 ** (np.arange(d_model // 2) / d_model)),
            what="The speeds are those of an exponent i / d_model.",
            why="The table turns with 2i / d_model, so the first pair fits and no other.",
            where="Take the speeds from the table's own formula.",
        ),
        Mistake(
            "multiplied",
            _blocks(_right_block, speeds=lambda d_model: 1 / _speeds(d_model)),
            what="k is multiplied by the power of 10000, not divided by it.",
            why="Then the slow hands are the fastest.",
            where="The table divides the position by the power.",
        ),
        Mistake(
            "degrees",
            _blocks(_right_block, speeds=lambda d_model: np.deg2rad(_speeds(d_model))),
            what="The angles were taken as degrees.",
            why="The table's angles are radians.",
            where="`np.cos` and `np.sin` want the angle as it is.",
        ),
        Mistake(
            "one_step_only",
            lambda k, d_model: rotation_matrix(1, d_model),
            what="The matrix always goes one step on, whatever k is.",
            why="k steps turn a hand k times as far.",
            where="Where does `k` occur?",
        ),
        Mistake(
            "no_minus",
            _blocks(lambda cos, sin: [[cos, sin], [sin, cos]]),
            what="Both sines have a plus.",
            why="That is no rotation: it makes vectors longer.",
            where="cos(a + b) = cos a cos b − sin a sin b.",
        ),
        Mistake(
            "mirrored",
            _blocks(lambda cos, sin: [[cos, sin], [sin, -cos]]),
            what="The minus stands at a cosine.",
            why="That is a mirror and no rotation: with k = 0 it would not even leave the position where it is.",
            where="With k = 0 the matrix must be the identity.",
        ),
        Mistake(
            "only_cosines",
            _blocks(lambda cos, sin: [[cos, 0], [0, cos]]),
            what="Only the diagonal is filled.",
            why="After a step the new sine needs some of the old cosine.",
            where="sin(a + b) = sin a cos b + cos a sin b has two products.",
        ),
        Mistake(
            "first_pair_only",
            lambda k, d_model: np.pad(rotation_matrix(k, 2), (0, d_model - 2)),
            what="Only the first pair is turned; the others come out as zeros.",
            why="Every pair is a hand of its own.",
            where="How many squares of two by two stand on the diagonal?",
        ),
    ),
)

# --- 4. the permutation probe ---------------------------------------------------------------------------------------
# What the learner's test is tried on: functions from tokens (n, d) to outputs (n, d). Some know where a token stands.


def plain_attention(X):
    """Attend from each token to all; blind."""
    return attention(X, X, X)


def each_by_itself(X):
    """Change each token by itself; blind."""
    return np.tanh(2 * X)


def same_for_all(X):
    """Give every token the mean of all; blind."""
    return np.broadcast_to(X.mean(axis=0), X.shape)


def summed_one_by_one(X):
    """Add all tokens up, one after the other: only rounding errors tell of the order. Blind."""
    total = np.zeros(X.shape[1])
    for token in X:
        total = total + token / 3
    return X - total


def with_positions(X):
    """Add the paper's positions, then attend."""
    X = X + sinusoidal_positions(*X.shape)
    return attention(X, X, X)


def whispered_positions(X):
    """Add a thousandth of the paper's positions, then attend."""
    X = X + sinusoidal_positions(*X.shape) / 1000
    return attention(X, X, X)


def under_a_causal_mask(X):
    """Attend without positions, to oneself and back."""
    return attention(X, X, X, causal_mask(len(X)))


def alibi_without_a_mask(X):
    """Attend with a bias by distance: a sentence and its mirror image look alike, other orders do not."""
    scores = X @ X.T + alibi_bias(len(X), 1)[0] * 64  # slope 2^-8 times 64
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True) @ X


def turned(X):
    """Attend with rotary queries and keys."""
    return attention(rotate(X), rotate(X), X)


def backwards(X):
    """Return the tokens in the opposite order."""
    return X[::-1].copy()


def minus_the_one_before(X):
    """Take from each token the one before it; the first has the last before it."""
    return X - np.roll(X, 1, axis=0)


def last_one_louder(X):
    """Double the last token, whichever it is."""
    return X * np.where(np.arange(len(X)) == len(X) - 1, 2.0, 1.0)[:, None]


def sorted_by_size(X):
    """Return the tokens by the size of their first number: the outputs stay where they are when the tokens move."""
    return X[np.argsort(X[:, 0])]


def is_position_blind(f, X):
    """Say whether exchanging any two tokens of X only exchanges the two outputs of f."""
    before = f(X)
    for i in range(len(X)):
        for j in range(i):
            order = np.arange(len(X))
            order[[i, j]] = j, i
            if not np.allclose(f(X[order]), before[order], rtol=0, atol=1e-6):
                return False
    return True


def _blind_probes(rng):
    def tokens(n, d):
        return rng.normal(size=(n, d))

    fish_eats_fish = tokens(4, 4)
    fish_eats_fish[1] = fish_eats_fish[0]
    return [
        Probe("attention", (plain_attention, tokens(4, 6))),
        Probe("attention with positions", (with_positions, tokens(4, 6))),
        *[Probe(f"the blind function {f.__name__}", (f, tokens(5, 4))) for f in BLIND],
        *[Probe(f"the seeing function {f.__name__}", (f, tokens(5, 4))) for f in SEEING],
        Probe("a sentence whose first two words are the same", (last_one_louder, fish_eats_fish)),
        Probe("two tokens", (under_a_causal_mask, tokens(2, 4))),
        Probe("one token, which can be put into one order only", (with_positions, tokens(1, 4)), extreme=True),
    ]


BLIND = (plain_attention, each_by_itself, same_for_all, summed_one_by_one)
SEEING = (
    with_positions,
    whispered_positions,
    under_a_causal_mask,
    alibi_without_a_mask,
    turned,
    backwards,
    minus_the_one_before,
    last_one_louder,
    sorted_by_size,
)


def _orders(n):
    """Some orders of n tokens: every exchange of two, reversed, moved on by one, and a shuffle."""
    exchanges = []
    for i in range(n):
        for j in range(i):
            order = np.arange(n)
            order[[i, j]] = j, i
            exchanges.append(order)
    return [*exchanges, np.arange(n)[::-1], np.roll(np.arange(n), 1), np.roll(np.arange(n), 2)]


def _prober(agree, orders=_orders):
    """Make a test that calls a function blind if, for each of the orders, `agree(f, X, order)`."""
    return lambda f, X: all(agree(f, X, order) for order in orders(len(X)))


def _close(a, b, tolerance=1e-6):
    return a.shape == b.shape and bool(np.abs(a - b).max() <= tolerance)


def _moves_along(f, X, order):
    return _close(f(X[order]), f(X)[order])


def _one(order):
    return lambda n: [order(n)]


def _first_two(n):
    order = np.arange(n)
    order[:2] = order[:2][::-1]
    return order


def _undone(f, X, order):
    return _close(f(X[order])[np.argsort(order)], f(X))


PROBE = Exercise(
    id="positional_encoding/is_position_blind",
    title="A test for position-blindness",
    minutes=10,
    difficulty="hard",
    kind="measure",
    reference=is_position_blind,
    probes=_blind_probes,
    right_answers={
        "every order there is": _prober(_moves_along, lambda n: [np.array(order) for order in permutations(range(n))]),
        "neighbours exchanged": _prober(
            _moves_along, lambda n: [np.r_[0:i, i + 1, i, i + 2 : n].astype(int) for i in range(n - 1)]
        ),
        "put back and compared": _prober(_undone),
        "twenty shuffles": _prober(
            _moves_along, lambda n: [np.random.default_rng(seed).permutation(n) for seed in range(20)]
        ),
    },
    mistakes=(
        Mistake(
            "polarity",
            lambda f, X: not is_position_blind(f, X),
            what="True and False have changed places.",
            why="The name asks whether it is blind. Plain attention is.",
            where="The two `return`s.",
        ),
        Mistake(
            "outputs_should_stay",
            _prober(lambda f, X, order: _close(f(X[order]), f(X))),
            what="The outputs were compared as if they had to stay where they are.",
            why="A function that gives each token its own output moves the outputs with the tokens, and is blind all "
            "the same: token and output together have changed places.",
            where="The output of which token stands in row 0 after the exchange? Put the old outputs into the same "
            "order.",
        ),
        Mistake(
            "only_the_mean",
            _prober(lambda f, X, order: _close(f(X[order]).mean(axis=0), f(X).mean(axis=0))),
            what="Only the mean (or the sum) of the outputs was compared.",
            why="A function may mix the outputs up and keep their mean: one that turns the sentence round, say.",
            where="Compare row by row.",
        ),
        Mistake(
            "only_reversed",
            _prober(_moves_along, _one(lambda n: np.arange(n)[::-1])),
            what="Only the mirror image was tried.",
            why="Some functions know distances, and in the mirror all distances are the same: ALiBi without a mask.",
            where="Try other orders as well.",
        ),
        Mistake(
            "only_moved_on",
            _prober(_moves_along, _one(lambda n: np.roll(np.arange(n), 1))),
            what="Only moving all tokens on by one (`np.roll`) was tried.",
            why="A function that looks at its neighbour, round the corner too, does not notice.",
            where="Try other orders as well.",
        ),
        Mistake(
            "only_the_first_two",
            _prober(_moves_along, _one(_first_two)),
            what="Only the first two tokens were exchanged.",
            why="A function may treat the last one differently, and two equal tokens are no exchange at all.",
            where="Exchange every token with every other.",
        ),
        Mistake(
            "put_back_the_wrong_way",
            _prober(lambda f, X, order: _close(f(X[order])[order], f(X))),
            what="The outputs were put into the order once more, where they should have been put back.",
            why="For an exchange of two both are the same. For other orders they are not, and blind functions are "
            "called seeing.",
            where="Compare `f(X[order])` with the old outputs in that same order, or put back with "
            "`np.argsort(order)`.",
        ),
        Mistake(
            "columns",
            _prober(
                lambda f, X, order: _close(f(X[:, order]), f(X)[:, order]),
                lambda n: [np.array([1, 0])],
            ),
            what="The numbers within the tokens were put into another order (or some cut away), not the tokens.",
            why="The question is whether a token's place matters, and tokens are rows.",
            where="Which axis of X counts the tokens?",
        ),
        Mistake(
            "always_blind",
            lambda f, X: True,
            what="The test calls every function blind.",
            why="Perhaps the new order is the old one, or an array is compared with itself.",
            where="Print the input before and after.",
        ),
        Mistake(
            "exactly_equal",
            _prober(lambda f, X, order: np.array_equal(f(X[order]), f(X)[order])),
            what="The outputs were compared digit by digit.",
            why="In another order the same numbers sum to another last digit: a rounding error of 1e-16, and no eye "
            "for places.",
            where="Compare with a tolerance, as `np.allclose` does.",
        ),
        Mistake(
            "too_tolerant",
            _prober(lambda f, X, order: _close(f(X[order]), f(X)[order], 0.05)),
            what="Differences up to some hundredths pass.",
            why="Positions may be added very softly, and a model will still hear them.",
            where="The tolerance. Rounding errors are about 1e-15.",
        ),
    ),
)

# --- 5. rotary ------------------------------------------------------------------------------------------------------


def _rotate_probes(rng):
    n, pairs = distinct_sizes(rng, 2, low=3, high=6)
    return [
        Probe("two positions of two numbers", (np.array([[1.0, 0.0], [1.0, 0.0]]),)),
        Probe("three positions of four numbers", (_table(rng, 3, 4),)),
        Probe("a batch of two", (_table(rng, 2, 5, 4),)),
        Probe("as many sentences as positions", (_table(rng, 3, 3, 6),)),
        Probe("a batch with heads", (_table(rng, 2, 3, 4, 6),)),
        Probe("other sizes", (_table(rng, 2, n, 2 * pairs),)),
        Probe("one position", (_table(rng, 2, 1, 4),), extreme=True),
        Probe("no sentence at all", (_table(rng, 0, 3, 4),), extreme=True),
    ]


def _angles(X, positions=np.arange, speeds=_speeds):
    n, d_k = X.shape[-2:]
    return positions(n)[:, None] * speeds(d_k)


def _turned(combine=lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos), **options):
    """Make a wrong rotation: another way to combine the two numbers of a pair, or other angles."""

    def answer(X):
        angles = _angles(X, **options)
        pair = combine(X[..., 0::2], X[..., 1::2], np.cos(angles), np.sin(angles))
        return np.stack(pair, axis=-1).reshape(X.shape)

    return answer


_turned_back = _turned(lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin))


def _rotate_halves(X):
    first, second = np.split(X, 2, axis=-1)
    cos, sin = np.cos(_angles(X)), np.sin(_angles(X))
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def _not_put_back(X):
    halves = _turned()(X)
    return np.concatenate([halves[..., 0::2], halves[..., 1::2]], axis=-1)


def _rotate_by_first_axis(X):
    return np.moveaxis(rotate(np.moveaxis(X, 0, -2)), -2, 0)


def _rotate_complex(X):
    pairs = X[..., 0::2] + 1j * X[..., 1::2]
    turned_pairs = pairs * np.exp(1j * _angles(X))
    return np.stack([turned_pairs.real, turned_pairs.imag], axis=-1).reshape(X.shape)


def _rotate_by_loops(X):
    result = np.empty(X.shape)
    for p in range(X.shape[-2]):
        for i, speed in enumerate(_speeds(X.shape[-1])):
            cos, sin = np.cos(p * speed), np.sin(p * speed)
            a, b = X[..., p, 2 * i], X[..., p, 2 * i + 1]
            result[..., p, 2 * i], result[..., p, 2 * i + 1] = a * cos - b * sin, a * sin + b * cos
    return result


ROTATE = Exercise(
    id="positional_encoding/rotate",
    title="Rotary positions",
    minutes=10,
    difficulty="medium",
    kind="fill",
    reference=rotate,
    probes=_rotate_probes,
    right_answers={"complex numbers": _rotate_complex, "loops": _rotate_by_loops},
    mistakes=(
        Mistake(
            "halves",
            _rotate_halves,
            what="The first half of the numbers was paired with the second half, not each number with its neighbour.",
            why="Many models do it so, and it is as good, if the matrices were trained for it. But weights of the one "
            "kind give nonsense in the other, without an error.",
            where="The pairs are the numbers 0 and 1, 2 and 3, and so on.",
        ),
        Mistake(
            "wrong_way",
            _turned_back,
            what="The pairs turn the other way.",
            why="If queries and keys both did, three before would look like three after: nothing is lost, and a model "
            "can learn it so. But it is not what was asked for, and not what other programs do.",
            where="At position 1 the pair (1, 0) becomes (0.54, 0.84). Which sign has the sine in the first number?",
        ),
        Mistake(
            "no_position",
            _turned(positions=np.ones),
            what="Every position is turned by the same angle.",
            why="If all turn alike, nobody can tell who stands where.",
            where="The angle of a pair is its speed times something.",
        ),
        Mistake(
            "one_speed",
            _turned(speeds=lambda d_k: np.ones(d_k // 2)),
            what="All pairs turn at the speed of the first.",
            why="After a full turn, some six tokens, everything looks as before: the slow pairs are there to tell.",
            where="The angle needs the number of the pair.",
        ),
        Mistake(
            "missing_two",
            _turned(speeds=lambda d_k: 1 / 10000 ** (np.arange(d_k // 2) / d_k)),
            what="The exponent is i / d_k, where 2i / d_k is asked for.",
            why="The slow pairs are then too fast.",
            where="i counts the pairs: what is the number of a pair's first column?",
        ),
        Mistake(
            "multiplied",
            _turned(speeds=lambda d_k: 1 / _speeds(d_k)),
            what="The position is multiplied by the power of 10000, not divided by it.",
            why="Then the hands get faster from pair to pair.",
            where="The sign between the position and the power.",
        ),
        Mistake(
            "degrees",
            _turned(speeds=lambda d_k: np.deg2rad(_speeds(d_k))),
            what="The angles were taken as degrees.",
            why="Then neighbours are hardly turned against each other.",
            where="`np.cos` and `np.sin` want the angle as it is.",
        ),
        Mistake(
            "starts_at_one",
            _turned(positions=lambda n: np.arange(1, n + 1)),
            what="The first token stands at position 1.",
            why="The scores would be the same, since only differences count. But the first token is asked to stay as "
            "it is.",
            where="Positions begin at 0.",
        ),
        Mistake(
            "along_the_first_axis",
            _rotate_by_first_axis,
            what="The positions were counted along the first axis.",
            why="In a batch that axis counts the sentences.",
            where="The positions are the last axis but one, whatever stands before it.",
        ),
        Mistake(
            "added",
            lambda X: X + sinusoidal_positions(*X.shape[-2:]),
            what="The sines and cosines were added.",
            why="That is the paper's way. Rotary positions turn the pairs and leave every length as it is.",
            where="Each new number of a pair is made from both old ones, times a sine and a cosine.",
        ),
        Mistake(
            "number_by_number",
            _turned(lambda a, b, cos, sin: (a * cos, b * sin)),
            what="Each number was multiplied by its own sine or cosine.",
            why="A rotation mixes the two numbers of a pair; otherwise they get shorter.",
            where="Two products in each of the two lines.",
        ),
        Mistake(
            "mirrored",
            _turned(lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)),
            what="The signs make a mirror, not a rotation.",
            why="At position 0 the angle is 0, and the token should come out as it went in.",
            where="Where does the minus stand?",
        ),
        Mistake(
            "no_minus",
            _turned(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
            what="There is no minus.",
            why="That is no rotation: lengths change.",
            where="One of the four products is taken away.",
        ),
        Mistake(
            "second_from_the_new_first",
            _turned(lambda a, b, cos, sin: (a * cos - b * sin, (a * cos - b * sin) * sin + b * cos)),
            what="The second number of a pair was made from the *new* first number.",
            why="It was overwritten too early, so its old value was gone.",
            where="Keep both old numbers until both new ones are there.",
        ),
        Mistake(
            "not_put_back",
            _not_put_back,
            what="The turned numbers are right, but all first ones stand on the left and all second ones on the right.",
            why="If queries and keys both did, the scores would be the same. But the pairs are asked to stay where "
            "they were.",
            where="How the two halves are put together at the end.",
        ),
    ),
)


def rotary_scores(Q, K):
    """Return the scaled scores of queries and keys that have been turned by their positions."""
    return rotate(Q) @ rotate(K).swapaxes(-2, -1) / np.sqrt(Q.shape[-1])


def _rotary_scores_probes(rng):
    def pair(*shape):
        return _table(rng, *shape), _table(rng, *shape)

    n, pairs = distinct_sizes(rng, 2, low=3, high=6)
    return [
        Probe("three tokens of four numbers", pair(3, 4)),
        Probe("as many tokens as numbers", pair(4, 4)),
        Probe("other sizes", pair(n, 2 * pairs)),
        Probe("five queries on three keys", (_table(rng, 5, 6), _table(rng, 3, 6))),
        Probe("one token", pair(1, 4), extreme=True),
    ]


def _scaled(Q, K):
    return Q @ K.swapaxes(-2, -1) / np.sqrt(Q.shape[-1])


ROTARY_SCORES = Exercise(
    id="positional_encoding/rotary_scores",
    title="Scores that see distances",
    minutes=4,
    difficulty="easy",
    kind="fill",
    reference=rotary_scores,
    probes=_rotary_scores_probes,
    right_answers={
        "the other way, with queries and keys exchanged": lambda Q, K: _scaled(rotate(K), rotate(Q)).T,
        "einsum": lambda Q, K: np.einsum("qd,kd->qk", rotate(Q), rotate(K)) * Q.shape[-1] ** -0.5,
    },
    mistakes=(
        Mistake(
            "only_queries",
            lambda Q, K: _scaled(rotate(Q), K),
            what="Only the queries were turned.",
            why="Then the score depends on where the query stands and not on how far away the key is.",
            where="Whose angle is taken away from whose?",
        ),
        Mistake(
            "only_keys",
            lambda Q, K: _scaled(Q, rotate(K)),
            what="Only the keys were turned.",
            why="Then the score depends on where the key stands and not on how far away the query is.",
            where="Whose angle is taken away from whose?",
        ),
        Mistake(
            "against_each_other",
            lambda Q, K: _scaled(rotate(Q), _turned_back(K)),
            what="Queries and keys were turned in opposite directions.",
            why="Then the angles add up, and the score sees the sum of the two positions, not their difference.",
            where="Turn both the same way: the dot product takes the difference.",
        ),
        Mistake(
            "both_the_other_way",
            lambda Q, K: _scaled(_turned_back(Q), _turned_back(K)),
            what="Both were turned the other way: three tokens before looks like three tokens after.",
            why="A model could learn it so, and would be as good. But its weights fit no other program.",
            where="In your `rotate`, and in what its check says.",
        ),
        Mistake(
            "halves",
            lambda Q, K: _scaled(_rotate_halves(Q), _rotate_halves(K)),
            what="Queries and keys were turned with the first half of the numbers paired with the second.",
            why="As good, if the matrices were trained for it; but here neighbours are the pairs.",
            where="In your `rotate`, and in what its check says.",
        ),
        Mistake(
            "not_turned",
            _scaled,
            what="Nothing was turned.",
            why="These scores know no places.",
            where="Before the dot product.",
        ),
        Mistake(
            "scores_turned",
            lambda Q, K: rotate(np.pad(_scaled(Q, K), ((0, 0), (0, len(K) % 2))))[:, : len(K)],
            what="The scores were turned, not the queries and keys.",
            why="A score is one number for a pair of tokens, and has nothing that could be turned.",
            where="Before the dot product.",
        ),
        Mistake(
            "no_scale",
            lambda Q, K: rotate(Q) @ rotate(K).T,
            what="The scale is missing.",
            why="Rotation leaves lengths as they are, so the dot products are as large as before.",
            where="Divide by √d_k, as in lesson 03.",
        ),
    ),
)

EXERCISES = (MATRIX, ADDING, EMBED, ROTATION, PROBE, ROTATE, ROTARY_SCORES)

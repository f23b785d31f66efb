"""The recurrent network in NumPy: one step, the unrolled loop, and how far a nudge of the state travels.

Follows Elman 1990 (the network) and Pascanu et al. 2013 (the product of Jacobians). Vectors are rows, as everywhere in
the course: a state times a matrix, `h @ W_h`. Leaves out training, and the gates of the LSTM and the GRU.
"""

import numpy as np
from jaxtyping import Float


def rnn_step(
    x: Float[np.ndarray, " d_x"],
    h: Float[np.ndarray, " d_h"],
    W_x: Float[np.ndarray, "d_x d_h"],
    W_h: Float[np.ndarray, "d_h d_h"],
    b: Float[np.ndarray, " d_h"],
) -> Float[np.ndarray, " d_h"]:
    """Mix the new token with the old state, add the bias, and squash to between −1 and 1.

    >>> one = np.ones((1, 1))
    >>> rnn_step(np.array([0.5]), np.array([0.2]), one, 2 * one, np.array([0.1]))  # tanh(0.5 + 0.4 + 0.1)
    array([0.76159416])
    """
    return np.tanh(x @ W_x + h @ W_h + b)


def rnn(
    X: Float[np.ndarray, "n d_x"],
    h_0: Float[np.ndarray, " d_h"],
    W_x: Float[np.ndarray, "d_x d_h"],
    W_h: Float[np.ndarray, "d_h d_h"],
    b: Float[np.ndarray, " d_h"],
) -> Float[np.ndarray, "n d_h"]:
    """Read the tokens one after the other, each step from the state before it, and return all states.

    >>> one = np.ones((1, 1))
    >>> rnn(np.array([[1.0], [0.0]]), np.zeros(1), one, one, np.zeros(1)).round(2).tolist()  # tanh(1), tanh(tanh(1))
    [[0.76], [0.64]]
    """
    states = []
    h = h_0
    for x in X:
        h = rnn_step(x, h, W_x, W_h, b)
        states.append(h)
    return np.stack(states)  # (n, d_h)


def jacobian(h: Float[np.ndarray, " d_h"], W_h: Float[np.ndarray, "d_h d_h"]) -> Float[np.ndarray, "d_h d_h"]:
    """Return the matrix of one step: a small nudge of the old state, times it, is the nudge of the new state `h`.

    Row i says how each entry of `h` answers to entry i of the state before. Where tanh gave h, its slope is 1 − h².

    >>> jacobian(np.array([0.0, 0.5]), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 1.5], [3.0, 3.0]]
    """
    return W_h * (1 - h**2)


def jacobian_product(H: Float[np.ndarray, "n d_h"], W_h: Float[np.ndarray, "d_h d_h"]) -> Float[np.ndarray, "d_h d_h"]:
    """Multiply the matrices of all steps: a nudge of the state before the first, times it, is the nudge of the last.

    `H` holds the states that the steps made, h_1 to h_n. Without steps the product is the identity.

    >>> jacobian_product(np.zeros((3, 1)), np.array([[0.5]]))
    array([[0.125]])
    """
    product = np.eye(len(W_h))
    for h in H:
        product = product @ jacobian(h, W_h)
    return product


def surviving_signal(
    nudge: Float[np.ndarray, " d_h"], H: Float[np.ndarray, "n d_h"], W_h: Float[np.ndarray, "d_h d_h"]
) -> Float[np.ndarray, " n"]:
    """Carry a small nudge of the first state from step to step, and return its length after each.

    >>> surviving_signal(np.array([1.0]), np.zeros((3, 1)), np.array([[0.5]]))
    array([0.5  , 0.25 , 0.125])
    """
    lengths = []
    for h in H:
        nudge = nudge @ jacobian(h, W_h)
        lengths.append(np.linalg.norm(nudge))
    return np.array(lengths)

"""The loss that the decoder is trained with, in NumPy: cross-entropy with label smoothing, padding left out.

Follows Vaswani et al. 2017, section 5.4, and Szegedy et al. 2016. Loss in nats a token.
"""

import numpy as np
from jaxtyping import Float, Int


def smoothed_targets(
    targets: Int[np.ndarray, " tokens"], vocabulary: int, smoothing: float, pad_id: int = 0
) -> Float[np.ndarray, "tokens vocabulary"]:
    """Take `smoothing` from the right word and spread it evenly over all real words; padding never gets any.

    >>> smoothed_targets(np.array([2]), vocabulary=5, smoothing=0.2).round(2)  # four real words get 0.05 each
    array([[0.  , 0.05, 0.85, 0.05, 0.05]])
    """
    wanted = np.full((len(targets), vocabulary), smoothing / (vocabulary - 1))  # (tokens, vocabulary)
    wanted[:, pad_id] = 0
    wanted[np.arange(len(targets)), targets] += 1 - smoothing
    return wanted


def smoothed_loss(
    logits: Float[np.ndarray, "tokens vocabulary"],
    targets: Int[np.ndarray, " tokens"],
    smoothing: float = 0.1,
    pad_id: int = 0,
) -> float:
    """Return the mean cross-entropy with the smoothed targets over the tokens that are not padding.

    >>> smoothed_loss(np.zeros((2, 5)), np.array([2, 0]))  # one real token, all five words level: ln 5
    1.6094379124341003
    """
    real = targets != pad_id
    logits, targets = logits[real], targets[real]
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))  # (tokens, vocabulary)
    wanted = smoothed_targets(targets, logits.shape[-1], smoothing, pad_id)
    return float(-(wanted * log_probabilities).sum(axis=-1).mean())


def smoothing_floor(vocabulary: int, smoothing: float) -> float:
    """Return the least loss that smoothed targets allow: their entropy, which no model gets below.

    `vocabulary` counts the real words, without padding.

    >>> round(smoothing_floor(62, 0.1), 3)
    0.726
    """
    wanted = smoothed_targets(np.array([1]), vocabulary + 1, smoothing)[0, 1:]
    return float(-(wanted * np.log(wanted, where=wanted > 0, out=np.zeros_like(wanted))).sum())

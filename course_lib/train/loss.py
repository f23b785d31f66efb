"""The loss in PyTorch: the twin of `reference/loss.py`, as a sum, so that parts can be added up."""

from torch import Tensor
from torch.nn.functional import cross_entropy


def smoothed_loss_sum(logits: Tensor, wanted: Tensor, smoothing: float = 0.0, pad_id: int = 0) -> Tensor:
    """Sum the cross-entropy with smoothed targets over the tokens that are not padding, in nats.

    `logits` are (…, vocabulary) and `wanted` (…) ids. The smoothing's share is spread over all words but padding.
    """
    logits, wanted = logits.flatten(0, -2).float(), wanted.flatten()  # (tokens, vocabulary), (tokens,)
    if smoothing == 0:
        return cross_entropy(logits, wanted, ignore_index=pad_id, reduction="sum")
    right = logits.gather(1, wanted[:, None])[:, 0]
    spread = (logits.sum(dim=1) - logits[:, pad_id]) / (logits.shape[1] - 1)
    losses = logits.logsumexp(dim=1) - (1 - smoothing) * right - smoothing * spread  # (tokens,)
    return losses.masked_fill(wanted == pad_id, 0).sum()

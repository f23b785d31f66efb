"""What a trained translator can do: its loss on held-out pairs, exact matches, BLEU, and one text at a time."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.data.batches import Batch, make_batch, pad
from course_lib.data.translation import Corpus, Pair
from course_lib.data.vocabulary import until_end
from course_lib.model.decoding import beam_search, greedy
from course_lib.train.loss import smoothed_loss_sum


@dataclass(frozen=True)
class Translation:
    """One held-out pair and what the model made of it."""

    source: str
    wanted: str
    got: str
    right: bool  # id by id


def translate(model: nn.Module, corpus: Corpus, texts: list[str], beams: int = 1, penalty: float = 0.6) -> list[str]:
    """Translate texts, greedily or with a beam."""
    ids = decode(model, [corpus.source.encode(text) for text in texts], beams, penalty)
    return [corpus.target.decode(output) for output in ids]


def decode(
    model: nn.Module, sources: list[list[int]], beams: int = 1, penalty: float = 0.6, size: int = 250
) -> list[list[int]]:
    """Decode sequences of ids in batches of similar length; the results are without begin and end tokens, in order."""
    device = next(model.parameters()).device
    outputs: list[list[int]] = [[] for _ in sources]
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        source = torch.from_numpy(pad([sources[i] for i in places])).to(device)
        if beams == 1:
            found = greedy(model, source)
        else:
            found = [best[0].ids for best in beam_search(model, source, beams, penalty)]
        for i, ids in zip(places, found, strict=True):
            outputs[i] = until_end(ids)
    return outputs


def translations(model: nn.Module, corpus: Corpus, beams: int = 1, penalty: float = 0.6) -> list[Translation]:
    """Translate the held-out sources and put each beside what was wanted."""
    outputs = decode(model, [pair.source for pair in corpus.held_out], beams, penalty)
    return [
        Translation(
            corpus.source.decode(pair.source),
            corpus.target.decode(pair.target),
            corpus.target.decode(ids),
            ids == pair.target,
        )
        for pair, ids in zip(corpus.held_out, outputs, strict=True)
    ]


def exact_match(found: list[Translation]) -> float:
    """Return the share of translations that are right to the last token.

    >>> exact_match([Translation("two", "zwei", "zwei", True), Translation("one", "eins", "ein", False)])
    0.5
    """
    return sum(translation.right for translation in found) / len(found)


def bleu(found: list[Translation]) -> float:
    """Return sacrebleu's BLEU, from 0 to 100."""
    from sacrebleu import corpus_bleu

    return corpus_bleu([t.got for t in found], [[t.wanted for t in found]]).score


def held_out_loss(model: nn.Module, pairs: list[Pair], device: torch.device, size: int = 64) -> float:
    """Return the loss in nats a token with the right target fed in, without smoothing, dropout and padding."""
    return teacher_forced(model, pairs, device, size)[0]


def teacher_forced(model: nn.Module, pairs: list[Pair], device: torch.device, size: int = 64) -> tuple[float, float]:
    """Return loss and accuracy a token where every token is predicted from the *right* ones before it.

    It is what training sees, and no test of a translator: decoding has only the model's own words to go on from.
    """
    was_training = model.training
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].target))
    loss = right = tokens = 0.0
    with torch.no_grad():
        for start in range(0, len(order), size):
            batch = make_batch([pairs[i] for i in order[start : start + size]])
            source, target, wanted = on_device(batch, device)
            logits = model(source, target)
            loss += smoothed_loss_sum(logits, wanted).item()
            right += ((logits.argmax(dim=-1) == wanted) & (wanted != 0)).sum().item()
            tokens += batch.tokens
    model.train(was_training)
    return loss / tokens, right / tokens


def by_length(found: list[Translation], lengths: list[int], edges: list[int]) -> np.ndarray:
    """Return the exact match of each bin of target lengths, [edges[i], edges[i + 1]); an empty bin gives NaN."""
    bins = np.digitize(lengths, edges) - 1
    right = np.array([translation.right for translation in found], dtype=float)
    return np.array([right[bins == i].mean() if (bins == i).any() else np.nan for i in range(len(edges) - 1)])


def on_device(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Bring a batch to the device; to a GPU from pinned memory, while it still computes the one before."""
    tensors = [torch.from_numpy(np.ascontiguousarray(ids)) for ids in batch]
    if device.type == "cuda":
        return tuple(tensor.pin_memory().to(device, non_blocking=True) for tensor in tensors)
    return tuple(tensor.to(device) for tensor in tensors)

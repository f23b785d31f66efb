"""Batches: nothing lost, little padding, the target shifted, and a stream that goes on from any place."""

import numpy as np
import pytest

from course_lib.data.batches import Stream, cut, make_batch
from course_lib.data.translation import Corpus, Pair

PAIRS = [Pair(list(range(4, 4 + 1 + i % 7)), list(range(4, 4 + 1 + i * 3 % 5)), str(i)) for i in range(50)]


@pytest.mark.parametrize("size", [{"sentences": 8}, {"sentences": None, "tokens": 30}])
def test_every_pair_is_in_one_batch(size):
    cuts = cut(PAIRS, np.random.default_rng(0), **size)
    assert sorted(i for places in cuts for i in places) == list(range(50))


def test_no_batch_has_more_tokens_than_asked_for():
    for places in cut(PAIRS, np.random.default_rng(0), sentences=None, tokens=30):
        batch = make_batch([PAIRS[i] for i in places])
        assert max(batch.source.size, batch.target.size) <= 30


def test_sorting_by_length_leaves_less_padding_than_chance():
    def padding(cuts):
        return sum((make_batch([PAIRS[i] for i in places]).source == 0).sum() for places in cuts)

    in_order = [list(range(i, min(i + 8, 50))) for i in range(0, 50, 8)]
    assert padding(cut(PAIRS, np.random.default_rng(0), 8)) < padding(in_order) / 2


def test_what_the_decoder_reads_is_what_it_predicts_one_step_later():
    batch = make_batch(PAIRS[:9])
    for read, wanted, pair in zip(batch.target, batch.wanted, PAIRS, strict=False):
        n = len(pair.target)
        assert read[0] == 1 and read[1 : n + 1].tolist() == pair.target == wanted[:n].tolist() and wanted[n] == 2
        assert not read[n + 1 :].any() and not wanted[n + 1 :].any()
    assert batch.tokens == sum(len(pair.target) + 1 for pair in PAIRS[:9])


def test_the_parts_of_a_batch_are_the_batch():
    batch = make_batch(PAIRS[:9])
    parts = [batch.part(i, 4) for i in range(4)]
    assert sorted(row for part in parts for row in part.source.tolist()) == sorted(batch.source.tolist())
    assert sum(part.tokens for part in parts) == batch.tokens


def test_a_stream_goes_on_from_any_place_over_the_end_of_an_epoch():
    whole, later = Stream(PAIRS, seed=1, sentences=8), Stream(PAIRS, seed=1, sentences=8)
    batches = [next(whole) for _ in range(20)]
    first = Stream(PAIRS, seed=1, sentences=8)
    for _ in range(5):
        next(first)
    later.go_to(first.epoch, first.index)
    for expected in batches[5:]:
        assert all(np.array_equal(a, b) for a, b in zip(next(later), expected, strict=True))


def test_epochs_differ_in_their_batches():
    stream = Stream(PAIRS, seed=1, sentences=50)
    assert not np.array_equal(next(stream).source, next(stream).source)


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="wanted one of the two"):
        cut(PAIRS, np.random.default_rng(0), 8, 30)
    with pytest.raises(ValueError, match="wanted room for the longest pair, 7, got 6"):
        cut(PAIRS, np.random.default_rng(0), None, 6)
    with pytest.raises(ValueError, match="wanted at least one training pair"):
        Stream([])


def test_a_sequence_that_is_too_long_for_the_model_is_named():
    corpus = Corpus(None, None, [Pair([5] * 3, [6], "pairs.tsv:7")], [])
    assert corpus.check_lengths(4) is corpus
    with pytest.raises(ValueError, match=r"^pairs\.tsv:7: wanted a source of fewer than 3 tokens, got 3"):
        corpus.check_lengths(3)

"""Decoding: caches change nothing, a beam of one is greedy, a wide beam finds the best, and it always stops."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from course_lib.experiments.gru import GRUTranslator, GRUWithAttention  # noqa: E402
from course_lib.model.config import tiny  # noqa: E402
from course_lib.model.decoding import WithoutCache, beam_search, greedy, length_penalty  # noqa: E402
from course_lib.model.transformer import Transformer  # noqa: E402

SOURCE = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0], [5, 5, 5, 0]])


def build(kind="pre", vocabulary=9, **sizes):
    torch.manual_seed(0)
    if kind in ("pre", "post"):
        sizes = {"N": 2, "d_model": 16, "d_ff": 16, "h": 2, "norm": kind, "tied": "none", "longest": 64, **sizes}
        model = Transformer(tiny(10, vocabulary, **sizes))
        scale = 3.0
    else:
        model, scale = {"gru": GRUTranslator, "additive": GRUWithAttention}[kind](10, vocabulary, 16), 4.0
    with torch.no_grad():  # sharper, so that rows end at different lengths and no two words are level
        model.generator.weight.mul_(scale)
    return model.eval()


KINDS = pytest.mark.parametrize("kind", ["pre", "post", "gru", "additive"])


@KINDS
def test_cached_decoding_equals_the_full_forward(kind):
    model = build(kind)
    assert greedy(model, SOURCE, extra=9) == greedy(WithoutCache(model), SOURCE, extra=9)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("pieces", [[1, 1, 1, 1], [2, 2], [1, 3], [3, 1]])
def test_the_logits_are_the_same_in_whatever_pieces_the_target_comes(norm, pieces):
    model, target = build(norm), torch.tensor([[1, 4, 5, 6], [1, 7, 8, 3], [1, 3, 3, 3]])
    with torch.no_grad():
        expected, state, at = model(SOURCE, target), model.start(SOURCE), 0
        for piece in pieces:
            logits = model.step(target[:, at : at + piece], state)
            at += piece
            assert torch.allclose(logits, expected[:, at - 1], atol=1e-5)  # float32, another order of summation


@KINDS
@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_a_beam_of_one_is_greedy(kind, penalty):
    model = build(kind)
    assert [found[0].ids for found in beam_search(model, SOURCE, 1, penalty, extra=9)] == greedy(model, SOURCE, extra=9)


@KINDS
def test_a_sequence_is_decoded_alone_as_in_a_batch(kind):
    model = build(kind)
    alone = [greedy(model, row[row != 0][None], extra=9)[0] for row in SOURCE]
    assert greedy(model, SOURCE, extra=9) == alone
    beams_alone = [beam_search(model, row[row != 0][None], 3, extra=9)[0][0].ids for row in SOURCE]
    assert [found[0].ids for found in beam_search(model, SOURCE, 3, extra=9)] == beams_alone


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all_sequences(penalty):
    model, source, longest = build(vocabulary=4), torch.tensor([[4, 5]]), 4

    def score(ids):
        with torch.no_grad():
            log_p = model(source, torch.tensor([[1, *ids[:-1]]])).log_softmax(-1)[0]
        return log_p[range(len(ids)), list(ids)].sum().item() / length_penalty(len(ids), penalty)

    everything = [
        (*middle, 2) for n in range(longest) for middle in itertools.product([0, 1, 3], repeat=n)
    ]  # every sequence that ends in time
    best = max(everything, key=score)
    found = beam_search(model, source, beams=128, penalty=penalty, extra=longest - 2)[0]
    assert tuple(found[0].ids) == best and found[0].score == pytest.approx(score(best), abs=1e-4)
    assert len({tuple(hypothesis.ids) for hypothesis in found}) == len(found) == len(everything)


def never_ends(kind):
    model = build(kind)
    with torch.no_grad():
        model.generator.weight[2] = 0  # the logit of the end token is 0, far below the largest
        model.generator.weight[3:].mul_(10)
    return model


@pytest.mark.parametrize("extra", [0, 5])
def test_without_an_end_token_it_stops_at_the_inputs_length_and_so_many_more(extra):
    model = never_ends("pre")
    lengths = [4 + extra, 2 + extra, 3 + extra]
    assert [len(ids) for ids in greedy(model, SOURCE, extra=extra)] == lengths
    assert [len(found[0].ids) for found in beam_search(model, SOURCE, 2, extra=extra)] == lengths


def test_it_stops_where_the_table_of_positions_ends():
    model = build(longest=8)
    with torch.no_grad():
        model.generator.weight[2] = 0
        model.generator.weight[3:].mul_(10)
    assert max(len(ids) for ids in greedy(model, SOURCE)) == 8


def test_decoding_leaves_the_models_mode_as_it_was_and_uses_no_dropout():
    model = build(dropout=0.5).train()
    assert greedy(model, SOURCE, extra=9) == greedy(model, SOURCE, extra=9)
    assert model.training


def test_an_empty_batch_gives_nothing():
    assert greedy(build(), SOURCE[:0]) == [] == beam_search(build(), SOURCE[:0])


def test_no_beams_are_refused():
    with pytest.raises(ValueError, match="beams: wanted 1 or more, got 0"):
        beam_search(build(), SOURCE, 0)


def test_the_grus_one_call_equals_its_steps():
    model, target = build("gru"), torch.tensor([[1, 4, 5], [1, 7, 8], [1, 3, 3]])
    with torch.no_grad():
        state = model.start(SOURCE)
        steps = [model.step(target[:, t : t + 1], state) for t in range(3)]
        assert torch.allclose(model(SOURCE, target), torch.stack(steps, dim=1), atol=1e-6)


@pytest.mark.parametrize("kind", ["gru", "additive"])
def test_padding_does_not_move_a_gru(kind):
    model, target = build(kind), torch.tensor([[1, 4]])
    with torch.no_grad():
        short, long = torch.tensor([[4, 5]]), torch.tensor([[4, 5, 0, 0]])
        assert torch.allclose(model(short, target), model(long, target), atol=1e-6)

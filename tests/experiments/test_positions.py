"""The small transformer that learns of places in five ways: what it is made of, and what each way can tell apart."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch: no experiments")

from course_lib.data import word_order as sentences  # noqa: E402
from course_lib.experiments import looking_back, positions, word_order  # noqa: E402
from course_lib.reference import positions as reference  # noqa: E402


def pooled_difference(scheme: str, causal: bool, order: list[int]) -> float:
    """How far apart the means of the outputs of an untrained model are, for a sentence and one in another order."""
    torch.manual_seed(0)
    model = positions.SmallTransformer(scheme, vocabulary=5, causal=causal).double()
    ids = torch.tensor([[0, 1, 2, 3]])
    with torch.no_grad():
        first, second = (model(rows).mean(dim=1) for rows in (ids, ids[:, order]))
    return float((first - second).abs().max())


def test_the_bias_of_alibi_is_that_of_the_reference():
    np.testing.assert_allclose(positions.alibi_bias(6, 4).numpy(), reference.alibi_bias(6, 4), atol=1e-6)  # float32


@pytest.mark.parametrize(("scheme", "blind"), [("none", True), ("sinusoidal", False), ("rotary", False)])
def test_without_a_mask_an_order_shows_only_with_positions(scheme, blind):
    for order in ([3, 2, 1, 0], [0, 2, 1, 3]):
        difference = pooled_difference(scheme, False, order)
        assert difference < 1e-12 if blind else difference > 1e-4


def test_alibi_without_a_mask_is_blind_to_the_mirror_image_alone():
    assert pooled_difference("ALiBi", False, [3, 2, 1, 0]) < 1e-12
    assert pooled_difference("ALiBi", False, [0, 2, 1, 3]) > 1e-4


@pytest.mark.parametrize("scheme", positions.SCHEMES)
def test_under_a_causal_mask_the_order_always_shows_and_the_future_never_does(scheme):
    assert pooled_difference(scheme, True, [3, 2, 1, 0]) > 1e-4
    model = positions.SmallTransformer(scheme, vocabulary=5, causal=True)
    with torch.no_grad():
        here, there = (model(torch.tensor([ids])) for ids in ([0, 1, 2], [0, 1, 4]))
    assert torch.equal(here[:, :2], there[:, :2])
    assert not torch.equal(here[:, 2], there[:, 2])


def test_another_scheme_is_refused_by_its_name():
    with pytest.raises(ValueError, match="scheme: wanted one of none, sinusoidal, learned, rotary, ALiBi, got 'NoPE'"):
        positions.SmallTransformer("NoPE", 5, causal=True)


def test_without_positions_a_sentence_and_its_mirror_get_the_same_answer_after_training():
    torch.manual_seed(0)
    model = word_order.FirstNoun("none", causal=False).double()
    rows = torch.tensor([sentences.ids("man eats fish"), sentences.ids("fish eats man")])
    with torch.no_grad():
        first, second = model(rows)
    assert (first - second).abs().max() < 1e-12


def test_who_eats_whom_is_learnt_with_positions_and_guessed_without():
    assert word_order.accuracy("sinusoidal", seed=0) > 0.97
    assert word_order.accuracy("none", seed=0) <= 0.5
    assert word_order.accuracies("none", seeds=1).tolist() == [word_order.accuracy("none", seed=0)]


def test_an_untrained_model_does_not_look_back():
    shares = looking_back.accuracy("three back", "rotary", steps=0)
    assert len(shares) == len(looking_back.STRETCHES)
    assert max(shares) < 0.3


def test_rotary_looks_three_back_at_twice_the_trained_length_and_a_learned_table_does_not():
    assert min(looking_back.accuracy("three back", "rotary")[:2]) > 0.85
    within, beyond, *_ = looking_back.accuracy("three back", "learned")
    assert within > 0.9 and beyond < 0.5


def test_training_leaves_the_generator_of_the_caller_alone():
    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    looking_back.accuracy("last digit", "ALiBi", seed=7, steps=1)
    assert torch.equal(torch.rand(1), wanted)

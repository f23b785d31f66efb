"""The three translators train under one loop, and each planted bug is the bug that its name says."""

import pytest

torch = pytest.importorskip("torch")

from course_lib.data.number_words import corpus  # noqa: E402
from course_lib.experiments import training_bugs, translators  # noqa: E402
from course_lib.model.decoding import WithoutCache, greedy  # noqa: E402

SOURCE, TARGET = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]]), torch.tensor([[1, 4, 5, 6], [1, 7, 8, 9]])


@pytest.fixture(scope="module")
def data():
    return corpus(seed=0, train=60, held_out=12, below=1000)


@pytest.mark.parametrize("kind", translators.KINDS)
def test_every_kind_trains_and_is_measured_by_length(data, kind):
    result = translators.compare(kind, data, steps=4)
    assert len(result.history.losses) == 1 and len(result.by_length) == len(translators.EDGES) - 1
    assert 0 <= result.exact <= 1 and 150_000 < result.parameters < 350_000


def test_the_numbers_to_compare_on_have_one_to_nine_digits():
    pairs = translators.long_numbers(train=1500, held_out=400).held_out
    assert {len(pair.name) for pair in pairs} == set(range(3, 10))  # the first hundred are always in training
    assert max(len(pair.target) for pair in pairs) + 1 < translators.EDGES[-1]


def test_an_unknown_kind_and_an_unknown_bug_are_refused(data):
    with pytest.raises(ValueError, match="kind: wanted one of GRU"):
        translators.build("LSTM", data)
    with pytest.raises(ValueError, match="variant: wanted one of right"):
        training_bugs.build("wrong", data)


def logits(variant, data, source=SOURCE, target=TARGET):
    model = training_bugs.build(variant, data).eval()
    with torch.no_grad():
        return model(source, target)


@pytest.mark.parametrize("variant", training_bugs.VARIANTS[1:])
def test_every_bug_has_the_shape_of_the_right_model_and_other_numbers(data, variant):
    right, wrong = logits("right", data), logits(variant, data)
    assert right.shape == wrong.shape and not torch.allclose(right, wrong, atol=1e-3)


def test_the_formula_without_a_bug_is_the_fast_path(data):
    model = training_bugs.build("right", data).eval()
    training_bugs.write_out(model)
    with torch.no_grad():
        assert torch.allclose(model(SOURCE, TARGET), logits("right", data), atol=1e-5)


def test_through_three_of_the_bugs_the_future_leaks_into_the_past(data):
    changed = TARGET.clone()
    changed[:, 3] = 10
    for variant in training_bugs.VARIANTS:
        moved = not torch.allclose(logits(variant, data)[:, 0], logits(variant, data, target=changed)[:, 0], atol=1e-6)
        sees_ahead = variant in ("no masks", "softmax over the queries", "heads merged without transposing")
        assert moved is sees_ahead, variant


def test_the_unshifted_model_reads_what_it_predicts_in_training_and_its_own_words_when_decoding(data):
    model = training_bugs.build("target not shifted", data).eval()
    right = training_bugs.build("right", data).eval()
    with torch.no_grad():
        shifted_back = torch.tensor([[4, 5, 6, 0], [7, 8, 9, 0]])
        assert torch.equal(model(SOURCE, TARGET), right(SOURCE, shifted_back))
    assert greedy(model, SOURCE, extra=3) == greedy(right, SOURCE, extra=3)


def test_a_model_with_a_bug_decodes_without_caches(data):
    model = training_bugs.build("no scale", data)
    assert len(greedy(WithoutCache(model), SOURCE, extra=3)) == 2

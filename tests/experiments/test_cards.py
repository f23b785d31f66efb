"""The experiment with cards: models of equal size, and what heads do for them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.data import cards as data  # noqa: E402
from course_lib.experiments import cards  # noqa: E402
from course_lib.reference.heads import multi_head_attention  # noqa: E402


@pytest.mark.parametrize("feed_forward", [False, True])
def test_the_size_does_not_depend_on_the_heads(feed_forward):
    assert len({cards.parameters(h, 2, feed_forward) for h in (1, 2, 4, 8)}) == 1
    assert cards.parameters(1, 2, True) > cards.parameters(1, 2, False)


def test_the_reader_is_the_lessons_attention_and_a_linear_map_a_letter():
    torch.manual_seed(0)
    model = cards.CardReader(h=2, asked=2, feed_forward=False).double()
    digits, letters, _ = data.batch(np.random.default_rng(0), 5, 2)
    vectors, digit_vectors, questions, read = (
        part.detach().numpy() for part in (model.letters, model.digits, model.questions, model.read)
    )
    X_query = (questions[0, letters[:, 0]] + questions[1, letters[:, 1]])[:, None]
    layers = (model.attend.W_Q, model.attend.W_K, model.attend.W_V, model.attend.W_O)
    matrices = [layer.weight.detach().numpy().T for layer in layers]
    found = multi_head_attention(X_query, vectors + digit_vectors[digits], *matrices, h=2)[:, 0]
    with torch.no_grad():
        logits = model(torch.from_numpy(digits), torch.from_numpy(letters)).numpy()
    for place in range(2):
        np.testing.assert_allclose(logits[:, place], found @ read[place], atol=1e-12)


def test_a_head_a_lookup_learns_both_digits_and_one_head_alone_does_not():
    assert cards.all_right(2, 2) > 0.95
    assert cards.all_right(1, 2) < 0.4


def test_the_same_seed_gives_the_same_run_and_results_come_by_heads():
    run = cards.by_heads([1, 2], asked=2, seeds=1)
    assert set(run) == {1, 2}
    assert run[2].shape == (1,)
    cards.all_right.cache_clear()
    assert np.array_equal(run[2], cards.by_heads([2], asked=2, seeds=1)[2])

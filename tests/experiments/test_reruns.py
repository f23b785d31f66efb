"""A resumed run equals one in one go, and the comparison notices a forgotten random state."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from course_lib.data.number_words import corpus  # noqa: E402
from course_lib.experiments import reruns  # noqa: E402


@pytest.fixture(scope="module")
def data():
    return corpus(seed=0, train=200, held_out=5, below=1000)


def test_the_first_ten_losses_are_read_back_and_the_others_computed_again(data):
    whole, resumed = reruns.whole_and_interrupted(data)
    assert len(whole) == reruns.STEPS and np.array_equal(whole, resumed)


def test_a_forgotten_random_state_shows_from_the_first_step_after_the_checkpoint(data):
    before = torch.get_rng_state()
    whole, resumed = reruns.whole_and_interrupted(data, forgetful=True)
    torch.set_rng_state(before)
    same = whole == resumed
    assert same[:10].all() and not same[10:].any()


def test_parts_give_the_losses_of_the_whole(data):
    assert np.allclose(reruns.losses(data), reruns.losses(data, parts=4), rtol=1e-4)

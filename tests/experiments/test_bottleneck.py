"""The copiers: through one vector, and with a glance back."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no torch: no experiments")

from course_lib.experiments import bottleneck  # noqa: E402


def logits(attends, sources, written):
    torch.manual_seed(0)
    with torch.no_grad():
        return bottleneck.Copier(8, attends)(torch.tensor([sources]), torch.tensor([written]))[0]


@pytest.mark.parametrize("attends", [False, True])
def test_the_writer_does_not_see_what_it_has_yet_to_write(attends):
    one, other = (logits(attends, [1, 2, 3], [10, 1, last]) for last in (2, 7))
    torch.testing.assert_close(one[:2], other[:2], rtol=0, atol=0)
    assert not torch.equal(one[2], other[2])


@pytest.mark.parametrize("attends", [False, True])
def test_the_writer_knows_what_was_read(attends):
    assert not torch.equal(logits(attends, [1, 2, 3], [10]), logits(attends, [4, 2, 3], [10]))


def test_the_training_reads_the_start_and_then_the_right_digits_but_the_last():
    assert bottleneck._shifted(torch.tensor([[4, 5, 6]])).tolist() == [[10, 4, 5]]


def test_short_strings_are_learnt_and_shares_come_by_length():
    shares = bottleneck.exact_by_length([1, 2], d=32, steps=150, longest=2)
    assert shares.shape == (2,)
    assert shares[0] > 0.9


def test_an_untrained_copier_copies_nothing(monkeypatch):
    monkeypatch.setattr(bottleneck, "fit", lambda *args, **options: [])
    found = bottleneck.copied([3, 6], d=8, seeds=2)
    assert list(found) == [3, 6]
    assert all(np.max(by_seed) < 0.1 and len(by_seed) == 2 for by_seed in found.values())

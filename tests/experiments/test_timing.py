"""Times are machine-dependent; what is tested is that they are times, and of what."""

import pytest

pytest.importorskip("torch", reason="no torch: no experiments")

from course_lib.experiments import timing


def test_every_kind_and_length_has_a_positive_time():
    found = timing.times([4, 8], d=8)
    assert {kind: list(by_length) for kind, by_length in found.items()} == {kind: [4, 8] for kind in timing.KINDS}
    assert all(0 < ms < 1000 for by_length in found.values() for ms in by_length.values())


def test_a_chain_eight_times_as_long_takes_longer():
    assert timing.seconds("RNN", 512, d=8) > 1.5 * timing.seconds("RNN", 64, d=8)


def test_another_kind_is_refused_by_its_name():
    with pytest.raises(ValueError, match="kind: wanted one of RNN, LSTM, attention, got 'GRU'"):
        timing.seconds("GRU", 4)

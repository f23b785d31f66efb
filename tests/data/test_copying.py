"""The task of copying: strings of digits."""

import numpy as np
import pytest

from course_lib.data import copying


def test_strings_are_digits_and_all_digits_come():
    strings = copying.batch(np.random.default_rng(0), size=100, length=5)
    assert strings.shape == (100, 5)
    assert sorted(set(strings.ravel().tolist())) == list(range(10))


def test_the_start_is_no_digit():
    assert copying.START == copying.DIGITS < copying.VOCABULARY


@pytest.mark.parametrize("length", [0, copying.LONGEST + 1])
def test_a_length_that_there_is_not_is_refused(length):
    with pytest.raises(ValueError, match="length: wanted 1 to"):
        copying.batch(np.random.default_rng(0), size=1, length=length)

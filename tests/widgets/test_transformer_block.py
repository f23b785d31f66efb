"""The depth explorer hands its switches to the measurement and draws what comes back."""

import pytest

from course_lib.widgets.transformer_block import depth_explorer


@pytest.fixture
def asked():
    return []


@pytest.fixture
def explorer(asked):
    def measure(residual, norm, start, N, seed):
        asked.append((residual, norm, start, N, seed))
        return [1.0, 0.25 if residual else 0.0], [1.0, 2.0 if norm == "nowhere" else 1.0]

    return depth_explorer(measure)


def test_it_begins_as_a_pre_ln_stack_of_24(explorer, asked):
    assert asked == [(True, "before", 1.0, 24, 0)]
    assert "with residual path, LayerNorm before: spread 0.2, size 1." in explorer.picture.alt


def test_every_switch_reaches_the_measurement(explorer, asked):
    for name, value in {"residual": False, "norm": "nowhere", "start": 0.1, "depth": 6, "seed": 3}.items():
        explorer._controls[name].value = value
    assert asked[-1] == (False, "nowhere", 0.1, 6, 3)
    assert "without residual path, LayerNorm nowhere: spread zero up to rounding, size 2." in explorer.picture.alt
    assert explorer.picture.alt in explorer._image.value


def test_in_plain_text_it_is_its_values_and_its_sentence(explorer):
    assert repr(explorer).startswith("Explorer (residual = True, norm = before, start = 1.0, depth = 24, seed = 0). F")

"""Each rung of the ladder trains the same model to the same loss, and only what a machine has is tried on it."""

import pytest

torch = pytest.importorskip("torch")

from course_lib.experiments import switches  # noqa: E402
from course_lib.model.config import tiny  # noqa: E402
from course_lib.train.precision import Machine, this_machine  # noqa: E402

SMALL = switches.Size(tiny(40, 40, d_model=32, d_ff=64, h=2, N=1), sentences=3, tokens=5)


def test_a_ladder_holds_what_the_machine_has_and_each_rung_all_before_it():
    new, old, mac = Machine("cuda", True, (9, 0)), Machine("cuda", False, (7, 5)), Machine("mps")
    assert list(switches.ladder(new))[3:] == ["+ TF32", "+ bf16", "+ pinned batches", "+ compile"]
    assert list(switches.ladder(old))[3:] == ["+ fp16 with scaling", "+ pinned batches", "+ compile"]
    assert list(switches.ladder(mac)) == ["formula, fp32", "+ SDPA", "+ fused AdamW"]
    last = switches.ladder(new)["+ compile"]
    assert last == switches.Switches(True, True, True, "bf16", True, True)


def test_every_rung_on_a_cpu_learns_the_same_and_is_counted():
    rows = switches.climb(Machine("cpu", bf16=True), SMALL, steps=2, warm_up=1)
    assert list(rows) == ["formula, fp32", "+ SDPA", "+ fused AdamW", "+ bf16"]
    losses = [row.loss for row in rows.values()]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)  # SDPA sums in another order
    assert losses[3] == pytest.approx(losses[0], rel=0.02)  # bf16 has three digits
    for row in rows.values():
        assert row.tokens_per_second > 0 and 0 < row.share_of_peak < 1
        assert "tokens a second" in str(row) and "MB" not in str(row)


def test_the_operations_are_those_of_the_matrix_products():
    config, tokens = SMALL.config, SMALL.tokens
    d, ff, vocabulary = config.d_model, config.d_ff, config.target_vocabulary
    attention = 4 * d * d + 2 * tokens * d  # of a token: four projections, scores and sums
    products = tokens * (3 * attention + 2 * 2 * d * ff + d * vocabulary)  # encoder, decoder twice; two feed-forward
    wanted = 3 * 2 * products * SMALL.sentences  # forward and twice backward, a product and a sum each
    assert switches.operations(config, SMALL.sentences, tokens, tokens) == pytest.approx(wanted, rel=0.02)


def test_settings_of_the_machine_are_given_back():
    before = torch.get_float32_matmul_precision(), torch.get_rng_state()
    switches.measure(Machine("cpu"), SMALL, switches.Switches(tf32=True), steps=1, warm_up=0)
    assert torch.get_float32_matmul_precision() == before[0] and torch.equal(torch.get_rng_state(), before[1])


def test_there_is_a_size_for_this_machine():
    size = switches.size_for(this_machine())
    assert size.tokens <= size.config.longest

"""The figures of *The transformer block* say in words what their data say."""

import numpy as np
import pytest

from course_lib.plots import transformer_block as plots


def test_both_wirings_are_told_apart_in_words():
    alt = plots.wirings("pre-LN", "post-LN").alt
    pre, post = alt.split("; post-LN, ")
    assert "from x: LayerNorm, attention, add the residual path, LayerNorm, feed-forward layer, add" in pre
    assert "from x: attention, add the residual path, LayerNorm, feed-forward layer, add the residual path, L" in post
    assert "inside each branch" in pre and "on the path itself" in post


@pytest.mark.parametrize("orders", [(), ("pre-LN", "sideways")])
def test_an_order_that_there_is_not_is_refused(orders):
    with pytest.raises(ValueError, match="orders: wanted some of pre-LN, post-LN"):
        plots.wirings(*orders)


def test_tokens_are_measured_before_and_after():
    before = np.array([[1.0, 3.0], [10.0, 30.0]])
    alt = plots.tokens_before_and_after(before, np.array([[-1.0, 1.0]] * 2), ["soft", "loud"]).alt
    assert "soft before: mean 2.00, standard deviation 1.00" in alt
    assert "loud before: mean 20.00, standard deviation 10.00" in alt
    assert "loud after: mean 0.00, standard deviation 1.00" in alt
    assert alt.endswith("and their shapes agree.")
    other = plots.tokens_before_and_after(before, np.array([[-1.0, 1.0], [1.0, -1.0]]), ["soft", "loud"]).alt
    assert "shapes agree" not in other


def test_depth_says_where_the_stacks_end_and_draws_a_spread_of_exactly_zero():
    stacks = {"sticks": ([1.0, 0.0], [1.0, 1.0]), "keeps": ([1.0, 0.5], [1.0, 250.0])}
    alt = plots.through_depth(stacks, "two").alt
    expected = "two: After 1 layers, sticks: spread zero up to rounding, size 1; keeps: spread 0.5, size 2.5e+02."
    assert alt == expected


def test_the_slowest_of_the_runs_is_named_whatever_the_order():
    fast = np.tile(np.concatenate([np.full(15, 2.3), np.zeros(45)]), (3, 1))
    slow = np.tile(np.concatenate([np.full(40, 2.3), np.zeros(20)]), (3, 1))
    for runs in ({"fast": fast, "slow": slow}, {"slow": slow, "fast": fast}):
        assert plots.training_curves(runs, chance=2.3).alt.endswith("half of the loss of guessing is slow.")


def test_a_run_that_never_learns_is_the_slowest():
    runs = {"never": np.full((3, 60), 2.3), "late": np.tile(np.r_[np.full(50, 2.3), np.zeros(10)], (3, 1))}
    assert "is never." in plots.training_curves(runs, chance=2.3).alt


def test_shares_are_counted():
    alt = plots.shares({"attention": 300, "feed-forward": 690, "LayerNorm": 10}).alt
    assert (
        alt == "Of 1,000 numbers of a block: attention 300 (30.00%), feed-forward 690 (69.00%), LayerNorm 10 (1.00%)."
    )

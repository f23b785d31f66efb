"""Pre-LN against post-LN: the stacks are what they are said to be, and the early steps come out as the lesson says."""

import numpy as np
import pytest
import torch

from course_lib.experiments import block_order


def test_both_orders_learn_the_task_with_one_block():
    for order in block_order.ORDERS:
        losses = block_order.losses(order, N=1, steps=120, seeds=[0])
        assert losses.shape == (1, 120)
        assert losses[0, -10:].mean() < 0.2 < 2 < losses[0, 0]


def test_six_pre_ln_blocks_learn_sooner_than_six_post_ln_blocks_unless_these_start_small():
    after = {
        name: block_order.losses(order, N=6, steps=80, start=start, seeds=[0])[0, -10:].mean()
        for name, order, start in [("pre", "pre", 1.0), ("post", "post", 1.0), ("small post", "post", 0.3)]
    }
    assert max(after["pre"], after["small post"]) < 0.3
    assert after["post"] > 0.5


def test_the_final_norm_belongs_to_pre_ln_alone():
    assert isinstance(block_order.Reverser("pre", 2).norm, torch.nn.LayerNorm)
    assert isinstance(block_order.Reverser("post", 2).norm, torch.nn.Identity)


def test_a_start_of_zero_lets_every_pre_ln_block_begin_as_the_identity():
    model = block_order.Reverser("pre", 3, start=0.0)
    x = torch.randn(2, 8, block_order.D_MODEL)
    for block in model.blocks:
        assert torch.equal(block(x), x)


def test_gradients_reach_the_first_block_in_either_order():
    for order in block_order.ORDERS:
        assert block_order.first_gradients(order, N=6, seeds=[0]).min() > 0.2
        assert block_order.first_gradients(order, N=1, seeds=[0]).tolist() == [1.0]


def test_the_same_seed_trains_the_same_model_and_leaves_torch_random_state_alone():
    before = torch.random.get_rng_state()
    block_order._losses.cache_clear()
    one = block_order.losses("post", N=1, steps=3)
    block_order._losses.cache_clear()
    assert np.array_equal(one, block_order.losses("post", N=1, steps=3))
    assert len({tuple(run) for run in one}) == 3
    assert torch.equal(before, torch.random.get_rng_state())


def test_an_order_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="order: wanted one of pre, post, got 'middle'"):
        block_order.losses("middle", N=1, steps=1)

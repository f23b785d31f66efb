"""The training loop: it learns, repeats itself, and stops with a clear word when the loss is lost."""

import pytest

torch = pytest.importorskip("torch")

from course_lib.training import fit, one_thread  # noqa: E402


def losses(seed):
    torch.manual_seed(seed)
    model = torch.nn.Linear(3, 1)
    x = torch.randn(32, 3)
    y = x @ torch.tensor([[1.0], [2.0], [-1.0]])
    return fit(model, lambda step: ((model(x) - y) ** 2).mean(), steps=200, learning_rate=0.05)


def test_the_loss_of_a_linear_problem_goes_to_zero():
    run = losses(0)
    assert run[-1] < 1e-3 < run[0]


def test_the_same_seed_gives_the_same_losses():
    assert losses(1) == losses(1)


def test_a_loss_that_is_not_finite_names_its_step():
    model = torch.nn.Linear(1, 1)
    with pytest.raises(FloatingPointError, match="at step 2"):
        fit(model, lambda step: model(torch.ones(1, 1)).mean() / (0 if step == 2 else 1), steps=5)


def test_a_negative_number_of_steps_is_refused():
    with pytest.raises(ValueError, match="wanted 0 or more, got -1"):
        fit(torch.nn.Linear(1, 1), lambda step: torch.zeros(()), steps=-1)


def test_one_thread_gives_the_former_number_back_even_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), one_thread():
        assert torch.get_num_threads() == 1
        raise RuntimeError
    assert torch.get_num_threads() == before


def test_another_optimizer_can_be_handed_in():
    """One step of plain descent from 1 on x² at a rate of 0.25 goes to 0.5: the slope is 2."""
    x = torch.nn.Parameter(torch.ones(1))
    model = torch.nn.ParameterList([x])
    fit(model, lambda _: (x**2).sum(), steps=1, learning_rate=0.25, clip=float("inf"), optimizer=torch.optim.SGD)
    assert x.item() == 0.5

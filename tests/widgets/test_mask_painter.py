"""The mask painter: its NumPy twin against attention, and its JavaScript, in a browser, against the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course_lib.reference.attention import attention
from course_lib.reference.masks import causal_mask, padding_mask
from course_lib.widgets.mask_painter import PRESETS, MaskPainter, explore, preset

TOKENS = ["the", "tired", "dog", "sat", "(pad)"]
PADDING = [False, False, False, False, True]
TRAITS = ("Q", "K", "V", "names", "padding", "mask", "changed")


def painter(mask: str = "causal", changed: int = -1) -> MaskPainter:
    X = np.random.default_rng(0).normal(size=(5, 3))
    return MaskPainter(X, X, X, TOKENS, PADDING, mask=mask, changed=changed)


@pytest.fixture
def open_page(open_widget: Callable) -> Callable:
    """Open a page with one painter in it."""
    return lambda widget, **options: open_widget(widget, TRAITS, **options)


def held_by(page: Any) -> dict:
    """What the page's model holds now."""
    return page.evaluate("names => Object.fromEntries(names.map(n => [n, window.model.get(n)]))", list(TRAITS))


def twin_of(page: Any) -> Any:
    """What the twin makes of what the page holds now."""
    held = held_by(page)
    return explore(*[held[name] for name in TRAITS if name != "padding"])


def shown_sentence(page: Any) -> str:
    return page.get_by_role("status").inner_text()


def square(page: Any, query: str, key: str) -> Any:
    return page.get_by_role("button", name=f"{query} may look at {key}", exact=False)


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_presets_are_the_masks_of_the_reference() -> None:
    ids = np.array([[4, 7, 2, 9, 0]])
    assert np.array_equal(preset("causal", PADDING), causal_mask(5))
    assert np.array_equal(preset("padding", PADDING), np.repeat(padding_mask(ids, 0)[0], 5, axis=0))
    assert np.array_equal(preset("both", PADDING), (causal_mask(5) & padding_mask(ids, 0))[0])
    assert np.all(preset("everyone", PADDING))


def test_weights_and_outputs_are_those_of_attention() -> None:
    rng = np.random.default_rng(1)
    Q, K, V = rng.normal(size=(3, 4, 2))
    mask = rng.random((4, 4)) < 0.5
    painted = explore(Q, K, V, list("abcd"), mask)
    assert np.abs(painted.output - attention(Q, K, V, mask)).max() < 1e-14  # a few roundings of float64
    assert np.abs(painted.weights @ V - painted.output).max() < 1e-14


@pytest.mark.parametrize("changed", range(5))
def test_under_a_causal_mask_nothing_before_the_changed_token_moves(changed: int) -> None:
    moved = painter("causal", changed).painted.moved
    assert moved.tolist() == [i >= changed for i in range(5)]


def test_the_sentence_says_who_saw_the_future_and_who_sees_nothing() -> None:
    widget = painter("causal", changed=2)
    assert widget.painted.sentence == (
        '15 of 25 pairs may look. With "dog" changed, the output of "dog", "sat" and "(pad)" moves.'
    )
    mask = [[True, False, True, False, False], [False] * 5, *preset("causal", PADDING)[2:]]
    widget.mask = mask
    sentence = widget.painted.sentence
    assert '"tired" may look at nothing: the plain mean of all values.' in sentence
    assert sentence.endswith('"the" and "tired" saw the future.')  # the mean of all has the future in it
    widget.close()


def test_changing_padding_that_nobody_looks_at_moves_only_itself() -> None:
    assert painter("both", changed=4).painted.moved.tolist() == [False, False, False, False, True]


def test_its_text_names_the_mask_and_follows_a_change() -> None:
    widget = painter("padding")
    assert repr(widget) == "Mask painter (mask = padding). 20 of 25 pairs may look."
    widget.mask = np.eye(5, dtype=bool).tolist()
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget) == "Mask painter (mask = your own). 5 of 25 pairs may look."
    widget.close()


def test_its_state_holds_all_that_a_page_without_a_kernel_needs() -> None:
    widget = painter()
    state = widget.get_state()
    assert "export default { render }" in state["_esm"] and "function softmax" in state["_esm"]
    assert "http" not in state["_esm"] + state["_css"]  # nothing is fetched
    widget.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1]], [[1]], [[1]], ["a", "b"], np.ones((2, 2))), r"Q, K and V: wanted 2 rows each"),
        (([[1]], [[1]], [[1]], ["a"], np.ones((2, 2))), r"mask: wanted the shape \(1, 1\), got \(2, 2\)"),
        (
            ([[1]], [[1]], [[1]], ["a"], np.ones((1, 1)), 1),
            r"changed: wanted a token from 0 to 0, or -1 for none, got 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_wanted_and_got(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explore(*arguments)


def test_a_preset_or_a_padding_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="preset: wanted one of everyone, causal, padding, both, got 'casual'"):
        preset("casual", PADDING)
    with pytest.raises(ValueError, match="padding: wanted 1 truth values, one a token, got 2"):
        MaskPainter([[1]], [[1]], [[1]], ["a"], [True, False])


# --- in the browser -------------------------------------------------------------------------------------------------


def test_the_javascript_and_numpy_agree_on_random_masks(open_page: Callable) -> None:
    page = open_page(painter())
    rng = np.random.default_rng(0)
    inputs = []
    for _ in range(60):
        n, d_k, d_v = rng.integers(1, 7, size=3)
        Q, K, V = rng.normal(size=(n, d_k)), rng.normal(size=(n, d_k)), rng.normal(size=(n, d_v))
        Q = Q * 10.0 ** rng.integers(-2, 3)
        tables = {"Q": Q.tolist(), "K": K.tolist(), "V": V.tolist(), "names": [f"t{i}" for i in range(n)]}
        mask = rng.random((n, n)) < rng.choice([0.2, 0.7])  # among them rows that may look at nothing
        inputs.append({**tables, "mask": mask.tolist(), "changed": int(rng.integers(-1, n))})
    made = page.evaluate("inputs => inputs.map(window.explorer.explore)", inputs)
    for given, there in zip(inputs, made, strict=True):
        here = explore(**given)
        # Both compute in float64; sums in another order differ in the last digits of scores of up to some hundreds.
        assert np.abs(here.weights - there["weights"]).max() < 1e-10
        assert np.abs(here.output - there["output"]).max() < 1e-10
        assert here.moved.tolist() == there["moved"]
        assert here.sentence == there["sentence"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_same_mask_in_both(open_page: Callable, name: str) -> None:
    page = open_page(painter("everyone"))
    page.get_by_role("button", name=name, exact=True).click()
    assert held_by(page)["mask"] == preset(name, PADDING)
    assert page.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed") == "true"
    assert page.evaluate("([m, p]) => window.explorer.nameOf(m, p)", [preset(name, PADDING), PADDING]) == name


def test_a_click_on_a_square_reaches_the_model_and_the_sentence(open_page: Callable) -> None:
    page = open_page(painter("causal", changed=2))
    square(page, "the", "dog").click()
    assert held_by(page)["mask"][0] == [True, False, True, False, False]
    assert page.evaluate("window.saves") > 0
    assert shown_sentence(page) == twin_of(page).sentence
    assert shown_sentence(page).endswith('"the" saw the future.')
    assert page.locator(".mp-leak").inner_text() == "✗ moves"
    page.get_by_role("button", name="Start again").click()
    assert held_by(page)["mask"] == preset("causal", PADDING)


def test_the_keyboard_alone_paints_and_chooses_a_token(open_page: Callable) -> None:
    page = open_page(painter("causal"))
    square(page, "the", "the").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "Space"):  # up stays in the first row
        page.keyboard.press(key)
    assert held_by(page)["mask"][1] == [True, True, True, False, False]
    assert page.locator(".mp-square[tabindex='0']").count() == 1  # one stop for Tab, the arrows do the rest
    page.get_by_role("radio", name="none").focus()
    page.keyboard.press("ArrowDown")
    assert held_by(page)["changed"] == 0
    assert shown_sentence(page) == twin_of(page).sentence


def test_each_square_says_what_it_is_and_whether_it_is_allowed(open_page: Callable) -> None:
    page = open_page(painter("causal"))
    assert square(page, "the", "sat").get_attribute("aria-pressed") == "false"
    assert square(page, "the", "the").get_attribute("aria-pressed") == "true"
    assert square(page, "the", "the").get_attribute("aria-label") == "the may look at the, weight 1.00"
    assert square(page, "the", "sat").inner_text() == "–"


def test_a_change_that_arrives_from_python_is_shown(open_page: Callable) -> None:
    page = open_page(painter("causal"))
    page.evaluate("mask => window.model.set('mask', mask)", preset("both", PADDING))
    page.evaluate("window.model.set('changed', 3)")
    page.wait_for_function("document.querySelector('[role=status]').innerText.includes('sat')")
    assert shown_sentence(page) == twin_of(page).sentence


def test_a_view_that_is_taken_away_listens_no_more(open_page: Callable) -> None:
    page = open_page(painter())
    assert page.evaluate("window.listening()") == 2
    page.evaluate("window.stop()")
    assert page.evaluate("window.listening()") == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(open_page: Callable, width: int) -> None:
    page = open_page(painter("causal", changed=0), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

"""The position explorer: its NumPy twin against the table of positions, and its JavaScript against the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course_lib.reference.positions import sinusoidal_positions
from course_lib.widgets.position_explorer import PositionExplorer, explore

STATE = ("n", "d_model", "p", "k", "pair")


@pytest.fixture
def open_page(open_widget: Callable) -> Callable:
    """Return a function that opens a page with one explorer in it."""
    return lambda explorer, width=1280: open_widget(explorer, STATE, width)


def held_by(page: Any) -> dict:
    return page.evaluate("names => Object.fromEntries(names.map(n => [n, window.model.get(n)]))", list(STATE))


def shown_sentence(page: Any) -> str:
    return page.get_by_role("status").inner_text()


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_hands_are_the_angles_of_the_table() -> None:
    shown = explore(n=20, d_model=8, p=7, k=5, pair=2)
    for place, hands in ((7, shown.hands), (12, shown.later)):
        turned = np.deg2rad(hands)
        wanted = sinusoidal_positions(20, 8)[place]
        assert np.abs(wanted - np.stack([np.sin(turned), np.cos(turned)], axis=1).ravel()).max() < 1e-12


def test_the_dot_product_is_largest_at_the_position_itself_and_sees_the_distance_alone() -> None:
    shown = explore(n=32, d_model=16, p=10, k=-4, pair=0)
    assert shown.products.argmax() == 10
    assert shown.products[10] == pytest.approx(8)
    assert shown.products[6] == pytest.approx(shown.products[14])
    assert shown.products[6] == pytest.approx(explore(32, 16, 20, 4, 0).products[24])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 5, 0, 0, 0), "d_model: wanted an even number"),
        ((8, 4, 8, 0, 0), "p: wanted a position from 0 to 7, got 8"),
        ((8, 4, 3, 5, 0), r"p \+ k: wanted a position from 0 to 7, got 8"),
        ((8, 4, 3, -4, 0), r"p \+ k: wanted a position from 0 to 7, got -1"),
        ((8, 4, 3, 0, 2), "pair: wanted one from 0 to 1, got 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_wanted_and_got(arguments: tuple, message: str) -> None:
    for make in (explore, PositionExplorer):
        with pytest.raises(ValueError, match=message):
            make(*arguments)


def test_its_text_says_what_it_shows_and_follows_a_change() -> None:
    explorer = PositionExplorer(n=8, d_model=4, p=1, k=2)
    assert repr(explorer) == (
        "Position explorer (p = 1, k = 2). Pair 0 turns 57.30° a step: 57° at position 1, 172° at position 3. "
        "PE(1) · PE(3) = 0.58; at most 2."
    )
    explorer.set_state({"k": 0, "pair": 1})
    data, _ = explorer._repr_mimebundle_()
    assert data["text/plain"] == repr(explorer)
    assert "Pair 1 turns 0.57° a step" in repr(explorer) and "PE(1) · PE(1) = 2.00" in repr(explorer)
    explorer.close()


def test_its_state_holds_all_that_a_page_without_a_kernel_needs() -> None:
    explorer = PositionExplorer()
    state = explorer.get_state()
    assert "export default { render }" in state["_esm"]
    assert state["_esm"].count("http") == 1  # the name of SVG, which nobody fetches
    assert "http" not in state["_css"]
    explorer.close()


# --- in the browser -------------------------------------------------------------------------------------------------


def test_the_javascript_and_numpy_agree_on_random_choices(open_page: Callable) -> None:
    page = open_page(PositionExplorer())
    rng = np.random.default_rng(0)
    inputs = []
    for _ in range(60):
        n, pairs = (int(size) for size in rng.integers(2, 40, size=2))
        p, other, pair = int(rng.integers(n)), int(rng.integers(n)), int(rng.integers(pairs))
        inputs.append({"n": n, "d_model": 2 * pairs, "p": p, "k": other - p, "pair": pair})
    made = page.evaluate("inputs => inputs.map(window.explorer.explore)", inputs)
    for given, there in zip(inputs, made, strict=True):
        here = explore(**given)
        for name in ("P", "hands", "later", "products"):
            # Both compute in float64; powers and sines differ in the last digits, products are sums of up to 78.
            assert np.abs(getattr(here, name) - np.array(there[name])).max() < 1e-9, name
        assert there["sentence"] == here.sentence


def test_the_keyboard_alone_moves_position_step_and_pair(open_page: Callable) -> None:
    page = open_page(PositionExplorer(p=4, k=3))
    for name in ("position p", "step k", "pair of numbers"):
        page.get_by_label(name).focus()
        page.keyboard.press("ArrowRight")
    held = held_by(page)
    assert (held["p"], held["k"], held["pair"]) == (5, 4, 1)
    assert page.evaluate("window.saves") == 3
    assert shown_sentence(page) == explore(**held).sentence
    page.get_by_role("button", name="Start again").click()
    assert (held_by(page)["p"], held_by(page)["k"], held_by(page)["pair"]) == (4, 3, 0)


@pytest.mark.parametrize(("key", "p"), [("End", 31), ("Home", 0)])
def test_at_the_ends_the_step_is_cut_so_that_both_positions_stay_on_the_page(
    open_page: Callable, key: str, p: int
) -> None:
    page = open_page(PositionExplorer(p=10, k=-6 if p == 0 else 6))
    page.get_by_label("position p").focus()
    page.keyboard.press(key)
    held = held_by(page)
    assert (held["p"], held["k"]) == (p, 0)
    assert shown_sentence(page) == explore(**held).sentence


def test_a_hand_points_where_the_sentence_says(open_page: Callable) -> None:
    page = open_page(PositionExplorer(p=1, k=0))
    hand = page.locator("line.pe-here[x1]").nth(1).evaluate("h => ['x1','y1','x2','y2'].map(n => +h.getAttribute(n))")
    angle = np.rad2deg(np.arctan2(hand[2] - hand[0], hand[1] - hand[3]))  # clockwise from twelve
    assert angle == pytest.approx(57.3, abs=0.1)


def test_a_change_that_arrives_from_python_is_shown(open_page: Callable) -> None:
    page = open_page(PositionExplorer())
    page.evaluate("window.model.set('pair', 5)")
    assert page.get_by_label("pair of numbers").input_value() == "5"
    assert shown_sentence(page) == explore(**held_by(page)).sentence


def test_a_view_that_is_taken_away_listens_no_more(open_page: Callable) -> None:
    page = open_page(PositionExplorer())
    assert page.evaluate("window.listening()") == 3
    page.evaluate("window.stop()")
    assert page.evaluate("window.listening()") == 0


def test_every_control_and_every_picture_has_a_name(open_page: Callable) -> None:
    page = open_page(PositionExplorer())
    assert page.get_by_role("slider").count() == 3
    pictures = page.get_by_role("img").all()
    assert len(pictures) == 3
    assert all(picture.get_attribute("aria-label").endswith(".") for picture in pictures)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(open_page: Callable, width: int) -> None:
    page = open_page(PositionExplorer(), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

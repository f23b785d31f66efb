"""The attention explorer: its NumPy twin against attention, and its JavaScript, in a browser, against the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course_lib.reference.attention import attention
from course_lib.widgets.attention_explorer import SCALES, AttentionExplorer, explore, two_digits

HELLO_WORLD = [[1, 0, 1], [0, 1, 1]]
NAMES = ["Hello", "World"]
ARGUMENTS = ("Q", "K", "V", "scale", "temperature", "query_names", "key_names")


@pytest.fixture
def open_page(open_widget: Callable) -> Callable:
    """Open a page with one explorer in it."""
    return lambda explorer, **options: open_widget(explorer, ARGUMENTS, **options)


def held_by(page: Any) -> dict:
    """What the page's model holds now."""
    return page.evaluate("names => Object.fromEntries(names.map(n => [n, window.model.get(n)]))", list(ARGUMENTS))


def number_field(page: Any, name: str) -> Any:
    return page.get_by_role("spinbutton", name=name)


def shown_sentence(page: Any) -> str:
    return page.get_by_role("status").inner_text()


def hello_world() -> AttentionExplorer:
    return AttentionExplorer(HELLO_WORLD, HELLO_WORLD, HELLO_WORLD, NAMES, NAMES)


# --- in Python ------------------------------------------------------------------------------------------------------


def test_hello_world_comes_out_with_the_numbers_worked_by_hand() -> None:
    steps = explore(HELLO_WORLD, HELLO_WORLD, HELLO_WORLD)
    assert np.array_equal(steps.scores, [[2, 1], [1, 2]])
    assert np.array_equal(steps.weights.round(2), [[0.64, 0.36], [0.36, 0.64]])
    assert np.array_equal(steps.output.round(2), [[0.64, 0.36, 1], [0.36, 0.64, 1]])


def test_at_temperature_one_and_the_papers_scale_it_is_attention() -> None:
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    assert np.abs(explore(Q, K, V).output - attention(Q, K, V)).max() < 1e-14  # a few roundings of float64


@pytest.mark.parametrize(("scale", "divisor"), [("1", 0.5), ("√d_k", 1.0), ("d_k", 2.0)])
def test_the_scale_and_the_temperature_together_divide_the_scores(scale: str, divisor: float) -> None:
    tables = [np.eye(4)] * 3
    assert explore(*tables, scale=scale, temperature=0.5).divisor == divisor


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2]], [[1]], [[1]]), r"Q and K: wanted the same d_k, got Q \(1, 2\) and K \(1, 1\)"),
        (([[1]], [[1]], [[1], [2]]), r"K and V: wanted a value for each key"),
        (([], [[1]], [[1]]), r"Q: wanted rows of numbers"),
        (([[1]], [[1]], [[1]], "√d_model"), r"scale: wanted one of 1, √d_k, d_k, got '√d_model'"),
        (([[1]], [[1]], [[1]], "1", 0), r"temperature: wanted a number above 0, got 0"),
        (([[1]], [[1]], [[1]], "1", 1, ["a", "b"]), r"query_names: wanted 1 names, one a row, got 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_wanted_and_got(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explore(*arguments)
    with pytest.raises(ValueError, match=message):
        AttentionExplorer(**dict(zip(ARGUMENTS, arguments, strict=False)))


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ([[1, 0], [0, 1], [0, 0]], "Hello looks most at a (0.50)."),
        ([[1, 0], [1, 9], [0, 0]], "Hello looks most at a and b (0.40 each)."),
        ([[0, 1], [0, 2], [0, 3]], "Hello looks at all alike (0.33 each)."),
    ],
)
def test_the_sentence_says_when_keys_share_the_first_place(keys: list, sentence: str) -> None:
    values = [[0], [0], [0]]
    assert explore([[1, 0]], keys, values, query_names=["Hello"], key_names=["a", "b", "c"]).sentence == sentence


def test_its_text_says_what_it_shows_and_follows_a_change() -> None:
    explorer = hello_world()
    assert repr(explorer) == (
        "Explorer (scale = √d_k, temperature = 1). Hello looks most at Hello (0.64); World looks most at World (0.64)."
    )
    explorer.scale = "1"
    data, _ = explorer._repr_mimebundle_()
    assert data["text/plain"] == repr(explorer)
    assert "Hello (0.73)" in data["text/plain"]
    explorer.close()


def test_its_state_holds_all_that_a_page_without_a_kernel_needs() -> None:
    explorer = hello_world()
    state = explorer.get_state()
    assert "export default { render }" in state["_esm"]
    assert "http" not in state["_esm"] + state["_css"]  # nothing is fetched
    assert (state["Q"], state["query_names"]) == (HELLO_WORLD, NAMES)
    explorer.close()


def test_a_change_that_arrives_from_the_page_moves_the_steps() -> None:
    explorer = hello_world()
    explorer.set_state({"Q": [[0, 1, 1], [0, 1, 1]], "temperature": 2})
    assert explorer.steps.sentence.startswith("Hello looks most at World")
    assert explorer.steps.divisor == pytest.approx(2 * np.sqrt(3))
    explorer.close()


# --- in the browser -------------------------------------------------------------------------------------------------


def test_the_javascript_and_numpy_agree_on_random_inputs(open_page: Callable) -> None:
    page = open_page(hello_world())
    rng = np.random.default_rng(0)
    inputs = []
    for i in range(60):
        n_query, n_key, d_k, d_v = rng.integers(1, 7, size=4)
        Q, K, V = rng.normal(size=(n_query, d_k)), rng.normal(size=(n_key, d_k)), rng.normal(size=(n_key, d_v))
        Q = Q * 10.0 ** rng.integers(-2, 3)  # from nearly uniform weights to one that takes all
        scale, temperature = SCALES[i % 3], float(rng.uniform(0.1, 5))
        names = {"query_names": [f"q{j}" for j in range(n_query)], "key_names": [f"k{j}" for j in range(n_key)]}
        tables = {"Q": Q.tolist(), "K": K.tolist(), "V": V.tolist()}
        inputs.append({**tables, "scale": scale, "temperature": temperature, **names})
    made = page.evaluate("inputs => inputs.map(window.explorer.explore)", inputs)
    for given, there in zip(inputs, made, strict=True):
        here = explore(**given)
        for name in ("divisor", "scores", "scaled", "weights", "output"):
            here_value, there_value = getattr(here, name), np.array(there[name])
            # Both compute in float64; sums in another order differ in the last digits of the largest number.
            size = max(1.0, np.abs(here.scaled).max()) if name == "weights" else max(1.0, np.abs(here_value).max())
            size = max(size, np.abs(here.scaled).max()) if name == "output" else size
            assert np.abs(here_value - there_value).max() <= 1e-12 * size, name
        assert there["sentence"] == here.sentence


@pytest.mark.parametrize("keys", [[[1, 0], [1, 9], [0, 0]], [[0, 1], [0, 2], [0, 3]]])
def test_shared_first_places_are_said_alike_in_both(open_page: Callable, keys: list) -> None:
    given = {"Q": [[1, 0]], "K": keys, "V": [[0], [0], [0]], "scale": "√d_k", "temperature": 1}
    given |= {"query_names": ["Hello"], "key_names": ["a", "b", "c"]}
    there = open_page(hello_world()).evaluate("given => window.explorer.explore(given).sentence", given)
    assert there == explore(**given).sentence


def test_both_write_two_digits_alike_also_at_a_half(open_page: Callable) -> None:
    numbers = [0.125, 0.375, 0.625, -0.125, -0.001, 0.005, 0.335, 1.005, 12.3456, -7.5, 0, 1]
    there = open_page(hello_world()).evaluate("numbers => numbers.map(window.explorer.twoDigits)", numbers)
    assert there == [two_digits(number) for number in numbers]


def test_a_number_that_is_typed_reaches_the_model_and_the_sentence(open_page: Callable) -> None:
    page = open_page(hello_world())
    number_field(page, "vector of World, number 1").fill("2")
    held = held_by(page)
    assert held["Q"] == held["K"] == held["V"] == [[1, 0, 1], [2, 1, 1]]  # one vector a word
    assert page.evaluate("window.saves") > 0
    assert shown_sentence(page) == explore(**held).sentence
    assert "Hello looks most at World" in shown_sentence(page)


def test_the_keyboard_alone_moves_a_slider_and_the_scale(open_page: Callable) -> None:
    page = open_page(hello_world())
    before = shown_sentence(page)
    page.get_by_label("temperature").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert held_by(page)["temperature"] == 1.5
    assert shown_sentence(page) != before
    page.get_by_label("√d_k").focus()
    page.keyboard.press("ArrowRight")
    assert held_by(page)["scale"] == "d_k"
    assert shown_sentence(page) == explore(**held_by(page)).sentence


def test_apart_from_each_other_the_three_tables_are_edited_one_by_one(open_page: Callable) -> None:
    page = open_page(hello_world())
    page.get_by_label("one vector a word").uncheck()
    number_field(page, "Q of Hello, number 3").fill("4")
    page.get_by_role("slider", name="Q of Hello, number 3").focus()
    page.keyboard.press("ArrowRight")
    held = held_by(page)
    assert held["Q"][0] == [1, 0, 4.1]
    assert held["K"] == held["V"] == HELLO_WORLD
    page.get_by_role("button", name="Start again").click()
    assert held_by(page)["Q"] == HELLO_WORLD
    assert page.get_by_label("one vector a word").is_checked()


def test_a_longer_vector_gets_zeros_so_that_only_the_scale_changes(open_page: Callable) -> None:
    page = open_page(hello_world())
    width = page.get_by_label("d_k, numbers in a vector")
    width.fill("5")
    width.press("Tab")
    held = held_by(page)
    assert held["Q"] == [[1, 0, 1, 0, 0], [0, 1, 1, 0, 0]]
    steps = explore(**held)
    assert np.array_equal(steps.scores, [[2, 1], [1, 2]])
    assert shown_sentence(page) == steps.sentence != explore(HELLO_WORLD, HELLO_WORLD, HELLO_WORLD).sentence
    width.fill("40")
    width.press("Tab")
    assert len(held_by(page)["Q"][0]) == 6  # the largest that it shows


def test_an_empty_field_changes_nothing_and_gets_its_number_back(open_page: Callable) -> None:
    page = open_page(hello_world())
    field = number_field(page, "vector of Hello, number 1")
    field.fill("")
    assert held_by(page)["Q"] == HELLO_WORLD
    field.press("Tab")
    assert field.input_value() == "1"


def test_a_change_that_arrives_from_python_is_shown(open_page: Callable) -> None:
    page = open_page(hello_world())
    page.evaluate("for (const name of ['Q', 'K', 'V']) window.model.set(name, [[3, 0, 1], [0, 1, 1]])")
    assert number_field(page, "vector of Hello, number 1").input_value() == "3"
    page.evaluate("window.model.set('Q', [[5, 0, 1], [0, 1, 1]])")
    assert number_field(page, "Q of Hello, number 1").input_value() == "5"  # no longer one vector a word
    assert shown_sentence(page) == explore(**held_by(page)).sentence


def test_a_view_that_is_taken_away_listens_no_more(open_page: Callable) -> None:
    page = open_page(hello_world())
    assert page.evaluate("window.listening()") == 5
    page.evaluate("window.stop()")
    assert page.evaluate("window.listening()") == 0


def test_every_control_has_a_name(open_page: Callable) -> None:
    page = open_page(AttentionExplorer(np.ones((2, 4)), np.ones((3, 4)), np.ones((3, 1))))
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, button")].filter((control) => {
             const label = control.labels?.[0]?.innerText.trim();
             return !(control.getAttribute("aria-label") || control.innerText || label);
           }).length"""
    )
    assert nameless == 0
    assert page.locator("table caption").count() == 7  # Q, K, V and the four steps


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(open_page: Callable, width: int) -> None:
    page = open_page(hello_world(), width=width)
    page.get_by_label("one vector a word").uncheck()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_numbers_in_the_shades_can_be_read_at_every_weight(open_page: Callable) -> None:
    page = open_page(hello_world(), dark=True)
    cells = page.locator(".ae-weights td[style]")
    for temperature in np.linspace(0.1, 5, 30).tolist():
        page.evaluate("t => window.model.set('temperature', t)", temperature)
        for cell in cells.all():
            ink, paper = cell.evaluate("c => [getComputedStyle(c).color, getComputedStyle(c).backgroundColor]")
            assert contrast(ink, paper) >= 4.5  # WCAG 2, level AA


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2 between two colours written as rgb(r, g, b)."""

    def luminance(colour: str) -> float:
        channels = np.array([int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)

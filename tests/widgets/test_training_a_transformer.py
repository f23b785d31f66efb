"""The widget of *Training the transformer*: a number is typed, its translation followed step by step."""

import numpy as np

from course_lib.widgets import training_a_transformer as widgets


def look(text):
    """Stand in for a trained model that knows 43 and one wrong translation of 7."""
    known = {
        "43": (["forty", "-", "three"], ["drei", "und", "vierzig", "<end>"]),
        "7": (["seven"], ["acht", "<end>"]),
    }
    if text not in known:
        raise ValueError(f"text: wanted number words, got {text!r}")
    source, target = known[text]
    return source, target, np.full((len(target), len(source)), 1 / len(source))


def explorer():
    return widgets.translation_explorer(look, {"43": "dreiundvierzig", "7": "sieben"}.get, text="43")


def test_a_typed_number_is_translated_and_compared_with_the_right_one():
    shown = explorer()
    assert "dreiundvierzig: right, step 3 of 4, after drei und: vierzig looks" in repr(shown)
    shown.children[0].value = "7"
    assert "acht: wrong, it is sieben, step 2 of 2, after acht: <end> looks most at seven" in repr(shown)


def test_the_steps_are_as_many_as_the_translation_has_tokens():
    shown = explorer()
    assert shown.children[1].max == 4
    shown.children[1].value = 1
    assert "step 1 of 4, after nothing: drei looks" in repr(shown)
    shown.children[0].value = "7"
    assert shown.children[1].max == 2


def test_what_is_no_number_is_answered_by_a_sentence_and_no_error():
    shown = explorer()
    shown.children[0].value = "seventeeen"
    assert "wanted number words, got 'seventeeen'" in shown.picture.alt
    shown.children[0].value = "43"
    assert "dreiundvierzig: right" in repr(shown)


def test_without_a_right_answer_nothing_is_judged():
    assert repr(widgets.translation_explorer(look, text="43")).count("right") == 0

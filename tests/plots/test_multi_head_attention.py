"""The figures of *Multi-head attention*: what their sentences say about the data."""

import numpy as np
import pytest

from course_lib.plots import multi_head_attention as plots


def test_the_right_split_keeps_every_token_in_its_row():
    picture = plots.split_and_merge(split="right", merge="right")
    assert picture.alt.count("every row holds numbers of its own token") == 2
    assert "they give X back" in picture.alt
    assert picture.png.startswith(b"\x89PNG")


def test_a_split_by_reshape_mixes_tokens_and_a_merge_by_reshape_hides_it():
    alone = plots.split_and_merge(split="reshape alone", merge=None).alt
    assert alone == "2 heads split by reshape alone: row b holds numbers of a."
    both = plots.split_and_merge(split="reshape alone", merge="reshape alone").alt
    assert "row b holds numbers of a; merged by reshape alone they give X back" in both


@pytest.mark.parametrize(("split", "merge"), [("right", "reshape alone"), ("reshape alone", "right")])
def test_one_wrong_way_does_not_give_the_tokens_back(split, merge):
    assert "they do not give X back" in plots.split_and_merge(split=split, merge=merge).alt


@pytest.mark.parametrize(("n", "h"), [(1, 2), (1, 4), (3, 1), (6, 1)])
def test_with_one_head_or_one_token_there_is_nothing_to_mix(n, h):
    said = plots.split_and_merge(n, h, 4, "reshape alone", "reshape alone").alt
    assert said.count("every row holds numbers of its own token") == 2


def test_heads_that_do_not_divide_the_width_and_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="h: wanted a number of heads that divides d_model = 4, got 3"):
        plots.split_and_merge(h=3)
    with pytest.raises(ValueError, match="split and merge: wanted one of right, reshape alone, got 'view'"):
        plots.split_and_merge(split="view")


def test_results_are_told_in_words_by_task_and_heads():
    results = {"two\nlookups": {1: np.array([0.2, 0.1]), 2: np.array([1.0, 1.0])}, "four": {1: np.array([0.01, 0.03])}}
    said = plots.by_heads(results, marks={"chance": 0.1}).alt
    assert "two lookups: 1 head some, 2 heads nearly all; four: 1 head nearly none." in said


def test_each_head_is_said_to_look_at_the_word_with_most_weight():
    weights = np.array([[0.1, 0.9, 0.0], [0.0, 0.3, 0.7]])
    said = plots.heads_over_sentence(["old", "queen", "she"], [1, 2, 3], 2, weights).alt
    assert said == 'From "she" in "old queen she", most weight: head 0 at queen, head 1 at she.'


def test_a_head_is_needed_for_what_is_lost_without_it():
    looks = np.array([[0.9, 0.0, 0.0], [0.8, 0.1, 0.0], [0.0, 0.9, 0.9]])
    left = np.array([[0.9, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.1, 0.2]])
    said = plots.looks_and_losses(looks, left, title="Three heads").alt
    assert said.startswith("Three heads: head 0 looks for who, and without it no question is lost")
    assert said.endswith("without it did what and how is lost.")


def test_tables_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"left: wanted the shape of looks, \(2, 3\)"):
        plots.looks_and_losses(np.ones((2, 3)), np.ones((3, 3)))


def test_contributions_say_whether_they_add_up():
    parts = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert "equals the sum of what the heads add; its first number 1.50 is made of 1.00, 0.50" in (
        plots.contributions(parts, parts.sum(axis=0)).alt
    )
    assert (
        "is up to 1 from the sum of the heads" in plots.contributions(parts, parts.sum(axis=0) + np.array([0, 1])).alt
    )

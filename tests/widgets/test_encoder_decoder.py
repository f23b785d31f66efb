"""The widget of *The encoder-decoder*."""

from types import SimpleNamespace

from course_lib.widgets import encoder_decoder as widgets


def row(millions, **sizes):
    chosen = {"N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "d_k": None, **sizes}
    return SimpleNamespace(config=SimpleNamespace(**chosen), millions=millions)


ROWS = {"base": row(65), "B d_k=16": row(58, d_k=16), "A h=4": row(None, h=4), "dropout": row(None)}


def parts(N, d_model, d_ff, h, d_k, source_vocabulary, target_vocabulary):
    """Stand in for the lesson's function: what it returns tells what it was asked."""
    assert source_vocabulary == target_vocabulary
    return {"embedding": source_vocabulary * d_model, "feed-forward": N * d_ff}


def test_each_slider_moves_the_bar_and_finds_the_papers_row():
    explorer = widgets.size_explorer(parts, ROWS)
    assert "row base 18.96 million" in repr(explorer) and "printed 65" in repr(explorer)
    layers, width, inner, heads, keys, vocabulary = explorer.children[:6]
    before = explorer.picture.png
    keys.value = 16
    assert "row B d_k=16" in repr(explorer) and "printed 58" in repr(explorer)
    assert explorer.picture.png != before
    keys.value, heads.value = None, 4
    assert "row A h=4" in repr(explorer) and "printed" not in repr(explorer)
    layers.value, inner.value, width.value = 2, 1024, 256
    assert "no row of table 3" in repr(explorer)
    vocabulary.value = 41_100
    assert "(embedding 10.52, feed-forward 0.00)" in repr(explorer)


def test_of_rows_with_the_same_sizes_the_first_is_named():
    sizes = {"N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "d_k": None}
    assert widgets.row_of(sizes, ROWS) == "base"
    assert widgets.row_of({**sizes, "N": 7}, ROWS) is None

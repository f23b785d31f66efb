"""Public sets: read from a local copy of their formats, and a clear word without a network."""

import json

import pytest

from course_lib.data import public_sets


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"wanted a folder or one of multi30k, .*, got 'imaginary'"):
        public_sets.load("imaginary")


def write(folder, rows):
    for part in ("train", "validation"):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{part}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def library(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets", reason="no datasets: install the extra `datasets`")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return datasets


@pytest.mark.filterwarnings("ignore")  # the library's own
@pytest.mark.parametrize("nested", [False, True])
def test_a_local_copy_of_the_format_gives_the_texts(library, tmp_path, nested):
    row = {"en": "a dog", "de": "ein Hund"}
    folder = tmp_path / "set"
    folder.mkdir()
    write(folder, [{"translation": row} if nested else row] * 3)
    train, held_out = public_sets.load(str(folder))
    assert train == [("a dog", "ein Hund", f"{folder}/train:{i}") for i in (1, 2, 3)] and len(held_out) == 3
    assert public_sets.load(str(folder), ("de", "en"))[0][0][:2] == ("ein Hund", "a dog")
    with pytest.raises(ValueError, match=r"train:1: wanted a text in the language 'fr', got the columns en, de"):
        public_sets.load(str(folder), ("en", "fr"))


def test_without_a_network_it_says_what_to_do(library, monkeypatch):
    def unreachable(path, part):
        raise ConnectionError("Couldn't reach the Hub\nmore")

    monkeypatch.setattr(library, "load_dataset", unreachable)
    message = r"^multi30k: could not be fetched \(ConnectionError: Couldn't reach the Hub\)\. Without internet"
    with pytest.raises(ValueError, match=message):
        public_sets.load("multi30k")


def test_without_the_library_it_names_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(ValueError, match=r"needs the package datasets: pip install"):
        public_sets.load("multi30k")

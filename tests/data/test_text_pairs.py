"""Parallel text: read as it is, and refused with the number of the line that cannot be used."""

import re

import pytest

from course_lib.data.text_pairs import LONGEST, read_pairs


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    "data", ["a dog\tein Hund\nred\trot\n", "a dog\tein Hund\r\nred\trot", "\ufeffa dog\tein Hund\nred\t rot \n"]
)
def test_a_file_with_tabs_gives_pairs_whatever_its_line_ends(tmp_path, data):
    path = write(tmp_path, "pairs.tsv", data)
    assert read_pairs([path]) == [("a dog", "ein Hund", f"{path}:1"), ("red", "rot", f"{path}:2")]


def test_two_files_are_read_line_by_line(tmp_path):
    files = [write(tmp_path, "a.en", "a dog\nred\n"), write(tmp_path, "a.de", "ein Hund\nrot\n")]
    assert [pair[:2] for pair in read_pairs(files)] == [("a dog", "ein Hund"), ("red", "rot")]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        ("a\tb\nno tab\n", 2, "wanted two texts with one tab between them, got 1"),
        ("a\tb\tc\n", 1, "wanted two texts with one tab between them, got 3"),
        ("a\tb\n\nc\td\n", 2, "wanted two texts with one tab between them, got 1"),
        ("a\tb\nc\t \n", 2, "wanted a target text, got an empty one"),
        ("\tb\n", 1, "wanted a source text, got an empty one"),
        (b"a\tb\nc\td\ncaf\xe9\tx\n", 3, "wanted text in UTF-8, got byte 0xe9 at place 4"),
        ("a\t" + "b" * (LONGEST + 1), 1, f"wanted a target of at most {LONGEST} characters"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_by_its_number(tmp_path, data, line, message):
    path = write(tmp_path, "pairs.tsv", data)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}:{line}: {message}"):
        read_pairs([path])


@pytest.mark.parametrize(("first", "second", "where"), [("a\nb\nc\n", "x\ny\n", "a.en:3"), ("a\n", "x\ny\n", "a.de:2")])
def test_files_of_unequal_length_are_refused_at_the_first_line_without_a_partner(tmp_path, first, second, where):
    files = [write(tmp_path, "a.en", first), write(tmp_path, "a.de", second)]
    with pytest.raises(ValueError, match=f"{where}: wanted a line of the same number in .* which is shorter"):
        read_pairs(files)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="wanted at least one line, got an empty file"):
        read_pairs([write(tmp_path, "pairs.tsv", "")])


def test_three_files_are_refused_and_a_missing_one_is_named(tmp_path):
    with pytest.raises(ValueError, match="got 3"):
        read_pairs([tmp_path] * 3)
    with pytest.raises(FileNotFoundError, match=r"none\.tsv"):
        read_pairs([tmp_path / "none.tsv"])

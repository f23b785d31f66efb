"""Your own parallel text: one file with a tab in each line, or two files whose lines belong together.

A line that cannot be used is refused with its number: a file that is silently a line off trains a model that translates
each sentence into its neighbour.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

LONGEST = 5000  # characters; more is no sentence


def read_pairs(files: Sequence[Path]) -> list[tuple[str, str, str]]:
    """Return (source, target, "file:line") for each line.

    Raises:
        ValueError: if there are more than two files, or if a line cannot be used; the message begins with file:line.
        FileNotFoundError: if a file is not there.
    """
    if len(files) == 1:
        return [_two_columns(line, where) for line, where in _lines(files[0])]
    if len(files) == 2:
        return [_two_lines(files, *pair) for pair in zip_longest(_lines(files[0]), _lines(files[1]))]
    raise ValueError(f"files: wanted one with tabs or two with lines that belong together, got {len(files)}")


def _two_columns(line: str, where: str) -> tuple[str, str, str]:
    columns = line.split("\t")
    if len(columns) != 2:
        raise ValueError(f"{where}: wanted two texts with one tab between them, got {len(columns)} in {line[:60]!r}")
    source, target = (_usable(text, side, where) for text, side in zip(columns, ("source", "target"), strict=True))
    return source, target, where


def _two_lines(
    files: Sequence[Path], source: tuple[str, str] | None, target: tuple[str, str] | None
) -> tuple[str, str, str]:
    if source is None or target is None:
        there, missing = (source, files[1]) if target is None else (target, files[0])
        raise ValueError(f"{there[1]}: wanted a line of the same number in {missing}, which is shorter")
    return _usable(source[0], "source", source[1]), _usable(target[0], "target", target[1]), source[1]


def _usable(text: str, side: str, where: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError(f"{where}: wanted a {side} text, got an empty one")
    if len(text) > LONGEST:
        raise ValueError(f"{where}: wanted a {side} of at most {LONGEST} characters, got {len(text)}")
    return text


def _lines(path: Path) -> list[tuple[str, str]]:
    """Return each line with its "file:line"."""
    lines = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        lines.pop()  # what stands behind the last line's end is no line
    if not lines:
        raise ValueError(f"{path}: wanted at least one line, got an empty file")
    decoded = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append((line.decode("utf-8").removesuffix("\r"), f"{path}:{number}"))
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path}:{number}: wanted text in UTF-8, got byte {line[error.start]:#04x} at place {error.start + 1}"
            ) from None
    return decoded

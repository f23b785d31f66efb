"""From pieces of text to ids and back. The first four ids have their meaning everywhere in the course."""

from collections.abc import Iterable

PAD, BEGIN, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<pad>", "<begin>", "<end>", "<unknown>")


class Vocabulary:
    """A fixed list of pieces; the id of a piece is its place.

    >>> vocabulary = Vocabulary(["forty", "three"])
    >>> vocabulary.ids(["three", "forty", "four"]), vocabulary.pieces([5, 2])
    ([5, 4, 3], ['three', '<end>'])
    """

    def __init__(self, pieces: Iterable[str]):
        self._pieces = [*SPECIAL, *dict.fromkeys(pieces)]
        self._ids = {piece: place for place, piece in enumerate(self._pieces)}

    def __len__(self) -> int:
        return len(self._pieces)

    def __contains__(self, piece: str) -> bool:
        return piece in self._ids

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """Return the id of each piece; a piece that is not in the list gets the id of `<unknown>`."""
        return [self._ids.get(piece, UNKNOWN) for piece in pieces]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of each id, special ones too."""
        return [self._pieces[int(i)] for i in ids]


def until_end(ids: Iterable[int]) -> list[int]:
    """Cut a decoded sequence at its end token, and leave padding and the begin token out.

    >>> until_end([1, 7, 8, 2, 9])
    [7, 8]
    """
    kept = []
    for i in ids:
        if i == END:
            break
        if i not in (PAD, BEGIN):
            kept.append(int(i))
    return kept

"""Count how many operations of a NumPy function must wait for each other, by watching it run.

Each array remembers its depth: how many array operations had to come, one after the other, before it was there. An
operation on whole arrays counts as one, for its entries can be worked out side by side; indexing, stacking and
transposing only move numbers and count as none. (A sum of n numbers shared out among many cores would still need
log n rounds; that is left out here, as it is in table 1 of the paper.)
"""

from collections.abc import Callable
from typing import Any

import numpy as np


class Traced(np.ndarray):
    """An array that knows its depth."""

    depth = 0

    def __array_finalize__(self, source: np.ndarray | None) -> None:
        self.depth = getattr(source, "depth", 0)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = getattr(ufunc, method)(*map(_plain, inputs), **{key: _plain(item) for key, item in kwargs.items()})
        return _traced(result, 1 + _deepest(inputs))

    def __array_function__(self, function: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        return _traced(function(*map(_plain, args), **kwargs), _deepest(args))


def longest_chain(function: Callable[..., np.ndarray], *arrays: np.ndarray) -> int:
    """Run `function` and return how many of its array operations had to wait for each other.

    >>> longest_chain(lambda x: np.exp(2 * x) + np.exp(3 * x), np.ones(4))  # times, exp, plus
    3
    """
    return _deepest([function(*(_traced(array, 0) for array in arrays))])


def _traced(array: np.ndarray | np.generic, depth: int) -> Traced:
    result = np.asarray(array).view(Traced)
    result.depth = depth
    return result


def _plain(item: Any) -> Any:
    if isinstance(item, list | tuple):
        return type(item)(map(_plain, item))
    return item.view(np.ndarray) if isinstance(item, Traced) else item


def _deepest(items: Any) -> int:
    depths = [_deepest(item) if isinstance(item, list | tuple) else getattr(item, "depth", 0) for item in items]
    return max(depths, default=0)

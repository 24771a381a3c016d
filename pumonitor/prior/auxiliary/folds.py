"""Which fold an entity belongs to: a matter of its key alone, now and ever after."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FOLDS: Final = 5

_BASIS: Final = np.uint64(0xCBF29CE484222325)
_PRIME: Final = np.uint64(0x100000001B3)
_MIXES: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))


def fold_of(keys: NDArray[Any]) -> NDArray[np.int64]:
    """The fold of each key, from 0 to 4.

    Parameters
    ----------
    keys : ndarray of shape (rows,)
        Text or whole numbers; equal keys are in one fold, in every table and on every machine.

    Returns
    -------
    ndarray of int, shape (rows,)

    Notes
    -----
    FNV-1a over code points, then the finish of splitmix64.

    References
    ----------
    Fowler, Noll, Vo (RFC 9923); Steele, Lea, Flood (2014), Fast splittable pseudorandom number
    generators, OOPSLA.

    Examples
    --------
    >>> fold_of(np.array(["ann", "bob", "ann"])).tolist(), fold_of(np.array([17, 4])).tolist()
    ([1, 4, 1], [4, 4])
    """
    text = np.ascontiguousarray(np.asarray(keys).astype(np.str_))
    if text.size == 0:
        return np.empty(0, dtype=np.int64)
    # One column a character; what fills shorter keys up to the longest is 0 and does not count.
    characters = text.view(np.uint32).reshape(len(text), -1).astype(np.uint64)
    found = np.full(len(text), _BASIS)
    with np.errstate(over="ignore"):
        for character in characters.T:
            found = np.where(character == 0, found, (found ^ character) * _PRIME)
        for shift, mix in zip(_SHIFTS, _MIXES, strict=False):
            found = (found ^ (found >> shift)) * mix
        found ^= found >> _SHIFTS[-1]
    return (found % np.uint64(FOLDS)).astype(np.int64)

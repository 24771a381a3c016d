"""What is searched for in many samples at once, and kept for when one of them comes again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

Sample = TypeVar("Sample")
Found = TypeVar("Found")


class Kept(Generic[Sample, Found]):
    """Results of a search that is cheaper for several samples together, by what was searched.

    The same rows come again: in panes of a window that differ by their moment alone, where a window
    of the reference is evaluated, under another class prior.

    Parameters
    ----------
    search : callable
        From samples to their results, each the same whatever other samples there are.
    key_of : callable
        From a sample to bytes: equal for samples with equal results.
    most : int
        How many results are kept; as many as were ever asked for at once, where that is more.

    Examples
    --------
    >>> searched = []
    >>> def search(samples):
    ...     searched.append(samples)
    ...     return [2 * one for one in samples]
    >>> doubled = Kept(search, key_of=lambda one: bytes([one]), most=10)
    >>> doubled([1, 2]), doubled([2, 3]), searched
    ([2, 4], [4, 6], [[1, 2], [3]])
    """

    def __init__(
        self,
        search: Callable[[Sequence[Sample]], Sequence[Found]],
        *,
        key_of: Callable[[Sample], bytes],
        most: int,
    ) -> None:
        self._search, self._key_of, self._most = search, key_of, most
        self._kept: OrderedDict[bytes, Found] = OrderedDict()
        self._lock = Lock()

    def __call__(self, samples: Sequence[Sample]) -> list[Found]:
        """The results of these samples, in their order."""
        keys = [self._key_of(one) for one in samples]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: one for key, one in zip(keys, samples, strict=True) if key not in known}
        if missing:
            known |= zip(missing, self._search([*missing.values()]), strict=True)
        with self._lock:
            # What is searched for together is asked for one by one afterwards.
            self._most = max(self._most, len(known))
            for key in keys:
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [known[key] for key in keys]

"""Plain values of results: numbers for JSON, data frames, mappings that name what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pumonitor.errors import no_such

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray


T = TypeVar("T")


def frame_of(
    data: Sequence[Mapping[str, Any]] | Mapping[str, NDArray[Any]], *, index: str
) -> pandas.DataFrame:
    """A pandas data frame of rows or columns; pandas is loaded when one is asked for."""
    import pandas

    return pandas.DataFrame(data).set_index(index)


class _ByName(dict[str, T]):
    """What there is by name; asked for anything else, it says what there is."""

    def __init__(self, what: str, items: Mapping[str, T]) -> None:
        super().__init__(items)
        self.what = what

    def __missing__(self, name: str) -> T:
        raise KeyError(no_such(self.what, name, self))


def by_name(what: str, items: Mapping[str, T]) -> Mapping[str, T]:
    """The items, read-only, with a KeyError that names them.

    Examples
    --------
    >>> by_name("curve", {"roc": 1, "lift": 2})["rok"]
    Traceback (most recent call last):
    ...
    KeyError: "no curve 'rok'; did you mean 'roc'? (there are roc, lift)"
    """
    return MappingProxyType(_ByName(what, items))

"""Columns of features as numbers that trees can split: what was learned of each, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError, did_you_mean, shortened

RawColumns = Mapping[str, NDArray[Any]]
"""Columns by name: floats, NaN where a value is missing, or objects, text or None."""

MOST_CATEGORIES: Final = 254
"""Of a column; rarer ones are read as missing, as are those that come up later."""

_LARGEST: Final = 1e300
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureColumn:
    """What was learned of one column.

    Attributes
    ----------
    name : str
    kind : {"numbers", "numbers in text", "categories"}
        "numbers in text": every value was text that is a number, as in a CSV file.
    categories : tuple of str
        Sorted; the code of each is its place. Empty for numbers.
    """

    name: str
    kind: Literal["numbers", "numbers in text", "categories"]
    categories: tuple[str, ...] = ()

    @classmethod
    def learned(cls, name: str, values: NDArray[Any]) -> FeatureColumn:
        """From the values of a reference.

        Raises
        ------
        InputError
            If all are missing.
        """
        is_missing = _missing(values)
        if is_missing.all():
            msg = (
                f"feature column '{name}' is missing in all {len(values)} rows: repair what logs "
                "it, or leave it out"
            )
            raise InputError(msg)
        if values.dtype.kind == "f":
            return cls(name=name, kind="numbers")
        found, counts = np.unique(values[~is_missing].astype(np.str_), return_counts=True)
        if not np.isnan(_numbers(found)).any():
            return cls(name=name, kind="numbers in text")
        # Of those that are equally frequent the first in order: the same rows, the same columns.
        kept = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
        return cls(name=name, kind="categories", categories=tuple(kept.tolist()))

    def encoded(self, values: NDArray[Any]) -> FloatArray:
        """Numbers, or codes of categories; NaN for what is missing and for a new category.

        Raises
        ------
        InputError
            If the values are of another type than those it was learned from.
        """
        is_missing = _missing(values)
        if is_missing.all():
            return np.full(len(values), np.nan)
        is_text = values.dtype.kind != "f"
        if is_text == (self.kind == "numbers"):
            was, now = ("numbers", "text") if is_text else ("text", "numbers")
            raise self._other_type(was, now)
        if not is_text:
            return np.clip(values.astype(np.float64), -_LARGEST, _LARGEST)
        encoded = np.full(len(values), np.nan)
        found, places = np.unique(values[~is_missing].astype(np.str_), return_inverse=True)
        if self.kind == "numbers in text":
            numbers = _numbers(found)[places]
            unread = np.isnan(numbers)
            if 2 * np.count_nonzero(unread) > len(numbers):
                shown = ", ".join(repr(shortened(str(one))) for one in found[:_SHOWN])
                raise self._other_type("numbers", f"other text, such as {shown},")
            encoded[~is_missing] = np.clip(numbers, -_LARGEST, _LARGEST)
            return encoded
        known = np.asarray(self.categories, dtype=np.str_)
        codes = np.minimum(np.searchsorted(known, found), len(known) - 1)
        encoded[~is_missing] = np.where(known[codes] == found, codes, np.nan)[places]
        return encoded

    def _other_type(self, was: str, now: str) -> InputError:
        return InputError(
            f"feature column '{self.name}' held {was} when the auxiliary score was trained and "
            f"holds {now} now: write it as before, or train again"
        )


@dataclass(frozen=True, slots=True)
class FeatureColumns:
    """All columns, those of categories first.

    Attributes
    ----------
    columns : tuple of FeatureColumn
    """

    columns: tuple[FeatureColumn, ...]

    @classmethod
    def learned(cls, raw: RawColumns) -> FeatureColumns:
        """From the columns of a reference.

        Raises
        ------
        InputError
            If there are none, or all values of one are missing.

        Examples
        --------
        >>> raw = raw_columns({"amount": [3.0, 1.5], "country": ["de", "fr"]}, rows=2)
        >>> [(one.name, one.kind) for one in FeatureColumns.learned(raw).columns]
        [('country', 'categories'), ('amount', 'numbers')]
        """
        if not raw:
            msg = "features must name one column or more"
            raise InputError(msg)
        found = [FeatureColumn.learned(name, values) for name, values in raw.items()]
        return cls(tuple(sorted(found, key=lambda one: one.kind != "categories")))

    @property
    def categorical(self) -> int:
        """How many of them hold categories."""
        return sum(one.kind == "categories" for one in self.columns)

    def encoded(self, raw: RawColumns) -> FloatArray:
        """A matrix of shape (rows, columns), each column contiguous.

        Raises
        ------
        InputError
            If a column is absent, or holds another type than before.
        """
        for one in self.columns:
            if one.name not in raw:
                hint = did_you_mean(one.name, raw)
                msg = f"there is no feature column '{one.name}'{hint}"
                raise InputError(msg)
        rows = len(next(iter(raw.values())))
        matrix = np.empty((rows, len(self.columns)), order="F")
        for place, one in enumerate(self.columns):
            matrix[:, place] = one.encoded(raw[one.name])
        return matrix


def raw_columns(features: Any, *, rows: int) -> RawColumns:
    """Features as columns of floats and of text, whatever they come in.

    Parameters
    ----------
    features : data frame, mapping of str to array-like, or array-like of shape (rows, columns)
        Of pandas, polars, Arrow or numpy. Numbers stay numbers; text, true and false, and pandas'
        categories become text. The columns of a matrix are called 0, 1 and so on.
    rows : int
        How many there must be.

    Raises
    ------
    InputError
        If there are no columns, other numbers of rows, two columns of one name, or values that are
        neither numbers nor text nor true and false; the message names the column.

    Examples
    --------
    >>> raw_columns({"new": [True, None]}, rows=2)["new"].tolist()
    ['true', None]
    """
    columns = _by_name(features)
    if not columns:
        msg = "auxiliary must hold one column of features or more"
        raise InputError(msg)
    found: dict[str, NDArray[Any]] = {}
    for name, values in columns:
        if name in found:
            msg = f"auxiliary has two columns named '{name}': rename one"
            raise InputError(msg)
        found[name] = _plain(name, values)
        if len(found[name]) != rows:
            msg = (
                f"auxiliary must have one row per label: column '{name}' has {len(found[name])} "
                f"for {rows} labels"
            )
            raise InputError(msg)
    return found


def _by_name(features: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(features, Mapping):
        return [(str(name), values) for name, values in features.items()]
    if hasattr(type(features), "columns"):
        import narwhals as nw

        try:
            frame: Any = nw.from_native(features, eager_only=True)
        except TypeError:
            msg = (
                "auxiliary must be a data frame that holds its rows, a mapping of columns or a "
                f"matrix, got {type(features).__name__}"
            )
            raise InputError(msg) from None
        return [(str(name), frame[name].to_numpy()) for name in frame.columns]
    matrix = np.asarray(features)
    if matrix.ndim == 1:
        matrix = matrix[:, np.newaxis]
    if matrix.ndim != 2:
        msg = f"auxiliary must be of shape (rows, columns), got {matrix.shape}"
        raise InputError(msg)
    return [(str(place), matrix[:, place]) for place in range(matrix.shape[1])]


def _plain(name: str, given: Any) -> NDArray[Any]:
    """Floats, or text and None."""
    values = np.asarray(given)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind == "b":
        return np.where(values, "true", "false").astype(object)
    if values.dtype.kind in "UT":
        return values.astype(object)
    if values.dtype.kind == "O":
        is_missing = _missing(values)
        kinds = {type(one) for one in values[~is_missing].tolist()}
        if kinds <= {bool, np.bool_}:
            told = np.full(len(values), None, dtype=object)
            is_true = values[~is_missing].astype(np.bool_)
            told[~is_missing] = np.where(is_true, "true", "false")
            return told
        if all(issubclass(kind, str) for kind in kinds):
            text = values.copy()
            text[is_missing] = None
            return text
        try:
            if not any(issubclass(kind, str) for kind in kinds):
                numbers = np.full(len(values), np.nan)
                numbers[~is_missing] = values[~is_missing].astype(np.float64)
                return numbers
        except (TypeError, ValueError):
            pass
        listed = " and ".join(sorted(kind.__name__ for kind in kinds))
    else:
        listed = str(values.dtype)
    msg = (
        f"feature column '{name}' holds {listed}: features are numbers, or text, or true and false"
    )
    raise InputError(msg)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.fromiter((_is_missing(one) for one in values.tolist()), np.bool_, len(values))


def _is_missing(value: Any) -> bool:
    # pandas' own missing value does not say whether it equals itself; NaN says that it does not.
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, str) and bool(value != value)  # noqa: PLR0124


def _numbers(found: NDArray[np.str_]) -> FloatArray:
    """Each of them as a number, NaN where it is none."""
    try:
        return found.astype(np.float64)
    except ValueError:
        return np.array([_number(one) for one in found.tolist()], dtype=np.float64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan

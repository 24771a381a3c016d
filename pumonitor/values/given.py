"""What each row is worth, as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate.columns import as_array
from pumonitor._valued import MOST_VALUE
from pumonitor.errors import InputError, shortened

FloatArray = NDArray[np.float64]

_REMEDY: Final = "give every row its value, 0 where nothing is at stake"
_LONGEST_UNIT: Final = 20


class Worth(NamedTuple):
    """What rows are worth.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Finite, at least 0.
    unit : str or None
        A short word for what they are in.
    """

    values: FloatArray
    unit: str | None


def as_worth(value: Any, unit: object, *, rows: int) -> Worth | None:
    """What was given of what rows are worth; None where nothing was.

    Parameters
    ----------
    value : array-like of shape (n,), optional
    unit : str, optional
    rows : int
        n.

    Raises
    ------
    InputError
        If values are missing, no numbers, infinite or negative, are not one a row, or are all 0.
    ValueError
        If there is a unit without values, or it is no short text.

    Examples
    --------
    >>> as_worth([12.5, -3.0], None, rows=2)
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: value is negative in 1 of 2 rows, first -3 at row 1: a value is \
what is lost if a positive is missed; give refunds and corrections 0, or leave these rows out
    """
    if value is None:
        if unit is not None:
            msg = "value_unit says what value is in: give value as well"
            raise ValueError(msg)
        return None
    return Worth(_as_values(value, rows=rows, name="value"), as_unit(unit))


def _as_values(values: Any, *, rows: int, name: str) -> FloatArray:
    array = as_array(values, name=name, missing_remedy=_REMEDY)
    if len(array) != rows:
        msg = f"{name} must have one value a row: got {len(array)} for {rows} rows"
        raise InputError(msg)
    if array.dtype.kind not in "iufb":
        array = _numbers(array, name=name)
    numbers = array.astype(np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        msg = (
            f"{name} is missing in {int(missing.sum())} of {rows} rows, first at row "
            f"{int(missing.argmax())}: {_REMEDY}"
        )
        raise InputError(msg)
    infinite = ~np.isfinite(numbers)
    if infinite.any():
        msg = (
            f"{name} is infinite in {int(infinite.sum())} of {rows} rows, first at row "
            f"{int(infinite.argmax())}: give what is at stake"
        )
        raise InputError(msg)
    huge = numbers >= MOST_VALUE
    if huge.any():
        msg = (
            f"{name} is above 1e15 in {int(huge.sum())} of {rows} rows, first at row "
            f"{int(huge.argmax())}: give values in a larger unit, and mend what stands for none"
        )
        raise InputError(msg)
    negative = numbers < 0
    if negative.any():
        first = int(negative.argmax())
        msg = (
            f"{name} is negative in {int(negative.sum())} of {rows} rows, first "
            f"{numbers[first]:g} at row {first}: a value is what is lost if a positive is missed; "
            "give refunds and corrections 0, or leave these rows out"
        )
        raise InputError(msg)
    if not numbers.any():
        msg = f"{name} is 0 in all {rows} rows: check that the column holds what a row is worth"
        raise InputError(msg)
    return numbers


def _numbers(array: NDArray[Any], *, name: str) -> FloatArray:
    """Numbers that came as objects, as decimals do."""
    try:
        if not any(isinstance(value, str | bytes) for value in array.tolist()):
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    words = [value for value in array.tolist() if isinstance(value, str | bytes)] or array.tolist()
    msg = (
        f"{name} holds {shortened(str(words[0]))!r}, which is no number, and {len(words)} of "
        f"{len(array)} rows like it: convert the column to numbers, without a currency"
    )
    raise InputError(msg)


def as_unit(unit: object) -> str | None:
    """A short word, or None.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if unit is None:
        return None
    if not isinstance(unit, str) or not 0 < len(unit.strip()) <= _LONGEST_UNIT:
        msg = f"value_unit must be a short word such as 'EUR', got {unit!r:.60}"
        raise ValueError(msg)
    return unit.strip()


def worth_of_rows(
    value: Any,
    unit: object,
    *,
    rows: int,
    scenario: str,
    label_purity: object,
    given: Mapping[str, object],
) -> Worth | None:
    """What rows are worth, as `as_worth`, and nothing that estimates by value do not go with.

    Raises
    ------
    InputError, ValueError
        As `as_worth`; and if there is any of it.
    """
    worth = as_worth(value, unit, rows=rows)
    if worth is None:
        return None
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        msg = (
            "estimates by value need rows that count one each, with labels that are a fair sample "
            f"or with reviews: leave out {', '.join(wrong)}, or value"
        )
        raise ValueError(msg)
    if scenario != "single-training-set" or label_purity != 1.0:
        msg = (
            "estimates by value are of the single-training-set scenario with a label_purity of 1, "
            f"got {scenario!r} and {label_purity!r}"
        )
        raise ValueError(msg)
    return worth

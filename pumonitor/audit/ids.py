"""Ids of rows: text, all different."""

from __future__ import annotations

from typing import Any

import numpy as np

from pumonitor.errors import InputError, shortened


def as_id(value: object) -> str | None:
    """An id as text, None if it is missing; 17 and 17.0 are one id.

    Examples
    --------
    >>> as_id(17), as_id(17.0), as_id(" a "), as_id(float("nan")), as_id("")
    ('17', '17', 'a', None, None)
    """
    if value is None or value != value:  # noqa: PLR0124 (NaN and NaT are not themselves)
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip() or None


def as_ids(values: Any) -> list[str]:
    """One id a row.

    Raises
    ------
    InputError
        If some are missing, or two rows have the same.
    """
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    found = [as_id(one) for one in listed]
    missing = sum(one is None for one in found)
    if missing:
        msg = (
            f"ids has {missing} missing values in {len(found)} rows, first at row "
            f"{found.index(None)}: a case without an id cannot be reviewed"
        )
        raise InputError(msg)
    ids = [one for one in found if one is not None]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(one for one in ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        msg = (
            f"ids must be all different: {len(ids) - len(set(ids))} of {len(ids)} rows have the id "
            f"of another, first {shortened(twice)!r}"
        )
        raise InputError(msg)
    return ids

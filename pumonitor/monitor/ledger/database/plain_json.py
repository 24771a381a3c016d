"""Check values for JSON columns before a statement would fail on them."""

from __future__ import annotations

import json
from typing import Any


class JsonText(str):
    """A value that is JSON already: columns of JSON store it as it is."""

    __slots__ = ()


def as_json(value: Any) -> str:
    """What a column of JSON stores: canonical JSON, the same text in every database."""
    if isinstance(value, JsonText):
        return value
    return json.dumps(value, allow_nan=False, sort_keys=True)


def json_text(value: Any, what: str) -> JsonText:
    """Serialise a value to canonical JSON: equal values give equal text.

    Raises
    ------
    ValueError
        If the value is not JSON, or contains NaN or infinity. The message names `what`.
    """
    try:
        return JsonText(as_json(value))
    except (TypeError, ValueError) as error:
        msg = f"{what} must hold plain, finite JSON values: {error}"
        raise ValueError(msg) from None


def plain_json(value: Any, what: str) -> Any:
    """Return the value as JSON would return it: tuples become lists.

    Examples
    --------
    >>> plain_json({"edges": (1, 2)}, "table")
    {'edges': [1, 2]}
    """
    return None if value is None else json.loads(json_text(value, what))

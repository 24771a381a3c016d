"""Check values for JSON columns before a statement would fail on them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text", "plain_json"]


def json_text(value: Any, what: str) -> str:
    """Serialise a value to canonical JSON: equal values give equal text.

    Raises
    ------
    ValueError
        If the value is not JSON, or contains NaN or infinity. The message names `what`.
    """
    try:
        return json.dumps(value, allow_nan=False, sort_keys=True)
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

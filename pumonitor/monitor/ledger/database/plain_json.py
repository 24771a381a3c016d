"""Values for JSON columns: a fault is named before a statement fails in the middle."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text", "plain_json"]


def json_text(value: Any, what: str) -> str:
    """The value as text, the same for equal values.

    Raises
    ------
    ValueError
        If it holds something else than plain, finite JSON values.
    """
    try:
        return json.dumps(value, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        msg = f"{what} must hold plain, finite JSON values: {error}"
        raise ValueError(msg) from None


def plain_json(value: Any, what: str) -> Any:
    """The value, read back from its text.

    Examples
    --------
    >>> plain_json({"edges": (1, 2)}, "table")
    {'edges': [1, 2]}
    """
    return None if value is None else json.loads(json_text(value, what))

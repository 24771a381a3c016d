"""In which order the rows of a bin are drawn: reproducible, extensible, untouched by late rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def draw_key(seed: str, row_id: str) -> str:
    """The place of a row in its bin: SHA-256 of ``seed:id`` in hexadecimal digits.

    Every SQL engine that is read here computes the same (`Dialect.hashed`). Rows with the smallest
    keys are drawn. More cases are the next keys, so those drawn before stay; a row that arrives
    later moves no other. Nobody without the seed can tell which rows are drawn.

    Examples
    --------
    >>> draw_key("2026-03", "order 17")[:16]
    '98928d4acf1ec970'
    """
    return hashlib.sha256(f"{seed}:{row_id}".encode()).hexdigest()


def first_keys(seed: str, row_ids: Iterable[str], cases: int) -> list[str]:
    """The ids of the first `cases` rows of a bin, in the order of their keys.

    Examples
    --------
    >>> ids = [f"order {number}" for number in range(100)]
    >>> few, more = first_keys("march", ids, 5), first_keys("march", ids, 8)
    >>> more[:5] == few
    True
    """
    return sorted(row_ids, key=lambda one: (draw_key(seed, one), one))[:cases]

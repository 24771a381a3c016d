"""Unique names that MLflow and file systems accept, made from any text."""

from __future__ import annotations

import hashlib
import re

_KEPT = r"[A-Za-z0-9_-]+"
_PLAIN = re.compile(rf"{_KEPT}(\.{_KEPT})*")
_COLUMN_AND_VALUE = re.compile(rf"({_KEPT})=({_KEPT})")
_NOT_KEPT = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 80
_LONGEST_START = 60


def slug(text: str) -> str:
    """The text itself where it is plain, else its readable part and eight digits of its hash.

    Examples
    --------
    >>> slug("precision_at_0.1"), slug("f1 (old)"), slug("f1 [old]")
    ('precision_at_0.1', 'f1_old-d79d0f99', 'f1_old-47991475')
    """
    if _PLAIN.fullmatch(text) and len(text) <= _LONGEST:
        return text
    start = _NOT_KEPT.sub("_", text).strip("_")[:_LONGEST_START] or "other"
    return f"{start}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def segment_slug(segment: str) -> str:
    """Slug of ``column=value``, with a dot for the sign, which MLflow does not accept.

    Examples
    --------
    >>> segment_slug("country=DE"), segment_slug("city=São Paulo"), segment_slug("city=S.o Paulo")
    ('country.DE', 'city_S_o_Paulo-8c1c4b8d', 'city_S_o_Paulo-d151fa28')
    """
    parts = _COLUMN_AND_VALUE.fullmatch(segment)
    if parts and len(segment) <= _LONGEST:
        return f"{parts[1]}.{parts[2]}"
    return slug(segment)

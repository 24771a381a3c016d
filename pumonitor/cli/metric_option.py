"""Metrics as options name them."""

from __future__ import annotations

from collections.abc import Collection

from pumonitor.errors import InputError
from pumonitor.service.metric_names import METRICS, refuse_unknown

__all__ = ["checked_metric"]


def checked_metric(name: str, *, option: str, known: Collection[str] = METRICS) -> str:
    """The name, if there is such a metric.

    Raises
    ------
    InputError
        With the one that may be meant.
    """
    try:
        refuse_unknown(name, known)
    except ValueError as error:
        msg = f"{option} {error}"
        raise InputError(msg) from None
    return name

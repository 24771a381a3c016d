"""Metrics as options name them."""

from __future__ import annotations

from collections.abc import Collection

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.metric_names import METRICS, refuse_unknown

__all__ = ["checked_metric"]


def checked_metric(
    name: str,
    *,
    option: str,
    known: Collection[str] = METRICS,
    listed_by: str = "pumonitor schema",
) -> str:
    """The name, if there is such a metric; `listed_by` is a command that prints all.

    Raises
    ------
    InputError
        With the one that may be meant.
    """
    try:
        refuse_unknown(name, known, listed_by=listed_by)
    except ValueError as error:
        msg = f"{option} {error}"
        raise InputError(msg) from None
    return name

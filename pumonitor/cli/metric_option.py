"""Check the name of a metric in an option."""

from __future__ import annotations

from collections.abc import Collection

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.metric_names import METRICS, refuse_unknown


def checked_metric(
    name: str,
    *,
    option: str,
    known: Collection[str] = METRICS,
    listed_by: str = "pumonitor schema",
) -> str:
    """Return the name if there is such a metric; `listed_by` is a command that prints all names.

    Raises
    ------
    InputError
        For an unknown name, with a suggestion.
    """
    try:
        refuse_unknown(name, known, listed_by=listed_by)
    except ValueError as error:
        msg = f"{option} {error}"
        raise InputError(msg) from None
    return name

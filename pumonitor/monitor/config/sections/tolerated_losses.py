"""The section on what may be gone of a window when it is looked at again."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.rule_values import Level
from pumonitor.monitor.config.values.kinds import Part


def _share(given: float) -> float:
    if not 0 <= given <= 1:
        msg = f"must be a share from 0 to 1, such as 2%, got {given:g}{if_percent(given)}"
        raise ValueError(msg)
    return given


_Share = Annotated[Level, AfterValidator(_share)]


class ToleratedLosses(Part):
    """Which part of what was known of a window may be gone when it is looked at again.

    Beyond it the earlier look stays the result, until the rows are back or ``pumonitor accept``
    takes the new one. 100% accepts whatever is left.

    Attributes
    ----------
    rows : float
        Largest share of an earlier look's predictions that may be gone.
    labels : float
        Largest share of an earlier look's labels that may be gone. A label that a later row takes
        back, or turns into the other one, is not gone.
    """

    rows: _Share = 0.02
    labels: _Share = 0.05

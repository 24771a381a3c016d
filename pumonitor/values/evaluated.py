"""An evaluation with its estimates by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pumonitor.audit.estimates import widest
from pumonitor.results import Evaluation
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.given import Worth


def with_values(ev: Evaluation, worth: Worth, readings: Sequence[ValueDraws]) -> Evaluation:
    """The evaluation with its estimates by value.

    Parameters
    ----------
    ev : Evaluation
    worth : Worth
    readings : sequence of ValueDraws
        By each way of reading the rows, the likeliest first; intervals hold by all of them.
    """
    level = ev.settings["confidence_level"]
    estimates = widest([draws.estimates(confidence_level=level) for draws in readings])
    return replace(
        ev,
        estimates={**ev.estimates, **estimates},
        settings={
            **ev.settings,
            "value_unit": worth.unit,
            "value_total": float(worth.values.sum()),
        },
    )

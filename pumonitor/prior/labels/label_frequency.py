"""The class prior from the label frequency: what share of the positives gets confirmed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pumonitor.errors import if_percent
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.tables import ScoreTable
from pumonitor.text import percent_text

LabelFrequency = float | tuple[float, float] | tuple[float, float, float]
"""c as known, (low, high) or (value, low, high)."""

GIVEN_LABEL_FREQUENCY = "given label frequency"


def prior_from_label_frequency(
    label_frequency: LabelFrequency,
    table: ScoreTable,
    *,
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    confidence_level: float = 0.95,
) -> ClassPriorEstimate:
    """Class prior pi = q b / c, with q the labeled fraction of the table and b the label purity.

    Wrong when labels still arrive: c is the share confirmed by now, not the share that will be.

    Raises
    ------
    ValueError
        Unless 0 < c <= 1, the bounds of an interval in order, and c > q b (or there would be more
        positives than rows); and in the case-control scenario, where c does not exist.

    References
    ----------
    Tabatabaei, Klein, Hoogendoorn (2020), sections 4.1 and 4.3.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([1, 1, 0, 0, 0, 0, 0, 0, 0, 0], np.arange(10.0))
    >>> prior = prior_from_label_frequency((0.4, 0.8), table)
    >>> round(prior.low, 3), round(prior.high, 3)
    (0.25, 0.5)
    """
    if scenario == "case-control":
        msg = (
            "label_frequency has no meaning with scenario='case-control': the labeled rows do not "
            "come from the population; give class_prior"
        )
        raise ValueError(msg)
    value, low, high = read_label_frequency(label_frequency)
    labeled = float(table.labeled_mass.sum())
    rows = labeled + float((table.unlabeled + table.negative).sum())
    confirmed = label_purity * labeled / rows
    if low <= confirmed:
        msg = (
            f"label_frequency={low:g} is impossible: {percent_text(confirmed)} of all rows are "
            "confirmed positives, so there would be more positives than rows"
        )
        raise ValueError(msg)
    estimate = ClassPriorEstimate(
        value=confirmed / value,
        low=confirmed / high,
        high=confirmed / low,
        method=GIVEN_LABEL_FREQUENCY,
        confidence_level=confidence_level,
    )
    return replace(estimate, label_frequency=value, label_frequency_interval=(low, high))


def read_label_frequency(label_frequency: LabelFrequency) -> tuple[float, float, float]:
    """Value, low and high of a given label frequency; the three are equal if it is one number.

    Raises
    ------
    TypeError, ValueError
        If it is no number, or not in order within (0, 1].

    Examples
    --------
    >>> read_label_frequency((0.25, 0.36))
    (0.3, 0.25, 0.36)
    """
    if isinstance(label_frequency, tuple | list):
        parts = tuple(float(part) for part in label_frequency)
        if len(parts) not in (2, 3):
            msg = (
                "label_frequency must be a number, (low, high) or (value, low, high), got "
                f"{len(parts)} numbers"
            )
            raise ValueError(msg)
    elif isinstance(label_frequency, bool | str) or not isinstance(
        label_frequency, int | float | np.floating
    ):
        msg = (
            "label_frequency must be a number, (low, high) or (value, low, high), got "
            f"{label_frequency!r}"
        )
        raise TypeError(msg)
    else:
        parts = (float(label_frequency),)
    low, high = parts[-2:] if len(parts) > 1 else (parts[0], parts[0])
    value = math.sqrt(max(low * high, 0.0)) if len(parts) == 2 else parts[0]
    if not 0 < low <= value <= high <= 1:
        must, got = "0 < label_frequency <= 1", f"{value:g}"
        if len(parts) > 1:
            must = "0 < low <= value <= high <= 1"
            got = f"low={low:g}, value={value:g}, high={high:g}"
        msg = f"label_frequency must satisfy {must}, got {got}{if_percent(*parts)}"
        raise ValueError(msg)
    return value, low, high

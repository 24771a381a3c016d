"""Estimates by value, of a table that knows what its rows are worth."""

from __future__ import annotations

from dataclasses import replace

from pumonitor._valued import UNUSABLE, ValuedRows
from pumonitor.audit.estimates import EstimatesByBin, widest
from pumonitor.metrics.problem import Problem
from pumonitor.names import VALUE
from pumonitor.results import Evaluation
from pumonitor.reviews.reading import ReviewedEstimates
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.fair import draws_with_fair_labels
from pumonitor.values.reviewed import draws_with_reviews


def draw_values(
    problem: Problem, reading: EstimatesByBin | None, *, threshold: float
) -> list[ValueDraws]:
    """Draws of what positives are worth, by each way of reading the rows; the likeliest first.

    Without any where the table does not know what its rows are worth, or that cannot be used.

    Parameters
    ----------
    problem : Problem
    reading : EstimatesByBin or None
        What reviews say of the rows.
    threshold : float

    Raises
    ------
    ValueError
        If an audit says which rows are positive.
    """
    valued = problem.table.values
    if valued is None or _why_unusable(valued) is not None:
        return []
    if isinstance(reading, ReviewedEstimates):
        return draws_with_reviews(valued, reading)
    if reading is not None:
        msg = "estimates by value are not made with an audit: leave out audit, or value"
        raise ValueError(msg)
    return [draws_with_fair_labels(valued, problem, threshold=threshold)]


def with_values(
    ev: Evaluation, problem: Problem, reading: EstimatesByBin | None, *, unit: str | None
) -> Evaluation:
    """The evaluation of a table with estimates by value, if it knows what its rows are worth.

    Where rows can be read in several ways intervals hold by all of them.
    """
    valued, threshold = problem.table.values, ev.settings["threshold"]
    if valued is None:
        return ev
    why, settings = _why_unusable(valued), {**ev.settings, "value_unit": unit}
    if why is not None:
        none = {name: problem.undefined(name, why) for name in VALUE}
        return replace(ev, estimates={**ev.estimates, **none}, settings=settings)
    level = problem.confidence_level
    draws = draw_values(problem, reading, threshold=threshold)
    readings = [each.at(threshold).estimates(confidence_level=level) for each in draws]
    return replace(
        ev,
        estimates={**ev.estimates, **widest(readings)},
        settings={**settings, "value_total": float(valued.worth.sum())},
    )


def _why_unusable(valued: ValuedRows) -> str | None:
    """Of rows that were counted where they lie: others are refused before."""
    wrong, rows = int(valued.rows[valued.value == UNUSABLE].sum()), int(valued.rows.sum())
    if wrong:
        return (
            f"value is missing, negative, no finite number or above 1e15 in {wrong:,} of {rows:,} "
            "rows: give every row what it is worth, 0 where nothing is at stake"
        )
    if not valued.value.any():
        return f"value is 0 in all {rows:,} rows"
    return None

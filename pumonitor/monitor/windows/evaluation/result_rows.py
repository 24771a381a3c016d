"""Result rows: the displayed numbers, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from pumonitor.diagnostics.impossible_prior import why_impossible
from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.plain_values import finite_or_none
from pumonitor.results import Estimate
from pumonitor.views.numbers import number_view

_REACH: Final = 1.96
ANY_NUMBER: Final = (-math.inf, math.inf)


def result_row(
    series: SeriesTable,
    metric: str,
    number: Estimate | Uncertain | ShareKnown | None,
    reason: str | None,
    *,
    limits: tuple[float, float] = ANY_NUMBER,
    doubt: str | None = None,
    rests_on: str | None = None,
    assumed: bool = False,
) -> MetricResult:
    """A row of finite numbers, or of the reason why there are none.

    Parameters
    ----------
    series : SeriesTable
    metric : str
    number : Estimate, Uncertain, ShareKnown or None
    reason : str or None
        Why there is no number.
    limits : tuple of float
        Range of the metric; estimates have one of their own.
    doubt : str, optional
        Why the number must not be used as evidence.
    rests_on : str, optional
        Which impossible number it is computed with; it is evidence all the same.
    assumed : bool
        Whether it was assumed and not estimated.
    """
    if number is None or not math.isfinite(number.value):
        return MetricResult(
            metric=metric,
            value=None,
            n_labeled=series.labeled,
            n_unlabeled=series.unlabeled,
            undefined_reason=reason or "it has no value in this window",
        )
    shown = number_view(number, number.range if isinstance(number, Estimate) else limits)
    beyond_chance = shown.infeasible and shown.low is None and shown.high is None
    if isinstance(number, Estimate):
        # An interval at 95% is beyond by chance now and then: without those, means are too low.
        beyond_chance = more_than_chance(number)
    why = None
    if shown.infeasible:
        by_chance = not (beyond_chance or doubt)
        why = why_impossible(metric, number, float(number.value), by_chance=by_chance)
    estimated = tuple(finite_or_none(part) for part in (number.value, number.low, number.high))
    as_shown = estimated == (shown.value, shown.low, shown.high)
    return MetricResult(
        metric=metric,
        value=shown.value,
        low=shown.low,
        high=shown.high,
        se=None if isinstance(number, ShareKnown) else finite_or_none(number.se),
        n_labeled=series.labeled,
        n_unlabeled=series.unlabeled,
        infeasible=shown.infeasible,
        impossible=beyond_chance or doubt is not None,
        infeasible_reason=why or doubt or rests_on,
        unclipped_value=None if as_shown else estimated[0],
        unclipped_low=None if as_shown else estimated[1],
        unclipped_high=None if as_shown else estimated[2],
        assumed=assumed,
    )


def known_results(results: Iterable[MetricResult]) -> dict[str, Uncertain]:
    """Stored results of a window that have a value and an interval, by name.

    Values are not clipped; impossible ones are left out.

    Examples
    --------
    >>> rows = [MetricResult(metric="aul", value=0.8, low=0.7, high=0.9, se=0.05),
    ...         MetricResult(metric="f1", value=None, undefined_reason="no positives")]
    >>> sorted(known_results(rows))
    ['aul']
    """
    found: dict[str, Uncertain] = {}
    for row in results:
        parts = (row.value, row.low, row.high)
        if row.unclipped_value is not None:
            parts = (row.unclipped_value, row.unclipped_low, row.unclipped_high)
        value, low, high = parts
        if value is not None and low is not None and high is not None and not row.impossible:
            se = (high - low) / (2 * _REACH) if row.se is None else row.se
            found[row.metric] = Uncertain(value=value, low=low, high=high, se=se)
    return found

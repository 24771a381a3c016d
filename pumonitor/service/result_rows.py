"""Rows of results: numbers as they are shown, and what is to be said of those that cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.displayed import Displayed
from pumonitor.monitoring.maturity import ShareKnown
from pumonitor.monitoring.uncertain import Known, Uncertain
from pumonitor.names import TITLES, UNCORRECTED_OF
from pumonitor.results import Estimate, finite_or_none
from pumonitor.service.series_tables import SeriesTable
from pumonitor.store.records import MetricResult

__all__ = ["ANY_NUMBER", "impossible_prior", "known_results", "result_row", "stands_on_prior"]

_REACH: Final = 1.96
ANY_NUMBER: Final = (-math.inf, math.inf)

_WITHOUT_PRIOR: Final = frozenset(
    {
        "aul",
        "recall",
        "recall_at_k",
        "lift_at_k",
        "ll_score",
        "predicted_positive_rate",
        *UNCORRECTED_OF.values(),
    }
)
"""Estimates that need no class prior as long as every confirmed positive is one."""

_CAUSE: Final = (
    "the class prior is wrong, or the confirmed positives are not a fair sample of the positives"
)


def stands_on_prior(name: str, *, pure: bool) -> bool:
    """Whether an estimate is a function of the class prior.

    Parameters
    ----------
    name : str
    pure : bool
        Whether every confirmed positive is one (a label purity of 1).

    Examples
    --------
    >>> stands_on_prior("precision", pure=True), stands_on_prior("recall", pure=True)
    (True, False)
    """
    uncorrected = name == "predicted_positive_rate" or name in UNCORRECTED_OF.values()
    return not uncorrected and (not pure or name not in _WITHOUT_PRIOR)


def impossible_prior(estimates: Mapping[str, Estimate]) -> str | None:
    """Why the class prior cannot be right, by what it makes of the estimates; None if it can be.

    By more than chance: an interval at 95% leaves its metric's range in one of forty, and there
    are many metrics.
    """
    beyond = [one for one in estimates.values() if more_than_chance(one)]
    if not beyond:
        return None
    # People know best what a share of right alarms above 1 means.
    worst = next((one for one in beyond if one.name == "precision"), beyond[0])
    prior = estimates.get("class_prior")
    assumed = "" if prior is None else f" of {prior.value:.3g}"
    return f"with the class prior{assumed} {_came_out(worst.name, worst, worst.came_out)}: {_CAUSE}"


def result_row(
    series: SeriesTable,
    metric: str,
    number: Estimate | Uncertain | ShareKnown | None,
    reason: str | None,
    *,
    limits: tuple[float, float] = ANY_NUMBER,
    doubt: str | None = None,
    assumed: bool = False,
) -> MetricResult:
    """A row of finite numbers; without any, its reason.

    Parameters
    ----------
    series : SeriesTable
    metric : str
    number : Estimate, Uncertain, ShareKnown or None
    reason : str or None
        Why there is none.
    limits : tuple of float
        What the metric can be; an estimate knows that itself.
    doubt : str, optional
        Why the number is evidence of nothing, whatever it is.
    assumed : bool
        Whether it was given and not measured.
    """
    if number is None or not math.isfinite(number.value):
        return MetricResult(
            metric=metric,
            value=None,
            n_labeled=series.labeled,
            n_unlabeled=series.unlabeled,
            undefined_reason=reason or "it has no value here",
        )
    if isinstance(number, Estimate):
        came_out, shown = number.came_out, Displayed.of(number)
    else:
        came_out, shown = float(number.value), Displayed.held(number, limits)
    surely = shown.infeasible and shown.low is None and shown.high is None
    if isinstance(number, Estimate):
        # An interval at 95% is beyond by chance now and then: without those, means are too low.
        surely = more_than_chance(number)
    why = None
    if shown.infeasible:
        chance = "" if surely or doubt else "by chance, or "
        why = f"{_came_out(metric, number, came_out)}: {chance}{_CAUSE}"
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
        impossible=surely or doubt is not None,
        infeasible_reason=why or doubt,
        unclipped_value=None if as_shown else estimated[0],
        unclipped_low=None if as_shown else estimated[1],
        unclipped_high=None if as_shown else estimated[2],
        assumed=assumed,
    )


def known_results(results: Iterable[MetricResult]) -> dict[str, Uncertain]:
    """Stored results of a window that have a value and an interval, by name.

    As estimated, not as shown; none of those that are impossible.

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


def _came_out(name: str, number: Known, came_out: float) -> str:
    ends = ""
    if math.isfinite(number.low) and math.isfinite(number.high):
        ends = f" ({number.low:.3g} to {number.high:.3g})"
    title = TITLES.get(name, name.replace("_", " "))
    return f"{title} came out at {came_out:.3g}{ends}, which is impossible"

"""What a threshold brings in a window: cases to review, positives caught and missed, money."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor._validate import as_number
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.rates import AtThreshold, Rates
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.threshold_metric import ThresholdMetric


def outcome_metrics(
    cases: float, *, value: float | None = None, cost: float | None = None
) -> dict[str, ThresholdMetric]:
    """What is told of a threshold, by name; "money" only where value and cost are given.

    Parameters
    ----------
    cases : float
        N: rows of a window, > 0.
    value : float, optional
        v: what a positive that is caught is worth.
    cost : float, optional
        c: what a review costs, in the same unit.

    Raises
    ------
    ValueError
        Unless 0 < cases, 0 <= value and 0 <= cost, or if one of value and cost is missing.

    Notes
    -----
    Of N rows theta N are at or above the threshold and reviewed; pi TPR N of them are positive,
    and no more than are reviewed or than there are:

        caught = N min(pi TPR, theta, pi),    missed = N pi - caught,
        money = v caught - c theta N.

    Each is a function of the rates (pi, TPR, theta) alone. A confidence draw of the rates moves all
    three together: the labeled rows above the threshold are in TPR and in theta, the labeled
    fraction is in theta and in an estimated pi. So a draw of the money is the formula of that draw,
    and its interval are quantiles of these; it is not made of the ends of the intervals of caught
    and reviewed, which never fall together. Uncertainty of the class prior is in it, as pi is
    drawn. N is taken as it is: the money is that of a window of this size.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning, section 1.

    Examples
    --------
    >>> from pumonitor.metrics.rates import corrected_rates
    >>> rates = corrected_rates(0.8, 0.14, 0.1, label_purity=1.0)
    >>> found = outcome_metrics(1000, value=50, cost=4)
    >>> [round(float(found[name].formula(rates))) for name in ("reviews", "positives_caught")]
    [140, 80]
    >>> round(float(found["money"].formula(rates)))     # 80 * 50 - 140 * 4
    3440
    """
    cases = as_number(cases, name="cases")
    if cases <= 0:
        msg = f"cases must satisfy 0 < cases, got {cases:g}"
        raise ValueError(msg)
    found = {
        "precision": PRECISION,
        "recall": RECALL,
        "f1": F1,
        "reviews": _counted("reviews", lambda rates: rates.predicted_positive_rate, cases),
        "positives_caught": _counted("positives_caught", _caught, cases),
        "positives_missed": _counted(
            "positives_missed", lambda rates: rates.class_prior - _caught(rates), cases
        ),
    }
    if value is not None and cost is not None:
        found["money"] = _money(cases, as_amount(value, name="value"), as_amount(cost, name="cost"))
    elif value is not None or cost is not None:
        missing = "cost" if cost is None else "value"
        msg = f"money needs the value of a positive and the cost of a review: {missing} is missing"
        raise ValueError(msg)
    return found


def reviewing_nobody(at: AtThreshold) -> AtThreshold:
    """The choice to review no case: nothing is caught and nothing is spent, and that is sure.

    A threshold above the highest score of these rows is another choice: of the cases to come some
    may score higher, and an interval at it counts them.
    """

    def none(rates: Rates) -> Rates:
        nothing = np.zeros(np.shape(rates.recall))
        return replace(
            rates,
            recall=nothing,
            false_positive_rate=nothing,
            predicted_positive_rate=nothing,
        )

    return replace(
        at,
        point=none(at.point),
        both=none(at.both),
        sampling=none(at.sampling),
        prior=None if at.prior is None else none(at.prior),
    )


def _caught(rates: Rates) -> FloatArray:
    """Positives at or above the threshold, as a share of all rows."""
    most = np.minimum(rates.class_prior, rates.predicted_positive_rate)
    return np.asarray(np.clip(rates.class_prior * rates.recall, 0.0, most))


def _counted(name: str, share: Callable[[Rates], FloatArray], cases: float) -> ThresholdMetric:
    def formula(rates: Rates) -> FloatArray:
        return np.asarray(cases * share(rates))

    return ThresholdMetric(name=name, formula=formula, value_range=lambda _: (0.0, cases))


def _money(cases: float, value: float, cost: float) -> ThresholdMetric:
    def formula(rates: Rates) -> FloatArray:
        return np.asarray(cases * (value * _caught(rates) - cost * rates.predicted_positive_rate))

    return ThresholdMetric(
        name="money", formula=formula, value_range=lambda _: (-math.inf, math.inf)
    )


def as_amount(given: float, *, name: str) -> float:
    """A finite number that is not below 0.

    Raises
    ------
    ValueError
        If it is.
    """
    amount = as_number(given, name=name)
    if amount < 0:
        msg = f"{name} must satisfy 0 <= {name}, got {amount:g}"
        raise ValueError(msg)
    return amount

"""Precision (positive predictive value)."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import NDArray

from pumonitor.metrics.from_arrays import GivenPrior
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.settings import Setting
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Estimate


def _formula(rates: Rates) -> NDArray[Any]:
    return rates.class_prior * rates.recall / rates.predicted_positive_rate


PRECISION = ThresholdMetric(name="precision", formula=_formula)


def precision(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    threshold: float = 0.5,
    sample_weight: Any = None,
    propensity: Any = None,
    **setting: Unpack[Setting],
) -> Estimate:
    """Share of positives among the rows that score at or above the threshold.

    It is wrong when labeled positives are not a fair sample of the positives (easy cases
    confirmed first), and by the relative error of the class prior, to which it is
    proportional.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive.
    threshold : float
        ``score >= threshold`` is predicted positive.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate
        pi, the share of positives in the population; a number adds no uncertainty.
    sample_weight, propensity : array-like of shape (n,), optional
        Rows each row stands for; P(labeled given positive, x) in (0, 1].
    **setting
        ``scenario``, ``label_purity``, ``target``, ``confidence_level``, ``rng`` as in
        `pumonitor.evaluate`.

    Returns
    -------
    Estimate
        NaN with a reason when no row scores at or above the threshold.

    Raises
    ------
    InputError
        If labels or scores cannot be used.
    ValueError
        Unless 0 < class_prior < label_purity <= 1.

    Notes
    -----
    precision = pi recall / theta. The interval comes from
    confidence draws of the counts above and below the threshold and of the class prior.

    References
    ----------
    Ramola, Jain, Radivojac (2019), equation 2; Jain, White, Radivojac (2017), equation 3;
    Tabatabaei et al. (2020), section 4.1 (S1 / (c M1)).

    Examples
    --------
    >>> labels = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.1]
    >>> round(precision(labels, scores, class_prior=0.3).value, 4)
    0.4
    """
    return PRECISION.from_arrays(
        labels,
        scores,
        threshold=threshold,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )

"""F1 and the F-beta family."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import NDArray

from pumonitor._validate import as_number
from pumonitor.metrics.from_arrays import GivenPrior
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.settings import Setting
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Estimate


def f_beta_metric(beta: float, *, name: str = "f_beta") -> ThresholdMetric:
    """The metric for one beta.

    Raises
    ------
    ValueError
        Unless 0 < beta and finite.
    """
    beta = as_number(beta, name="beta")
    if beta <= 0:
        msg = f"beta must satisfy 0 < beta < infinity, got {beta:g}"
        raise ValueError(msg)
    squared = beta * beta

    def formula(rates: Rates) -> NDArray[Any]:
        positives = rates.class_prior
        flagged = rates.predicted_positive_rate
        return (1 + squared) * positives * rates.recall / (squared * positives + flagged)

    return ThresholdMetric(name=name, formula=formula)


F1 = f_beta_metric(1.0, name="f1")


def f1(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    threshold: float = 0.5,
    sample_weight: Any = None,
    propensity: Any = None,
    **setting: Unpack[Setting],
) -> Estimate:
    """Harmonic mean of precision and recall.

    It is wrong when labeled positives are not a fair sample of the positives, and when the class
    prior is wrong: it is nearly proportional to the prior where many more rows are flagged than
    are positive, and hardly moves where few are flagged.

    Parameters
    ----------
    labels, scores, class_prior, threshold, sample_weight, propensity, **setting
        As in `pumonitor.metrics.precision`.

    Returns
    -------
    Estimate
        Always defined: 0 when no positive is predicted.

    Raises
    ------
    InputError
        If labels or scores cannot be used.
    ValueError
        Unless 0 < class_prior < label_purity <= 1.

    Notes
    -----
    F1 = 2 pi TPR / (pi + theta); with pure labels in the single-training-set scenario this is
    2 S1 / (c M1 + S), S1 of S labeled rows and M1 of all rows being predicted positive.

    References
    ----------
    Tabatabaei, Klein, Hoogendoorn (2020), section 4.1; Ramola et al. (2019), equation 14.

    Examples
    --------
    >>> labels = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.1]
    >>> round(f1(labels, scores, class_prior=0.4).value, 4)
    0.5926
    """
    return F1.from_arrays(
        labels,
        scores,
        threshold=threshold,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )


def f_beta(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    beta: float = 2.0,
    threshold: float = 0.5,
    sample_weight: Any = None,
    propensity: Any = None,
    **setting: Unpack[Setting],
) -> Estimate:
    """Weighted harmonic mean of precision and recall; recall counts `beta` times as much.

    It is wrong where `f1` is wrong.

    Parameters
    ----------
    beta : float
        Weight of recall, > 0.
    labels, scores, class_prior, threshold, sample_weight, propensity, **setting
        As in `pumonitor.metrics.precision`.

    Returns
    -------
    Estimate
        Always defined: 0 when no positive is predicted.

    Raises
    ------
    ValueError
        Unless beta > 0 and 0 < class_prior < label_purity <= 1.

    Notes
    -----
    (1 + beta^2) pi TPR / (beta^2 pi + theta).

    References
    ----------
    Tabatabaei, Klein, Hoogendoorn (2020), section 7 (the whole family of F scores).

    Examples
    --------
    >>> labels = [1, 0, 1, 0, 0, 0, 1, 0, 0, 0]
    >>> scores = [0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.4, 0.3, 0.2, 0.1]
    >>> round(f_beta(labels, scores, class_prior=0.4, beta=1.0).value, 4)
    0.5926
    """
    return f_beta_metric(beta).from_arrays(
        labels,
        scores,
        threshold=threshold,
        class_prior=class_prior,
        sample_weight=sample_weight,
        propensity=propensity,
        **setting,
    )

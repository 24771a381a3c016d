"""Predict a window's estimates at label maturity from those now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.names import UNCORRECTED_OF, VALUE
from pumonitor.prior.labels.label_frequency import prior_from_label_frequency
from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.stats.confidence_draws import interval, split_normal_logit_draws
from pumonitor.tables import ScoreTable

_DRAWS: Final = 10_000
_FOLLOWED_MOVES: Final = 0.1
"""How far a followed class prior moves until maturity, over its own error and sqrt(1 - s): measured
.03 to .11, as its level is common to all windows (`python -m benchmarks.monitoring.expected`)."""
_OF_LABELS_ALONE: Final = ("label_frequency", "unlabeled_prior")
_OF_LABELS: Final = frozenset({*UNCORRECTED_OF.values(), *_OF_LABELS_ALONE})
"""Estimates whose expected value changes with the number of labels, not only their precision."""
_FORESEEN_ELSEWHERE: Final = _OF_LABELS.union(VALUE)
"""The same, and those by value: what labels to come take off their intervals is not known."""


def expected_positives(
    labeled: int,
    share: ShareKnown,
    *,
    most: float = math.inf,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Uncertain:
    """Predict how many positives will be confirmed at maturity, from the number confirmed now.

    NaN if no label is ever known this early, as then the present number carries no information.

    Notes
    -----
    Each of the N eventual positives is known by now with probability s. Given the n known ones,
    N - n is negative binomial with parameters n + 1/2 (Jeffreys) and s, where s is drawn from its
    interval. If windows vary in s by more than chance, the variance m / s of N - n (mean m) is
    multiplied by the dispersion: a Poisson variable with a gamma distributed mean. `most` is an
    upper bound on N, such as the window's rows.

    Examples
    --------
    >>> found = expected_positives(40, ShareKnown(value=0.8, low=0.75, high=0.85))
    >>> found.value, round(found.low), round(found.high)
    (50.0, 44, 59)
    """
    if share.value == 0:
        return Uncertain(value=math.nan, low=math.nan, high=math.nan, se=math.nan)
    return _summary(
        min(labeled / share.value, most),
        np.minimum(_positive_draws(labeled, share, rng=rng), most),
        confidence_level=confidence_level,
    )


def expected_at_maturity(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    share: ShareKnown,
    *,
    class_prior: ClassPriorEstimate,
    threshold: float,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> dict[str, Uncertain]:
    """Predict each estimate of a window at label maturity.

    These are prediction intervals of the later estimate, not confidence intervals of the true
    value: they shrink to nothing as labels arrive. They hold if delays do not depend on the score,
    so that the labels now are a fair sample of those later, and if the share known does not depend
    on the window. They are wrong where clear cases are confirmed first.

    Parameters
    ----------
    table : ScoreTable
        The window's counts now.
    estimates : mapping of str to Estimate
        Estimates from this table.
    share : ShareKnown
        Share of the eventual confirmed positives that is confirmed now.
    class_prior : ClassPriorEstimate
        What the estimates were made with.
    threshold : float
    confidence_level : float
    rng : int
        Seed of the intervals' draws.

    Returns
    -------
    dict of str to Uncertain
        A prediction for each defined estimate, with two exceptions: maxima over thresholds, whose
        optimism falls with more labels; and, if `expected_positives` is NaN, estimates that
        depend on the number of labels.

    Notes
    -----
    n labels now become N = n / s at maturity. An estimate T_n from a fair sample of the labels
    behind T_N has mean T_N, and T_n - T_N has variance V_n - V_N. For a mean over labels V_n is
    v / n, which gives (1 - s) V_n. Parts of V_n that more labels do not reduce are common to T_n
    and T_N and no part of it: what is not known of a given class prior, and all but a tenth (as a
    standard error) of what is not known of a followed one. Sampling of the rows is another; it is
    small when labels are few and is kept in. The predicted positive rate does not depend on labels.

    Uncorrected metrics compare labeled rows with all others, and there will be more labeled rows.
    Their values at maturity are the corrected metrics with "will be labeled" in place of
    "positive", at the label frequency n / N: same formulas and same intervals (target "window").

    References
    ----------
    Cochran (1977), Sampling techniques, section 2.6 (sampling without replacement); Hausman
    (1978), Specification tests in econometrics, lemma 2.1 (the variance of the difference).

    Examples
    --------
    >>> from pumonitor.evaluation import evaluate_table
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> now = evaluate_table(table, threshold=0.8, class_prior=0.1).estimates
    >>> later = expected_at_maturity(table, now, ShareKnown(value=0.5, low=0.4, high=0.6),
    ...                              class_prior=ClassPriorEstimate.given(0.1), threshold=0.8)
    >>> round(now["f1_pu"].value, 2), round(later["f1_pu"].value, 2)
    (0.47, 0.71)
    """
    moves = _part_that_moves(class_prior)
    found: dict[str, Uncertain] = {
        name: _at_maturity(now, left=1 - share.value, prior_moves=moves)
        for name, now in estimates.items()
        if now.undefined_reason is None and "_max" not in name and name not in _FORESEEN_ELSEWHERE
    }
    if share.value == 0:
        return found
    found |= _of_uncorrected(
        table, estimates, share, threshold=threshold, confidence_level=confidence_level, rng=rng
    )
    found |= _of_labels(
        table,
        estimates,
        found.get("class_prior"),
        share,
        confidence_level=confidence_level,
        rng=rng,
    )
    return found


def _part_that_moves(class_prior: ClassPriorEstimate) -> float:
    """How much of the class prior's standard error the labels to come can take away.

    A given prior is the same number at maturity. A followed one keeps its level, which moves by
    what the windows say has changed; by what a window differs from the level is its own. One that
    is estimated from the window's own rows is estimated anew, and so is the level of windows that
    nothing has been followed from yet.
    """
    if class_prior.method.startswith("given"):
        return 0.0
    over_time = class_prior.diagnostics.get("over_time", {})
    if not over_time.get("windows", 0) > 0:
        return 1.0
    level = over_time.get("level_now")
    if level is None or not 0 < class_prior.low < class_prior.high:
        return _FOLLOWED_MOVES
    widths = math.log(level["high"] / level["low"]), math.log(class_prior.high / class_prior.low)
    return max(_FOLLOWED_MOVES, math.sqrt(max(1 - (widths[0] / widths[1]) ** 2, 0.0)))


def _at_maturity(now: Estimate, *, left: float, prior_moves: float) -> Uncertain:
    """The estimate with `left` of the variance that more labels take away."""
    if now.name == "predicted_positive_rate":
        return Uncertain(value=now.value, low=now.value, high=now.value, se=0.0)
    shrunk = math.sqrt(left)
    below, above, se = now.value - now.low, now.high - now.value, now.se
    if now.name == "class_prior":
        below, above, se = prior_moves * below, prior_moves * above, prior_moves * se
    elif prior_moves < 1:
        by_prior = prior_moves * now.se_prior
        reach = NormalDist().inv_cdf(0.5 + 0.5 * now.confidence_level) * by_prior
        low, high = now.sampling_interval
        below, above = math.hypot(now.value - low, reach), math.hypot(high - now.value, reach)
        se = math.hypot(now.se_sampling, by_prior)
    return Uncertain(
        value=now.value,
        low=now.value - shrunk * below,
        high=now.value + shrunk * above,
        se=shrunk * se,
    )


def _of_uncorrected(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    share: ShareKnown,
    *,
    threshold: float,
    confidence_level: float,
    rng: int,
) -> dict[str, Uncertain]:
    """Predictions of the uncorrected metrics."""
    once = replace(table, labeled=table.labeled_mass, weights=None, propensities=None)
    labeled = float(once.labeled.sum())
    rows = labeled + float((once.unlabeled + once.negative).sum())
    later = expected_positives(
        table.n_labeled, share, most=rows, confidence_level=confidence_level, rng=rng
    )
    # The label frequency n / N with its interval, where N is at most all rows.
    known, least, most = (
        labeled / min(end, 0.999 * rows) for end in (later.value, later.high, later.low)
    )
    problem = make_problem(
        once,
        prior_from_label_frequency((known, least, most), once, confidence_level=confidence_level),
        target="window",
        confidence_level=confidence_level,
        rng=rng,
    )
    at, lift = at_threshold(problem, threshold), observed_lift(problem)
    found = [
        *(metric.estimate(at) for metric in (F1, ACCURACY, BALANCED_ACCURACY, MCC)),
        auc_estimate(problem, lift),
        average_precision_estimate(problem),
    ]
    return {
        UNCORRECTED_OF[one.name]: Uncertain(value=one.value, low=one.low, high=one.high, se=one.se)
        for one in found
        if one.undefined_reason is None and UNCORRECTED_OF[one.name] in estimates
    }


def _of_labels(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    prior: Uncertain | None,
    share: ShareKnown,
    *,
    confidence_level: float,
    rng: int,
) -> dict[str, Uncertain]:
    """Predictions of label frequency q / pi and unlabeled prior (pi - q) / (1 - q), at later q."""
    if prior is None or any(
        name not in estimates or estimates[name].undefined_reason is not None
        for name in _OF_LABELS_ALONE
    ):
        return {}
    rows = table.n_labeled + table.n_unlabeled + table.n_negative
    priors = split_normal_logit_draws(
        prior.value,
        prior.low,
        prior.high,
        confidence_level=confidence_level,
        order=np.random.default_rng([rng, 1]).permutation(_DRAWS),
    )
    # At least one row stays unlabeled; otherwise the unlabeled prior is undefined.
    draws = _positive_draws(table.n_labeled, share, rng=np.random.default_rng([rng, 2]))
    q = np.minimum(draws, rows - 1) / rows
    purity = estimates["label_frequency"].value * prior.value * rows / table.n_labeled
    later = min(table.n_labeled / share.value, rows - 1) / rows
    unlabeled = table.n_unlabeled / (rows - table.n_labeled)
    found = {
        "label_frequency": (later * purity / prior.value, q * purity / priors),
        "unlabeled_prior": (
            (prior.value - later * purity) / ((1 - later) * unlabeled),
            (priors - q * purity) / ((1 - q) * unlabeled),
        ),
    }
    return {
        name: _summary(value, draws, confidence_level=confidence_level)
        for name, (value, draws) in found.items()
    }


def _positive_draws(
    labeled: int, share: ShareKnown, *, rng: int | np.random.Generator
) -> FloatArray:
    """Draws of the number of confirmed positives at maturity."""
    generator = np.random.default_rng(rng)
    shares = split_normal_logit_draws(
        share.value,
        share.low,
        share.high,
        confidence_level=share.confidence_level,
        order=generator.permutation(_DRAWS),
    )
    shares = np.clip(shares, 1e-6, 1.0)
    mean = (labeled + 0.5) * (1 - shares) / shares
    # Gamma-Poisson with variance dispersion * mean / share; negative binomial at dispersion 1.
    shape = mean / np.maximum(share.dispersion / shares - 1, 1e-12)
    rate = generator.gamma(np.maximum(shape, 1e-12)) * (share.dispersion / shares - 1)
    return np.asarray(labeled + generator.poisson(np.maximum(rate, 0.0)), dtype=np.float64)


def _summary(value: float, draws: FloatArray, *, confidence_level: float) -> Uncertain:
    low, high = interval(draws, confidence_level=confidence_level)
    return Uncertain(
        value=value, low=min(low, value), high=max(high, value), se=float(np.std(draws))
    )

"""Estimation of the class prior by any method, from rows or from a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from pumonitor.errors import RowsLeftOutWarning
from pumonitor.prior.auto.auto import auto, read_samples
from pumonitor.prior.intervals.interval import PriorWithInterval, with_interval
from pumonitor.prior.labels.inverse_propensity import inverse_propensity
from pumonitor.prior.methods import METHODS, check_method
from pumonitor.prior.reference_window.tied_reference import (
    FROM_REFERENCE,
    check_reference,
    tied_to_its_rows,
)
from pumonitor.prior.reference_window.two_windows import two_windows
from pumonitor.prior.samples.feature_samples import FeatureSamples
from pumonitor.prior.samples.population import (
    completed,
    confirmed_share,
    labeled_fraction_error,
    unlabeled_to_population,
    whole_population,
)
from pumonitor.prior.samples.reference import ReferenceWindow
from pumonitor.prior.samples.two_samples import TwoSamples
from pumonitor.results import ClassPriorEstimate, Scenario, Target
from pumonitor.tables import ScoreTable

__all__ = ["estimate_class_prior", "estimate_from_table"]

_CELLS = 512
# auto looks at one sample and not at hundreds, and at how the scores lie on their own scale.
_CELLS_OF_AUTO = 65_536


def estimate_class_prior(
    labels: Any,
    scores: Any,
    *,
    method: str = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    features: Any = None,
    reference: ReferenceWindow | None = None,
    sample_weight: Any = None,
    propensity: Any = None,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ClassPriorEstimate:
    """Estimate the share of positives in the population, P(y = 1), from scores and labels.

    Only an upper bound can be told from such data, and none where a queue chose the labels: the
    estimate is too high when no group of negatives is unlike the positives, and too low when easy
    positives are labeled first and no propensities say so. Scores must come from rows the model was
    not trained on. The method "propensity" reads no scores: it counts the positives that labeled
    rows stand for.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive.
    method : str
        ``"auto"``, a name in `METHODS`, or ``"propensity"``
        (`pumonitor.prior.labels.inverse_propensity`), which needs propensities.
    scenario : {"single-training-set", "case-control"}
    label_purity : float
        P(y = 1 given labeled).
    features : array-like of shape (n, d), optional
        What the methods km1, km2, tice and pen_l1 read in place of the order of the scores:
        numbers, on any scale, finite in labeled and unlabeled rows. The interval then stands on
        the scores and the features, and takes rows of equal score to be alike in their features.
    reference : ReferenceWindow, optional
        What the methods label_shift and label_shift_em start from: rows scored by the same model
        at a time when the class prior was known, in the same scenario.
    sample_weight : array-like of shape (n,), optional
    propensity
        As in `pumonitor.evaluate`.
    detection_rate
        As in `pumonitor.evaluate`.
    min_propensity
        As in `pumonitor.evaluate`.
    confidence_level : float
    rng : int, numpy Generator or None

    Returns
    -------
    ClassPriorEstimate

    Raises
    ------
    ValueError
        If the method is unknown, or is "propensity" without propensities, or reads no features
        or no reference and they are given, or needs a reference and there is none.
    InputError
        If labels, scores or features cannot be used.

    Warns
    -----
    RowsLeftOutWarning
        If there are more rows than a method takes from a features matrix, and it took a sample.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.1
    >>> labels = positive & (rng.random(20_000) < 0.4)
    >>> prior = estimate_class_prior(labels, rng.normal(2.0 * positive))
    >>> prior.low < 0.1 < prior.high
    True
    """
    table = ScoreTable.from_arrays(
        labels,
        scores,
        sample_weight=sample_weight,
        propensity=propensity,
        detection_rate=detection_rate,
        min_propensity=min_propensity,
    )
    return estimate_from_table(
        table,
        features=_read_features(
            features,
            labels,
            scores,
            method=method,
            against_population=scenario == "single-training-set" and table.has_propensities,
            sample_weight=sample_weight,
            propensity=propensity,
            detection_rate=detection_rate,
            min_propensity=min_propensity,
        ),
        reference=reference,
        method=method,
        scenario=scenario,
        label_purity=label_purity,
        confidence_level=confidence_level,
        rng=rng,
    )


def estimate_from_table(
    table: ScoreTable,
    *,
    features: FeatureSamples | None = None,
    reference: ReferenceWindow | None = None,
    method: str = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
    target: Target = "process",
) -> ClassPriorEstimate:
    """The same from a ScoreTable.

    A mixture estimator finds the largest a' with F_U = a' G + (1 - a') H; G itself holding a share
    b of positives, the unlabeled prior is b a'. The interval of pi = q b + (1 - q) a adds the error
    of the labeled fraction q, which for the window itself is known (`target`).
    """
    check_method(method)
    _check_label_noise(method, label_purity)
    check_reference(reference, method=method)
    found: PriorWithInterval
    if method == "propensity":
        found = inverse_propensity(
            table,
            scenario=scenario,
            label_purity=label_purity,
            target=target,
            confidence_level=confidence_level,
        )
    else:
        against_population = scenario == "single-training-set" and (
            table.has_propensities or (reference is not None and reference.table.has_propensities)
        )
        earlier = tied_to_its_rows(
            reference,
            scenario=scenario,
            label_purity=label_purity,
            against_population=against_population,
            confidence_level=confidence_level,
        )
        if against_population:
            return _from_population(
                table,
                method,
                features=features,
                reference=earlier,
                label_purity=label_purity,
                confidence_level=confidence_level,
                rng=rng,
            )
        found = _from_samples(
            table,
            method,
            features=features,
            reference=earlier,
            confidence_level=confidence_level,
            rng=rng,
        )
    return _from_unlabeled(
        found,
        table,
        method,
        scenario=scenario,
        label_purity=label_purity,
        confidence_level=confidence_level,
        target=target,
    )


def read_together(tables: Iterable[ScoreTable], *, method: str) -> None:
    """Read tables at once that are estimated by `estimate_from_table` one by one afterwards.

    The estimates are the same, and those of "auto" take a fraction of the time.
    """
    if method == "auto":
        read_samples([_sample_of_auto(one) for one in tables if not one.has_propensities])


def _sample_of_auto(table: ScoreTable) -> TwoSamples:
    return TwoSamples.from_table(table.compress(_CELLS_OF_AUTO))


def _check_label_noise(method: str, label_purity: float) -> None:
    if method in METHODS and not METHODS[method].takes_label_noise and label_purity < 1.0:
        msg = (
            f"{method} takes every label to be right, or finds the mistakes itself: with "
            f"label_purity={label_purity:g} use another method, for example class_prior='auto'"
        )
        raise ValueError(msg)


def _from_unlabeled(
    found: PriorWithInterval,
    table: ScoreTable,
    method: str,
    *,
    scenario: Scenario,
    label_purity: float,
    confidence_level: float,
    target: Target,
) -> ClassPriorEstimate:
    """The prior pi = q b + (1 - q) a from the unlabeled rows' a', with the error of q."""
    low, value, high = _shares(found, label_purity)
    from_unlabeled = unlabeled_to_population(table, scenario=scenario, label_purity=label_purity)
    # A window's own labeled fraction is known.
    deviations = float(ndtri(0.5 + 0.5 * confidence_level)) if target == "process" else 0.0
    reach, reach_at_low = (
        deviations
        * labeled_fraction_error(table, part, scenario=scenario, label_purity=label_purity)
        for part in (value, low)
    )
    middle, lowest, highest = (from_unlabeled(part) for part in (value, low, high))
    low_end = _low_end(middle, lowest, from_unlabeled(0.0), reach=reach, reach_at_low=reach_at_low)
    estimate = ClassPriorEstimate(
        value=min(middle, 1 - 1e-9),
        low=max(low_end, 1e-9),
        high=min(middle + math.hypot(highest - middle, reach), 1 - 1e-9),
        method=method,
        confidence_level=confidence_level,
        diagnostics=_details(found),
        unlabeled_prior_interval=(low, high),
        least=_least(table, method, scenario=scenario, label_purity=label_purity),
    )
    return completed(estimate, table, scenario=scenario, label_purity=label_purity)


def _low_end(
    middle: float, lowest: float, lowest_possible: float, *, reach: float, reach_at_low: float
) -> float:
    """Low end of pi from that of a (`lowest`) and the reach of the labeled fraction's error.

    Two errors that are independent add in squares, where each could have been larger: it is rare
    that both are. An end of a that stops at 0 leaves no such room, it is never missed, and pi is
    whenever the labeled fraction alone is missed: that error counts in full there, and between the
    two by how near a's end is to 0 on the scale of that error.
    """
    in_squares = middle - math.hypot(middle - lowest, reach)
    if reach_at_low == 0:
        return in_squares
    near = max(1 - (lowest - lowest_possible) / reach_at_low, 0.0)
    return min(in_squares, (1 - near) * in_squares + near * (lowest - reach_at_low))


def _from_population(
    table: ScoreTable,
    method: str,
    *,
    features: FeatureSamples | None,
    reference: tuple[ScoreTable, ClassPriorEstimate] | None,
    label_purity: float,
    confidence_level: float,
    rng: int | np.random.Generator | None,
) -> ClassPriorEstimate:
    """The prior where labeled rows carry propensities, from G against the whole population.

    Labeled rows of weight w / e are like all positives, and not like those left unlabeled, which
    favour small propensities: the mixture that holds is F = pi f1 + (1 - pi) f0. No fewer rows are
    positive than have been confirmed.
    """
    whole = whole_population(table)
    found = _from_samples(
        whole,
        method,
        features=features,
        reference=reference,
        confidence_level=confidence_level,
        rng=rng,
    )
    confirmed = label_purity * float(table.labeled_mass.sum() / whole.unlabeled.sum())
    low, value, high = (max(part, confirmed) for part in _shares(found, label_purity))
    estimate = ClassPriorEstimate(
        value=value,
        low=low,
        high=high,
        method=method,
        confidence_level=confidence_level,
        diagnostics=_details(found),
        least=_least(table, method, scenario="single-training-set", label_purity=label_purity),
    )
    return completed(estimate, table, scenario="single-training-set", label_purity=label_purity)


def _least(table: ScoreTable, method: str, *, scenario: Scenario, label_purity: float) -> float:
    """The share confirmed, where scores alone decide: they tell an upper bound."""
    if method == "propensity" or method in FROM_REFERENCE:
        return math.nan
    return confirmed_share(table, scenario=scenario, label_purity=label_purity)


def _shares(found: PriorWithInterval, label_purity: float) -> tuple[float, float, float]:
    """Low, value and high of b a', kept off 0 and 1."""
    low, value, high = (
        min(max(label_purity * part, 1e-9), 1 - 1e-9)
        for part in (found.low, found.value, found.high)
    )
    return low, value, high


def _details(found: PriorWithInterval) -> dict[str, float | str]:
    return {
        name: part if isinstance(part, str) else round(part, 6)
        for name, part in found.details.items()
    }


def _read_features(
    features: Any, labels: Any, scores: Any, *, method: str, **settings: Any
) -> FeatureSamples | None:
    """The rows by their features, as many as the method takes."""
    if features is None:
        return None
    readers = [name for name, known in METHODS.items() if known.reads == "features"]
    if method not in readers:
        msg = (
            f"method={method!r} does not read features: leave features out, or use one of "
            f"{', '.join(readers)}"
        )
        raise ValueError(msg)
    every = FeatureSamples.from_arrays(features, labels, scores, **settings)
    taken = every.at_most(METHODS[method].feature_rows)
    if taken.rows != every.rows:
        msg = (
            f"{method} takes at most {METHODS[method].feature_rows} labeled and as many unlabeled "
            f"rows from features: it read {taken.rows[0]} of {every.rows[0]} labeled and "
            f"{taken.rows[1]} of {every.rows[1]} unlabeled rows, drawn at random"
        )
        warnings.warn(msg, RowsLeftOutWarning, stacklevel=3)
    return taken


def _from_samples(
    table: ScoreTable,
    method: str,
    *,
    features: FeatureSamples | None,
    reference: tuple[ScoreTable, ClassPriorEstimate] | None,
    confidence_level: float,
    rng: int | np.random.Generator | None,
) -> PriorWithInterval:
    if reference is not None:
        earlier, prior = reference
        sample = two_windows(table, earlier, prior=prior)
        return FROM_REFERENCE[method](sample, confidence_level=confidence_level)
    if method == "auto":
        return auto(_sample_of_auto(table), confidence_level=confidence_level)
    sample = replace(TwoSamples.from_table(table.compress(_CELLS)), features=features)
    generator = np.random.default_rng(0 if rng is None else rng)
    return with_interval(METHODS[method], sample, confidence_level=confidence_level, rng=generator)

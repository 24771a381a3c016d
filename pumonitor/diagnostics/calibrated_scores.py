"""Calibrated scores say where positives score: whether the labeled ones do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.shift_test import LEVEL, ShiftTest, rank_moments, shift_test
from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import count_text, given_text, number_text, percent_text

_FEWEST_ROWS = 20
_MATERIAL = 0.02
_MATERIAL_PRIOR = 0.01
_LOWEST = (0.02, 0.05, 0.15)


@dataclass(frozen=True, slots=True, kw_only=True)
class LowScores:
    """Shares of the labeled rows at or below a limit: seen, and expected at most.

    The p-value is of seeing so many.
    """

    limit: float
    seen: float
    expected: float
    p_value: float


_NOTHING_LOW = LowScores(limit=0.0, seen=0.0, expected=0.0, p_value=1.0)


def against_calibrated_scores(
    table: ScoreTable, class_prior: ClassPriorEstimate, settings: Mapping[str, Any]
) -> list[Finding]:
    """Warnings when labeled scores or the class prior contradict scores said to be calibrated.

    Only with ``settings["calibrated_scores"]``. If a score is the probability of being positive,
    positives are spread as the population weighted by the score, and their share is its mean.
    Each test is at level 0.001 and needs a difference worth mentioning besides (52% of pairs
    instead of 50; 1% of the prior). Where the labeled rows agree on the whole, the lowest of them
    are counted by themselves, since mistaken confirmations are few and low. A contradiction
    has two readings that no data here tell apart: the labels are not a fair sample of the
    positives, or the scores are not calibrated (any more). A class prior is compared only when it
    was given, an estimate having an error of its own.
    """
    if not settings.get("calibrated_scores"):
        return []
    if table.lower[0] < 0 or table.upper[-1] > 1:
        return [
            Finding(
                name="calibrated_scores",
                severity="warning",
                sentence=(
                    "calibrated_scores is given, but the scores are between "
                    f"{number_text(table.lower[0])} and {number_text(table.upper[-1])} and "
                    "therefore no probabilities. Leave out calibrated_scores, or pass the "
                    "probabilities."
                ),
            )
        ]
    findings = _sample(table, settings) or _low_scores(table, settings)
    if class_prior.method.startswith("given"):
        findings += _prior(table, class_prior, settings)
    return findings


def labeled_against_calibrated(
    table: ScoreTable, *, scenario: str, label_purity: float
) -> ShiftTest:
    """Labeled rows against the population weighted by its scores, in two moments of the rank.

    With label purity b below 1 a share 1 - b is expected to be spread as negatives, the
    population weighted by one minus the score. The variance sums each row's own influence, in
    which labeled rows of the single-training-set scenario count on both sides; errors of the bins
    of a table of counts are bounded and taken off.
    """
    labeled, population = table.labeled, _population(table, scenario)
    score = 0.5 * (table.lower + table.upper)
    parts = _parts(score, label_purity)
    moments = rank_moments(labeled, _spread(population, parts))
    expected, influence, slack = np.zeros(2), np.zeros_like(moments), np.zeros(2)
    halfwidth = 0.5 * (table.upper - table.lower)
    for share, weight in parts:
        total = max(float(weight @ population), 1e-300)
        mean = moments @ (weight * population) / total
        from_mean = moments - mean[:, np.newaxis]
        expected += share * mean
        influence += share * weight * from_mean / total
        slack += share * np.abs(from_mean) @ (halfwidth * population) / total
    observed = moments @ labeled / labeled.sum()
    own = (moments - observed[:, np.newaxis]) / labeled.sum()
    covariance = _covariance(table, own, influence, scenario=scenario)
    rows = float(labeled.sum()) ** 2 / float(table.labeled_squares.sum())
    test = shift_test(observed - expected, covariance, rows=rows, slack=slack)
    # The ranks of a few rows are too skewed for the level to hold.
    return test if rows >= _FEWEST_ROWS else replace(test, p_value=1.0)


def labeled_low(table: ScoreTable, *, scenario: str, label_purity: float) -> LowScores:
    """Labeled rows among the lowest 2, 5 and 15% where calibrated scores say labeled rows are.

    Of labeled rows and of a sample of the expected ones, as large as makes its share as exact as
    the weighted population's, those below are compared given their sum (binomial); bins of a table
    of counts are taken at their higher scores below and at their lower ones above.
    """
    population = _population(table, scenario)
    size = float(table.labeled.sum()) ** 2 / float(table.labeled_squares.sum())
    seen = np.cumsum(table.labeled / table.labeled.sum())
    lower, upper = np.clip(table.lower, 0, 1), np.clip(table.upper, 0, 1)
    ends = [_spread(population, _parts(score, label_purity)) for score in (lower, upper)]
    below, above = np.cumsum(ends[1]), ends[0].sum() - np.cumsum(ends[0])
    expected = below / np.maximum(below + above, 1e-300)
    own = np.divide(ends[1], population, out=np.zeros_like(below), where=population > 0)
    # So many rows of equal weight have a sum as exact as theirs.
    rows = below**2 / np.maximum(np.cumsum(own**2 * _squares(table, scenario)), 1e-300)
    found = []
    for lowest in _LOWEST:
        cell = int(np.searchsorted(expected, lowest, side="right")) - 1
        if cell < 0 or expected[cell] <= 0:
            continue
        chance = size / (size + rows[cell] / expected[cell])
        p_value = float(
            special.betainc(max(seen[cell] * size, 1e-9), rows[cell] + 1, chance)
        ) * len(_LOWEST)
        found.append(
            LowScores(
                limit=float(table.upper[cell]),
                seen=float(seen[cell]),
                expected=float(expected[cell]),
                p_value=min(p_value, 1.0),
            )
        )
    return min(found, key=lambda low: low.p_value, default=_NOTHING_LOW)


def _covariance(
    table: ScoreTable, own: FloatArray, influence: FloatArray, *, scenario: str
) -> FloatArray:
    """Of mean(own over labeled rows) - mean(influence over the population), row by row."""
    covariance = (own * table.labeled_squares) @ own.T
    if scenario == "case-control":
        return np.asarray(covariance + (influence * table.unlabeled_squares) @ influence.T)
    crossed = (own * table.labeled_cross) @ influence.T
    squares = _squares(table, scenario)
    return np.asarray(covariance + (influence * squares) @ influence.T - crossed - crossed.T)


def _parts(score: FloatArray, label_purity: float) -> list[tuple[float, FloatArray]]:
    """Labeled rows that are positive and those that are not, each by its weight at every score."""
    both = ((label_purity, score), (1 - label_purity, 1 - score))
    return [(share, weight) for share, weight in both if share > 0]


def _spread(population: FloatArray, parts: list[tuple[float, FloatArray]]) -> FloatArray:
    """Shares of the labeled rows expected in each cell."""
    expected = [
        share * weight * population / max(float(weight @ population), 1e-300)
        for share, weight in parts
    ]
    return np.asarray(np.sum(expected, axis=0))


def _population(table: ScoreTable, scenario: str) -> FloatArray:
    if scenario == "case-control":
        return table.unlabeled
    return table.labeled_mass + table.unlabeled + table.negative


def _squares(table: ScoreTable, scenario: str) -> FloatArray:
    """Squared weights of the population's rows."""
    if scenario == "case-control":
        return table.unlabeled_squares
    return table.labeled_mass_squares + table.unlabeled_squares + table.negative_squares


def _sample(table: ScoreTable, settings: Mapping[str, Any]) -> list[Finding]:
    test = labeled_against_calibrated(
        table, scenario=settings["scenario"], label_purity=settings["label_purity"]
    )
    if test.p_value >= LEVEL or test.size < _MATERIAL:
        return []
    if abs(test.shift) >= abs(test.spread):
        where = "higher" if test.shift > 0 else "lower"
        kind = "easy" if test.shift > 0 else "hard"
        seen = (
            f"score {where} than calibrated scores imply for positives (one outscores a positive "
            f"in {percent_text(0.5 + test.shift)} of pairs instead of 50): {kind} positives are "
            "confirmed first"
        )
    else:
        where = "both ends" if test.spread > 0 else "the middle"
        seen = (
            f"are more frequent at {where} of the scores than calibrated scores imply for positives"
        )
    return [
        Finding(
            name="unfair_labels_by_calibration",
            severity="warning",
            sentence=(
                f"Confirmed positives {seen}, or the scores are no longer calibrated (chance alone "
                f"does this in {_rarely(test.p_value)}). Give propensities, or check the "
                "calibration on a random sample of reviewed cases."
            ),
        )
    ]


def _low_scores(table: ScoreTable, settings: Mapping[str, Any]) -> list[Finding]:
    low = labeled_low(table, scenario=settings["scenario"], label_purity=settings["label_purity"])
    if low.p_value >= LEVEL or low.seen - low.expected < _MATERIAL:
        return []
    return [
        Finding(
            name="low_scores_by_calibration",
            severity="warning",
            sentence=(
                f"{percent_text(low.seen)} of the confirmed positives score at most "
                f"{number_text(low.limit)}, where calibrated scores put "
                f"{percent_text(low.expected)} of the positives (chance alone does this in "
                f"{_rarely(low.p_value)}): some were confirmed by mistake, or the scores are too "
                "low for some kind of positives. Check low-scoring confirmations by hand, or let "
                "label_purity allow for the mistaken ones."
            ),
        )
    ]


def _prior(
    table: ScoreTable, class_prior: ClassPriorEstimate, settings: Mapping[str, Any]
) -> list[Finding]:
    population = _population(table, settings["scenario"])
    score = 0.5 * (table.lower + table.upper)
    rows = float(population.sum())
    mean = float(score @ population) / rows
    slack = float(0.5 * (table.upper - table.lower) @ population) / rows
    squares = _squares(table, settings["scenario"])
    # A prior of the process differs from the mean score by the sample of scores, one of this very
    # window by the classes drawn given the scores; which is meant is not known.
    own = np.clip(score, 0.0, 1.0) * (1 - np.clip(score, 0.0, 1.0))
    variance = max(float((score - mean) ** 2 @ squares), float(own @ squares))
    error = math.sqrt(variance) / rows
    # 3.3 standard errors: level 0.001, two-sided.
    low, high = mean - slack - 3.3 * error, mean + slack + 3.3 * error
    if class_prior.low <= high and class_prior.high >= low:
        return []
    if abs(mean - class_prior.value) < _MATERIAL_PRIOR * max(mean, class_prior.value):
        return []
    return [
        Finding(
            name="prior_against_calibration",
            severity="warning",
            sentence=(
                f"The class prior was given as {given_text(class_prior.value)}, but the mean of "
                f"the calibrated scores is {number_text(mean)}: one of the two is wrong, and every "
                "corrected estimate depends on it."
            ),
        )
    ]


def _rarely(p_value: float) -> str:
    if p_value > 1e-6:
        return f"one case in {count_text(1 / p_value)}"
    return "fewer than one case in a million"

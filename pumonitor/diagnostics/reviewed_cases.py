"""Reviewed cases, confirmed either way, say where positives score: whether the labeled ones do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.shift_test import LEVEL, ShiftTest, rank_moments, shift_test
from pumonitor.results import Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text, percent_text

_BINS = 10
_REDRAWS = 400
_FEWEST_REVIEWED = 10
_FEWEST_NEGATIVES = 30
_MATERIAL = 0.02
_LOWEST_REVIEWED = 0.02
_LARGE_PART = 0.3
_FEW_CONFIRMED = 0.02


def against_reviewed_cases(table: ScoreTable, settings: Mapping[str, Any]) -> list[Finding]:
    """A warning when reviewed cases place positives elsewhere than the labeled ones are.

    If cases are picked for review by their score and then confirmed either way, the share of
    positives among them at each score, times the population there, is where positives are. Labels
    are a fair sample only if that is where the labeled positives are as well; picking high scores
    for review makes it differ. Both ways the data can be fair must fail at level 0.001, the first
    by at least 52% of pairs
    instead of 50: reviewed cases picked evenly over the scores, or labeled positives
    and confirmed negatives each a fair sample of their class at a rate of their own.

    Wrong when negatives are confirmed by another route than positives and unfairly at that: the
    labels may then be fair and the warning fires. Scores at which hardly anybody was reviewed
    cannot be judged; where they are at least 30% of all rows and hold no confirmed positives
    either, a warning of its own says so (with a very good ranking and negatives confirmed only
    among high scores, it fires though the labels are fair). Only in the single-training-set
    scenario, with every label right, from 30 confirmed negatives on.
    """
    if settings["scenario"] != "single-training-set" or settings["label_purity"] < 1:
        return []
    if table.n_negative < _FEWEST_NEGATIVES:
        return []
    if table.has_propensities:
        # The weights of labeled rows vary within a bin, which the test of counts does not know.
        return _never_reviewed(table)
    return [*_never_reviewed(table), *_review_by_score(table)]


def _review_by_score(table: ScoreTable) -> list[Finding]:
    binned = _Binned.of(table)
    by_review = positives_by_review(binned)
    if by_review is None or by_review.p_value >= LEVEL or by_review.size < _MATERIAL:
        return []
    if negatives_as_sample(binned) >= LEVEL:
        return []
    where = "higher" if by_review.shift > 0 else "lower"
    seen = (
        f"score {where} (one outscores a positive in {percent_text(0.5 + by_review.shift)} of "
        "pairs)"
        if abs(by_review.shift) >= abs(by_review.spread)
        else "are spread otherwise"
    )
    return [
        Finding(
            name="unfair_labels_by_review",
            severity="warning",
            sentence=(
                f"Confirmed positives {seen} than the reviewed cases imply for positives: which "
                "cases are reviewed depends on the score, and the confirmed ones are not a fair "
                "sample. Give verdicts and complaints apart, verdicts as reviews; or give the "
                "chance of review as propensity, or review some cases at random."
            ),
        )
    ]


def _never_reviewed(table: ScoreTable) -> list[Finding]:
    """A part of the scores in which nobody was confirmed either way."""
    running = np.cumsum(table.negative) / table.negative.sum()
    lowest = int(np.searchsorted(running, _LOWEST_REVIEWED))
    population = table.labeled_mass + table.unlabeled + table.negative
    below = float(population[:lowest].sum() / population.sum())
    confirmed_below = float(table.labeled[:lowest].sum() / table.labeled.sum())
    if below < _LARGE_PART or confirmed_below > _FEW_CONFIRMED:
        return []
    return [
        Finding(
            name="never_reviewed",
            severity="warning",
            sentence=(
                f"{percent_text(below)} of all rows score below "
                f"{number_text(table.lower[lowest])}, where hardly any case was confirmed either "
                "way. If cases are confirmed by reviewing high scores, positives further down are "
                "never found, and recall, F1 and AUC are too high: give verdicts and complaints "
                "apart, verdicts as reviews, or review some low scores at random."
            ),
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Binned:
    """Weights per bin, where anybody was reviewed.

    `labeled` weighs each row by 1 / propensity, `confirmed` does not.
    """

    labeled: FloatArray
    confirmed: FloatArray
    negative: FloatArray
    population: FloatArray

    @classmethod
    def of(cls, table: ScoreTable) -> _Binned:
        reviewed = table.labeled_mass + table.negative
        running = np.cumsum(reviewed) - 0.5 * reviewed
        bins = np.minimum((running / reviewed.sum() * _BINS).astype(np.intp), _BINS - 1)

        def summed(column: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(bins, weights=column, minlength=_BINS), np.float64)

        population = reviewed + table.unlabeled
        kept = summed(reviewed) >= _FEWEST_REVIEWED
        return cls(
            labeled=summed(table.labeled)[kept],
            confirmed=summed(table.labeled_mass)[kept],
            negative=summed(table.negative)[kept],
            population=summed(population)[kept],
        )


def positives_by_review(binned: _Binned) -> ShiftTest | None:
    """Labeled positives against (positives / reviewed) x population, per bin.

    None when too little of the scores has been reviewed. The covariance is that of 400 redraws of
    the counts.
    """
    if len(binned.labeled) < 3 or binned.confirmed.sum() < 2 or binned.negative.sum() < 2:
        return None
    chance = binned.confirmed / np.maximum(binned.confirmed + binned.negative, 1e-300)
    moments = rank_moments(binned.labeled, chance * binned.population)
    weight = binned.labeled / np.maximum(binned.confirmed, 1e-300)
    unlabeled = binned.population - binned.confirmed - binned.negative

    def difference(confirmed: FloatArray, negative: FloatArray) -> FloatArray:
        population = unlabeled + confirmed + negative
        chance = confirmed / np.maximum(confirmed + negative, 1e-300)
        labeled, expected = weight * confirmed, chance * population
        return np.asarray(
            labeled @ moments.T / labeled.sum(axis=-1, keepdims=True)
            - expected @ moments.T / expected.sum(axis=-1, keepdims=True)
        )

    rng = np.random.default_rng(0)
    redrawn = difference(
        rng.poisson(binned.confirmed + 0.5, size=(_REDRAWS, len(weight))).astype(float),
        rng.poisson(binned.negative + 0.5, size=(_REDRAWS, len(weight))).astype(float),
    )
    return shift_test(
        difference(binned.confirmed, binned.negative), np.atleast_2d(np.cov(redrawn.T))
    )


def negatives_as_sample(binned: _Binned) -> float:
    """Whether the rest of the rows can be a mixture of labeled positives and confirmed negatives.

    The p-value of the share that fits best: squares weighted by the counts' variances, chi-square
    with two degrees of freedom fewer than bins. If it fits, both can be fair samples of their
    classes and nothing speaks against the labels.
    """
    labeled, negative = binned.labeled, binned.negative
    unlabeled = np.maximum(binned.population - binned.confirmed - negative, 0.0)
    shares = [column / column.sum() for column in (unlabeled, labeled, negative)]
    # Half a row more than seen: an empty bin is not known to be empty.
    errors = [
        (column + 0.5) / column.sum() ** 2 * factor
        for column, factor in ((unlabeled, 1.0), (labeled, _per_row(binned)), (negative, 1.0))
    ]
    statistic = np.inf
    for share in np.linspace(0.0, 1.0, 201):
        left = shares[0] - share * shares[1] - (1 - share) * shares[2]
        variance = errors[0] + share**2 * errors[1] + (1 - share) ** 2 * errors[2]
        statistic = min(statistic, float(np.sum(left**2 / variance)))
    return float(special.chdtrc(max(len(labeled) - 2, 1), statistic))


def _per_row(binned: _Binned) -> float:
    """Weight of a labeled row: the variance of weighted counts over that of counts."""
    return float(binned.labeled.sum() / max(binned.confirmed.sum(), 1e-300))

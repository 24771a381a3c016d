"""Confirmed negatives say how many of the unlabeled rows are like them: against the class prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.shift_test import LEVEL
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import given_text, number_text, percent_text

_BINS = 12
_GRID = 501
# Steps of the grid, .002, are many standard errors of the share when there are millions of rows:
# twice as many steps again about the best one.
_ZOOMS = 2
_STEPS_OF_ZOOM = 101
_BISECTIONS = 60
_ALMOST_NONE = 1e-6
_ROWS_PER_BIN = 8
_FEWEST_NEGATIVES = 30
_MATERIAL = 0.1
_MISPLACED = 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureFit:
    """Unlabeled rows as a mixture of rows like the labeled and rows like the negatives.

    Attributes
    ----------
    share : float
        Of rows like the labeled ones, where it fits best.
    p_value : float
        Of the mixture fitting at all.
    misplaced : float
        Share of the unlabeled rows that the mixture puts elsewhere, as the largest difference of
        the distribution functions.
    shares, misfit : ndarray
        Possible shares, ascending and denser near the best, and the chi-square of each.
    rows : tuple of ndarray
        (Effective) labeled, negative and unlabeled rows per bin.
    """

    share: float
    p_value: float
    misplaced: float
    shares: FloatArray
    misfit: FloatArray
    rows: tuple[FloatArray, FloatArray, FloatArray]

    def p_value_between(self, low: float, high: float) -> float:
        """Of the share being between the two, given that a mixture it is."""
        inside = (self.shares >= low) & (self.shares <= high)
        at_ends = _misfit(np.clip([low, high], 0.0, 1.0), self.rows)
        least = float(np.min(self.misfit, where=inside, initial=float(at_ends.min())))
        return float(special.chdtrc(1, max(least - float(self.misfit.min()), 0.0)))


def against_known_negatives(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    class_prior: ClassPriorEstimate,
    settings: Mapping[str, Any],
) -> list[Finding]:
    """A warning when confirmed positives and negatives mix in another share than the prior says.

    If confirmed positives and confirmed negatives are each a fair sample of their class, unlabeled
    rows are a mixture of the two, and its share is the unlabeled prior whether or not some
    negatives score like positives. That is the one thing in scores and labels that shows such
    negatives: an estimate from positives alone counts them as positives.

    Fires when such a mixture fits (p at least 0.001), but not with any share in the prior's
    interval (p below 0.001), by a tenth of the prior at least. Where no mixture fits one of the
    two is no fair sample: in the single-training-set scenario, where both may have been picked by
    their score, `against_reviewed_cases` speaks of it; in case-control a warning of its own does
    (with two of a hundred rows elsewhere than they should be at least). Wrong when negatives are
    confirmed unfairly in just such a way that they still mix. From 30 confirmed negatives on;
    not with propensities, under which those left unlabeled are no mixture of the two.
    """
    if table.n_negative < _FEWEST_NEGATIVES or table.has_propensities:
        return []
    unlabeled_prior = estimates["unlabeled_prior"]
    if unlabeled_prior.undefined_reason or class_prior.method == "propensity":
        return []
    fit = mixture_of_known(table)
    if fit is None:
        return []
    if fit.p_value < LEVEL:
        return _do_not_mix(fit, settings)
    purity = settings["label_purity"]
    low, high = unlabeled_prior.low / purity, unlabeled_prior.high / purity
    if fit.p_value_between(low, high) >= LEVEL:
        return []
    nearest = low if fit.share < low else high
    if abs(fit.share - nearest) < _MATERIAL * nearest:
        return []
    prior = _class_prior(table, purity * fit.share, settings)
    given = class_prior.method.startswith("given")
    if given:
        reason = "it is wrong"
    elif fit.share < low:
        reason = "some negatives score like positives, and were counted as such"
    else:
        reason = "positives that score like negatives were missed"
    return [
        Finding(
            name="prior_against_known_negatives",
            severity="warning",
            sentence=(
                f"The class prior was {'given' if given else 'estimated'} as "
                f"{given_text(class_prior.value)}, but the other rows look like confirmed "
                "positives and confirmed negatives mixed at a class prior of "
                f"{number_text(prior)}: {reason}, or one of the two is not a fair sample of its "
                f"class. If both are, give class_prior={number_text(prior)}."
            ),
        )
    ]


def _do_not_mix(fit: MixtureFit, settings: Mapping[str, Any]) -> list[Finding]:
    if settings["scenario"] != "case-control" or fit.misplaced < _MISPLACED:
        return []
    return [
        Finding(
            name="known_rows_do_not_mix",
            severity="warning",
            sentence=(
                "No mixture of rows like the confirmed positives and rows like the confirmed "
                "negatives looks like the unconfirmed rows "
                f"({percent_text(fit.misplaced)} of them score elsewhere): confirmed positives are "
                "not a fair sample of the positives, or confirmed negatives not of the negatives. "
                "Check whether either was picked by the score or by something that goes with it."
            ),
        )
    ]


def _class_prior(table: ScoreTable, unlabeled_prior: float, settings: Mapping[str, Any]) -> float:
    if settings["scenario"] == "case-control":
        return unlabeled_prior
    labeled, unlabeled = float(table.labeled_mass.sum()), float(table.unlabeled.sum())
    positives = float(settings["label_purity"]) * labeled + unlabeled_prior * unlabeled
    return positives / (labeled + unlabeled + float(table.negative.sum()))


def mixture_of_known(table: ScoreTable) -> MixtureFit | None:
    """The share at which labeled and negative rows mix to the unlabeled ones, and its misfit.

    None when there are too few rows to fill three bins.

    Notes
    -----
    u = s g + (1 - s) h in up to twelve bins of equal rank in the even mixture of the three, counts
    taken as Poisson. Twice the log-likelihood lost against any u is chi-square with two degrees of
    freedom fewer than bins at the best share, and at most one more at the true one: just one if the
    three numbers of rows are fixed, which Poisson counts let vary. With 30 to 1000 rows of
    each kind (16,200 samples of two normals) the true share was rejected at level 0.001 in .0002
    and the mixture in .0008.

    Examples
    --------
    >>> table = ScoreTable.from_counts(
    ...     [10, 90, 100], [820, 530, 150], negative=[70, 25, 5], edges=[0.0, 1.0, 2.0, 3.0])
    >>> fit = mixture_of_known(table)
    >>> round(fit.share, 2), fit.p_value > 0.001
    (0.13, True)
    """
    samples = [
        (table.labeled, table.labeled_squares),
        (table.negative, table.negative_squares),
        (table.unlabeled, table.unlabeled_squares),
    ]
    sizes = [float(rows.sum()) ** 2 / float(squares.sum()) for rows, squares in samples]
    shares = [rows / rows.sum() for rows, _ in samples]
    pooled = np.sum(shares, axis=0) / 3
    rank = np.cumsum(pooled) - 0.5 * pooled
    bins = min(_BINS, int(min(sizes) // _ROWS_PER_BIN), len(table))
    if bins < 3:
        return None
    of_cell = np.minimum((rank * bins).astype(np.intp), bins - 1)
    labeled, negative, unlabeled = (
        np.bincount(of_cell, weights=share * size, minlength=bins).astype(np.float64)
        for share, size in zip(shares, sizes, strict=True)
    )
    counts = labeled, negative, unlabeled
    grid = np.linspace(0.0, 1.0, _GRID)
    misfit = _misfit(grid, counts)
    for _ in range(_ZOOMS):
        best = int(np.argmin(misfit))
        nearest = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        closer = np.linspace(*nearest, _STEPS_OF_ZOOM)
        grid, first = np.unique(np.concatenate([grid, closer]), return_index=True)
        misfit = np.concatenate([misfit, _misfit(closer, counts)])[first]
    best = int(np.argmin(misfit))
    g, h, u = (seen / size for seen, size in zip(counts, sizes, strict=True))
    left = u - grid[best] * g - (1 - grid[best]) * h
    return MixtureFit(
        share=float(grid[best]),
        p_value=float(special.chdtrc(bins - 2, max(float(misfit[best]), 0.0))),
        misplaced=float(np.max(np.abs(np.cumsum(left)))),
        shares=grid,
        misfit=misfit,
        rows=counts,
    )


def _misfit(shares: FloatArray, rows: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Twice the log-likelihood that each share loses."""
    fitted = fitted_rows(shares[:, np.newaxis], *rows)
    lost = [
        np.sum(special.xlogy(seen, seen / np.maximum(expected, 1e-300)), axis=1)
        for seen, expected in zip(rows, fitted, strict=True)
    ]
    return np.asarray(2 * np.sum(lost, axis=0))


def fitted_rows(
    share: FloatArray, labeled: FloatArray, negative: FloatArray, unlabeled: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Most likely rows per bin, shape (shares, bins), in which unlabeled ones are such a mixture.

    With A = n_L + s n_U and B = n_N + (1 - s) n_U the densities are g = L / (A - s U / m) and
    h = N / (B - (1 - s) U / m), and m = s g + (1 - s) h has one solution, which is bisected.
    """
    n_l, n_n, n_u = labeled.sum(), negative.sum(), unlabeled.sum()
    labeled, negative = labeled + _ALMOST_NONE, negative + _ALMOST_NONE
    own_l, own_n = n_l + share * n_u, n_n + (1 - share) * n_u
    of_l, of_n = share * unlabeled, (1 - share) * unlabeled
    low = np.maximum(of_l / own_l, of_n / own_n)
    high = low + share * labeled / own_l + (1 - share) * negative / own_n

    def densities(mixed: FloatArray) -> tuple[FloatArray, FloatArray]:
        g = labeled * mixed / np.maximum(own_l * mixed - of_l, 1e-300)
        h = negative * mixed / np.maximum(own_n * mixed - of_n, 1e-300)
        return g, h

    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        g, h = densities(middle)
        too_low = share * g + (1 - share) * h > middle
        low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    g, h = densities(high)
    return n_l * g, n_n * h, n_u * (share * g + (1 - share) * h)

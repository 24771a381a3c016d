"""The class prior from propensities: a labeled row stands for 1 / propensity positives."""

from __future__ import annotations

import numpy as np
from scipy import special

from pumonitor.errors import InputError
from pumonitor.prior.intervals.interval import PriorWithInterval
from pumonitor.results import ClassPriorEstimate, Scenario, Target
from pumonitor.tables import ScoreTable
from pumonitor.text import given_text

_PSEUDO_ROWS = 0.5


def inverse_propensity(
    table: ScoreTable,
    *,
    scenario: Scenario,
    label_purity: float,
    target: Target,
    confidence_level: float,
) -> PriorWithInterval:
    """Unlabeled prior by inverse propensity weights, with a design-based interval.

    The scores play no part, so it holds whatever the score densities are. It is wrong by the
    factor by which the propensities are, and says nothing of positives whose propensity is 0: a
    region that was never reviewed counts as holding none (`ScoreTable.never_reviewed_share`).

    Parameters
    ----------
    table : ScoreTable
        Made with propensities.
    scenario, label_purity, target, confidence_level
        As in `pumonitor.evaluate`. For the target "window" only which positives got labeled is
        random; for "process" so is which of the unlabeled rows are positive.

    Returns
    -------
    PriorWithInterval
        Of a / b: what is multiplied by the label purity b to give the unlabeled prior a, as for
        the other estimators.

    Raises
    ------
    ValueError
        If the table was made without propensities, or the scenario is case-control.
    InputError
        If the labeled rows stand for more positives than there are rows.

    Notes
    -----
    With weights w, propensities e and sums over labeled rows L, the Horvitz-Thompson total of the
    positives is b sum_L w / e, and over the sum of all w a ratio (Hajek) estimate of pi. Of these
    positives b sum_L w are labeled and the others, b D with D = sum_L w (1 / e - 1), are among the
    unlabeled rows U: a = b D / sum_U w. Given the rows, the variance of D is
    sum_L (w / e)^2 - b sum_L w^2 / e (Poisson sampling of the positives, and mistaken labels);
    the process adds a (1 - a) sum_U w^2. The interval is that of a gamma variable with the mean
    and variance of D, half a row of the largest possible weight more in each, so that a region
    from which no positive was drawn is not taken to hold none.

    References
    ----------
    Horvitz, Thompson (1952), A generalization of sampling without replacement from a finite
    universe; Fay, Feuer (1997), Confidence intervals for directly standardized rates (with half
    of their pseudo-row, at both ends).

    Examples
    --------
    >>> labels, chances = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0.5, *[0.5] * 8]
    >>> scores = [0.9, 0.4, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2, 0.1, 0.0]
    >>> table = ScoreTable.from_arrays(labels, scores, propensity=chances)
    >>> inverse_propensity(table, scenario="single-training-set", label_purity=1.0,
    ...                    target="process", confidence_level=0.95).value   # 1 of 8 unlabeled
    0.125
    """
    if table.propensities is None:
        msg = (
            "class_prior='propensity' needs propensities: pass propensity=..., the chance of each "
            "labeled row of having been labeled"
        )
        raise ValueError(msg)
    if scenario == "case-control":
        msg = (
            "class_prior='propensity' needs scenario='single-training-set': in case-control the "
            "labeled rows are not drawn from the population whose prior is asked for"
        )
        raise ValueError(msg)
    unlabeled, rows = float(table.unlabeled.sum()), _rows(table)
    positives = label_purity * float(table.labeled.sum())
    others = float(table.labeled.sum()) - float(table.labeled_mass.sum())
    if positives >= rows or others * label_purity >= unlabeled:
        msg = (
            f"the labeled rows stand for {given_text(positives)} positives by their propensities, "
            f"{given_text(label_purity * others)} of them among the {given_text(unlabeled)} "
            "unlabeled rows: which is more than there are; the propensities are too small, the "
            "smallest by the most (the heaviest row stands for "
            f"{given_text(table.propensities.largest_weight)})"
        )
        raise InputError(msg)
    variance = float(table.labeled_squares.sum()) - label_purity * float(table.labeled_cross.sum())
    if target == "process":
        share = others / unlabeled
        variance += share * (1 - share) * float(table.unlabeled_squares.sum())
    low, high = _gamma_interval(
        others, max(variance, 0.0), row=_largest_row(table), confidence_level=confidence_level
    )
    return PriorWithInterval(
        value=others / unlabeled,
        low=low / unlabeled,
        high=high / unlabeled,
        details={
            "positives": positives,
            "of_them_unlabeled": label_purity * others,
            "largest_weight": table.propensities.largest_weight,
        },
    )


def priors_disagree(first: ClassPriorEstimate, second: ClassPriorEstimate) -> bool:
    """Whether two estimates of the class prior differ by more than both intervals allow.

    Of a prior estimated from the scores and one from propensities, it is the sign that the
    propensities are wrong, or that the scores do not separate any group of negatives.

    Examples
    --------
    >>> narrow = ClassPriorEstimate.given((0.05, 0.04, 0.06))
    >>> priors_disagree(narrow, ClassPriorEstimate.given((0.07, 0.05, 0.1)))
    False
    >>> priors_disagree(narrow, ClassPriorEstimate.given((0.1, 0.07, 0.13)))
    True
    """
    return first.high < second.low or second.high < first.low


def _rows(table: ScoreTable) -> float:
    return float((table.labeled_mass + table.unlabeled + table.negative).sum())


def _largest_row(table: ScoreTable) -> float:
    """Unlabeled positives that a labeled row not seen could stand for, at the most."""
    mass = float(table.labeled_mass.sum()) / table.n_labeled
    largest = table.propensities.largest_weight if table.propensities is not None else mass
    if table.chances is not None:
        held = table.chances.expected > 0
        stands_for = table.chances.reviewable[held] / table.chances.expected[held]
        largest = max(largest, float(np.max(stands_for, initial=0.0)))
    return max(largest - mass, 0.0)


def _gamma_interval(
    total: float, variance: float, *, row: float, confidence_level: float
) -> tuple[float, float]:
    mean = total + _PSEUDO_ROWS * row
    spread = variance + _PSEUDO_ROWS * row**2
    if spread == 0 or mean == 0:
        return total, total
    tail = 0.5 * (1 - confidence_level)
    low, high = special.gammaincinv(mean**2 / spread, [tail, 1 - tail]) * spread / mean
    return min(float(low), total), max(float(high), total)

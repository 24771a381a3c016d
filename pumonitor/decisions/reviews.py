"""Which random review would narrow precision, recall and F1 most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates, rates_with_draws, share_draws_at
from pumonitor.metrics.recall import RECALL
from pumonitor.plain_values import plain_fields
from pumonitor.stats.effective_rows import effective_rows
from pumonitor.tables import ScoreTable

Where = Literal["above", "below", "all", "bins"]

MOST_CASES: Final = 2000
"""More cases leave too few draws that agree with a result of the review."""

REVIEWED: Final = (PRECISION, RECALL, F1)
"""Metrics whose widths are told."""

_THINNED: Final = 4000
_RESULTS: Final = 48
_TINY: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOption:
    """A simple random sample of the cases not yet confirmed, whose truth is looked up.

    Attributes
    ----------
    where : {"above", "below", "all", "bins"}
        Whether it is of cases at or above the threshold, below it, or of all; "bins" where they
        are spread over the score bins of an audit.
    cases : int
        How many rows; fewer than were asked for where there are no more.
    positives : float
        How many of them are expected to be positive.
    widths : mapping of str to float
        Expected width of the interval of precision, recall and F1 afterwards.
    """

    where: Where
    cases: int
    positives: float
    widths: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """Reviews of one size beside each other.

    Attributes
    ----------
    now : mapping of str to float
        Width of the intervals today.
    options : tuple of ReviewOption
    """

    now: Mapping[str, float]
    options: tuple[ReviewOption, ...]

    def best(self, metric: str) -> ReviewOption:
        """The option after which the interval of a metric is expected to be narrowest."""
        return min(self.options, key=lambda option: option.widths[metric])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; a width that does not exist is None."""
        return plain_fields(self, "now", "options")


def review_options(problem: Problem, threshold: float, cases: int) -> ReviewOptions:
    """Expect the widths of intervals after reviews of cases above, below or on both sides.

    They hold if the labeled positives are a fair sample of the positives. What a review would show
    if they are not, which is a good reason for one, is not counted here; nor does a class prior
    taken as known become any surer.

    Parameters
    ----------
    problem : Problem
        Without propensities, of the target "process".
    threshold : float
    cases : int
        How many would be reviewed, from 1 to 2000.

    Raises
    ------
    ValueError
        Unless 1 <= cases <= 2000, or if `review_refusal` has a reason.
    InputError
        If the threshold is inside a cell of the table.

    Notes
    -----
    The confidence draws (pi, TPR, theta, q)_i stand for what is believed today. In the
    single-training-set scenario a share q of all rows is labeled and pi - q b positives, as a share
    of all rows, are not; as confirmed positives are a fair sample, TPR of these are above the
    threshold. So among unlabeled rows above and below the share of positives is

        p_above = (pi - q b) TPR / u_above,    p_below = (pi - q b) (1 - TPR) / u_below,

    with u the share of all rows that is unlabeled there. In case-control no row of the population
    is labeled: pi TPR / theta and pi (1 - TPR) / (1 - theta). A review of n cases finds X of
    Bin(n, p) positives. If draw j is the truth, X_j is what it finds, and draw i then has weight
    proportional to p_i^X (1 - p_i)^(n - X) (Bayes' rule, draws as the prior). The interval
    afterwards are weighted quantiles of the metric; its expected width is the mean over 48 draws j.
    A review of all is two, of n u_above / u and the rest, independent given the draw. The
    target is the process: given its rates, whether one unlabeled row is positive tells nothing
    of the next, so X is binomial even if all rows there are reviewed.

    Where rows have weights, a review picks each with a chance in proportion to its weight, and
    there are no more cases than effective rows: the squared sum of weights over the sum of their
    squares, which with equal weights is the number of rows.

    References
    ----------
    Raiffa and Schlaifer (1961), Applied statistical decision theory, chapter 4 (preposterior
    analysis); Smith and Gelfand (1992), Bayesian statistics without tears (weighted draws).

    Examples
    --------
    >>> from pumonitor.metrics.problem import make_problem
    >>> from pumonitor.results import ClassPriorEstimate
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([2, 10, 28], [7000, 2500, 500], edges=[0.0, 0.2, 0.8, 1.0])
    >>> problem = make_problem(table, ClassPriorEstimate.given((0.01, 0.03)))
    >>> found = review_options(problem, 0.8, 100)
    >>> found.best("precision").where
    'above'
    """
    check_cases(cases)
    if refused := review_refusal(problem):
        raise ValueError(refused)
    believed = _Believed.of(problem, threshold)
    tail = 0.5 * (1 - problem.confidence_level)
    rng = problem.generator("reviews")
    return ReviewOptions(
        now={name: _width(values, tail) for name, values in believed.metrics.items()},
        options=tuple(
            _expected(believed, where, int(cases), tail=tail, rng=rng)
            for where in ("above", "below", "all")
        ),
    )


def check_cases(cases: int) -> None:
    """Refuse a review of none, or of more than is told of.

    Raises
    ------
    ValueError
        Unless 1 <= cases <= 2000.
    """
    if not 1 <= cases <= MOST_CASES:
        msg = f"cases must satisfy 1 <= cases <= {MOST_CASES}, got {cases}"
        raise ValueError(msg)


def review_refusal(problem: Problem) -> str:
    """Why `review_options` cannot answer for a problem; empty if it can.

    In one window the labeled rows above the threshold are known and the others are drawn without
    replacement, so a review tells more there than a binomial count of the process does.
    """
    if problem.table.has_propensities:
        return "reviews are not compared where rows have propensities: positives differ in theirs"
    if problem.target == "window":
        return (
            'reviews are compared for the target "process" only: of one window, a fixed set of '
            "rows, each reviewed case tells more than is counted here"
        )
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Believed:
    """Thinned draws: of the share of positives above and below, and of the metrics.

    `rows` are the unlabeled rows above and below, effective ones where they have weights, and
    `weights` the sums of these.
    """

    above: FloatArray
    below: FloatArray
    rows: tuple[int, int]
    weights: tuple[float, float]
    metrics: Mapping[str, FloatArray]

    @classmethod
    def of(cls, problem: Problem, threshold: float) -> _Believed:
        index = problem.table.index_of_threshold(threshold)
        g, theta = float(problem.labeled_above[index]), float(problem.population_above[index])
        drawn = share_draws_at(problem, index)
        both = rates_with_draws(problem, g, theta, drawn).both
        prior, recall, flagged = (
            np.broadcast_to(one, DRAWS)[:_THINNED]
            for one in (both.class_prior, both.recall, both.predicted_positive_rate)
        )
        table = problem.table
        positives, up, down = prior, flagged, 1 - flagged
        if problem.scenario == "single-training-set":
            fraction = drawn.labeled_fraction[:_THINNED]
            labeled = drawn.labeled_above[:_THINNED]
            negative = table.negative / float(problem.population.sum())
            positives = np.maximum(prior - fraction * problem.label_purity, 0.0)
            up = up - fraction * labeled - float(negative[index:].sum())
            down = down - fraction * (1 - labeled) - float(negative[:index].sum())
        recall_held = np.clip(recall, 0.0, 1.0)
        return cls(
            above=_share(positives * recall_held, up),
            below=_share(positives * (1 - recall_held), down),
            rows=(_rows(table, slice(index, None)), _rows(table, slice(index))),
            weights=(float(table.unlabeled[index:].sum()), float(table.unlabeled[:index].sum())),
            metrics=_metrics(both, flags_none=theta == 0),
        )


def _metrics(both: Rates, *, flags_none: bool) -> dict[str, FloatArray]:
    """Draws of the metrics, held to what they can be; NaN where there is no value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            metric.name: np.clip(np.broadcast_to(metric.formula(both), DRAWS)[:_THINNED], 0.0, 1.0)
            for metric in REVIEWED
        }
    if flags_none:
        found["precision"] = np.full(_THINNED, np.nan)
    return found


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """A share that can be a probability of a binomial count, also where sampling errs."""
    return np.clip(part / np.maximum(whole, _TINY), _TINY, 1 - 1e-9)


def _expected(
    believed: _Believed, where: Where, cases: int, *, tail: float, rng: np.random.Generator
) -> ReviewOption:
    """Widths after a review, on average over what it may find."""
    cases_above, cases_below = _split(where, cases, believed)
    truths = rng.choice(len(believed.above), size=_RESULTS, replace=False)
    log_weights = np.zeros((_RESULTS, len(believed.above)))
    for share, many in ((believed.above, cases_above), (believed.below, cases_below)):
        found = rng.binomial(many, share[truths])[:, np.newaxis]
        log_weights += found * np.log(share) + (many - found) * np.log1p(-share)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    expected = cases_above * believed.above.mean() + cases_below * believed.below.mean()
    return ReviewOption(
        where=where,
        cases=cases_above + cases_below,
        positives=float(expected),
        widths={
            name: _weighted_width(values, weights, tail)
            for name, values in believed.metrics.items()
        },
    )


def _rows(table: ScoreTable, cells: slice) -> int:
    """Unlabeled rows of cells: their number, not their weight."""
    squares = table.unlabeled_squares[cells]
    return round(effective_rows(table.unlabeled[cells], squares)) if squares.any() else 0


def _split(where: Where, cases: int, believed: _Believed) -> tuple[int, int]:
    """Cases above and below, no more than there are rows."""
    above, below = believed.rows
    if where == "above":
        return min(cases, above), 0
    if where == "below":
        return 0, min(cases, below)
    cases = min(cases, above + below)
    heavy, rest = believed.weights
    up = min(round(cases * heavy / max(heavy + rest, _TINY)), above)
    return up, min(cases - up, below)


def _width(values: FloatArray, tail: float) -> float:
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(high - low)


def _weighted_width(values: FloatArray, weights: FloatArray, tail: float) -> float:
    """Mean distance of the weighted quantiles, with one row of weights for each result."""
    if np.isnan(values).any():
        return float("nan")
    order = np.argsort(values)
    ordered = values[order]
    running = np.cumsum(weights[:, order], axis=1)
    # The middle of each draw's weight: with equal weights the quantile that is told of today.
    middle = (running - 0.5 * weights[:, order]) / running[:, -1:]
    widths = [float(np.diff(np.interp([tail, 1 - tail], one, ordered))[0]) for one in middle]
    return float(np.mean(widths))

"""decide: where to put the threshold, what it brings, and which review would tell more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pumonitor._validate import as_number
from pumonitor.decisions.best_threshold import BestThreshold, at_choice, best_threshold
from pumonitor.decisions.impossible import prior_doubt, reasons_at
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.decisions.reviews import ReviewOptions, review_options
from pumonitor.decisions.thresholds import threshold_of_capacity
from pumonitor.metrics.curves import by_threshold
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import AtThreshold, at_threshold
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.settings import check_settings
from pumonitor.prior.assumed import LabelPurity, assumed_of
from pumonitor.prior.given import GivenOrEstimated
from pumonitor.results import Curve, Estimate, Scenario, Target
from pumonitor.tables import ScoreTable

__all__ = [
    "Decision",
    "Outcome",
    "decide",
    "decide_table",
    "decision_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a threshold brings in a window.

    Attributes
    ----------
    threshold : float
    estimates : mapping of str to Estimate
        "precision", "recall", "f1", "reviews", "positives_caught", "positives_missed", and "money"
        where it was asked for.
    reasons : mapping of str to str
        Why a number is impossible, or which impossible one it is made of, by name; of those that
        are. They are shown held to what is possible.
    """

    threshold: float
    estimates: Mapping[str, Estimate]
    reasons: Mapping[str, str]

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "threshold": self.threshold,
            "estimates": {name: one.to_dict() for name, one in self.estimates.items()},
            "reasons": dict(self.reasons),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decision:
    """What thresholds bring.

    Attributes
    ----------
    cases : float
        Rows of a window, which numbers of cases and money are of.
    now : Outcome
        At the present threshold.
    chosen : Outcome or None
        At the other threshold, or at the one that the review capacity allows.
    best : Outcome
        At the threshold with the highest lower bound; above all scores it is to review nobody.
    choice : BestThreshold
        How that was chosen, with bounds that allow for the choice among many.
    curves : mapping of str to Curve
        Each estimate over thresholds, with the interval at each: quantiles of 400 redraws on 200
        cells. At one threshold it differs a little from the outcome's, which is of all confidence
        draws of every row.
    problem : Problem
        What it was computed from.
    doubt : str or None
        Why the class prior cannot be right: then all that stands on it is evidence of nothing.
    """

    cases: float
    now: Outcome
    chosen: Outcome | None
    best: Outcome
    choice: BestThreshold
    curves: Mapping[str, Curve]
    problem: Problem
    doubt: str | None

    def reviews(self, cases: int, *, threshold: float | None = None) -> ReviewOptions:
        """How wide intervals would be after a random review of so many cases.

        Parameters
        ----------
        cases : int
            From 1 to 2000.
        threshold : float, optional
            By default the chosen one, else the present one.
        """
        at = (self.chosen or self.now).threshold if threshold is None else threshold
        return review_options(self.problem, at, cases)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; a value that does not exist is None, never NaN."""
        return {
            "schema_version": 1,
            "cases": self.cases,
            "doubt": self.doubt,
            "now": self.now.to_dict(),
            "chosen": None if self.chosen is None else self.chosen.to_dict(),
            "best": {
                **self.best.to_dict(),
                "criterion": self.choice.criterion,
                "low": self.choice.low,
                "high": self.choice.high,
                "candidates": self.choice.candidates,
            },
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }

    def __repr__(self) -> str:
        return f"<Decision over {self.cases:g} cases; print it>"

    def __str__(self) -> str:
        given = {"now": self.now, "chosen": self.chosen, "best": self.best}
        marked = {kind: one for kind, one in given.items() if one is not None}
        names = ["", "threshold", *self.now.estimates]
        columns = [
            [
                kind,
                _rounded(one.threshold, digits=6),
                *(_cell(one, name) for name in self.now.estimates),
            ]
            for kind, one in marked.items()
        ]
        widths = [max(map(len, column)) + 3 for column in columns]
        lines = [
            f"{name:18}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
            for name, *cells in zip(names, *columns, strict=True)
        ]
        for kind, one in marked.items():
            lines += [f"! {kind}, {name}: {why}" for name, why in one.reasons.items()]
        return "\n".join(lines)


def _cell(outcome: Outcome, name: str) -> str:
    value, *ends = map(_rounded, outcome[name].displayed)
    return f"{value}{'!' if name in outcome.reasons else ''} [{', '.join(ends)}]"


def _rounded(number: float, *, digits: int = 4) -> str:
    """A number to so many digits, above them whole, and never with an exponent.

    Examples
    --------
    >>> [_rounded(one) for one in (1234567.8, 0.00001234, 0.5, -12.0, 0.0, math.inf)]
    ['1,234,568', '0.00001234', '0.5', '-12', '0', 'inf']
    """
    if number == 0 or not math.isfinite(number):
        return f"{number:.0f}"
    places = max(digits - 1 - math.floor(math.log10(abs(number))), 0)
    text = f"{number:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decide(
    labels: Any,
    scores: Any,
    *,
    threshold: float = 0.5,
    other_threshold: float | None = None,
    capacity: float | None = None,
    value: float | None = None,
    cost: float | None = None,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    target: Target = "process",
    propensity: Any = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Decision:
    """Tell what thresholds bring: precision, recall, F1, reviews, positives caught, money.

    It estimates what the process behind these rows brings in a window of as many rows. It is wrong
    where `pumonitor.evaluate` is: when confirmed positives are no fair sample of the positives, and
    when the class prior is wrong, to which positives caught and money are proportional. It takes
    the scores as they are: who is reviewed must not change who is positive.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive.
    threshold : float
        The present one: ``score >= threshold`` is reviewed.
    other_threshold : float, optional
        Another one to look at.
    capacity : float, optional
        In place of it: how many cases can be reviewed in a window, or below 1 which share of them.
        The lowest threshold that keeps to it in these rows is looked at.
    value : float, optional
        What a positive that is caught is worth, in any unit.
    cost : float, optional
        What a review costs, in the same unit. Without both there is no money, and the best
        threshold is that of F1.
    class_prior, scenario, label_purity, target, propensity, sample_weight, confidence_level, rng
        As in `pumonitor.evaluate`.

    Returns
    -------
    Decision
        Precision is NaN with a reason where nothing is flagged.

    Raises
    ------
    InputError
        If labels, scores or weights cannot be used.
    ValueError
        If a setting is out of range, or `other_threshold` and `capacity` are both given.

    Notes
    -----
    Formulas: `pumonitor.decisions.outcomes`. Intervals are quantiles of the same confidence draws
    as those of `evaluate`, with the uncertainty of the class prior. How the best threshold is
    chosen, and its bounds: `pumonitor.decisions.best_threshold`. Reviews:
    `pumonitor.decisions.reviews`.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning; Romano and Wolf (2005), Stepwise
    multiple testing as formalized data snooping, section 4.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> scores = rng.normal(2.0 * is_positive)
    >>> labels = is_positive & (rng.random(20_000) < 0.3)
    >>> found = pumonitor.decide(labels, scores, threshold=2.5, capacity=0.1, value=50, cost=4,
    ...                          class_prior=(0.05, 0.04, 0.06))
    >>> round(found.chosen["reviews"].value)
    1993
    >>> found.now["money"].value < found.best["money"].value
    True
    """
    wanted = [one for one in (threshold, other_threshold) if one is not None]
    table = ScoreTable.from_arrays(
        labels, scores, thresholds=wanted, propensity=propensity, sample_weight=sample_weight
    )
    return decide_table(
        table,
        threshold=threshold,
        other_threshold=other_threshold,
        capacity=capacity,
        value=value,
        cost=cost,
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )


def decide_table(
    table: ScoreTable,
    *,
    threshold: float = 0.5,
    other_threshold: float | None = None,
    capacity: float | None = None,
    value: float | None = None,
    cost: float | None = None,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    target: Target = "process",
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> Decision:
    """The same as `decide`, from a ScoreTable.

    Raises
    ------
    InputError
        If a threshold is inside a cell of the table.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> found = decide_table(table, threshold=0.8, value=50, cost=4, class_prior=0.06)
    >>> print(found.now["positives_caught"])
    positives_caught 43.6800 [34.0741, 51.3854]
    """
    check_settings(
        scenario=scenario,
        target=target,
        label_purity=1.0 if label_purity == "auto" else label_purity,
        confidence_level=confidence_level,
    )
    prior, purity, _ = assumed_of(
        table,
        class_prior=class_prior,
        label_frequency=None,
        label_purity=label_purity,
        scenario=scenario,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )
    problem = make_problem(
        table,
        prior,
        scenario=scenario,
        label_purity=purity,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )
    if capacity is not None:
        if other_threshold is not None:
            msg = "give other_threshold or capacity, not both: each follows from the other"
            raise ValueError(msg)
        other_threshold = threshold_of_capacity(problem, capacity)
    threshold = as_number(threshold, name="threshold")
    return decision_of(
        problem,
        threshold,
        other_threshold=other_threshold,
        value=value,
        cost=cost,
        doubt=prior_doubt(problem, threshold),
    )


def decision_of(
    problem: Problem,
    threshold: float,
    *,
    other_threshold: float | None = None,
    value: float | None = None,
    cost: float | None = None,
    doubt: str | None = None,
) -> Decision:
    """The same as `decide`, where table and class prior are prepared.

    Parameters
    ----------
    problem : Problem
    threshold, other_threshold, value, cost
        As in `decide`.
    doubt : str or None
        As `pumonitor.decisions.impossible.prior_doubt` answers.
    """
    cases = float(problem.population.sum())
    metrics = outcome_metrics(cases, value=value, cost=cost)
    resampled = resample(problem, cells=CURVE_CELLS, thresholds=(threshold,))
    also = [one for one in (threshold, other_threshold) if one is not None]
    choice = best_threshold(problem, resampled, metrics.get("money", metrics["f1"]), also=also)

    def outcome(threshold: float, at: AtThreshold) -> Outcome:
        estimates = {name: metric.estimate(at) for name, metric in metrics.items()}
        reasons = reasons_at(at, estimates, cases=cases, doubt=doubt)
        return Outcome(threshold=threshold, estimates=estimates, reasons=reasons)

    return Decision(
        cases=cases,
        now=outcome(threshold, at_threshold(problem, threshold)),
        chosen=None
        if other_threshold is None
        else outcome(other_threshold, at_threshold(problem, other_threshold)),
        best=outcome(choice.threshold, at_choice(problem, choice.threshold)),
        choice=choice,
        curves=by_threshold(problem, resampled, tuple(metrics.values())),
        problem=problem,
        doubt=doubt,
    )

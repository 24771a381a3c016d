"""Between the prior of unlabeled rows and that of the population, for the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pumonitor.errors import InputError
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.tables import ScoreTable
from pumonitor.text import percent_text


def unlabeled_to_population(
    table: ScoreTable, *, scenario: Scenario, label_purity: float
) -> Callable[[float], float]:
    """Pi from a: pi = (n_L b + n_U a) / n in the single-training-set scenario."""
    labeled = float(table.labeled_mass.sum())
    unlabeled, negative = float(table.unlabeled.sum()), float(table.negative.sum())
    rows = labeled + unlabeled + negative

    def convert(unlabeled_prior: float) -> float:
        if scenario == "case-control":
            return unlabeled_prior
        return (labeled * label_purity + unlabeled * unlabeled_prior) / rows

    return convert


def confirmed_share(table: ScoreTable, *, scenario: Scenario, label_purity: float) -> float:
    """Share of these rows that is known to be positive: nothing less is their own class prior.

    That of the process they were drawn from can be less, by the error of the labeled fraction:
    who tests against it allows for that (`labeled_fraction_error`).
    """
    if scenario == "case-control":
        return 0.0
    labeled = float(table.labeled_mass.sum())
    return label_purity * labeled / (labeled + float((table.unlabeled + table.negative).sum()))


def refuse_below_confirmed(
    prior: ClassPriorEstimate, table: ScoreTable, *, label_purity: float
) -> None:
    """Refuse a prior below the share of rows already confirmed, by more than sampling explains."""
    confirmed = confirmed_share(table, scenario="single-training-set", label_purity=label_purity)
    error = labeled_fraction_error(table, 0.0, scenario="single-training-set", label_purity=1.0)
    if prior.high < confirmed - 4 * error:
        msg = (
            f"class_prior={prior.high:g} is impossible: {percent_text(confirmed)} of the rows are "
            "already confirmed positives; give the share of positives among all rows, or say "
            "scenario='case-control' if the confirmed rows were collected elsewhere"
        )
        raise InputError(msg)


def labeled_fraction_error(
    table: ScoreTable, unlabeled_prior: float, *, scenario: Scenario, label_purity: float
) -> float:
    """Standard error of pi from the sampling of the labeled fraction q, given the process."""
    if scenario == "case-control":
        return 0.0
    labeled = float(table.labeled_mass.sum())
    others = float((table.unlabeled + table.negative).sum())
    of_others = unlabeled_prior * float(table.unlabeled.sum()) / others
    q = labeled / (labeled + others)
    squares = (1 - q) ** 2 * float(table.labeled_mass_squares.sum()) + q**2 * float(
        (table.unlabeled_squares + table.negative_squares).sum()
    )
    return abs(label_purity - of_others) * math.sqrt(squares) / (labeled + others)


def completed(
    estimate: ClassPriorEstimate, table: ScoreTable, *, scenario: Scenario, label_purity: float
) -> ClassPriorEstimate:
    """Fill in the unlabeled prior and the label frequency that pi implies for this table."""
    if scenario == "case-control":
        interval = (estimate.low, estimate.high)
        return replace(estimate, unlabeled_prior=estimate.value, unlabeled_prior_interval=interval)
    labeled = float(table.labeled_mass.sum())
    unlabeled, negative = float(table.unlabeled.sum()), float(table.negative.sum())
    rows = labeled + unlabeled + negative

    def to_unlabeled(prior: float) -> float:
        return (prior * rows - labeled * label_purity) / unlabeled

    interval = estimate.unlabeled_prior_interval
    if math.isnan(interval[0]):
        interval = (to_unlabeled(estimate.low), to_unlabeled(estimate.high))
    return replace(
        estimate,
        unlabeled_prior=to_unlabeled(estimate.value),
        unlabeled_prior_interval=interval,
        label_frequency=labeled / rows * label_purity / estimate.value,
    )


def whole_population(table: ScoreTable) -> ScoreTable:
    """The table with all rows among its unlabeled ones."""
    squares = table.unlabeled_squares + table.labeled_mass_squares + table.negative_squares
    return replace(
        table,
        unlabeled=table.unlabeled + table.labeled_mass + table.negative,
        negative=np.zeros_like(table.negative),
        weights=None
        if table.weights is None
        else replace(table.weights, unlabeled_squares=squares),
    )

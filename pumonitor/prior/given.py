"""A class prior as the caller gives it: a number, an interval, an estimate, or a method's name."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pumonitor.prior.estimation import estimate_from_table
from pumonitor.prior.samples.population import completed, confirmed_share, refuse_below_confirmed
from pumonitor.results import ClassPriorEstimate, Scenario, Target
from pumonitor.tables import ScoreTable

GivenOrEstimated = (
    str | float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate
)


def resolve_class_prior(
    class_prior: GivenOrEstimated,
    table: ScoreTable,
    *,
    scenario: Scenario,
    label_purity: float,
    confidence_level: float,
    rng: int | np.random.Generator | None,
    target: Target = "process",
) -> ClassPriorEstimate:
    """The prior as given, or estimated when a method's name is given; its parts filled in."""
    if isinstance(class_prior, str):
        return estimate_from_table(
            table,
            method=class_prior,
            scenario=scenario,
            label_purity=label_purity,
            confidence_level=confidence_level,
            rng=rng,
            target=target,
        )
    given = ClassPriorEstimate.given(class_prior, confidence_level=confidence_level)
    if not given.method.startswith("given"):
        # Estimated elsewhere: pi carries over, what it meant for those rows does not.
        given = replace(
            given,
            method=f"given by {given.method}",
            unlabeled_prior_interval=(math.nan, math.nan),
            least=given.least
            if math.isnan(given.least)
            else confirmed_share(table, scenario=scenario, label_purity=label_purity),
        )
    if scenario == "single-training-set":
        refuse_below_confirmed(given, table, label_purity=label_purity)
    return completed(given, table, scenario=scenario, label_purity=label_purity)

"""What an evaluation assumes of the labels: how pure they are, and the class prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from pumonitor.prior.given import GivenOrEstimated, resolve_class_prior
from pumonitor.prior.labels.label_frequency import LabelFrequency, prior_from_label_frequency
from pumonitor.prior.labels.label_noise import LabelPurityEstimate, estimate_label_purity
from pumonitor.results import ClassPriorEstimate, Scenario, Target
from pumonitor.tables import ScoreTable

LabelPurity = float | Literal["auto"]

Assumed = tuple[ClassPriorEstimate, float, LabelPurityEstimate]
"""Class prior, label purity, and what the scores show of mistaken labels."""


def assumed_of(
    table: ScoreTable,
    *,
    class_prior: GivenOrEstimated,
    label_frequency: LabelFrequency | None,
    label_purity: LabelPurity,
    scenario: Scenario,
    target: Target,
    confidence_level: float,
    rng: int | np.random.Generator | None,
    auxiliary: ScoreTable | None = None,
) -> Assumed:
    """The class prior and the label purity as given, or estimated where asked for.

    The scores are always looked at for mistaken labels, so that those who did not ask are told.
    With `auxiliary`, the table of another score of the same rows, the class prior is estimated from
    that.

    Raises
    ------
    ValueError
        If class prior and label frequency are both given, or there is an auxiliary score and
        nothing to be estimated from it.
    """
    if label_frequency is not None and class_prior != "auto":
        msg = "give class_prior or label_frequency, not both: each follows from the other"
        raise ValueError(msg)
    if auxiliary is not None and (
        label_frequency is not None
        or not isinstance(class_prior, str)
        or class_prior == "propensity"
    ):
        what = "label_frequency" if label_frequency is not None else f"class_prior={class_prior!r}"
        msg = (
            f"the class prior would be estimated from the auxiliary score, but {what} already "
            "gives it: leave one of them out"
        )
        raise ValueError(msg)
    evidence = estimate_label_purity(
        table,
        class_prior=_number(class_prior),
        scenario=scenario,
        confidence_level=confidence_level,
    )
    purity = evidence.value if label_purity == "auto" else float(label_purity)
    if label_frequency is not None:
        prior = prior_from_label_frequency(
            label_frequency,
            table,
            scenario=scenario,
            label_purity=purity,
            confidence_level=confidence_level,
        )
    else:
        prior = resolve_class_prior(
            class_prior,
            table if auxiliary is None else auxiliary,
            scenario=scenario,
            label_purity=purity,
            confidence_level=confidence_level,
            rng=rng,
            target=target,
        )
    if auxiliary is not None:
        prior = replace(prior, diagnostics={**prior.diagnostics, "index": "auxiliary"})
    return prior, purity, evidence


def _number(class_prior: GivenOrEstimated) -> float | None:
    """The prior as a number if the caller gave one; what is wrong with it is said elsewhere."""
    if isinstance(class_prior, str):
        return None
    try:
        return ClassPriorEstimate.given(class_prior).value
    except (TypeError, ValueError):
        return None

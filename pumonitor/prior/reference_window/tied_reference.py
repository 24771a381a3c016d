"""A reference window read for an estimate: its prior tied to the rows that the window holds."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy.special import ndtri

from pumonitor.prior.reference_window.label_shift import label_shift_with_interval
from pumonitor.prior.reference_window.label_shift_em import label_shift_em_with_interval
from pumonitor.prior.samples.population import (
    completed,
    labeled_fraction_error,
    refuse_below_confirmed,
    whole_population,
)
from pumonitor.prior.samples.reference import ReferenceWindow
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.tables import ScoreTable

FROM_REFERENCE = {
    "label_shift": label_shift_with_interval,
    "label_shift_em": label_shift_em_with_interval,
}


def check_reference(reference: ReferenceWindow | None, *, method: str) -> None:
    """Refuse a method without the reference it starts from, and a reference nobody reads."""
    if reference is None and method in FROM_REFERENCE:
        msg = (
            f"{method} starts from a window of known class prior: call estimate_class_prior(..., "
            f"method={method!r}, reference=ReferenceWindow.from_arrays(labels, scores, "
            "class_prior=...)), and give its result to evaluate as class_prior"
        )
        raise ValueError(msg)
    if reference is not None and method not in FROM_REFERENCE:
        msg = (
            f"method={method!r} does not read a reference window: leave reference out, or use one "
            f"of {', '.join(FROM_REFERENCE)}"
        )
        raise ValueError(msg)


def tied_to_its_rows(
    reference: ReferenceWindow | None,
    *,
    scenario: Scenario,
    label_purity: float,
    against_population: bool,
    confidence_level: float,
) -> tuple[ScoreTable, ClassPriorEstimate] | None:
    """The reference's rows and its prior tied to them, as a share of rows that score like labeled.

    An estimate made on these rows keeps its interval for the unlabeled ones. Otherwise theirs
    follows from the class prior's and from how well the rows tell the labeled fraction.
    """
    if reference is None:
        return None
    table = reference.table
    given = ClassPriorEstimate.given(reference.class_prior, confidence_level=confidence_level)
    if scenario == "single-training-set":
        refuse_below_confirmed(given, table, label_purity=label_purity)
    # Ends at another confidence level are moved to this one's.
    quantile, given_quantile = (
        float(ndtri(0.5 + 0.5 * level)) for level in (confidence_level, given.confidence_level)
    )
    stretch = quantile / given_quantile
    loose = replace(given, unlabeled_prior_interval=(math.nan, math.nan))
    found = completed(loose, table, scenario=scenario, label_purity=label_purity)
    middle, ends = found.unlabeled_prior, found.unlabeled_prior_interval
    reach = 0.0
    if math.isclose(given.unlabeled_prior, middle, abs_tol=1e-9):
        ends = given.unlabeled_prior_interval
    else:
        rows = float((table.labeled_mass + table.unlabeled + table.negative).sum())
        own = labeled_fraction_error(table, middle, scenario=scenario, label_purity=label_purity)
        reach = quantile * own * rows / float(table.unlabeled.sum())
    if against_population:
        table = whole_population(table)
        middle, ends, reach = found.value, (found.low, found.high), 0.0
    below, above = (math.hypot(stretch * (end - middle), reach) for end in ends)
    tied = replace(
        found,
        low=max(found.value - stretch * (found.value - found.low), 1e-9),
        high=min(found.value + stretch * (found.high - found.value), 1 - 1e-9),
        confidence_level=confidence_level,
        unlabeled_prior=middle / label_purity,
        unlabeled_prior_interval=((middle - below) / label_purity, (middle + above) / label_purity),
    )
    return table, tied

"""A class prior above what the scores allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.diagnostics.shift_test import LEVEL
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import given_text, number_text

# Shares of the labeled rows above the thresholds, and how many independent tests they amount to.
_SHARES = np.geomspace(0.7, 0.02, 12)
_INDEPENDENT = 6


def prior_too_high(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    class_prior: ClassPriorEstimate,
    settings: Mapping[str, Any],
) -> list[Finding]:
    """A warning when a given prior, a note when a part of its interval, exceeds what is possible.

    The bound (`highest_possible_prior`) holds with 99.9% confidence if labels are a fair sample;
    a prior beyond it means that one of the two is wrong. Silent where `infeasible_values` already
    says so of an estimate. An estimated prior keeps to the scores by itself. A prior that is too
    low cannot be told from these data.
    """
    if not class_prior.method.startswith("given"):
        return []
    highest = highest_possible_prior(
        table, scenario=settings["scenario"], label_purity=settings["label_purity"]
    )
    if class_prior.high <= highest:
        return []
    if any(more_than_chance(estimate) for estimate in estimates.values()):
        return []
    if class_prior.low <= highest:
        return [
            Finding(
                name="prior_too_high",
                severity="note",
                sentence=(
                    f"The class prior was given as up to {given_text(class_prior.high)}; if "
                    "confirmed positives are a fair sample, the scores allow at most "
                    f"{number_text(highest)}."
                ),
            )
        ]
    return [
        Finding(
            name="prior_too_high",
            severity="warning",
            sentence=(
                f"A class prior of {given_text(class_prior.low)} is impossible: if confirmed "
                f"positives are a fair sample, the scores allow at most {number_text(highest)}. "
                "Either the prior is too high, or the confirmed positives are the easy ones."
            ),
        )
    ]


def highest_possible_prior(table: ScoreTable, *, scenario: str, label_purity: float) -> float:
    """Upper bound of the class prior at 99.9% confidence.

    The share of unlabeled rows above a threshold is at least that of labeled rows times
    unlabeled prior / label purity, whatever the densities are. Of the rows above a threshold a
    binomial number is then labeled, with a chance that is at most as high as this least ratio
    makes it; the ratio at which the count becomes too rare (Clopper, Pearson) is an upper bound.
    The least of twelve thresholds counts, from the highest 70% of labeled rows to the highest 2%.
    With weights, effective numbers of rows.

    In the single-training-set scenario the labeled rows are added. Their share among all rows was
    drawn like everything else, and counts with the end of its own 99.9% interval that makes the
    prior higher.

    Notes
    -----
    Each threshold is tested at 0.001 / 6: they share rows, and with densities of which every bound
    is tight it was missed in at most 0.07% of samples (30 to 1000 labeled rows, unlabeled priors
    .05 to .9). The bound is 1.55 times the observed ratio at a top tenth of 1000 labeled and
    10,000 unlabeled rows, and 2.31 times with 300 and 3000; 2.02 and 3.84 by bounding each of the
    two shares.

    References
    ----------
    Blanchard, Lee, Scott (2010), Semi-supervised novelty detection: the ratio at the top of the
    ROC curve. Przyborowski, Wilenski (1940), Homogeneity of results in testing samples from Poisson
    series: the ratio of two counts given their sum.

    Examples
    --------
    >>> table = ScoreTable.from_counts([100, 900], [8500, 1500], edges=[0.0, 0.5, 1.0])
    >>> round(highest_possible_prior(table, scenario="case-control", label_purity=1.0), 3)
    0.194
    """
    # With propensities labeled rows are like all positives, not like those left unlabeled.
    whole = scenario == "single-training-set" and table.has_propensities
    others, squares = table.unlabeled, table.unlabeled_squares
    if whole:
        others = others + table.labeled_mass + table.negative
        squares = squares + table.labeled_mass_squares + table.negative_squares
    labeled, unlabeled = float(table.labeled.sum()), float(others.sum())
    size_l = labeled**2 / float(table.labeled_squares.sum())
    size_u = unlabeled**2 / float(squares.sum())
    g = np.cumsum(table.labeled[::-1])[::-1] / labeled
    h = np.cumsum(others[::-1])[::-1] / unlabeled
    cells = np.unique(np.maximum(np.searchsorted(-g, -_SHARES, side="right") - 1, 0))
    hits_l, hits_u = np.minimum(g[cells], 1) * size_l, np.minimum(h[cells], 1) * size_u
    least = special.betaincinv(np.maximum(hits_l, 1e-9), hits_u + 1, LEVEL / _INDEPENDENT)
    ratio = size_l / size_u * (1 - least) / np.maximum(least, 1e-300)
    highest = min(label_purity * float(np.min(ratio)), 1.0)
    if whole or scenario == "case-control":
        return highest
    of_others = highest * unlabeled / (unlabeled + float(table.negative.sum()))
    return max(q * label_purity + (1 - q) * of_others for q in _labeled_fraction_ends(table))


def _labeled_fraction_ends(table: ScoreTable) -> tuple[float, float]:
    """Clopper and Pearson's ends of the labeled share of the population, each at 99.9%."""
    labeled = float(table.labeled_mass.sum())
    others = float((table.unlabeled + table.negative).sum())
    q = labeled / (labeled + others)
    squares = (1 - q) ** 2 * float(table.labeled_mass_squares.sum()) + q**2 * float(
        (table.unlabeled_squares + table.negative_squares).sum()
    )
    hits, misses = (part * q * (1 - q) * (labeled + others) / squares for part in (labeled, others))
    low = float(special.betaincinv(hits, misses + 1, LEVEL))
    return low, float(special.betaincinv(hits + 1, misses, 1 - LEVEL))

"""Whether any scores are purely positive: an estimated class prior is read off there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pumonitor.diagnostics.prior_too_high import highest_possible_prior
from pumonitor.diagnostics.shift_test import LEVEL
from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text, percent_text

_TOP = 0.25
_FEWEST = 10
_MATERIAL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRegion:
    """Labeled against unlabeled rows among the highest scores.

    Attributes
    ----------
    chance : float
        P(a labeled row there outscores an unlabeled one there), ties one half; 1/2 if pure.
    p_value : float
        Of more than one half, if it is pure.
    """

    chance: float
    p_value: float


def no_pure_region(
    table: ScoreTable, class_prior: ClassPriorEstimate, settings: Mapping[str, Any]
) -> list[Finding]:
    """A note when even the highest scores are not purely positive and the prior was estimated.

    Where nobody but positives scores, unlabeled rows score like labeled ones. If among the highest
    scores, those of the top quarter of the labeled rows, labeled rows still outscore the others
    (one-sided Mann-Whitney test at level 0.001, at least 55% of pairs), some of the others are
    negatives however high one looks. The class prior is then not seen anywhere; it follows from
    how the share of negatives falls, and is an upper bound that no score reaches.

    A ranking that is not very good does this with the fairest labels, hence a note. Silence does
    not mean that the top is pure: negatives that score exactly like positives leave the same
    trace as more positives do.
    """
    if class_prior.method == "propensity" or class_prior.method.startswith("given"):
        return []
    top = top_region(table)
    if top.p_value >= LEVEL or top.chance < 0.5 + _MATERIAL:
        return []
    highest = highest_possible_prior(
        table, scenario=settings["scenario"], label_purity=settings["label_purity"]
    )
    bound = (
        f" The counts alone, without a curve, only say that it is at most {number_text(highest)}."
        if highest > class_prior.high
        else ""
    )
    return [
        Finding(
            name="no_pure_region",
            severity="note",
            sentence=(
                "No range of scores has positives only: even among the highest scores, where a "
                "quarter of the confirmed positives are, these outscore the other rows in "
                f"{percent_text(top.chance)} of pairs, so some of the other rows are negative. The "
                f"class prior of {number_text(class_prior.value)} is extrapolated beyond the "
                f"highest score, and it is more likely too high than too low.{bound} An audit of "
                "rows drawn at random, or a better model, gives a better estimate."
            ),
        )
    ]


def top_region(table: ScoreTable) -> TopRegion:
    """Mann-Whitney test of labeled against unlabeled rows within the highest scores.

    The region begins where the top quarter of the labeled rows does. With weights, effective
    numbers of rows; ten of each are needed.

    Examples
    --------
    >>> table = ScoreTable.from_counts(
    ...     [700, 100, 200], [9000, 300, 200], edges=[0.0, 0.5, 0.9, 1.0])
    >>> top = top_region(table)  # (200 x 300 + half of the ties) / (300 x 500)
    >>> round(top.chance, 4), top.p_value < 1e-9
    (0.6333, True)
    """
    above = np.cumsum(table.labeled[::-1])[::-1] / table.labeled.sum()
    first = max(int(np.searchsorted(-above, -_TOP, side="right")) - 1, 0)
    labeled, unlabeled = table.labeled[first:], table.unlabeled[first:]
    total_l, total_u = float(labeled.sum()), float(unlabeled.sum())
    if total_u <= 0:
        return TopRegion(chance=0.5, p_value=1.0)
    rows_l = total_l**2 / float(table.labeled_squares[first:].sum())
    rows_u = total_u**2 / float(table.unlabeled_squares[first:].sum())
    if min(rows_l, rows_u) < _FEWEST:
        return TopRegion(chance=0.5, p_value=1.0)
    labeled, unlabeled = labeled / total_l, unlabeled / total_u
    chance = float(labeled @ (np.cumsum(unlabeled) - 0.5 * unlabeled))
    pooled = (labeled * rows_l + unlabeled * rows_u) / (rows_l + rows_u)
    # Variance of a rank when both are one distribution, ties taken off.
    variance = (1 - float(np.sum(pooled**3))) / 12 * (1 / rows_l + 1 / rows_u)
    if variance <= 0:
        return TopRegion(chance=0.5, p_value=1.0)
    return TopRegion(
        chance=chance, p_value=float(special.ndtr(-(chance - 0.5) / math.sqrt(variance)))
    )

"""Too few confirmed positives for a useful answer, and how many would do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scipy import special

from pumonitor.names import title
from pumonitor.results import Estimate, Finding
from pumonitor.text import count_text

_USEFUL_HALF_WIDTH = 0.1
_DROP = 0.05
_ASKED = ("recall", "f1", "auc")


def positives_needed(estimate: Estimate, n_labeled: float, *, half_width: float) -> int:
    """Confirmed positives at which the interval would be +/- half_width, by the root-n rule.

    Examples
    --------
    >>> e = Estimate(name="recall", value=0.5, low=0.3, high=0.7, confidence_level=0.95,
    ...              method="", n_labeled=24, n_unlabeled=100)
    >>> positives_needed(e, 24, half_width=0.1)
    96
    """
    current = 0.5 * (estimate.high - estimate.low)
    return math.ceil(n_labeled * (current / half_width) ** 2 - 1e-9)


def positives_to_see_drop(
    estimate: Estimate, n_labeled: float, *, drop: float, power: float = 0.8
) -> int:
    """Confirmed positives per period at which a drop between two periods is seen.

    Two periods alike in size are compared one-sidedly at the estimate's tail probability,
    (1 - confidence level) / 2; the drop is found with probability `power`. The class prior is the
    same in both and does not count: only the sampling error does, by the root-n rule.

    Examples
    --------
    >>> e = Estimate(name="f1", value=0.5, low=0.4, high=0.6, confidence_level=0.95, method="",
    ...              n_labeled=100, n_unlabeled=900, se=0.05, se_sampling=0.05)
    >>> positives_to_see_drop(e, 100, drop=0.05)  # 100 (1.96 + 0.84)^2 2
    1570
    """
    reach = float(special.ndtri(0.5 + 0.5 * estimate.confidence_level) + special.ndtri(power))
    return math.ceil(n_labeled * 2 * (reach * estimate.se_sampling / drop) ** 2 - 1e-9)


def few_positives(estimates: Mapping[str, Estimate], settings: Mapping[str, Any]) -> list[Finding]:
    """A warning when more positives are needed to know recall, F1 and AUC to +/- 0.1.

    Intervals that are wide because the class prior is uncertain do not get narrower with more
    positives: when F1 is wider than +/- 0.1 for that reason alone a note says so. The numbers
    needed follow the root-n rule and are rough below some 20 positives.
    """
    count = settings["effective_labeled"]
    # What is impossible is not made possible by more rows; `infeasible_values` speaks of it. More
    # cases, not more confirmations, narrow what an audit estimates.
    known = [
        estimates[name]
        for name in _ASKED
        if not (estimates[name].undefined_reason or estimates[name].infeasible)
        and not estimates[name].method.startswith("audit")
    ]
    needed = {
        estimate.name: _needed_for_sampling(estimate, count)
        for estimate in known
        if _half_width(estimate) > _USEFUL_HALF_WIDTH
    }
    wanting = {name: number for name, number in needed.items() if number > count}
    if wanting:
        return [_warning(wanting, estimates, settings)]
    if "f1" not in needed:
        return []
    return [
        Finding(
            name="uncertain_prior",
            severity="note",
            sentence=(
                "F1 is uncertain because the class prior is uncertain: more confirmed positives "
                "will not make it narrower, but a better known class prior will (label some rows "
                "drawn at random)."
            ),
        )
    ]


def _half_width(estimate: Estimate) -> float:
    return 0.5 * (estimate.high - estimate.low)


def _needed_for_sampling(estimate: Estimate, count: float) -> int:
    """Positives needed if the class prior were known: the sampling part of the interval."""
    everything = positives_needed(estimate, count, half_width=_USEFUL_HALF_WIDTH)
    if not (math.isfinite(estimate.se) and estimate.se > 0):
        return everything
    return math.ceil(everything * min(estimate.se_sampling / estimate.se, 1.0) ** 2)


def _warning(
    wanting: Mapping[str, int], estimates: Mapping[str, Estimate], settings: Mapping[str, Any]
) -> Finding:
    count = settings["effective_labeled"]
    parts = ", ".join(
        f"{title(name, settings)} with about {number}" for name, number in wanting.items()
    )
    f1 = estimates["f1"]
    drop = ""
    if not f1.undefined_reason and not f1.infeasible and f1.se_sampling > 0:
        number = positives_to_see_drop(f1, count, drop=_DROP)
        drop = (
            f" About {number} are needed to detect a fall of F1 by 5 points from one period to "
            "the next."
        )
    return Finding(
        name="few_positives",
        severity="warning",
        sentence=(
            f"{_counted(settings)}: intervals are wide. They would be plus or "
            f"minus 10 points for {parts}: evaluate a longer period or wait for more "
            f"confirmations.{drop}"
        ),
    )


def _counted(settings: Mapping[str, Any]) -> str:
    """How many there are, which for rows that share entities is less than their number."""
    count, entities = settings["effective_labeled"], settings.get("labeled_entities")
    if entities is None or entities == settings["n_labeled"]:
        return f"Only {count_text(count)} confirmed positives"
    return (
        f"{settings['n_labeled']} confirmed positives of {entities} entities tell as much as "
        f"{count_text(count)} of different ones"
    )

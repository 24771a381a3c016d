"""A threshold that flags everything or nothing, or no better than flagging everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.text import given_text, number_text, percent_text

_NEARLY_ALL = 0.9
_HARDLY_BETTER = 0.02


def flag_everything_f1(class_prior: float) -> float:
    """F1 of flagging every row, 2 pi / (1 + pi): what any F1 is to be compared with.

    Examples
    --------
    >>> round(flag_everything_f1(0.6), 4)
    0.75
    """
    return 2 * class_prior / (1 + class_prior)


def one_sided_decision(
    estimates: Mapping[str, Estimate],
    class_prior: ClassPriorEstimate,
    settings: Mapping[str, Any],
) -> list[Finding]:
    """What a threshold does that decides alike for all rows, or nearly.

    A warning when all rows, or none, are at or above it, and when at least 90% are and F1 is less
    than 0.02 above that of flagging everything, or not surely above it: a high F1 is then the
    share of positives and no merit of the model. A note when F1 is surely below that, as it is
    with a strict threshold: F1 is then no measure of what the threshold is for.
    """
    flagged, f1 = estimates["predicted_positive_rate"].value, estimates["f1"]
    base = flag_everything_f1(class_prior.value)
    if flagged in (0, 1):
        return [_all_alike(flagged, base, settings)]
    if f1.undefined_reason:
        return []
    if flagged >= _NEARLY_ALL and min(f1.low, f1.value - _HARDLY_BETTER) <= base:
        return [
            Finding(
                name="flags_nearly_everything",
                severity="warning",
                sentence=(
                    f"{percent_text(flagged)} of all rows are flagged, and F1 "
                    f"{number_text(f1.displayed[0])} is hardly better than the {number_text(base)} "
                    "of flagging every row: it reflects how many positives there are, not how "
                    "well the model does. Look at specificity and AUC, or raise the threshold."
                ),
            )
        ]
    # With an uncertain class prior both move together; the interval of F1 is the wider part.
    if f1.high < flag_everything_f1(class_prior.low):
        return [
            Finding(
                name="f1_below_flagging_everything",
                severity="note",
                sentence=(
                    f"F1 {number_text(f1.displayed[0])} is below the {number_text(base)} that "
                    "flagging every row would give: the threshold is higher than the one with the "
                    "best F1. Judge it by precision and recall."
                ),
            )
        ]
    return []


def _all_alike(flagged: float, base: float, settings: Mapping[str, Any]) -> Finding:
    which = "No row scores" if flagged == 0 else "Every row scores"
    same = "" if flagged == 0 else f" (F1 is the {number_text(base)} of flagging every row)"
    return Finding(
        name="one_sided_decision",
        severity="warning",
        sentence=(
            f"{which} at or above the threshold {given_text(settings['threshold'])}: the metrics "
            f"at the threshold carry no information about the model{same}. Is the threshold on the "
            "scale of the scores?"
        ),
    )

"""The table of estimates as the page shows it: every cell a text, nothing left as a number."""

from __future__ import annotations

from dataclasses import dataclass

from pumonitor.diagnostics.impossible_prior import doubted_estimates, resting_estimates
from pumonitor.names import GROUPS, MEANING, title
from pumonitor.report.numbers import interval_text, number
from pumonitor.report.uncorrected import uncorrected_value
from pumonitor.results import Estimate, Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    """One line of the table.

    Attributes
    ----------
    name : str
        As in `Evaluation.estimates`.
    title, meaning : str
        For people.
    value, interval, uncorrected : str
        Numbers as text; empty where there is none.
    note : str
        Why there is no value, or why the value is not what came out; else empty.
    """

    name: str
    title: str
    meaning: str
    value: str
    interval: str
    uncorrected: str
    note: str


def estimate_groups(evaluation: Evaluation) -> dict[str, list[EstimateRow]]:
    """Lines of the table by heading; an estimate of no group comes last under "Other"."""
    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in evaluation.estimates if name not in grouped)
    groups = {**GROUPS, "Other": others}
    why = reasons_for_doubt(evaluation)
    lines = {
        heading: [
            _row(evaluation, name, why.get(name, ""))
            for name in names
            if name in evaluation.estimates
        ]
        for heading, names in groups.items()
    }
    return {heading: rows for heading, rows in lines.items() if rows}


def _row(evaluation: Evaluation, name: str, why_doubtful: str) -> EstimateRow:
    estimate = evaluation.estimates[name]
    naive = uncorrected_value(evaluation, name)
    value, interval, note = "no value", "", ""
    if estimate.undefined_reason is not None:
        note = f"No value: {estimate.undefined_reason}."
    else:
        shown, low, high = estimate.displayed
        value, note = number(shown), impossible_note(estimate) or why_doubtful
        interval = "impossible" if estimate.interval_infeasible else interval_text(low, high)
        if name == "class_prior" and evaluation.class_prior.is_known:
            interval = "taken as known"
    return EstimateRow(
        name=name,
        title=title(name, evaluation.settings),
        meaning=MEANING.get(name, ""),
        value=value,
        interval=interval,
        uncorrected="" if naive is None else number(naive),
        note=note,
    )


def reasons_for_doubt(evaluation: Evaluation) -> dict[str, str]:
    """Which impossible number estimates are computed with, by name; of those that are."""
    pure = evaluation.settings["label_purity"] == 1.0
    estimates = evaluation.estimates
    why = resting_estimates(estimates, pure=pure) | doubted_estimates(estimates, pure=pure)
    return {name: f"{said[0].upper()}{said[1:]}." for name, said in why.items()}


def impossible_note(estimate: Estimate) -> str:
    """What it means that an estimate lies outside its range; empty when it does not.

    Examples
    --------
    >>> print(impossible_note(Estimate(name="precision", value=1.04, low=0.91, high=1.2,
    ...     confidence_level=0.95, method="", n_labeled=50, n_unlabeled=900)))
    Impossible value: it came out at 1.04 (0.910 to 1.20), outside 0 to 1. Shown is 1.00, the
    nearest possible. Chance alone can do that; so can too high a share of positives.
    """
    if not estimate.infeasible:
        return ""
    low, high = estimate.range
    interval = interval_text(estimate.low, estimate.high)
    came_out = (
        f"Impossible value: it came out at {number(estimate.value)} ({interval}), outside "
        f"{low:.3g} to {high:.3g}. Shown is {number(estimate.displayed[0])}, the nearest possible."
    )
    if estimate.interval_infeasible:
        return (
            f"{came_out} Chance does not explain that: the share of positives is wrong, or the "
            "confirmed positives are not a fair sample."
        )
    return f"{came_out} Chance alone can do that; so can too high a share of positives."

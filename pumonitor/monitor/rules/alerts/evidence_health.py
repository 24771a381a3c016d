"""Evidence of one window for rules on the health of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pumonitor.monitor.rules.alerts.rule import Health, WindowView, shown
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.monitor.rules.alerts.usual import OVER

WHOLE: Final = ("", "")
"""Health rules cover all rows of all model versions together."""

_LEAST_WINDOWS: Final = 3


def health_evidence(
    view: WindowView, condition: Health, *, before: Sequence[WindowView]
) -> Evidence:
    """Test a window for a health problem.

    Parameters
    ----------
    view : WindowView
    condition : Health
        Not one that is evaluated by the clock, and not "few_positives", which is a `Limit`.
    before : sequence of WindowView
        Earlier windows; those of the last 28 days define what is usual.

    Raises
    ------
    ValueError
        For those.
    """
    if view.failed:
        reason = "the window could not be evaluated"
        return Evidence(window=view.window, kind="error", reason=reason)
    usual = [
        one
        for one in before
        if not one.failed
        and one.window.end <= view.window.start
        and one.window.start >= view.window.start - OVER
    ]
    match condition.kind:
        case "no_data":
            return _no_data(view)
        case "volume":
            return _volume(view, condition.limit, usual)
        case "unmatched_labels":
            return _unmatched(view, condition.limit)
        case "score_range":
            return _score_range(view, usual)
        case _:
            msg = f"{condition.kind} is not evaluated here"
            raise ValueError(msg)


def predictions_of(view: WindowView) -> float:
    """Number of predictions in a window, over all model versions."""
    return sum(
        readings["predictions"].value or 0.0
        for (_, segment), readings in view.readings.items()
        if segment == "" and "predictions" in readings
    )


def _said(view: WindowView, kind: EvidenceKind, reason: str, **numbers: Any) -> Evidence:
    return Evidence(window=view.window, kind=kind, reason=reason, **numbers)


def _no_data(view: WindowView) -> Evidence:
    rows = predictions_of(view)
    if rows == 0:
        return _said(view, "breach", "there are no predictions", value=0.0)
    return _said(view, "good", f"there are {shown(rows)} predictions", value=rows)


def _volume(view: WindowView, limit: float, usual: Sequence[WindowView]) -> Evidence:
    rows = predictions_of(view)
    if len(usual) < _LEAST_WINDOWS:
        return _said(view, "insufficient", "there are too few earlier windows", value=rows)
    mean = sum(map(predictions_of, usual)) / len(usual)
    if mean == 0:
        return _said(view, "insufficient", "earlier windows have no predictions", value=rows)
    change = rows / mean - 1
    reason = (
        f"there are {shown(rows)} predictions, {100 * abs(change):.0f}% "
        f"{'less' if change < 0 else 'more'} than the mean of {shown(mean)}"
    )
    nearest = mean * (1 + (-limit if change < 0 else limit))
    kind: EvidenceKind = "breach" if abs(change) > limit else "good"
    return _said(view, kind, reason, value=rows, limit=nearest, reference=mean)


def _unmatched(view: WindowView, limit: float) -> Evidence:
    orphans = view.health.get("orphans", 0)
    if orphans is None:
        reason = "a damaged file may have the predictions of labels that have none"
        return _said(view, "insufficient", reason)
    orphans, matched = int(orphans), int(sum(view.health.get("arrivals", ())))
    if orphans + matched == 0:
        return _said(view, "no_data", "there are no labels")
    share = orphans / (orphans + matched)
    reason = (
        f"{shown(float(orphans))} of {shown(float(orphans + matched))} labels "
        f"({100 * share:.1f}%) belong to no prediction"
    )
    kind: EvidenceKind = "breach" if share > limit else "good"
    return _said(view, kind, reason, value=share, limit=limit)


def _score_range(view: WindowView, usual: Sequence[WindowView]) -> Evidence:
    scores = view.health.get("scores")
    if scores is None:
        return _said(view, "no_data", "there are no predictions")
    least, low, high, largest = scores
    numbers = {"value": 0.5 * (low + high), "low": low, "high": high}
    if least == largest:
        return _said(view, "breach", f"all scores are {shown(least)}", **numbers)
    before = [one.health["scores"] for one in usual if one.health.get("scores") is not None]
    if len(before) < _LEAST_WINDOWS:
        return _said(view, "insufficient", "there are too few earlier windows", **numbers)
    bottom, top = min(one[0] for one in before), max(one[3] for one in before)
    usual_range = f"{shown(bottom)} to {shown(top)}"
    if high > top or low < bottom:
        beyond = "above" if high > top else "below"
        limit = top if high > top else bottom
        reason = f"more than 2.5% of the scores are {beyond} the usual range of {usual_range}"
        return _said(view, "breach", reason, **numbers, limit=limit)
    return _said(view, "good", f"scores are within the usual range of {usual_range}", **numbers)

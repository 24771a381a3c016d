"""Rules on the health of the data: their conditions, and the evidence of one window for each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.monitor.rules.alerts.rule import (
    WHOLE,
    Condition,
    KnownReference,
    Series,
    Tests,
    WindowView,
    earlier_windows,
)
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.text import count_text, number_text, percent_text

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold

OVER: Final = timedelta(days=28)
"""Windows of this time before a window define what is usual for it."""
_LEAST_WINDOWS: Final = 3


class HealthCondition(Condition):
    """A condition on the data of a window, of all model versions together."""

    __slots__ = ()

    is_of_all_rows = True
    asks_what_is_usual: ClassVar[bool] = False
    """Whether it compares with earlier windows."""

    @abstractmethod
    def evidence(self, view: WindowView, usual: Sequence[WindowView]) -> Evidence:
        """Test a window; `usual` are the windows of the 28 days before that were evaluated."""

    def metrics(self, metric: str) -> tuple[str, ...]:
        """Of results it reads the number of rows."""
        return ("predictions",)

    def reads(self, view: WindowView, known_reference: KnownReference | None) -> Hashable:
        """All that is known of the data."""
        return tuple(sorted(view.health.items()))

    def tests(self, fold: RuleFold) -> Tests:
        """Test all rows of the window."""

        def evidence(views: Sequence[WindowView], index: int) -> Mapping[Series, Evidence]:
            view = views[index]
            if view.failed:
                return {WHOLE: _said(view, "error", "the window could not be evaluated")}
            before = earlier_windows(views, index, OVER)
            usual = [
                earlier
                for earlier in before
                if not earlier.failed and earlier.window.end <= view.window.start
            ]
            return {WHOLE: self.evidence(view, usual)}

        return evidence

    def first_window(
        self, first: datetime, *, reference_end: datetime | None
    ) -> tuple[datetime, int]:
        """After the fewest windows that say what is usual, if it asks."""
        del reference_end
        return first, _LEAST_WINDOWS if self.asks_what_is_usual else 0


def predictions_of(view: WindowView) -> float:
    """Number of predictions in a window, over all model versions."""
    return sum(
        readings["predictions"].value or 0.0
        for (_, segment), readings in view.readings.items()
        if segment == "" and "predictions" in readings
    )


def _said(view: WindowView, kind: EvidenceKind, reason: str, **numbers: Any) -> Evidence:
    return Evidence(window=view.window, kind=kind, reason=reason, **numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPredictions(HealthCondition):
    """Breach: the window has no predictions."""

    fires = "a window has no predictions"

    def evidence(self, view: WindowView, usual: Sequence[WindowView]) -> Evidence:
        """Count the predictions."""
        rows = predictions_of(view)
        if rows == 0:
            return _said(view, "breach", "there are no predictions", value=0.0)
        return _said(view, "good", f"there are {count_text(rows)} predictions", value=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualVolume(HealthCondition):
    """Breach: the number of predictions is more than a share above or below the usual mean."""

    asks_what_is_usual = True

    limit: float

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"predictions are {100 * self.limit:g}% more or less than usual"

    def evidence(self, view: WindowView, usual: Sequence[WindowView]) -> Evidence:
        """Compare the number of predictions with the mean of earlier windows."""
        rows = predictions_of(view)
        if len(usual) < _LEAST_WINDOWS:
            return _said(view, "insufficient", "there are too few earlier windows", value=rows)
        mean = sum(map(predictions_of, usual)) / len(usual)
        if mean == 0:
            return _said(view, "insufficient", "earlier windows have no predictions", value=rows)
        change = rows / mean - 1
        reason = (
            f"there are {count_text(rows)} predictions, {percent_text(abs(change))} "
            f"{'less' if change < 0 else 'more'} than the mean of {count_text(mean)}"
        )
        nearest = mean * (1 + (-self.limit if change < 0 else self.limit))
        kind: EvidenceKind = "breach" if abs(change) > self.limit else "good"
        return _said(view, kind, reason, value=rows, limit=nearest, reference=mean)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanLabels(HealthCondition):
    """Breach: a larger share of the labels than this belongs to no prediction."""

    limit: float

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"more than {100 * self.limit:g}% of the labels belong to no prediction"

    def evidence(self, view: WindowView, usual: Sequence[WindowView]) -> Evidence:
        """Count labels with and without a prediction."""
        orphans = view.health.get("orphans", 0)
        if orphans is None:
            reason = "a damaged file may have the predictions of labels that have none"
            return _said(view, "insufficient", reason)
        orphans, matched = int(orphans), int(sum(view.health.get("arrivals", ())))
        if orphans + matched == 0:
            return _said(view, "no_data", "there are no labels")
        share = orphans / (orphans + matched)
        reason = (
            f"{count_text(orphans)} of {count_text(orphans + matched)} labels "
            f"({percent_text(share)}) belong to no prediction"
        )
        kind: EvidenceKind = "breach" if share > self.limit else "good"
        return _said(view, kind, reason, value=share, limit=self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusualScores(HealthCondition):
    """Breach: scores leave the range of earlier windows, or are all the same."""

    asks_what_is_usual = True
    reads_scores = True
    fires = "scores leave their usual range"

    def evidence(self, view: WindowView, usual: Sequence[WindowView]) -> Evidence:
        """Compare the range of the scores with that of earlier windows."""
        scores = view.health.get("scores")
        if scores is None:
            return _said(view, "no_data", "there are no predictions")
        least, low, high, largest = scores
        numbers = {"value": 0.5 * (low + high), "low": low, "high": high}
        if least == largest:
            return _said(view, "breach", f"all scores are {number_text(least)}", **numbers)
        before = [one.health["scores"] for one in usual if one.health.get("scores") is not None]
        if len(before) < _LEAST_WINDOWS:
            return _said(view, "insufficient", "there are too few earlier windows", **numbers)
        bottom, top = min(one[0] for one in before), max(one[3] for one in before)
        usual_range = f"{number_text(bottom)} to {number_text(top)}"
        if high > top or low < bottom:
            beyond = "above" if high > top else "below"
            limit = top if high > top else bottom
            reason = f"more than 2.5% of the scores are {beyond} the usual range of {usual_range}"
            return _said(view, "breach", reason, **numbers, limit=limit)
        return _said(view, "good", f"scores are within the usual range of {usual_range}", **numbers)

"""Fold rules with equal progress: the windows as known so far, and a fold per rule."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.records.alerts import PaneResults, RecordedPane
from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    KnownReference,
    Reading,
    Series,
    WindowView,
)

ScoresOf = Callable[[PaneResults], tuple[float, float, float, float] | None]


@dataclass(slots=True)
class _Book:
    """Windows in order of time, each with its newest pane that counts."""

    starts: list[datetime] = field(default_factory=list)
    views: list[WindowView] = field(default_factory=list)

    def put(self, view: WindowView) -> tuple[int, WindowView | None]:
        """Insert or replace a window; returns its position and the view that was there before.

        An older pane, or a given-up window, does not replace a better view.
        """
        index = bisect_left(self.starts, view.window.start)
        if index == len(self.starts) or self.starts[index] != view.window.start:
            self.starts.insert(index, view.window.start)
            self.views.insert(index, view)
            return index, None
        old = self.views[index]
        if _stays(old.pane, view.pane, failed=(old.failed, view.failed)):
            return index, old
        self.views[index] = view
        return index, old


def _stays(old: int, new: int, *, failed: tuple[bool, bool]) -> bool:
    """Whether the old pane of a window stays when a new one is folded.

    `failed` says of the old and of the new pane whether the window was given up.
    """
    return not failed[0] and (failed[1] or old > new)


class Track:
    """Folds of some rules over the same panes.

    Parameters
    ----------
    rules : sequence of AlertRule
    known_reference : KnownReference or None
    scores_of : callable
        Returns minimum, 2.5% and 97.5% quantile and maximum of a pane's scores, or None.

    Attributes
    ----------
    folds : dict of str to RuleFold
        Rule key to its fold.
    broken : dict of str to str
        Rule key to the error that its fold raised; the rule is left out from then on.
    """

    def __init__(
        self,
        rules: Sequence[AlertRule],
        *,
        known_reference: KnownReference | None,
        scores_of: ScoresOf,
    ) -> None:
        self.folds = {rule.key: RuleFold(rule, known_reference=known_reference) for rule in rules}
        self.broken: dict[str, str] = {}
        self._scores_of = scores_of
        self._books: dict[bool, _Book] = {rule.provisional: _Book() for rule in rules}

    @property
    def metrics(self) -> frozenset[str]:
        """Names of the results that the rules read."""
        return frozenset(metric for fold in self.folds.values() for metric in fold.rule.metrics) | {
            "predictions"
        }

    def windows_of(self, rule: AlertRule) -> Sequence[WindowView]:
        """Folded windows that count for a rule, in order of time."""
        return self._books[rule.provisional].views

    def set_known_reference(self, known_reference: KnownReference | None) -> None:
        """Set the reference, which becomes known while windows are folded."""
        for fold in self.folds.values():
            fold.known_reference = known_reference

    def that_count(self, panes: Sequence[RecordedPane]) -> list[RecordedPane]:
        """The panes that no later one replaces, of panes in the order of the fold.

        Loading these alone gives the same result as loading all.
        """
        kept: set[tuple[str, int]] = set()
        for provisional in self._books:
            newest: dict[datetime, RecordedPane] = {}
            for pane in panes:
                if not provisional and pane.state == "provisional":
                    continue
                old = newest.get(pane.window.start)
                if old is None or not _stays(
                    old.number, pane.number, failed=(old.revision is None, pane.revision is None)
                ):
                    newest[pane.window.start] = pane
            kept |= {(pane.window_key, pane.number) for pane in newest.values()}
        return [pane for pane in panes if (pane.window_key, pane.number) in kept]

    def load(self, panes: Iterable[PaneResults]) -> None:
        """Fold panes whose transitions were emitted before."""
        for pane in panes:
            view = self.view(pane)
            for provisional, book in self._books.items():
                if provisional or pane.pane.state != "provisional":
                    book.put(view)
        for key in list(self.folds):
            self._refold(key, 0)

    def take(self, pane: PaneResults) -> frozenset[str]:
        """Fold one more pane; returns the keys of the rules whose evidence it may change."""
        view = self.view(pane)
        touched: set[str] = set()
        for provisional, book in self._books.items():
            if not provisional and pane.pane.state == "provisional":
                continue
            index, old = book.put(view)
            for key, fold in list(self.folds.items()):
                if fold.rule.provisional is not provisional:
                    continue
                new = book.views[index]
                if old is None or (new is not old and fold.reads(old) != fold.reads(new)):
                    self._refold(key, index)
                    touched.add(key)
        return frozenset(touched)

    def _refold(self, key: str, start: int) -> None:
        fold = self.folds[key]
        try:
            fold.refold(self._books[fold.rule.provisional].views, start)
        except StateError:
            # The reference could not be read now, which is not an error of the rule.
            raise
        except Exception as error:  # noqa: BLE001 (one broken rule must not stop the others)
            self.broken[key] = f"{type(error).__name__}: {error}"
            del self.folds[key]

    def view(self, found: PaneResults) -> WindowView:
        """Convert a pane with its results to a view for rules."""
        pane = found.pane
        if pane.revision is None:
            return WindowView(window=pane.window, pane=pane.number, as_of=pane.as_of, failed=True)
        return WindowView(
            window=pane.window,
            pane=pane.number,
            as_of=pane.as_of,
            readings={
                series: {metric: _reading(one) for metric, one in results.items()}
                for series, results in found.results.items()
                if _has_rows(series, results)
            },
            health=self._health(found),
        )

    def _health(self, found: PaneResults) -> Mapping[str, Any]:
        counts = found.pane.counts
        health: dict[str, Any] = {
            "orphans": counts.get("orphan_labels", 0),
            "arrivals": tuple(counts.get("arrivals", ())),
        }
        scores = self._scores_of(found)
        if scores is not None:
            health["scores"] = scores
        return health


def _has_rows(series: Series, results: Mapping[str, MetricResult]) -> bool:
    rows = results.get("predictions")
    return rows is None or rows.value != 0


def _reading(result: MetricResult) -> Reading:
    return Reading(
        value=result.value,
        low=result.low,
        high=result.high,
        se=result.se,
        n_labeled=result.n_labeled,
        # What only rests on an impossible number by chance is evidence all the same.
        reason=result.undefined_reason
        or (result.infeasible_reason if result.infeasible or result.impossible else None)
        or "",
        impossible=result.impossible,
        unclipped=result.unclipped_value,
        assumed=result.assumed,
    )

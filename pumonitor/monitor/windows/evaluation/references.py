"""The reference of a monitor: results of the windows of its reference period."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import MetricRule
from pumonitor.monitor.ledger.alerts.panes import with_results
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.alerts import RecordedPane
from pumonitor.monitor.ledger.records.results import EvaluatedSeries, MetricResult
from pumonitor.monitor.ledger.results.mature_results import MaturePane, mature_panes
from pumonitor.monitor.rules.reference.one_prior import (
    PRIOR_FACTOR,
    PRIOR_TO_COMPARE,
    comparable_reference,
    stands_on,
)
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.monitor.windows.evaluation.baseline import (
    BaselinePeriod,
    baseline_period,
    version_to_compare_with,
)
from pumonitor.monitor.windows.evaluation.change_rows import COMPARED
from pumonitor.monitor.windows.evaluation.result_rows import known_results
from pumonitor.ports import Pane

_log = logging.getLogger("pumonitor")

Evaluate = Callable[[Monitor, str, str, Pane], Sequence[EvaluatedSeries]]
"""What a collected pane comes to: of a monitor and its configuration, by the window's key."""

_Results = Mapping[tuple[str, str], Mapping[str, MetricResult]]
_Seen = tuple[object, ...]
_ROWS: Final = "predictions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Results that windows are compared with, by model version and segment.

    Attributes
    ----------
    as_of : datetime
        When the reference became mature; earlier panes are not compared with it.
    end : datetime
        End of the reference period; windows that begin earlier are not compared with it.
    predictions : mapping of (str, str) to int
        Number of predictions in all windows of the reference.
    windows : mapping of (str, str) to sequence of mappings of str to Uncertain
        Results by window.
    """

    as_of: datetime
    end: datetime
    predictions: Mapping[tuple[str, str], int]
    windows: Mapping[tuple[str, str], Sequence[Mapping[str, Uncertain]]]

    def holds_back(self, pane: Pane) -> bool:
        """Whether a pane is not compared: the reference is immature, or the window is in it."""
        return pane.as_of < self.as_of or pane.window.start < self.end

    def version_for(self, model_version: str, segment: str) -> str | None:
        """The same version, or else the one with most predictions; None without the segment."""
        sizes = {one: rows for (one, part), rows in self.predictions.items() if part == segment}
        return version_to_compare_with(model_version, sizes)

    def windows_for(self, model_version: str, segment: str) -> ReferenceWindows:
        """Results of the windows that those of a series are compared with."""
        version = self.version_for(model_version, segment)
        found = () if version is None else self.windows[version, segment]
        return ReferenceWindows(windows=found)


class References:
    """The references of monitors, from the ledger.

    Parameters
    ----------
    ledger : LedgerReader
    evaluate : callable
        Evaluates a window that is collected but not evaluated yet. Another worker may be evaluating
        it too, with the same results.
    read_with : callable
        Digests of the audits that windows of a monitor and its configuration are read with.
    """

    def __init__(
        self,
        ledger: LedgerReader,
        evaluate: Evaluate,
        *,
        read_with: Callable[[str, str], tuple[str, ...]] = lambda _monitor, _configuration: (),
    ) -> None:
        self._ledger = ledger
        self._evaluate = evaluate
        self._read_with = read_with
        self._known: dict[str, tuple[_Seen, Reference]] = {}

    def of(self, monitor: Monitor, configuration: str, *, as_of: datetime) -> Reference | None:
        """The reference as known at a pane's moment; None before it is mature.

        It consists of the mature panes of its windows; later revisions do not change it.
        """
        period = baseline_period(monitor)
        if period.end is None or as_of < period.end + monitor.maturity:
            return None
        with self._ledger.database.reading() as connection:
            found = mature_panes(
                connection,
                monitor=monitor.name,
                configuration=configuration,
                since=period.start,
                until=period.end,
            )
        # Collected again, or read with other audits, they come to something else.
        seen = (
            self._read_with(monitor.name, configuration),
            *((one.seen.window_key, one.collected_at) for one in found),
        )
        before, reference = self._known.get(monitor.name, ((), None))
        if reference is None or seen != before:
            reference = self._read(monitor, configuration, period, found)
            self._known[monitor.name] = seen, reference
        return reference

    def _read(
        self,
        monitor: Monitor,
        configuration: str,
        period: BaselinePeriod,
        found: Sequence[MaturePane],
    ) -> Reference:
        on_metrics = (rule.metric for rule in monitor.rules if isinstance(rule, MetricRule))
        metrics = {*COMPARED, *on_metrics, _ROWS}
        metrics |= {part for metric in metrics for part in stands_on(metric)}
        metrics |= {PRIOR_FACTOR, PRIOR_TO_COMPARE}
        predictions: Counter[tuple[str, str]] = Counter()
        windows: dict[tuple[str, str], list[Mapping[str, Uncertain]]] = defaultdict(list)
        for results in self._results(monitor, configuration, found, metrics):
            for series, rows in results.items():
                known = comparable_reference(
                    known_results(row for row in rows.values() if row.metric in metrics)
                )
                windows[series].append(known)
                predictions[series] += round(known[_ROWS].value) if _ROWS in known else 0
        assert period.end is not None  # noqa: S101 (there is a reference)
        return Reference(
            as_of=period.end + monitor.maturity,
            end=period.end,
            predictions=dict(predictions),
            windows=dict(windows),
        )

    def _results(
        self,
        monitor: Monitor,
        configuration: str,
        found: Sequence[MaturePane],
        metrics: set[str],
    ) -> list[_Results]:
        """By window, in order of time."""
        with self._ledger.database.reading() as connection:
            stored = with_results(connection, [one.seen for one in found], metrics=metrics)
        return [
            one.results
            if one.pane.revision is not None
            else self._evaluated(monitor, configuration, one.pane)
            for one in stored
        ]

    def _evaluated(self, monitor: Monitor, configuration: str, seen: RecordedPane) -> _Results:
        pane = Pane(window=seen.window, number=seen.number, state=seen.state, as_of=seen.as_of)
        try:
            series = self._evaluate(monitor, configuration, seen.window_key, pane)
        except StateError:
            raise
        except Exception:  # noqa: BLE001 (such a window is given up: others are evaluated without it)
            _log.exception(
                "%s: the reference does not include the window from %s, which cannot be evaluated",
                monitor.name,
                seen.window.start,
            )
            return {}
        return {
            (one.model_version, one.segment): {row.metric: row for row in one.results}
            for one in series
        }

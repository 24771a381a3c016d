"""The reference period of a monitor: counted once when its labels are mature, then kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pumonitor.monitoring.uncertain import Known
from pumonitor.ports import Pane, PredictionSource, Window
from pumonitor.service.class_priors import own_class_prior
from pumonitor.service.collecting import counted
from pumonitor.service.config import Monitor
from pumonitor.service.result_rows import known_results
from pumonitor.service.series_tables import tables_of
from pumonitor.service.window_evaluation import evaluate_window
from pumonitor.store.ledger import Ledger
from pumonitor.store.records import MetricResult

__all__ = ["Reference", "References", "reference_pane"]


def reference_pane(monitor: Monitor) -> Pane | None:
    """The reference period as one window, at the moment at which its labels are mature."""
    if monitor.reference is None:
        return None
    start, end = monitor.reference.span(monitor.zone)
    window = Window(start=start, end=end, index=0)
    return Pane(window=window, number=0, state="mature", as_of=end + monitor.maturity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What windows are compared with, by model version and segment.

    Attributes
    ----------
    as_of : datetime
        Windows looked at earlier have no reference.
    predictions : mapping of (str, str) to int
    results : mapping of (str, str) to results
    """

    as_of: datetime
    predictions: Mapping[tuple[str, str], int]
    results: Mapping[tuple[str, str], tuple[MetricResult, ...]]

    def version_for(self, model_version: str, segment: str) -> str | None:
        """The same version, or else the one with most predictions; None without the segment."""
        if (model_version, segment) in self.results:
            return model_version
        others = [key for key in self.results if key[1] == segment]
        return max(others, key=lambda key: (self.predictions[key], key))[0] if others else None

    def known(self, model_version: str, segment: str) -> dict[str, Known]:
        """Estimates by name."""
        return known_results(self.results[model_version, segment])


class References:
    """The references of monitors, from the ledger or counted and put there.

    Parameters
    ----------
    ledger : Ledger
    source_of : callable
        The open tables of a monitor by its name.
    """

    def __init__(self, ledger: Ledger, source_of: Callable[[str], PredictionSource]) -> None:
        self._ledger = ledger
        self._source_of = source_of
        self._known: dict[str, Reference] = {}

    def of(self, monitor: Monitor, configuration: str, *, as_of: datetime) -> Reference | None:
        """The reference as windows looked at as of then may know it; None before it is mature."""
        pane = reference_pane(monitor)
        if pane is None or as_of < pane.as_of:
            return None
        key = f"reference {monitor.name} {configuration}"
        if key not in self._known:
            stored = self._ledger.run_ids.get(key)
            if stored is None:
                stored = json.dumps(
                    _evaluated(monitor, pane, self._source_of(monitor.name), key),
                    allow_nan=False,
                )
                self._ledger.run_ids.set(key, stored)
            self._known[key] = _read(pane, json.loads(stored))
        return self._known[key]


def _evaluated(
    monitor: Monitor, pane: Pane, source: PredictionSource, key: str
) -> list[dict[str, Any]]:
    tables = tables_of(
        counted(monitor, source, pane.window, [pane]), [pane], threshold=monitor.threshold
    )
    found = []
    for one in tables:
        prior = own_class_prior(one.table, monitor.assumed_prior, label_purity=monitor.label_purity)
        evaluated = evaluate_window(
            one,
            state="mature",
            key=key,
            threshold=monitor.threshold,
            class_prior=prior,
            label_purity=monitor.label_purity,
        )
        found.append(
            {
                "model_version": one.model_version,
                "segment": one.segment,
                "predictions": one.predictions,
                "results": [asdict(row) for row in evaluated.results],
            }
        )
    return found


def _read(pane: Pane, stored: list[dict[str, Any]]) -> Reference:
    def key(one: Mapping[str, Any]) -> tuple[str, str]:
        return one["model_version"], one["segment"]

    return Reference(
        as_of=pane.as_of,
        predictions={key(one): one["predictions"] for one in stored},
        results={key(one): tuple(MetricResult(**row) for row in one["results"]) for one in stored},
    )

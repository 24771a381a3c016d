"""Find the cause of an alert: read both periods from the ledger and compare them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.carried import PastAudit
from pumonitor.errors import InputError
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import PaneCounts, StoredSeries
from pumonitor.monitor.ledger.results.mature_series import MatureSeries, mature_series
from pumonitor.monitor.rules.causes.by_audits import told_by_audits
from pumonitor.monitor.rules.causes.by_reviews import cause_by_reviews
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.named import Cause
from pumonitor.monitor.rules.causes.period import CountedTable, Period, score_edges
from pumonitor.monitor.rules.reference.what_changed import WhatChanged
from pumonitor.monitor.windows.collect import delay_edges
from pumonitor.monitor.windows.evaluation.baseline import baseline_series
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.ports import Window
from pumonitor.prior.assumed import LabelPurity
from pumonitor.results import Estimate, Evaluation
from pumonitor.reviews.periods import compare_periods
from pumonitor.tables import ScoreTable

_MOST_WINDOWS_NOW: Final = 60


def cause_of(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    *,
    model_version: str,
    segment: str,
    as_of: datetime,
    since: datetime,
    until: datetime,
    changed: WhatChanged | None = None,
    audits: Sequence[PastAudit] = (),
) -> Cause | None:
    """Find why windows that start in [since, until) differ from the reference, as known then.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : Monitor
    configuration : str
        Hash of the configuration.
    model_version, segment : str
    as_of : datetime
        Only results known by then are used.
    since, until : datetime
        Start of the first window of the change, and end of the alert's window.
    changed : WhatChanged, optional
        Posterior of the filter at the alert's window; None if the class prior is not followed.
    audits : sequence of PastAudit
        Those that the alert's window is read with.

    Returns
    -------
    Cause or None
        None if either period has no mature windows with confirmed positives.
    """
    known = _Known(ledger=ledger, monitor=monitor, configuration=configuration, as_of=as_of)
    now = known.last_windows(model_version=model_version, segment=segment, since=since, until=until)
    before = baseline_series(
        ledger,
        monitor,
        configuration,
        model_version=model_version,
        segment=segment,
        before=since,
        as_of=as_of,
    )
    reviews = HowReviewed.of(monitor)
    if reviews is not None:
        return _by_reviews(before, now, reviews, threshold=monitor.threshold)
    prior = _class_prior(before) if changed is None else changed.reference
    if not now or not before or prior is None:
        return None
    tables_before, tables_now = _tables(before), _tables(now)
    edges = score_edges(tables_before)
    periods = {
        "before": known.period(before, tables_before, edges),
        "now": known.period(now, tables_now, edges),
    }

    def auc_of(name: Literal["before", "now"], class_prior: float) -> Estimate | None:
        series = {"before": before, "now": now}[name]
        table = _table(series, periods[name], edges)
        found = _evaluated(
            table, class_prior, label_purity=monitor.label_purity, seed=_seed(series[-1])
        )
        return None if found is None else found["auc"]

    purity = monitor.label_purity
    if isinstance(purity, str):
        table = _table(before, periods["before"], edges)
        purity = _estimated_purity(table, prior, seed=_seed(before[-1]))
    return name_cause(
        periods["before"],
        periods["now"],
        class_prior=prior,
        label_purity=purity,
        auc_of=auc_of,
        changed=changed,
        audited=told_by_audits(audits, since=since),
    )


def _by_reviews(
    before: Sequence[StoredSeries],
    now: Sequence[StoredSeries],
    reviews: HowReviewed,
    *,
    threshold: float,
) -> Cause | None:
    """What reviews and complaints say of the change; None without tables of both periods."""
    earlier, later = (
        [table for table in (stored.table() for stored in period) if table is not None]
        for period in (before, now)
    )
    if not earlier or not later or reviews.ranked_by is not None:
        # Along a score that did not fill the queue nothing tells who was reviewed.
        return None
    changed = compare_periods(
        earlier,
        later,
        threshold=threshold,
        blocks=reviews.blocks,
        detection_rate=reviews.detection_rate,
        seed=_seed(now[-1]),
    )
    return cause_by_reviews(changed, windows=len(now))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the ledger has of a monitor's windows, as known at a time.

    Attributes
    ----------
    ledger : LedgerReader
    monitor : Monitor
    configuration : str
        Hash of the configuration.
    as_of : datetime
    """

    ledger: LedgerReader
    monitor: Monitor
    configuration: str
    as_of: datetime

    def last_windows(
        self, *, model_version: str, segment: str, since: datetime, until: datetime
    ) -> Sequence[StoredSeries]:
        """The last mature windows that start in [since, until)."""
        asked = MatureSeries(
            monitor=self.monitor.name,
            configuration=self.configuration,
            model_version=model_version,
            segment=segment,
            since=since,
            until=until,
            as_of=self.as_of,
        )
        with self.ledger.database.reading() as connection:
            return mature_series(connection, asked, most=_MOST_WINDOWS_NOW, which="last")

    def period(
        self,
        series: Sequence[StoredSeries],
        tables: Sequence[CountedTable],
        edges: NDArray[np.float64],
    ) -> Period:
        """The windows' counts on common cells, with their delays and their traffic."""
        return Period.counted(
            tables,
            edges=edges,
            arrivals=_arrivals(self._counts(series)),
            delay_edges=[edge.total_seconds() for edge in delay_edges(self.monitor)],
            traffic=self._traffic(series),
        )

    def _counts(self, series: Sequence[StoredSeries]) -> list[PaneCounts]:
        chosen = {one.window for one in series}
        counts = self.ledger.pane_counts_before(
            self.monitor.name,
            self.configuration,
            start=series[-1].window.end,
            as_of=self.as_of,
            since=series[0].window.start,
        )
        return [one for one in counts if one.window in chosen]

    def _traffic(self, series: Sequence[StoredSeries]) -> dict[str, list[CountedTable]]:
        """Tables of each value of the first segment column; empty for an alert on a segment."""
        segments = self.monitor.predictions.segments
        if not segments or series[0].segment:
            return {}
        windows: set[Window] = {one.window for one in series}
        versions = {one.model_version for one in series}
        parts: dict[str, list[CountedTable]] = {}
        names = self.ledger.segments(self.monitor.name, self.configuration, column=segments[0])
        for name in names:
            asked = MatureSeries(
                monitor=self.monitor.name,
                configuration=self.configuration,
                segment=name,
                since=series[0].window.start,
                until=series[-1].window.end,
                as_of=self.as_of,
            )
            with self.ledger.database.reading() as connection:
                found = mature_series(connection, asked)
            chosen = [
                one for one in found if one.window in windows and one.model_version in versions
            ]
            tables = _tables(chosen)
            if tables:
                parts[name] = tables
        return parts


def _estimated_purity(table: ScoreTable, class_prior: float, *, seed: int) -> float:
    """Label purity as a window's evaluation estimates it; 1 where it cannot be evaluated."""
    seen = _evaluated(table, class_prior, label_purity="auto", seed=seed)
    return 1.0 if seen is None else float(seen.settings["label_purity"])


def _table(
    series: Sequence[StoredSeries], period: Period, edges: NDArray[np.float64]
) -> ScoreTable:
    """Score table of a period: of a single window as evaluated, of several on common cells."""
    own = series[0].table() if len(series) == 1 else None
    if own is not None:
        return own
    labeled, rows = period.labeled.sum(axis=0), period.rows.sum(axis=0)
    lower = np.append(-np.inf, edges)
    least = edges[0] - 1.0 if len(edges) else 0.0
    return ScoreTable.from_counts(
        labeled,
        rows - labeled,
        lower=np.append(least, np.nextafter(lower[1:], np.inf)),
        upper=np.append(edges, (edges[-1] if len(edges) else 0.0) + 1.0),
    )


def _evaluated(
    table: ScoreTable, class_prior: float, *, label_purity: LabelPurity, seed: int
) -> Evaluation | None:
    """Evaluate a table as a window is evaluated; None if that is not possible."""
    try:
        return evaluate_table(
            table,
            threshold=float(table.lower[-1]),
            class_prior=class_prior,
            label_purity=label_purity,
            curves=False,
            rng=seed,
        )
    except (InputError, ValueError):
        # The class prior is not below the label purity, or all scores are equal.
        return None


def _seed(series: StoredSeries) -> int:
    return seed_of(series.window, model_version=series.model_version, segment=series.segment)


def _class_prior(series: Iterable[StoredSeries]) -> float | None:
    """Class prior of a period: the median over its windows; None if none has one."""
    priors = [class_prior_from_json(one.class_prior) for one in series]
    known = [one.value for one in priors if one is not None]
    return float(np.median(known)) if known else None


def _tables(series: Iterable[StoredSeries]) -> list[CountedTable]:
    tables = (one.table() for one in series)
    return [_counted(table) for table in tables if table is not None]


def _counted(table: ScoreTable) -> CountedTable:
    rows = table.labeled_mass + table.unlabeled + table.negative
    # With propensities a confirmed row is weighted, but it counts as one row here.
    total = float(table.labeled.sum())
    labeled = table.labeled * (table.n_labeled / total) if total > 0 else table.labeled
    return (table.lower + table.upper) / 2, labeled, rows


def _arrivals(counts: Iterable[PaneCounts]) -> NDArray[np.float64]:
    """Numbers of labels by delay, over all model versions and segments."""
    found = [one.counts["arrivals"] for one in counts]
    return np.sum(found, axis=0, dtype=np.float64) if found else np.zeros(0)

"""Inputs of the alert fold besides results: rules, reference, score range and causes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection

from pumonitor.monitor.alerts.alert_inputs import AlertInputs
from pumonitor.monitor.alerts.causes import cause_of
from pumonitor.monitor.alerts.incidents import CauseOf
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.alerts import PaneResults
from pumonitor.monitor.ledger.results.prior_states import newest_class_prior
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference, Series
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.reference.one_prior import stands_on
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.what_changed import WhatChanged
from pumonitor.monitor.windows.class_prior.assumed import findings_at
from pumonitor.monitor.windows.class_prior.by_audits import MonitorAudits
from pumonitor.monitor.windows.due.settled import rules_digest
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.evaluation.references import References
from pumonitor.prior.followed.in_words import prior_origin

_log = logging.getLogger("pumonitor")

Scores = tuple[float, float, float, float]


def alert_inputs(
    monitor: Monitor,
    configuration: str,
    *,
    ledger: LedgerReader,
    references: References,
    have_stopped: Callable[[], bool] = bool,
) -> AlertInputs:
    """Collect the inputs of a monitor's alert fold."""
    rules = alert_rules(monitor, configuration)
    return AlertInputs(
        name=monitor.name,
        configuration=configuration,
        rules=rules,
        known_reference=_known_reference(monitor, configuration, rules, references),
        scores_of=_scores_of(rules, ledger),
        cause_of=_cause_of(monitor, configuration, ledger),
        rules_digest=rules_digest(monitor, configuration),
        have_stopped=have_stopped,
    )


def _cause_of(monitor: Monitor, configuration: str, ledger: LedgerReader) -> CauseOf:
    audits = MonitorAudits(ledger)

    def named_cause(
        rule: AlertRule,
        series: Series,
        evidence: Evidence,
        as_of: datetime,
        connection: Connection,
    ) -> Mapping[str, Any]:
        if rule.metric.startswith("health:"):
            return {}
        window = evidence.window
        try:
            prior = class_prior_from_json(
                newest_class_prior(
                    connection,
                    monitor.name,
                    configuration,
                    start=window.start,
                    model_version=series[0],
                    segment=series[1],
                    as_of=as_of,
                )
            )
            cause = cause_of(
                ledger,
                monitor,
                configuration,
                model_version=series[0],
                segment=series[1],
                as_of=as_of,
                since=_began(monitor, rule, evidence),
                until=window.end,
                changed=WhatChanged.of(prior),
                audits=audits.used_by(monitor, configuration, segment=series[1]),
            )
            doubts = findings_at(ledger, monitor, configuration, window, series=series, as_of=as_of)
        except Exception:  # noqa: BLE001 (an alert without its cause is better than none)
            _log.exception("%s: the cause of %s cannot be found", monitor.name, rule.name)
            return {}
        found = {} if cause is None else cause.to_dict()
        if prior is not None and "over_time" in prior.diagnostics and stands_on(rule.metric):
            found["class_prior"] = prior_origin(prior.diagnostics["over_time"])
        return found | ({"doubt": " ".join(map(str, doubts))} if doubts else {})

    return named_cause


def _began(monitor: Monitor, rule: AlertRule, evidence: Evidence) -> datetime:
    """Begin of the change: as the detector says, else of the first of the bad windows."""
    earliest = evidence.window
    for _ in range(rule.windows - 1):
        earliest = monitor.windows.previous(earliest)
    return min(evidence.since or earliest.start, evidence.window.start)


def _known_reference(
    monitor: Monitor, configuration: str, rules: tuple[AlertRule, ...], references: References
) -> Callable[[datetime], KnownReference | None]:
    needed = any(rule.condition.needs_reference for rule in rules)
    period = baseline_period(monitor)

    def known_at(moment: datetime) -> KnownReference | None:
        if not needed or period.end is None or moment < period.end + monitor.maturity:
            return None
        # Read when first needed: panes are folded in order of their moment, so the reference is in
        # the ledger by then, but it may not be there now.
        found: dict[Series, ReferenceWindows] = {}

        def windows(series: Series) -> ReferenceWindows:
            if series not in found:
                reference = references.of(monitor, configuration, as_of=moment)
                found[series] = (
                    ReferenceWindows(windows=())
                    if reference is None
                    else reference.windows_for(*series)
                )
            return found[series]

        return KnownReference(as_of=period.end + monitor.maturity, end=period.end, windows=windows)

    return known_at


def _scores_of(
    rules: tuple[AlertRule, ...], ledger: LedgerReader
) -> Callable[[PaneResults], Scores | None]:
    needed = any(rule.condition.reads_scores for rule in rules)
    return (lambda found: _score_range(found, ledger)) if needed else (lambda found: None)


def _score_range(found: PaneResults, ledger: LedgerReader) -> Scores | None:
    """Minimum, 2.5% and 97.5% quantile and maximum of all scores; None without rows."""
    tables = [
        one.table()
        for one in ledger.series(found.pane.window_key, found.pane.number)
        if one.segment == ""
    ]
    parts = [
        (table.lower, table.upper, table.labeled + table.unlabeled + table.negative)
        for table in tables
        if table is not None
    ]
    if not parts:
        return None
    lower, upper, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = rows > 0
    lower, upper, rows = lower[kept], upper[kept], rows[kept]
    if len(rows) == 0:
        return None
    order = np.argsort(lower, kind="stable")
    reached = np.cumsum(rows[order]) / rows.sum()
    # The inner ends of cells, so that a quantile is never further out than the score.
    low = upper[order][np.searchsorted(reached, 0.025)]
    high = lower[order][np.searchsorted(reached, 0.975)]
    return float(lower.min()), float(low), float(high), float(upper.max())

"""Messages to destinations about an evaluated pane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from pumonitor.monitor.config.sections.destinations import SegmentMetrics
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.prior_of_period import PriorOfPeriod
from pumonitor.monitor.config.sections.rules import MetricRule
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.delivery.mlflow.sink import DESTINATION, FILES_DESTINATION, lane
from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage
from pumonitor.monitor.ledger.records.claims import Claim, ClaimedPane
from pumonitor.monitor.ledger.records.results import (
    EvaluatedSeries,
    MetricResult,
    NewMessage,
    PublishedResult,
)
from pumonitor.ports import Pane
from pumonitor.text import given_text, moment_text

_MEASURED: Final = "estimated from scores and confirmations ({})"
_A_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)

_JUDGED: Final = ("f1_change", "auc_change", "aul_change_ranking")


def messages_of(
    monitor: Monitor,
    claim: Claim,
    claimed: ClaimedPane,
    series: Sequence[EvaluatedSeries],
    *,
    segment_metrics: SegmentMetrics,
) -> list[NewMessage]:
    """Messages with the metrics of every series, and for mature panes with the report."""
    messages: list[NewMessage] = []
    for one in _logged_series(monitor, claimed.pane, series, segment_metrics):
        message = message_of(monitor, claim, claimed, one)
        key = ":".join(
            [
                claim.window_key,
                str(claimed.pane.number),
                str(claimed.revision),
                one.model_version,
                one.segment,
            ]
        )
        to = lane(monitor.name, one.model_version)
        messages.append(
            NewMessage(destination=DESTINATION, lane=to, key=key, payload=message.to_payload())
        )
        if one.segment == "" and _has_report(claimed):
            asked = {
                "window_key": claim.window_key,
                "pane": claimed.pane.number,
                "revision": claimed.revision,
                "model_version": one.model_version,
                "segment": one.segment,
            }
            payload = {**message.to_payload(), "metrics": {}, "report": asked}
            messages.append(
                NewMessage(destination=FILES_DESTINATION, lane=to, key=key, payload=payload)
            )
    return messages


def _logged_series(
    monitor: Monitor,
    pane: Pane,
    series: Sequence[EvaluatedSeries],
    segment_metrics: SegmentMetrics,
) -> list[EvaluatedSeries]:
    """The series that MLflow gets of a pane: all metrics of all rows, the chosen of segments.

    MLflow takes 1,000 points in a request. With all metrics of all panes the segments make most of
    the requests.
    """
    if segment_metrics == "all":
        return list(series)
    by_rules = {rule.metric for rule in monitor.rules if isinstance(rule, MetricRule)}
    chosen = {*segment_metrics, *by_rules} if _shows_segments(pane) else set[str]()
    return [
        one
        if one.segment == ""
        else replace(one, results=tuple(row for row in one.results if row.metric in chosen))
        for one in series
        if one.segment == "" or chosen
    ]


def _shows_segments(pane: Pane) -> bool:
    """Whether it is the first look at a window, or the one at which it is mature."""
    return pane.number == 0 or pane.state == "mature"


def _has_report(claimed: ClaimedPane) -> bool:
    """Whether a pane has a report: a mature one, or a final one with more labels."""
    late = (claimed.counts or {}).get("late_labels", 0)
    return claimed.pane.state == "mature" or (claimed.pane.state == "final" and late > 0)


def message_of(
    monitor: Monitor, claim: Claim, claimed: ClaimedPane, series: EvaluatedSeries
) -> WindowMessage:
    """What MLflow is told of one series of an evaluated pane."""
    pane = claimed.pane
    return WindowMessage(
        monitor=monitor.name,
        model_version=series.model_version,
        segment=series.segment,
        window=pane.window,
        state=pane.state,
        revision=claimed.revision,
        as_of=pane.as_of,
        metrics=shown_metrics(series.results),
        configuration=claim.configuration,
        age=shown_duration(pane.as_of - pane.window.end) or "0d",
        parameters=run_parameters(monitor, claim.configuration, model_version=series.model_version),
        description=run_description(monitor, model_version=series.model_version),
        verdict=None if pane.state == "provisional" else verdict_of(series.results),
        model=monitor.model,
        dataset=None
        if claimed.digest is None
        else (monitor.predictions.source.name, claimed.digest[:32]),
    )


def shown_metrics(results: Iterable[MetricResult]) -> dict[str, Any]:
    """Results as a message holds them; impossible ones have no interval.

    Examples
    --------
    >>> rows = [MetricResult(metric="f1_max", value=0.9, low=0.8, high=1.0, impossible=True)]
    >>> shown_metrics(rows)
    {'f1_max': {'value': 0.9, 'low': None, 'high': None, 'infeasible': True}}
    """
    return {
        row.metric: None
        if row.value is None
        else {
            "value": row.value,
            "low": None if row.impossible else row.low,
            "high": None if row.impossible else row.high,
            "infeasible": row.infeasible or row.impossible,
        }
        for row in results
    }


def verdict_of(results: Iterable[MetricResult | PublishedResult]) -> str:
    """Comparison of a mature window with the reference, in one word.

    Returns
    -------
    str
        "degraded" where an interval of F1's, AUC's or the ranking's change lies below 0, "level"
        where none does, "unknown" if no comparison is possible; impossible numbers are not
        compared.

    Examples
    --------
    >>> verdict_of([MetricResult(metric="f1_change", value=-0.2, low=-0.3, high=-0.1)])
    'degraded'
    >>> verdict_of([MetricResult(metric="f1_change", value=-0.02, low=-0.1, high=0.06)])
    'level'
    """
    upper = [
        row.high
        for row in results
        if row.metric in _JUDGED
        and row.value is not None
        and row.high is not None
        and row.infeasible_reason is None
    ]
    if not upper:
        return "unknown"
    return "degraded" if min(upper) < 0 else "level"


def run_parameters(monitor: Monitor, configuration: str, *, model_version: str) -> dict[str, str]:
    """Parameters of the run: the configuration of its results; each configuration has its own run.

    Parameters
    ----------
    monitor : Monitor
    configuration : str
        Its hash.
    model_version : str
    """
    parameters = {
        "monitor": monitor.name,
        "model_version": model_version or "(none)",
        "configuration": configuration,
        "threshold": f"{monitor.threshold:g}",
        "class_prior": _class_prior(monitor.class_prior),
        "label_purity": str(monitor.label_purity),
        "scenario": monitor.scenario,
        "score_scale": monitor.score_scale,
        "window": monitor.window,
        "zone": monitor.zone,
        "label_maturity": shown_duration(monitor.maturity),
        "looks_at": ", ".join(map(shown_duration, monitor.pane_schedule.ages)),
        "predictions": monitor.predictions.source.name,
        "positives": monitor.positives.source.name,
    }
    if monitor.reference is not None:
        start, end = monitor.reference.span(monitor.zone)
        parameters["reference"] = f"{start.isoformat()} to {end.isoformat()}"
    return parameters


def run_description(monitor: Monitor, *, model_version: str) -> str:
    """Description of the run in Markdown: its steps and its metrics."""
    version = f", version {model_version}" if model_version else ""
    schedule = monitor.pane_schedule
    early = schedule.ages[: schedule.mature]
    window = monitor.windows.containing(_A_DAY)
    lines = [
        f"**{monitor.name}{version}**, followed by pumonitor from scores and confirmed positives.",
        "",
        f"**A step is a window** of {monitor.window} ({monitor.zone}): step {window.index} is the "
        f"one that starts at {moment_text(window.start)}, the next step the one after it. On "
        "the axis of time a point stands at the end of its window.",
        "",
        f"- `pu/`: each window once, when its labels are mature ({_ages(monitor.maturity)} after "
        "its end). Read these.",
    ]
    lines += [
        f"- `pu_after_{shown_duration(age)}/`: the same windows as they were known "
        f"{_ages(age)} after their end, while confirmations were still coming in; `_expected` "
        "is what each number was expected to become."
        for age in early
    ]
    if len(schedule.ages) > schedule.mature + 1:
        final = schedule.ages[-1]
        lines.append(f"- `pu_final/`: with labels that came up to {_ages(final)} after the end.")
    if monitor.predictions.segments:
        lines.append(
            "- `pu/<column>.<value>/`: a segment. What is not here of it is in `pumonitor results`."
        )
    lines += [
        "",
        "`_low` and `_high` are the ends of the 95% interval. `_undefined` = 1: there is no "
        "value, `_infeasible` = 1: it came out outside its possible range, or is computed "
        "with a class prior that makes another number impossible; the class prior or the "
        "confirmations are in doubt. `_change` is the difference from the reference period.",
        "",
        "A point that was corrected later has a second one at its step. Reports are below "
        "`pumonitor/windows/`, by the start of the window. The run is finished when another model "
        "version or another configuration has taken over; what it was made with is in its "
        "parameters.",
    ]
    return "\n".join(lines)


def _class_prior(given: Any) -> str:
    if isinstance(given, str):
        return _MEASURED.format(given)
    if isinstance(given, PriorOfPeriod):
        return f"followed from what was given: {given.said()}"
    shown = ", ".join(map(given_text, [given] if isinstance(given, int | float) else given))
    return f"assumed: {shown}"


def _ages(age: Any) -> str:
    return shown_duration(age) or "0d"

"""How many confirmed positives a monitor needs, from how its windows have varied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rule_values import Change
from pumonitor.monitor.inspection.seen_by_length import LengthSeen, said_of_lengths, seen_by_length
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.ledger.results.prior_states import SeriesAsked, newest_prior_state
from pumonitor.monitor.rules.alerts.prior_shift import PriorShift, least_odds
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.shift import Shift
from pumonitor.monitor.rules.detectors import DETECTORS, scale_of
from pumonitor.monitor.rules.detectors.labels_needed import Noise, SeenAfter, labels_needed
from pumonitor.monitor.windows.evaluation.baseline import baseline_period, version_to_compare_with
from pumonitor.ports import Window
from pumonitor.prior.followed.followed_prior import FollowedPrior
from pumonitor.prior.followed.sight import MOST_WINDOWS, windows_until_seen
from pumonitor.prior.over_time import Level
from pumonitor.text import number_text

_FEWEST: Final = 5
_DAYS_PER_YEAR: Final = 365.25
_REACH: Final = 1.96
_AN_INSTANT: Final = timedelta(microseconds=1)
_A_TENTH: Final = Change(amount=0.1, relative=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """Number of confirmed positives needed to detect a drop within some days.

    Attributes
    ----------
    monitor, metric : str
    drop, within_days : float
        The drop in the metric's unit.
    windows : int
        Number of windows without a change, from which the noise is estimated and the detector
        learns the usual value.
    noise : Noise
    labels_now : int
        Confirmed positives of a usual window.
    labels_needed : int or None
        Number per window; None if none of the numbers tried is enough.
    maturity_days : float
        Age at which windows are evaluated: rules use mature windows.
    window_days : float
    seen_after : tuple of SeenAfter
        In windows, for each number of confirmed positives.
    by_length : tuple of LengthSeen
        In days, with as many confirmed positives as now, by the length of windows.
    """

    monitor: str
    metric: str
    drop: float
    within_days: float
    windows: int
    noise: Noise
    labels_now: int
    labels_needed: int | None
    maturity_days: float
    window_days: float
    seen_after: tuple[SeenAfter, ...]
    by_length: tuple[LengthSeen, ...]


def plan_labels(
    ledger: LedgerReader,
    monitor: Monitor,
    *,
    metric: str,
    drop: float | Change,
    within_days: float,
    false_alarms_per_year: float = 1.0,
) -> LabelPlan:
    """Estimate how many confirmed positives a window needs to show a drop within some days.

    Days count from the beginning of the change; the maturity of labels is added to them. A relative
    drop is a share of the mean over windows without a change.

    Raises
    ------
    InputError
        If fewer than five quiet windows have an interval of the metric.
    """
    rows = _enough_quiet(ledger, monitor, metric)
    values, noise, labels_now = _varied(rows)
    amount = _amount(drop, values)
    days = (rows[-1].window_end - rows[-1].window_start).total_seconds() / 86_400
    needed, tried = labels_needed(
        drop=amount,
        noise=noise,
        within=max(within_days / days, 1.0),
        false_alarms_per_year=false_alarms_per_year,
        windows_per_year=_DAYS_PER_YEAR / days,
        reference_windows=len(rows),
    )
    return LabelPlan(
        monitor=monitor.name,
        metric=metric,
        drop=amount,
        within_days=within_days,
        windows=len(rows),
        noise=noise,
        labels_now=labels_now,
        labels_needed=needed,
        maturity_days=monitor.maturity.total_seconds() / 86_400,
        window_days=days,
        seen_after=tuple(tried),
        by_length=seen_by_length(
            values,
            noise,
            labels=labels_now,
            drop=amount,
            window=monitor.window,
            window_days=days,
            false_alarms_per_year=false_alarms_per_year,
            reference_windows=len(rows),
        ),
    )


def rule_sights(ledger: LedgerReader, monitor: Monitor) -> dict[str, str]:
    """How soon `shift` rules detect a fall by 10%, by rule key, estimated from quiet windows.

    Left out are rules for which it cannot be estimated: on single segments, on metrics tested on a
    logit or log scale, with the betting detector, and with fewer than five quiet windows.
    """
    rules = alert_rules(monitor, configuration_hash(monitor))
    said = {rule.key: _sight(ledger, monitor, rule) for rule in rules}
    return {key: sight for key, sight in said.items() if sight}


def _sight(ledger: LedgerReader, monitor: Monitor, rule: AlertRule) -> str:
    shift = rule.condition
    if isinstance(shift, PriorShift):
        return "" if rule.per or rule.segment else _prior_sight(ledger, monitor, shift)
    if not isinstance(shift, Shift) or rule.per or shift.direction == "up":
        return ""
    if scale_of(rule.metric) != "plain" or DETECTORS[shift.detector].bets:
        return ""
    rows = _quiet(ledger, monitor, rule.metric)
    if len(rows) < _FEWEST:
        return ""
    values, noise, labels = _varied(rows)
    fall = _amount(_A_TENTH, values)
    if fall <= 0 or noise.per_label <= 0:
        return ""
    days = (rows[-1].window_end - rows[-1].window_start).total_seconds() / 86_400
    lengths = seen_by_length(
        values,
        noise,
        labels=labels,
        drop=fall,
        window=monitor.window,
        window_days=days,
        false_alarms_per_year=shift.false_alarms_per_year,
        reference_windows=shift.reference_windows,
    )
    spread = float(np.std(values, ddof=1))
    return (
        f"{rule.metric} has, over {len(rows)} windows without a change, a standard deviation of "
        f"{number_text(spread)}; a lasting fall by {number_text(fall)} (10%) is detected: "
        f"{said_of_lengths(lengths)}"
    )


def _prior_sight(ledger: LedgerReader, monitor: Monitor, shift: PriorShift) -> str:
    """How soon a followed class prior shows a change, simulated on windows like the reference's."""
    newest = {
        version: start
        for (version, segment), start in ledger.newest_mature(monitor.name).items()
        if not segment
    }
    if not newest:
        return ""
    version = max(newest, key=lambda one: (newest[one], one))
    asked = SeriesAsked(
        monitor=monitor.name,
        configuration=configuration_hash(monitor),
        segment="",
        mature=monitor.pane_schedule.mature,
        as_of=newest[version],
    )
    with ledger.database.reading() as connection:
        kept = newest_prior_state(
            connection, asked, model_version=version, before=newest[version] + _AN_INSTANT
        )
    known = None if kept is None else FollowedPrior.from_bytes(kept.state)
    if known is None or known.summariser is None:
        return ""
    level = Level.given(*(float(known.told[end]) for end in ("value", "low", "high")))
    odds = least_odds(shift.false_alarms_per_year, shift.windows_per_year)
    founded_on = known.filter.parts[0].scales.windows
    seen = []
    for direction, ratio, change in (("up", 2.0, "twice"), ("down", 0.5, "half")):
        if shift.direction in (direction, "any"):
            windows = windows_until_seen(
                known.summariser, level, ratio, odds=odds, windows=founded_on
            )
            after = f"not within {MOST_WINDOWS} windows" if windows is None else f"in {windows}"
            seen.append(f"{change} as many {after}")
    confirmed = known.summariser.reference.confirmed / founded_on
    return (
        f"with {number_text(confirmed)} confirmed positives per window, the number of windows "
        f"until a change is detected: {', '.join(seen)}"
    )


def _varied(rows: Sequence[PublishedResult]) -> tuple[FloatArray, Noise, int]:
    """Values of quiet windows, how they varied, and the usual number of confirmed positives."""
    values, low, high, labeled = (
        np.array(column, dtype=np.float64)
        for column in zip(
            *((row.value, row.low, row.high, row.n_labeled) for row in rows), strict=True
        )
    )
    noise = Noise.of_windows(values, (high - low) / (2 * _REACH), labeled)
    return values, noise, round(float(np.median(labeled)))


def _amount(drop: float | Change, values: FloatArray) -> float:
    """The drop in the metric's unit; a share is of its usual value."""
    if not isinstance(drop, Change):
        return drop
    return drop.amount * (abs(float(np.median(values))) if drop.relative else 1.0)


def _quiet(ledger: LedgerReader, monitor: Monitor, metric: str) -> list[PublishedResult]:
    """Quiet windows of one model version, the newest one if it has any."""
    period = baseline_period(monitor)
    by_version: dict[str, list[PublishedResult]] = defaultdict(list)
    for row in ledger.results(
        monitor.name,
        since=period.start,
        until=period.end,
        segment="",
        metrics=[metric],
        states=["mature", "final"],
    ):
        if row.value is not None and row.low is not None and row.high is not None:
            by_version[row.model_version] += [row] if row.n_labeled else []
    enough = {one: len(rows) for one, rows in by_version.items() if len(rows) >= _FEWEST}
    newest = max(ledger.newest_mature(monitor.name).items(), key=_when, default=None)
    version = version_to_compare_with("" if newest is None else newest[0][0], enough)
    if version is None:
        return max(by_version.values(), key=len, default=[])
    windows = [
        Window(start=row.window_start, end=row.window_end, index=0) for row in by_version[version]
    ]
    chosen = {one.start for one in period.chosen(windows)}
    return [row for row in by_version[version] if row.window_start in chosen]


def _enough_quiet(ledger: LedgerReader, monitor: Monitor, metric: str) -> list[PublishedResult]:
    """Quiet windows, or the reason why a plan cannot be read off them."""
    if metric == "class_prior" and monitor.is_prior_followed:
        msg = (
            f"the class prior of {monitor.name} is followed over windows, and its posterior "
            "shows a lasting change: the rule {metric: class_prior, shift: any} fires on "
            "that, and pumonitor check says how soon twice or half as many positives are "
            "detected"
        )
        raise InputError(msg)
    rows = _quiet(ledger, monitor, metric)
    if len(rows) < _FEWEST:
        which, remedy = "mature windows", "pumonitor backfill evaluates more"
        if monitor.reference is not None:
            which = "windows of the reference"
            remedy = "give the monitor a longer reference, or shorter windows"
        msg = (
            f"{monitor.name} has {len(rows)} {which} with an interval of {metric}, and {_FEWEST} "
            f"are needed to estimate how much it varies; {remedy}"
        )
        raise InputError(msg)
    return rows


def _when(series: tuple[tuple[str, str], datetime]) -> tuple[datetime, str]:
    (version, _), start = series
    return start, version

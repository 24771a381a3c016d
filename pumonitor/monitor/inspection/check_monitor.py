"""Read one monitor's tables and report their rows, the windows that are due, and warnings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pumonitor.errors import InputError, did_you_mean
from pumonitor.monitor.alerts.false_alarms import QuietAlarms
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.text.problems import problem_sentence
from pumonitor.monitor.inspection.auxiliary_check import check_entity, feature_warnings
from pumonitor.monitor.inspection.label_outlook import label_notes, label_warnings
from pumonitor.monitor.inspection.outcomes import Outcome, tried
from pumonitor.monitor.inspection.prior_outlook import (
    impossible_prior,
    prior_notes,
    prior_outlook,
    prior_warnings,
)
from pumonitor.monitor.inspection.reading_cost import (
    ExpectedCost,
    PastReadings,
    expected_cost,
)
from pumonitor.monitor.inspection.review_outlook import review_outlook
from pumonitor.monitor.inspection.rule_outlook import (
    RuleOutlook,
    rule_outlooks,
    short_to_learn,
)
from pumonitor.monitor.onboarding.outcome_words import is_named_like_an_outcome
from pumonitor.monitor.rules.reference.reference_windows import FEWEST_WINDOWS
from pumonitor.monitor.rules.windows.input_findings import unmatched_sentence
from pumonitor.monitor.windows.due.due_windows import end_of_windows, partial_beginning, partial_end
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.ports import Pane, PredictionSource, SourceDescription, Window
from pumonitor.prior.followed.worth_of_audits import Worth
from pumonitor.text import day_text, moment_text, percent_text, span_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Windows and panes that are due and not evaluated yet.

    Attributes
    ----------
    windows, panes, mature : int
        Numbers of windows, of panes, and of windows with a mature pane.
    evaluated : int
        Panes that were due by now and are evaluated.
    first, last : datetime or None
        Start of the first and end of the last window.
    following : Pane or None
        The pane that is due next.
    """

    windows: int
    panes: int
    mature: int
    evaluated: int = 0
    first: datetime | None
    last: datetime | None
    following: Pane | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorCheck:
    """What `pumonitor check` found about one monitor.

    Attributes
    ----------
    name : str
    outcome : Outcome
    description : SourceDescription or None
        None where its tables could not be read.
    due : Due or None
    warnings : tuple of str
    rules : tuple of RuleOutlook
    notes : tuple of str
        Notes that need no action.
    audits : tuple of Worth
        Interval of an estimated class prior with audits of several sizes, and without one.
    cost : ExpectedCost or None
        What its windows read; None where its tables could not be opened, or hold no rows.
    """

    name: str
    outcome: Outcome
    description: SourceDescription | None = None
    due: Due | None = None
    warnings: tuple[str, ...] = field(default=())
    rules: tuple[RuleOutlook, ...] = ()
    notes: tuple[str, ...] = ()
    audits: tuple[Worth, ...] = ()
    cost: ExpectedCost | None = None


def check_monitor(
    monitor: Monitor,
    *,
    now: datetime,
    mask: Callable[[str], str],
    open_source: Callable[[Monitor], PredictionSource],
    other: str = "",
    evaluated: Set[tuple[datetime, int]] = frozenset(),
    doubts: Iterable[str] = (),
    quiet: Mapping[str, QuietAlarms] | None = None,
    sights: Mapping[str, str] | None = None,
    past: PastReadings | None = None,
    timer: Callable[[], float] = time.monotonic,
) -> MonitorCheck:
    """Read a monitor's tables and report what the next run would do.

    Parameters
    ----------
    monitor : Monitor
    now : datetime
    mask : callable
        Hides secrets in a message.
    open_source : callable
        Opens the monitor's tables.
    other : str
        Note on windows evaluated under another configuration.
    evaluated : set of (datetime, int)
    doubts : iterable of str
    quiet : mapping of str to QuietAlarms, optional
    sights : mapping of str to str, optional
    past : PastReadings, optional
        As of `InLedger`.
    timer : callable
        Seconds on a clock that is never set.
    """
    found: list[SourceDescription] = []
    audits: list[Worth] = []
    impossible: list[str] = []
    of_reviews: list[str] = []
    unreadable: list[str] = []
    costs: list[ExpectedCost] = []

    def describe() -> str:
        if monitor.missing:
            raise InputError("; ".join(problem_sentence(one, one.line) for one in monitor.missing))
        source = open_source(monitor)
        try:
            began = timer()
            try:
                found.append(source.describe())
            finally:
                # Of tables that cannot be looked at in full it is told as well.
                cost = expected_cost(
                    monitor,
                    source,
                    last=found[0].last if found else None,
                    now=now,
                    past=past,
                    seconds_of_all=timer() - began if found else None,
                    mask=mask,
                )
                costs.extend(() if cost is None else (cost,))
            audits.extend(prior_outlook(monitor, source, found[0], now=now))
            impossible.extend(impossible_prior(monitor, source, now=now))
            warned_of_reviews, told = review_outlook(monitor, source, found[0], now=now)
            impossible.extend(warned_of_reviews)
            of_reviews.extend(told)
            unreadable.extend(feature_warnings(monitor, source, found[0]))
            check_entity(monitor, source, found[0])
        finally:
            source.close()
        if not found[0].reviews:
            return f"{found[0].predictions:,} predictions, {found[0].labels:,} labels"
        verdicts = sum(
            queue.positive + queue.negative + queue.undecided for queue in found[0].reviews
        )
        return (
            f"{found[0].predictions:,} predictions, {found[0].complaints:,} complaints, "
            f"{verdicts:,} verdicts"
        )

    outcome = tried(f"monitors.{monitor.name}", describe, mask)
    said = (*((other,) if other else ()), *doubts)
    cost = costs[0] if costs else None
    beyond = (cost.warning,) if cost is not None and cost.warning else ()
    warned = (
        *label_warnings(monitor),
        *prior_warnings(monitor, found[0] if found else None),
        *impossible,
        *beyond,
    )
    learned = short_to_learn(monitor)
    notes = (
        *prior_notes(monitor),
        *of_reviews,
        *label_notes(monitor),
        *([learned] if learned else []),
    )
    if not found:
        return MonitorCheck(
            name=monitor.name,
            outcome=outcome,
            warnings=(*said, *warned),
            notes=notes,
            cost=cost,
            rules=tuple(rule_outlooks(monitor, first=None, quiet=quiet, sights=sights)),
        )
    description = found[0]
    return MonitorCheck(
        name=monitor.name,
        outcome=outcome,
        description=description,
        due=windows_due(monitor, description, now=now, evaluated=evaluated),
        warnings=(
            *said,
            *description.doubts,
            *warned,
            *unreadable,
            *_warnings(monitor, description, now=now),
        ),
        notes=(*notes, *description.limits),
        cost=cost,
        audits=tuple(audits),
        rules=tuple(rule_outlooks(monitor, first=description.first, quiet=quiet, sights=sights)),
    )


def windows_due(
    monitor: Monitor,
    description: SourceDescription,
    *,
    now: datetime,
    evaluated: Set[tuple[datetime, int]] = frozenset(),
) -> Due:
    """Windows and panes that a run would evaluate now, without those `evaluated` before.

    These are all windows since the first prediction, and as many after the last one as rules need:
    a window without predictions is a result too.
    """
    nothing = Due(windows=0, panes=0, mature=0, first=None, last=None, following=None)
    if description.first is None or description.last is None or description.first > now:
        return nothing
    end = min(now + timedelta.resolution, end_of_windows(monitor, description.last))
    schedule = monitor.pane_schedule
    panes = mature = done = 0
    due: list[Window] = []
    following: list[Pane] = []
    # The window that this moment is in is not due, but may be the next.
    for window in monitor.windows.between(description.first, end):
        ready = schedule.due(window, now)
        left = [pane for pane in ready if (window.start, pane.number) not in evaluated]
        if left:
            due.append(window)
        panes += len(left)
        done += len(ready) - len(left)
        mature += bool(left) and len(ready) > schedule.mature
        following += schedule.panes(window)[len(ready) : len(ready) + 1]
    return Due(
        windows=len(due),
        panes=panes,
        mature=mature,
        evaluated=done,
        first=due[0].start if due else None,
        last=due[-1].end if due else None,
        following=min(following, key=lambda pane: pane.as_of, default=None),
    )


def _warnings(monitor: Monitor, description: SourceDescription, *, now: datetime) -> Iterator[str]:
    first, last = description.first, description.last
    if first is None or last is None:
        yield "there are no predictions yet"
        return
    if last > now:
        yield (f"there are predictions from the future, up to {moment_text(last)}: check time_zone")
    window = monitor.windows.containing(last)
    if now - last > 2 * (window.end - window.start):
        yield (
            f"the last prediction is from {moment_text(last)}: no window after "
            f"{moment_text(end_of_windows(monitor, last))} is due until new ones arrive"
        )
    parts = (partial_beginning(monitor, first), partial_end(monitor, last, now=now))
    yield from filter(None, parts)
    yield from _label_warnings(monitor, description)
    yield from _review_warnings(description)
    yield from _challenger_warnings(monitor, description)
    if monitor.positives.known_at is None:
        yield (
            "without known_at every label counts as known from the start: results of past windows "
            "include labels that were not known then"
        )
    if monitor.reference is not None:
        start, end = monitor.reference.span(monitor.zone)
        if end <= first or start > last:
            yield (
                f"the reference has no predictions: the predictions are from {day_text(first)} to "
                f"{day_text(last)}"
            )
        elif end + monitor.maturity > now:
            yield "the reference is not mature yet: windows are not compared with it until it is"
        yield from _short_reference(baseline_period(monitor).windows)
    slow = description.delay_quantiles.get(0.9)
    if slow is not None and timedelta(seconds=slow) > monitor.maturity:
        yield (
            "one confirmation in ten arrives after more than "
            f"{span_text(timedelta(seconds=slow))}, so a maturity of "
            f"{monitor.maturity.total_seconds() / 86400:g} days leaves it out: make maturity longer"
        )


def _unread_outcomes(monitor: Monitor, description: SourceDescription) -> Iterator[str]:
    """Columns that may say that some rows are no positives, where every row counts as one."""
    positives = monitor.positives
    if positives.label_column is not None:
        return
    read = {positives.id, positives.known_at, positives.propensity}
    for column in description.label_columns:
        if column not in read and is_named_like_an_outcome(column):
            yield (
                f"every row of {positives.source.name} counts as a confirmed positive, and its "
                f"column {column!r} looks like an outcome: if not all are positives, say what its "
                f"words mean, label: {{column: {column}, positive: [WORD], negative: [WORD], "
                "undecided: [WORD]}"
            )


def _challenger_warnings(monitor: Monitor, description: SourceDescription) -> Iterator[str]:
    """Columns that challengers need and predictions do not have."""
    settings = monitor.challengers
    if settings is None:
        return
    features = settings.features
    needed = {column: f"challenger {name}" for name, column in settings.columns.items()}
    if settings.entity is not None:
        needed[settings.entity] = "challengers: entity"
    for column in features.columns if features is not None and features.source is None else ():
        needed[column] = "challengers: features"
    for column, what in needed.items():
        if column not in description.columns:
            hint = did_you_mean(column, description.columns)
            yield f"{what} names the column {column!r}, which the predictions do not have{hint}"


def _review_warnings(description: SourceDescription) -> Iterator[str]:
    for queue in description.reviews:
        if queue.positive + queue.negative == 0:
            yield f"{queue.name} has no verdict 1 or 0: results rest on complaints alone"
        elif queue.negative == 0:
            yield (
                f"{queue.name} has no verdict 0: if cleared cases were left out, precision will be "
                "far too high; give their verdicts as well"
            )
        if queue.rules:
            listed = ", ".join(queue.rules[:5]) + (", ..." if len(queue.rules) > 5 else "")
            yield (
                f"{queue.name}: rows chosen by {listed} are read as chosen by rules, which tell "
                "nothing of other rows: say what each word means, chosen_by: {column: NAME, score: "
                "[WORD], random: [WORD], complaint: [WORD], rule: [WORD]}"
            )


def _short_reference(windows: int) -> Iterator[str]:
    if windows < FEWEST_WINDOWS:
        holds = {0: "no whole window", 1: "one window"}.get(windows, f"{windows} windows")
        yield (
            f"the reference has {holds}, and {FEWEST_WINDOWS} are needed to estimate how much "
            "windows vary when nothing changes: windows are not compared with it; make the "
            "reference longer, or the windows shorter"
        )


def _label_warnings(monitor: Monitor, description: SourceDescription) -> Iterator[str]:
    name = monitor.positives.source.name
    if description.labels == 0:
        yield (
            f"{name} has no confirmations: every estimate is undefined until it has some; check "
            "that it is the right table"
        )
        return
    yield from _unread_outcomes(monitor, description)
    # Delays are those of labels that confirm a prediction; without known_at there are none.
    median = description.delay_quantiles.get(0.5)
    if description.refused:
        share = description.refused / description.confirmed
        yield (
            f"{description.refused:,} of {description.confirmed:,} confirmed predictions "
            f"({percent_text(share)}) were confirmed more than a day before they were made: such "
            "labels are not counted; check known_at and time, their time_zone and time_unit, and "
            "that each id belongs to one prediction, not to a case that is scored repeatedly"
        )
    if description.unmatched is not None:
        tables = f"{name} and reviews" if description.reviews else name
        yield f"{tables}: {unmatched_sentence(description.unmatched)}"
    elif median is None and not description.refused and monitor.positives.known_at is not None:
        yield (
            f"none of the {description.labels:,} labels of {name} matches a prediction: check id "
            f"of both tables ({monitor.predictions.id} and {monitor.positives.id}; spaces and "
            "leading zeros count)"
        )
    if median is not None and median < 0:
        yield (
            f"{description.early:,} of {description.confirmed:,} confirmed predictions were "
            "confirmed before they were made, by a day at most; they are counted. Check whether "
            "known_at is a date without a time of day, and whether the clocks of the two tables "
            "differ"
        )

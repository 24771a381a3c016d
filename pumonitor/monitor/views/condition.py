"""The condition of a monitor: a word, a sentence, since when, and what to do, for every face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple, get_args

from pydantic import Field

from pumonitor.monitor.ledger.records.windows import MonitorWork
from pumonitor.monitor.rules.alerts.alert import Severity
from pumonitor.monitor.rules.causes.next_steps import Step
from pumonitor.monitor.views.alerts import SEVERITIES, AlertView
from pumonitor.plain_text import one_line
from pumonitor.ports import State
from pumonitor.views.model import Moment, Number, View

Condition = Literal[
    "source unreachable",
    "late",
    "failing",
    "no data",
    "firing",
    "acknowledged",
    "silenced",
    "backfilling",
    "no results yet",
    "fine",
]
"""What is to be known of a monitor first; where several hold, the earliest of these.

- "source unreachable": the last round could not read its tables.
- "late": windows are due, or have ended, and nobody has worked on them for a day.
- "failing": windows cannot be counted.
- "no data": there are no new predictions.
- "firing": an alert fires that nobody has acknowledged or silenced.
- "acknowledged", "silenced": all alerts that fire are, or are mere information.
- "backfilling": windows are being worked on that were due more than a day ago.
- "no results yet", "fine".
"""

LATE: Final = timedelta(days=1)
"""What is later than this has something wrong with it."""

_IN_ORDER: Final = get_args(Condition)
_NEEDY: Final = frozenset({"source unreachable", "late", "failing", "no data"})
_OF_ALERTS: Final = ("firing", "acknowledged", "silenced")
_BADGES: Final[Mapping[Condition, str]] = {
    "source unreachable": "failing",
    "late": "failing",
    "failing": "failing",
    "no data": "warning",
    "backfilling": "unknown",
    "no results yet": "unknown",
    "fine": "ok",
}


class MonitorCondition(View):
    """How a monitor is."""

    name: str
    condition: Condition = Field(
        description="What is to be known of it first. " + ", ".join(get_args(Condition)) + "."
    )
    since: Moment | None = Field(
        description="Since when: of the tables' failure, the oldest window that is due, the last "
        "prediction, the first window of what fires; null where it has no beginning."
    )
    sentence: str = Field(description="What the condition is about; empty where all is fine.")
    remedy: str = Field(description="What to do about it; empty where nothing is to be done.")
    needs_somebody: bool = Field(description="Whether somebody should look at it.")
    firing: int = Field(description="Alerts that fire, acknowledged and silenced ones among them.")
    severity: Severity | None = Field(
        description="The worst of the alerts that fire and that nobody has acknowledged or "
        "silenced; of all that fire where there are no such."
    )
    cause: str = Field(description="Cause of the alert that is most urgent; may be empty.")


class Headline(View):
    """The newest estimate of the metric that a monitor is judged by.

    It is of the newest window whose labels are mature, or of the newest without such; there of the
    model version with most predictions.
    """

    metric: str
    model_version: str
    window_start: Moment
    window_end: Moment
    state: State
    value: Number
    low: Number
    high: Number
    undefined_reason: str | None = Field(description="Why the value is null.")
    infeasible: bool
    impossible: bool
    assumed: bool


class MonitorLine(MonitorCondition):
    """A monitor as the overview shows it."""

    zone: str
    metric: str = Field(description="The metric that it is judged by.")
    headline: Headline | None
    labels_arrived: Number = Field(
        description="Share of the newest window's expected confirmations that have arrived."
    )
    last_prediction: Moment | None
    last_evaluated: Moment | None
    next_mature: Moment | None = Field(description="When the next window is judged.")
    has_stopped: bool = Field(description="No window is due before there are new predictions.")
    failing: int = Field(description="Windows whose last attempt failed.")
    to_collect: int
    to_evaluate: int
    better_challengers: list[str] = Field(
        description="Challengers that the last round found surely better than the deployed model."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedLook:
    """When a round of work had to look for new windows, and since when none has.

    Attributes
    ----------
    last, due : datetime
        The last look; the moment at which the next one was to come at the latest.
    ended : int
        Windows that have ended since the last look.
    """

    last: datetime
    due: datetime
    ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringAlert:
    """What the condition of a monitor reads of an alert that fires.

    Attributes
    ----------
    rule : str
    severity : {"info", "warning", "critical"}
    firing_since : datetime or None
        Start of the window with which it began.
    is_acknowledged : bool
    silenced_until : datetime or None
    cause : str
    next_steps : sequence of Step
    """

    rule: str
    severity: Severity
    firing_since: datetime | None
    is_acknowledged: bool = False
    silenced_until: datetime | None = None
    cause: str = ""
    next_steps: Sequence[Step] = ()

    @property
    def needs_somebody(self) -> bool:
        """Whether nobody has acknowledged or silenced it."""
        return not self.is_acknowledged and self.silenced_until is None


class _Found(NamedTuple):
    """That a condition holds: what it is about, since when, and what to do."""

    sentence: str = ""
    since: datetime | None = None
    remedy: str = ""


def condition_view(
    name: str,
    work: MonitorWork,
    firing: Sequence[FiringAlert | AlertView] = (),
    *,
    look: ExpectedLook | None = None,
    work_due: datetime | None = None,
    has_stopped: bool = False,
    source: str = "",
    now: datetime,
) -> MonitorCondition:
    """The condition of a monitor at a moment.

    Parameters
    ----------
    name : str
    work : MonitorWork
    firing : sequence of FiringAlert
        Those that need somebody first.
    look : ExpectedLook, optional
        None before the first look.
    work_due : datetime, optional
        When the oldest evaluation that is due had to be made; None if none is due.
    has_stopped : bool
        Whether there have been no predictions for longer than can be expected.
    source : str
        Where predictions are, for people.
    now : datetime
    """
    needy = [alert for alert in firing if alert.needs_somebody and alert.severity != "info"]
    candidates: tuple[tuple[Condition, _Found | None], ...] = (
        ("source unreachable", _unreachable(work)),
        ("late", _late(work, look, work_due, now=now)),
        ("failing", _failing(work)),
        ("no data", _no_data(work, source, has_stopped=has_stopped)),
        ("firing", _firing(needy)),
        ("acknowledged", _firing([alert for alert in firing if alert.is_acknowledged])),
        ("silenced", _firing([alert for alert in firing if alert.silenced_until])),
        ("firing", _firing(firing)),  # mere information
        ("backfilling", _backfilling(work, now=now)),
        ("no results yet", _no_results(name, work)),
        ("fine", _Found()),
    )
    condition, found = next(
        (condition, found) for condition, found in candidates if found is not None
    )
    sentence = found.sentence
    if firing and condition not in _OF_ALERTS:
        sentence = f"{sentence}; firing: {_alerts_text(firing)}"
    return MonitorCondition(
        name=name,
        condition=condition,
        since=found.since,
        sentence=sentence,
        remedy=found.remedy,
        needs_somebody=bool(needy) if condition == "firing" else condition in _NEEDY,
        firing=len(firing),
        severity=_worst(needy or firing),
        cause=next((alert.cause for alert in needy or firing if alert.cause), ""),
    )


def _unreachable(work: MonitorWork) -> _Found | None:
    if work.problem is None:
        return None
    return _Found(
        f"its tables cannot be read: {work.problem}",
        work.problem_since,
        "repair the tables or their entries in the configuration; pumonitor check shows whether "
        "it worked",
    )


def _late(
    work: MonitorWork, look: ExpectedLook | None, work_due: datetime | None, *, now: datetime
) -> _Found | None:
    # Nobody is late who only ever filled a stretch of the past, as demonstrations do.
    if work.held or (work.looked_at is None and work.last_prediction is None):
        return None
    remedy = "check that cron starts pumonitor run, or that pumonitor serve is running"
    if look is not None and now - look.due > LATE:
        ended = f"{look.ended} window{'' if look.ended == 1 else 's'}"
        return _Found(f"no round of work has looked at it for {ended}", look.last, remedy)
    # What fails is late for a reason of its own, and so is what waits for it.
    if work.failing or work_due is None or now - work_due <= LATE:
        return None
    due = f"{work.due} window{' is' if work.due == 1 else 's are'} due and not evaluated"
    return _Found(due, work.oldest_due, remedy)


def _failing(work: MonitorWork) -> _Found | None:
    if not work.failing:
        return None
    return _Found(
        f"{work.failing} window{'' if work.failing == 1 else 's'} cannot be counted",
        work.failing_since,
        "pumonitor doctor says why, and what to do",
    )


def _firing(alerts: Sequence[FiringAlert | AlertView]) -> _Found | None:
    if not alerts:
        return None
    since = min((alert.firing_since for alert in alerts if alert.firing_since), default=None)
    steps = next((alert.next_steps for alert in alerts if alert.next_steps), ())
    return _Found(_alerts_text(alerts), since, steps[0].action if steps else "")


def _no_data(work: MonitorWork, source: str, *, has_stopped: bool) -> _Found | None:
    is_empty = work.looked_at is not None and work.last_prediction is None
    if not has_stopped and not is_empty:
        return None
    return _Found(
        f"there are no {'' if is_empty else 'new '}predictions in {source}, and no window is due "
        "before there are some",
        work.last_prediction,
        "check that the job that fills it has run",
    )


def _backfilling(work: MonitorWork, *, now: datetime) -> _Found | None:
    if not work.held or work.oldest_due is None or now - work.oldest_due <= LATE:
        return None
    return _Found(f"{work.windows - work.due} of {work.windows} windows are evaluated")


def _no_results(name: str, work: MonitorWork) -> _Found | None:
    if work.last_evaluated is not None:
        return None
    if work.looked_at is None and work.newest_end is None:
        remedy = f"pumonitor run {name}, or pumonitor backfill {name} --from ... --to ..."
        return _Found("it has never run", None, remedy)
    remedy = f"pumonitor run {name} evaluates windows once they have ended"
    return _Found("no window has been evaluated", None, remedy)


def _worst(alerts: Iterable[FiringAlert | AlertView]) -> Severity | None:
    return min((alert.severity for alert in alerts), key=SEVERITIES.index, default=None)


def _alerts_text(alerts: Sequence[FiringAlert | AlertView]) -> str:
    """Such as "2 critical alerts, too few found and 1 more"; the first alert is named."""
    worst = _worst(alerts)
    number = sum(alert.severity == worst for alert in alerts)
    article = "an" if worst == "info" else "a"
    counted = f"{article} {worst} alert" if number == 1 else f"{number} {worst} alerts"
    more = f" and {len(alerts) - 1} more" if len(alerts) > 1 else ""
    return f"{counted}, {one_line(alerts[0].rule)}{more}"


def condition_text(view: MonitorCondition, moment: Callable[[datetime], str]) -> str:
    """The condition, since when, and what it is about; for a terminal, a page, a message.

    Parameters
    ----------
    view : MonitorCondition
    moment : callable
        A moment in the zone of whoever reads it.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2026, 1, 9, tzinfo=UTC)
    >>> work = MonitorWork(problem="no such file", problem_since=now)
    >>> condition_text(condition_view("shop", work, now=now), "{:%Y-%m-%d}".format)
    'source unreachable since 2026-01-09: its tables cannot be read: no such file'
    """
    since = "" if view.since is None else f" since {moment(view.since)}"
    if view.condition in ("acknowledged", "silenced"):
        return f"{view.condition}: {view.sentence}{since and f', firing{since}'}"
    return f"{view.condition}{since}{f': {view.sentence}' if view.sentence else ''}"


def headline_text(conditions: Sequence[MonitorCondition]) -> str:
    """How many monitors need somebody, and how many are in each condition.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2026, 1, 9, tzinfo=UTC)
    >>> alert = FiringAlert(rule="f1 below 0.7", severity="critical", firing_since=now)
    >>> work = MonitorWork(last_evaluated=now)
    >>> some = [condition_view("a", work, [alert], now=now), condition_view("b", work, now=now)]
    >>> headline_text(some)
    '1 of 2 monitors needs attention: 1 firing, 1 fine'
    >>> headline_text(some[1:])
    'The monitor needs no attention: fine'
    """
    if not conditions:
        return "No monitors"
    several = len(conditions) > 1
    needy = sum(view.needs_somebody for view in conditions)
    of = f"{needy} of {len(conditions)} monitors" if several else "The monitor"
    if needy:
        lead = f"{of} {'needs' if needy == 1 else 'need'} attention"
    elif any(view.firing for view in conditions):
        lead = "Alerts fire that somebody knows of"
    else:
        lead = "No monitor needs attention" if several else "The monitor needs no attention"
    numbers = Counter(view.condition for view in conditions)
    counts = [
        f"{numbers[condition]} {condition}" if several else condition
        for condition in _IN_ORDER
        if condition in numbers
    ]
    return f"{lead}: {', '.join(counts)}"


def condition_badge(view: MonitorCondition) -> tuple[str, str]:
    """The colour of its badge, as style sheets name them, and its text."""
    if view.condition not in _OF_ALERTS or view.severity is None:
        return _BADGES[view.condition], view.condition
    is_quiet = view.condition != "firing" or not view.needs_somebody
    return "quiet" if is_quiet else view.severity, f"{view.condition}, {view.severity}"


def urgency(view: MonitorCondition) -> tuple[bool, int, int, str]:
    """Sorts conditions: those that need somebody first."""
    severity = 0 if view.severity is None else SEVERITIES.index(view.severity)
    return not view.needs_somebody, _IN_ORDER.index(view.condition), severity, view.name

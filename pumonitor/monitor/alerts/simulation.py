"""What alerts would have done under other rules, and how often they would cry wolf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np

from pumonitor.monitor.alerts.alert_inputs import AlertInputs
from pumonitor.monitor.alerts.false_alarms import QuietAlarms, always, quiet_alarms, quiet_views
from pumonitor.monitor.alerts.inputs import alert_inputs
from pumonitor.monitor.alerts.noticed import as_noticed
from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.alerts.panes import next_panes, with_results
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import PaneResults, RecordedPane
from pumonitor.monitor.rules.alerts.alert import Alert, Place, Transition
from pumonitor.monitor.rules.alerts.emission import emission
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference, WindowView
from pumonitor.monitor.windows.evaluation.references import References

RateSource = Literal["chosen", "quiet windows", ""]

_AT_ONCE: Final = 200
_YEARS: Final = 20
_MOST_WINDOWS: Final = 20_000
_BLOCK: Final = 7
_FEWEST_QUIET: Final = 10
_DAYS_PER_YEAR: Final = 365.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReplay:
    """Result of replaying a rule over the history of a monitor.

    Attributes
    ----------
    rule, severity : str
    windows : int
        Evaluated windows with predictions.
    empty_windows : int
        Evaluated windows without predictions.
    events : tuple of Transition
        Transitions that would have been emitted, without causes.
    false_alarms_per_year : float or None
        Expected rate while nothing changes; None with too few quiet windows.
    told_by : {"chosen", "quiet windows", ""}
        Source of that rate: chosen in the rule (detectors), or counted over quiet windows.
    quiet : QuietAlarms or None
        Alarms in the quiet windows themselves.
    why_unknown : str
        Why the rule has no evidence in any window so far (reason of the newest); "" if it has.
    """

    rule: str
    severity: str
    windows: int
    events: tuple[Transition, ...]
    false_alarms_per_year: float | None
    told_by: RateSource
    quiet: QuietAlarms | None = None
    why_unknown: str = ""
    empty_windows: int = 0


def simulate_alerts(
    ledger: Ledger,
    monitor: Monitor,
    configuration: str,
    *,
    references: References,
    now: datetime,
    seed: int = 0,
    on_step: Callable[[], None] = lambda: None,
) -> list[RuleReplay]:
    """Replay the history of a monitor under its rules. Nothing is stored, no notification is sent.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
        With the rules to try.
    configuration : str
        Hash under which its results are stored; rules are no part of it.
    references : References
    now : datetime
        Panes of this moment or earlier are replayed.
    seed : int
        Seed of the bootstrap.
    on_step : callable, optional
        Called before every pane and every year; what it raises ends the replay.

    Notes
    -----
    For a rule without a chosen rate, false alarms are counted by a block bootstrap: twenty years of
    windows (two years of hourly windows), drawn in blocks of seven from the reference, or from the
    first thirty windows without one. Rules on the health of the data get no rate, as quiet windows
    are chosen by the model's results and not by the health of the data.
    """
    found = alert_inputs(monitor, configuration, ledger=ledger, references=references)
    rules = [rule for rule in found.rules if not rule.goes_by_the_clock]
    track = Track(rules, known_reference=None, scores_of=found.scores_of)
    events: dict[str, list[Transition]] = {rule.key: [] for rule in rules}
    alerts: dict[Place, Alert] = {}
    known_reference: KnownReference | None = None
    for pane in _panes(ledger, found, track, now=now):
        on_step()
        if known_reference is None:
            known_reference = found.known_reference(pane.pane.as_of)
            track.set_known_reference(known_reference)
        for key in track.take(pane):
            if key in track.folds:
                fold = track.folds[key]
                events[key] += _news(fold, alerts, ledger, monitor=monitor.name, pane=pane.pane)
    quiet = quiet_views(ledger, monitor, configuration, track)
    replays = []
    for rule in rules:
        rate, told_by = _false_alarms(rule, quiet, known_reference, seed=seed, on_step=on_step)
        evaluated = [] if rule.key in track.broken else track.windows_of(rule)
        empty = sum(not view.readings and not view.failed for view in evaluated)
        replays.append(
            RuleReplay(
                rule=rule.name,
                severity=rule.severity,
                windows=len(evaluated) - empty,
                empty_windows=empty,
                events=tuple(events[rule.key]),
                false_alarms_per_year=rate,
                told_by=told_by,
                quiet=quiet_alarms(rule, quiet, known_reference),
                why_unknown=track.broken.get(rule.key) or _why_unknown(track.folds[rule.key]),
            )
        )
    return replays


def _why_unknown(fold: RuleFold) -> str:
    if not fold.states:
        return "there is no window yet"
    if any(state.state != "unknown" for state in fold.states[-1].values()):
        return ""
    return next((one.reason for one in fold.evidence[-1].values() if one.reason), "")


def _panes(
    ledger: Ledger, found: AlertInputs, track: Track, *, now: datetime
) -> Iterator[PaneResults]:
    after = None
    while True:
        with ledger.database.reading() as connection:
            seen = next_panes(
                connection,
                monitor=found.name,
                configuration=found.configuration,
                after=after,
                now=now,
                attempts_allowed=ledger.rules.attempts_allowed,
                limit=_AT_ONCE,
            )
            results = with_results(connection, seen, metrics=track.metrics)
        yield from results
        if len(seen) < _AT_ONCE:
            return
        after = seen[-1].position


def _news(
    fold: RuleFold,
    alerts: dict[Place, Alert],
    ledger: Ledger,
    *,
    monitor: str,
    pane: RecordedPane,
) -> Iterator[Transition]:
    for series in sorted(fold.states[-1]):
        known = [at for at, one in enumerate(fold.states) if series in one]
        rule, (version, segment) = fold.rule, series
        before = alerts.get((rule.key, version, segment)) or Alert(
            monitor=monitor,
            rule_key=rule.key,
            model_version=version,
            segment=segment,
            rule=rule.name,
            metric=rule.metric,
            severity=rule.severity,
        )
        found = emission(
            before,
            [fold.states[at][series] for at in known],
            [fold.evidence[at][series] for at in known],
            rule=rule,
            as_of=pane.as_of,
            repeat=None,
        )
        if found is not None and rule.audited:
            with ledger.database.reading() as connection:
                found = as_noticed(found, connection, rule=rule, before=before, pane=pane)
        if found is not None:
            alerts[before.place] = before.after(found)
            yield found


# -- quiet years ------------------------------------------------------------------------------


def _false_alarms(
    rule: AlertRule,
    quiet: Sequence[WindowView],
    known_reference: KnownReference | None,
    *,
    seed: int,
    on_step: Callable[[], None] = lambda: None,
) -> tuple[float | None, RateSource]:
    if rule.condition.chosen_rate is not None:
        return rule.condition.chosen_rate, "chosen"
    if len(quiet) < _FEWEST_QUIET or rule.metric.startswith("health:"):
        return None, ""
    length = quiet[0].window.end - quiet[0].window.start
    per_year = round(timedelta(days=_DAYS_PER_YEAR) / length)
    rng = np.random.default_rng(seed)
    years = min(_YEARS, max(_MOST_WINDOWS // per_year, 1))
    incidents = 0
    for _ in range(years):
        on_step()
        begins = rng.integers(0, len(quiet), size=-(-per_year // _BLOCK))
        drawn = [quiet[(begin + step) % len(quiet)] for begin in begins for step in range(_BLOCK)][
            :per_year
        ]
        fold = RuleFold(rule, known_reference=always(known_reference))
        fold.refold(_retimed(drawn, length), 0)
        series = fold.states[-1].values() if fold.states else ()
        incidents += sum(one.incident for one in series)
    return incidents / years, "quiet windows"


def _retimed(views: Sequence[WindowView], length: timedelta) -> list[WindowView]:
    """The windows with consecutive times."""
    first = views[0].window
    return [
        replace(
            view,
            window=replace(
                view.window,
                start=first.start + place * length,
                end=first.start + (place + 1) * length,
                index=first.index + place,
            ),
        )
        for place, view in enumerate(views)
    ]

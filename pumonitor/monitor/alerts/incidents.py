"""What one transaction finds out about the alerts of a monitor, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.records.alerts import PaneSeen, Progress, Withheld
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.rules.alerts.alert import Alert, Place, Transition
from pumonitor.monitor.rules.alerts.emission import closing, emission
from pumonitor.monitor.rules.alerts.evidence_health import WHOLE
from pumonitor.monitor.rules.alerts.rule import AlertRule, Series
from pumonitor.monitor.rules.alerts.states import AlertState, Evidence
from pumonitor.ports import Window

__all__ = ["CauseOf", "Telling", "no_cause"]

_FRESH: Final = timedelta(days=3)
"""With two windows: what is older is history, of which nobody is told."""

_SEVERITIES: Final = ("critical", "warning", "info")

CauseOf = Callable[[AlertRule, Series, Evidence, datetime, Connection], Mapping[str, Any]]
"""What changed when an alert of a rule and series fired in a window, as known at a moment.

The results of the window may be in the connection's transaction, which is still under way.
"""


def no_cause(
    rule: AlertRule, series: Series, evidence: Evidence, as_of: datetime, connection: Connection
) -> Mapping[str, Any]:
    """Nothing is said of it."""
    del rule, series, evidence, as_of, connection
    return {}


class Telling:
    """Transitions and messages of one transaction.

    Parameters
    ----------
    tables : AlertTables
    monitor : str
    rules : sequence of AlertRule
    now : datetime
        By the worker's clock.
    tells : bool
        Whether anybody is told.
    destinations : sequence of str
    cause_of : callable
    told_at : dict of Place to datetime, optional
        When this worker told of which alerts, by its clock; added to.

    Attributes
    ----------
    at : datetime
        Of the transaction, by the database's clock.
    messages : list of NewMessage
    progress : dict of str to Progress
        Of rules that went on.

    Notes
    -----
    Transitions follow from the ledger alone. What people were told follows them: whenever
    something fresh is taken in, whoever believes otherwise than what is so is told, unless a
    silence or a more severe alert keeps them from it.
    """

    def __init__(
        self,
        tables: AlertTables,
        *,
        monitor: str,
        rules: Sequence[AlertRule],
        now: datetime,
        tells: bool,
        destinations: Sequence[str],
        cause_of: CauseOf = no_cause,
        told_at: dict[Place, datetime] | None = None,
    ) -> None:
        self.at = tables.now()
        self.messages: list[NewMessage] = []
        self.progress: dict[str, Progress] = {}
        self._tables = tables
        self._monitor = monitor
        # A severe alert is known before those that it inhibits are told.
        self._rules = sorted(rules, key=lambda rule: _SEVERITIES.index(rule.severity))
        self._now = now
        self._tells = tells
        self._destinations = tuple(destinations)
        self._cause_of = cause_of
        self._told_at = {} if told_at is None else told_at
        self._silences = tables.silences(at=now)
        self._alerts = {one.place: one for one in tables.alerts(monitor)}
        self._changed: set[Place] = set()
        self._late: dict[Place, AlertRule] = {}

    def tell(self, track: Track, pane: PaneSeen, touched: frozenset[str]) -> None:
        """What follows from a pane that was taken in.

        Parameters
        ----------
        track : Track
        pane : PaneSeen
        touched : frozenset of str
            Keys of the rules to which it said something new.
        """
        fresh = self._is_fresh(pane.as_of, pane.window)
        for rule in self._rules:
            fold = track.folds.get(rule.key)
            if fold is None or not fold.states:
                continue
            for series, state in fold.states[-1].items():
                alert = self._alert(rule, series)
                news = rule.key in touched
                if not (news or alert.is_firing or alert.told_firing):
                    continue
                before = alert.window_start
                is_new = news and (before is None or before < pane.window.start)
                if news:
                    alert = alert.at_window(state, fold.evidence[-1][series], as_of=pane.as_of)
                # A reminder comes with a new window: else it could come just before the end.
                found = emission(
                    alert,
                    _History(fold.states, series),
                    _History(fold.evidence, series),
                    rule=rule,
                    as_of=pane.as_of,
                    repeat=rule.repeat if is_new else None,
                    cause=self._cause(rule, series, pane.as_of),
                )
                self._put(rule, alert, found, fresh=fresh)

    def tell_by_the_clock(self, rule: AlertRule, evidence: Evidence, *, as_of: datetime) -> None:
        """What follows from the time alone."""
        before = self._alert(rule, WHOLE)
        bad = evidence.kind == "breach"
        state = AlertState(
            state="firing" if bad else "ok",
            since=evidence.window.start,
            evidence=evidence.kind,
        )
        alert = before.at_window(state, evidence, as_of=as_of)
        found = emission(
            alert,
            [state],
            [evidence],
            rule=rule,
            as_of=as_of,
            repeat=rule.repeat,
            cause=self._cause(rule, WHOLE, as_of),
            may_be_revised=False,
        )
        self._put(rule, alert, found, fresh=True)

    def remind_by_the_clock(self, rule: AlertRule, *, as_of: datetime) -> None:
        """What goes on though no further window is looked at: reminders of it."""
        for known in list(self._alerts.values()):
            if known.rule_key != rule.key or not known.is_firing or known.window_start is None:
                continue
            alert = self._alert(rule, (known.model_version, known.segment))
            state = AlertState(state="firing", since=alert.firing_since)
            newest = alert.last_evidence()
            found = emission(alert, [state], [newest], rule=rule, as_of=as_of, repeat=rule.repeat)
            if found is not None:
                self._put(rule, alert, found, fresh=True)

    def close_others(self) -> None:
        """End the alerts of rules that are no more."""
        keys = {rule.key for rule in self._rules}
        gone = set(self._tables.progress(self._monitor)) - keys
        self._tables.drop_progress(self._monitor, gone)
        for alert in list(self._alerts.values()):
            if alert.rule_key in keys:
                continue
            if alert.closed_at is None:
                self._close(alert)
            elif alert.told_firing and self._tells and not self._is_silenced(alert):
                self._tell_end(alert)

    def store(self) -> None:
        """Tell what is to be told late, and write what has changed."""
        for place, rule in self._late.items():
            alert = self._alerts[place]
            if self._why_withheld(alert, fresh=True) is None:
                self._keep(self._told(rule, alert, None, None))
        self._tables.put_alerts(self._alerts[place] for place in sorted(self._changed))
        self._tables.set_progress(self._monitor, self.progress)

    # -- transitions ------------------------------------------------------------------------------

    def _alert(self, rule: AlertRule, series: Series) -> Alert:
        known = self._alerts.get((rule.key, *series))
        if known is None:
            return Alert(
                monitor=self._monitor,
                rule_key=rule.key,
                model_version=series[0],
                segment=series[1],
                rule=rule.name,
                metric=rule.metric,
                severity=rule.severity,
            )
        # A rule that was deleted and is back.
        return replace(known, closed_at=None, rule=rule.name)

    def _put(self, rule: AlertRule, alert: Alert, found: Transition | None, *, fresh: bool) -> None:
        if found is not None:
            alert = alert.after(found)
        number = None
        why = self._why_withheld(alert, fresh=fresh)
        is_reminder = found is not None and found.kind == "reminder"
        if why is None and is_reminder and alert.acknowledged_incident == alert.incident:
            why = "acknowledged"
        if why is None and is_reminder and self._was_told_just_now(rule, alert):
            why = "too soon"
        if found is not None:
            withheld = why
            if withheld is None and found.kind == "resolved" and not alert.told_firing:
                withheld = "untold"
            number = self._tables.add(found, at=self.at, withheld=withheld)
        self._late.pop(alert.place, None)
        if why is None and found is not None:
            alert = self._told(rule, alert, number, found)
        elif fresh:
            # What panes still to come may end is not told late.
            self._late[alert.place] = rule
        self._keep(alert)

    def _told(
        self,
        rule: AlertRule,
        alert: Alert,
        number: int | None,
        new: Transition | None,
    ) -> Alert:
        """Tell what is so to those who believe otherwise."""
        knows = alert.told_firing and alert.told_incident == alert.incident
        if new is not None and number is not None and new.kind == "reminder" and knows:
            self._send(rule, new, number)
            return alert
        if alert.told_firing and not (alert.is_firing and knows):
            alert = self._tell_end(alert, rule)
        if alert.is_firing and not alert.told_firing:
            if new is not None and number is not None and new.kind == "fired":
                self._send(rule, new, number)
            else:
                began = self._tables.transition(alert, incident=alert.incident, kind="fired")
                if began is not None:
                    self._send(rule, began.transition, began.id, late=True)
            alert = replace(alert, told_firing=True, told_incident=alert.incident)
        return alert

    def _tell_end(self, alert: Alert, rule: AlertRule | None = None) -> Alert:
        """Tell those who were told of an incident that it is over."""
        ended = self._tables.transition(alert, incident=alert.told_incident, kind="resolved")
        if ended is not None:
            message = AlertMessage(
                transition=ended.transition,
                number=ended.id,
                late=ended.recorded_at < self.at,
                runbook="" if rule is None else rule.runbook,
            )
            fired = alert.message_key(alert.told_incident, "fired")
            self._enqueue(message, self._tables.told_destinations(fired))
        alert = replace(alert, told_firing=False)
        self._keep(alert)
        return alert

    def _close(self, alert: Alert) -> None:
        if alert.is_firing:
            began = self._tables.transition(alert, incident=alert.incident, kind="fired")
            new = closing(
                alert,
                as_of=alert.as_of or self.at,
                cause={} if began is None else began.transition.cause,
            )
            withheld: Withheld | None = None
            if not alert.told_firing:
                withheld = "untold"
            elif not self._tells:
                withheld = "history"
            elif self._is_silenced(alert):
                withheld = "silenced"
            self._tables.add(new, at=self.at, withheld=withheld)
            alert = replace(alert, is_firing=False, emitted_as_of=new.as_of)
            if withheld is None:
                alert = self._tell_end(alert)
        self._keep(replace(alert, closed_at=self.at))

    def _cause(
        self, rule: AlertRule, series: Series, as_of: datetime
    ) -> Callable[[Evidence], Mapping[str, Any]]:
        return lambda about: self._cause_of(rule, series, about, as_of, self._tables.connection)

    def _keep(self, alert: Alert) -> None:
        place = alert.place
        if self._alerts.get(place) != alert:
            self._alerts[place] = alert
            self._changed.add(place)

    # -- telling ----------------------------------------------------------------------------------

    def _is_fresh(self, as_of: datetime, window: Window) -> bool:
        return as_of >= self._now - _FRESH - 2 * (window.end - window.start)

    def _why_withheld(self, alert: Alert, *, fresh: bool) -> Withheld | None:
        if not self._tells or not fresh:
            return "history"
        if self._is_silenced(alert):
            return "silenced"
        if alert.is_firing and self._is_inhibited(alert):
            return "inhibited"
        return None

    def _was_told_just_now(self, rule: AlertRule, alert: Alert) -> bool:
        """Whether a reminder would come with the message that it reminds of, when catching up."""
        told = self._told_at.get(alert.place)
        return told is not None and rule.repeat is not None and self._now - told < rule.repeat / 2

    def _is_silenced(self, alert: Alert) -> bool:
        return any(one.covers(alert, now=self._now) for one in self._silences)

    def _is_inhibited(self, alert: Alert) -> bool:
        """A critical alert of the same metric, segment and version says it all."""
        return alert.severity != "critical" and any(
            one.is_firing
            and one.severity == "critical"
            and one.closed_at is None
            and (one.metric, one.model_version, one.segment)
            == (alert.metric, alert.model_version, alert.segment)
            for one in self._alerts.values()
        )

    def _send(self, rule: AlertRule, about: Transition, number: int, *, late: bool = False) -> None:
        self._told_at[about.place] = self._now
        names = self._destinations if rule.to is None else rule.to
        message = AlertMessage(transition=about, number=number, late=late, runbook=rule.runbook)
        self._enqueue(message, [outbox_destination(name) for name in names])

    def _enqueue(self, message: AlertMessage, to: Sequence[str]) -> None:
        self.messages += [
            NewMessage(
                destination=destination,
                lane=message.lane,
                key=message.key,
                payload=message.to_payload(),
            )
            for destination in to
        ]
        self._tables.told(message.number, at=self.at)


class _History(Sequence[Any]):
    """One series of the mappings of each window, from the first that has it."""

    def __init__(self, of_windows: Sequence[Mapping[Series, Any]], series: Series) -> None:
        self._of_windows = of_windows
        self._series = series

    def __len__(self) -> int:
        return len(self._of_windows)

    def __getitem__(self, index: Any) -> Any:
        return self._of_windows[index].get(self._series)

    def __reversed__(self) -> Iterator[Any]:
        for one in reversed(self._of_windows):
            if self._series not in one:
                return
            yield one[self._series]

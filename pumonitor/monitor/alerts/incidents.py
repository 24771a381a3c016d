"""Turn the rule states changed in one transaction into incidents and outbox messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from pumonitor.monitor.alerts.noticed import as_noticed
from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.records.alerts import Progress, RecordedPane, Withheld
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.rules.alerts.alert import Alert, Place, Transition
from pumonitor.monitor.rules.alerts.emission import closing, emission
from pumonitor.monitor.rules.alerts.rule import WHOLE, AlertRule, Series
from pumonitor.monitor.rules.alerts.states import AlertState, Evidence
from pumonitor.ports import Window

_FRESH: Final = timedelta(days=3)
"""Panes older than this plus two windows are history, for which no notification is sent."""

_SEVERITIES: Final = ("critical", "warning", "info")

CauseOf = Callable[[AlertRule, Series, Evidence, datetime, Connection], Mapping[str, Any]]
"""Returns the cause (JSON types) of an alert that fired in a window, as known at a moment.

The window's results may belong to the connection's open transaction.
"""


def no_cause(
    rule: AlertRule, series: Series, evidence: Evidence, as_of: datetime, connection: Connection
) -> Mapping[str, Any]:
    """Return no cause."""
    del rule, series, evidence, as_of, connection
    return {}


class AlertTransaction:
    """Collects the transitions and messages of a monitor's alerts in one database transaction.

    Parameters
    ----------
    tables : AlertTables
    monitor : str
    rules : sequence of AlertRule
    now : datetime
        Time of the worker's clock.
    notifies : bool
        Whether notifications are sent.
    destinations : sequence of str
        All destinations.
    cause_of : callable
    notified_at : dict of Place to datetime, optional
        When this worker last notified of each alert, by its clock; updated.

    Attributes
    ----------
    at : datetime
        Time of the transaction, by the database's clock.
    messages : list of NewMessage
        Messages for the outbox.
    progress : dict of str to Progress
        Rule key to how far the rule has been folded.

    Notes
    -----
    Transitions depend on the ledger alone. Notifications follow them: with every recent pane a
    message is sent if the last one sent no longer matches the alert's state, unless a silence or a
    more severe alert withholds it.
    """

    def __init__(
        self,
        tables: AlertTables,
        *,
        monitor: str,
        rules: Sequence[AlertRule],
        now: datetime,
        notifies: bool,
        destinations: Sequence[str],
        cause_of: CauseOf = no_cause,
        notified_at: dict[Place, datetime] | None = None,
    ) -> None:
        self.at = tables.now()
        self.messages: list[NewMessage] = []
        self.progress: dict[str, Progress] = {}
        self._tables = tables
        self._monitor = monitor
        # Critical alerts first: they inhibit notifications of milder ones.
        self._rules = sorted(rules, key=lambda rule: _SEVERITIES.index(rule.severity))
        self._now = now
        self._notifies = notifies
        self._destinations = tuple(destinations)
        self._cause_of = cause_of
        self._notified_at = {} if notified_at is None else notified_at
        self._silences = tables.silences(at=now)
        self._alerts = {alert.place: alert for alert in tables.alerts(monitor)}
        self._changed: set[Place] = set()
        self._late: dict[Place, AlertRule] = {}
        self._beginnings: dict[str, Transition] | None = None

    def take_pane(self, track: Track, pane: RecordedPane, touched: frozenset[str]) -> None:
        """Emit the transitions that follow from a folded pane, and send their notifications.

        Parameters
        ----------
        track : Track
        pane : RecordedPane
        touched : frozenset of str
            Keys of the rules whose evidence the pane changed.
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
                # Reminders are sent with new windows only; otherwise one could be sent just
                # before the resolution.
                transition = emission(
                    alert,
                    _History(fold.states, series),
                    _History(fold.evidence, series),
                    rule=rule,
                    as_of=pane.as_of,
                    repeat=rule.repeat if is_new else None,
                    cause=self._cause(rule, series, pane.as_of),
                )
                transition = as_noticed(
                    transition, self._tables.connection, rule=rule, before=alert, pane=pane
                )
                self._put(rule, alert, transition, fresh=fresh)

    def take_clock_evidence(self, rule: AlertRule, evidence: Evidence, *, as_of: datetime) -> None:
        """Emit the transition that follows from evidence of the clock, and send it."""
        before = self._alert(rule, WHOLE)
        bad = evidence.kind == "breach"
        state = AlertState(
            state="firing" if bad else "ok",
            since=evidence.window.start,
            evidence=evidence.kind,
        )
        alert = before.at_window(state, evidence, as_of=as_of)
        transition = emission(
            alert,
            [state],
            [evidence],
            rule=rule,
            as_of=as_of,
            repeat=rule.repeat,
            cause=self._cause(rule, WHOLE, as_of),
            may_be_revised=False,
        )
        self._put(rule, alert, transition, fresh=True)

    def remind_by_the_clock(self, rule: AlertRule, *, as_of: datetime) -> None:
        """Send due reminders of a rule's firing alerts although no further window is evaluated."""
        for known in list(self._alerts.values()):
            if known.rule_key != rule.key or not known.is_firing or known.window_start is None:
                continue
            alert = self._alert(rule, (known.model_version, known.segment))
            state = AlertState(state="firing", since=alert.firing_since)
            newest = alert.last_evidence()
            transition = emission(
                alert, [state], [newest], rule=rule, as_of=as_of, repeat=rule.repeat
            )
            if transition is not None:
                self._put(rule, alert, transition, fresh=True)

    def close_others(self, *, because: str = "") -> None:
        """Close the alerts of rules that were edited or deleted.

        Parameters
        ----------
        because : str
            A sentence in place of that reason.
        """
        keys = {rule.key for rule in self._rules}
        gone = set(self._tables.progress(self._monitor)) - keys
        self._tables.drop_progress(self._monitor, gone)
        for alert in list(self._alerts.values()):
            if alert.rule_key in keys:
                continue
            if alert.closed_at is None:
                self._close(alert, because=because)
            elif (
                alert.told_firing
                and self._notifies
                and not self._is_silenced(alert)
                and not self._others_fire(alert)
            ):
                self._send_resolved(alert)

    def store(self) -> None:
        """Send postponed notifications, and write the changed alerts and the progress."""
        for place, rule in self._late.items():
            alert = self._alerts[place]
            if self._why_withheld(alert, fresh=True) is None:
                self._keep(self._notify(rule, alert, None, None))
        self._send_owed_ends()
        self._tables.put_alerts(self._alerts[place] for place in sorted(self._changed))
        self._tables.set_progress(self._monitor, self.progress)

    def _send_owed_ends(self) -> None:
        """Send the ends that waited for other alerts of an incident, which are over now.

        These may have ended without a window: their rule was deleted, or the monitor has left.
        """
        for alert in list(self._alerts.values()):
            owes = alert.told_firing and not alert.is_firing
            if not (owes and self._notifies) or self._is_silenced(alert):
                continue
            ended = self._tables.transition(alert, incident=alert.told_incident, kind="resolved")
            waited = ended is not None and ended.withheld == "incident"
            if waited and not self._others_fire(alert):
                self._send_resolved(alert)

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
        # Reopens the alert of a rule that was deleted and added again.
        return replace(known, closed_at=None, rule=rule.name)

    def _put(
        self, rule: AlertRule, alert: Alert, transition: Transition | None, *, fresh: bool
    ) -> None:
        if transition is not None:
            if transition.kind == "fired":
                alert, transition = self._as_part_of_incident(alert, transition)
            alert = alert.after(transition)
        number = None
        why = self._why_withheld(alert, fresh=fresh)
        is_reminder = transition is not None and transition.kind == "reminder"
        if why is None and is_reminder and alert.acknowledged_incident == alert.incident:
            why = "acknowledged"
        if why is None and is_reminder and self._was_notified_just_now(rule, alert):
            why = "too soon"
        if transition is not None:
            withheld = why
            if withheld is None and transition.kind == "resolved" and not alert.told_firing:
                withheld = "untold"
            number = self._tables.add(transition, at=self.at, withheld=withheld)
        self._late.pop(alert.place, None)
        if why is None and transition is not None:
            alert = self._notify(rule, alert, number, transition)
        elif fresh:
            # Postponed to the end of the transaction: later panes may resolve it.
            self._late[alert.place] = rule
        self._keep(alert)

    def _as_part_of_incident(self, alert: Alert, began: Transition) -> tuple[Alert, Transition]:
        """An alert that begins to fire, in the incident of those with which it may share a cause.

        It joins the alerts of an incident that fire while it does if all may have begun with one
        change, or if it was one of them before. An incident that is acknowledged stays so, unless
        the alert is worse than all of it.
        """
        if self._beginnings is None:
            self._beginnings = self._tables.beginnings([self._monitor])
        # What is overdue says nothing of what changed in the newest window.
        by_the_clock = {rule.key for rule in self._rules if rule.goes_by_the_clock}
        if alert.rule_key in by_the_clock:
            return alert, began
        incidents: dict[str, list[Alert]] = {}
        for other in self._alerts.values():
            is_open = other.is_firing and other.closed_at is None
            if is_open and other.place != alert.place and other.rule_key not in by_the_clock:
                incidents.setdefault(other.dedup_key, []).append(other)
        # Its own incident comes first, so that nothing is opened beside one that goes on.
        for key in sorted(incidents, key=lambda key: (key != alert.dedup_key, key)):
            members = incidents[key]
            of_members = [
                self._beginnings.get(member.incident_key(member.incident)) for member in members
            ]
            if (alert.incident and key == alert.dedup_key) or all(
                other is not None and began.began_with(other) for other in of_members
            ):
                began = replace(began, joined=key)
                worst = min(_SEVERITIES.index(member.severity) for member in members)
                is_known = all(
                    member.acknowledged_incident == member.incident for member in members
                )
                if is_known and _SEVERITIES.index(alert.severity) >= worst:
                    alert = replace(alert, acknowledged_incident=began.incident)
                break
        self._beginnings[began.incident_key(began.incident)] = began
        return alert, began

    def _notify(
        self,
        rule: AlertRule,
        alert: Alert,
        number: int | None,
        new: Transition | None,
    ) -> Alert:
        """Send a fired or resolved message if the last one sent no longer matches the state.

        A reminder is sent as it is. Returns the alert with the state that was sent.
        """
        is_notified = alert.told_firing and alert.told_incident == alert.incident
        if new is not None and number is not None and new.kind == "reminder" and is_notified:
            self._send(rule, new, number)
            return alert
        if alert.told_firing and not (alert.is_firing and is_notified):
            if alert.is_firing and alert.dedup_key == self._key_notified(alert):
                # It fires again in an incident that has gone on meanwhile.
                alert = replace(alert, told_firing=False)
            else:
                alert = self._send_resolved(alert, rule)
        if alert.is_firing and not alert.told_firing:
            if new is not None and number is not None and new.kind == "fired":
                self._send(rule, new, number)
            else:
                began = self._tables.transition(alert, incident=alert.incident, kind="fired")
                if began is not None:
                    self._send(rule, began.transition, began.id, late=True)
            alert = replace(alert, told_firing=True, told_incident=alert.incident)
        return alert

    def _send_resolved(self, alert: Alert, rule: AlertRule | None = None) -> Alert:
        """Send the resolution of the last notified incident to where its "fired" message went."""
        ended = self._tables.transition(alert, incident=alert.told_incident, kind="resolved")
        if ended is not None:
            message = AlertMessage(
                transition=ended.transition,
                number=ended.id,
                late=ended.recorded_at < self.at,
                runbook="" if rule is None else rule.runbook,
            )
            fired = alert.message_key(alert.told_incident, "fired")
            self._enqueue(message, self._tables.notified_destinations(fired))
        alert = replace(alert, told_firing=False)
        self._keep(alert)
        return alert

    def _close(self, alert: Alert, *, because: str) -> None:
        if alert.is_firing:
            began = self._tables.transition(alert, incident=alert.incident, kind="fired")
            new = closing(
                alert,
                as_of=alert.as_of or self.at,
                cause={} if began is None else began.transition.cause,
                because=because,
            )
            withheld: Withheld | None = None
            if not alert.told_firing:
                withheld = "untold"
            elif not self._notifies:
                withheld = "history"
            elif self._is_silenced(alert):
                withheld = "silenced"
            elif self._others_fire(alert):
                withheld = "incident"
            self._tables.add(new, at=self.at, withheld=withheld)
            alert = replace(alert, is_firing=False, emitted_as_of=new.as_of)
            if withheld is None:
                alert = self._send_resolved(alert)
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

    # -- notifications ----------------------------------------------------------------------------

    def _is_fresh(self, as_of: datetime, window: Window) -> bool:
        return as_of >= self._now - _FRESH - 2 * (window.end - window.start)

    def _why_withheld(self, alert: Alert, *, fresh: bool) -> Withheld | None:
        if not self._notifies or not fresh:
            return "history"
        if self._is_silenced(alert):
            return "silenced"
        if alert.is_firing and self._is_inhibited(alert):
            return "inhibited"
        if not alert.is_firing and alert.told_firing and self._others_fire(alert):
            return "incident"
        return None

    def _was_notified_just_now(self, rule: AlertRule, alert: Alert) -> bool:
        """Whether this worker notified of the alert less than half a `repeat` ago.

        True when it catches up on several windows at once; a reminder is then too soon.
        """
        sent_at = self._notified_at.get(alert.place)
        return (
            sent_at is not None
            and rule.repeat is not None
            and self._now - sent_at < rule.repeat / 2
        )

    def _is_silenced(self, alert: Alert) -> bool:
        return any(silence.covers(alert, now=self._now) for silence in self._silences)

    def _key_notified(self, alert: Alert) -> str | None:
        """Key of the last incident of an alert of which a notification was sent."""
        began = self._tables.transition(alert, incident=alert.told_incident, kind="fired")
        return None if began is None else began.transition.dedup_key

    def _others_fire(self, alert: Alert) -> bool:
        """Whether its incident goes on wherever it was notified of: another alert fires there."""
        to = self._notified_destinations(alert)
        return any(
            other.is_firing
            and other.told_firing
            and other.closed_at is None
            and other.place != alert.place
            and other.dedup_key == alert.dedup_key
            and to <= self._notified_destinations(other)
            for other in self._alerts.values()
        )

    def _notified_destinations(self, alert: Alert) -> set[str]:
        """Where the beginning of its last notified incident went."""
        key = alert.message_key(alert.told_incident, "fired")
        return set(self._tables.notified_destinations(key)) | {
            message.destination for message in self.messages if message.key == key
        }

    def _is_inhibited(self, alert: Alert) -> bool:
        """Whether a critical alert fires for the same metric, segment and model version."""
        return alert.severity != "critical" and any(
            other.is_firing
            and other.severity == "critical"
            and other.closed_at is None
            and (other.metric, other.model_version, other.segment)
            == (alert.metric, alert.model_version, alert.segment)
            for other in self._alerts.values()
        )

    def _send(self, rule: AlertRule, about: Transition, number: int, *, late: bool = False) -> None:
        self._notified_at[about.place] = self._now
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
        self._tables.mark_notified(message.number, at=self.at)


class _History(Sequence[Any]):
    """A view of one series in a list of mappings per window."""

    def __init__(self, of_windows: Sequence[Mapping[Series, Any]], series: Series) -> None:
        self._of_windows = of_windows
        self._series = series

    def __len__(self) -> int:
        return len(self._of_windows)

    def __getitem__(self, index: Any) -> Any:
        return self._of_windows[index].get(self._series)

    def __reversed__(self) -> Iterator[Any]:
        for of_window in reversed(self._of_windows):
            if self._series not in of_window:
                return
            yield of_window[self._series]

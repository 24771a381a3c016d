"""What happened to alerts: transitions, who was notified of them, and what people did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pumonitor.monitor.delivery.notifications.group import group_of
from pumonitor.monitor.delivery.notifications.message import outbox_destination
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import Kept
from pumonitor.monitor.ledger.records.alerts import StoredTransition
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.windows import AuditEntry
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from pumonitor.monitor.views.alerts import (
    AlertEventView,
    AlertView,
    DeliveryView,
    UserActionView,
    alert_event_view,
)

AnyAlert = Alert | Transition | AlertView

_MOST: Final = 1000
"""Newest deeds, and newest notes, that are read for a list."""

_OF_PEOPLE: Final[Mapping[str, str]] = {
    "acknowledge": "acknowledged it",
    "unacknowledge": "took the acknowledgement back",
}


def alert_event_views(
    ledger: Ledger, transitions: Sequence[StoredTransition], pages: PageAddresses | None = None
) -> list[AlertEventView]:
    """These transitions with whom was notified and what people did, in their order."""
    notified = {stored.transition.key for stored in transitions if stored.told_at is not None}
    deliveries = _deliveries(ledger, notified)
    fired = [stored.transition for stored in transitions if stored.transition.kind == "fired"]
    actions = user_actions(ledger, fired) if fired else {}
    return [
        alert_event_view(
            stored,
            destinations=deliveries.get(stored.transition.key, ()),
            people=actions_of(actions, stored.transition)
            if stored.transition.kind == "fired"
            else (),
            pages=pages,
        )
        for stored in transitions
    ]


def _deliveries(ledger: Ledger, keys: set[str]) -> dict[str, list[DeliveryView]]:
    """Key of a message to what became of it, in the order of destinations."""
    to = outbox_destination("")
    own = ledger.outbox.kept(keys, to=to)
    groups = {group for one in own if (group := group_of(one.payload))}
    of_groups = {(one.destination, one.key): one for one in ledger.outbox.kept(groups, to=to)}
    found: dict[str, list[DeliveryView]] = {}
    for one in own:
        group = group_of(one.payload)
        if group == "":
            continue  # The destination does not want such events.
        sent = one if group is None else of_groups.get((one.destination, group), one)
        found.setdefault(one.key, []).append(_delivery(sent, one.destination.removeprefix(to)))
    return found


def _delivery(message: Kept, destination: str) -> DeliveryView:
    if message.delivered_at is not None:
        return DeliveryView(destination=destination, state="delivered", at=message.delivered_at)
    state: Literal["waiting", "set aside"] = (
        "waiting" if message.set_aside_at is None else "set aside"
    )
    return DeliveryView(destination=destination, state=state, at=message.set_aside_at)


def actions_of(
    actions: Mapping[str, Sequence[UserActionView]], alert: AnyAlert
) -> list[UserActionView]:
    """Of `user_actions` those about the alert's incident, the oldest first."""
    return [
        action
        for action in reversed(actions.get(alert.lane, ()))
        if action.incident == alert.incident
    ]


def user_actions(ledger: Ledger, alerts: Iterable[AnyAlert]) -> dict[str, list[UserActionView]]:
    """What people did about these alerts, the newest first, by the alert's lane.

    Of all that people did, the newest thousand acknowledgements and notes are read.
    """
    asked = list(alerts)
    monitors = {one.monitor for one in asked}
    only = next(iter(monitors)) if len(monitors) == 1 else None
    entries = ledger.audit(actions=tuple(_OF_PEOPLE), monitor=only, limit=_MOST)
    notes = ledger.notes.all(monitors=monitors, limit=_MOST)
    return {
        one.lane: sorted(
            [*_acknowledgements(one, entries), *_notes(one, notes)],
            key=lambda action: action.at,
            reverse=True,
        )
        for one in asked
    }


def _acknowledgements(alert: AnyAlert, entries: Sequence[AuditEntry]) -> list[UserActionView]:
    named = {
        "monitor": alert.monitor,
        "rule": alert.rule,
        "model_version": alert.model_version,
        "segment": alert.segment,
    }
    return [
        UserActionView(
            at=one.at,
            by=one.actor,
            what=_OF_PEOPLE[one.action],
            text=str(one.detail.get("reason", "")),
            # Versions before did not store which incident it was.
            incident=int(one.detail.get("incident", 0)),
            note=None,
        )
        for one in entries
        if named.items() <= one.detail.items()
    ]


def _notes(alert: AnyAlert, notes: Sequence[Note]) -> list[UserActionView]:
    return [
        UserActionView(
            at=one.created_at,
            by=one.author,
            what="noted",
            text=one.text,
            incident=one.alert.incident,
            note=one.id,
        )
        for one in notes
        if one.alert is not None
        and one.created_at is not None
        and one.monitor == alert.monitor
        and (one.alert.rule_key, one.alert.model_version, one.alert.segment) == alert.place
    ]

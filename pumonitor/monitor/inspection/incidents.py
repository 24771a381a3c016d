"""What happened to alerts: transitions, who was notified of them, and what people did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pumonitor.monitor.delivery.notifications.group import group_of
from pumonitor.monitor.delivery.notifications.message import outbox_destination
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import Kept
from pumonitor.monitor.ledger.records.alerts import StoredTransition
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.windows import AuditEntry
from pumonitor.monitor.rules.alerts.alert import Alert, Transition

_MOST: Final = 1000
"""Newest deeds, and newest notes, that are read for a list."""

_OF_PEOPLE: Final[Mapping[str, str]] = {
    "acknowledge": "acknowledged it",
    "unacknowledge": "took the acknowledgement back",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody did about an alert.

    Attributes
    ----------
    at : datetime
    by, what, text : str
        Their name, what they did, and the reason or note they gave.
    incident : int
        Number of the alert's incident.
    note : int or None
        Number of a note.
    """

    at: datetime
    by: str
    what: str
    text: str
    incident: int
    note: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of the message about a transition at one destination.

    Attributes
    ----------
    destination : str
        Its name in the configuration.
    state : {"delivered", "waiting", "set aside"}
        "set aside": refused, and not tried again by itself.
    at : datetime or None
        When it was delivered or set aside.
    """

    destination: str
    state: Literal["delivered", "waiting", "set aside"]
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A transition, whom its message went to, and what people did about its incident.

    Attributes
    ----------
    stored : StoredTransition
    deliveries : tuple of Delivery
        Empty if nobody was notified, or if the message was deleted (`keep_delivered`) since.
    deeds : tuple of Deed
        Of the incident, the oldest first; with the transition that fired it, else empty.
    """

    stored: StoredTransition
    deliveries: tuple[Delivery, ...]
    deeds: tuple[Deed, ...]


def happenings(ledger: Ledger, found: Sequence[StoredTransition]) -> list[Happening]:
    """These transitions with whom was notified and what people did, in their order."""
    told = {one.transition.key for one in found if one.told_at is not None}
    deliveries = _deliveries(ledger, told)
    began = [one.transition for one in found if one.transition.kind == "fired"]
    done = deeds(ledger, began) if began else {}
    return [
        Happening(
            stored=one,
            deliveries=tuple(deliveries.get(one.transition.key, ())),
            deeds=tuple(
                deed
                for deed in reversed(done.get(one.transition.lane, ()))
                if deed.incident == one.transition.incident
            )
            if one.transition.kind == "fired"
            else (),
        )
        for one in found
    ]


def _deliveries(ledger: Ledger, keys: set[str]) -> dict[str, list[Delivery]]:
    """Key of a message to what became of it, in the order of destinations."""
    to = outbox_destination("")
    own = ledger.outbox.kept(keys, to=to)
    groups = {group for one in own if (group := group_of(one.payload))}
    of_groups = {(one.destination, one.key): one for one in ledger.outbox.kept(groups, to=to)}
    found: dict[str, list[Delivery]] = {}
    for one in own:
        group = group_of(one.payload)
        if group == "":
            continue  # The destination does not want such events.
        sent = one if group is None else of_groups.get((one.destination, group), one)
        found.setdefault(one.key, []).append(_delivery(sent, one.destination.removeprefix(to)))
    return found


def _delivery(one: Kept, destination: str) -> Delivery:
    if one.delivered_at is not None:
        return Delivery(destination=destination, state="delivered", at=one.delivered_at)
    state: Literal["waiting", "set aside"] = "waiting" if one.set_aside_at is None else "set aside"
    return Delivery(destination=destination, state=state, at=one.set_aside_at)


def deeds(ledger: Ledger, alerts: Iterable[Alert | Transition]) -> dict[str, list[Deed]]:
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
            key=lambda deed: deed.at,
            reverse=True,
        )
        for one in asked
    }


def _acknowledgements(alert: Alert | Transition, entries: Sequence[AuditEntry]) -> list[Deed]:
    named = {
        "monitor": alert.monitor,
        "rule": alert.rule,
        "model_version": alert.model_version,
        "segment": alert.segment,
    }
    return [
        Deed(
            at=one.at,
            by=one.actor,
            what=_OF_PEOPLE[one.action],
            text=str(one.detail.get("reason", "")),
            # Versions before did not store which incident it was.
            incident=int(one.detail.get("incident", 0)),
        )
        for one in entries
        if named.items() <= one.detail.items()
    ]


def _notes(alert: Alert | Transition, notes: Sequence[Note]) -> list[Deed]:
    return [
        Deed(
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

"""Which destination is told of which alerts, and of which together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pumonitor.monitor.alerts.links import LinksOf, no_links
from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.delivery.notifications.group import AlertGroup, told_elsewhere
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.rules.alerts.alert import Alert

__all__ = ["key_of_beginning", "packed"]


def packed(
    destinations: Mapping[str, Destination],
    messages: Sequence[NewMessage],
    *,
    links_of: LinksOf = no_links,
) -> list[NewMessage]:
    """Messages as they go into the outbox, of those that alerts of one transaction came to.

    What an Apprise destination is told of a monitor goes out as one message, where there are
    several; webhooks and Alertmanager, which are read by machines, get one for each alert. Events
    that a destination does not want are kept from it. In any case each message that came in has
    one of its own key that goes out (`told_elsewhere`).

    Parameters
    ----------
    destinations : mapping of str to Destination
    messages : sequence of NewMessage
        Payloads are those of `AlertMessage`.
    links_of : callable, optional
        What they link to.
    """
    by_name = {outbox_destination(name): one for name, one in destinations.items()}
    given: dict[tuple[str, str], list[NewMessage]] = {}
    for message in messages:
        about = message.payload
        links = {**about["links"], **links_of(about["monitor"], about["model_version"])}
        given.setdefault((message.destination, about["monitor"]), []).append(
            replace(message, payload={**about, "links": links})
        )
    found: list[NewMessage] = []
    for (name, _), own in given.items():
        destination = by_name[name]
        wanted = [one for one in own if destination.wants(one.payload["kind"])]
        unwanted = [one for one in own if not destination.wants(one.payload["kind"])]
        found += wanted if destination.kind != "apprise" else _as_one(wanted)
        found += [replace(one, payload=told_elsewhere("")) for one in unwanted]
    return found


def _as_one(messages: Sequence[NewMessage]) -> list[NewMessage]:
    """A group, and for each of several alerts a message that says that it is told with it."""
    if not messages:
        return []
    group = AlertGroup(alerts=tuple(AlertMessage.from_payload(one.payload) for one in messages))
    told = replace(messages[0], lane=group.lane, key=group.key, payload=group.to_payload())
    if len(messages) == 1:
        return [told]
    elsewhere = told_elsewhere(group.key)
    return [told, *(replace(one, lane=group.lane, payload=elsewhere) for one in messages)]


def key_of_beginning(alert: Alert) -> str:
    """Of the message that told of the last incident that anybody was told of."""
    return alert.message_key(alert.told_incident, "fired")

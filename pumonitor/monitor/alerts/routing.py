"""Route messages to destinations, and group alerts into one message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pumonitor.monitor.alerts.links import LinksOf, no_links
from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.delivery.notifications.group import AlertGroup, sent_in_group
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.rules.alerts.alert import Alert


def packed(
    destinations: Mapping[str, Destination],
    messages: Sequence[NewMessage],
    *,
    links_of: LinksOf = no_links,
) -> list[NewMessage]:
    """Turn the alert messages of one transaction into the messages for the outbox.

    - Apprise: several messages about one monitor become one group message.
    - Webhooks and Alertmanager, which are read by machines: one message per alert.
    - Events that a destination does not want are not sent to it.

    Every incoming message keeps an outbox row with its own key, also if it is sent within a group
    or not at all (`sent_in_group`).

    Parameters
    ----------
    destinations : mapping of str to Destination
    messages : sequence of NewMessage
        With payloads of `AlertMessage`.
    links_of : callable, optional
        Returns the links of a message.
    """
    by_name = {outbox_destination(name): one for name, one in destinations.items()}
    given: dict[tuple[str, str], list[NewMessage]] = {}
    for message in messages:
        about = message.payload
        links = {**about["links"], **links_of(AlertMessage.from_payload(about).transition)}
        given.setdefault((message.destination, about["monitor"]), []).append(
            replace(message, payload={**about, "links": links})
        )
    found: list[NewMessage] = []
    for (name, _), own in given.items():
        destination = by_name[name]
        wanted = [one for one in own if destination.wants(one.payload["kind"])]
        unwanted = [one for one in own if not destination.wants(one.payload["kind"])]
        found += wanted if destination.kind != "apprise" else _as_one(wanted)
        found += [replace(one, payload=sent_in_group("")) for one in unwanted]
    return found


def _as_one(messages: Sequence[NewMessage]) -> list[NewMessage]:
    """The group message, and for each of several alerts a message that refers to it."""
    if not messages:
        return []
    group = AlertGroup(alerts=tuple(AlertMessage.from_payload(one.payload) for one in messages))
    group_message = replace(messages[0], lane=group.lane, key=group.key, payload=group.to_payload())
    if len(messages) == 1:
        return [group_message]
    elsewhere = sent_in_group(group.key)
    return [group_message, *(replace(one, lane=group.lane, payload=elsewhere) for one in messages)]


def key_of_beginning(alert: Alert) -> str:
    """Outbox key of the last notified incident's "fired" message."""
    return alert.message_key(alert.told_incident, "fired")

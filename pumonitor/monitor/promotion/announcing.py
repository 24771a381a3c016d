"""Messages to destinations about a promotion, or its undo."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.delivery.notifications.message import outbox_destination
from pumonitor.monitor.delivery.notifications.promotion_message import PROMOTED, PromotionMessage
from pumonitor.monitor.ledger.records.promotions import Promotion
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.page_addresses import PageAddresses


def message_about(promotion: Promotion, *, pages: PageAddresses | None = None) -> PromotionMessage:
    """The message about a promotion that is done."""
    return PromotionMessage.from_record(
        promotion,
        number=promotion.id,
        at=promotion.ended_at or promotion.begun_at,
        links={} if pages is None else {"page": pages.monitor(promotion.monitor)},
    )


def messages_about(
    promotion: Promotion,
    destinations: Mapping[str, Destination],
    *,
    pages: PageAddresses | None = None,
) -> list[NewMessage]:
    """One message for each destination that wants it; never for an Alertmanager.

    Alertmanager holds what is wrong until it is over, and a promotion is neither.
    """
    message = message_about(promotion, pages=pages)
    return [
        NewMessage(
            destination=outbox_destination(name),
            lane=message.lane,
            key=message.key,
            payload=message.to_payload(),
        )
        for name, one in destinations.items()
        if one.kind != "alertmanager" and one.wants(PROMOTED)
    ]

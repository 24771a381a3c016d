"""Text of a notification that a model version was promoted, or that this was undone."""

from __future__ import annotations

from collections.abc import Iterator

from pumonitor.monitor.delivery.notifications.formats import plain, title_line, written
from pumonitor.monitor.delivery.notifications.message import Format
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.words import metric_title
from pumonitor.monitor.ledger.records.promotions import Evidence
from pumonitor.text import (
    count_text,
    moment_text,
    percent_text,
    signed_text,
    with_interval,
)


def promotion_title(message: PromotionMessage) -> str:
    """One line of at most 160 characters.

    Examples
    --------
    >>> promotion_title(message)  # doctest: +SKIP
    '[promoted] card-fraud: version 5 of model card-fraud is champion'
    """
    what = f"version {message.to_version} of model {message.model} is {message.alias}"
    if message.action == "undo":
        return title_line(f"[promotion undone] {message.monitor}: {what} again")
    return title_line(f"[promoted] {message.monitor}: {what}")


def promotion_sentence(message: PromotionMessage) -> str:
    """What happened, in one sentence."""
    before = message.from_version
    place = "" if before is None else f", in place of version {before}"
    model, to, alias = message.model, message.to_version, message.alias
    if message.action == "undo":
        return plain(
            f"Version {to} of model {model} is {alias} again{place}: {message.actor} undid the "
            "last promotion."
        )
    said = ""
    if message.evidence is not None:
        metric = metric_title(message.evidence.metric)
        said = f": its {metric} differs by {difference_said(message.evidence)}"
    return plain(f"{message.actor} made version {to} of model {model} {alias}{place}{said}.")


def difference_said(evidence: Evidence) -> str:
    """The difference with its interval, all with their signs."""
    return with_interval(evidence.difference, evidence.low, evidence.high, as_text=signed_text)


def evidence_said(evidence: Evidence) -> str:
    """The difference, and how much it rests on, for a list of promotions."""
    unit, part = ("case", "audit") if evidence.is_of_audit else ("label", "window")
    seen = [
        f"{count_text(number)} {what}{'s' * (number != 1)}"
        for number, what in ((evidence.labels, unit), (evidence.windows, part))
    ]
    return f"{metric_title(evidence.metric)} {difference_said(evidence)}, {', '.join(seen)}"


def promotion_body(message: PromotionMessage, format: Format) -> str:  # noqa: A002 (as in words)
    """Sentence and details."""
    return written(promotion_sentence(message), _details(message), format)


def _details(message: PromotionMessage) -> Iterator[tuple[str, str]]:
    yield "Model", plain(message.model)
    yield f"New {plain(message.alias)}", f"version {plain(message.to_version)}"
    before = message.from_version
    yield "Before", "none" if before is None else f"version {plain(before)}"
    evidence = message.evidence
    if evidence is not None:
        level = percent_text(evidence.confidence_level)
        name = f"Difference in {metric_title(evidence.metric)}"
        yield name, f"{difference_said(evidence)}, interval of {level}"
        yield from _compared(evidence)
        yield "Evaluation", plain(evidence.evaluation)
    yield "By", plain(message.actor)
    yield "At", moment_text(message.at)
    if page := message.links.get("page"):
        yield "Page of this monitor", plain(page)


def _compared(evidence: Evidence) -> Iterator[tuple[str, str]]:
    if evidence.is_of_audit:
        yield "Cases reviewed", count_text(evidence.labels)
        yield "Audits between the two models", count_text(evidence.windows)
        return
    yield "Confirmed positives compared", count_text(evidence.labels)
    first, last = moment_text(evidence.first_window), moment_text(evidence.last_window)
    yield (
        "Windows compared",
        f"{count_text(evidence.windows)}, from that of {first} to that of {last}",
    )

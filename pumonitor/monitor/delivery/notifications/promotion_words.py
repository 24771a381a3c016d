"""Text of a notification that a model version was promoted, or that this was undone."""

from __future__ import annotations

from collections.abc import Iterator

from pumonitor.monitor.delivery.notifications.formats import moment, plain, title_line, written
from pumonitor.monitor.delivery.notifications.message import Format
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.words import metric_title
from pumonitor.monitor.ledger.records.promotions import Evidence
from pumonitor.report.numbers import number, rows


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
    value, low, high = map(_signed, (evidence.difference, evidence.low, evidence.high))
    return f"{value} ({low} to {high})"


def evidence_said(evidence: Evidence) -> str:
    """The difference, and how much it rests on, for a list of promotions."""
    unit, part = ("case", "audit") if evidence.is_of_audit else ("label", "window")
    seen = [
        f"{rows(number)} {what}{'s' * (number != 1)}"
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
        level = f"{evidence.confidence_level:.4%}".rstrip("%").rstrip("0").rstrip(".")
        name = f"Difference in {metric_title(evidence.metric)}"
        yield name, f"{difference_said(evidence)}, interval of {level}%"
        yield from _compared(evidence)
        yield "Evaluation", plain(evidence.evaluation)
    yield "By", plain(message.actor)
    yield "At", moment(message.at)
    if page := message.links.get("page"):
        yield "Page of this monitor", plain(page)


def _compared(evidence: Evidence) -> Iterator[tuple[str, str]]:
    if evidence.is_of_audit:
        yield "Cases reviewed", rows(evidence.labels)
        yield "Audits between the two models", rows(evidence.windows)
        return
    yield "Confirmed positives compared", rows(evidence.labels)
    first, last = moment(evidence.first_window), moment(evidence.last_window)
    yield "Windows compared", f"{rows(evidence.windows)}, from that of {first} to that of {last}"


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)

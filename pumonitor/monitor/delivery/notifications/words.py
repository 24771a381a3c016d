"""What people read of an alert: a title, a sentence, and details as text, markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from markupsafe import escape

from pumonitor.monitor.delivery.notifications.message import AlertMessage, Format
from pumonitor.monitor.rules.alerts import rule as rules
from pumonitor.report.numbers import number, rows

__all__ = [
    "body",
    "details",
    "is_count",
    "metric_title",
    "metric_value",
    "sentence",
    "text",
    "title",
]

_LONGEST_TITLE: Final = 160
_MOST_TOLD: Final = 10
"""Alerts of one message that are told in full; of more there is the number."""

_TOLD_OF_CAUSE: Final = {
    "What changed": "sentence",
    "The share of positives": "class_prior",
    "Doubtful": "doubt",
}
_LINKS: Final = {"mlflow": "MLflow"}
_COUNTS: Final = ("labeled_positives", "predictions")
_MARKDOWN: Final = re.compile(r"([\\`*\[\]#|~]|(?<!\w)_|_(?!\w))")
"""Slack shows backslashes, so underscores within a word, which emphasise nothing, have none."""
_MENTION: Final = re.compile(r"@(?=\w)")


def title(messages: Sequence[AlertMessage]) -> str:
    """One line of at most 160 characters, without line breaks or other control characters.

    Examples
    --------
    >>> title([message])  # doctest: +SKIP
    '[critical] card-fraud, version 7: F1 below 0.75'
    """
    first = messages[0]
    if len(messages) == 1:
        line = f"[{_word(first)}] {_where(first)}: {first.rule}"
    else:
        line = f"[{_word(_gravest(messages))}] {first.monitor}: {_counted(messages)}"
    line = _plain(line)
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def sentence(message: AlertMessage) -> str:
    """What happened; what is told after its time says so."""
    said = _plain(message.sentence)
    return f"Told late: {said}" if message.late else said


def text(message: AlertMessage) -> str:
    """What happened and why, for those who show one text."""
    cause = message.cause.get("sentence")
    return (
        f"{sentence(message)} {_plain(cause)}"
        if cause and isinstance(cause, str)
        else sentence(message)
    )


def details(message: AlertMessage) -> Iterator[tuple[str, str]]:
    """Names and values to be shown below the sentence."""
    if message.value is not None:
        yield metric_title(message.metric), _with_interval(message)
    if message.limit is not None:
        yield "Limit", metric_value(message.metric, message.limit)
    if message.reference is not None:
        yield "Reference", metric_value(message.metric, message.reference)
    yield "Window", f"{_moment(message.window_start)} to {_moment(message.window_end)}"
    yield "Labels known by", _moment(message.as_of)
    if message.firing_since is not None and message.firing_since != message.window_start:
        yield "Since the window of", _moment(message.firing_since)
    if message.model_version:
        yield "Model version", _plain(message.model_version)
    if message.segment:
        yield "Segment", _plain(message.segment)
    yield from _causes(message)
    if message.runbook:
        yield "What to do", _plain(message.runbook)
    for name, address in message.links.items():
        yield _LINKS.get(name) or _plain(name).capitalize(), _plain(address)


def _causes(message: AlertMessage) -> Iterator[tuple[str, str]]:
    for heading, part in _TOLD_OF_CAUSE.items():
        said = message.cause.get(part)
        if isinstance(said, str) and said:
            yield heading, _plain(said)


def body(messages: Sequence[AlertMessage], format: Format) -> str:  # noqa: A002 (its name outside)
    """The sentence and details of each alert, what is gravest first."""
    told = sorted(messages, key=_gravity, reverse=True)
    write = {"text": _as_text, "markdown": _as_markdown, "html": _as_html}[format]
    several = len(messages) > 1
    parts = [write(message, several) for message in told[:_MOST_TOLD]]
    left = len(messages) - _MOST_TOLD
    if left > 0:
        more = f"And {rows(left)} more."
        parts.append(f"<p>{more}</p>" if format == "html" else more)
    return ("\n" if format == "html" else "\n\n").join(parts)


def is_count(metric: str) -> bool:
    """Whether it is a number of rows."""
    return metric in _COUNTS


def metric_title(metric: str) -> str:
    """A metric's name for people.

    Examples
    --------
    >>> metric_title("f1"), metric_title("labeled_positives"), metric_title("health:no_data")
    ('F1', 'Confirmed positives', 'No data')
    """
    name = _plain(rules.metric_title(metric.removeprefix("health:")))
    return name[:1].upper() + name[1:]


def metric_value(metric: str, value: float) -> str:
    """A value of a metric for people.

    Examples
    --------
    >>> metric_value("f1", 0.71234), metric_value("labeled_positives", 12.0)
    ('0.712', '12')
    """
    return rows(round(value)) if is_count(metric) else number(value)


def _with_interval(message: AlertMessage) -> str:
    value = metric_value(message.metric, message.value or 0.0)
    if message.low is None or message.high is None or message.low == message.high:
        return value
    low, high = (metric_value(message.metric, end) for end in (message.low, message.high))
    return f"{value} ({low} to {high})"


def _word(message: AlertMessage) -> str:
    if message.kind == "resolved":
        return {"revised": "corrected", "configuration": "closed"}.get(message.reason, "resolved")
    return f"still {message.severity}" if message.kind == "reminder" else message.severity


def _gravity(message: AlertMessage) -> tuple[bool, int, bool]:
    severity = ("info", "warning", "critical").index(message.severity)
    return message.kind != "resolved", severity, message.kind == "fired"


def _gravest(messages: Sequence[AlertMessage]) -> AlertMessage:
    return max(messages, key=_gravity)


def _counted(messages: Sequence[AlertMessage]) -> str:
    """How many began, go on and are over."""
    said = {"fired": "began", "reminder": "still on", "resolved": "over"}
    kinds = [message.kind for message in messages]
    parts = [f"{kinds.count(kind)} {word}" for kind, word in said.items() if kind in kinds]
    return f"{len(messages)} alerts: {', '.join(parts)}"


def _where(message: AlertMessage) -> str:
    version = f"version {message.model_version}" if message.model_version else ""
    return ", ".join(part for part in (message.monitor, message.segment, version) if part)


def _as_text(message: AlertMessage, several: bool) -> str:  # noqa: FBT001
    lines = [f"{name}: {value}" for name, value in details(message)]
    return "\n".join([*([title([message])] if several else []), sentence(message), *lines])


def _as_markdown(message: AlertMessage, several: bool) -> str:  # noqa: FBT001
    heading = [f"**{_in_markdown(title([message]))}**", ""] if several else []
    lines = [
        f"- **{_in_markdown(name)}:** {_value_in_markdown(value)}"
        for name, value in details(message)
    ]
    return "\n".join([*heading, _in_markdown(sentence(message)), "", *lines])


def _as_html(message: AlertMessage, several: bool) -> str:  # noqa: FBT001
    heading = f"<h3>{escape(title([message]))}</h3>\n" if several else ""
    lines = "".join(
        f"<tr><th align='left'>{escape(name)}</th><td>{_value_in_html(value)}</td></tr>\n"
        for name, value in details(message)
    )
    return f"{heading}<p>{escape(sentence(message))}</p>\n<table>\n{lines}</table>"


def _is_link(value: str) -> bool:
    return re.fullmatch(r"https?://[^\s<>\"'()\[\]]+", value) is not None


def _value_in_markdown(value: str) -> str:
    return value if _is_link(value) else _in_markdown(value)


def _value_in_html(value: str) -> str:
    shown = escape(value)
    return f"<a href='{shown}'>{shown}</a>" if _is_link(value) else str(shown)


def _in_markdown(text: str) -> str:
    """As it stands, in every dialect: some take entities for < and >, others backslashes."""
    return _MARKDOWN.sub(r"\\\1", text.replace("<", "‹").replace(">", "›"))


def _plain(text: str) -> str:
    """On one line, without control characters; a mention in the data calls nobody."""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return _MENTION.sub("@\u200b", " ".join(printable.split()))


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

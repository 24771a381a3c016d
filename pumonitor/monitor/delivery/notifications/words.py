"""Text of a notification: a title, a sentence, and details as text, markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pumonitor import names
from pumonitor.monitor.delivery.notifications.formats import plain, title_line, written
from pumonitor.monitor.delivery.notifications.message import AlertMessage, Format
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.rules.causes.next_steps import next_steps
from pumonitor.text import count_text, moment_text, window_text

_MOST_SHOWN: Final = 10
"""Most alerts that one message shows in full; of the others it gives the number."""

_TOLD_OF_CAUSE: Final = {
    "What changed": "sentence",
    "The share of positives": "class_prior",
    "Doubtful": "doubt",
}
_LINKS: Final = {"page": "Page of this window", "mlflow": "MLflow"}


def title(messages: Sequence[AlertMessage]) -> str:
    """One line of at most 160 characters, without line breaks or other control characters.

    Examples
    --------
    >>> title([message])  # doctest: +SKIP
    '[critical] card-fraud, version 7: F1 below 0.75'
    """
    transitions = [message.transition for message in messages]
    first = transitions[0]
    if len(transitions) == 1:
        line = f"[{_word(first)}] {_where(first)}: {first.rule}"
    else:
        line = f"[{_word(max(transitions, key=_gravity))}] {first.monitor}: {_counted(transitions)}"
    return title_line(line)


def sentence(message: AlertMessage) -> str:
    """What happened, in one sentence; a late notification says that it is late."""
    said = plain(message.transition.sentence)
    return f"Sent late: {said}" if message.late else said


def text(message: AlertMessage) -> str:
    """What happened and why, for services that show one text."""
    cause = message.transition.cause.get("sentence")
    return (
        f"{sentence(message)} {plain(cause)}"
        if cause and isinstance(cause, str)
        else sentence(message)
    )


def details(message: AlertMessage) -> Iterator[tuple[str, str]]:
    """Names and values shown below the sentence."""
    about = message.transition
    if about.value is not None:
        yield (
            metric_title(about.metric),
            names.estimate_with_interval(about.metric, about.value, about.low, about.high),
        )
    if about.limit_value is not None:
        yield "Limit", names.estimate_text(about.metric, about.limit_value)
    if about.reference is not None:
        yield "Reference", names.estimate_text(about.metric, about.reference)
    yield "Window", window_text(about.window_start, about.window_end)
    yield "Labels known by", moment_text(about.as_of)
    if about.firing_since is not None and about.firing_since != about.window_start:
        yield "Firing since the window of", moment_text(about.firing_since)
    if about.model_version:
        yield "Model version", plain(about.model_version)
    if about.segment:
        yield "Segment", plain(about.segment)
    yield from _causes(about)
    if steps := steps_said(about):
        yield "Next steps", " ".join(f"{number}. {one}" for number, one in enumerate(steps, 1))
    if message.runbook:
        yield "What to do", plain(message.runbook)
    for name, address in message.links.items():
        yield _LINKS.get(name) or plain(name).capitalize(), plain(address)


def _causes(about: Transition) -> Iterator[tuple[str, str]]:
    for heading, part in _TOLD_OF_CAUSE.items():
        said = about.cause.get(part)
        if isinstance(said, str) and said:
            yield heading, plain(said)


def steps_said(about: Transition) -> list[str]:
    """What to do about an alert, in a few words each; empty once it is resolved."""
    if about.kind == "resolved":
        return []
    return [step.action for step in next_steps(about.metric, about.cause)]


def body(messages: Sequence[AlertMessage], format: Format) -> str:  # noqa: A002 (its name outside)
    """Sentence and details of each incident, the most severe first; its other alerts are lines."""
    incidents = _by_incident(
        sorted(messages, key=lambda message: _gravity(message.transition), reverse=True)
    )
    several = len(incidents) > 1
    parts = [_written(alerts, format, several=several) for alerts in incidents[:_MOST_SHOWN]]
    left = len(incidents) - _MOST_SHOWN
    if left > 0:
        more = f"And {count_text(left)} more."
        parts.append(f"<p>{more}</p>" if format == "html" else more)
    return ("\n" if format == "html" else "\n\n").join(parts)


def metric_title(metric: str) -> str:
    """A metric's title with a capital letter, as the label of a line.

    Examples
    --------
    >>> metric_title("f1"), metric_title("labeled_positives"), metric_title("health:no_data")
    ('F1', 'Confirmed positives', 'No data')
    """
    name = plain(names.title(metric.removeprefix("health:")))
    return name[:1].upper() + name[1:]


def _word(about: Transition) -> str:
    if about.kind == "resolved":
        return {"revised": "corrected", "configuration": "closed"}.get(about.reason, "resolved")
    return f"still {about.severity}" if about.kind == "reminder" else about.severity


def _gravity(about: Transition) -> tuple[bool, int, bool]:
    severity = ("info", "warning", "critical").index(about.severity)
    return about.kind != "resolved", severity, about.kind == "fired"


def _counted(transitions: Sequence[Transition]) -> str:
    """How many alerts of a group fired, still fire and are resolved."""
    said = {"fired": "began", "reminder": "still on", "resolved": "over"}
    kinds = [one.kind for one in transitions]
    parts = [f"{kinds.count(kind)} {word}" for kind, word in said.items() if kind in kinds]
    return f"{len(transitions)} alerts: {', '.join(parts)}"


def _where(about: Transition) -> str:
    version = f"version {about.model_version}" if about.model_version else ""
    return ", ".join(part for part in (about.monitor, about.segment, version) if part)


def _by_incident(messages: Sequence[AlertMessage]) -> list[list[AlertMessage]]:
    """Messages of alerts that joined one incident together, in the order of their first."""
    joined = {message.transition.joined for message in messages} - {""}
    incidents: dict[tuple[str, str | int], list[AlertMessage]] = {}
    for number, message in enumerate(messages):
        about = message.transition
        key = about.dedup_key if about.dedup_key in joined else number
        incidents.setdefault((about.kind, key), []).append(message)
    return list(incidents.values())


def _written(
    alerts: Sequence[AlertMessage],
    format: Format,  # noqa: A002
    *,
    several: bool,
) -> str:
    """The worst alert of an incident with the cause and what to do, and a line for each other."""
    worst, *others = alerts
    heading = title([worst]) if several else ""
    lines = [("With it", f"{plain(one.transition.rule)}: {sentence(one)}") for one in others]
    return written(sentence(worst), [*lines, *details(worst)], format, heading=heading)

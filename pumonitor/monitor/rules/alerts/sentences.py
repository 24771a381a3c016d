"""The sentence of a message about an alert."""

from __future__ import annotations

from datetime import timedelta

from pumonitor.monitor.rules.alerts.alert import Alert, TransitionKind
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Health,
    LabelDelay,
    Missing,
    moment_text,
)
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.names import title


def sentence(
    kind: TransitionKind,
    *,
    rule: AlertRule,
    alert: Alert,
    evidence: Evidence,
    reason: str = "",
    last_bad: Evidence | None = None,
) -> str:
    """Describe a transition with the numbers of its window.

    Parameters
    ----------
    kind : {"fired", "resolved", "reminder"}
    rule : AlertRule
    alert : Alert
    evidence : Evidence
        Of the window that the sentence describes.
    reason : {"good", "revised"}
        Why the incident was resolved; used for "resolved" only.
    last_bad : Evidence, optional
        The last breach, if it is not the window described; used for "reminder" only.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from pumonitor.monitor.rules.alerts.limit import Limit
    >>> from pumonitor.ports import Window
    >>> start = datetime(2026, 3, 1, tzinfo=UTC)
    >>> window = Window(start=start, end=start + timedelta(days=1), index=20513)
    >>> rule = AlertRule(key="5f0c", name="f1 below 0.75", metric="f1",
    ...                  condition=Limit(side="below", limit=0.75))
    >>> evidence = Evidence(window=window, kind="breach",
    ...                     reason="F1 is 0.61 (0.55 to 0.66), all of it below 0.75")
    >>> alert = Alert(monitor="card-fraud", rule_key=rule.key, model_version="7",
    ...               segment="country=DE", rule=rule.name, metric="f1", severity="critical")
    >>> print(sentence("fired", rule=rule, alert=alert, evidence=evidence))
    Model version 7, country=DE, 2026-03-01: F1 is 0.61 (0.55 to 0.66), all of it below 0.75.
    """
    parts = [
        f"model version {alert.model_version}" if alert.model_version else "",
        alert.segment,
        _window(evidence),
    ]
    place = ", ".join(part for part in parts if part)
    said = evidence.reason or f"{title(rule.metric)} is {evidence.kind}"
    if isinstance(rule.condition, Missing) and evidence.kind == "breach":
        said = f"no usable {title(rule.metric)} in {rule.windows} windows: {said}"
    elif isinstance(rule.condition, LabelDelay):
        said = f"label delay: {said}"
    elif isinstance(rule.condition, Health):
        said = f"{rule.condition.kind.replace('_', ' ')}: {said}"
    text = f"{place[:1].upper()}{place[1:]}: {said}."
    if kind == "reminder":
        since = alert.firing_since
        began = "" if since is None else f"Since {moment_text(since)}. "
        if last_bad is None:
            return f"{began}{text}"
        return f"{began}{text} The last bad window, {_window(last_bad)}: {last_bad.reason}."
    if kind == "resolved":
        return {
            "good": f"Resolved. {text}",
            "revised": (
                f"Correction: with the labels known now, the alert would not have fired. {text}"
            ),
        }[reason]
    return text


def _window(evidence: Evidence) -> str:
    start, end = evidence.window.start, evidence.window.end
    if moment_text(end) == moment_text(start + timedelta(days=1)) and len(moment_text(start)) == 10:
        return moment_text(start)
    return f"{moment_text(start)} to {moment_text(end)}"

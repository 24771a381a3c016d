"""Which messages in a row are written to MLflow together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

_SAME: Final = ("monitor", "model_version", "configuration", "model")
"""What messages have in common whose points are in one run."""

_MOST_POINTS: Final = 8_000
"""Of messages that are sent again together where one of them fails: eight requests."""


def messages_together(payloads: Sequence[Mapping[str, Any]]) -> int:
    """How many of the first messages are metrics of one run, up to 8,000 points, or one report.

    MLflow takes 1,000 points in a request, whatever windows, panes and segments they are of. Where
    it hashes a password for each request, their number is what delivery takes.

    Reports of a window are the same file: of those in a row, as after a backfill, the last stays.

    Examples
    --------
    >>> def pane(state, window="Monday"):
    ...     return {"window": window, "metrics": {"auc": 0.9}, "state": state, "segment": ""}
    >>> messages_together([pane("provisional"), pane("mature"), pane("mature", "Tuesday")])
    3
    >>> report = {"metrics": {}, "report": {"window_key": "k", "segment": ""}}
    >>> messages_together([pane("mature"), pane("mature") | report])
    1
    >>> messages_together([pane("mature") | report, pane("final") | report, pane("mature")])
    2
    """
    if reported := _reported_window(payloads[0]):
        return len(list(takewhile(lambda each: _reported_window(each) == reported, payloads)))
    number = points = 0
    for payload in payloads:
        is_alike = all(payload.get(name) == payloads[0].get(name) for name in _SAME)
        if not (is_alike and _is_plain(payload)):
            break
        points += sum(map(_points, payload["metrics"].values()))
        if points > _MOST_POINTS:
            break
        number += 1
    return max(number, 1)


def _reported_window(payload: Mapping[str, Any]) -> str | None:
    """Key of the window whose report a message is; None if it is none, or more than that."""
    report = payload.get("report")
    is_alone = not payload.get("metrics") and not payload.get("files")
    return report.get("window_key") if isinstance(report, Mapping) and is_alone else None


def _points(metric: Any) -> int:
    """Points of a metric: its value and the ends of its interval, or a flag that it has none."""
    if not isinstance(metric, Mapping):
        return 1
    return max(sum(part is not None and part is not False for part in metric.values()), 1)


def _is_plain(payload: Mapping[str, Any]) -> bool:
    """Whether it is a window's metrics, without files, which are made when they are sent.

    What is no message of ours is not: by itself it is refused with what is wrong with it.
    """
    texts = (payload.get("segment"), payload.get("state"), payload.get("age") or "")
    has_texts = all(isinstance(text, str) for text in texts)
    metrics = payload.get("metrics")
    has_files = bool(payload.get("files") or payload.get("report"))
    return has_texts and isinstance(metrics, Mapping) and bool(metrics) and not has_files

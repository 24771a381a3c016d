"""Which messages in a row can be written to MLflow by one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

__all__ = ["panes_together"]

_SAME: Final = ("monitor", "model_version", "configuration", "model", "window")
"""What messages have in common that are about one window in one run."""


def panes_together(payloads: Sequence[Mapping[str, Any]]) -> int:
    """How many of the first messages are metrics of one window, no two of the same series.

    The points of such messages have different names, so they may be written in any order: what one
    of them says depends on none of the others.

    Examples
    --------
    >>> def pane(state, segment=""):
    ...     return {"window": "Monday", "metrics": {"auc": 0.9}, "state": state, "segment": segment}
    >>> panes_together([pane("provisional"), pane("mature"), pane("mature", "country=se")])
    3
    >>> panes_together([pane("provisional"), pane("mature"), pane("mature")])
    2
    """
    seen: set[tuple[str, str, str]] = set()
    for payload in payloads:
        is_alike = all(payload.get(name) == payloads[0].get(name) for name in _SAME)
        if not (is_alike and _is_plain(payload)):
            break
        # Panes of other ages have names of their own while they are provisional.
        age = payload.get("age") or "" if payload["state"] == "provisional" else ""
        series = (payload["segment"], payload["state"], age)
        if series in seen:
            break
        seen.add(series)
    return max(len(seen), 1)


def _is_plain(payload: Mapping[str, Any]) -> bool:
    """Whether it is a window's metrics, without files, which are made when they are sent.

    What is no message of ours is not: by itself it is refused with what is wrong with it.
    """
    texts = (payload.get("segment"), payload.get("state"), payload.get("age") or "")
    has_texts = all(isinstance(text, str) for text in texts)
    has_files = bool(payload.get("files") or payload.get("report"))
    return has_texts and bool(payload.get("metrics")) and not has_files

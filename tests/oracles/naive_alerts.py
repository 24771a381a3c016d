"""Alerts the slow way: at every pane, all windows as they are known then, from the beginning.

Written from the table of states and the rules of what is emitted, without the package's own fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

Said = tuple[str, int, str]
"""What is emitted: fired, resolved or reminder; the incident; why it is over."""


def state_after(kinds: Sequence[str], *, windows: int, keep: int) -> tuple[str, int | None]:
    """State after windows of these kinds, and at which of them it last began to fire."""
    state, bad, good, began = "unknown", 0, 0, None
    for place, kind in enumerate(kinds):
        if kind not in ("breach", "good"):
            continue
        if state in ("firing", "recovering"):
            if kind == "breach":
                state, good = "firing", 0
            else:
                good += 1
                state = "recovering" if good <= keep else "ok"
                bad = 0
        elif kind == "good":
            state, bad = "ok", 0
        else:
            bad += 1
            good = 0
            state = "pending"
            if bad >= windows:
                state, began = "firing", place
    return state, began


def transitions(
    panes: Sequence[tuple[datetime, int, str]],
    kinds: Mapping[tuple[int, datetime], str],
    *,
    windows: int,
    keep: int,
    provisional: bool,
    repeat_days: int,
) -> list[tuple[datetime, str, int, int, str]]:
    """What is emitted over panes: (as_of, window, state), in any order.

    Returns
    -------
    list of (as_of, kind, incident, reminder, reason)
    """
    emitted: list[tuple[datetime, str, int, int, str]] = []
    firing, incident, reminders, last, since = False, 0, 0, None, -1
    known: dict[int, str] = {}
    for as_of, window, state in sorted(panes):
        is_news = False
        if provisional or state != "provisional":
            is_news = window > max(known, default=-1)
            known[window] = kinds[window, as_of]
        order = sorted(known)
        # An alert is there from the first window that has its series.
        first = next((at for at, one in enumerate(order) if known[one] != "no_data"), len(order))
        order = order[first:]
        now, began = state_after([known[one] for one in order], windows=windows, keep=keep)
        on = now in ("firing", "recovering")
        if on and not firing:
            firing, incident, reminders, last = True, incident + 1, 0, as_of
            since = order[began] if began is not None else -1
            emitted.append((as_of, "fired", incident, 0, ""))
        elif firing and now == "ok":
            seen = [
                state_after([known[one] for one in order[: at + 1]], windows=windows, keep=keep)[0]
                for at, window_at in enumerate(order)
                if window_at >= since
            ]
            good = "firing" in seen or "recovering" in seen
            firing, last = False, as_of
            emitted.append((as_of, "resolved", incident, 0, "good" if good else "revised"))
        elif is_news and firing and on and last is not None:
            if (as_of - last).days < repeat_days:
                continue
            reminders, last = reminders + 1, as_of
            emitted.append((as_of, "reminder", incident, reminders, ""))
    return emitted

"""Sentences about windows that wait for an earlier one whose rows cannot be counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from pumonitor.monitor.ledger.claims.held_up import HoldUp
from pumonitor.ports import Window
from pumonitor.text import day_text, moment_text

_SHOWN: Final = 5


def hold_up_notes(found: Sequence[HoldUp]) -> list[str]:
    """One sentence with its remedy for each of the first few windows that hold up later ones."""
    notes = [
        f"{one.monitor}: {_waiting(one)} for the window of {moment_text(one.window.start)}, "
        f"which cannot be counted: {one.error.rstrip('.')}. Repair its rows and start pumonitor "
        f"backfill {one.monitor} --reprocess failed {dates_of([one.window])}, which counts it at "
        f"once; or wait: {until_given_up(one)}"
        for one in found[:_SHOWN]
    ]
    if len(found) > _SHOWN:
        notes.append(
            f"{len(found) - _SHOWN} further windows cannot be counted and hold up later ones"
        )
    return notes


def until_given_up(found: HoldUp) -> str:
    """When the window is given up, so that later windows stop waiting for it."""
    attempts = f"{found.attempts_left} more failed attempt{'' if found.attempts_left == 1 else 's'}"
    since = (
        "" if found.given_up_from is None else f", not before {moment_text(found.given_up_from)}"
    )
    return f"{_waiting(found)} until it is given up, after {attempts}{since}"


def dates_of(windows: Iterable[Window]) -> str:
    """Options `--from` and `--to` of a backfill that covers these windows, as whole days of UTC."""
    chosen = list(windows)
    first = min(one.start for one in chosen)
    last = max(one.end for one in chosen) + timedelta(days=1) - timedelta(microseconds=1)
    return f"--from {day_text(first)} --to {day_text(last)}"


def _waiting(found: HoldUp) -> str:
    count = len(found.waiting)
    return f"{count} later window{' waits' if count == 1 else 's wait'}"

"""A window that a worker has claimed, and the key that it is known by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from pumonitor.ports import Pane, Window

__all__ = ["Claim", "ClaimedPane", "Step", "window_key"]

Step = Literal["collect", "evaluate"]


def window_key(monitor: str, configuration: str, start: datetime, end: datetime) -> str:
    """The key of a window in the ledger, the same whenever and wherever it is computed.

    Parameters
    ----------
    monitor : str
    configuration : str
        Hash of what the monitor's configuration means.
    start, end : datetime
        With their zone.
    """
    parts = (monitor, configuration, _instant(start), _instant(end))
    # Lengths keep ("a", "bc") and ("ab", "c") apart.
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        msg = f"times must carry their zone, got {moment}"
        raise ValueError(msg)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedPane:
    """A pane to collect or to evaluate.

    Attributes
    ----------
    pane : Pane
    revision : int
        What its results will be, if there is anything new in them.
    digest : str or None
        Of what was collected.
    counts : mapping or None
        What was found when it was collected.
    """

    pane: Pane
    revision: int
    digest: str | None = None
    counts: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A window that one worker may work on until its lease runs out.

    Attributes
    ----------
    step : {"collect", "evaluate"}
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of ClaimedPane
        Those that are due, in order.
    owner : str
    fence : int
        Grows with every claim of the window; work under a smaller one is refused.
    lease_until : datetime
        By the database's clock.
    attempts : int
        Earlier ones that failed in a row.
    """

    step: Step
    window_key: str
    monitor: str
    configuration: str
    window: Window
    panes: tuple[ClaimedPane, ...]
    owner: str
    fence: int
    lease_until: datetime
    attempts: int

"""Records of claims, and the key of a window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from pumonitor.ports import Pane, Window

Step = Literal["collect", "evaluate"]


def window_key(monitor: str, configuration: str, start: datetime, end: datetime) -> str:
    """Compute the key of a window in the ledger: a hash of its identity.

    Parameters
    ----------
    monitor : str
    configuration : str
        Hash of the monitor's configuration.
    start, end : datetime
        Aware times.
    """
    parts = (monitor, configuration, _instant(start), _instant(end))
    # The lengths distinguish ("a", "bc") from ("ab", "c").
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        msg = f"times must have a zone, got {moment}"
        raise ValueError(msg)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedPane:
    """A pane to collect or to evaluate.

    Attributes
    ----------
    pane : Pane
    revision : int
        Revision that its results get if they are new.
    digest : str or None
        Digest of the collected data.
    counts : mapping or None
        Row counts from collecting it.
    """

    pane: Pane
    revision: int
    digest: str | None = None
    counts: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim: one worker may work on a window until the lease expires.

    Attributes
    ----------
    step : {"collect", "evaluate"}
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of ClaimedPane
        The due panes, in order.
    owner : str
    fence : int
        Fencing token: incremented with every claim of the window. A commit with an older one is
        refused.
    lease_until : datetime
        End of the lease, by the database's clock.
    attempts : int
        Number of failed attempts in a row before this one.
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

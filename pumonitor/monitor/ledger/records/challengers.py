"""Records of what was seen of challengers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from datetime import datetime

__all__ = ["ChallengerSeries", "ChallengerWindow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengerSeries:
    """What windows of a challenger have in common.

    Attributes
    ----------
    monitor, configuration : str
    challenger : str
        Its name in the configuration.
    scored_by : str
        What gave its scores: a version of the registry, or a column.
    gate : str
        Hash of what its differences depend on beside the rows.
    """

    monitor: str
    configuration: str
    challenger: str
    scored_by: str
    gate: str

    @property
    def digest(self) -> str:
        """Hash of all of it, short enough for a key."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengerWindow:
    """One window of it.

    Attributes
    ----------
    start, end, as_of : datetime
        The window, and the moment as of which its labels were read.
    attempts : int
    error : str or None
        Of the last attempt, if it failed.
    labels : int or None
        Confirmed positives; None before there is a result.
    found : bytes or None
        Paired differences, as `pumonitor.gate.PairedLabels.to_bytes` gives them.
    """

    start: datetime
    end: datetime
    as_of: datetime
    attempts: int
    error: str | None
    labels: int | None
    found: bytes | None

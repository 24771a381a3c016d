"""Records of what was seen of challengers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengerDifferences:
    """What all windows up to one say together, as it was when this one was scored.

    Attributes
    ----------
    start, end : datetime
    attempts : int
    error : str or None
        Of the last attempt, if it failed.
    labels : int or None
        Confirmed positives of this window alone; None before there is a result.
    differences : mapping of str to mapping, or None
        Of "recall" and "aul" the value, low and high, None where there are no labels. None before
        there is a result.
    """

    start: datetime
    end: datetime
    attempts: int
    error: str | None
    labels: int | None
    differences: Mapping[str, Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedChallenger:
    """A challenger of the configuration, as whoever looked for it last found it.

    Attributes
    ----------
    name : str
    link : str
        As the configuration had it.
    scored_by : str or None
        What gives its scores; None if it was never found.
    trained_until : datetime or None
    is_deployed : bool
        Whether it is the version that is deployed by now.
    problem : str or None
        Why it is not judged, or could not be found by the last attempt.
    noted_at : datetime or None
        When any of this changed last, by the database's clock; None of what is to be noted.
    """

    name: str
    link: str
    scored_by: str | None
    trained_until: datetime | None
    is_deployed: bool = False
    problem: str | None = None
    noted_at: datetime | None = None

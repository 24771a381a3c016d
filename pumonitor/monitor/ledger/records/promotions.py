"""A promotion of a model version, and the evidence it rests on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Final, Literal

from pumonitor.monitor.ledger.database.plain_json import json_text

Action = Literal["promote", "undo"]
Settled = Literal["done", "abandoned", "refused"]
PromotionState = Literal["begun", "done", "abandoned", "refused"]

_TIMES: Final = ("first_window", "last_window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a promotion rests on: the difference between challenger and champion.

    Attributes
    ----------
    metric : str
        The metric of the gate, such as ``recall``.
    difference, low, high : float
        Challenger minus champion, with its interval; on the metric's scale.
    confidence_level : float
        Of the interval.
    labels : int
        Confirmed positives that were compared.
    windows : int
    first_window, last_window : datetime
        Starts of the first and the last window that was compared.
    verdict : str
        The gate's, such as ``better``.
    evaluation : str
        Hash of the evaluation, which finds its results again.

    Examples
    --------
    >>> from datetime import UTC
    >>> evidence = Evidence(
    ...     metric="recall", difference=0.031, low=0.012, high=0.05, confidence_level=0.95,
    ...     labels=412, windows=12, first_window=datetime(2026, 1, 5, tzinfo=UTC),
    ...     last_window=datetime(2026, 3, 23, tzinfo=UTC), verdict="better", evaluation="5f0c")
    >>> Evidence.from_dict(evidence.to_dict()) == evidence, len(evidence.digest)
    (True, 64)
    """

    metric: str
    difference: float
    low: float
    high: float
    confidence_level: float
    labels: int
    windows: int
    first_window: datetime
    last_window: datetime
    verdict: str
    evaluation: str

    @property
    def is_of_audit(self) -> bool:
        """Whether an audit between the models decided, of whose rows alone it speaks."""
        return self.metric == "precision"

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.difference, self.low, self.high))):
            msg = (
                "difference, low and high must be finite, got "
                f"{self.difference}, {self.low} and {self.high}"
            )
            raise ValueError(msg)
        if not self.low <= self.high:
            msg = f"low and high must satisfy low <= high, got {self.low} and {self.high}"
            raise ValueError(msg)
        if not 0 < self.confidence_level < 1:
            msg = f"confidence_level must satisfy 0 < it < 1, got {self.confidence_level}"
            raise ValueError(msg)
        if self.first_window.tzinfo is None or self.last_window.tzinfo is None:
            msg = f"windows must have a zone, got {self.first_window} and {self.last_window}"
            raise ValueError(msg)

    @property
    def digest(self) -> str:
        """Hash of all of it: shows that the row of a promotion was not edited."""
        return hashlib.sha256(json_text(self.to_dict(), "evidence").encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return values | {name: values[name].isoformat() for name in _TIMES}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Evidence:
        """Read `to_dict`'s values.

        Raises
        ------
        KeyError, TypeError, ValueError
            If they are something else.
        """
        values = {one.name: given[one.name] for one in fields(cls)}
        return cls(**values | {name: datetime.fromisoformat(values[name]) for name in _TIMES})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPromotion:
    """A promotion that somebody wants.

    Attributes
    ----------
    monitor : str
    model : str
        Name of the registered model.
    alias : str
        Alias that the deployed version has, and that is moved.
    action : {"promote", "undo"}
    from_version : str or None
        Version that the alias must point to; None: the alias must not exist.
    to_version : str
    actor : str
        Whoever does it.
    evidence : Evidence or None
        None for an undo.
    undoes : int or None
        Of an undo the number of the promotion that it takes back.
    """

    monitor: str
    model: str
    alias: str
    action: Action
    from_version: str | None
    to_version: str
    actor: str
    evidence: Evidence | None = None
    undoes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion(NewPromotion):
    """A promotion in the ledger.

    Attributes
    ----------
    id : int
    state : {"begun", "done", "abandoned", "refused"}
        Abandoned: the alias was not moved. Refused: somebody else had moved it.
    begun_at, ended_at : datetime or None
        By the database's clock.
    owner : str
        Process that makes it, or made it.
    reason : str
        Why it was not done, or who finished it.
    """

    id: int
    state: PromotionState
    begun_at: datetime
    ended_at: datetime | None
    owner: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        ended = None if self.ended_at is None else self.ended_at.isoformat()
        return asdict(self) | {
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
            "begun_at": self.begun_at.isoformat(),
            "ended_at": ended,
        }

"""A promotion of a model version, and the evidence it rests on."""

from __future__ import annotations

import hashlib
import math
from typing import Literal, Self

from pydantic import Field, model_validator

from pumonitor.monitor.ledger.database.plain_json import json_text
from pumonitor.views.model import Moment, View

Action = Literal["promote", "undo"]
Settled = Literal["done", "abandoned", "refused"]
PromotionState = Literal["begun", "done", "abandoned", "refused"]


class Evidence(View):
    """What a promotion rests on: the difference between challenger and champion.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> evidence = Evidence(
    ...     metric="recall", difference=0.031, low=0.012, high=0.05, confidence_level=0.95,
    ...     labels=412, windows=12, first_window=datetime(2026, 1, 5, tzinfo=UTC),
    ...     last_window=datetime(2026, 3, 23, tzinfo=UTC), verdict="better", evaluation="5f0c")
    >>> Evidence.model_validate(evidence.to_dict()) == evidence, len(evidence.digest)
    (True, 64)
    """

    metric: str = Field(description="The metric of the gate, such as recall.")
    difference: float = Field(description="Challenger minus champion, on the metric's scale.")
    low: float
    high: float
    confidence_level: float
    labels: int = Field(description="Confirmed positives that were compared.")
    windows: int
    first_window: Moment = Field(description="Start of the first window that was compared.")
    last_window: Moment
    verdict: str = Field(description="The gate's, such as better.")
    evaluation: str = Field(description="Hash of the differences that were judged.")

    @property
    def is_of_audit(self) -> bool:
        """Whether an audit between the models decided, of whose rows alone it speaks."""
        return self.metric == "precision"

    @model_validator(mode="after")
    def _check(self) -> Self:
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
        return self

    @property
    def digest(self) -> str:
        """Hash of all of it: shows that the row of a promotion was not edited."""
        return hashlib.sha256(json_text(self.to_dict(), "evidence").encode()).hexdigest()


class NewPromotion(View):
    """A promotion that somebody wants."""

    monitor: str
    model: str = Field(description="Name of the registered model.")
    alias: str = Field(description="Alias that the deployed version has, and that is moved.")
    action: Action
    from_version: str | None = Field(description="Null if the alias did not exist.")
    to_version: str
    actor: str
    evidence: Evidence | None = Field(default=None, description="Null for an undo.")
    undoes: int | None = Field(
        default=None, description="Number of the promotion that it takes back."
    )


class Promotion(NewPromotion):
    """A promotion or its undoing."""

    id: int
    state: PromotionState = Field(
        description="Abandoned: the alias was not moved. Refused: somebody else had moved it."
    )
    begun_at: Moment
    ended_at: Moment | None
    owner: str = Field(description="Process that made it.")
    reason: str = Field(description="Why it was not done, or who finished it; may be empty.")

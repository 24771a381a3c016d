"""What is answered about challengers and promotions."""

from __future__ import annotations

from pydantic import Field

from pumonitor.gate import Verdict
from pumonitor.monitor.dashboard.api.answers import NEXT
from pumonitor.monitor.dashboard.api.values import Answer, Moment, Number
from pumonitor.monitor.ledger.records.promotions import Action, PromotionState


class ChallengerCondition(Answer):
    """A difference, challenger less deployed model, and the value that it has to be above."""

    metric: str = Field(
        description="recall, aul, or of an audit precision, each model at the capacity."
    )
    value: Number
    low: float
    high: float
    above: float


class ChallengerAnswer(Answer):
    """A challenger that is judged, with the fields of `pumonitor challenge`."""

    challenger: str
    scored_by: str = Field(description="A version of the registry, or a column.")
    verdict: Verdict
    reason: str
    conditions: list[ChallengerCondition] = Field(
        description="The first is what has to be better; their intervals hold at all looks."
    )
    error: float = Field(description="Probability, on each side, that an interval ever misses.")
    labels: int = Field(description="Confirmed positives, or cases of an audit.")
    labels_needed: int | None = Field(description="How many in all would tell, as far as known.")
    chosen_by: str | None = Field(
        description="The model whose scores seem to have decided which rows were reviewed."
    )
    by_audit: bool
    windows: list[Moment] = Field(description="Starts of the windows that it is judged on.")
    errors: list[str] = Field(description="Windows that could not be scored, and why.")


class Challengers(Answer):
    """Challengers of a monitor as the gate judges them on what is stored."""

    monitor: str
    challengers: list[ChallengerAnswer]
    failures: list[str] = Field(
        description="Challengers that are not judged, or could not be looked for, and why."
    )


class EvidenceAnswer(Answer):
    """What a promotion rests on."""

    metric: str
    difference: float
    low: float
    high: float
    confidence_level: float
    labels: int
    windows: int
    first_window: Moment
    last_window: Moment
    verdict: str
    evaluation: str = Field(description="Hash of the differences that were judged.")


class PromotionAnswer(Answer):
    """A promotion or its undoing, with the fields of `pumonitor promote --history`."""

    id: int
    monitor: str
    model: str
    alias: str
    action: Action
    from_version: str | None = Field(description="Null if the alias did not exist.")
    to_version: str
    actor: str
    evidence: EvidenceAnswer | None
    undoes: int | None = Field(description="Number of the promotion that it takes back.")
    state: PromotionState
    begun_at: Moment
    ended_at: Moment | None
    owner: str = Field(description="Process that made it.")
    reason: str = Field(description="Why it was not done, or who finished it; may be empty.")


class Promotions(Answer):
    """Promotions of a monitor, the last begun first."""

    items: list[PromotionAnswer]
    next: str | None = NEXT

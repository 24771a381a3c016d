"""A challenger that is judged."""

from __future__ import annotations

from pydantic import Field

from pumonitor.gate import Verdict
from pumonitor.text import moment_text, number_text
from pumonitor.views.model import Moment, Number, View


class ChallengerConditionView(View):
    """A difference, challenger less deployed model, and the value that it has to be above."""

    metric: str = Field(
        description="recall, aul, or of an audit precision, each model at the capacity."
    )
    value: Number
    low: float
    high: float
    above: float


class ChallengerView(View):
    """A challenger that is judged."""

    challenger: str
    scored_by: str = Field(description="A version of the registry, or a column.")
    verdict: Verdict
    reason: str
    conditions: list[ChallengerConditionView] = Field(
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


class TrainedView(View):
    """A challenger that was trained and registered."""

    link: str = Field(description="models:/NAME/VERSION.")
    rows: int
    labels: int
    windows: int
    first: Moment = Field(description="When its training rows begin.")
    until: Moment
    is_configured: bool = Field(
        description="Whether the configuration names the alias that points to it now."
    )
    held_out_aul: Number = Field(
        description="AUL of rows scored by models that saw neither them nor their entity; null "
        "where there are too few. That is how it ranks, not evidence that it is better."
    )

    @property
    def sentence(self) -> str:
        """For people."""
        held_out = (
            "" if self.held_out_aul is None else f"; AUL held out {number_text(self.held_out_aul)}"
        )
        return (
            f"Trained {self.link} on {self.rows:,} rows of {self.windows} windows up to "
            f"{moment_text(self.until)}, {self.labels:,} of them confirmed{held_out}. It is "
            "judged on windows that begin later."
        )


class ChallengersView(View):
    """Challengers of a monitor as the gate judges them on what is stored."""

    monitor: str
    challengers: list[ChallengerView]
    failures: list[str] = Field(
        description="Challengers that are not judged, or could not be looked for, and why."
    )


class ScoredChallengersView(ChallengersView):
    """The same after windows that were due have been scored."""

    trained: TrainedView | None = Field(description="The one that was trained now.")
    scored: int = Field(description="Windows that were scored now.")

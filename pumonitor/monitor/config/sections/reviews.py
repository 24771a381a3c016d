"""The section of a monitor's review queues: which cases were looked at, why, and what they were."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.sources import Channel, Outcomes, TableColumns, channel_of
from pumonitor.monitor.config.values.kinds import Column, Part, Words, is_number
from pumonitor.sources.column_types.monitored_tables import ReviewColumns


def _rate(given: Any) -> Any:
    """A share, or its two ends."""
    ends = [given, given] if is_number(given) else given
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(map(is_number, ends)):
        msg = "must be a share, or its lower and upper end, such as [0.6, 0.9]"
        raise ValueError(msg)
    if not 0 < ends[0] <= ends[1] <= 1:
        hint = if_percent(float(ends[1]))
        msg = f"must be within (0, 1], the lower end first, got {list(ends)}{hint}"
        raise ValueError(msg)
    return float(ends[0]), float(ends[1])


RateInterval = Annotated[
    tuple[float, float],
    BeforeValidator(_rate),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            ]
        }
    ),
]
"""A share within (0, 1], or an interval that holds it in 95 of 100 cases."""


def as_queues(given: Any) -> Any:
    """One queue, or a list of them, as a tuple."""
    if isinstance(given, list):
        return tuple(given)
    return (given,) if isinstance(given, dict) else given


class Reasons(Part):
    """Why cases were reviewed, as a column says it in words of its own.

    Attributes
    ----------
    column : str or None
        Name of the column.
    score : list
        Words for cases that the queue took for their score.
    random : list
        Words for cases that were drawn by chance, whatever was known of them.
    audit : list
        Words for cases that were drawn by chance among those of which nobody had complained.
    complaint : list
        Words for cases that were reviewed because somebody complained.
    rule : list
        Words for cases that a rule chose, whatever their score. Every word that is not listed is
        taken for one too, and ``check`` says so.
    always : str or None
        Without a column: why all cases were reviewed, ``score`` or ``random``.
    """

    column: Column | None = None
    score: Words = ()
    random: Words = ()
    audit: Words = ()
    complaint: Words = ()
    rule: Words = ()
    always: Literal["score", "random"] | None = None

    @model_validator(mode="after")
    def _column_or_always(self) -> Reasons:
        if (self.column is None) == (self.always is None):
            msg = "needs either a column or always"
            raise ValueError(msg)
        return self

    @property
    def of_words(self) -> dict[str, str]:
        """What each word means, in small letters."""
        return {
            word.strip().casefold(): reason
            for reason in ("score", "random", "audit", "complaint", "rule")
            for word in getattr(self, reason)
        }


class Reviews(TableColumns):
    """A review queue: its verdicts on predictions. ``positives`` are complaints alone then.

    Attributes
    ----------
    source : Source
        File, table or query of the reviews, a row for each case or for each verdict.
    id : str
        Column with the id of the prediction that was reviewed.
    verdict : str or Outcomes
        Column with 1 for positive, 0 for negative or ``undecided``; or a column of other words with
        what they mean, {column: verdict, positive: [fraud], negative: [ok], undecided: [unclear]}.
        A row without a verdict is waiting for its review.
    decided_at : str or None
        Column with the time of the verdict. Without it every verdict counts at every moment.
    queued_at : str or None
        Column with the time at which the case came into the queue, of every row. Until its verdict
        the case is waiting, and windows say how many verdicts are still to come; without it nobody
        has looked at a case that has no verdict yet.
    reviewer : str or None
        Column with who gave the verdict. The latest verdict of each counts; where they differ the
        case is undecided.
    chosen_by : str, Reasons or None
        Column with why the case was reviewed: ``score``, ``random``, ``audit`` (by chance among
        cases without a complaint), ``complaint``, or any other word, which is a rule whose cases
        tell nothing of others; or a mapping with its words. Without it the queue took the highest
        scores, and windows in which it did not are refused.
    ranked_by : str or None
        Column of the predictions with the score that filled the queue, where that is another than
        ``score``, as where several models score and one of them fills it. It is on the monitor's
        ``score_scale``. Without it each model version's own score did.
    probability : str or None
        Column with the chance with which a case that was chosen at random was drawn, above 0 and at
        most 1. Needed where cases of one score had different chances, which are weighted then.
    blocks : bool
        Whether a positive verdict stops the case, so that it can never complain.
    detection_rate : float, list or None
        Share of the positives it sees that review finds, or its lower and upper end. Without it
        all, unless a cleared case complained.
    channel : Channel or None
        Which rows are reviews, where the table holds complaints too, {column: via, words: [queue]}.
    time_zone : str or None
        Time zone of times without a zone.
    time_unit : "s", "ms", "us", "ns" or None
        Unit of times that are integers since 1970.
    ambiguous : "earlier", "later" or None
        Which moment is used for a local time that occurs twice or never because clocks change.
    """

    _parameters = ("as_of",)

    verdict: Column | Outcomes
    decided_at: Column | None = None
    queued_at: Column | None = None
    reviewer: Column | None = None
    chosen_by: Column | Reasons | None = None
    ranked_by: Column | None = None
    probability: Column | None = None
    blocks: bool = Field(
        description="Whether a positive verdict stops the case, so that it can never complain. It "
        "must be said, and said rightly."
    )
    detection_rate: RateInterval | None = None
    channel: Channel | None = None

    @model_validator(mode="after")
    def _different_columns(self) -> Reviews:
        self._refuse_shared(
            {
                "id": self.id,
                "verdict": self.verdict_column,
                "decided_at": self.decided_at,
                "queued_at": self.queued_at,
                "reviewer": self.reviewer,
                "chosen_by": self.reason_column,
                "probability": self.probability,
                "channel": None if self.channel is None else self.channel.column,
            }
        )
        return self

    @property
    def verdict_column(self) -> str:
        """Name of the column of verdicts."""
        return self.verdict.column if isinstance(self.verdict, Outcomes) else self.verdict

    @property
    def reason_column(self) -> str | None:
        """Name of the column that says why a case was reviewed."""
        return self.chosen_by.column if isinstance(self.chosen_by, Reasons) else self.chosen_by

    @property
    def columns(self) -> ReviewColumns:
        """What its columns mean."""
        reasons = self.chosen_by if isinstance(self.chosen_by, Reasons) else None
        return ReviewColumns(
            id=self.id,
            verdict=self.verdict_column,
            decided_at=self.decided_at,
            queued_at=self.queued_at,
            verdict_words=self.verdict.words if isinstance(self.verdict, Outcomes) else None,
            reviewer=self.reviewer,
            chosen_by=self.reason_column,
            probability=self.probability,
            reasons={} if reasons is None else reasons.of_words,
            channel=channel_of(self.channel),
            always="score" if reasons is None or reasons.always is None else reasons.always,
            time_zone=self.time_zone,
            time_unit=self.time_unit,
            ambiguous=self.ambiguous,
        )


BESIDE_REVIEWS: Final = {
    "class_prior": "reviews and complaints say how many positives there are",
    "label_purity": "a complaint that a review does not confirm is corrected by its verdict",
    "audits": "give the verdicts of an audit as reviews, chosen_by: audit",
}
"""What a monitor with reviews does not have, and why."""

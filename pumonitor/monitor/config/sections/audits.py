"""The section of a monitor's audits: how many cases, who reads them, where verdicts come from."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pumonitor.monitor.config.sections.metric_names import refuse_unknown
from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.config.values.kinds import Column, Columns, Duration, Part, Zone, as_tuple
from pumonitor.monitor.config.values.shares import InnerShare, ShareToHalf

METRICS_OF_AUDITS: Final = (
    "class_prior",
    "unlabeled_prior",
    "label_frequency",
    "precision",
    "recall",
    "f1",
    "specificity",
    "accuracy",
    "balanced_accuracy",
    "mcc",
    "auc",
    "aul",
)
"""Metrics that the cases of an audit can be spread for."""

_OF_THE_FILE: Final = ("case", "id", "audit", "verdict")


def _metric(given: Any) -> Any:
    if isinstance(given, str):
        refuse_unknown(given, METRICS_OF_AUDITS, listed_by="pumonitor schema")
    return given


AuditedMetric = Annotated[str, BeforeValidator(_metric)]


class Verdicts(Part):
    """Verdicts of the reviewers, which every round reads once they have changed.

    Attributes
    ----------
    source : Source
        File, table or query of the verdicts. A file that is not there yet has none.
    id : str
        Column with the id of the case.
    verdict : str
        Column with 1 for positive, 0 for negative or ``undecided``; empty where the case has not
        been reviewed yet.
    at : str or None
        Column with the time of the verdict. Without it a verdict is of the time when it is read.
    reviewer : str or None
        Column with the name of the reviewer. Without it all verdicts are of one reviewer.
    audit : str or None
        Column with the name of the audit, which the file of cases has. Without it a verdict belongs
        to the last audit that was drawn before it and has the case.
    case : str or None
        Column with the number of the case in the file. It tells apart a case that is given twice.
    time_zone : str or None
        Time zone of times without a zone; that of the monitor unless given.
    """

    source: Source
    id: Column = "id"
    verdict: Column = "verdict"
    at: Column | None = None
    reviewer: Column | None = None
    audit: Column | None = None
    case: Column | None = None
    time_zone: Zone | None = None

    @property
    def roles(self) -> dict[str, str]:
        """Column to what it means, of those that are named."""
        found = {}
        for role in ("id", "verdict", "at", "reviewer", "audit", "case"):
            if (column := getattr(self, role)) is not None:
                found[column] = role
        return found

    @model_validator(mode="after")
    def _different_columns(self) -> Verdicts:
        named = [self.id, self.verdict, self.at, self.reviewer, self.audit, self.case]
        listed = [one for one in named if one is not None]
        doubled = [one for one in listed if listed.count(one) > 1]
        if doubled:
            msg = f"uses the column {doubled[0]!r} in two roles: each must be another column"
            raise ValueError(msg)
        return self


class Audits(Part):
    """How audits of this monitor are drawn and read; no key changes results by itself.

    Attributes
    ----------
    every : timedelta or None
        How often an audit is meant to be drawn. The rule ``audit_overdue`` needs it.
    cases : int
        How many cases are drawn.
    metrics : tuple of str
        For which metrics the cases are spread over the scores.
    above : float or None
        Share of the cases at or above the threshold, where a team reviews these anyway; the rest
        lies below. Without it cases are on either side as the metrics want them.
    fair : "check" or "assume"
        ``check`` allows for confirmations that follow the score; ``assume`` takes them for a fair
        sample, which makes recall and AUC surer, and wrong where they are not.
    verdicts : Verdicts or None
        Where the verdicts are that ``pumonitor run`` reads. Without it ``pumonitor audit read``
        reads them.
    seeds : float
        Confirmed positives among the cases of the file, as a share of them. They are not marked,
        and tell how many positives the reviewers miss.
    twice : float
        Cases that are given a second time, as a share of them. They tell how often verdicts
        contradict each other.
    keep_cases : timedelta
        How long after the draw the ids of the cases are kept. What was counted stays.
    columns : tuple of str
        Columns of the predictions that are shown to the reviewers beside the id.
    """

    every: Duration | None = None
    cases: Annotated[int, Field(ge=1)] = 300
    metrics: Annotated[
        tuple[AuditedMetric, ...], BeforeValidator(as_tuple), Field(min_length=1)
    ] = ("f1",)
    above: InnerShare | None = None
    fair: Literal["check", "assume"] = "check"
    verdicts: Verdicts | None = None
    seeds: ShareToHalf = 0.05
    twice: ShareToHalf = 0.1
    keep_cases: Duration = timedelta(days=90)
    columns: Columns = ()

    @field_validator("every", "keep_cases")
    @classmethod
    def _some_time(cls, given: timedelta | None) -> timedelta | None:
        if given == timedelta():
            msg = "must be longer than 0"
            raise ValueError(msg)
        return given

    @field_validator("columns")
    @classmethod
    def _not_of_the_file(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        for place, one in enumerate(columns):
            if one in columns[:place]:
                msg = f"has the column {one!r} twice"
                raise ValueError(msg)
            if one in _OF_THE_FILE:
                msg = f"has {one!r}, and the file of cases has a column {one!r} of its own"
                raise ValueError(msg)
        return columns

"""The section of one monitor: its tables, its windows, what it assumes, its rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BeforeValidator, PrivateAttr, ValidationInfo, field_validator, model_validator

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.audits import Audits
from pumonitor.monitor.config.sections.challengers import Challengers
from pumonitor.monitor.config.sections.class_prior import GivenPrior
from pumonitor.monitor.config.sections.prior_of_period import PriorOfPeriod
from pumonitor.monitor.config.sections.reviews import (
    BESIDE_REVIEWS,
    RateInterval,
    Reviews,
    as_queues,
)
from pumonitor.monitor.config.sections.rule_checks import (
    check_audits_are_meant,
    check_rules,
    check_values_are_known,
)
from pumonitor.monitor.config.sections.rules import Rule
from pumonitor.monitor.config.sections.sources import Positives, Predictions
from pumonitor.monitor.config.sections.tolerated_losses import ToleratedLosses
from pumonitor.monitor.config.text.problems import Problem, WithinError
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.config.values.kinds import (
    Duration,
    Durations,
    LabelPurity,
    ModelLink,
    Number,
    Part,
    Schedule,
    WindowLength,
    Zone,
    as_tuple,
    is_number,
)
from pumonitor.monitor.config.values.periods import Period, check_span, holds_window
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.monitor.rules.windows.panes import PaneSchedule
from pumonitor.monitor.rules.windows.windows import WindowGrid
from pumonitor.results import LabelOrigin
from pumonitor.text import number_text, window_text

if TYPE_CHECKING:
    from pumonitor.prior import GivenOrEstimated


class Reference(Period):
    """The period whose windows later ones are compared with, from start up to but excluding end.

    Attributes
    ----------
    start : date or datetime
        Start of the period; a date, or a time, in the monitor's zone.
    end : date or datetime
        End of the period, which is itself not part of it.
    """


def _length(every: str) -> timedelta:
    """Length of a window; of months, that of February."""
    window = WindowGrid(every=every).containing(datetime(2023, 2, 1, tzinfo=UTC))
    return window.end - window.start


def _is_followed(class_prior: Any, label_purity: Any) -> bool:
    measured = isinstance(class_prior, str | PriorOfPeriod) and class_prior != "propensity"
    return measured and not isinstance(label_purity, str)


def _check_rules(rules: tuple[Rule, ...], monitor: Mapping[str, Any]) -> None:
    """Check rules against the valid fields of their monitor."""
    predictions, window = monitor.get("predictions"), monitor.get("window")
    audits = monitor.get("audits")
    if "audits" in monitor and (audits is None or audits.every is None):
        check_audits_are_meant(rules)
    if predictions is not None and predictions.value is None:
        check_values_are_known(rules)
    check_rules(
        rules,
        has_reference=monitor.get("reference", ...) is not None,
        segments=None if predictions is None else predictions.segments,
        window=None if window is None else _length(window),
        is_prior_followed=_is_followed(monitor.get("class_prior"), monitor.get("label_purity")),
    )


class Monitor(Part):
    """One classifier that is followed.

    Attributes
    ----------
    model : str or None
        The model in MLflow's registry: ``models:/NAME``, ``models:/NAME/VERSION`` or
        ``models:/NAME@ALIAS``.
    predictions : Predictions
        What was scored: id, time, score.
    positives : Positives
        What was confirmed: id, time of the confirmation. With reviews, complaints alone.
    reviews : Reviews, or a list of them
        Queues that review predictions and say of each case whether it is positive.
    complaint_rate : float, list or None
        With reviews: share of the positives nobody reviewed or stopped that have complained by the
        maturity, or its lower and upper end.
    label_origin : "queue", "complaints", "both", "random" or None
        Where confirmed positives come from: a review queue that takes the highest scores;
        complaints that come by themselves (chargebacks, reports, diagnoses); both; or cases drawn
        by chance. Labels of a queue tell no recall, F1, AUC or class prior, which then have no
        value: give reviews, beside which this key is not read. Without it and with ``complaints``,
        labels are taken for a fair sample of the positives, and results say so.
    window : str
        Length of a window: hours, days, weeks (which begin on Monday) or months.
    zone : str
        Time zone in which windows begin.
    maturity : timedelta
        How long confirmations are awaited after the end of a window.
    panes : tuple of timedelta or None
        Ages at which a window is evaluated before it is mature; without it 0, a quarter and a half
        of the maturity.
    source_keeps : timedelta or None
        How long the tables keep a row. No final look is planned at a window whose rows would be
        older, and its mature results are the last; without the key rows are kept for ever.
    tolerated_losses : ToleratedLosses
        Which part of the rows and labels of a window may be gone when it is looked at again.
    schedule : Cron or None
        When ``pumonitor serve`` works on this monitor, as a cron expression.
    score_scale : "probability" or "unbounded"
        Whether scores are within [0, 1].
    threshold : float
        A score at or above it is predicted positive.
    class_prior : str, float, list or mapping
        Share of positives: ``auto`` estimates it in the first windows and follows it from there.
        The other forms are below.
    label_purity : float or "auto"
        Share of the confirmed positives that really are positive.
    scenario : "single-training-set"
        Confirmed and unconfirmed rows together are the population; monitors know this scenario
        only.
    reference : Reference or None
        Period that later windows are compared with.
    audits : Audits or None
        How its audits are drawn and read; ``{}`` is enough. Its results stay as they are until
        verdicts on an audit are read.
    challengers : Challengers or None
        Models that are compared with the deployed one in each mature window.
    rules : tuple of Rule
        When to raise an alert.
    """

    model: ModelLink | None = None
    predictions: Predictions
    positives: Positives
    reviews: Annotated[tuple[Reviews, ...], BeforeValidator(as_queues)] = ()
    complaint_rate: RateInterval | None = None
    label_origin: LabelOrigin | None = None
    window: WindowLength
    zone: Zone = "UTC"
    maturity: Duration
    panes: Durations | None = None
    source_keeps: Duration | None = None
    tolerated_losses: ToleratedLosses = ToleratedLosses()
    schedule: Schedule | None = None
    score_scale: Literal["probability", "unbounded"] = "probability"
    threshold: Number
    class_prior: GivenPrior = "auto"
    label_purity: LabelPurity = 1.0
    scenario: Literal["single-training-set"] = "single-training-set"
    reference: Reference | None = None
    audits: Audits | None = None
    challengers: Challengers | None = None
    rules: Annotated[tuple[Rule, ...], BeforeValidator(as_tuple)] = ()
    _name: str = PrivateAttr(default="")

    @property
    def name(self) -> str:
        """The monitor's key in the file."""
        return self._name

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Paths or addresses of its two tables, of verdicts on its audits, and of features."""
        features = self.challengers.features if self.challengers is not None else None
        source = features.source if features is not None else None
        return (
            self._secrets_of_tables if source is None else (*self._secrets_of_tables, source.secret)
        )

    @property
    def _secrets_of_tables(self) -> tuple[Secret, ...]:
        verdicts = self.audits.verdicts if self.audits is not None else None
        queues = (queue.source.secret for queue in self.reviews)
        tables = (self.predictions.source.secret, self.positives.source.secret, *queues)
        return tables if verdicts is None else (*tables, verdicts.source.secret)

    @property
    def missing(self) -> tuple[Problem, ...]:
        """Variables because of which its tables cannot be opened."""
        return tuple(problem for secret in self._secrets_of_tables for problem in secret.missing())

    def require_identified(self) -> None:
        """Check that variables tell which tables are meant, if only without a password.

        Raises
        ------
        InputError
            If more than a password is missing.
        """
        queues = (queue.source for queue in self.reviews)
        for source in (self.predictions.source, self.positives.source, *queues):
            if not source.is_identified:
                source.secret.get()

    @property
    def assumed_prior(self) -> GivenOrEstimated:
        """The class prior as an argument of the estimation from a window's own rows."""
        if isinstance(self.class_prior, PriorOfPeriod):
            return "auto"
        return cast("GivenOrEstimated", self.class_prior)

    @property
    def prior_of_period(self) -> PriorOfPeriod | None:
        """The class prior given for one period, from which it is followed; None if not given so."""
        return self.class_prior if isinstance(self.class_prior, PriorOfPeriod) else None

    @property
    def is_prior_assumed(self) -> bool:
        """Whether the class prior is an assumed constant."""
        return not isinstance(self.class_prior, str | PriorOfPeriod)

    @property
    def is_prior_followed(self) -> bool:
        """Whether class priors are followed over windows, from a reference on.

        Not if the class prior is assumed; nor with propensities, which estimate it in each window;
        nor with `label_purity: auto`, which estimates both in each window; nor with reviews, which
        tell the positives of each window.
        """
        return not self.reviews and _is_followed(self.class_prior, self.label_purity)

    @property
    def labels_are_chosen(self) -> bool:
        """Whether a queue chose the labels, by what the user says, and nothing tells how."""
        return (
            self.label_origin in {"queue", "both"}
            and not self.reviews
            and self.positives.propensity is None
        )

    @property
    def windows(self) -> WindowGrid:
        """The monitor's windows."""
        return WindowGrid(every=self.window, zone=self.zone)

    @property
    def pane_schedule(self) -> PaneSchedule:
        """The ages at which each window is evaluated."""
        return PaneSchedule(
            maturity=self.maturity, provisional=self.panes, source_keeps=self.source_keeps
        )

    @field_validator("panes")
    @classmethod
    def _ages_before_maturity(
        cls, panes: tuple[timedelta, ...] | None, info: ValidationInfo
    ) -> tuple[timedelta, ...] | None:
        for before, age in pairwise(panes or ()):
            if age <= before:
                msg = f"must ascend, got {shown_duration(age)} after {shown_duration(before)}"
                raise ValueError(msg)
        maturity = info.data.get("maturity")
        if maturity is not None:
            PaneSchedule(maturity=maturity, provisional=panes)
        return panes

    @field_validator("source_keeps")
    @classmethod
    def _until_mature(cls, keeps: timedelta | None, info: ValidationInfo) -> timedelta | None:
        if keeps is None or not {"window", "maturity"} <= set(info.data):
            return keeps
        maturity, length = info.data["maturity"], _length(info.data["window"])
        if keeps < maturity + length:
            msg = (
                f"is {shown_duration(keeps)}, and a window of {info.data['window']} is mature when "
                f"its first rows are {shown_duration(maturity + length)} old: no window could be "
                "counted when it is mature; keep rows longer, or shorten maturity"
            )
            raise ValueError(msg)
        return keeps

    @field_validator("reference")
    @classmethod
    def _in_order(cls, reference: Reference | None, info: ValidationInfo) -> Reference | None:
        if reference is not None and "zone" in info.data:
            check_span(reference.span(info.data["zone"]), zone=info.data["zone"])
        return reference

    @field_validator("threshold")
    @classmethod
    def _on_the_scale(cls, threshold: float, info: ValidationInfo) -> float:
        if info.data.get("score_scale") == "probability" and not 0 <= threshold <= 1:
            hint = if_percent(threshold) or (
                "; write score_scale: unbounded if scores can be outside it"
            )
            msg = f"must be within [0, 1], the range of the scores, got {threshold:g}{hint}"
            raise ValueError(msg)
        return threshold

    @field_validator("class_prior")
    @classmethod
    def _with_propensities(cls, prior: Any, info: ValidationInfo) -> Any:
        positives = info.data.get("positives")
        if prior == "propensity" and positives is not None and positives.propensity is None:
            msg = (
                "is 'propensity', and positives have no propensity column: give one, or "
                "another class_prior"
            )
            raise ValueError(msg)
        return prior

    @field_validator("class_prior")
    @classmethod
    def _of_holds_window(cls, prior: Any, info: ValidationInfo) -> Any:
        if not isinstance(prior, PriorOfPeriod) or not {"zone", "window"} <= set(info.data):
            return prior
        zone, every = info.data["zone"], info.data["window"]
        span = prior.span(zone)
        try:
            check_span(span, zone=zone)
        except ValueError as error:
            raise WithinError(f"of {error}", "of") from None
        grid = WindowGrid(every=every, zone=zone)
        if not holds_window(span, grid):
            first = grid.containing(span[0])
            msg = (
                f"of contains no whole window of {every}: it is from {prior.start} to {prior.end}, "
                f"and the window in which it begins is from "
                f"{window_text(first.start, first.end)}; give a period of one window or more"
            )
            raise WithinError(msg, "of")
        return prior

    @field_validator("label_purity")
    @classmethod
    def _above_the_prior(cls, purity: Any, info: ValidationInfo) -> Any:
        prior = info.data.get("class_prior")
        if isinstance(prior, PriorOfPeriod) and is_number(purity) and prior.high >= purity:
            msg = (
                f"is {purity:g} and class_prior goes up to {number_text(prior.high)}: with these "
                "values a confirmed row would be positive no more often than any other row; check "
                "both"
            )
            raise ValueError(msg)
        return purity

    @field_validator("audits")
    @classmethod
    def _shows_no_score(cls, audits: Audits | None, info: ValidationInfo) -> Audits | None:
        predictions = info.data.get("predictions")
        if audits is None or predictions is None:
            return audits
        for one in audits.columns:
            if one == predictions.score:
                msg = f"shows reviewers {one!r}, the score: who sees it judges by it"
                raise WithinError(msg, "columns")
            if one == predictions.id:
                msg = f"names {one!r}, the id, which is in the file of cases anyway: leave it out"
                raise WithinError(msg, "columns")
        return audits

    @field_validator("challengers")
    @classmethod
    def _other_than_the_deployed(
        cls, challengers: Challengers | None, info: ValidationInfo
    ) -> Challengers | None:
        predictions = info.data.get("predictions")
        if challengers is None or predictions is None:
            return challengers
        for name, column in challengers.columns.items():
            if column in {predictions.score, predictions.id, predictions.time}:
                msg = f"has {name}: {column!r}, which the predictions use otherwise"
                raise WithinError(msg, "models")
        if (deployed := info.data.get("model")) in challengers.links.values():
            msg = f"names {deployed}, which is the deployed model itself"
            raise WithinError(msg, "models")
        return challengers

    @field_validator("rules")
    @classmethod
    def _with_valid_rules(cls, rules: tuple[Rule, ...], info: ValidationInfo) -> tuple[Rule, ...]:
        _check_rules(rules, info.data)
        return rules

    def check_rules(self, rules: tuple[Rule, ...]) -> None:
        """Check other rules for this monitor.

        Raises
        ------
        ValueError
            If it cannot have them.
        """
        _check_rules(rules, dict(self))

    @model_validator(mode="after")
    def _beside_entity(self) -> Monitor:
        if self.predictions.entity is not None and self.positives.propensity is not None:
            msg = "predictions.entity does not go with positives.propensity: leave one of them out"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _beside_value(self) -> Monitor:
        if self.predictions.value is None:
            return self
        beside = {
            "audits": self.audits is not None,
            "positives.propensity": self.positives.propensity is not None,
            "label_purity": self.label_purity != 1.0,
            "predictions.entity": self.predictions.entity is not None,
            "ranked_by in reviews": any(queue.ranked_by is not None for queue in self.reviews),
        }
        for name, is_given in beside.items():
            if is_given:
                msg = f"predictions.value does not go with {name} yet: leave one of them out"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _beside_reviews(self) -> Monitor:
        if not self.reviews:
            if self.complaint_rate is not None:
                msg = "complaint_rate is of positives that no queue reviewed: give reviews as well"
                raise ValueError(msg)
            if self.predictions.action is not None:
                msg = "predictions.action tells what was never reviewed: give reviews as well"
                raise ValueError(msg)
            return self
        if self.complaint_rate is not None and self.complaint_rate[1] == 1:
            msg = (
                "complaint_rate is below 1: of positives that nobody reviewed some never complain; "
                "if nearly all do, say so, such as [0.9, 0.99]"
            )
            raise ValueError(msg)
        fields = type(self).model_fields
        for name, why in BESIDE_REVIEWS.items():
            if getattr(self, name) != fields[name].default:
                msg = f"{name} cannot be given beside reviews, as {why}: leave one of them out"
                raise ValueError(msg)
        if self.predictions.features or self.positives.propensity is not None:
            beside = "predictions.features" if self.predictions.features else "positives.propensity"
            msg = (
                f"{beside} cannot be given beside reviews, which say how many positives there are: "
                "leave one of them out"
            )
            raise ValueError(msg)
        if len({(one.blocks, one.detection_rate, one.ranked_by) for one in self.reviews}) > 1:
            msg = (
                "reviews differ in blocks, detection_rate or ranked_by: queues of one monitor must "
                "have these in common"
            )
            raise ValueError(msg)
        self._check_ranked_by()
        return self

    def _check_ranked_by(self) -> None:
        predictions, ranked_by = self.predictions, self.reviews[0].ranked_by
        taken = {predictions.id: "id", predictions.time: "time", predictions.score: "score"}
        taken |= dict.fromkeys(predictions.counted_by, "segments or action")
        if ranked_by in taken:
            hint = "; without ranked_by the score itself" if ranked_by == predictions.score else ""
            msg = (
                f"reviews have ranked_by: {ranked_by}, which predictions name as "
                f"{taken[ranked_by]}: name the column of the score that filled the queue{hint}"
            )
            raise ValueError(msg)

    @field_validator("challengers")
    @classmethod
    def _with_entity(
        cls, challengers: Challengers | None, info: ValidationInfo
    ) -> Challengers | None:
        predictions = info.data.get("predictions")
        if challengers is None or predictions is None or challengers.entity is not None:
            return challengers
        return challengers.model_copy(update={"entity": predictions.entity})

    @field_validator("challengers")
    @classmethod
    def _with_least_propensity(
        cls, challengers: Challengers | None, info: ValidationInfo
    ) -> Challengers | None:
        positives = info.data.get("positives")
        if challengers is None or positives is None:
            return challengers
        is_given = challengers.gate.least_propensity is not None
        if positives.propensity is not None and not is_given:
            msg = (
                "needs least_propensity in gate, as positives have propensities: the least that "
                "any positive has, whose label counts for as many positives as 1 over it"
            )
            raise ValueError(msg)
        if positives.propensity is None and is_given:
            msg = "has least_propensity in gate, and positives have no propensity: drop it"
            raise ValueError(msg)
        return challengers

"""Evaluate the tables of a window, those of later panes only where rows have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pumonitor.audit.estimates import AuditedEstimates, EstimatesByBin
from pumonitor.errors import InputError
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_to_json
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.prior.assumed import LabelPurity
from pumonitor.results import ClassPriorEstimate, Estimate, LabelOrigin
from pumonitor.reviews.earlier import EarlierWindows
from pumonitor.sensitivity.label_preference import why_labels_of_a_queue_do_not_tell
from pumonitor.text import given_text

__all__ = ["EvaluatedTable", "EvaluatedTables"]

_WHATEVER_LABELS: Final = ("predicted_positive_rate",)
"""Estimates that no label has a part in."""
_NO_PRIOR: Final = "no class prior: neither this window nor earlier ones allow an estimate"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvaluatedTable:
    """What a table comes to.

    Attributes
    ----------
    estimates : mapping of str to Estimate
    plain : mapping
        `Evaluation.to_dict()`.
    reason : str or None
        Why there is nothing of both.
    reviewed_prior : ClassPriorEstimate or None
        The class prior by reviews and complaints, where these tell the positives of these rows.
    """

    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    reviewed_prior: ClassPriorEstimate | None = None


class EvaluatedTables:
    """Evaluates the tables of one window, pane after pane.

    Most labels have come when a window is mature: the panes after it often hold the same rows, and
    with the same class prior these come to the same.

    Parameters
    ----------
    threshold : float
    label_purity : float or "auto"
        As in `pumonitor.evaluate_table`.
    label_origin : LabelOrigin, optional
        Where labels come from, if a queue chose them: what needs a fair sample then has no value.
    reviews : HowReviewed, optional
        How rows were reviewed, if they were: there is no other class prior then.
    value, value_unit : str, optional
        Column of what rows are worth, and what that is in.
    """

    def __init__(
        self,
        *,
        threshold: float,
        label_purity: LabelPurity,
        label_origin: LabelOrigin | None = None,
        reviews: HowReviewed | None = None,
        value: str | None = None,
        value_unit: str | None = None,
    ) -> None:
        self.threshold, self.label_purity = threshold, label_purity
        self.value, self._value_unit = value, value_unit
        self.label_origin, self.reviews = label_origin, reviews
        self._newest: dict[int, tuple[object, EvaluatedTable]] = {}

    def of(
        self,
        series: SeriesTable,
        class_prior: ClassPriorEstimate | None,
        audited: AuditedEstimates | None,
        *,
        seed: int,
        is_early: bool = False,
        earlier: EarlierWindows | None = None,
    ) -> EvaluatedTable:
        """What a series of a pane comes to.

        Parameters
        ----------
        series : SeriesTable
        class_prior : ClassPriorEstimate or None
            Not used where there is an audit.
        audited : AuditedEstimates or None
            What audits say of these rows; they are then evaluated anew.
        seed : int
            Of the series, the same for all panes of the window.
        is_early : bool
            Whether labels are still to come, by which reviews are read otherwise.
        earlier : EarlierWindows, optional
            Windows before, with which reviews are read.
        """
        if self.reviews is None:
            is_early = False
        if audited is not None or series.packed is None:
            return self._evaluated(
                series, class_prior, audited, seed=seed, is_early=is_early, earlier=earlier
            )
        made_of = (series.packed, class_prior_to_json(class_prior), is_early, earlier)
        before, evaluation = self._newest.get(seed, (None, None))
        if evaluation is None or before != made_of:
            evaluation = self._evaluated(
                series, class_prior, None, seed=seed, is_early=is_early, earlier=earlier
            )
            self._newest[seed] = made_of, evaluation
        return evaluation

    def _evaluated(
        self,
        series: SeriesTable,
        class_prior: ClassPriorEstimate | None,
        audited: AuditedEstimates | None,
        *,
        seed: int,
        is_early: bool,
        earlier: EarlierWindows | None,
    ) -> EvaluatedTable:
        if series.table is None:
            return EvaluatedTable(reason=series.undefined_reason)
        reading: EstimatesByBin | None = audited
        try:
            if self.reviews is not None:
                reading = self.reviews.read(
                    series.table, threshold=self.threshold, is_early=is_early, earlier=earlier
                )
            why = None if reading is not None else self._why_prior_cannot_be(class_prior)
            if why is not None:
                return EvaluatedTable(reason=why)
            evaluation = evaluate_table(
                series.table,
                threshold=self.threshold,
                class_prior="auto" if reading is not None or class_prior is None else class_prior,
                audit=reading,
                label_purity=self.label_purity,
                curves=False,
                value_unit=self._value_unit,
                rng=seed,
            )
        except InputError as error:
            return EvaluatedTable(reason=str(error))
        why = None if reading is not None else why_labels_of_a_queue_do_not_tell(self.label_origin)
        if why is not None:
            seen = {name: evaluation[name] for name in _WHATEVER_LABELS}
            return EvaluatedTable(estimates=seen, reason=why)
        plain = evaluation.to_dict()
        # It is said of results where they are shown, by the configuration of that day.
        del plain["assumption"]
        return EvaluatedTable(
            estimates=dict(evaluation.estimates),
            plain=plain,
            reviewed_prior=evaluation.class_prior if self.reviews is not None else None,
        )

    def _why_prior_cannot_be(self, class_prior: ClassPriorEstimate | None) -> str | None:
        if class_prior is None:
            return _NO_PRIOR
        purity = self.label_purity
        if isinstance(purity, float) and class_prior.value >= purity:
            return (
                f"the class prior of {given_text(class_prior.value)} is not below the label "
                f"purity of {purity:g}: such labels carry no information"
            )
        return None

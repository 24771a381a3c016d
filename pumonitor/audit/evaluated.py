"""An audit read together with the rows that it was drawn from, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pumonitor.audit.bins import bins_between
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimates import (
    AUDITED,
    AUDITED_ROWS,
    AuditedEstimates,
    EstimatesByBin,
    check_goes_with_audit,
)
from pumonitor.audit.estimation import estimate_audit, undecided_intervals
from pumonitor.audit.fairness import Fairness, check_fairness
from pumonitor.audit.findings import audit_findings
from pumonitor.audit.frequency import FAIR, UNKNOWN, FrequencyByScore
from pumonitor.audit.verdicts import Audit
from pumonitor.errors import InputError
from pumonitor.results import Finding
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditReading(AuditedEstimates):
    """What an audit of these very rows says of them.

    Attributes
    ----------
    audit : Audit
    fairness : Fairness
        The test of fair labels.
    """

    audit: Audit
    fairness: Fairness

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about the audit."""
        return audit_findings(self.audit, self.posterior.counts, self.fairness)

    @property
    def drawn(self) -> Sequence[int]:
        """Cases by bin."""
        return self.audit.design.planned

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without the id of any case but those of refused verdicts."""
        counts = self.posterior.counts
        return {
            "audit": self.audit.design.name,
            "fair": self.audit.fair,
            "audited": [*AUDITED, *AUDITED_ROWS],
            "target": "window",
            "cases": len(self.audit.design.cases),
            "decided": int(counts.decided.sum()),
            "positive": int(counts.positive.sum()),
            "undecided": int(counts.undecided.sum()),
            "unread": self.audit.unread,
            "refused": {one.reason: one.count for one in self.audit.refused},
            "fairness": asdict(self.fairness),
            "undecided_intervals": {name: list(ends) for name, ends in self.undecided.items()},
            "bins": self.by_bin(),
        }


def read_audit(
    audit: Audit,
    table: ScoreTable,
    *,
    threshold: float,
    label_frequency: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
) -> AuditReading:
    """Read an audit together with the confirmations of a table.

    Parameters
    ----------
    audit : Audit
    table : ScoreTable
        Of the rows it was drawn from, with a cell that begins at every edge of its bins. Drawn
        cases count as unlabeled in it.
    threshold : float
        That of the audit.
    label_frequency : (low, high), optional
        What is known besides of the share of the positives that is confirmed, at the same level.
    confidence_level : float
    f_beta : float
        beta of `f_beta`.

    Raises
    ------
    InputError
        If the threshold is another one, rows carry weights, these cannot be the rows that it was
        drawn from, or the label frequency is one number.
    """
    design = audit.design
    if threshold != design.threshold:
        msg = (
            f"audit {design.name} was drawn for the threshold {design.threshold!r}, got "
            f"{threshold!r}: its score bins have an edge there and not elsewhere"
        )
        raise InputError(msg)
    bins = bins_between(table, edges=design.edges, threshold=threshold)
    decided, positive, undecided = audit.by_bin()
    counts = AuditCounts.of(bins, decided=decided, positive=positive, undecided=undecided)
    believed = _believed(audit, label_frequency, confidence_level=confidence_level)
    ends = undecided_intervals(
        counts,
        believed=believed,
        reviewers=audit.reviewers,
        confidence_level=confidence_level,
    )
    return AuditReading(
        name=design.name,
        audit=audit,
        fair=audit.fair,
        posterior=estimate_audit(counts, believed=believed, reviewers=audit.reviewers),
        fairness=check_fairness(counts),
        undecided={name: ends[name] for name in AUDITED if name in ends},
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def _believed(
    audit: Audit, label_frequency: tuple[float, float] | None, *, confidence_level: float
) -> FrequencyByScore:
    """Before the audit."""
    believed = FAIR if audit.fair == "assume" else UNKNOWN
    if label_frequency is None:
        return believed
    return believed.given(*label_frequency, confidence_level=confidence_level)


def read_given_audit(
    audit: Audit | EstimatesByBin | None,
    table: ScoreTable,
    *,
    threshold: float,
    class_prior: object,
    label_frequency: tuple[float, float] | None = None,
    scenario: str,
    label_purity: object,
    auxiliary: object = None,
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
) -> EstimatesByBin | None:
    """What an audit that was given says of a table; None without one.

    Parameters
    ----------
    audit : Audit or EstimatesByBin, optional
        The latter is what one says of these rows already.
    table, threshold, label_frequency, confidence_level, f_beta
        As in `read_audit`.
    class_prior, scenario, label_purity, auxiliary
        What was given beside it.

    Raises
    ------
    ValueError
        If something was given that an audit says itself, or does not go with one.
    InputError
        As `read_audit`.
    """
    if audit is None:
        return None
    check_goes_with_audit(
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        auxiliary=auxiliary,
    )
    if isinstance(audit, EstimatesByBin):
        return audit
    return read_audit(
        audit,
        table,
        threshold=threshold,
        label_frequency=label_frequency,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def audited_table(
    labels: Any,
    scores: Any,
    *,
    thresholds: Iterable[float],
    audit: Audit | None,
    ids: Any,
    **weights: Any,
) -> ScoreTable:
    """Rows as a table that an audit can be read with; without one as they are.

    A cell begins at every edge of its bins, and with ids drawn cases count as unlabeled.

    Parameters
    ----------
    labels, scores, audit, ids
        As in `pumonitor.evaluate`.
    thresholds : iterable of float
    **weights
        Of `ScoreTable.from_arrays`.

    Raises
    ------
    ValueError
        If there are ids without an audit.
    TypeError
        If the audit has been drawn and not read.
    InputError
        If rows cannot be used, or are not those the audit was drawn from.
    """
    if audit is None:
        if ids is not None:
            msg = "ids say which rows an audit drew: give audit as well, or leave ids out"
            raise ValueError(msg)
        return ScoreTable.from_arrays(labels, scores, thresholds=thresholds, **weights)
    if not isinstance(audit, Audit):
        msg = (
            f"audit must be an Audit, got {type(audit).__name__}: read the verdicts on the cases "
            "first, pumonitor.read_verdicts(drawn, verdicts)"
        )
        raise TypeError(msg)
    table = ScoreTable.from_arrays(
        labels if ids is None else audit.labels_without(labels, scores, ids),
        scores,
        thresholds=(*thresholds, *audit.design.edges),
        **weights,
    )
    if ids is None:
        _check_same_labels(audit, table)
    return table


def _check_same_labels(audit: Audit, table: ScoreTable) -> None:
    """Without ids drawn cases cannot be told: labels must then be those of the draw.

    Raises
    ------
    InputError
        If rows or confirmed positives by bin are others than when the audit was drawn.
    """
    bins = bins_between(table, edges=audit.design.edges, threshold=audit.design.threshold)
    if bins.rows.tolist() != list(audit.design.rows) or bins.labeled.tolist() != list(
        audit.design.labeled
    ):
        msg = (
            f"rows or labels are others than when audit {audit.design.name} was drawn: give ids, "
            "one a row, so that its cases count by their verdict alone"
        )
        raise InputError(msg)

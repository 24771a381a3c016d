"""What more cases of an audit would narrow, by the plan of the audit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pumonitor.audit.estimates import AuditedEstimates, EstimatesByBin
from pumonitor.audit_plan import plan_audit_bins
from pumonitor.decisions.reviews import REVIEWED, ReviewOption, ReviewOptions, check_cases


def planned_audit(
    audit: EstimatesByBin,
    threshold: float,
    cases: int,
    *,
    now: Mapping[str, tuple[float, float, float]],
) -> ReviewOptions:
    """Expect the widths of intervals after more cases of an audit: those of its plan.

    Cases come on top of those with verdicts on these rows, in the same score bins. Where an audit
    is carried from other rows, they are an audit of these in the same bins, read by itself: what is
    carried makes it surer than that.

    Parameters
    ----------
    audit : EstimatesByBin
    threshold : float
        The one that it was read for.
    cases : int
        How many more, from 1 to 2000.
    now : mapping of str to (float, float, float)
        Value, low and high of precision, recall and F1 today.

    Raises
    ------
    ValueError
        Unless 1 <= cases <= 2000, or if `audit_refusal` has a reason.

    Notes
    -----
    `pumonitor.audit_plan.plan_audit_bins`, with cases spread for precision, recall and F1: the
    median width over simulated audits, which rest on today's class prior and on confirmations that
    are a fair sample.
    """
    check_cases(cases)
    if (refused := audit_refusal(audit, threshold)) or not isinstance(audit, AuditedEstimates):
        raise ValueError(refused)
    drawn, believed = np.array(audit.drawn), audit.posterior.believed
    plan = plan_audit_bins(
        audit.posterior.counts.bins,
        threshold=threshold,
        class_prior=audit.class_prior,
        cases=int(drawn.sum()) + cases,
        metrics=[metric.name for metric in REVIEWED],
        fair="assume" if believed is not None and believed.fair else "check",
        drawn=drawn.tolist(),
    )
    more = np.array(plan.planned) - drawn
    return ReviewOptions(
        now={metric.name: now[metric.name][2] - now[metric.name][1] for metric in REVIEWED},
        options=(
            ReviewOption(
                where="bins",
                cases=int(more.sum()),
                positives=float(more @ audit.posterior.unlabeled_share.mean(axis=0)),
                widths=dict(plan.widths),
            ),
        ),
    )


def audit_refusal(audit: EstimatesByBin, threshold: float) -> str:
    """Why `planned_audit` cannot answer; empty if it can."""
    if not isinstance(audit, AuditedEstimates):
        return "what more reviews would narrow is planned for audits: pumonitor.plan_audit"
    if audit.posterior.bins.above.any():
        return ""
    return (
        f"no row scores at or above the threshold {threshold:g}, so there is nothing that an audit "
        "would tell there"
    )

"""Evaluate the table of one series of a pane."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pumonitor.audit.estimates import AuditedEstimates
from pumonitor.audit.window_reading import without_shared
from pumonitor.diagnostics.impossible_prior import doubted_estimates, resting_estimates
from pumonitor.errors import InputError
from pumonitor.monitor.ledger.records.results import EvaluatedSeries, MetricResult
from pumonitor.monitor.rules.labels.expected import expected_at_maturity, expected_positives
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.rules.reference.one_prior import (
    AUDITED_SHARE,
    LEVEL_FACTOR,
    PRIOR_FACTOR,
    PRIOR_MOVED,
    PRIOR_TO_COMPARE,
)
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.monitor.rules.reference.what_changed import WhatChanged
from pumonitor.monitor.windows.evaluation.audited_windows import NO_AUDIT, WindowAudits, not_used
from pumonitor.monitor.windows.evaluation.change_rows import Comparison
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_to_json, is_given
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.result_rows import (
    ANY_NUMBER,
    result_row,
)
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.names import GROUPS, VALUE
from pumonitor.plain_values import plain_fields
from pumonitor.ports import State, Window
from pumonitor.results import (
    ClassPriorEstimate,
    Estimate,
    Finding,
)
from pumonitor.reviews.earlier import EarlierWindows

__all__ = ["evaluate_window"]

_ESTIMATES: Final = tuple(name for names in GROUPS.values() for name in names)
NOT_BY_VALUE: Final = tuple(name for name in _ESTIMATES if name not in VALUE)
"""All estimates of an evaluation but those by value, which need to know what rows are worth."""

_REACH: Final = 1.96
_LEVEL: Final = 0.95


def evaluate_window(
    series: SeriesTable,
    *,
    state: State,
    window: Window,
    tables: EvaluatedTables,
    class_prior: ClassPriorEstimate | None,
    reference: ReferenceWindows | None = None,
    maturity: ShareKnown | None = None,
    findings: Sequence[Finding] = (),
    audits: WindowAudits = NO_AUDIT,
    labels_to_come: Mapping[str, Any] | None = None,
    earlier: EarlierWindows | None = None,
) -> EvaluatedSeries:
    """All results of one series of a pane; they depend only on the arguments.

    Parameters
    ----------
    series : SeriesTable
    state : {"provisional", "mature", "final"}
        Of the pane.
    window : Window
        By whose times the intervals' draws are seeded.
    tables : EvaluatedTables
        Evaluates the tables of the window, with the monitor's threshold and label purity.
    class_prior : ClassPriorEstimate or None
        Given, or followed from earlier windows; None where there is none.
    reference : ReferenceWindows, optional
        Results of the windows of the reference (`known_results` of each).
    maturity : ShareKnown, optional
        Share of the expected confirmations that have arrived; used if the pane is provisional.
    findings : sequence of Finding
        Findings from other windows, in addition to those of the evaluation.
    audits : WindowAudits, optional
        What audits say of the window. The class prior, and all else that an audit gives, is then
        theirs.
    labels_to_come : mapping, optional
        Verdicts and complaints that a provisional pane waits for, to be stored with it.
    earlier : EarlierWindows, optional
        Windows before, with which reviews are read.

    Returns
    -------
    EvaluatedSeries
        Results: every estimate, held to its range; "labeled_positives", "predictions",
        "label_maturity"; of a class prior that was followed, the chance that its level has moved
        since the reference, and how many times as high the window's own and the level are:
        "class_prior_moved", "class_prior_factor" and "class_prior_level_factor"; of an audited
        one, the same with the error that windows do not share, "class_prior_to_compare", and of
        the audit that was drawn from it "audited_share";
        "<estimate>_expected", the value expected of a provisional estimate at label maturity;
        "<estimate>_change" against the reference and "aul_change_prior", "aul_change_ranking" (the
        same of F1), its parts. Undefined results are None with a reason; none is left out. The
        evaluation is `Evaluation.to_dict()`, with what it was made with.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> series = SeriesTable(pane=3, model_version="7", segment="", table=table, labeled=40,
    ...                      unlabeled=1000, negative=0, flagged=78, digest="",
    ...                      undefined_reason=None)
    >>> day = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 1, 2, tzinfo=UTC),
    ...              index=20454)
    >>> found = evaluate_window(series, state="mature", window=day,
    ...                         tables=EvaluatedTables(threshold=0.8, label_purity=1.0),
    ...                         class_prior=ClassPriorEstimate.given(0.06))
    >>> rows = {row.metric: row for row in found.results}
    >>> round(rows["precision"].value, 2), rows["labeled_positives"].value
    (0.56, 40.0)
    """
    seed = seed_of(window, model_version=series.model_version, segment=series.segment)
    audited, findings = _audited(audits, findings, seed=seed)
    evaluated = tables.of(
        series,
        class_prior,
        audited,
        seed=seed,
        is_early=state == "provisional",
        earlier=earlier,
    )
    estimates, reason, pure = evaluated.estimates, evaluated.reason, tables.label_purity == 1.0
    stored = dict(evaluated.plain)
    if findings:
        stored["warnings"] = [*stored.get("warnings", ()), *(one.to_dict() for one in findings)]
    share = _share(state, maturity)
    doubts = doubted_estimates(estimates, pure=pure)
    resting = resting_estimates(estimates, pure=pure)
    assumed = audited is None and class_prior is not None and is_given(class_prior)
    to_compare = None if audited is None else _to_compare(audited, audits)
    results = [
        *_estimate_rows(
            series,
            NOT_BY_VALUE if tables.value is None else _ESTIMATES,
            estimates,
            reason,
            doubts=doubts,
            resting=resting,
            assumed=assumed,
        ),
        *_count_rows(series),
        *_followed_rows(series, class_prior),
        *_audit_rows(series, to_compare, audits),
        result_row(series, "label_maturity", share, share.undefined_reason),
    ]
    if state == "provisional":
        prior = class_prior if audited is None else audited.class_prior
        later = _expected(series, estimates, share, prior, threshold=tables.threshold, seed=seed)
        if evaluated.reviewed_prior is not None:
            # They are about the positives themselves, which labels to come do not change.
            later |= {
                name: Uncertain(value=estimate.value, low=estimate.low, high=estimate.high, se=0.0)
                for name, estimate in estimates.items()
                if estimate.undefined_reason is None
            }
        results += _expected_rows(series, estimates, later, share, reason, doubts=doubts)
    if reference is not None:
        results += Comparison(
            series=series,
            estimates=estimates,
            reason=reason,
            reference=reference,
            doubts=doubts,
            assumed=assumed,
            seed=seed,
            factor=_factor(class_prior) if audited is None else to_compare,
            audited=audited is not None or evaluated.reviewed_prior is not None,
        ).rows()
    return EvaluatedSeries(
        model_version=series.model_version,
        segment=series.segment,
        evaluation={
            **stored,
            "state": state,
            "undefined_reason": reason,
            "label_maturity": plain_fields(share, "value", "low", "high", "undefined_reason"),
            **({} if labels_to_come is None else {"labels_to_come": dict(labels_to_come)}),
            "made_with": {
                "seed": seed,
                "class_prior": class_prior_to_json(evaluated.reviewed_prior or class_prior),
                **({} if audited is None else audits.to_json()),
                **({"reviews": tables.reviews.to_json()} if tables.reviews is not None else {}),
                **({} if earlier is None else {"earlier": earlier.to_json()}),
            },
        },
        results=tuple(results),
    )


def _audited(
    audits: WindowAudits, findings: Sequence[Finding], *, seed: int
) -> tuple[AuditedEstimates | None, Sequence[Finding]]:
    """What audits say, and the findings with theirs."""
    found = [*findings, *audits.findings]
    if audits.reading is None:
        return None, found
    try:
        return audits.reading.read(seed=seed), found
    except InputError as error:
        return None, [*found, not_used(str(error))]


def _share(state: State, maturity: ShareKnown | None) -> ShareKnown:
    if state != "provisional":
        return ShareKnown.all_known(confidence_level=_LEVEL)
    if maturity is None:
        return ShareKnown.unknown("no earlier window is mature", confidence_level=_LEVEL)
    return maturity


def _estimate_rows(
    series: SeriesTable,
    names: Sequence[str],
    estimates: Mapping[str, Estimate],
    reason: str | None,
    *,
    doubts: Mapping[str, str],
    resting: Mapping[str, str],
    assumed: bool,
) -> Iterator[MetricResult]:
    for name in names:
        one = estimates.get(name)
        if one is None:
            yield result_row(series, name, None, reason)
            continue
        yield result_row(
            series,
            name,
            one,
            one.undefined_reason,
            limits=one.range,
            doubt=doubts.get(name),
            rests_on=resting.get(name),
            assumed=assumed and name == "class_prior",
        )


def _count_rows(series: SeriesTable) -> Iterator[MetricResult]:
    """Rows of counts, whose intervals have no width since counts are exact."""
    for name, count in (
        ("labeled_positives", series.labeled),
        ("predictions", series.predictions),
    ):
        value = float(count)
        exactly = Uncertain(value=value, low=value, high=value, se=0.0)
        yield result_row(series, name, exactly, None)


def _followed_rows(
    series: SeriesTable, class_prior: ClassPriorEstimate | None
) -> Iterator[MetricResult]:
    """Rows on how a followed class prior has changed; none for other class priors."""
    changed = WhatChanged.of(class_prior)
    if changed is None:
        return
    chance = Uncertain(value=changed.moved, low=changed.moved, high=changed.moved, se=0.0)
    yield result_row(series, PRIOR_MOVED, chance, None)
    yield result_row(series, PRIOR_FACTOR, _factor(class_prior), None)
    level = changed.since_reference["class_prior"]
    yield result_row(series, LEVEL_FACTOR, _ratio(level.value, level.low, level.high), None)


def _to_compare(audited: AuditedEstimates, audits: WindowAudits) -> Uncertain | None:
    """An audited class prior with the error that windows do not share."""
    prior = audited.estimates["class_prior"]
    if audits.reading is None or prior.undefined_reason is not None or prior.value <= 0:
        return None
    apart = without_shared(audited.posterior, audits.reading.shared)
    low, high = (prior.value * math.exp(side * _REACH * apart) for side in (-1, 1))
    return Uncertain(value=prior.value, low=low, high=high, se=(high - low) / (2 * _REACH))


def _audit_rows(
    series: SeriesTable, found: Uncertain | None, audits: WindowAudits
) -> Iterator[MetricResult]:
    """Rows on an audited class prior and on the audit drawn from the window; none without."""
    if found is not None:
        yield result_row(series, PRIOR_TO_COMPARE, found, None)
    if found is not None and audits.share_read is not None:
        share = audits.share_read
        exactly = Uncertain(value=share, low=share, high=share, se=0.0)
        yield result_row(series, AUDITED_SHARE, exactly, None)


def _factor(class_prior: ClassPriorEstimate | None) -> Uncertain | None:
    """Ratio of a window's followed class prior to that of the reference."""
    changed = WhatChanged.of(class_prior)
    return None if changed is None else _ratio(**changed.factor)


def _ratio(value: float, low: float, high: float) -> Uncertain:
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * _REACH))


def _expected(
    series: SeriesTable,
    estimates: Mapping[str, Estimate],
    share: ShareKnown,
    class_prior: ClassPriorEstimate | None,
    *,
    threshold: float,
    seed: int,
) -> dict[str, Uncertain]:
    """The number of labels and the estimates expected at label maturity, as far as known."""
    if share.undefined_reason is not None:
        return {}
    positives = expected_positives(series.labeled, share, confidence_level=_LEVEL, rng=seed)
    later = {"labeled_positives": positives}
    if series.table is not None and class_prior is not None and estimates:
        later |= expected_at_maturity(
            series.table,
            estimates,
            share,
            class_prior=class_prior,
            threshold=threshold,
            confidence_level=_LEVEL,
            rng=seed,
        )
    return later


def _expected_rows(
    series: SeriesTable,
    estimates: Mapping[str, Estimate],
    later: Mapping[str, Uncertain],
    share: ShareKnown,
    reason: str | None,
    *,
    doubts: Mapping[str, str],
) -> Iterator[MetricResult]:
    positives = later.get("labeled_positives")
    yield result_row(series, "labeled_positives_expected", positives, share.undefined_reason)
    for name in _ESTIMATES:
        if "_max" in name or (name in VALUE and name not in later):
            continue
        now = estimates.get(name)
        why = share.undefined_reason or reason or (None if now is None else now.undefined_reason)
        yield result_row(
            series,
            f"{name}_expected",
            None if now is None else later.get(name),
            why,
            limits=ANY_NUMBER if now is None else now.range,
            doubt=doubts.get(name),
        )

"""From the table of one series of a pane to its results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final, TypedDict, Unpack

from pumonitor.errors import InputError
from pumonitor.evaluation import evaluate_table
from pumonitor.monitoring.attribution import (
    attribute_aul,
    attribute_f1,
    change_at_one_prior,
    difference,
)
from pumonitor.monitoring.expected import expected_at_maturity, expected_positives
from pumonitor.monitoring.maturity import ShareKnown
from pumonitor.monitoring.uncertain import Known, Uncertain
from pumonitor.names import GROUPS
from pumonitor.ports import State
from pumonitor.prior.assumed import LabelPurity
from pumonitor.results import (
    ClassPriorEstimate,
    Estimate,
    Evaluation,
    Scenario,
    Target,
    finite_or_none,
)
from pumonitor.service.class_priors import class_prior_to_json
from pumonitor.service.series_tables import SeriesTable
from pumonitor.store.records import EvaluatedSeries, MetricResult

__all__ = ["CHANGING", "EvaluationSettings", "evaluate_window", "known_results", "seed_of"]

CHANGING: Final = ("aul", "auc", "average_precision", "f1", "precision", "recall", "class_prior")
"""Estimates whose change against the reference is a result of its own."""

ESTIMATES: Final = tuple(name for names in GROUPS.values() for name in names)
"""All estimates of an evaluation."""

_ATTRIBUTED: Final = {
    "aul": (attribute_aul, ("aul", "class_prior")),
    "f1": (attribute_f1, ("class_prior", "recall", "predicted_positive_rate")),
}
_PARTS: Final = ("prior", "ranking")
_NO_PRIOR: Final = "no class prior: it cannot be estimated from this window or those before it"


class EvaluationSettings(TypedDict, total=False):
    """Keywords that go to `pumonitor.evaluate_table` as they are."""

    scenario: Scenario
    label_purity: LabelPurity
    target: Target
    confidence_level: float
    top_k: float
    f_beta: float
    correct_prior_bias: bool
    calibrated_scores: bool
    curves: bool


def evaluate_window(
    series: SeriesTable,
    *,
    state: State,
    key: str,
    threshold: float,
    class_prior: ClassPriorEstimate | None,
    reference: Mapping[str, Known] | None = None,
    maturity: ShareKnown | None = None,
    **settings: Unpack[EvaluationSettings],
) -> EvaluatedSeries:
    """All results of one series of a pane, a function of the data and of nothing else.

    Parameters
    ----------
    series : SeriesTable
    state : {"provisional", "mature", "final"}
        Of the pane.
    key : str
        The window's, from which the intervals' draws are seeded.
    threshold : float
    class_prior : ClassPriorEstimate or None
        Given, or pooled with earlier windows; None where there is none.
    reference : mapping of str to estimates, optional
        Those of the reference window, by name (`known_results`).
    maturity : ShareKnown, optional
        Of the positives that will be confirmed, those that are by now; read where the pane is
        provisional.
    **settings
        Further keywords of `pumonitor.evaluate_table`; curves are left out unless asked for.

    Returns
    -------
    EvaluatedSeries
        Results: every estimate, held to its range; "labeled_positives", "predictions",
        "label_maturity";
        "<estimate>_expected", what a provisional estimate is expected to become;
        "<estimate>_change" against the reference and "aul_change_prior", "aul_change_ranking" (the
        same of F1), its parts. What cannot be told is None with its reason; nothing is left out.
        The evaluation is `Evaluation.to_dict()`, with what it was made with.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> series = SeriesTable(pane=3, model_version="7", segment="", table=table, labeled=40,
    ...                      unlabeled=1000, negative=0, flagged=78, digest="",
    ...                      undefined_reason=None)
    >>> found = evaluate_window(series, state="mature", key="a window", threshold=0.8,
    ...                         class_prior=ClassPriorEstimate.given(0.06))
    >>> rows = {row.metric: row for row in found.results}
    >>> round(rows["precision"].value, 2), rows["labeled_positives"].value
    (0.56, 40.0)
    """
    seed = seed_of(key, model_version=series.model_version, segment=series.segment)
    level = settings.get("confidence_level", 0.95)
    evaluation, reason = _evaluated(
        series, class_prior, threshold=threshold, seed=seed, settings=settings
    )
    estimates = {} if evaluation is None else dict(evaluation.estimates)
    share = _share(state, maturity, level)
    results = [
        *_estimate_rows(series, estimates, reason),
        *_count_rows(series),
        _row(series, "label_maturity", share, share.undefined_reason),
    ]
    if state == "provisional":
        results += _expected_rows(
            series, estimates, share, reason, threshold=threshold, level=level, seed=seed
        )
    if reference is not None:
        results += _change_rows(series, estimates, reference, reason, level=level, seed=seed)
    return EvaluatedSeries(
        model_version=series.model_version,
        segment=series.segment,
        evaluation={
            **({} if evaluation is None else evaluation.to_dict()),
            "state": state,
            "undefined_reason": reason,
            "label_maturity": {
                "value": finite_or_none(share.value),
                "low": finite_or_none(share.low),
                "high": finite_or_none(share.high),
                "undefined_reason": share.undefined_reason,
            },
            "made_with": {"seed": seed, "class_prior": class_prior_to_json(class_prior)},
        },
        results=tuple(results),
    )


def known_results(results: Iterable[MetricResult]) -> dict[str, Known]:
    """Stored results that have a value and an interval, by name: what a reference is.

    Examples
    --------
    >>> rows = [MetricResult(metric="aul", value=0.8, low=0.7, high=0.9, se=0.05),
    ...         MetricResult(metric="f1", value=None, undefined_reason="no positives")]
    >>> sorted(known_results(rows))
    ['aul']
    """
    return {
        row.metric: Uncertain(
            value=row.value,
            low=row.low,
            high=row.high,
            se=math.nan if row.se is None else row.se,
        )
        for row in results
        if row.value is not None and row.low is not None and row.high is not None
    }


def seed_of(key: str, *, model_version: str, segment: str) -> int:
    """Seed of a series of a window: the same for all its panes, so that they differ by data."""
    parts = (key, model_version, segment)
    named = "".join(f"{len(part)}:{part}" for part in parts).encode()
    return int.from_bytes(sha256(named).digest()[:7], "big")


def _evaluated(
    series: SeriesTable,
    class_prior: ClassPriorEstimate | None,
    *,
    threshold: float,
    seed: int,
    settings: EvaluationSettings,
) -> tuple[Evaluation | None, str | None]:
    """The evaluation, or why there is none."""
    if series.table is None:
        return None, series.undefined_reason
    if class_prior is None:
        return None, _NO_PRIOR
    purity = settings.get("label_purity", 1.0)
    if isinstance(purity, float) and class_prior.value >= purity:
        return None, (
            f"the class prior of {class_prior.value:.4g} is not below the label purity of "
            f"{purity:g}: such labels tell nothing"
        )
    with_curves: EvaluationSettings = {"curves": False, **settings}
    try:
        evaluation = evaluate_table(
            series.table, threshold=threshold, class_prior=class_prior, rng=seed, **with_curves
        )
    except InputError as error:
        return None, str(error)
    return evaluation, None


def _share(state: State, maturity: ShareKnown | None, level: float) -> ShareKnown:
    if state != "provisional":
        return ShareKnown.all_known(confidence_level=level)
    if maturity is None:
        return ShareKnown.unknown("no earlier window is mature", confidence_level=level)
    return maturity


def _estimate_rows(
    series: SeriesTable, estimates: Mapping[str, Estimate], reason: str | None
) -> Iterator[MetricResult]:
    for name in ESTIMATES:
        one = estimates.get(name)
        shown = None if one is None else _within(one, one.range)
        yield _row(series, name, shown, reason if one is None else one.undefined_reason)


def _count_rows(series: SeriesTable) -> Iterator[MetricResult]:
    """Counts are known exactly: their interval is themselves."""
    for name, count in (
        ("labeled_positives", series.labeled),
        ("predictions", series.predictions),
    ):
        value = float(count)
        yield _row(series, name, Uncertain(value=value, low=value, high=value, se=0.0), None)


def _expected_rows(
    series: SeriesTable,
    estimates: Mapping[str, Estimate],
    share: ShareKnown,
    reason: str | None,
    *,
    threshold: float,
    level: float,
    seed: int,
) -> Iterator[MetricResult]:
    expected: dict[str, Uncertain] = {}
    positives: Uncertain | None = None
    if share.undefined_reason is None:
        positives = expected_positives(series.labeled, share, confidence_level=level, rng=seed)
        if series.table is not None and estimates:
            expected = expected_at_maturity(
                series.table,
                estimates,
                share,
                threshold=threshold,
                confidence_level=level,
                rng=seed,
            )
    yield _row(series, "labeled_positives_expected", positives, share.undefined_reason)
    for name in ESTIMATES:
        if "_max" not in name:
            now = estimates.get(name)
            why = (
                share.undefined_reason or reason or (None if now is None else now.undefined_reason)
            )
            later = expected.get(name)
            if later is not None and now is not None:
                later = _within(later, now.range)
            yield _row(series, f"{name}_expected", later, why)


def _change_rows(
    series: SeriesTable,
    estimates: Mapping[str, Estimate],
    reference: Mapping[str, Known],
    reason: str | None,
    *,
    level: float,
    seed: int,
) -> Iterator[MetricResult]:
    now = {name: one for name, one in estimates.items() if one.undefined_reason is None}

    def missing(names: Iterable[str]) -> str | None:
        for name in names:
            if name not in now:
                one = estimates.get(name)
                return reason if one is None else one.undefined_reason
            if name not in reference:
                return f"the reference has no {name}"
        return None

    for name in CHANGING:
        why = missing([name])
        change = None
        if why is None:
            change = _change(name, now, reference, level=level, seed=seed)
        yield _row(series, f"{name}_change", change, why)
    for name, (attribute, needed) in _ATTRIBUTED.items():
        why = missing(needed)
        parts: Mapping[str, Uncertain] = {}
        if why is None:
            parts = attribute(now, reference, confidence_level=level, rng=seed)
        for part in _PARTS:
            yield _row(series, f"{name}_change_{part}", parts.get(part), why)


def _change(
    name: str,
    now: Mapping[str, Estimate],
    reference: Mapping[str, Known],
    *,
    level: float,
    seed: int,
) -> Uncertain:
    """Against the reference, both held to their range: a change of what people are shown."""
    least, most = limits = now[name].range
    shown = _within(now[name], limits)
    known = reference[name]
    before = _within(
        Uncertain(value=known.value, low=known.low, high=known.high, se=math.nan), limits
    )
    change = None
    if "class_prior" in now and "class_prior" in reference:
        change = change_at_one_prior(name, now, reference, confidence_level=level, rng=seed)
    if change is None:
        change = difference(shown, before, confidence_level=level)
    value = shown.value - before.value
    return Uncertain(
        value=value,
        low=min(max(change.low, least - most), value),
        high=max(min(change.high, most - least), value),
        se=change.se,
    )


def _within(number: Estimate | Uncertain, limits: tuple[float, float]) -> Uncertain:
    """What people are shown: a share above 1 is evidence, and in the evaluation."""
    value, low, high = (
        float(min(max(part, limits[0]), limits[1]))
        for part in (number.value, number.low, number.high)
    )
    return Uncertain(value=value, low=low, high=high, se=number.se)


def _row(
    series: SeriesTable,
    metric: str,
    number: Estimate | Uncertain | ShareKnown | None,
    reason: str | None,
) -> MetricResult:
    """A row of finite numbers; without any, its reason."""
    value = math.nan if number is None else number.value
    if number is None or not math.isfinite(value):
        return MetricResult(
            metric=metric,
            value=None,
            n_labeled=series.labeled,
            n_unlabeled=series.unlabeled,
            undefined_reason=reason or "it has no value here",
        )
    return MetricResult(
        metric=metric,
        value=float(value),
        low=finite_or_none(number.low),
        high=finite_or_none(number.high),
        se=None if isinstance(number, ShareKnown) else finite_or_none(number.se),
        n_labeled=series.labeled,
        n_unlabeled=series.unlabeled,
    )

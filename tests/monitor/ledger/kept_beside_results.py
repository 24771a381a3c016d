"""What is kept beside all results for quick reading, against the results themselves."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from pumonitor.monitor.ledger.database.schema import (
    headline_results,
    latest,
    monitors,
    newest_panes,
    panes,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.results import (
    EvaluatedPane,
    EvaluatedSeries,
    MetricResult,
    PublishedResult,
)
from pumonitor.monitor.ledger.results.newest_panes import HEADLINES

METRICS = ("auc", "f1", "label_maturity", "mcc", "mcc_expected", "predictions")


def judged(claim: Claim, rng: random.Random) -> list[EvaluatedPane]:
    """Made-up numbers, of a version that may have stopped and of segments that come and go."""
    return [
        EvaluatedPane(
            number=one.pane.number,
            series=[
                EvaluatedSeries(
                    model_version=version,
                    segment=segment,
                    evaluation={"drawn": rng.random()},
                    results=[result(name, rng) for name in METRICS],
                )
                for version in ("7", "8")
                for segment in ("", "country=DE", "country=FR")
                if rng.random() < 0.7
            ],
        )
        for one in claim.panes
    ]


def result(metric: str, rng: random.Random) -> MetricResult:
    if rng.random() < 0.2:
        return MetricResult(metric=metric, value=None, undefined_reason="no positives")
    value = rng.random()
    return MetricResult(
        metric=metric,
        value=value,
        low=value - 0.1,
        high=value + 0.1,
        n_labeled=rng.randrange(100),
        infeasible=rng.random() < 0.2,
        impossible=rng.random() < 0.2,
        assumed=metric == "class_prior",
    )


def evaluate_one(ledger: Ledger, rng: random.Random) -> None:
    claim = ledger.claim_evaluate("evaluator")
    if claim is not None:
        ledger.commit_evaluate(claim, judged(claim, rng))


def as_rows(found: ResultColumns) -> list[PublishedResult]:
    return found.results()


def newest_from_results(ledger: Ledger) -> dict[str, list[PublishedResult]]:
    """Of all revisions those that are the newest of their window, by configuration."""
    with ledger.database.reading() as connection:
        configurations = connection.scalars(select(monitors.c.configuration).distinct()).all()
        newest = {
            row.window_key: (row.pane, row.revision) for row in connection.execute(select(latest))
        }
        keys = {
            (row.monitor, row.configuration, row.window_start): row.window_key
            for row in connection.execute(select(windows))
        }
    found: dict[str, list[PublishedResult]] = {}
    for configuration in configurations:
        for one in ledger.results(revisions="all", configuration=configuration):
            known = newest[keys[one.monitor, configuration, one.window_start]]
            if one.revision == known[1]:
                found.setdefault(configuration, []).append(one)
    return found


def check_newest(ledger: Ledger) -> None:
    """Both tables against all results, read the way that uses neither."""
    expected = newest_from_results(ledger)
    with ledger.database.reading() as connection:
        kept = connection.execute(select(newest_panes)).mappings().all()
        numbers = connection.execute(select(headline_results)).mappings().all()
        last = connection.execute(_last_evaluated()).all()
        stored = connection.execute(
            select(monitors.c.name, monitors.c.configuration, monitors.c.last_evaluated_at).where(
                monitors.c.last_evaluated_at.is_not(None)
            )
        ).all()
    fields = ("monitor", "segment", "model_version", "window_start", "window_end")
    pane = (*fields, "state", "revision", "as_of")
    number = (*fields, "state", "metric", "value", "low", "high", "infeasible", "impossible")
    assert _chosen(kept, ("configuration", *pane)) == sorted(
        {str((name, *_fields(one, pane))) for name, rows in expected.items() for one in rows}
    )
    assert _chosen(numbers, ("configuration", *number, "assumed")) == sorted(
        str((name, *_fields(one, (*number, "assumed"))))
        for name, rows in expected.items()
        for one in rows
        if one.metric in HEADLINES
    )
    assert sorted(map(str, stored)) == sorted(map(str, last))


def _chosen(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    return sorted(str(tuple(row[name] for name in names)) for row in rows)


def _fields(one: PublishedResult, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in names)


def _last_evaluated() -> Any:
    return (
        select(windows.c.monitor, windows.c.configuration, func.max(panes.c.evaluated_at))
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(panes.c.evaluated_at.is_not(None))
        .group_by(windows.c.monitor, windows.c.configuration)
    )

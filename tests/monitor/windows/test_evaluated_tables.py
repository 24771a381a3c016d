"""Panes of a window with the same rows and class prior come to the same, and are evaluated once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes
from pumonitor.monitor.windows.evaluation import evaluated_tables
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

pytestmark = pytest.mark.usefixtures("unsearched_labels")

PRIOR = ClassPriorEstimate.given((0.06, 0.05, 0.07))
SEED = 5


def pane(labeled: list[int], number: int = 3) -> SeriesTable:
    table = ScoreTable.from_counts(labeled, [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    return SeriesTable(
        pane=number, model_version="7", segment="", table=table, packed=table_to_bytes(table),
        labeled=sum(labeled), unlabeled=1000, negative=0, flagged=78, digest="",
        undefined_reason=None,
    )  # fmt: skip


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[ScoreTable]:
    """The tables that are evaluated."""
    seen: list[ScoreTable] = []

    def counted(table, **settings):
        seen.append(table)
        return evaluate_table(table, **settings)

    monkeypatch.setattr(evaluated_tables, "evaluate_table", counted)
    return seen


@pytest.fixture
def tables() -> EvaluatedTables:
    return EvaluatedTables(threshold=0.8, label_purity=1.0)


def alone(series: SeriesTable, prior: ClassPriorEstimate = PRIOR, seed: int = SEED) -> object:
    fresh = EvaluatedTables(threshold=0.8, label_purity=1.0)
    return fresh.of(series, prior, None, seed=seed).plain


def test_a_pane_without_new_rows_is_not_evaluated_again(tables, evaluations):
    first = tables.of(pane([2, 10, 28]), PRIOR, None, seed=SEED)
    assert tables.of(pane([2, 10, 28], number=4), PRIOR, None, seed=SEED) is first
    assert len(evaluations) == 1


@pytest.mark.parametrize(
    ("series", "prior", "seed"),
    [
        pytest.param(pane([2, 11, 28]), PRIOR, SEED, id="a new label"),
        pytest.param(pane([2, 10, 28]), replace(PRIOR, high=0.08), SEED, id="another class prior"),
        pytest.param(pane([2, 10, 28]), PRIOR, SEED + 1, id="another series"),
        pytest.param(replace(pane([2, 10, 28]), packed=None), PRIOR, SEED, id="not stored yet"),
    ],
)
def test_whatever_else_a_pane_is_made_of_it_is_evaluated(tables, evaluations, series, prior, seed):
    tables.of(pane([2, 10, 28]), PRIOR, None, seed=SEED)
    found = tables.of(series, prior, None, seed=seed)
    assert len(evaluations) == 2
    assert found.plain == alone(series, prior, seed)


def test_a_series_that_has_no_class_prior_any_more_has_no_results(tables):
    tables.of(pane([2, 10, 28]), PRIOR, None, seed=SEED)
    found = tables.of(pane([2, 10, 28], number=4), None, None, seed=SEED)
    assert not found.estimates
    assert "no class prior" in str(found.reason)

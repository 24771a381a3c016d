from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.ledger.records.results import EvaluatedSeries, MetricResult
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.windows.evaluation.change_rows import CHANGING
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json, own_class_prior
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.result_rows import known_results
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable, tables_of
from pumonitor.monitor.windows.evaluation.window_evaluation import (
    NOT_BY_VALUE,
    evaluate_window,
)
from pumonitor.ports import State
from pumonitor.results import ClassPriorEstimate
from tests.monitor.counted_rows import PANES, THRESHOLD, WINDOW, Row, counted, some_rows

PRIOR = ClassPriorEstimate.given((0.1, 0.08, 0.12))
SHARE = ShareKnown(value=0.4, low=0.35, high=0.45)


def series(rows: list[Row], pane: int = 1) -> SeriesTable:
    tables = tables_of(counted(rows), PANES, threshold=THRESHOLD, max_cells=128)
    return next(one for one in tables if (one.pane, one.segment) == (pane, ""))


def evaluated(one: SeriesTable, *, state: State = "mature", **changes: Any) -> EvaluatedSeries:
    purity = changes.pop("label_purity", 1.0)
    settings: dict[str, Any] = {
        "window": WINDOW,
        "tables": EvaluatedTables(threshold=THRESHOLD, label_purity=purity),
        "class_prior": PRIOR,
    }
    return evaluate_window(one, state=state, **(settings | changes))


def rows_of(found: EvaluatedSeries) -> dict[str, MetricResult]:
    rows = {row.metric: row for row in found.results}
    assert len(rows) == len(found.results)
    for row in found.results:
        assert (row.value is None) == (row.undefined_reason is not None), row
    json.dumps(found.evaluation, allow_nan=False)
    return rows


@pytest.fixture(scope="module")
def mature() -> SeriesTable:
    return series(some_rows(1))


@pytest.fixture(scope="module")
def reference() -> ReferenceWindows:
    found = (evaluated(series(some_rows(seed))).results for seed in range(2, 7))
    return ReferenceWindows(windows=[known_results(results) for results in found])


def test_results_are_those_of_evaluate_table(mature: SeriesTable) -> None:
    found = evaluated(mature)
    rows = rows_of(found)
    assert mature.table is not None
    seed = seed_of(WINDOW, model_version="1", segment="")
    direct = evaluate_table(mature.table, threshold=THRESHOLD, class_prior=PRIOR, rng=seed)
    assert set(NOT_BY_VALUE) == set(direct.estimates)
    for name, one in direct.estimates.items():
        assert (rows[name].value, rows[name].low, rows[name].high) == (one.value, one.low, one.high)
    assert rows["labeled_positives"].value == rows["labeled_positives"].low == mature.labeled
    assert rows["predictions"].value == 3000
    assert rows["label_maturity"].value == 1.0
    assert {row.n_labeled for row in found.results} == {mature.labeled}
    assert set(rows) == {*NOT_BY_VALUE, "labeled_positives", "predictions", "label_maturity"}
    assert found.evaluation["estimates"]["f1"]["value"] == rows["f1"].value
    assert found.evaluation["curves"] == {}


def test_what_it_was_made_with_makes_it_again(mature: SeriesTable) -> None:
    found = evaluated(mature)
    made_with = json.loads(json.dumps(found.evaluation))["made_with"]
    prior = class_prior_from_json(made_with["class_prior"])
    assert prior is not None
    assert mature.table is not None
    again = evaluate_table(
        mature.table, threshold=THRESHOLD, class_prior=prior, rng=made_with["seed"]
    )
    assert again["f1"].to_dict() == found.evaluation["estimates"]["f1"]


def test_the_same_data_give_the_same_results_and_another_series_other_draws(
    mature: SeriesTable, reference: ReferenceWindows
) -> None:
    settings = {"state": "provisional", "maturity": SHARE, "reference": reference}
    assert evaluated(mature, **settings) == evaluated(mature, **settings)
    seeds = {
        seed_of(window, model_version=version, segment=segment)
        for window in (WINDOW, replace(WINDOW, end=WINDOW.end + timedelta(days=1)), None)
        for version in ("", "1")
        for segment in ("", "1")
    }
    assert len(seeds) == 12


def test_a_provisional_window_says_what_it_is_expected_to_become() -> None:
    early = series(some_rows(1), pane=0)
    rows = rows_of(evaluated(early, state="provisional", maturity=SHARE))
    assert rows["label_maturity"].value == 0.4
    positives = rows["labeled_positives_expected"]
    assert positives.value == early.labeled / 0.4
    assert positives.low is not None
    assert positives.high is not None
    assert positives.low < positives.value < positives.high
    assert rows["aul_expected"].value == rows["aul"].value
    assert rows["f1_pu_expected"].value > rows["f1_pu"].value  # type: ignore[operator]
    assert not [name for name in rows if "_max" in name and name.endswith("_expected")]


def test_without_mature_windows_nothing_is_expected_and_the_reason_is_said() -> None:
    early = series(some_rows(1), pane=0)
    rows = rows_of(evaluated(early, state="provisional"))
    assert rows["label_maturity"].undefined_reason == "no earlier window is mature"
    assert rows["aul"].value is not None
    assert rows["aul_expected"].undefined_reason == "no earlier window is mature"


def test_changes_against_the_reference_have_intervals_and_parts(
    reference: ReferenceWindows,
) -> None:
    twice = [
        Row(score=row.score, label=row.label, known_after=row.known_after) for row in some_rows(3)
    ]
    worse = [
        Row(score=row.score**3 if row.label == 1 else row.score, label=row.label) for row in twice
    ]
    rows = rows_of(evaluated(series(worse), reference=reference))
    assert {f"{name}_change" for name in CHANGING} <= set(rows)
    change, prior, ranking = (rows[f"aul_change{part}"] for part in ("", "_prior", "_ranking"))
    assert change.value == pytest.approx(rows["aul"].value - reference.usual("aul").value)  # type: ignore[operator]
    assert change.value == pytest.approx(ranking.value, abs=1e-9)
    assert change.high is not None
    assert change.high < 0
    assert ranking.high is not None
    assert ranking.high < 0
    assert rows["f1_change"].value == pytest.approx(rows["f1_change_ranking"].value)
    for name in ("class_prior_change", "aul_change_prior", "f1_change_prior"):
        assert rows[name].value is None
        assert rows[name].undefined_reason == (
            "the class prior is assumed in the configuration and not estimated"
        )
    assert prior.value is None


def test_a_change_against_nothing_is_undefined(
    mature: SeriesTable, reference: ReferenceWindows
) -> None:
    lacking = [
        {name: one for name, one in window.items() if name != "class_prior"}
        for window in reference.windows
    ]
    rows = rows_of(evaluated(mature, reference=ReferenceWindows(windows=lacking)))
    reason = "the reference has no possible value of class_prior"
    assert rows["aul_change_ranking"].undefined_reason == reason
    assert rows["aul_change"].value is not None


def test_too_few_positives_leave_counts_and_reasons(reference: ReferenceWindows) -> None:
    few = series([Row(score=0.1 * at) for at in range(9)] + [Row(score=0.9, label=1)])
    found = evaluated(few, state="provisional", maturity=SHARE, reference=reference)
    rows = rows_of(found)
    assert (rows["labeled_positives"].value, rows["predictions"].value) == (1.0, 10.0)
    assert rows["labeled_positives_expected"].value == 2.5
    for name in ("f1", "auc_expected", "aul_change", "aul_change_ranking"):
        assert rows[name].undefined_reason is not None
        assert rows[name].undefined_reason.startswith("too few positives: only 1 of 10 rows")  # type: ignore[union-attr]
    assert found.evaluation["undefined_reason"] == rows["f1"].undefined_reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"class_prior": None}, r"no class prior"),
        ({"label_purity": 0.09}, r"class prior of 0\.1 is not below the label purity of 0\.09"),
        ({"class_prior": ClassPriorEstimate.given(0.001)}, r"class_prior=0\.001 is impossible"),
    ],
)
def test_what_cannot_be_evaluated_says_why(
    mature: SeriesTable, changes: dict[str, Any], reason: str
) -> None:
    rows = rows_of(evaluated(mature, **changes))
    assert rows["labeled_positives"].value == mature.labeled
    said = rows["f1"].undefined_reason
    assert said is not None
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(said)


def test_a_constant_score_says_so() -> None:
    rows = [Row(score=0.7, label=at % 2) for at in range(20)]
    said = rows_of(evaluated(series(rows)))["auc"].undefined_reason
    assert said is not None
    assert said.startswith("scores are all equal to 0.7")


def test_an_estimated_prior_is_carried_through(mature: SeriesTable) -> None:
    own = own_class_prior(mature.table, "auto")
    rows = rows_of(evaluated(mature, class_prior=own))
    assert own is not None
    assert rows["class_prior"].value == own.value
    assert rows["f1"].se is not None
    assert rows["f1"].se > 0

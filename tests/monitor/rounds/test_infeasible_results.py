"""An impossible class prior, from a window's table to rules, metrics and what people read."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.alerts.track import _reading
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.mlflow.metric_values import metric_values
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.result_rows import known_results, result_row
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.monitor.windows.evaluation.window_evaluation import evaluate_window
from pumonitor.monitor.windows.messages.window_messages import shown_metrics, verdict_of
from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.tables import ScoreTable
from pumonitor.views.estimates import logged_estimates as metrics_of_evaluator
from tests.monitor.counted_rows import WINDOW
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

NOW = FIRST + timedelta(days=6)
TABLE = ScoreTable.from_counts([2, 10, 28], [7000, 2500, 500], edges=[0.0, 0.2, 0.8, 1.0])


def evaluated(prior, *, table=TABLE, reference=None):
    series = SeriesTable(
        pane=3, model_version="7", segment="", table=table, labeled=40, unlabeled=10_000,
        negative=0, flagged=528, digest="", undefined_reason=None,
    )  # fmt: skip
    return evaluate_window(
        series,
        state="mature",
        window=WINDOW,
        tables=EvaluatedTables(threshold=0.8, label_purity=1.0),
        class_prior=ClassPriorEstimate.given(prior),
        reference=reference,
    )


def reference_of(results):
    """Five windows of which each came to this."""
    return ReferenceWindows(windows=[known_results(results)] * 5)


def by_name(found):
    return {row.metric: row for row in found.results}


@pytest.fixture(scope="module")
def impossible():
    return by_name(evaluated(0.3))


def test_an_impossible_value_is_kept_beside_what_is_shown(impossible):
    precision = impossible["precision"]
    assert (precision.value, precision.low, precision.high) == (1.0, None, None)
    assert precision.infeasible
    assert precision.impossible
    assert precision.unclipped_value > precision.unclipped_low > 1.0
    assert precision.infeasible_reason.startswith("Precision came out at 3.99 (3.11 to 4.76)")
    assert precision.infeasible_reason.endswith(
        "which is impossible: the class prior is wrong, or the confirmed positives are not a fair "
        "sample of the positives"
    )


def test_what_is_computed_from_impossible_rates_says_so_and_stays_evidence():
    """A precision of 2.3 by chance: 1 of 8 confirmed positives is among 2 flagged of 1,000."""
    table = ScoreTable.from_counts([7, 1], [991, 1], edges=[0.0, 0.8, 1.0])
    rows = by_name(evaluated(0.1, table=table))
    precision = rows["precision"]
    assert (precision.value, precision.infeasible, precision.impossible) == (1.0, True, False)
    said = precision.infeasible_reason.partition(": by chance, or ")[0]
    assert said.startswith("Precision came out at 6.25 (")
    resting = "f1", "f_beta", "mcc", "accuracy", "balanced_accuracy"
    assert {rows[one].infeasible_reason for one in resting} == {
        f"computed from the same rates as an impossible number: {said}"
    }
    # The maximum is held to what is possible, and MCC at the threshold is not: it is higher.
    assert rows["mcc"].value > rows["mcc_max"].value
    for one in ("mcc_max", "mcc_max_threshold"):
        assert rows[one].infeasible_reason == (
            f"computed from rates held to what is possible, unlike MCC at the threshold: {said}"
        )
    assert not any(rows[one].impossible or rows[one].infeasible for one in (*resting, "mcc_max"))
    # Rules go by F1 all the same, and by a precision that was clipped they do not.
    assert _reading(rows["f1"]).reason == ""
    assert _reading(precision).reason == precision.infeasible_reason
    without = ("recall", "aul", "auc", "class_prior", "average_precision", "f1_pu")
    assert not any(rows[one].infeasible_reason for one in without)


@pytest.mark.parametrize(("value", "impossible"), [(1.1, False), (1.2, True)])
def test_an_interval_that_is_beyond_by_chance_is_left_in_means(value, impossible):
    """2.5 standard errors above 1 come in one of 160 windows of a precision of 1, 5 do not."""
    estimate = Estimate(
        name="precision", value=value, low=value - 0.08, high=value + 0.08, se=0.04,
        method="draws", confidence_level=0.95, n_labeled=40, n_unlabeled=10_000,
    )  # fmt: skip
    series = SeriesTable(
        pane=3, model_version="7", segment="", table=TABLE, labeled=40, unlabeled=10_000,
        negative=0, flagged=528, digest="", undefined_reason=None,
    )  # fmt: skip
    row = result_row(series, "precision", estimate, None, limits=estimate.range)
    assert (row.value, row.low, row.high) == (1.0, None, None)
    assert row.infeasible
    assert row.impossible == impossible
    assert ("by chance, or " in row.infeasible_reason) != impossible
    known = known_results([row])
    assert known == {} if impossible else known["precision"].value == value


def test_what_stands_on_an_impossible_prior_is_no_evidence_though_it_looks_possible(impossible):
    for name in ("class_prior", "f1", "f1_max"):
        row = impossible[name]
        assert row.impossible, name
        assert "the class prior" in row.infeasible_reason
    assert impossible["class_prior"].value == 0.3
    for name in ("aul", "recall", "predicted_positive_rate", "f1_pu", "labeled_positives"):
        assert not impossible[name].impossible, name
        assert impossible[name].infeasible_reason is None


def test_an_area_far_above_one_is_no_bound_to_stand_on():
    auc = by_name(evaluated(0.9))["auc"]
    assert (auc.low, auc.high, auc.infeasible, auc.impossible) == (None, None, True, True)
    assert auc.infeasible_reason.startswith("AUC came out at 4.")
    assert "by chance" not in auc.infeasible_reason


def test_mlflow_is_told_of_a_window_what_the_evaluator_tells(impossible):
    evaluation = evaluate_table(
        TABLE, threshold=0.8, class_prior=0.3, rng=seed_of(WINDOW, model_version="7", segment="")
    )
    told = metrics_of_evaluator(evaluation.estimates)
    shown = shown_metrics(impossible.values())
    payload = {name: shown[name] for name in shown if name in evaluation.estimates}
    assert told["pu/precision_infeasible"] == 1.0
    assert "pu/precision_low" not in told
    assert metric_values(payload) == told
    in_a_segment = metric_values(payload, segment="country=DE")
    for name in ("f1_max", "class_prior"):
        assert in_a_segment[f"pu/country.DE/{name}_infeasible"] == 1.0
        assert f"pu/country.DE/{name}_low" not in in_a_segment


def test_a_change_from_or_to_what_is_impossible_is_none(impossible):
    possible = evaluated(0.03)
    against = by_name(evaluated(0.3, reference=reference_of(possible.results)))
    assert against["precision_change"].value is None
    assert against["precision_change"].undefined_reason.startswith(
        "Precision came out at 3.99 (3.11 to 4.76)"
    )
    assert against["f1_change"].impossible
    assert against["aul_change"].value == 0.0
    assert not against["aul_change"].impossible
    assert verdict_of(against.values()) == "unknown"
    back = by_name(evaluated(0.03, reference=reference_of(impossible.values())))
    assert back["precision_change"].undefined_reason == (
        "the reference has no possible value of precision"
    )


def test_an_end_beyond_the_range_is_no_doubt_and_is_kept_as_estimated():
    found = by_name(evaluated((0.05, 0.02, 0.10)))["precision"]
    assert not found.infeasible
    assert found.infeasible_reason is None
    assert (found.high, found.value) == (1.0, found.unclipped_value)
    assert found.unclipped_high > 1.0
    assert known_results([found])["precision"].high == found.unclipped_high


RULES = [
    {"metric": "precision", "below": 0.8, "name": "below"},
    {"metric": "precision", "drop": 0.1, "from": "reference", "name": "drop"},
    {"metric": "f1", "above": 0.01, "name": "above"},
    {"metric": "class_prior", "above": 0.2, "name": "prior"},
    {"metric": "aul", "above": 0.01, "name": "ranking"},
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Days evaluated with a class prior of .9, where a tenth is fraud."""
    path = write_shop(tmp_path_factory.mktemp("shop"), days=4)
    text = yaml.safe_load(path.read_text())
    text["monitors"]["card-fraud"] |= {"class_prior": 0.9, "rules": RULES}
    path.write_text(yaml.safe_dump(text, sort_keys=False))
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: NOW, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
        alerts = {one.rule: one for one in jobs.ledger.alerts.current()}
        scraped = exposition(jobs.ledger, monitors=jobs.monitors, clock=lambda: NOW)()
    return path, alerts, scraped.decode()


def test_an_impossible_prior_neither_resolves_nor_fires(shop):
    _, alerts, _ = shop
    last = {rule: (one.state, one.evidence) for rule, one in alerts.items()}
    assert last["below"] == last["drop"] == last["above"] == ("unknown", "insufficient")
    assert last["ranking"] == ("firing", "breach"), "it needs no class prior"
    assert alerts["below"].reason.startswith("Precision came out at ")
    assert "the class prior is wrong" in alerts["above"].reason
    assert last["prior"] == ("unknown", "insufficient")
    assert alerts["prior"].reason == "Share of positives is assumed to be 0.9 and is not estimated"


def test_a_scrape_flags_it_and_has_no_bounds(shop):
    families = {family.name: family for family in text_string_to_metric_families(shop[2])}
    samples = families["pumonitor_estimate"].samples
    assert {one.labels["bound"] for one in samples if one.labels["metric"] == "precision"} == {
        "value"
    }
    assert {one.labels["bound"] for one in samples if one.labels["metric"] == "f1_max"} == {"value"}
    assert {one.labels["bound"] for one in samples if one.labels["metric"] == "aul"} == {
        "value",
        "low",
        "high",
    }
    flags = {
        one.labels["metric"]: one.value for one in families["pumonitor_estimate_infeasible"].samples
    }
    assert (flags["precision"], flags["f1"], flags["aul"]) == (1.0, 1.0, 0.0)


def printed(path, *arguments):
    done = CliRunner(env={"COLUMNS": "250", "NO_COLOR": "1"}).invoke(
        app, [*arguments, "--config", str(path)]
    )
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_doctor_names_the_prior_and_the_remedy(shop):
    (told,) = examine(read_configuration(shop[0]).configuration, now=NOW)
    assert told.severity == "warning"
    assert told.what.startswith(
        "card-fraud: the class prior is impossible in 4 of 4 mature windows, most recently in the "
        "window of 2026-01-04 00:00 UTC: with the class prior of 0.900 Precision came out at "
    )
    assert told.remedy.startswith(
        "correct class_prior of card-fraud, or let class_prior: auto measure it"
    )


def test_results_and_insights_say_impossible_and_assumed(shop):
    path = shop[0]
    table = printed(path, "results", "card-fraud")
    (line,) = [one for one in table.splitlines() if one.startswith("2026-01-03")]
    assert "1.00!" in line
    assert "0.900! assumed" in line
    assert "!: impossible" in table
    rows = json.loads(printed(path, "results", "card-fraud", "--format", "json"))
    (row,) = [
        one
        for one in rows
        if one["metric"] == "precision"
        and one["window_start"] == (FIRST + timedelta(days=2)).isoformat()
    ]
    assert row["value"] == 1.0
    assert row["infeasible"]
    assert row["low"] is row["high"] is None
    assert row["unclipped_value"] > 1
    text = printed(path, "insights")
    assert "precision          1.00 (impossible)" in text
    assert "class_prior        0.900 (impossible) assumed" in text
    assert "impossible: with the class prior of 0.900 Precision came out at" in text
    assert text.count("    impossible: ") == text.count("rows confirmed"), (
        "it is one thing that is wrong"
    )
    assert "+0.000" not in text.partition("aul")[0]

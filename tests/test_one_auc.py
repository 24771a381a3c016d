"""One AUC: AUL = pi / 2 + (1 - pi) AUC in whatever is shown, and the same AUC wherever it is shown.

The rows are ranked so well that an AUC held to at most 1, or the area under a recovered curve,
would be another number.
"""

import numpy as np
import pytest

import pumonitor
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.period import Period, score_edges
from pumonitor.monitor.rules.reference.attribution import at_prior
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.monitor.windows.evaluation.window_evaluation import evaluate_window
from pumonitor.results import ClassPriorEstimate, Evaluation
from pumonitor.tables import ScoreTable
from pumonitor.views.estimates import logged_estimates
from tests.given_labels import labels_as_given
from tests.monitor.counted_rows import WINDOW

ROWS, PRIOR, THRESHOLD = 3000, 0.2, 1.5


def sample(seed=5, *, separation=2.5, decimals=1, purity=1.0):
    """Labels, scores with ties, weights and propensities."""
    rng = np.random.default_rng(seed)
    positive = rng.random(ROWS) < PRIOR
    scores = np.round(rng.normal(separation * positive), decimals)
    propensity = np.where(scores > 2, 0.5, 0.2)
    labels = (positive & (rng.random(ROWS) < propensity)).astype(int)
    mistaken = ~positive & (rng.random(ROWS) < 0.02)
    labels = np.where(mistaken & (purity < 1), 1, labels)
    return labels, scores, rng.uniform(0.5, 2.0, ROWS), propensity


def evaluated(labels, scores, **keywords) -> Evaluation:
    with labels_as_given():
        return evaluate_table(
            ScoreTable.from_arrays(
                labels,
                scores,
                thresholds=(THRESHOLD,),
                **{
                    name: keywords.pop(name)
                    for name in ("sample_weight", "propensity")
                    if name in keywords
                },
            ),
            threshold=THRESHOLD,
            curves=False,
            **keywords,
        )


def implied_aul(prior: float, auc: float) -> float:
    return prior / 2 + (1 - prior) * auc


@pytest.mark.parametrize("prior", [0.2, (0.1, 0.3), (0.25, 0.15, 0.3), "auto"], ids=str)
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("kind", ["plain", "weights", "propensities", "impure", "confirmed"])
def test_aul_follows_from_auc_and_the_class_prior(kind, scenario, prior):
    purity = 0.8 if kind == "impure" else 1.0
    labels, scores, weight, propensity = sample(purity=purity)
    keywords = {
        "plain": {"target": "window"},
        "weights": {"sample_weight": weight},
        "propensities": {"propensity": propensity},
        "impure": {"label_purity": purity},
        "confirmed": {},
    }[kind]
    if kind == "confirmed":
        labels = np.where((labels == 0) & (scores < -1), -1, labels)
    ev = evaluated(labels, scores, class_prior=prior, scenario=scenario, **keywords)
    pi = ev.class_prior.value
    assert ev["class_prior"].value == pi
    assert ev["aul"].value == pytest.approx(implied_aul(pi, ev["auc"].value), abs=1e-12)


def test_it_holds_where_auc_comes_out_above_one():
    labels, scores, _, _ = sample(separation=6.0, decimals=3)
    ev = evaluated(labels, scores, class_prior=0.25)
    assert ev["auc"].value > 1
    assert ev["auc"].infeasible
    assert ev["aul"].value == pytest.approx(implied_aul(0.25, ev["auc"].value), abs=1e-12)


def test_evaluate_compare_and_metrics_say_the_same():
    labels, scores, _, _ = sample()
    columns = {"champion": scores, "challenger": np.round(-np.exp(-scores), 3)}
    prior = (0.2, 0.15, 0.26)
    found = pumonitor.compare(labels, columns, class_prior=prior)
    for name, values in columns.items():
        with labels_as_given():
            ev = pumonitor.evaluate(labels, values, class_prior=prior)
        alone = pumonitor.metrics.auc(labels, values, class_prior=prior)
        for metric in ("auc", "aul"):
            one, other = found[name][metric], ev[metric]
            assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
        assert (alone.value, alone.low, alone.high) == pytest.approx(
            (ev["auc"].value, ev["auc"].low, ev["auc"].high), abs=1e-12
        )
    gap = found.difference("champion", "challenger", "auc")
    assert gap.value == pytest.approx(
        found["champion"]["auc"].value - found["challenger"]["auc"].value, abs=1e-12
    )


def counted(table):
    """What causes see of a window: a score of each cell, its labeled rows and all its rows."""
    return 0.5 * (table.lower + table.upper), table.labeled, table.labeled + table.unlabeled


def test_causes_say_the_same_of_both_periods():
    tables = [
        ScoreTable.from_arrays(*sample(seed, separation=separation, decimals=0)[:2])
        for seed, separation in ((1, 2.5), (2, 1.5))
    ]
    edges = score_edges([counted(table) for table in tables])
    before, now = (Period.counted([counted(table)], edges=edges) for table in tables)
    auc = name_cause(before, now, class_prior=PRIOR).sizes["auc"]
    for said, table in zip((auc.before, auc.now), tables, strict=True):
        ev = evaluate_table(table, threshold=THRESHOLD, class_prior=PRIOR, curves=False)
        # So few different scores that each has a cell of the periods.
        assert said == pytest.approx(ev["auc"].value, abs=1e-12)


def test_a_window_its_changes_and_what_is_logged_of_it_say_the_same():
    labels, scores, _, _ = sample(separation=2.0)
    table = ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,))
    series = SeriesTable(
        pane=3, model_version="7", segment="", table=table, labeled=int(labels.sum()),
        unlabeled=int((labels == 0).sum()), negative=0, flagged=int((scores >= THRESHOLD).sum()),
        digest="", undefined_reason=None,
    )  # fmt: skip
    found = evaluate_window(
        series,
        state="mature",
        window=WINDOW,
        tables=EvaluatedTables(threshold=THRESHOLD, label_purity=1.0),
        class_prior=ClassPriorEstimate.given(PRIOR),
        reference=None,
    )
    rows = {row.metric: row.value for row in found.results}
    ev = evaluated(labels, scores, class_prior=PRIOR)
    logged = logged_estimates(ev.estimates)
    parts = {"class_prior": PRIOR, "aul": rows["aul"]}
    assert rows["aul"] == pytest.approx(implied_aul(PRIOR, rows["auc"]), abs=1e-12)
    assert rows["auc"] == logged["pu/auc"] == pytest.approx(at_prior("auc", parts), abs=1e-12)
    assert logged["pu/aul"] == pytest.approx(
        implied_aul(logged["pu/class_prior"], logged["pu/auc"]), abs=1e-12
    )

"""The benchmark of the class-prior estimators counts and compares right."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.datasets import DatasetMissingError
from benchmarks.prior import beside_peers, peers, real
from benchmarks.prior.__main__ import main
from benchmarks.prior.peers import Peer
from benchmarks.prior.runs import MEDIAN, Sample, run, summary, with_median
from benchmarks.prior.speed import speed_table
from benchmarks.prior.synthetic import (
    PRIORS,
    accuracy,
    coverage,
    normal_sample,
    rare_positives,
)
from benchmarks.prior.tables import FigureTable
from benchmarks.prior.tasks import Task
from pumonitor.prior import estimate_class_prior


def test_the_synthetic_sample_is_as_described_and_knows_its_probabilities():
    sample = normal_sample(0.3, 0)
    labeled = sample.labels == 1
    assert (labeled.sum(), (~labeled).sum()) == (1000, 10_000)
    # Means 1 and .3 - .7, within four standard errors.
    assert sample.scores[labeled].mean() == pytest.approx(1.0, abs=0.13)
    assert sample.scores[~labeled].mean() == pytest.approx(-0.4, abs=0.06)
    positive, negative = stats.norm(1).pdf(sample.scores), stats.norm(-1).pdf(sample.scores)
    of_labeled, of_unlabeled = 1000 * positive, 10_000 * (0.3 * positive + 0.7 * negative)
    expected = of_labeled / (of_labeled + of_unlabeled)
    np.testing.assert_allclose(sample.probabilities, expected, rtol=1e-9)


def test_the_synthetic_table_holds_the_errors_a_user_would_see():
    methods = ["bbe", "dedpul", "elkan_noto_e3"]
    frame = accuracy(1, methods).frame.set_index("method")
    for method in methods:
        errors = []
        for prior in PRIORS:
            sample = normal_sample(prior, 0)
            scores = sample.probabilities if method == "elkan_noto_e3" else sample.scores
            found = estimate_class_prior(
                sample.labels, scores, method=method, scenario="case-control"
            )
            errors.append(found.unlabeled_prior - prior)
        assert frame.loc[method, "MAE"] == pytest.approx(np.abs(errors).mean(), abs=1e-9)
        assert frame.loc[method, "bias"] == pytest.approx(np.mean(errors), abs=1e-9)
    # The largest of true probabilities is the label frequency, but for what the sample lacks.
    assert frame.loc["elkan_noto_e3", "MAE"] < 0.002
    assert 0.001 < frame.loc["dedpul", "MAE"] < 0.05
    assert frame.loc["dedpul", "elsewhere MAE"] == 0.015


def test_intervals_are_counted():
    table = coverage(2, labeled=(300,), priors=(0.1, 0.5))
    assert list(table.frame["prior"]) == [0.1, 0.5]
    assert table.frame["coverage"].isin([0.0, 0.5, 1.0]).all()
    assert table.frame["coverage"].mean() > 0
    assert (table.frame["width"] > 0).all()


def test_rare_positives_of_weak_scores_are_within_the_interval():
    frame = rare_positives(3, priors=(0.005,), aucs=(0.75, 0.95)).frame
    assert list(frame["AUC"]) == [0.75, 0.95]
    assert (frame["coverage"] == 1.0).all()
    assert frame["width"].is_monotonic_decreasing
    assert frame["estimate"].iloc[0] > 0.02


def test_errors_are_summarised():
    runs = pd.DataFrame(
        {
            "method": "one",
            "error": [-0.1, 0.3, math.nan],
            "failure": ["", "", "no"],
            "seconds": [1.0, 2.0, 9.0],
        }
    )
    (row,) = summary(runs).to_dict("records")
    assert row["MAE"] == pytest.approx(0.2)
    assert row["bias"] == pytest.approx(0.1)
    assert row["p95"] == pytest.approx(0.29)
    assert (row["seconds"], row["failed"]) == (2.0, 1)


def test_the_median_is_of_the_three():
    def one(method, error):
        return {"method": method, "error": error, "failure": "", "seconds": 0.0}

    three = [one("dedpul", 0.3), one("bbe", -0.2), one("pulscar", 0.1), one("tilt", 9.0)]
    assert with_median(three)[-1]["method"] == MEDIAN
    assert with_median(three)[-1]["error"] == 0.1
    assert with_median(three[1:]) == three[1:]


def test_a_method_that_refuses_says_why():
    sample = Sample(
        labels=np.array([1, 1, 0, 0], dtype=np.int8),
        scores=np.array([3.0, 2.0, -1.0, 2.5]),
        unlabeled_prior=0.5,
    )
    found = run("elkan_noto", sample)
    assert math.isnan(found["error"])
    assert "probabilit" in found["failure"]


def a_task(name="two clouds"):
    rng = np.random.default_rng(0)
    is_positive = np.arange(900) < 400
    features = rng.normal(2.0 * is_positive[:, np.newaxis], size=(900, 2))
    return Task(name=name, rule="right", rows=lambda: (features, is_positive))


def absent():
    raise DatasetMissingError("nowhere", "looked at nowhere.parquet")


def test_scores_of_a_real_task_are_computed_once(tmp_path, monkeypatch):
    first = real.real_sample(a_task(), "linear", 0.3, 0, folder=tmp_path)
    assert first.unlabeled_prior == pytest.approx(0.3, abs=0.01)
    assert first.scores[first.labels == 1].mean() > first.scores[first.labels == 0].mean()

    def twice(drawn, seed):
        pytest.fail("scored again")

    monkeypatch.setattr(real, "CLASSIFIERS", {"linear": twice})
    again = real.real_sample(a_task(), "linear", 0.3, 0, folder=tmp_path)
    np.testing.assert_array_equal(first.scores, again.scores)
    np.testing.assert_array_equal(first.labels, again.labels)


def test_what_data_are_missing_is_said_and_the_rest_is_run(tmp_path):
    tasks = [Task(name="nowhere", rule="none", rows=absent), a_task()]
    tables = list(
        real.real_tables(
            seeds=1,
            folder=tmp_path,
            tasks=tasks,
            priors=(0.3,),
            classifiers=("linear",),
            methods=("bbe", "auto"),
        )
    )
    by_method, by_task, intervals = tables
    assert "Without nowhere: no data." in by_method.notes
    assert set(by_method.frame["method"]) == {"bbe", "auto"}
    assert list(by_task.frame["task"]) == ["two clouds"]
    assert list(intervals.frame["task"]) == ["all", "two clouds"]
    assert intervals.frame["linear coverage"].isin([0.0, 1.0]).all()
    assert (intervals.frame["linear width"] < 0.9).all()


def test_no_data_at_all_is_an_empty_table(tmp_path):
    tasks = [Task(name="nowhere", rule="none", rows=absent)]
    (table,) = real.real_tables(seeds=1, folder=tmp_path, tasks=tasks)
    assert table.frame.empty
    assert "no data" in table.notes[0]


def always_a_third(labels, scores):
    assert scores.shape == labels.shape
    return 0.35


def fails(labels, scores):
    raise RuntimeError("out of order")


def test_peers_are_compared_and_their_failures_told(monkeypatch):
    known = {
        "a third": Peer(package="numpy", estimate=always_a_third, same_as="bbe"),
        "broken": Peer(package="numpy", estimate=fails),
        "absent": Peer(package="there-is-no-such-package", estimate=fails),
    }
    for module in (peers, beside_peers):
        monkeypatch.setattr(module, "PEERS", known)
    table = beside_peers.beside_peers([normal_sample(0.3, 0)], "peers")
    frame = table.frame.set_index("method")
    assert frame.loc["a third", "MAE"] == pytest.approx(0.05)
    auto = frame.loc["auto, with interval", "MAE"]
    assert frame.loc["a third", "MAE ratio"] == pytest.approx(auto / 0.05)
    assert frame.loc["a third", "same paper"] == "bbe"
    assert frame.loc["broken", "failed"] == 1
    assert "broken: RuntimeError: out of order" in table.notes
    assert any("pip install there-is-no-such-package" in note for note in table.notes)


def test_speed_is_told_for_each_size():
    frame = speed_table((2000, 4000), ("bbe", "elkan_noto", "auto")).frame.set_index("method")
    assert list(frame.index) == ["table from arrays", "bbe", "elkan_noto", "auto"]
    assert (frame.loc[["bbe", "elkan_noto"]] > 0).all(axis=None)
    assert frame.loc["auto"].isna().tolist() == [True, False, True, False]


def test_a_table_is_json_without_numbers_that_json_has_not():
    frame = pd.DataFrame({"method": ["one"], "MAE": [math.nan], "failed": [0]})
    table = FigureTable(title="a title", frame=frame, notes=("a note",))
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False)) == {
        "title": "a title",
        "rows": [{"method": "one", "MAE": None, "failed": 0}],
        "notes": ["a note"],
    }


def test_the_command_prints_and_stores(tmp_path, capsys):
    path = tmp_path / "figures.json"
    arguments = ["--only", "synthetic", "--seeds", "1", "--methods", "bbe", "--json", str(path)]
    assert main(arguments) == 0
    assert "1000 labeled, 10 000 unlabeled" in capsys.readouterr().out
    (stored,) = json.loads(path.read_text())
    assert (stored["part"], stored["rows"][0]["method"]) == ("synthetic", "bbe")

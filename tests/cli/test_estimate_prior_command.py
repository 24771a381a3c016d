"""`pumonitor estimate-prior`: what it prints, what reaches the estimators, what it refuses."""

import io
import json
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.cli.prior_table import Tried, rendered
from pumonitor.prior import METHODS, ReferenceWindow
from pumonitor.results import ClassPriorEstimate


def run(*arguments, columns=100):
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["estimate-prior", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(21)
    positive = rng.random(1500) < 0.2
    return pd.DataFrame(
        {
            "y": (positive & (rng.random(1500) < 0.4)).astype(int),
            # Beyond 0 and 1: no probabilities.
            "s": np.round(rng.normal(2.0 * positive), 3),
            "age": rng.normal(1.5 * positive),
            "is_new": rng.random(1500) < 0.5,
            "weight": rng.integers(1, 4, 1500),
            "chance": np.where(positive, rng.uniform(0.3, 0.5, 1500), np.nan),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("scored") / "scored.csv"
    rows.to_csv(path, index=False)
    return path


USUAL = ("--labels", "y", "--scores", "s")


def written(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def all_methods(file):
    return written(file, *USUAL, "--method", "all")


def estimate_of(found, method):
    estimate = found["estimates"][method]
    assert estimate.pop("seconds") >= 0
    return estimate


def as_json(estimate):
    return json.loads(json.dumps(estimate.to_dict(), allow_nan=False))


@pytest.mark.parametrize("method", ["auto", "bbe"])
def test_json_is_that_of_python_and_nothing_else(file, rows, method):
    found = written(file, *USUAL, "--method", method, "--seed", 4)
    assert set(found) == {"settings", "estimates", "not_estimated", "notes"}
    assert list(found["estimates"]) == [method]
    expected = pumonitor.estimate_class_prior(rows["y"], rows["s"], method=method, rng=4)
    assert estimate_of(found, method) == as_json(expected)


def test_auto_is_the_default(file, all_methods):
    found = written(file, *USUAL)
    assert list(found["estimates"]) == ["auto"]
    expected = {**all_methods["estimates"]["auto"]}
    expected.pop("seconds", None)
    assert estimate_of(found, "auto") == expected


def test_assumptions_reach_the_estimator(file, rows):
    found = written(
        file,
        *USUAL,
        *("--method", "roc_slope", "--scenario", "case-control", "--label-purity", 0.9),
        *("--sample-weight", "weight", "--propensity", "chance", "--detection-rate", 0.9),
        *("--min-propensity", 0.3, "--confidence-level", 0.8),
    )
    expected = pumonitor.estimate_class_prior(
        rows["y"],
        rows["s"],
        method="roc_slope",
        scenario="case-control",
        label_purity=0.9,
        sample_weight=rows["weight"],
        propensity=rows["chance"],
        detection_rate=0.9,
        min_propensity=0.3,
        confidence_level=0.8,
        rng=0,
    )
    assert estimate_of(found, "roc_slope") == as_json(expected)
    assert found["settings"]["label_purity"] == 0.9


def test_a_number_is_the_propensity_of_every_row(file, rows):
    found = written(file, *USUAL, "--method", "propensity", "--propensity", 0.4)
    expected = rows["y"].mean() / 0.4
    assert found["estimates"]["propensity"]["value"] == pytest.approx(expected)


def test_mistaken_labels_are_looked_for_when_asked(file):
    found = written(file, *USUAL, "--method", "bbe", "--label-purity", "auto")
    assert 0 < found["settings"]["label_purity"] <= 1


def test_all_methods_run_or_say_why_not(all_methods):
    names = {*all_methods["estimates"], *all_methods["not_estimated"]}
    assert names == {"auto", *METHODS, "propensity"}
    assert next(iter(all_methods["estimates"])) == "auto"
    reasons = all_methods["not_estimated"]
    assert "probabilities" in reasons["elkan_noto"]
    assert reasons["propensity"].startswith("needs --propensity")
    assert reasons["label_shift"].startswith("needs an earlier window")
    for method in ("bbe", "dedpul", "tilt"):
        assert 0 < all_methods["estimates"][method]["unlabeled_prior"] < 1


def test_features_reach_the_methods_that_read_them_and_no_other(file, rows, all_methods):
    usual = (file, *USUAL, "--features", "age,is_new")
    found = written(*usual, "--method", "tice")
    with pytest.warns(UserWarning, match="at most") if found["notes"] else nullcontext():
        expected = pumonitor.estimate_class_prior(
            rows["y"], rows["s"], method="tice", features=rows[["age", "is_new"]], rng=0
        )
    assert estimate_of(found, "tice") == as_json(expected)
    without = all_methods["estimates"]["tice"]["unlabeled_prior"]
    assert found["estimates"]["tice"]["unlabeled_prior"] != without
    refused = run(*usual, "--method", "bbe")
    assert refused.exit_code == 2
    assert "features" in refused.stderr


def test_a_reference_reaches_the_methods_that_start_from_it(file, rows, tmp_path):
    rng = np.random.default_rng(22)
    positive = rng.random(1200) < 0.3
    before = pd.DataFrame(
        {"y": positive & (rng.random(1200) < 0.5), "s": np.round(rng.normal(2.0 * positive), 3)}
    ).astype({"y": int})
    before.to_csv(tmp_path / "before.csv", index=False)
    usual = (file, *USUAL, "--reference", tmp_path / "before.csv", "--reference-prior", "0.25,0.35")
    found = written(*usual, "--method", "label_shift")
    reference = ReferenceWindow.from_arrays(before["y"], before["s"], class_prior=(0.25, 0.35))
    expected = pumonitor.estimate_class_prior(
        rows["y"], rows["s"], method="label_shift", reference=reference, rng=0
    )
    assert estimate_of(found, "label_shift") == as_json(expected)
    refused = run(*usual, "--method", "bbe")
    assert refused.exit_code == 2
    assert "reference" in refused.stderr
    every = written(*usual, "--method", "all")
    assert estimate_of(every, "label_shift") == as_json(expected)
    assert every["estimates"]["bbe"]["method"] == "bbe"


def test_a_feature_that_is_missing_or_no_number_is_refused(tmp_path, rows):
    path = tmp_path / "gaps.csv"
    gaps = rows.assign(age=rows["age"].where(rows.index != 7), town="Oslo")
    gaps.to_csv(path, index=False)
    for column in ("age", "town"):
        result = run(path, *USUAL, "--method", "tice", "--features", column)
        assert result.exit_code == 2
        assert f"column {column}" in result.stderr
    result = run(path, *USUAL, "--method", "tice", "--features", "agee")
    assert "no column 'agee'" in result.stderr


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_the_table_fits_the_terminal(file, all_methods, columns):
    result = run(file, *USUAL, "--method", "bbe", columns=columns)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert "…" not in result.stdout
    assert "confirmed positive" in result.stdout
    (line,) = [line for line in lines if line.startswith("bbe  ")]
    assert ("●" in line) == (columns >= 100)
    assert "upper bound" in " ".join(result.stdout.split())


def _shown(tried, *, width):
    from rich.console import Console

    from pumonitor.tables import ScoreTable

    table = ScoreTable.from_counts([1, 5], [60, 20], edges=[0.0, 0.5, 1.0])
    console = Console(width=width, record=True, file=io.StringIO())
    for part in rendered(tried, table, name="data", scenario="case-control", width=width):
        console.print(part)
    return console.export_text()


def _prior(value, low, high, **diagnostics):
    return ClassPriorEstimate(
        value=value,
        low=low,
        high=high,
        unlabeled_prior=value,
        unlabeled_prior_interval=(low, high),
        diagnostics=diagnostics,
    )


def test_intervals_are_drawn_on_one_scale_and_reasons_said_below():
    tried = [
        Tried(method="auto", seconds=0.1, estimate=_prior(0.1, 0.05, 0.2, used="BBE alone: why.")),
        Tried(method="km1", seconds=2.0, estimate=_prior(0.9, 0.1, 1.0, bias=0.25)),
        Tried(method="label_shift", seconds=0.0, reason="needs a reference"),
        Tried(method="label_shift_em", seconds=0.0, reason="needs a reference"),
    ]
    lines = _shown(tried, width=120).splitlines()
    (auto,) = [line for line in lines if line.startswith("auto  ")]
    (wide,) = [line for line in lines if line.startswith("km1  ")]
    picture = lambda line: line[line.index("├") : max(line.rfind("┤"), line.rfind("→")) + 1]  # noqa: E731
    # The scale ends at three times the first value, 0.3: 0.05 to 0.2 is half of it, and 0.9 is off.
    assert len(picture(auto)) == pytest.approx(0.5 * 44, abs=1)
    assert picture(auto).index("●") == pytest.approx(len(picture(auto)) / 3, abs=1)
    assert "●" not in wide
    assert picture(wide).endswith("→")
    assert "30%" in "\n".join(lines)
    assert "auto: BBE alone: why." in lines
    assert "label_shift, label_shift_em: needs a reference" in lines
    assert not any("bias" in line for line in lines)
    assert max(map(len, _shown(tried, width=60).splitlines())) <= 60
    assert "├" not in "\n".join(_shown(tried, width=80))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "dedpull"), "did you mean 'dedpul'?"),
        (("--method", "nonsense"), "no class-prior method 'nonsense' (there are all, auto"),
        (("--method", "propensity"), "propensity needs --propensity"),
        (("--method", "label_shift"), "needs an earlier window"),
        (("--reference", "before.csv"), "positives, together"),
        (("--reference-prior", 0.1), "positives, together"),
        (("--reference", "before.csv", "--reference-prior", "auto"), "must be a number"),
        (("--method", "elkan_noto"), "scores that are probabilities"),
        (("--confidence-level", 95), "did you mean 0.95?"),
        (("--label-purity", 1.5), "label_purity must satisfy"),
        (("--features", "age,age"), "must name each column once"),
        (("--features", "age,"), "must name each column once"),
        (("--label-purity", "most"), "must be a number or 'auto'"),
    ],
)
def test_bad_usage_ends_with_status_2_and_says_what_is_wrong(file, arguments, said):
    result = run(file, *USUAL, *arguments, columns=200)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_missing_file_or_column_is_refused(file):
    assert "has no column 'z'" in run(file, "--labels", "y", "--scores", "z").stderr
    missing = run(file.with_name("other.csv"), *USUAL)
    assert missing.exit_code in (2, 3)
    assert "other.csv" in missing.stderr

"""`pumonitor compare`: what it prints, its exit status, and what it says of bad usage."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.comparison import compare


def run(*arguments, columns=100):
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["compare", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(12)
    positive = rng.random(5000) < 0.12
    shared = rng.normal(size=5000)
    return {
        "y": (positive & (rng.random(5000) < 0.4)).astype(int),
        "champion": np.round(shared + 1.2 * positive, 2),
        "challenger": np.round(0.9 * shared + 0.4 * rng.normal(size=5000) + 2.2 * positive, 2),
        "weight": rng.integers(1, 4, 5000).astype(float),
        "chance": np.where(positive, rng.uniform(0.3, 0.5, 5000), np.nan),
    }


@pytest.fixture(scope="module")
def file(tmp_path_factory, columns):
    path = tmp_path_factory.mktemp("scored") / "scored.parquet"
    pa.parquet.write_table(pa.table(columns), path)
    return path


USUAL = ("--labels", "y", "--scores", "champion,challenger", "--class-prior", 0.12)


def test_json_is_the_comparison_and_nothing_else(file, columns):
    result = run(file, *USUAL, "--threshold", "challenger=1.5,champion=1", "--json")
    assert result.exit_code == 0, result.stderr
    expected = compare(
        columns["y"],
        {name: columns[name] for name in ("champion", "challenger")},
        threshold={"champion": 1.0, "challenger": 1.5},
        class_prior=0.12,
        rng=0,
    )
    assert json.loads(result.stdout) == expected.to_dict()


def test_labels_that_do_not_rule_out_a_choice_give_no_verdict(tmp_path, columns):
    path = tmp_path / "few.parquet"
    pa.parquet.write_table(pa.table({name: values[:500] for name, values in columns.items()}), path)
    result = run(path, *USUAL, "--threshold", 1.5)
    assert result.exit_code == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "AUL: no verdict, it is not ruled out that " in said
    assert "confirmed positives do not rule out that mainly the highest rows of " in said


def test_weights_and_options_reach_the_comparison(file, columns):
    result = run(
        file,
        *USUAL,
        *("--sample-weight", "weight", "--propensity", "chance", "--scenario", "case-control"),
        *("--detection-rate", 0.9, "--min-propensity", 0.3),
        *("--target", "window", "--label-purity", 0.9, "--confidence-level", 0.9),
        *("--f-beta", 0.5, "--seed", 3, "--json"),
    )
    assert result.exit_code == 0, result.stderr
    expected = compare(
        columns["y"],
        {name: columns[name] for name in ("champion", "challenger")},
        class_prior=0.12,
        sample_weight=columns["weight"],
        propensity=columns["chance"],
        detection_rate=0.9,
        min_propensity=0.3,
        scenario="case-control",
        target="window",
        label_purity=0.9,
        confidence_level=0.9,
        f_beta=0.5,
        rng=3,
    ).to_dict()
    assert json.loads(result.stdout) == expected


def test_one_propensity_for_all_rows_is_a_number(file, columns):
    result = run(file, *USUAL, "--propensity", 0.4, "--json")
    assert result.exit_code == 0, result.stderr
    scores = {name: columns[name] for name in ("champion", "challenger")}
    expected = compare(columns["y"], scores, class_prior=0.12, propensity=0.4, rng=0)
    assert json.loads(result.stdout) == expected.to_dict()


def test_table_says_who_is_better(file):
    result = run(file, *USUAL, "--threshold", 1)
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "AUL: challenger is better than champion; the difference is 0.1" in text
    assert "Share of positives: 12%, taken as known" in text
    assert "Precision" not in text
    assert text.rindex("challenger 1 ") < text.rindex("champion 1 ")
    assert "Precision" in run(file, *USUAL, columns=140).stdout


def test_estimated_prior_names_its_model(file):
    result = run(file, *USUAL[:4], "--class-prior", "tilt")
    assert result.exit_code == 0, result.stderr
    assert "tilt, from the scores of challenger" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scores", "champion"), "must name two columns or more"),
        (("--scores", "champion,challenger,champion"), "names champion twice"),
        (("--scores", "champion,,challenger"), "must name two columns or more"),
        (("--threshold", "high"), "must be a number, or COLUMN=NUMBER for every model"),
        (("--threshold", "champion=1"), "one threshold for each of champion, challenger"),
        (("--threshold", "champion=1,challenger=1,champion=2"), "one threshold for each"),
        (("--class-prior", "1.2"), "class_prior must satisfy 0 < class_prior < 1"),
        (("--scores", "champion,chalenger"), "no column 'chalenger' (scores); did you mean"),
        (("--f-beta", "0"), "beta must satisfy 0 < beta < infinity, got 0"),
    ],
)
def test_bad_usage_ends_with_status_2(file, arguments, message):
    result = run(file, *USUAL, *arguments)
    assert result.exit_code == 2
    shown = " ".join(result.stderr.replace("│", " ").split())
    assert message in shown
    assert result.stdout == ""


def test_labels_that_a_model_chose_are_reported_and_no_model_is_said_to_be_better(tmp_path):
    rng = np.random.default_rng(1)
    positive = rng.random(12_000) < 0.1
    champion, challenger = (rng.normal(size=12_000) + apart * positive for apart in (1.3, 1.6))
    confirmed = (positive & (champion >= np.quantile(champion, 0.95))).astype(int)
    columns = {"champion": champion, "challenger": challenger, "confirmed": confirmed}
    pa.parquet.write_table(pa.table(columns), tmp_path / "scored.parquet")
    result = run(
        tmp_path / "scored.parquet",
        *("--labels", "confirmed", "--scores", "champion,challenger"),
        *("--class-prior", "0.1", "--threshold", "1.6"),
    )
    assert result.exit_code == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert "No verdict. Which rows were confirmed seems to have been decided by the scores" in text
    assert "is better than" not in text
    assert ": impossible" in text
    assert "! champion: Confirmed positives stop at a score of " in text

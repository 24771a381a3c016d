"""`pumonitor decide`: the numbers of decide, in a table or as JSON."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.sources import read_score_table


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(11)
    positive = rng.random(3000) < 0.1
    path = tmp_path_factory.mktemp("scored") / "rows.parquet"
    labels = (positive & (rng.random(3000) < 0.4)).astype(int)
    columns = {"y": labels, "s": np.round(rng.normal(1.8 * positive), 2)}
    columns["chance"] = np.full(3000, 0.4)
    pa.parquet.write_table(pa.table(columns), path)
    return path


def run(file, *more):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    given = ["--labels", "y", "--scores", "s", "--threshold", 1.5, "--class-prior", ".1,.08,.12"]
    return runner.invoke(app, [str(one) for one in ("decide", file, *given, *more)])


def test_json_is_what_decide_returns(file):
    result = run(file, "--capacity", 200, "--value", 20, "--cost", 3, "--cases", 50, "--json")
    assert result.exit_code == 0
    table = read_score_table(str(file), labels="y", scores="s", threshold=1.5)
    found = pumonitor.decide_table(
        table,
        threshold=1.5,
        capacity=200,
        value=20,
        cost=3,
        class_prior=(0.1, 0.08, 0.12),
        rng=0,
    )
    expected = found.to_dict() | {"reviews": found.reviews(50).to_dict()}
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))


def test_a_table_says_what_each_threshold_brings(file):
    result = run(file, "--other-threshold", "2.0", "--value", 20, "--cost", 3, "--cases", 50)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines if line[:5] in ("Cases", "Money")] == [
        "Cases to review",
        "Money",
    ]
    [heads] = [line for line in lines if "now: 1.5" in line]
    assert "chosen: 2" in heads
    assert "best: " in heads
    text = " ".join(result.stdout.split())
    assert "has the highest lower bound of money" in text
    assert "To know F1 at the " in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--value", "3"], "cost is missing"),
        (["--other-threshold", "2", "--capacity", "3"], "give other_threshold or capacity"),
        (["--propensity", "chance", "--cases", "5"], "reviews are not compared where rows have"),
    ],
)
def test_bad_input_ends_with_status_2(file, more, said):
    result = run(file, *more)
    assert result.exit_code == 2
    assert said in result.output

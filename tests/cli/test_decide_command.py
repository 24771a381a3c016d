"""`pumonitor decide`: the numbers of decide, in a table or as JSON."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor import audit_plan
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


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Rows with ids, and the file of cases of an audit with verdicts."""
    rng = np.random.default_rng(12)
    positive = rng.random(3000) < 0.1
    scores = np.round(rng.normal(1.8 * positive), 2)
    labels = (positive & (rng.random(3000) < 0.3)).astype(int)
    folder = tmp_path_factory.mktemp("audited")
    rows = folder / "rows.parquet"
    pa.parquet.write_table(pa.table({"y": labels, "s": scores, "n": np.arange(3000)}), rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        plan = pumonitor.plan_audit(labels, scores, threshold=1.5, cases=150, class_prior=0.1)
    drawn = pumonitor.draw_audit(range(3000), labels, scores, plan=plan, seed="May")
    cases, design = folder / "cases.csv", folder / "cases.audit.json"
    lines = [f"{one.id},{drawn.name},{int(positive[int(one.id)])}" for one in drawn.cases]
    cases.write_text("\n".join(["id,audit,verdict", *lines]) + "\n")
    design.write_text(json.dumps(drawn.to_dict()))
    verdicts = {one.id: int(positive[int(one.id)]) for one in drawn.cases}
    return rows, cases, labels, scores, pumonitor.read_verdicts(drawn, verdicts)


def run_audited(rows, cases, *more):
    given = ["--labels", "y", "--scores", "s", "--verdicts", cases, *more]
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(one) for one in ("decide", rows, *given)])


def test_with_verdicts_it_is_what_decide_returns_with_the_audit(reviewed, monkeypatch):
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    rows, cases, labels, scores, audit = reviewed
    stakes = ["--value", 20, "--cost", 3, "--capacity", 200, "--cases", 50]
    result = run_audited(rows, cases, "--id", "n", *stakes, "--json")
    assert result.exit_code == 0, result.output
    asked = {"threshold": 1.5, "capacity": 200, "value": 20, "cost": 3}
    found = pumonitor.decide(labels, scores, audit=audit, ids=range(3000), rng=0, **asked)
    expected = found.to_dict() | {"reviews": found.reviews(50).to_dict()}
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))
    text = " ".join(run_audited(rows, cases, "--id", "n", *stakes).stdout.split())
    assert "review 50 more cases of the audit" in text
    assert "now: 1.5" in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "Missing --id."),
        (["--id", "n", "--propensity", ".3"], "leave out --sample-weight and --propensity"),
        (["--id", "n", "--threshold", "1"], "was drawn for the threshold 1.5, got 1.0"),
        (["--id", "n", "--class-prior", ".1"], "leave out class_prior, or audit"),
    ],
)
def test_what_does_not_go_with_verdicts_ends_with_status_2(reviewed, more, said):
    result = run_audited(*reviewed[:2], *more)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_options_of_an_audit_need_its_verdicts(file):
    result = run(file, "--fair", "assume")
    assert result.exit_code == 2
    assert "give --verdicts as well" in " ".join(result.output.replace("│", " ").split())

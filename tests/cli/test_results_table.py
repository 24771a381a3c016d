"""Results on a screen of 80 columns, and why one of them is undefined."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.ledger.records.results import MetricResult
from tests.monitor.made_up_results import METRICS, record, write_made_up

SERIES = [("2026-01", ""), ("2026-01", "country=DE"), ("2026-01", "country=Netherlands")]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    path = write_made_up(tmp_path_factory.mktemp("results"))
    record(path, [0, 1], series=SERIES)
    return path


def printed(shop, *arguments, columns):
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, ["results", "card-fraud", *arguments, "--config", str(shop)])
    assert done.exit_code == 0, done.output
    return done.stdout


def headings(text):
    lines = [line for line in text.splitlines() if line.strip()]
    ruled = [place for place, line in enumerate(lines) if set(line.strip()) == {"─"}]
    return " ".join(" ".join(lines[place - 1].split()) for place in ruled)


def test_eighty_columns_show_every_metric_of_segments(shop):
    text = printed(shop, columns=80)
    assert max(map(len, text.splitlines())) <= 80
    for name in ("prior", "aul", "auc", "recall", "f1"):
        assert name in headings(text), text
    assert "country=Netherlands" in text
    # Value above its interval, undefined ones empty.
    assert ".600–1.0" not in text
    assert "0.810" in text
    assert ".700–1.0" in text
    assert "…" not in text


def test_what_still_does_not_fit_follows_in_further_tables(shop):
    text = printed(shop, columns=44)
    assert headings(text).count("segment") > 1
    for name in ("prior", "aul", "auc", "recall", "f1"):
        assert name in headings(text), text
    assert max(map(len, text.splitlines())) <= 44


def test_a_wide_screen_has_a_line_for_each(shop):
    text = printed(shop, columns=220)
    (line,) = [one for one in text.splitlines() if one.startswith("2026-01-02") and "=DE" in one]
    assert line.split()[:5] == ["2026-01-02", "mature", "2026-01", "country=DE", "27"]
    assert "0.810 (0.700 to 1.00)" in line


@pytest.mark.parametrize("columns", [180, 44])
def test_rare_positives_have_three_digits_and_rows_are_counts(columns, tmp_path):
    path = write_made_up(tmp_path)
    counted = {"n_labeled": 8, "n_unlabeled": 1992}
    results = [
        MetricResult(metric="class_prior", value=0.004, low=0.0031, high=0.0052, **counted),
        MetricResult(metric="predictions", value=2000.0, low=2000.0, high=2000.0, **counted),
        MetricResult(metric="aul", value=0.9987, low=0.915, high=0.9996, **counted),
    ]
    record(path, [0], results=results)
    names = ("class_prior", "predictions", "aul")
    metrics = [part for name in names for part in ("--metric", name)]
    text = printed(path, *metrics, columns=columns)
    if columns == 180:
        (line,) = [one for one in text.splitlines() if one.startswith("2026-01-0")]
        said = " ".join(line.split())
        assert said.endswith(" 8 0.00400 (0.00310 to 0.00520) 2,000 0.999 (0.915 to 0.9996)"), text
    else:
        assert "2,000" in text
        assert ".00310–.00520" in text
        assert "2000.00" not in text
    done = CliRunner(env={"COLUMNS": "180"}).invoke(app, ["insights", "--config", str(path)])
    assert "0.00400 (0.00310 to 0.00520)" in " ".join(done.stdout.split()), done.output


def test_files_say_why_a_result_is_undefined(shop):
    rows = json.loads(printed(shop, "--format", "json", columns=80))
    assert {row["undefined_reason"] for row in rows if row["metric"] == "precision"} == {
        "nothing is flagged"
    }
    assert {row["undefined_reason"] for row in rows if row["metric"] != "precision"} == {None}
    read = list(csv.DictReader(io.StringIO(printed(shop, "--format", "csv", columns=80))))
    reasons = [row["undefined_reason"] for row in read[: len(METRICS)]]
    assert sorted(reasons) == [""] * (len(METRICS) - 1) + ["nothing is flagged"]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("f1_score", "f1"), ("roc_auc", "auc"), ("ppv", "precision"), ("prior", "class_prior")],
)
def test_a_metric_under_another_name_is_reported(shop, asked, meant):
    arguments = ["results", "card-fraud", "--metric", asked, "--config", str(shop)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert f"did you mean '{meant}'?" in done.stderr

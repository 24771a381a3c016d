"""What a window has too few labels to show of its class prior, its report knows from others."""

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.reports.window_files import window_files_of
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 14


def write_weakly_ranked(folder):
    """No score is purely fraud, however high."""
    path = write_shop(folder, days=DAYS)
    rng = np.random.default_rng(5)
    made = pd.read_parquet(folder / "predictions.parquet")
    confirmed = pd.read_parquet(folder / "confirmations.parquet").prediction_id
    made["score"] = 1 / (1 + np.exp(-rng.normal(1.3 * made.prediction_id.isin(confirmed))))
    made.to_parquet(folder / "predictions.parquet")
    path.write_text(path.read_text().replace("panes: [0d, 1d]", "panes: []"))
    return path


def warnings_of(path, day):
    read = read_configuration(path, needs="ledger").configuration
    with open_ledger(read) as ledger:
        (found,) = ledger.evaluations("card-fraud", start=FIRST + timedelta(days=day))
        names = ("window_key", "revision", "model_version", "segment")
        asked = {name: getattr(found, name) for name in names}
        files = window_files_of(read.monitors, ledger, asked)
    page = files["report.html"]
    return page, json.loads(files["evaluation.json"])["warnings"]


@pytest.mark.slow
def test_a_report_says_that_the_prior_is_rather_too_high_as_many_windows_show_it(tmp_path):
    path = write_weakly_ranked(tmp_path)
    last = FIRST + timedelta(days=DAYS)
    days = ["--from", "2026-01-01", "--to", f"{last:%Y-%m-%d}"]
    done = CliRunner().invoke(app, ["backfill", "card-fraud", *days, "--config", str(path)])
    assert done.exit_code == 0, done.output
    _, first = warnings_of(path, 0)
    assert "no_pure_region" not in {one["name"] for one in first}
    page, warnings = warnings_of(path, DAYS - 1)
    (found,) = [one for one in warnings if one["name"] == "no_pure_region"]
    assert found["sentence"].startswith(
        f"Over the last {DAYS} windows: No range of scores has posi"
    )
    assert "more likely too high than too low" in page

"""Rows years ahead of now: a few are set aside and told, and windows go on."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 2
NOW = FIRST + timedelta(days=DAYS, hours=1)


def test_one_row_of_another_century_stops_nothing_and_is_told_until_it_is_gone(tmp_path):
    path = write_shop(tmp_path, days=DAYS, panes="[0d]", class_prior=0.1)
    file = tmp_path / "predictions.parquet"
    rows = pd.read_parquet(file)
    wrong = rows[-1:].assign(prediction_id=9999, scored_at=pd.Timestamp("2199-05-06T00:00Z"))
    pd.concat([rows, wrong]).to_parquet(file)
    said = (
        "predictions.parquet has 1 time more than a day in the future, the last of them "
        "2199-05-06T00:00:00+00:00: this row is set aside"
    )
    for has_work in (True, False):
        result = CliRunner().invoke(app, ["run", "--config", str(path)])
        assert result.exit_code == 0
        assert ("0 windows collected" not in result.output) is has_work
        assert said in result.output
    assert any(said in one.what for one in examine(read_configuration(path).configuration, now=NOW))
    rows.to_parquet(file)
    assert said not in CliRunner().invoke(app, ["run", "--config", str(path)]).output

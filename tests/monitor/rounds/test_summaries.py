"""The report of a calendar month is sent once, when the last of its windows is mature."""

from __future__ import annotations

import html
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.period.summaries import is_summary, summary_files_of
from pumonitor.monitor.reports.window_files import window_files_of
from tests.monitor.monitored_shop import MATURITY, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 31, tzinfo=UTC)
AT = PageAddresses("https://p.example")


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    path = write_shop(
        tmp_path,
        days=2,
        first=FIRST,
        panes="[]",
        class_prior=0.1,
        tracking=f"sqlite:///{tmp_path / 'mlflow.db'}",
    )
    return read_configuration(path).configuration


def asked(jobs: Jobs) -> list[dict[str, Any]]:
    """What the messages of files ask for, in the order in which they were made."""
    query = text("select payload from outbox where destination = 'mlflow-files' order by id")
    with jobs.ledger.database.reading() as connection:
        found = [json.loads(row.payload) for row in connection.execute(query)]
    return [one["report"] for one in found]


def test_a_month_is_summed_up_once_its_last_window_is_mature(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("figures", "history_figures", "threshold_figures", "sensitivity_figures"):
        monkeypatch.setattr(f"pumonitor.report.html.{name}", lambda *_, **__: [])
    mature = datetime(2026, 2, 1, tzinfo=UTC) + MATURITY
    now = mature - timedelta(hours=1)
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        jobs.run()
        assert not any(map(is_summary, asked(jobs)))
        for now in (mature, mature + timedelta(days=1)):  # noqa: B007 (the clock reads it)
            jobs.run()
            summaries = [one for one in asked(jobs) if is_summary(one)]
            assert summaries == [{"monitor": "card-fraud", "summary": "2026-01"}]
        monitors = configuration.monitors
        files = summary_files_of(monitors, jobs.ledger, summaries[0], now=now, pages=AT)
        assert summary_files_of({}, jobs.ledger, summaries[0], now=now, pages=None) == {}
        of_window = next(one for one in asked(jobs) if not is_summary(one))
        report = window_files_of(monitors, jobs.ledger, of_window, pages=AT)["report.html"]
    assert list(files) == ["summary-2026-01.html"]
    assert "1 window with predictions, of which 1 mature." in files["summary-2026-01.html"]
    assert f'<a href="{AT.window("card-fraud", FIRST, "")}">' in html.unescape(report)

"""Rounds in which nothing has moved look at nothing, and none of what may move is missed."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.monitor.windows.due.settled import all_planned, files_digest, rules_digest
from pumonitor.monitor.windows.monitor_tables import MonitorTables
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
RULES = "    rules: [{metric: aul, below: 0.2}, {metric: auc, shift: down}, {health: no_data}]\n"
LOADED = """
import sys
from pumonitor.cli.app import main
try:
    main()
finally:
    heavy = {"duckdb", "scipy", "pandas", "alembic", "pumonitor.monitor.alerts.alerting"}
    loaded = heavy & {*sys.modules}
    print("loaded:", *sorted(loaded), file=sys.stderr)
"""


@pytest.fixture
def shop(tmp_path):
    path = write_shop(tmp_path, days=1, class_prior=0.1)
    path.write_text(path.read_text() + RULES)
    return path


def a_round(path, now, **options):
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False, **options) as jobs:
        done = jobs.run()
        assert done.failures == []
        return done.planned, done.evaluated


def standing_of(path):
    with open_jobs(read_configuration(path).configuration, deliver=False) as jobs:
        return jobs.ledger.standings.all()["card-fraud"]


def test_a_round_without_news_loads_neither_engine_nor_statistics(shop):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", LOADED, "run", "--config", str(shop)],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert "nothing is left" in done.stdout
        return done.stderr.splitlines()[-1]

    assert "duckdb" in run()
    assert run() == "loaded:"


def test_an_appended_file_is_looked_at_though_no_window_has_ended(shop):
    now = FIRST + 1.5 * DAY
    assert a_round(shop, now) == (1, 1)
    assert a_round(shop, now + HOUR) == (0, 0)
    file = shop.parent / "predictions.parquet"
    rows = pd.read_parquet(file)
    earlier = rows.iloc[:1].assign(prediction_id=10**6, scored_at=FIRST - 2 * DAY)
    pd.concat([earlier, rows]).to_parquet(file)
    # The one day before that was planned is not planned again.
    assert a_round(shop, now + 2 * HOUR) == (3, 2)
    assert standing_of(shop).first_prediction == FIRST - 2 * DAY


def test_rules_and_configurations_that_change_are_taken_in_at_once(shop):
    now = FIRST + 1.5 * DAY
    a_round(shop, now)
    shop.write_text(shop.read_text().replace("below: 0.2", "below: 0.999"))
    a_round(shop, now)
    with open_jobs(read_configuration(shop).configuration, deliver=False) as jobs:
        assert len(jobs.ledger.alerts.progress("card-fraud")) == 3
        names = {one.rule for one in jobs.ledger.alerts.current("card-fraud")}
    assert "aul below 0.2" not in names
    shop.write_text(shop.read_text().replace("threshold: 0.5", "threshold: 0.6"))
    assert a_round(shop, now) == (1, 1)


def test_what_others_open_is_looked_at_when_a_window_has_ended(shop):
    opened = []

    def open_source(monitor):
        opened.append(monitor.name)
        return open_monitor_source(monitor)

    now = FIRST + 1.5 * DAY
    a_round(shop, now, open_source=open_source)
    a_round(shop, now + HOUR, open_source=open_source)
    assert len(opened) == 1
    assert a_round(shop, FIRST + 2 * DAY, open_source=open_source)[0] == 1
    assert len(opened) == 2


def test_what_is_known_of_a_monitor_says_whether_windows_are_missing(shop):
    (monitor,) = read_configuration(shop).configuration.monitors.values()
    known = Standing(
        monitor=monitor.name,
        configuration=configuration_hash(monitor),
        files="as they were",
        first_prediction=FIRST,
        last_prediction=FIRST + DAY / 2,
        planned_until=FIRST + DAY,
    )
    long_after = FIRST + 1000 * DAY
    done = replace(known, planned_until=FIRST + 2 * DAY)
    elsewhere = replace(done, files=None)
    for standing, files, now, planned in (
        (known, "as they were", FIRST + 2 * DAY - HOUR, True),
        (known, "others", FIRST + 2 * DAY - HOUR, False),
        # The first day without predictions is due, those after it are not.
        (known, "as they were", FIRST + 2 * DAY, False),
        (done, "as they were", long_after, True),
        (elsewhere, None, FIRST + 3 * DAY - HOUR, True),
        (elsewhere, None, FIRST + 3 * DAY, False),
        (replace(done, last_prediction=None), "as they were", long_after, True),
        (replace(elsewhere, last_prediction=None), None, FIRST, False),
    ):
        assert all_planned(monitor, standing, files=files, now=now) is planned


def test_files_are_known_by_name_size_and_time(shop):
    (monitor,) = read_configuration(shop).configuration.monitors.values()
    before = files_digest(monitor)
    assert files_digest(monitor) == before
    file = shop.parent / "confirmations.parquet"
    os.utime(file, ns=(0, 1))
    after = files_digest(monitor)
    assert after != before
    file.unlink()
    assert files_digest(monitor) not in (before, after)
    remote = monitor.predictions.source.model_copy(update={"path": Secret("s3://bucket/p.parquet")})
    there = monitor.predictions.model_copy(update={"source": remote})
    assert files_digest(monitor.model_copy(update={"predictions": there})) is None


def test_alerts_are_looked_at_anew_by_another_version(shop, monkeypatch):
    (monitor,) = read_configuration(shop).configuration.monitors.values()
    before = rules_digest(monitor, "c0ffee")
    assert rules_digest(monitor, "c0ffee") == before != rules_digest(monitor, "other")
    monkeypatch.setattr("pumonitor.monitor.windows.due.settled.__version__", "99.0")
    assert rules_digest(monitor, "c0ffee") != before


def test_few_tables_are_open_at_once():
    class Tables:
        def __init__(self, name):
            self.name = name
            now_open.add(name)

        def close(self):
            now_open.discard(self.name)

    now_open = set()
    names = [f"monitor {number}" for number in range(50)]
    tables = MonitorTables({name: name for name in names}, Tables)
    most = 0
    for name in names:
        assert tables.of(name).name == name
        assert tables.of(names[0]).name == names[0]
        most = max(most, len(now_open))
    assert most == 4
    assert {names[0], names[-1]} <= now_open
    tables.close()
    assert now_open == set()

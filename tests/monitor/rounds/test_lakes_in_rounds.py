"""Monitors of tables in lakes: the same results, and the version that was read beside them."""

from __future__ import annotations

import json
from datetime import timedelta

import pandas as pd
import pytest
from deltalake import DeltaTable, write_deltalake
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.backfill import backfill
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from tests.monitor.monitored_shop import DAYS, FIRST, SETTLED, write_shop
from tests.sources.lake_tables import arrow_of, delta_table, iceberg_catalog, iceberg_table

pytestmark = [
    pytest.mark.usefixtures("unsearched_labels"),
    # Arrow reads pandas in a way that pandas announces to change.
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

FILES = {"predictions": "predictions.parquet", "positives": "confirmations.parquet"}


def jobs_of(path, *, now=SETTLED):
    return open_jobs(read_configuration(path).configuration, clock=lambda: now, deliver=False)


def written(folder, **sources):
    """The shop with other sources, in a file of its own."""
    folder.mkdir(exist_ok=True)
    path = write_shop(folder, class_prior=0.1, panes="[]")
    text = path.read_text(encoding="utf-8")
    for role, source in sources.items():
        text = text.replace(f"source: {FILES[role]}", f"source: {source}")
    path.write_text(text, encoding="utf-8")
    return path


def tables_of(folder):
    return {role: arrow_of(pd.read_parquet(folder / file)) for role, file in FILES.items()}


def panes_in(jobs):
    windows = jobs.ledger.windows("card-fraud", since=FIRST, until=SETTLED)
    return [pane for one in windows for pane in one.panes if pane.counts]


def digests_in(jobs):
    """Of what was counted; what is drawn at random depends on the configuration as well."""
    return [(pane.as_of, pane.digest) for pane in panes_in(jobs)]


def versions_in(jobs):
    return [pane.counts.get("versions") for pane in panes_in(jobs)]


@pytest.fixture(scope="module")
def of_files(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("files"))
    with jobs_of(path) as jobs:
        assert jobs.run().failures == []
        assert {frozenset(one) for one in versions_in(jobs)} == {frozenset({"read_by"})}
        return path.parent, digests_in(jobs)


def test_results_are_those_of_files_and_versions_stand_beside_them(of_files, tmp_path, monkeypatch):
    folder, expected = of_files
    tables = tables_of(folder)
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    delta_table(tmp_path / "d" / "made", tables["predictions"])
    known = iceberg_table(catalog, "known", tables["positives"])
    # A path is relative to the configuration's folder.
    path = written(tmp_path / "d", predictions="delta://made", positives=known)
    with jobs_of(path) as jobs:
        assert jobs.run().failures == []
        assert digests_in(jobs) == expected
        found = versions_in(jobs)
    assert found
    snapshot = catalog.load_table("fraud.known").current_snapshot().snapshot_id
    for one in found:
        assert one["predictions"]["version"] == "2"
        assert one["positives"]["snapshot"] == str(snapshot)
        assert one["positives"]["table"] == known


def test_commands_take_their_addresses(of_files, tmp_path, monkeypatch):
    tables = tables_of(of_files[0])
    monkeypatch.chdir(tmp_path)
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    made = iceberg_table(catalog, "predictions", tables["predictions"])
    delta_table(tmp_path / "known", tables["positives"])
    done = CliRunner().invoke(app, ["init", made, "delta://known", "--yes"])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "pumonitor.yaml").read_text(encoding="utf-8")
    assert f'source: "{made}"' in text
    assert 'source: "delta://known"' in text
    done = CliRunner().invoke(app, ["check"])
    assert "No check failed" in done.output


def test_past_windows_are_read_in_the_version_of_then(of_files, tmp_path):
    """Rows of a day that were deleted since are counted as of a moment at which they were there."""
    table = arrow_of(pd.read_parquet(of_files[0] / FILES["predictions"]))
    folder = tmp_path / "shop"
    folder.mkdir()
    write_deltalake(folder / "made", table)
    then = pd.Timestamp(DeltaTable(folder / "made").history()[0]["timestamp"], unit="ms", tz="UTC")
    first = f"scored_at < '{(FIRST + timedelta(hours=12)).isoformat()}'"
    DeltaTable(folder / "made").delete(first)
    path = written(folder, predictions="delta://made")
    around = {"start": FIRST, "end": FIRST + timedelta(days=DAYS)}
    numbers = {}
    for moment in (None, then.to_pydatetime()):
        done = backfill(path, None, **around, as_of=moment, reprocess="all")
        assert done.failures == []
        with jobs_of(path) as jobs:
            window = jobs.ledger.windows("card-fraud", since=FIRST, until=SETTLED)[0]
            counts = window.panes[-1].counts
        numbers[counts["versions"]["predictions"]["version"]] = counts["predictions"]
    assert set(numbers) == {"0", "1"}
    assert numbers["1"] < numbers["0"]


def test_another_version_is_no_other_configuration(tmp_path):
    path = written(tmp_path, predictions="delta://made")
    monitor = read_configuration(path).configuration.monitors["card-fraud"]
    assert monitor.predictions.source.identity == {"path": "delta://made"}
    assert monitor.predictions.source.location == f"delta://{tmp_path / 'made'}"
    assert json.dumps(configuration_hash(monitor))


@pytest.mark.parametrize("of_lake", [False, True])
def test_a_service_sees_what_was_written_since_its_last_round(of_files, tmp_path, of_lake):
    """Files that a pattern fits by now, and the newest version of a table."""
    made = pd.read_parquet(of_files[0] / FILES["predictions"])
    half = FIRST + timedelta(days=2)
    early, late = made[made.scored_at < half], made[made.scored_at >= half]
    (tmp_path / "made").mkdir()
    source = "delta://lake" if of_lake else "made/*.parquet"

    def write(rows, name):
        if of_lake:
            write_deltalake(tmp_path / "lake", arrow_of(rows), mode="append")
        else:
            rows.to_parquet(tmp_path / "made" / name)

    write(early, "1.parquet")
    path = written(tmp_path, predictions=source)
    now = [half + timedelta(hours=1)]
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now[0], deliver=False) as jobs:
        assert jobs.run().failures == []
        write(late, "2.parquet")
        now[0] = SETTLED
        assert jobs.run().failures == []
        windows = jobs.ledger.windows("card-fraud", since=FIRST, until=SETTLED)
        seen = [[pane.counts for pane in one.panes if pane.counts] for one in windows]
        counted = [counts[-1]["predictions"] for counts in seen if counts]
    by_day = made.groupby(made.scored_at.dt.floor("D")).size().tolist()
    # The last window says that there are no more.
    assert counted == [*by_day, 0]

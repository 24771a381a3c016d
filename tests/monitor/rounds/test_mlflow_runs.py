"""What people find in MLflow: one point per step, and runs that say what they are and end."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor import jobs
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.mlflow.mlflow_history import active_runs, file_paths, points_of
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = [
    pytest.mark.usefixtures("unsearched_labels"),
    *(pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW),
]

DAYS = 2
AS_OF = (FIRST + timedelta(days=DAYS + 4)).date().isoformat()
END = (FIRST + timedelta(days=DAYS)).date().isoformat()


@pytest.fixture(scope="module")
def shop(tmp_path_factory, mlflow_client_class, mlflow_database):
    """Two days, the first by one version of the model, filled in at once."""
    folder = tmp_path_factory.mktemp("shop")
    address = f"sqlite:///{folder / 'mlflow.db'}"
    shutil.copy(mlflow_database, folder / "mlflow.db")
    path = write_shop(folder, days=DAYS, with_versions=True, tracking=address)
    path.write_text(path.read_text().replace("panes: [0d, 1d]", "panes: [1d]"))
    with pytest.MonkeyPatch.context() as patch:
        # What `run` leaves to later runs is part of a backfill.
        patch.setattr(jobs, "_BUDGET_FOR_FILES", timedelta())
        invoke(path, "backfill", "--from", "2026-01-01", "--to", END, "--as-of", AS_OF)
    return path, mlflow_client_class(tracking_uri=address)


def invoke(path, *arguments):
    done = CliRunner().invoke(app, [*arguments, "--config", str(path)])
    assert done.exit_code == 0, done.output
    return done.stdout


def runs_of(client):
    return {
        run.data.tags["pumonitor.model_version"]: run for run in active_runs(client, "card-fraud")
    }


def test_every_series_has_one_point_per_step(shop):
    _, client = shop
    runs = runs_of(client)
    assert sorted(runs) == ["1", "2"]
    for version, days in (("1", 1), ("2", 1)):
        points = points_of(client, runs[version])
        for name, found in points.items():
            steps = [step for step, _, _ in found]
            assert len(steps) == len(set(steps)) <= days, name
        assert len(points["pu/auc"]) == len(points["pu_after_1d/predictions"]) == days
        groups = {name.partition("/")[0] for name in points}
        assert groups == {"pu", "pu_after_1d", "pu_final"}


def test_a_run_says_what_it_was_made_with_and_what_a_step_is(shop):
    _, client = shop
    run = runs_of(client)["2"]
    assert run.data.params["threshold"] == "0.5"
    assert run.data.params["class_prior"] == "estimated from scores and confirmations (auto)"
    assert run.data.params["label_maturity"] == "2d"
    assert run.data.params["looks_at"] == "1d, 2d, 4d"
    assert run.data.params["configuration"] == run.data.tags["pumonitor.configuration"]
    note = run.data.tags["mlflow.note.content"]
    assert "step 20454 is the one that starts at 2026-01-01 00:00 UTC" in note
    assert "`pu_after_1d/`" in note
    (step, stamp, _), *_ = points_of(client, run)["pu/predictions"]
    assert step == 20455
    assert stamp // 1000 == (FIRST + timedelta(days=2)).timestamp()


def test_reports_of_all_mature_windows_come_with_a_backfill(shop):
    _, client = shop
    found = {
        path for run in runs_of(client).values() for path in file_paths(client, run.info.run_id)
    }
    for day in range(DAYS):
        start = f"{FIRST + timedelta(days=day):%Y-%m-%dT%H%M%SZ}"
        assert f"pumonitor/windows/{start}/report.html" in found


def test_the_run_of_a_version_that_is_gone_is_finished_and_all_by_finish(shop):
    path, client = shop
    runs = runs_of(client)
    assert (runs["1"].info.status, runs["2"].info.status) == ("FINISHED", "RUNNING")
    assert runs["1"].data.tags["pumonitor.end_reason"] == "superseded by version 2"
    ended = datetime.fromtimestamp(runs["1"].info.end_time / 1000, tz=FIRST.tzinfo)
    assert ended >= FIRST + timedelta(days=6)
    assert invoke(path, "finish", "card-fraud") == "card-fraud: its runs in MLflow are finished\n"
    runs = runs_of(client)
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert runs["2"].data.tags["pumonitor.end_reason"] == "the monitor is done"


def test_finish_without_mlflow_says_so(tmp_path):
    path = write_shop(tmp_path, days=1)
    done = CliRunner().invoke(app, ["finish", "card-fraud", "--config", str(path)])
    assert done.exit_code == 2
    assert "the configuration has no tracking, so there are no runs in MLflow" in done.stderr

"""`run`, `backfill`, `results`, `insights`, `doctor` and `serve` on real files."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from urllib.request import urlopen

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.monitored_shop import write_shop

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
FIRST = TODAY - timedelta(days=4)
FIELDS = ["monitor", "model_version", "segment", "window_start", "window_end", "state"]
FIELDS += ["revision", "as_of", "metric", "value", "low", "high", "n_labeled", "n_unlabeled"]
FIELDS += ["undefined_reason", "infeasible", "impossible", "infeasible_reason"]
FIELDS += ["unclipped_value", "unclipped_low", "unclipped_high", "assumed"]


def invoke(*arguments, path):
    return CliRunner().invoke(app, [*arguments, "--config", str(path)])


def four_days(folder):
    """Four days that ended yesterday, and what was confirmed by then."""
    path = write_shop(folder, days=4, first=FIRST)
    confirmations = pd.read_parquet(folder / "confirmations.parquet")
    known = confirmations[confirmations["confirmed_at"] <= TODAY]
    known.to_parquet(folder / "confirmations.parquet")
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Four days, worked through once."""
    path = four_days(tmp_path_factory.mktemp("shop"))
    done = invoke("run", "--json", path=path)
    assert done.exit_code == 0, done.output
    return path, json.loads(done.stdout)


def test_run_does_what_is_due_and_then_nothing(shop):
    path, first = shop
    assert (first["planned"], first["collected"], first["evaluated"]) == (4, 4, 4)
    assert first["left"] == {
        "to_collect": 0,
        "to_evaluate": 0,
        "failing": 0,
        "held": [],
        "lost_rows": [],
        "waiting_for": [],
    }
    again = invoke("run", path=path)
    assert again.exit_code == 0
    assert again.stdout.startswith("0 windows collected, 0 evaluated; nothing is left.")


def test_results_as_json_and_csv_have_the_fields_and_the_same_rows(shop):
    path, _ = shop
    as_json = json.loads(invoke("results", "card-fraud", "--format", "json", path=path).stdout)
    assert [list(row) for row in as_json[:1]] == [FIELDS]
    rows = list(
        csv.DictReader(
            io.StringIO(invoke("results", "card-fraud", "--format", "csv", path=path).stdout)
        )
    )
    assert list(rows[0]) == FIELDS
    assert [row["metric"] for row in rows] == [row["metric"] for row in as_json]
    assert datetime.fromisoformat(as_json[0]["window_start"]) == FIRST
    recall = [row for row in as_json if row["metric"] == "recall"]
    assert len(recall) == 4
    assert all(row["low"] <= row["value"] <= row["high"] for row in recall)


def test_results_can_be_narrowed(shop):
    path, _ = shop
    second = FIRST + timedelta(days=1)
    narrow = ["--metric", "f1", "--from", second.isoformat(), "--to", TODAY.isoformat()]
    found = invoke("results", "card-fraud", "--format", "json", *narrow, path=path)
    rows = json.loads(found.stdout)
    assert {row["metric"] for row in rows} == {"f1"}
    assert min(datetime.fromisoformat(row["window_start"]) for row in rows) == second
    table = invoke("results", "card-fraud", path=path).stdout
    assert "The newest window: read by duckdb " in " ".join(table.split())
    assert f"{FIRST:%Y-%m-%d}" in table
    assert all(name in table for name in ("prior", "aul", "auc", "precision", "recall", "f1"))
    assert "…" not in table


def test_a_metric_that_is_not_there_is_named_with_the_nearest_or_a_dozen(shop):
    path, _ = shop
    for name, said in (("acu", "; did you mean 'auc'?"), ("foo", " (there are class_prior, ")):
        done = invoke("results", "card-fraud", "--metric", name, path=path)
        assert done.exit_code == 2
        assert f"--metric is no metric: '{name}'{said}" in done.stderr
    every = invoke("results", "card-fraud", "--format", "csv", path=path).stdout
    names = {row["metric"] for row in csv.DictReader(io.StringIO(every))}
    more = f" and {len(names) - 12} more: pumonitor results card-fraud --format csv prints them)"
    assert more in done.stderr


def test_the_help_of_results_says_which_metrics_the_table_has():
    text = " ".join(
        CliRunner(env={"COLUMNS": "400"}).invoke(app, ["results", "--help"]).stdout.split()
    )
    assert "Print one row per window and metric" not in text
    assert "Without it the table shows class_prior, aul, auc, precision, recall, f1" in text


def test_all_revisions_are_there_when_asked_for(shop):
    path, _ = shop
    arguments = ["results", "card-fraud", "--metric", "f1", "--format", "json"]
    latest, every = (
        json.loads(invoke(*arguments, *more, path=path).stdout)
        for more in ([], ["--all-revisions"])
    )
    assert len(latest) == 4
    # Of the days that are 0 to 3 days old, 1 to 3 looks are due: at their end, a day and two after.
    assert sorted(row["revision"] for row in every) == [0, 0, 0, 0, 1, 1, 1, 2, 2]


def test_backfill_says_what_it_would_do_and_refuses_an_empty_range(shop, tmp_path):
    path, _ = shop
    dates = ["--from", f"{FIRST:%Y-%m-%d}", "--to", f"{TODAY:%Y-%m-%d}"]
    (told,) = json.loads(invoke("backfill", *dates, "--dry-run", "--json", path=path).stdout)
    assert told == {
        "monitor": "card-fraud", "windows": 4, "in_ledger": 4, "panes_due": 9, "panes_done": 9,
    }  # fmt: skip
    refused = invoke("backfill", "--from", "2026-01-02", "--to", "2026-01-02", path=path)
    assert refused.exit_code == 2
    assert "must be after" in refused.stderr
    unreadable = invoke("backfill", "--from", "yesterday", "--to", "2026-01-02", path=path)
    assert unreadable.exit_code == 2
    assert "--from takes a date" in unreadable.stderr


@pytest.mark.slow
def test_backfill_with_two_processes_records_what_one_run_did(shop, tmp_path):
    path, _ = shop
    other = write_shop(tmp_path, days=4, first=FIRST)
    dates = ["--from", f"{FIRST:%Y-%m-%d}", "--to", f"{TODAY:%Y-%m-%d}"]
    done = invoke("backfill", "card-fraud", *dates, "--workers", "2", "--json", path=other)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["evaluated"] == 4
    arguments = ["results", "card-fraud", "--format", "json", "--all-revisions"]
    assert invoke(*arguments, path=other).stdout == invoke(*arguments, path=path).stdout


def test_a_monitor_that_is_not_there_is_named_with_the_nearest(shop):
    path, _ = shop
    for command in (["run"], ["results"], ["insights"]):
        found = invoke(*command, "card-fruad", path=path)
        assert found.exit_code == 2
        assert "did you mean 'card-fraud'?" in found.stderr


def test_insights_tell_of_the_newest_windows(shop):
    path, _ = shop
    (found,) = json.loads(invoke("insights", "--json", path=path).stdout)
    mature, newest = found["latest"]
    assert mature["state"] != "provisional"
    assert newest["state"] == "provisional"
    assert newest["end"] == TODAY.isoformat()
    assert mature["estimates"]["recall"]["value"] > 0.5
    text = invoke("insights", path=path).stdout
    assert "provisional" in text
    assert "recall" in text


def test_check_leaves_out_what_is_evaluated_as_a_dry_run_does(shop):
    path, _ = shop
    due = json.loads(invoke("check", "--json", path=path).stdout)["monitors"]["card-fraud"]["due"]
    assert (due["windows"], due["panes"], due["mature_windows"], due["start"]) == (0, 0, 0, None)
    # Four windows at once, three of them a day later, two when mature.
    assert due["evaluated_panes"] == 4 + 3 + 2 + 0
    assert (
        "Due now: nothing; all 9 evaluations so far are done" in invoke("check", path=path).stdout
    )
    # Under another configuration all are due.
    other = path.with_name("other.yaml")
    other.write_text(path.read_text().replace("threshold: 0.5", "threshold: 0.6"))
    due = json.loads(invoke("check", "--json", path=other).stdout)["monitors"]["card-fraud"]["due"]
    assert (due["windows"], due["panes"], due["evaluated_panes"]) == (4, 9, 0)


def test_check_does_not_call_it_well_where_no_confirmation_is(tmp_path):
    path = four_days(tmp_path)
    # Four days are too few for a reference that is mature.
    path.write_text(path.read_text().replace("    reference:", "    # reference:"))
    assert "No problem was found." in invoke("check", path=path).stdout
    file = tmp_path / "confirmations.parquet"
    pd.read_parquet(file).iloc[:0].to_parquet(file)
    done = invoke("check", path=path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "has no confirmations" in said
    assert "every estimate is undefined until it has some" in said
    assert "No problem was found." not in said


def test_doctor_is_content_and_then_complains(shop, tmp_path):
    path, _ = shop
    well = invoke("doctor", path=path)
    assert (well.exit_code, well.stdout.strip()) == (0, "No problem was found.")
    never = write_shop(tmp_path, days=1, first=FIRST)
    told = json.loads(invoke("doctor", "--json", path=never).stdout)
    assert [one["what"] for one in told] == ["card-fraud: no results yet: it has never run"]
    invoke("run", path=never)
    (tmp_path / "predictions.parquet").write_bytes(b"no longer Parquet")
    broken = invoke("run", path=never)
    assert broken.exit_code == 2
    assert "predictions.parquet" in broken.stdout
    ill = invoke("doctor", "--json", path=never)
    assert ill.exit_code == 3
    (told,) = json.loads(ill.stdout)
    assert "card-fraud: its tables cannot be read: " in told["what"]
    assert "predictions.parquet" in told["what"]


def test_serve_works_answers_probes_and_ends_gently(tmp_path):
    path = write_shop(tmp_path, days=2, first=TODAY - timedelta(days=2))
    code = "from pumonitor.cli.app import main; main()"
    command = [sys.executable, "-c", code, "serve", "--config", path, "--health", "127.0.0.1:0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as service:
        try:
            port = None
            heard = []
            for line in service.stderr:
                heard.append(line)
                if "health on port" in line:
                    port = int(line.rsplit(" ", 1)[1])
                if "2 collected, 2 evaluated" in line:
                    break
            for page, text in (("healthz", "alive\n"), ("readyz", "ready\n")):
                with urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10) as answer:
                    assert answer.read().decode() == text
            # As SIGTERM does.
            service.send_signal(signal.SIGHUP)
            rest = service.stderr.read()
            assert service.wait(timeout=30) == 0
            assert "stopped" in rest
            # How the state database is made up to date is no news of the service.
            assert not any("Context impl" in line for line in heard)
        finally:
            service.kill()
    rows = json.loads(invoke("results", "card-fraud", "--format", "json", path=path).stdout)
    assert {row["window_start"] for row in rows} == {
        (TODAY - timedelta(days=back)).isoformat() for back in (1, 2)
    }

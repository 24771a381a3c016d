"""Rows or labels that are gone at a later look: what was known stays, and everybody is told."""

from __future__ import annotations

import json
from datetime import timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.inspection.exposition import exposition
from tests.monitor.dashboard.shop_pages import EvaluatedPages
from tests.monitor.monitored_shop import FIRST, recorded, write_shop
from tests.monitor.rounds.retried import run_again

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 2
MATURITY = timedelta(days=3)
MATURE = FIRST + timedelta(days=DAYS) + MATURITY
FINAL = MATURE + MATURITY
RULES = """\
    rules:
      - {metric: labeled_positives, below: 1000, name: few}
      - {metric: labeled_positives, above: 5, name: many}
      - {health: lost_rows, name: lost, severity: warning}
"""


def shop(folder, extra="", **options):
    path = write_shop(
        folder, days=DAYS, maturity=MATURITY, panes="[0d]", class_prior=0.1, **options
    )
    text = path.read_text().replace("reference:", "# reference:")
    path.write_text(text + extra + RULES)
    return path


def of_first_day(results):
    return [row for row in results if row[3] == FIRST]


def events(path):
    with open_ledger(read_configuration(path).configuration) as ledger:
        stored = [one.transition for one in ledger.alerts.history("card-fraud")]
    return [(one.rule, one.kind) for one in stored]


def keep(folder, table, chosen):
    file = folder / f"{table}.parquet"
    whole = file.read_bytes()
    rows = pd.read_parquet(file)
    rows[chosen(rows)].to_parquet(file)
    return lambda: file.write_bytes(whole)


LOSSES = {
    "rows deleted by retention": ("predictions", lambda rows: rows.scored_at >= "2026-01-02", 1),
    "a third of the rows": ("predictions", lambda rows: rows.prediction_id % 3 > 0, 2),
    "a file that is empty": ("predictions", lambda rows: rows.prediction_id < 0, 2),
    "one label in ten": ("confirmations", lambda rows: rows.prediction_id % 10 > 0, 2),
    "all labels": ("confirmations", lambda rows: rows.prediction_id < 0, 2),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_was_known_stays_until_the_rows_are_back(loss, tmp_path):
    table, chosen, windows = LOSSES[loss]
    path = shop(tmp_path)
    _, known, alerts = run_again(path, MATURE)
    assert alerts == {"few": "firing", "many": "firing", "lost": "ok"}
    told = events(path)
    bring_back = keep(tmp_path, table, chosen)
    for _ in range(2):
        done, results, alerts = run_again(path, FINAL)
        assert of_first_day(results) == of_first_day(known)
        assert alerts == {"few": "firing", "many": "firing", "lost": "firing"}
        assert len(set(done.failures)) == windows
        assert "rows are gone from" in done.failures[0]
    assert [one for one in events(path) if one[0] != "lost"] == told
    bring_back()
    done, results, alerts = run_again(path, FINAL)
    assert done.failures == []
    assert {row[5] for row in results} == {"final"}
    assert alerts["few"] == "firing"
    assert alerts["lost"] == "ok"


def test_it_is_told_by_every_run_the_doctor_the_page_and_the_metrics(tmp_path):
    path = shop(tmp_path)
    run_again(path, MATURE)
    keep(tmp_path, *LOSSES["a third of the rows"][:2])
    for _ in range(2):
        # The second time nothing is due yet: it waits after the failure.
        result = CliRunner().invoke(app, ["run", "--config", str(path)])
        assert result.exit_code == 3
        assert "rows are gone from" in result.output
        assert "pumonitor accept card-fraud 2026-01-01T00:00Z" in result.output
    result = CliRunner().invoke(app, ["run", "--config", str(path), "--json"])
    assert len(json.loads(result.stdout)["left"]["lost_rows"]) == DAYS
    configuration = read_configuration(path).configuration
    complaints = [one.what for one in examine(configuration, now=FINAL)]
    assert sum("rows are gone from predictions.parquet" in one for one in complaints) == DAYS
    assert not any("failed 1 times" in one or "windows are late" in one for one in complaints)
    with open_ledger(configuration) as ledger:
        text = exposition(ledger, monitors=configuration.monitors, clock=lambda: FINAL)().decode()
        assert 'pumonitor_windows_with_lost_rows{monitor="card-fraud"} 2.0' in text
        assert ledger.windows("card-fraud")[0].last_error in complaints[0]
        pages = EvaluatedPages(ledger, configuration.monitors, now=FINAL)
        for address in ("/monitors/card-fraud", "/monitors/card-fraud/windows/2026-01-01"):
            assert (
                "rows are gone from predictions.parquet"
                in pages.client.get(address, follow_redirects=True).text
            )


def test_what_is_accepted_is_taken_and_recorded(tmp_path):
    path = shop(tmp_path)
    run_again(path, MATURE)
    keep(tmp_path, "predictions", LOSSES["a third of the rows"][1])
    run_again(path, FINAL)
    command = ["accept", "card-fraud", "2026-01-01", "--config", str(path)]
    assert CliRunner().invoke(app, command).exit_code == 2
    result = CliRunner().invoke(app, [*command, "--reason", "a customer was erased"])
    assert result.exit_code == 0
    # More goes before the next round: nobody accepted that.
    bring_back = keep(tmp_path, "predictions", lambda rows: rows.prediction_id % 2 == 0)
    assert len(set(run_again(path, FINAL)[0].failures)) == DAYS
    bring_back()
    done, results, _ = run_again(path, FINAL)
    assert len(set(done.failures)) == 1
    assert {(row[3], row[5]) for row in results} == {
        (FIRST, "final"),
        (FIRST + timedelta(days=1), "mature"),
    }
    with open_ledger(read_configuration(path).configuration) as ledger:
        first = ledger.windows("card-fraud")[0]
        (entry,) = ledger.audit(actions=["accept look"])
    assert first.accepted_look["reason"] == "a customer was erased"
    assert entry.detail["window"].startswith("2026-01-01")
    assert entry.actor == first.accepted_look["by"]
    result = CliRunner().invoke(app, [*command, "--reason", "again"])
    assert result.exit_code == 2
    assert "those that were are of 2026-01-02 UTC" in result.output


def test_labels_that_are_taken_back_are_not_lost(tmp_path):
    path = shop(tmp_path)
    known_at = "      known_at: confirmed_at\n"
    path.write_text(path.read_text().replace(known_at, f"{known_at}      label: label\n"))
    file = tmp_path / "confirmations.parquet"
    labels = pd.read_parquet(file).assign(label=1)
    labels.to_parquet(file)
    run_again(path, MATURE)
    back = labels[::2].assign(label=0, confirmed_at=pd.Timestamp(MATURE + timedelta(hours=1)))
    pd.concat([labels, back]).to_parquet(file)
    done, results, _ = run_again(path, FINAL)
    assert done.failures == []
    labeled = {row[5]: row[9] for row in results if row[8] == "labeled_positives"}
    assert set(labeled) == {"final"}
    assert sum(one.retracted for one in ()) == 0


@pytest.mark.parametrize(("rows", "refused"), [(0.019, 0), (0.022, DAYS)])
def test_a_little_may_go(rows, refused, tmp_path):
    path = shop(tmp_path, extra="    tolerated_losses: {labels: 100%}\n")
    run_again(path, MATURE)

    def are_left(table):
        days = table.groupby(table.scored_at.dt.date).prediction_id
        return days.cumcount() >= (rows * days.transform("count")).astype(int)

    keep(tmp_path, "predictions", are_left)
    assert len(set(run_again(path, FINAL)[0].failures)) == refused


def test_shares_that_are_tolerated_are_configured(tmp_path):
    path = shop(tmp_path, extra="    tolerated_losses: {rows: 40%, labels: 100%}\n")
    run_again(path, MATURE)
    keep(tmp_path, "predictions", LOSSES["a third of the rows"][1])
    assert run_again(path, FINAL)[0].failures == []


def test_a_segment_that_is_gone_is_seen_among_all_rows(tmp_path):
    tolerated = "    tolerated_losses: {rows: 60%, labels: 60%}\n"
    path = shop(tmp_path, extra=tolerated, with_segments=True)
    run_again(path, MATURE)
    keep(tmp_path, "predictions", lambda rows: rows.country != "DE")
    done, _, _ = run_again(path, FINAL)
    assert len(set(done.failures)) == DAYS
    assert "predictions of country=DE" in done.failures[0]


def test_no_final_look_is_planned_for_rows_that_are_not_kept(tmp_path):
    path = shop(tmp_path, extra="    source_keeps: 4d\n")
    run_again(path, MATURE)
    keep(tmp_path, "predictions", lambda rows: rows.prediction_id < 0)
    with open_ledger(read_configuration(path).configuration) as ledger:
        states = [[pane.state for pane in one.panes] for one in ledger.windows("card-fraud")]
    assert all(one == ["provisional", "mature"] for one in states)
    assert run_again(path, FINAL)[0].failures == []


def test_a_final_look_that_is_planned_is_withdrawn_once_rows_are_not_kept(tmp_path):
    path = shop(tmp_path)
    _, known, _ = run_again(path, MATURE)
    keep(tmp_path, "predictions", lambda rows: rows.prediction_id < 0)
    assert len(set(run_again(path, FINAL)[0].failures)) == DAYS
    maturity = "    maturity: 3d\n"
    path.write_text(path.read_text().replace(maturity, f"{maturity}    source_keeps: 4d\n"))
    done, results, alerts = run_again(path, FINAL)
    assert done.failures == []
    assert results == known
    assert alerts["lost"] == "ok"
    result = CliRunner().invoke(app, ["results", "card-fraud", "--config", str(path)])
    assert result.exit_code == 0


def test_counting_again_loses_nothing_either(tmp_path):
    path = shop(tmp_path)
    run_again(path, MATURE)
    _, known, _ = run_again(path, FINAL)
    keep(tmp_path, "confirmations", lambda rows: rows.prediction_id < 0)
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: FINAL, deliver=False) as jobs:
        keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
        jobs.ledger.reopen(keys, which="all", actor="test")
        assert len(set(jobs.run().failures)) == DAYS
        assert recorded(jobs.ledger, revisions="latest") == known

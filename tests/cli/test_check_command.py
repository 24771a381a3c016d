"""`pumonitor check`: connects to everything and tells what is wrong with which exit status."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.cli.checked_folder import TEXT, checked, run, write_tables
from tests.monitor.onboarding_tables import tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_everything_is_tried_shown_and_left_as_it_was(folder):
    predictions, positives = tables(rows=4000)
    found = checked(folder)
    assert {name: one["ok"] for name, one in found["connections"].items()} == {
        "state": True,
        "tracking": True,
    }
    assert "will be created" in found["connections"]["state"]["message"]
    monitor = found["monitors"]["fraud"]
    assert monitor["engine"] == "duckdb"
    assert monitor["predictions"]["rows"] == len(predictions)
    assert monitor["positives"]["rows"] == len(positives)
    assert len(monitor["predictions"]["sample"]) == len(monitor["positives"]["sample"]) == 5
    median = (
        positives.merge(predictions, on="prediction_id")
        .eval("confirmed_at - scored_at")
        .dt.total_seconds()
        .median()
    )
    assert monitor["positives"]["delay_seconds"]["0.5"] == pytest.approx(median, rel=0.02)
    assert sorted(path.name for path in folder.iterdir()) == [
        "confirmed.csv",
        "predictions.parquet",
        "pumonitor.yaml",
    ]


def test_the_windows_that_are_due_are_those_of_the_calendar(folder):
    told = checked(folder)["monitors"]["fraud"]
    # The first prediction is of Thursday, 1 January: weeks from the Monday before to the one after
    # the last, in which there are none. Of the time since then there is nothing to say.
    monday, week = datetime(2025, 12, 29, tzinfo=UTC), timedelta(days=7)
    last = datetime.fromisoformat(told["predictions"]["last"])
    windows = (last - monday) // week + 2
    due = told["due"]
    assert due["start"] == monday.isoformat()
    assert (due["windows"], due["mature_windows"], due["next"]) == (windows, windows, None)
    assert due["end"] == (monday + windows * week).isoformat()
    since = (
        f"no window after {monday + windows * week:%Y-%m-%d %H:%M} UTC is due until new ones arrive"
    )
    assert any(since in one for one in told["warnings"])


def test_people_see_rows_delays_and_windows(folder):
    (folder / "pumonitor.yaml").write_text(TEXT, encoding="utf-8")
    done = run()
    assert done.exit_code == 0, done.output
    for shown in (
        "prediction_id",
        "Confirmations arrive: 10% within",
        "windows from 2025-12-29 00:00 to",
        "p0",
    ):
        assert shown in done.stdout
    # Its predictions are of long ago, and begin within a week.
    assert "No check failed; read the 2 warnings above." in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "status", "message"),
    [
        ("score: score", "score: skore", 2, "did you mean 'score'"),
        ("predictions.parquet", "prediction.parquet", 2, "did you mean"),
        ("      time_zone: UTC\n      score", "      score", 2, "time_zone"),
        ("sqlite:///state.db", "sqlite:///nowhere/state.db", 3, "nowhere does not exist"),
        ("sqlite:///mlflow.db", "http://127.0.0.1:1", 3, "does not answer"),
        ("sqlite:///state.db", "postgresql+psycopg://127.0.0.1:1/x", 3, "cannot be reached"),
        ("sqlite:///state.db", "postgresql+nonsense://127.0.0.1:1/x", 2, "cannot be used"),
    ],
)
def test_what_is_wrong_has_its_exit_status_and_does_not_stop_the_rest(
    folder, old, new, status, message
):
    found = checked(folder, TEXT.replace(old, new), status=status)
    outcomes = [*found["connections"].values(), *found["monitors"].values()]
    (failed,) = [one for one in outcomes if not one["ok"]]
    assert message in failed["message"]
    assert failed["failure"] == ("input" if status == 2 else "operation")
    assert len(outcomes) == 3


def test_the_configuration_itself_comes_first(folder):
    (folder / "pumonitor.yaml").write_text(TEXT.replace("window: 1w", "windov: 1w"))
    done = run()
    assert done.exit_code == 2
    assert "line 17: is not known here; did you mean 'window'?" in done.stderr
    assert done.stdout == ""
    assert run("--config", "other.yaml").exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "warning"),
    [
        (
            "start: 2026-01-05, end: 2026-01-26",
            "start: 2020-01-05, end: 2020-02-05",
            "no predictions",
        ),
        ("maturity: 14d", "maturity: 1d", "one confirmation in ten arrives after more than"),
        ("      known_at: confirmed_at\n      time_zone: UTC\n", "", "without known_at"),
    ],
)
def test_what_is_doubtful_is_a_warning(folder, old, new, warning):
    found = checked(folder, TEXT.replace(old, new))["monitors"]["fraud"]
    assert any(warning in one for one in found["warnings"]), found["warnings"]


def test_a_database_of_predictions_is_described(folder):
    predictions, _ = tables(rows=500)
    with sqlite3.connect(folder / "scores.db") as database:
        predictions.assign(scored_at=predictions["scored_at"].astype(str)).to_sql(
            "predictions", database, index=False
        )
    database.close()
    text = TEXT.replace("predictions.parquet", '{url: "sqlite:///scores.db", table: predictions}')
    monitor = checked(folder, text)["monitors"]["fraud"]
    assert (monitor["engine"], monitor["predictions"]["rows"]) == ("sqlite", 500)
    select = "select * from predictions where scored_at >= :start and scored_at < :end"
    query = f'{{url: "sqlite:///scores.db", query: "{select}"}}'
    monitor = checked(folder, TEXT.replace("predictions.parquet", query))["monitors"]["fraud"]
    assert monitor["predictions"]["rows"] == 500


RULES = """\
    rules:
      - {metric: aul, below: 0.75, warning: 0.8, for: 2}
      - {metric: f1, drop: 10%, from: reference}
      - {metric: recall, rise: 0.1, from: 28d}
      - {metric: auc, shift: down, to: [hook]}
      - {health: no_data}
      - {health: label_delay, change: 50%}
destinations:
  am: {alertmanager: "http://127.0.0.1:9093"}
  hook: {webhook: "http://127.0.0.1:1/in", allow_private: true, secret: "${HOOK_SECRET}"}
"""
# Predictions begin on Thursday 1 January, so the first week is that of 29 December.
FIRST_WINDOWS = {
    "aul below 0.75": ("2025-12-29", "2026-01-19"),
    "aul below 0.8": ("2025-12-29", "2026-01-19"),
    "f1 drop 10%": ("2026-01-26", "2026-02-16"),
    "recall rise 0.1": ("2026-01-19", "2026-02-09"),
    # Five windows teach a detector at least, from the beginning of the reference on.
    "auc shift down": ("2026-02-09", "2026-03-02"),
    "health no data": ("2025-12-29", "2026-01-05"),
    "health label delay change 50%": ("2026-02-09", "2026-03-02"),
}


def test_rules_are_shown_with_what_they_wait_for(folder, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0")
    found = checked(folder, TEXT + RULES)
    rules = {one["rule"]: one for one in found["monitors"]["fraud"]["rules"]}
    assert {
        name: (one["first_window"][:10], one["judged_at"][:10]) for name, one in rules.items()
    } == FIRST_WINDOWS
    assert rules["aul below 0.75"]["fires"] == "the interval is below 0.75, 2 windows in a row"
    assert rules["f1 drop 10%"]["fires"] == "a drop of more than 10% against the reference"
    assert rules["health label delay change 50%"]["fires"] == (
        "labels arrive 50% later or sooner than usual (false alarms a year: 1; learned from 5 "
        "windows)"
    )
    assert rules["recall rise 0.1"]["fires"] == "a rise of more than 0.1 against the 28d before"
    assert found["destinations"] == [
        {"name": "am", "kind": "alertmanager", "secrets": "none needed"},
        {"name": "hook", "kind": "webhook", "secrets": "there"},
    ]
    text = run().stdout
    for shown in ("Fires when", "2026-02-09, evaluated 2026-03-02", "am, hook", "none needed"):
        assert shown in text


def test_a_destination_without_its_secret_is_told_beside_all_else(folder, monkeypatch):
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    found = checked(folder, TEXT + RULES, status=2)
    missing = "needs the environment variable HOOK_SECRET, which is not set"
    assert found["connections"]["destinations.hook"]["failure"] == "input"
    assert missing in found["connections"]["destinations.hook"]["message"]
    (hook,) = [one for one in found["destinations"] if one["name"] == "hook"]
    assert hook["kind"] == "webhook"
    assert missing in hook["secrets"]
    assert found["monitors"]["fraud"]["ok"]


def test_without_rules_it_says_that_nobody_is_notified(folder):
    (folder / "pumonitor.yaml").write_text(TEXT, encoding="utf-8")
    assert (
        "There are no rules, so no alert can fire and no notification will be sent"
    ) in run().stdout


OF = "of: {start: 2026-01-05, end: 2026-02-02}"


def prior_of(folder, written):
    text = TEXT.replace("    window: 1w", f"    class_prior: {written}\n    window: 1w")
    return checked(folder, text)["monitors"]["fraud"]


def test_what_an_audit_would_make_of_a_measured_class_prior_is_reckoned_from_the_rows(folder):
    without, *audits = prior_of(folder, "auto")["audits"]
    assert without["cases"] is None
    assert [one["cases"] for one in audits] == [200, 500]
    # 10% of the rows of these tables are positive.
    for one in (without, *audits):
        for numbers in (one["now"], one["after_break"]):
            assert 0 < numbers["low"] < numbers["value"] < numbers["high"] < 1
            assert numbers["low"] < 0.1 < numbers["high"]
    small, large = (one["after_break"]["high"] - one["after_break"]["low"] for one in audits)
    assert large < 0.8 * small
    # Another table, other numbers.
    tables(rows=4000, confirmed=0.3, seed=4)[1].to_csv(folder / "confirmed.csv", index=False)
    assert prior_of(folder, "auto")["audits"][0] != without
    text = run().stdout
    assert "Class prior: estimated. Its interval as it is, and after an audit:" in text
    assert "an audit of 500 random cases" in text


@pytest.mark.parametrize(
    ("written", "note"),
    [
        (
            f"{{positives: 30, cases: 300, {OF}}}",
            "Class prior: given, 30 of 300 cases of 2026-01-05 to 2026-02-02, which is 0.100 (",
        ),
        (
            "{assumed: {value: 0.1, low: 0.08, high: 0.12}}",
            "Class prior: 0.1 [0.08, 0.12] is assumed for all windows, and a change of it is not "
            "detected; if it is the share of one period, give of: {start: ..., end: ...} beside",
        ),
    ],
)
def test_a_class_prior_that_is_not_measured_says_what_it_is(folder, written, note):
    found = prior_of(folder, written)
    assert found["audits"] == []
    said, *of_segments, of_labels = found["notes"]
    assert said.startswith(note)
    assert of_labels.startswith("Labels are taken for a fair sample")
    assert len(of_segments) == ("assumed" in written)
    assert not any("class_prior" in one for one in found["warnings"])


@pytest.mark.parametrize(
    ("start", "end", "warning"),
    [
        (
            "2025-01-06",
            "2025-02-03",
            "before the first prediction of 2026-01-01: it is used as if",
        ),
        ("2026-05-04", "2026-06-01", "after the last prediction of 2026-03-01: until then auto"),
    ],
)
def test_a_class_prior_of_a_period_without_predictions_is_doubtful(folder, start, end, warning):
    written = f"{{positives: 30, cases: 300, of: {{start: {start}, end: {end}}}}}"
    assert any(warning in one for one in prior_of(folder, written)["warnings"])


def test_a_class_prior_below_what_is_confirmed_in_its_period_is_impossible(folder):
    # 6% of all rows are confirmed.
    found = prior_of(folder, f"{{value: 0.01, low: 0.008, high: 0.012, {OF}}}")
    (warning,) = [one for one in found["warnings"] if one.startswith("class_prior")]
    assert "given as 0.01 (0.008 to 0.012) for 2026-01-05 to 2026-02-02, and " in warning
    assert "which is more than this share of positives: check the share, its period" in warning


ALONE = TEXT.replace("tracking: {uri: sqlite:///mlflow.db}\n", "")


def limited(most):
    return ALONE.replace("segments: [country]", f"segments: [country]\n      max_bytes: {most}")


def test_what_a_window_reads_is_told_before_and_after(folder):
    predictions, _ = tables(rows=4000)
    ordered = predictions.sort_values("scored_at")
    ordered.to_parquet(folder / "predictions.parquet", row_group_size=200)
    cost = checked(folder, ALONE)["monitors"]["fraud"]["cost"]
    parts = {one["named"]: (one["read"], one["of"]) for one in cost["parts"]}
    assert parts["files"] == (1, 1)
    # Of nine weeks one, with the row groups that reach into it.
    assert 1 <= parts["row groups"][0] <= 4
    assert parts["row groups"][1] == 20
    assert 0 < cost["bytes"] < cost["bytes_of_all_rows"] / 4
    assert cost["windows_a_round"] == 5
    assert cost["bytes_a_round"] == 5 * cost["bytes"]
    # Nothing was counted yet, so that it is by the rate of this very check.
    assert cost["past"] is None
    assert cost["seconds"] > 0
    text = " ".join(run().stdout.split())
    assert "kB at most, in 1 of 1 files (" in text
    assert "at the rate at which all rows were read now" in text
    runner = CliRunner(env={"COLUMNS": "140", "NO_COLOR": "1", "TERM": "dumb"})
    assert runner.invoke(app, ["run"]).exit_code == 0
    told = checked(folder, ALONE)["monitors"]["fraud"]["cost"]["past"]
    assert (told["engine"], told["readings"]) == ("duckdb", 10)
    assert "as the last 10 took (duckdb " in " ".join(run().stdout.split())


def test_a_limit_refuses_and_says_what_to_do(folder):
    found = checked(folder, limited("1 kB"), status=2)["monitors"]["fraud"]
    assert found["failure"] == "input"
    said = found["message"]
    assert said.startswith("finding the first and the last prediction would read ")
    assert "max_bytes is 1 kB, so nothing was read" in said
    assert "raise max_bytes of predictions" in said
    assert found["cost"]["max_bytes"] == 1000
    # What the whole costs is said nevertheless.
    assert found["cost"]["bytes_of_all_rows"] > 1000
    allowed = checked(folder, limited("1 GB"))["monitors"]["fraud"]
    assert allowed["failure"] is None


def test_a_source_that_tells_nothing_keeps_no_limit(folder, monkeypatch):
    from pumonitor.sources.windows.counts_duckdb import DuckDBEngine

    monkeypatch.setattr(DuckDBEngine, "expected", lambda *_, **__: None)
    found = checked(folder, ALONE)["monitors"]["fraud"]
    assert found["cost"]["bytes"] is None
    assert "What counting a window reads is not known: the source does not tell" in " ".join(
        run().stdout.split()
    )
    refused = checked(folder, limited("1 GB"), status=2)["monitors"]["fraud"]
    assert "duckdb does not tell what a statement would read" in refused["message"]
    (warning,) = [one for one in refused["warnings"] if "max_bytes" in one]
    assert "no window will be counted" in warning

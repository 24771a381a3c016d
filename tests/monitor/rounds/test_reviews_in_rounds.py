"""A monitor of a queue with complaints, run as a user runs it: its recall is that of the rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.reports.window_curves import window_curves
from pumonitor.monitor.reports.window_files import window_files_of
from pumonitor.monitor.reports.window_problem import window_problem
from pumonitor.monitor.windows.evaluation.audited_windows import read_again
from pumonitor.text import number_text
from tests.monitor.rounds.retried import run_again

RUNNER = CliRunner()
START = pd.Timestamp("2026-01-05", tz="UTC")
WEEKS, ROWS = 4, 8_000
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: payments.parquet
      id: payment_id
      time: paid_at
      score: score
      action: {column: action, stopped: [declined]}
    positives: {source: chargebacks.parquet, id: payment_id, known_at: reported_at}
    reviews:
      source: reviews.parquet
      id: payment_id
      decided_at: decided_at
      verdict: {column: verdict, positive: [fraud], negative: [ok], undecided: [unclear]}
      chosen_by: reason
      blocks: true
    window: 1w
    maturity: 30d
    panes: []
    threshold: 0.6
"""


def rows_of_weeks() -> pd.DataFrame:
    """Payments with all that will be known of them; review capacity doubles in the third week."""
    rng = np.random.default_rng(6)
    weeks = np.repeat(np.arange(WEEKS), ROWS)
    is_fraud = rng.random(len(weeks)) < 0.02
    # With few digits, so that one cell holds one score.
    score = np.round(1 / (1 + np.exp(1.5 - rng.normal(2.4 * is_fraud))), 3)
    frame = pd.DataFrame({"payment_id": np.arange(len(weeks)), "week": weeks, "score": score})
    frame["paid_at"] = START + pd.to_timedelta(7 * 86_400 * (weeks + rng.random(len(weeks))), "s")
    frame["is_fraud"] = is_fraud
    rank = frame.groupby("week")["score"].rank(ascending=False, method="min")
    declined = rank <= 20
    by_score = ~declined & (rank <= np.where(weeks < 2, 160, 320))
    by_rule = ~declined & ~by_score & (rng.random(len(weeks)) < 0.004)
    frame["action"] = np.where(declined, "declined", "approved")
    frame["reason"] = np.select([by_score, by_rule], ["score", "large amount"], "")
    verdict = np.where(is_fraud, "fraud", "ok")
    frame["verdict"] = np.where(rng.random(len(weeks)) < 0.02, "unclear", verdict)
    frame.loc[frame["reason"] == "", "verdict"] = ""
    found = frame["verdict"] == "fraud"
    frame["complains"] = is_fraud & ~declined & ~found & (rng.random(len(weeks)) < 0.6)
    return frame


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return rows_of_weeks()


@pytest.fixture(scope="module")
def shop(rows, tmp_path_factory):
    """The three tables of a fraud team, and a monitor that has evaluated all weeks."""
    folder = tmp_path_factory.mktemp("shop")
    known = rows["paid_at"] + pd.Timedelta(days=20)
    rows[["payment_id", "paid_at", "score", "action"]].to_parquet(folder / "payments.parquet")
    pd.DataFrame({"payment_id": rows["payment_id"], "reported_at": known})[
        rows["complains"]
    ].to_parquet(folder / "chargebacks.parquet")
    decided = rows["paid_at"] + pd.Timedelta(days=2)
    rows[["payment_id", "verdict", "reason"]].assign(decided_at=decided)[
        rows["reason"] != ""
    ].to_parquet(folder / "reviews.parquet")
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    done = run(folder, "backfill", "card-fraud", "--from", "2026-01-05", "--to", "2026-02-02")
    assert done.exit_code == 0, done.output
    return folder


def run(folder, command, *options):
    return RUNNER.invoke(
        app, [command, *options, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )


def results(folder):
    answered = run(folder, "results", "card-fraud", "--format", "json")
    assert answered.exit_code == 0, answered.output
    return json.loads(answered.stdout)


def of_week(folder, week):
    start = (START + pd.Timedelta(weeks=week)).isoformat()
    return {
        row["metric"]: row
        for row in results(folder)
        if pd.Timestamp(row["window_start"]).isoformat() == start
    }


def truth_of(week):
    flagged = week["score"] >= 0.6
    caught = (flagged & week["is_fraud"]).sum()
    return {
        "class_prior": week["is_fraud"].mean(),
        "recall": caught / week["is_fraud"].sum(),
        "precision": caught / flagged.sum(),
    }


def test_every_week_holds_the_truth(shop, rows):
    for number in range(WEEKS):
        found = of_week(shop, number)
        for metric, value in truth_of(rows[rows["week"] == number]).items():
            assert found[metric]["low"] <= value <= found[metric]["high"], (number, metric)


def test_the_first_week_is_what_evaluate_says_of_its_rows(shop, rows):
    week = rows[rows["week"] == 0]
    evaluated = pumonitor.evaluate(
        week["complains"].to_numpy(),
        week["score"].to_numpy(),
        threshold=0.6,
        reviews=pumonitor.Reviews(
            week["verdict"].to_numpy(),
            blocks=True,
            words={"fraud": 1, "ok": 0, "unclear": "undecided"},
            chosen_by=week["reason"].to_numpy(),
            stopped=(week["action"] == "declined").to_numpy(),
        ),
    )
    found = of_week(shop, 0)
    for metric in ("class_prior", "recall", "precision", "f1", "auc"):
        estimate = evaluated[metric]
        width = estimate.high - estimate.low
        for end in ("value", "low", "high"):
            assert found[metric][end] == pytest.approx(getattr(estimate, end), abs=0.06 * width)


def test_what_is_known_of_rows_is_counted_as_evaluate_counts_it(shop, rows):
    assert (
        of_week(shop, 1)["labeled_positives"]["value"]
        == ((rows["week"] == 1) & (rows["complains"] | (rows["verdict"] == "fraud"))).sum()
    )


def test_check_shows_the_queue(shop):
    done = run(shop, "check")
    assert "undecided verdicts; reviewed for score" in " ".join(done.output.split())
    assert "large amount" in done.output


def test_check_reads_a_window_and_says_what_is_doubtful(shop, rows):
    told = " ".join(run(shop, "check").output.split())
    week = rows[rows["week"] == WEEKS - 1]
    by_score = (week["reason"] == "score").sum()
    assert f"of 8,000 rows {by_score:,} were reviewed by score or chance" in told
    assert "20 stopped unseen" in told
    assert (
        f"{rows['complains'].sum():,} complaints, {(rows['reason'] != '').sum():,} verdicts" in told
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("stopped: [declined]", "stopped: [hard_decline]"),
            "no row has 'hard_decline' in 'action'",
        ),
        (("      chosen_by: reason\n", ""), "so the queue did not take the highest scores alone"),
        (("blocks: true", "blocks: false"), "say that review blocks"),
    ],
)
def test_check_sees_what_was_said_wrongly(shop, change, said, tmp_path):
    for file in shop.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert CONFIGURATION.count(change[0]) == 1
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION.replace(*change))
    assert said in " ".join(run(tmp_path, "check").output.split())


def test_rows_that_were_found_and_stopped_need_blocks(shop, rows, tmp_path):
    for file in shop.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    is_found = rows["verdict"] == "fraud"
    declined = rows.assign(action=rows["action"].mask(is_found, "declined"))
    declined[["payment_id", "paid_at", "score", "action"]].to_parquet(tmp_path / "payments.parquet")
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    both = is_found & (rows["reason"] == "score") & (rows["week"] == WEEKS - 1)
    sentence = f"{both.sum()} rows with a positive verdict are stopped"
    assert sentence not in " ".join(run(tmp_path, "check").output.split())
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION.replace("blocks: true", "blocks: false"))
    assert sentence in " ".join(run(tmp_path, "check").output.split())


def test_a_damaged_file_of_reviews_is_named_and_its_windows_wait(shop, rows, tmp_path):
    for file in ("payments.parquet", "chargebacks.parquet"):
        (tmp_path / file).write_bytes((shop / file).read_bytes())
    (tmp_path / "reviews").mkdir()
    reviews = pd.read_parquet(shop / "reviews.parquet")
    is_late = reviews["decided_at"] >= START + pd.Timedelta(weeks=2)
    for name, some in (("early", reviews[~is_late]), ("late", reviews[is_late])):
        some.to_parquet(tmp_path / f"reviews/{name}.parquet")
    late = tmp_path / "reviews/late.parquet"
    whole = late.read_bytes()
    late.write_bytes(whole[: len(whole) // 2])
    (tmp_path / "pumonitor.yaml").write_text(
        CONFIGURATION.replace("source: reviews.parquet", "source: reviews/*.parquet")
    )
    now = (START + pd.Timedelta(weeks=WEEKS + 5)).to_pydatetime()
    done, estimates, _ = run_again(tmp_path / "pumonitor.yaml", now)
    assert estimates == []
    assert len(done.failures) == WEEKS
    assert all("late.parquet" in failure for failure in done.failures)
    late.write_bytes(whole)
    done, _, _ = run_again(tmp_path / "pumonitor.yaml", now)
    assert not done.failures
    estimate, expected = (of_week(folder, 1)["recall"] for folder in (tmp_path, shop))
    assert estimate["value"] == expected["value"]


def test_complaints_that_hold_the_found_cases_are_told_by_check(shop, rows, tmp_path):
    for file in shop.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    known = rows["paid_at"] + pd.Timedelta(days=20)
    both = rows["complains"] | (rows["verdict"] == "fraud")
    pd.DataFrame({"payment_id": rows["payment_id"], "reported_at": known})[both].to_parquet(
        tmp_path / "chargebacks.parquet"
    )
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    told = " ".join(run(tmp_path, "check").output.split())
    assert "rows complained after a positive verdict" in told


def test_words_of_rules_that_are_listed_are_not_warned_of(shop, tmp_path):
    for file in shop.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    listed = "chosen_by: {column: reason, rule: [large amount]}"
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION.replace("chosen_by: reason", listed))
    assert "read as chosen by rules" not in run(tmp_path, "check").output
    assert "read as chosen by rules" in " ".join(run(shop, "check").output.split())


def test_a_word_that_means_nothing_is_named(shop, tmp_path):
    for file in ("payments.parquet", "chargebacks.parquet"):
        (tmp_path / file).write_bytes((shop / file).read_bytes())
    reviews = pd.read_parquet(shop / "reviews.parquet")
    reviews.loc[reviews.index[:3], "verdict"] = "fruad"
    reviews.to_parquet(tmp_path / "reviews.parquet")
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    done = run(tmp_path, "check")
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert "verdict column 'verdict' of reviews" in told
    assert "'fruad' (3 times)" in told
    assert "under positive, negative or undecided of verdict" in told


@pytest.fixture(scope="module")
def ledger(shop):
    with open_ledger(configuration_of(shop)) as opened:
        yield opened


def configuration_of(folder):
    return read_configuration(folder / "pumonitor.yaml").configuration


def stored_of_week(ledger, week):
    start = (START + pd.Timedelta(weeks=week)).to_pydatetime()
    return ledger.evaluations("card-fraud", start=start, revisions="newest")[-1]


def test_a_stored_window_is_read_again_to_the_last_digit(shop, ledger):
    stored = stored_of_week(ledger, 2)
    table = next(series.table() for series in ledger.series(stored.window_key, stored.number))
    again = read_again(stored.evaluation, table).estimates
    for metric in ("class_prior", "recall", "precision", "f1", "auc"):
        before = stored.evaluation["estimates"][metric]
        assert (again[metric].value, again[metric].low) == (before["value"], before["low"])


def test_a_week_is_read_with_those_before_whenever_it_is_evaluated(shop, ledger, tmp_path):
    """Week by week the numbers are those of all weeks at once."""
    made_with = [stored_of_week(ledger, week).evaluation["made_with"] for week in range(WEEKS)]
    assert [made.get("earlier", {"windows": 0})["windows"] for made in made_with] == [0, 1, 2, 3]
    for table in ("payments", "chargebacks", "reviews"):
        (tmp_path / f"{table}.parquet").symlink_to(shop / f"{table}.parquet")
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    for week in range(WEEKS - 1):
        start, end = (f"{START + pd.Timedelta(weeks=week + at):%Y-%m-%d}" for at in (0, 1))
        done = run(tmp_path, "backfill", "card-fraud", "--from", start, "--to", end)
        assert done.exit_code == 0, done.output
    for week in range(WEEKS - 1):
        assert numbers_of(of_week(tmp_path, week)) == numbers_of(of_week(shop, week)), week


def numbers_of(by_metric):
    return {name: (row["low"], row["value"], row["high"]) for name, row in by_metric.items()}


def test_pages_and_reports_are_of_the_same_numbers(shop, ledger):
    monitors = configuration_of(shop).monitors
    site = Site(monitors=monitors, ledger=ledger, clock=utc_now)
    client = make_app(site, is_host=lambda _: True).test_client()
    start = START + pd.Timedelta(weeks=2)
    recall = of_week(shop, 2)["recall"]["value"]
    for path in (
        "/monitors/card-fraud",
        f"/monitors/card-fraud/windows/{start:%Y-%m-%dT%H:%M:%SZ}",
        "/monitors/card-fraud/decide",
        "/api/v1/monitors/card-fraud/decide",
    ):
        answer = client.get(path)
        assert answer.status_code == 200, path
    page = client.get(f"/monitors/card-fraud/windows/{start:%Y-%m-%dT%H:%M:%SZ}").text
    assert f"{number_text(recall)}" in page
    assert "by reviews and complaints" in client.get("/monitors/card-fraud/decide").text
    stored = stored_of_week(ledger, 2)
    drawn = window_curves(window_problem(stored, ledger))
    curve = drawn.curves["recall_by_threshold"]
    assert len(curve.x) == len(drawn.cells.tops) == len(drawn.cells.impossible)
    asked = {
        "window_key": stored.window_key,
        "revision": stored.revision,
        "model_version": "",
        "segment": "",
    }
    files = window_files_of(monitors, ledger, asked)
    assert json.loads(files["evaluation.json"])["reviews"]["blocks"] is True
    assert "reviews" in files["report.html"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("export", "sql", "card-fraud", "--engine", "duckdb", "--into", "x"),
            "SQL alone does not put together with complaints",
        ),
        (
            ("audit", "draw", "--monitor", "card-fraud", "--windows", "2026-01", "--out", "x.csv"),
            "put the drawn cases into the queue",
        ),
    ],
)
def test_what_does_not_go_with_reviews_says_so(shop, command, said):
    done = run(shop, *command)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())

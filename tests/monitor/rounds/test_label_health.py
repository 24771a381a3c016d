"""Labels of a monitor with a queue: counted, to come, agreed upon, shown, against its rows."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.label_health import label_health
from pumonitor.monitor.inspection.label_health_text import label_health_sentences
from pumonitor.monitor.windows.labels_to_come import LabelsToCome
from tests.monitor.rounds.retried import run_again

RUNNER = CliRunner()
START = pd.Timestamp("2026-01-05", tz="UTC")
WEEKS, ROWS = 5, 2_500
NOW = START + pd.Timedelta(weeks=WEEKS, hours=1)
NEWEST, MATURE = WEEKS - 1, WEEKS - 4
AS_OF = START + pd.Timedelta(weeks=MATURE + 1, days=21)
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
      queued_at: queued_at
      decided_at: decided_at
      reviewer: analyst
      verdict: {column: verdict, positive: [fraud], negative: [ok], undecided: [unclear]}
      chosen_by: reason
      blocks: true
    window: 1w
    maturity: 21d
    panes: [0d]
    threshold: 0.6
    reference: {start: 2026-01-05, end: 2026-01-12}
    rules:
      - {metric: recall, shift: down}
"""


def made_up():
    """Payments and reviews, those to come too: verdicts within days, complaints within weeks."""
    rng = np.random.default_rng(3)
    week = np.repeat(np.arange(WEEKS), ROWS)
    is_fraud = rng.random(len(week)) < 0.03
    score = np.round(1 / (1 + np.exp(1.5 - rng.normal(2.4 * is_fraud))), 3)
    rows = pd.DataFrame({"payment_id": np.arange(len(week)), "week": week, "score": score})
    rows["paid_at"] = START + pd.to_timedelta(7 * 86_400 * (week + rng.random(len(week))), "s")
    rank = rows.groupby("week")["score"].rank(ascending=False, method="min")
    rows["action"] = np.where(rank <= 5, "declined", "approved")
    by_score = (rank > 5) & (rank <= 80)
    by_rule = (rank > 5) & ~by_score & (rng.random(len(week)) < 0.01)
    rows["reason"] = np.select([by_score, by_rule], ["score", "large amount"], "")
    rows["verdict"] = np.where(is_fraud, "fraud", "ok")
    delay = pd.to_timedelta(rng.exponential(2 * 86_400, len(week)), "s")
    rows["queued_at"] = rows["paid_at"] + pd.Timedelta(hours=1)
    rows["decided_at"] = rows["queued_at"] + delay
    rows["analyst"] = rng.choice(["ann", "bob"], len(week))
    is_found = (rows["reason"] != "") & is_fraud
    rows["complains"] = is_fraud & (rank > 5) & ~is_found & (rng.random(len(week)) < 0.6)
    days = rng.gamma(2, 4 * 86_400, len(week))
    rows["reported_at"] = rows["paid_at"] + pd.to_timedelta(days, "s")
    reviews = rows.loc[rows["reason"] != "", REVIEW_COLUMNS]
    again = reviews.sample(frac=0.2, random_state=1)
    swapped = again["verdict"].map({"fraud": "ok", "ok": "fraud"})
    is_other = rng.random(len(again)) < 0.3
    again = again.assign(
        analyst=again["analyst"].map({"ann": "bob", "bob": "ann"}),
        verdict=swapped.where(is_other, again["verdict"]),
        decided_at=again["decided_at"] + pd.Timedelta(hours=3),
    )
    return rows, pd.concat([reviews, again])


REVIEW_COLUMNS = [
    "payment_id", "queued_at", "decided_at", "verdict", "analyst", "reason", "week",
]  # fmt: skip


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A folder with a monitor whose newest windows still wait, and all that will ever be known."""
    folder = tmp_path_factory.mktemp("team")
    rows, reviews = made_up()
    rows[["payment_id", "paid_at", "score", "action"]].to_parquet(folder / "payments.parquet")
    known = rows["complains"] & (rows["reported_at"] <= NOW)
    rows.loc[known, ["payment_id", "reported_at"]].to_parquet(folder / "chargebacks.parquet")
    is_late = reviews["decided_at"] > NOW
    told = reviews[reviews["queued_at"] <= NOW].drop(columns="week")
    told = told.assign(
        verdict=told["verdict"].mask(is_late, None),
        analyst=told["analyst"].mask(is_late, None),
        decided_at=told["decided_at"].mask(is_late),
    )
    told.to_parquet(folder / "reviews.parquet")
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    done, _, _ = run_again(folder / "pumonitor.yaml", NOW.to_pydatetime())
    assert done.failures == []
    return folder, rows, reviews


@pytest.fixture(scope="module")
def client(team):
    monitors = read_configuration(team[0] / "pumonitor.yaml").configuration.monitors
    with open_ledger(read_configuration(team[0] / "pumonitor.yaml").configuration) as ledger:
        site = Site(monitors=monitors, ledger=ledger, clock=utc_now)
        yield make_app(site, is_host=lambda _: True).test_client()


@pytest.fixture(scope="module")
def health(team):
    configuration = read_configuration(team[0] / "pumonitor.yaml").configuration
    with open_ledger(configuration) as ledger:
        return label_health(ledger, configuration.monitors["card-fraud"])


def address(week):
    start = START + pd.Timedelta(weeks=week)
    return f"windows/{start:%Y-%m-%dT%H:%M:%SZ}"


def run(folder, command, *options):
    done = RUNNER.invoke(
        app, [command, *options, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 0, done.output
    return done.output


def verdicts_by(reviews, week, moment):
    """Words of each case's reviewers that were known by a moment."""
    known = reviews[(reviews["week"] == week) & (reviews["decided_at"] <= moment)]
    return known.groupby("payment_id")["verdict"].agg(set)


def test_origins_are_those_of_the_rows(team, health):
    _, rows, reviews = team
    assert pd.Timestamp(health.window_start) == START + pd.Timedelta(weeks=MATURE)
    words = verdicts_by(reviews, MATURE, AS_OF)
    reason = rows.set_index("payment_id")["reason"]
    by_name = {origin.name: origin for origin in health.origins}
    for name, word in (("Reviewed for its score", "score"), ("Reviewed by a rule", "large amount")):
        own = words[reason.loc[words.index] == word]
        assert by_name[name].positive == (own == {"fraud"}).sum()
        assert by_name[name].negative == (own == {"ok"}).sum()
        assert by_name[name].differing == (own == {"fraud", "ok"}).sum()
    assert by_name["Reviewed for its score"].differing > 0
    week = rows[rows["week"] == MATURE]
    came = week["complains"] & (week["reported_at"] <= AS_OF)
    assert by_name["Complaint alone"].positive == came.sum()
    assert by_name["Declined outright, no verdict"].cases == 5
    assert health.known_positives == sum(origin.positive for origin in health.origins)


def test_the_newest_window_knows_what_waits_and_what_is_to_come(team, health, client):
    _, rows, reviews = team
    newest = health.windows[-1]
    assert newest.state == "provisional"
    end = START + pd.Timedelta(weeks=WEEKS)
    queued = reviews[(reviews["week"] == NEWEST) & (reviews["queued_at"] <= end)]
    decided = queued[queued["decided_at"] <= end]["payment_id"]
    assert newest.to_come.waiting == queued["payment_id"].nunique() - decided.nunique() > 0
    week = rows[(rows["week"] == NEWEST) & rows["complains"]]
    matures = end + pd.Timedelta(days=21)
    left = ((week["reported_at"] > end) & (week["reported_at"] <= matures)).sum()
    assert newest.to_come.low <= left <= newest.to_come.high
    share = health.arrivals[0].complaints.value
    assert newest.to_come.expected == pytest.approx(newest.complaints * (1 / share - 1))
    page = client.get(f"/monitors/card-fraud/{address(NEWEST)}").text
    assert f"{newest.to_come.waiting} cases are queued without a verdict" in page
    said = client.get(f"/api/v1/monitors/card-fraud/{address(NEWEST)}").json
    assert "labels_to_come" in [finding["name"] for finding in said["findings"]]
    assert health.windows[0].to_come is None


def test_labels_arrive_as_they_did(team, health):
    _, rows, _ = team
    ages = {arrival.age_days: arrival for arrival in health.arrivals}
    assert list(ages) == [0, 21]
    whole = rows[(rows["week"] <= MATURE) & rows["complains"]]
    end = START + pd.to_timedelta(7 * (whole["week"] + 1), "D")
    age = whole["reported_at"] - end
    at_end, mature = ((age <= pd.Timedelta(days=days)).sum() for days in (0, 21))
    complaints = ages[0].complaints
    assert complaints.low < at_end / mature < complaints.high
    assert ages[0].verdicts.value > complaints.value
    assert ages[21].complaints.value == 1


def test_reviewers_are_those_who_decided_since_the_window_began(team, health):
    _, _, reviews = team
    since = START + pd.Timedelta(weeks=MATURE)
    known = reviews[(reviews["decided_at"] >= since) & (reviews["decided_at"] <= AS_OF)]
    words = known.groupby("payment_id")["verdict"].agg(list)
    shared = words[words.map(len) == 2]
    differ = shared.map(lambda both: both[0] != both[1]).sum()
    told = {reviewer.name: reviewer for reviewer in health.reviewers}
    assert set(told) == {"ann", "bob"}
    assert (told["ann"].shared, told["ann"].differ) == (len(shared), differ)
    for name, reviewer in told.items():
        assert reviewer.cases == (known["analyst"] == name).sum()


def test_verdicts_that_differ_are_not_taken_back(team, client):
    _, _, reviews = team
    said = client.get(f"/api/v1/monitors/card-fraud/{address(MATURE)}").json
    (counts,) = [pane["counts"] for pane in said["panes"] if pane["state"] == "mature"]
    differ = (verdicts_by(reviews, MATURE, AS_OF) == {"fraud", "ok"}).sum()
    assert counts["differing_verdicts"] == differ > 0
    assert counts["retracted_labels"] == 0
    page = client.get(f"/monitors/card-fraud/{address(MATURE)}").text.casefold()
    assert "cases on whose verdict reviewers differ, counted as undecided" in page
    assert "labels taken back" not in page


def test_page_api_and_insights_say_the_same(team, health, client):
    page = client.get("/monitors/card-fraud/labels")
    assert page.status_code == 200
    assert "just below the cut of the queue" in page.text
    assert "Reviewers differ on" in page.text
    assert "one that is undecided then stands in both columns" in page.text
    of_monitor = client.get("/monitors/card-fraud").text
    assert "/monitors/card-fraud/labels" in of_monitor
    # Monitors read no values, so that nothing by value is offered.
    assert "Recall by value" not in of_monitor
    answer = client.get("/api/v1/monitors/card-fraud/labels").json
    (insight,) = json.loads(run(team[0], "insights", "card-fraud", "--json"))
    for key in ("origins", "reviewers", "next_reviews", "arrivals", "known_positives"):
        assert answer[key] == insight["labels"][key] == health.to_dict()[key], key
    printed = " ".join(run(team[0], "insights", "card-fraud").split())
    assert f"{health.known_positives} positives are known" in printed


def test_results_print_what_is_doubtful_and_what_is_to_come(team):
    printed = " ".join(run(team[0], "results", "card-fraud").split())
    mature = f"{START + pd.Timedelta(weeks=MATURE):%Y-%m-%d}"
    newest = f"{START + pd.Timedelta(weeks=NEWEST):%Y-%m-%d}"
    assert f"Warning, {mature}: " in printed
    assert f"Note, {newest}: " in printed
    assert "are queued without a verdict" in printed
    # What is doubtful about both is said once.
    assert printed.count("of the positives are cases that nobody reviewed") == 1


def test_check_counts_who_waits_and_says_how_many_windows_a_detector_learns_from(team):
    printed = " ".join(run(team[0], "check").split())
    assert "learned from 5 windows" in printed
    assert "as large as with 20 windows to be seen as soon" in printed


def test_a_row_without_the_time_it_was_queued_at_is_refused(team, tmp_path):
    for file in team[0].glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    reviews = pd.read_parquet(tmp_path / "reviews.parquet")
    reviews.loc[reviews.index[:3], "queued_at"] = pd.NaT
    reviews.to_parquet(tmp_path / "reviews.parquet")
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    done = RUNNER.invoke(app, ["check", "--config", str(tmp_path / "pumonitor.yaml")])
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert "queued_at column 'queued_at' of reviews" in told


def test_a_reviewer_is_named_without_what_moves_the_cursor(health):
    names = [replace(one, name=f"{one.name}\x1b[2J\n") for one in health.reviewers]
    told = " ".join(label_health_sentences(health.model_copy(update={"reviewers": names})))
    assert "most often" in told
    assert "\x1b" not in told
    assert "\n" not in told


def test_windows_counted_before_verdicts_were_told_apart_say_positives_alone(team, tmp_path):
    shutil.copytree(team[0], tmp_path, dirs_exist_ok=True)
    with closing(sqlite3.connect(tmp_path / "state.db")) as state, state:
        state.execute("UPDATE panes SET counts = json_remove(counts, '$.labels')")
    (insight,) = json.loads(run(tmp_path, "insights", "card-fraud", "--json"))
    assert insight["labels"]["known_positives"] > 0
    assert all(one["complaints"]["value"] is None for one in insight["labels"]["arrivals"])
    printed = run(tmp_path, "insights", "card-fraud")
    assert "positives are known" in printed
    assert "by complaint alone" not in printed


def test_earlier_windows_without_complaints_so_early_are_not_called_immature():
    nothing = LabelsToCome(waiting=2, complaints=0, expected=None, low=None, high=None)
    assert nothing.sentence == (
        "2 cases are queued without a verdict. 0 complaints have come; how many are still to come "
        "cannot be told yet: no earlier window is mature, or none had complaints so early."
    )

"""`init` of three tables, as a fraud team has them, and of a configuration without reviews."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.label_outlook import upgrade_warning
from pumonitor.monitor.onboarding.onboarded import Options
from pumonitor.monitor.onboarding.onboarding import onboard
from tests.monitor.onboarding.onboarded_tables import monitor_of

WORDS = {"positive": "fraud", "negative": "ok", "undecided": "unclear"}


@pytest.fixture(scope="module")
def three():
    """Payments, chargebacks and verdicts of twelve weeks."""
    rng = np.random.default_rng(3)
    rows = 3000
    positive = rng.random(rows) < 0.05
    at = pd.Timestamp("2026-01-05") + pd.to_timedelta(
        np.sort(rng.uniform(0, 84 * 86400, rows)).round(), unit="s"
    )
    payments = pd.DataFrame(
        {
            "payment_id": [f"p{number}" for number in range(rows)],
            "paid_at": at,
            "score": np.round(1 / (1 + np.exp(1.5 - rng.normal(2.4 * positive))), 4),
        }
    )
    rank = payments["score"].rank(ascending=False)
    payments["action"] = np.where(rank <= 9, "declined", "approved")
    reviewed = (rank > 9) & (rank <= 180)
    verdicts = payments.loc[reviewed, ["payment_id"]]
    verdicts = verdicts.assign(
        decided_at=at[reviewed] + pd.Timedelta(days=1),
        verdict=np.where(positive[reviewed], "fraud", "ok"),
        reason=rng.choice(["top", "customer_call", "velocity"], len(verdicts)),
        analyst="ann",
    )
    verdicts.iloc[:3, verdicts.columns.get_loc("verdict")] = "unclear"
    complained = positive & ~reviewed & (rng.random(rows) < 0.7)
    chargebacks = payments.loc[complained, ["payment_id"]].assign(
        reported_at=at[complained] + pd.Timedelta(days=6)
    )
    return payments, chargebacks, verdicts


def put(folder, three, **changed):
    names = ("payments", "chargebacks", "reviews")
    for frame, name in zip(three, names, strict=True):
        changed.get(name, frame).to_parquet(folder / f"{name}.parquet")
    return [str(folder)]


def onboarded(folder, **options):
    given = {"threshold": 0.8, "name": "fraud", "blocks": "yes"} | options
    return onboard([str(folder)], Options(**given))


def test_columns_and_words_are_proposed(tmp_path, three):
    put(tmp_path, three)
    found = onboarded(tmp_path)
    monitor = monitor_of(found, tmp_path)
    (queue,) = monitor.reviews
    assert (queue.id, queue.decided_at, queue.reviewer) == ("payment_id", "decided_at", "analyst")
    assert queue.time_zone == "UTC"
    assert queue.verdict.words.labels == {"fraud": 1, "ok": -1, "unclear": 0}
    assert queue.chosen_by.of_words == {
        "top": "score",
        "customer_call": "complaint",
        "velocity": "rule",
    }
    assert queue.blocks
    assert (monitor.predictions.action.column, monitor.predictions.action.stopped) == (
        "action",
        ("declined",),
    )
    assert monitor.positives.known_at == "reported_at"
    # Of reviews it is known where labels come from.
    assert monitor.label_origin is None
    assert "label_origin" not in {finding.what for finding in found.findings}


def test_when_a_case_was_queued_and_its_chance_are_proposed_and_checked(
    tmp_path, three, monkeypatch
):
    payments, chargebacks, verdicts = three
    rng = np.random.default_rng(4)
    waiting = verdicts.assign(
        queued_at=verdicts["decided_at"] - pd.Timedelta(hours=3), reason="model_score"
    )
    silent = ~payments["payment_id"].isin(chargebacks["payment_id"])
    below = silent & (payments["score"].rank(ascending=False) > 180)
    chance = pd.Series(np.where(np.arange(len(payments)) % 2, 0.03, 0.01), index=payments.index)
    drawn = below & (rng.random(len(payments)) < chance)
    checked = payments.loc[drawn, ["payment_id"]].assign(
        queued_at=payments["paid_at"][drawn],
        decided_at=payments["paid_at"][drawn] + pd.Timedelta(days=1),
        verdict="ok",
        reason="spot_check",
        analyst="bob",
        probability=chance[drawn],
    )
    let_through = payments.loc[payments["action"] == "approved", "payment_id"]
    put(
        tmp_path,
        three,
        chargebacks=chargebacks[chargebacks["payment_id"].isin(let_through)],
        reviews=pd.concat([waiting, checked], ignore_index=True),
    )
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    made = runner.invoke(
        app, ["init", ".", "--yes", "--blocks", "--threshold", "0.8", "--window", "1mo"]
    )
    assert made.exit_code == 0, made.output
    (queue,) = next(
        iter(read_configuration("pumonitor.yaml").configuration.monitors.values())
    ).reviews
    assert (queue.queued_at, queue.probability) == ("queued_at", "probability")
    assert queue.chosen_by.of_words == {"model_score": "score", "spot_check": "random"}
    told = " ".join(runner.invoke(app, ["check"]).output.split())
    assert "were reviewed by score or chance" in told
    assert ", 0 by a rule or because of a complaint" in told


def test_a_chance_without_a_random_reason_is_told_and_left_out(tmp_path, three):
    *_, verdicts = three
    put(tmp_path, three, reviews=verdicts.assign(probability=0.02))
    found = onboarded(tmp_path)
    (queue,) = monitor_of(found, tmp_path).reviews
    assert queue.probability is None
    assert any("looks like the chance of a random review" in note for note in found.notes)


def test_what_no_table_tells_is_asked(tmp_path, three):
    put(tmp_path, three)
    with pytest.raises(InputError, match="give it with --blocks or --no-blocks"):
        onboarded(tmp_path, blocks=None)
    *_, verdicts = three
    strange = verdicts.assign(verdict=verdicts["verdict"].replace("ok", "green"))
    put(tmp_path, three, reviews=strange)
    with pytest.raises(InputError, match=r"'green' of 'verdict' .* not known.*green=1"):
        onboarded(tmp_path)
    (queue,) = monitor_of(onboarded(tmp_path, words=("green=0",)), tmp_path).reviews
    assert queue.verdict.negative == ("green",)
    with pytest.raises(InputError, match="must be 1, 0 or undecided, got 'no'"):
        onboarded(tmp_path, words=("green=no",))


def test_numbers_need_no_words(tmp_path, three):
    *_, verdicts = three
    numbers = verdicts["verdict"].map({"fraud": 1, "ok": 0}).astype("Int64")
    put(tmp_path, three, reviews=verdicts.assign(verdict=numbers).drop(columns="reason"))
    found = onboarded(tmp_path, blocks="no")
    (queue,) = monitor_of(found, tmp_path).reviews
    assert (queue.verdict, queue.chosen_by, queue.blocks) == ("verdict", None, False)
    assert any("No column says why a case was reviewed" in note for note in found.notes)


def test_a_table_that_refers_to_no_prediction_is_refused(tmp_path, three):
    *_, verdicts = three
    put(tmp_path, three, reviews=verdicts.assign(payment_id="x" + verdicts["payment_id"]))
    with pytest.raises(InputError, match=r"no column of .*parquet refers to"):
        onboarded(tmp_path)


def test_options_of_reviews_need_a_table_of_them(tmp_path, three):
    put(tmp_path, three)
    (tmp_path / "reviews.parquet").unlink()
    with pytest.raises(InputError, match="name it with --reviews"):
        onboarded(tmp_path)


@pytest.mark.parametrize("origin", [None, "complaints", "queue"])
def test_where_positives_come_from_is_asked_and_left_open_without_a_terminal(
    tmp_path, three, origin
):
    put(tmp_path, three)
    (tmp_path / "reviews.parquet").unlink()
    found = onboarded(tmp_path, blocks=None, label_origin=origin)
    assert monitor_of(found, tmp_path).label_origin == origin
    said = " ".join(found.notes)
    assert ("was not said (--label-origin)" in said) == (origin is None)
    assert ("recall, F1 and AUC have no value" in said) == (origin == "queue")


def run(*arguments):
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, list(arguments))


def test_upgrade_proposes_reviews_and_changes_nothing(tmp_path, three, monkeypatch):
    put(tmp_path, three)
    monkeypatch.chdir(tmp_path)
    text = """\
monitors:
  fraud:
    predictions:
      {source: payments.parquet, id: payment_id, time: paid_at, time_zone: UTC, score: score}
    positives:
      source: reviews.parquet
      id: payment_id
      known_at: decided_at
      time_zone: UTC
      label: {column: verdict, positive: [fraud], negative: [ok], undecided: [unclear]}
    window: 1w
    maturity: 14d
    threshold: 0.8
    class_prior: 0.05
"""
    file = tmp_path / "pumonitor.yaml"
    file.write_text(text)
    (monitor,) = read_configuration(file).configuration.monitors.values()
    assert "pumonitor init --upgrade pumonitor.yaml" in upgrade_warning(monitor)
    done = run("init", "--upgrade", "pumonitor.yaml")
    assert done.exit_code == 0, done.output
    assert file.read_text() == text
    assert "# Leave out positives.label, class_prior." in done.stdout
    assert done.stdout.count("FILL_IN") == 3
    # Filled in, it is what to write.
    proposal = run("init", "--upgrade", "pumonitor.yaml", "--blocks").stdout
    proposal = proposal.replace("source: FILL_IN", "source: chargebacks.parquet")
    proposal = proposal.replace("known_at: FILL_IN", "known_at: reported_at\n      time_zone: UTC")
    before, _, after = text.partition("    positives:\n")
    upgraded = (
        before
        + proposal
        + after[after.index("    window") :].replace("    class_prior: 0.05\n", "")
    )
    file.write_text(upgraded)
    (monitor,) = read_configuration(file).configuration.monitors.values()
    (queue,) = monitor.reviews
    assert (queue.verdict_column, queue.reason_column, queue.reviewer, queue.blocks) == (
        "verdict", "reason", "analyst", True,
    )  # fmt: skip
    assert upgrade_warning(monitor) is None
    assert run("init", "--upgrade", "pumonitor.yaml").stdout.startswith("No monitor of")


def test_positive_verdicts_count_among_the_confirmations_of_a_window(tmp_path, three):
    files = put(tmp_path, three)
    _, chargebacks, verdicts = three
    made = onboard(files, Options(verdict="verdict", blocks="yes", zone="UTC", name="m"))
    confirmed = len(chargebacks) + (verdicts["verdict"] == "fraud").sum()
    (window,) = (finding for finding in made.findings if finding.what == "window")
    per_window = confirmed * {"1w": 7, "1mo": 30.4}[made.window] / 84
    assert window.why == f"about {per_window:.0f} confirmations in each"

"""A column of outcomes, such as Status, is read by what its words mean, and never passed over."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

MEANING = "label: {column: Status, positive: [confirmed], negative: [rejected], undecided: [open]}"


def invoke(*arguments, status=0):
    runner = CliRunner(env={"COLUMNS": "400", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(one) for one in arguments])
    assert done.exit_code == status, done.output
    return done.stdout


@pytest.fixture
def shop(tmp_path):
    """A shop that writes down all its cases with how they ended: half of them are no frauds."""
    path = write_shop(tmp_path, days=4, class_prior=0.1)
    known = pd.read_parquet(tmp_path / "confirmations.parquet")
    known["Status"] = np.resize(["confirmed", "rejected", "confirmed", "open"], len(known))
    known.to_parquet(tmp_path / "confirmations.parquet")
    return path


def number_of_positives(path):
    arguments = ("--from", "2026-01-01", "--to", "2026-01-05", "--config", path)
    invoke("backfill", "card-fraud", *arguments)
    rows = json.loads(
        invoke("results", "card-fraud", "--metric", "labeled_positives", "--format", "json",
               "--state", "mature", "--config", path)
    )  # fmt: skip
    return sum(row["value"] for row in rows)


def test_only_words_of_positives_count_as_such(shop):
    known = pd.read_parquet(shop.parent / "confirmations.parquet")
    made = pd.read_parquet(shop.parent / "predictions.parquet")
    known = known.merge(made[["prediction_id", "scored_at"]], on="prediction_id")
    end = known.scored_at.dt.floor("D") + pd.Timedelta(days=5)
    expected = ((known.Status == "confirmed") & (known.confirmed_at <= end)).sum()
    text = shop.read_text()
    place = "      known_at: confirmed_at\n"
    shop.write_text(text.replace(place, f"{place}      {MEANING}\n"))
    assert number_of_positives(shop) == expected


def test_a_word_that_is_not_listed_is_an_error_that_names_it(shop):
    text = shop.read_text()
    place = "      known_at: confirmed_at\n"
    meaning = "label: {column: Status, positive: [confirmed], negative: [rejected]}"
    shop.write_text(text.replace(place, f"{place}      {meaning}\n"))
    told = invoke("check", "--config", shop, status=2)
    assert "values other than 'confirmed', 'rejected'" in told
    assert "'open' (" in told
    assert "list each under positive, negative or undecided of label" in told


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("{column: Status, positive: []}", "positive"),
        ("{column: Status, positive: [a], negative: [a]}", "lists 'a' twice"),
        ("{column: Status, positive: 3}", "must be a list of words or whole numbers"),
        ("{column: confirmed_at, positive: [a]}", "confirmed_at"),
    ],
)
def test_a_meaning_that_cannot_be_is_refused(shop, label, problem):
    text = shop.read_text()
    place = "      known_at: confirmed_at\n"
    shop.write_text(text.replace(place, f"{place}      label: {label}\n"))
    done = CliRunner().invoke(app, ["check", "--config", str(shop)])
    assert done.exit_code == 2
    assert problem in " ".join(done.output.split())


def test_check_names_a_column_that_is_not_read(shop):
    told = invoke("check", "--config", shop)
    assert (
        "every row of confirmations.parquet counts as a confirmed positive, and its column" in told
    )
    assert "'Status' looks like an outcome" in told


def test_init_recognises_the_words(shop, monkeypatch):
    monkeypatch.chdir(shop.parent)
    invoke("init", ".", "--yes", "--force", "--name", "fraud")
    monitor = read_configuration("pumonitor.yaml").configuration.monitors["fraud"]
    assert monitor.positives.label_column == "Status"
    assert monitor.positives.label_words.labels == {"confirmed": 1, "rejected": -1, "open": 0}
    assert "looks like an outcome" not in invoke("check", "--config", "pumonitor.yaml")


def test_init_takes_0_and_1_of_such_a_column_for_no_and_yes(shop, monkeypatch):
    monkeypatch.chdir(shop.parent)
    known = pd.read_parquet("confirmations.parquet")
    known["is_fraud"] = (known.pop("Status") == "confirmed").astype(int)
    known.to_parquet("confirmations.parquet")
    invoke("init", ".", "--yes", "--force", "--name", "fraud")
    monitor = read_configuration("pumonitor.yaml").configuration.monitors["fraud"]
    assert monitor.positives.label_words.labels == {"1": 1, "0": -1}


def test_init_names_a_column_whose_words_it_does_not_know(shop, monkeypatch):
    monkeypatch.chdir(shop.parent)
    known = pd.read_parquet("confirmations.parquet")
    known["Status"] = known.Status.replace("open", "green")
    known.to_parquet("confirmations.parquet")
    told = " ".join(invoke("init", ".", "--yes", "--force", "--name", "fraud").split())
    assert "Column 'Status' of" in told
    assert "looks like an outcome ('confirmed', " in told
    assert "and is not read: every row counts as a confirmed positive" in told

"""Labels whose ids match no prediction, though they nearly do, are told wherever people look."""

import json

import pandas as pd
import pytest

from tests.cli.test_findings_about_rows import invoke
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")


def write_ids(folder, *, spell_label, spell_prediction=str):
    """A shop of six days whose ids are text, those of every second label in another spelling."""
    path = write_shop(folder, days=6, class_prior=0.1)
    made = pd.read_parquet(folder / "predictions.parquet")
    made["prediction_id"] = ["pay-" + f"{number:06d}a" for number in made.prediction_id]
    known = pd.read_parquet(folder / "confirmations.parquet")
    known["prediction_id"] = [
        spell_label(f"pay-{number:06d}a") if row % 2 else f"pay-{number:06d}a"
        for row, number in enumerate(known.prediction_id)
    ]
    made["prediction_id"] = made.prediction_id.map(spell_prediction)
    made.to_parquet(folder / "predictions.parquet")
    known.to_parquet(folder / "confirmations.parquet")
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    path = write_ids(tmp_path_factory.mktemp("shop"), spell_label=lambda text: text + "\r")
    return path, invoke(
        "backfill", "card-fraud", "--from", "2026-01-01", "--to", "2026-01-07", "--config", path
    )


REPAIR = "strip line ends and blanks from the ids of the labels: "


def test_the_run_names_ids_and_the_repair(shop):
    _, text = shop
    (note,) = [line for line in text.splitlines() if "about no prediction" in line]
    assert note.startswith("Note: card-fraud, window of 2026-01-0")
    assert "labels (" in note
    assert r"such as 'pay-" in note
    assert r"a\r'" in note
    assert f"and do not count: {REPAIR}" in note
    assert "that were tried match a prediction then" in note


def test_check_doctor_insights_and_results_say_so(shop):
    path, _ = shop
    for command in (
        ("check",),
        ("doctor",),
        ("insights", "card-fraud"),
        ("results", "card-fraud"),
    ):
        text = invoke(*command, "--config", path)
        assert REPAIR in text, command
        assert text.count("about no prediction") == 1, command
    told = json.loads(invoke("insights", "card-fraud", "--json", "--config", path))
    assert any(REPAIR in finding for finding in told[0]["findings"])


@pytest.mark.parametrize(
    ("spell_label", "spell_prediction", "repair"),
    [
        (str.upper, str, "write the ids of both tables in lower case"),
        (str, lambda text: text.upper(), "write the ids of both tables in upper case"),
        (lambda text: text[4:], str, "put 'pay-"),
        (lambda text: f'"{text}"', str, "strip quotation marks from the ids of the labels"),
        (
            str,
            lambda text: text + " ",
            "strip line ends and blanks from the ids of the predictions",
        ),
    ],
)
def test_check_finds_other_repairs(tmp_path, spell_label, spell_prediction, repair):
    path = write_ids(tmp_path, spell_label=spell_label, spell_prediction=spell_prediction)
    assert repair in invoke("check", "--config", path)


def test_labels_of_nowhere_are_told_without_a_repair(tmp_path):
    path = write_ids(tmp_path, spell_label=lambda text: f"claim {text[::-1]}")
    assert "no other spelling that was tried matches" in invoke("check", "--config", path)


def test_nothing_is_said_where_labels_match(tmp_path):
    path = write_ids(tmp_path, spell_label=str)
    assert "about no prediction" not in invoke("check", "--config", path)
    arguments = ("--from", "2026-01-01", "--to", "2026-01-07", "--config", path)
    assert "about no prediction" not in invoke("backfill", "card-fraud", *arguments)


def test_nothing_is_said_of_labels_about_predictions_before_the_first(tmp_path):
    """The first weeks of a monitor: confirmations are of cases that were scored before it."""
    path = write_ids(tmp_path, spell_label=str)
    made = pd.read_parquet(tmp_path / "predictions.parquet")
    made[made.scored_at.dt.day > 2].to_parquet(tmp_path / "predictions.parquet")
    assert "about no prediction" not in invoke("check", "--config", path)
    arguments = ("--from", "2026-01-03", "--to", "2026-01-05", "--config", path)
    assert "about no prediction" not in invoke("backfill", "card-fraud", *arguments)

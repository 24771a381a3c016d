"""What the doctor finds of tables that cannot be read and of destinations that do not answer."""

import os
from datetime import timedelta

import pandas as pd
import pytest

from pumonitor.errors import SourceError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine, missing_secrets
from tests.monitor.monitored_shop import FIRST, write_shop

NOW = FIRST + timedelta(days=3)
CANARY = "a-kanarienvogel-of-32-letters-or-so-in-all"
RULE = """\
    rules:
      - {metric: predictions, below: 1000000}
destinations:
  hook: {webhook: "http://127.0.0.1:1/in", allow_private: true}
"""


def worked(path):
    """What the file says, after a round."""
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: NOW) as jobs:
        done = jobs.run()
    return configuration, done


def have_changed(file):
    """The same rows, written a second later."""
    at = file.stat().st_mtime + 1
    os.utime(file, (at, at))


def refuse(monitor):
    message = f"the tables of {monitor.name} were opened"
    raise SourceError(message)


@pytest.fixture
def shop(tmp_path):
    return write_shop(tmp_path, days=1, panes="[]", class_prior=0.1)


def test_tables_that_are_gone_are_told_though_all_windows_are_done(shop):
    configuration, _ = worked(shop)
    assert examine(configuration, now=NOW) == []
    (shop.parent / "confirmations.parquet").unlink()
    _, done = worked(shop)
    assert len(done.failures) == 1
    (told,) = examine(configuration, now=NOW)
    assert told.severity == "error"
    assert told.what.startswith("card-fraud: its tables cannot be read: ")
    assert "confirmations.parquet" in told.what
    assert told.remedy.startswith("repair the tables")


def test_files_that_are_as_the_last_round_read_them_are_not_opened(shop):
    configuration, _ = worked(shop)
    assert examine(configuration, now=NOW, open_source=refuse) == []
    found = examine(configuration, now=NOW + timedelta(days=9), open_source=refuse)
    assert any("late since 2026-01-04 00:00 UTC: no round of work" in told.what for told in found)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: have_changed(path.parent / "predictions.parquet"), id="scores"),
        pytest.param(lambda path: have_changed(path.parent / "confirmations.parquet"), id="labels"),
        pytest.param(
            lambda path: path.write_text(
                path.read_text().replace("threshold: 0.", "threshold: 0.1")
            ),
            id="the configuration",
        ),
    ],
)
def test_tables_that_the_last_round_did_not_read_so_are_opened(shop, change):
    worked(shop)
    change(shop)
    found = examine(read_configuration(shop).configuration, now=NOW, open_source=refuse)
    assert any("the tables of card-fraud were opened" in told.what for told in found)


def test_files_that_may_not_be_read_are_opened_to_say_so(shop, monkeypatch):
    configuration, _ = worked(shop)
    monkeypatch.setattr(os, "access", lambda path, mode: "confirmations" not in str(path))
    (told,) = examine(configuration, now=NOW, open_source=refuse)
    assert "its tables cannot be read" in told.what


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (SourceError(f"{CANARY}@host does not answer"), "check that their server is running"),
        (ModuleNotFoundError(f"no driver for {CANARY}"), "check that their server is running"),
    ],
)
def test_what_does_not_answer_is_told_without_secrets(shop, monkeypatch, error, remedy):
    worked(shop)
    text = RULE.replace("1000000", "0").replace("allow_private", 'secret: "${KEY}", allow_private')
    shop.write_text(shop.read_text() + text)
    monkeypatch.setenv("KEY", CANARY)
    configuration = read_configuration(shop).configuration
    have_changed(shop.parent / "predictions.parquet")

    def open_source(monitor):
        raise error

    (told,) = examine(configuration, now=NOW, open_source=open_source)
    assert told.severity == "error"
    assert "its tables cannot be read" in told.what
    assert CANARY not in told.what
    assert told.remedy.startswith(remedy)


def test_tables_whose_address_is_not_known_are_not_opened(shop, monkeypatch):
    shop.write_text(shop.read_text().replace("predictions.parquet", "${SCORED}"))
    monkeypatch.setenv("SCORED", "predictions.parquet")
    configuration, _ = worked(shop)
    (shop.parent / "predictions.parquet").unlink()
    assert examine(configuration, now=NOW)[0].severity == "error"
    monkeypatch.delenv("SCORED")
    assert examine(configuration, now=NOW) == []
    (told,) = missing_secrets(configuration)
    assert "SCORED, which is not set" in told.what


def test_no_predictions_are_an_error(shop):
    file = shop.parent / "predictions.parquet"
    pd.read_parquet(file).iloc[:0].to_parquet(file)
    configuration, done = worked(shop)
    assert (done.failures, done.planned) == ([], 0)
    (told,) = examine(configuration, now=NOW)
    assert (told.severity, told.what[:36]) == ("error", "card-fraud: there are no predictions")
    assert "predictions.parquet" in told.what


def test_a_destination_that_does_not_answer_is_told_at_once(shop):
    shop.write_text(shop.read_text() + RULE)
    configuration, done = worked(shop)
    assert done.deliveries["alerts:hook"].failed == 1
    (told,) = examine(configuration, now=NOW)
    assert told.severity == "error"
    assert told.what.startswith("alerts:hook: 1 message waits, the oldest ")
    assert "the webhook cannot be reached" in told.what
    assert "tries again" in told.remedy
    assert "--take-up alerts:hook" in told.remedy

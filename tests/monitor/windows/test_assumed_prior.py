"""A class prior that is given: what the share confirmed says against it, wherever people look."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.notifications.words import details
from pumonitor.monitor.reports.window_files import window_files_of
from pumonitor.monitor.rules.labels.confirmed_share import ConfirmedShare
from pumonitor.monitor.windows.class_prior.assumed import assumed_prior_findings
from pumonitor.results import ClassPriorEstimate
from tests.monitor.delivery.notifications.alerts import alert
from tests.monitor.monitored_shop import FIRST, write_shop

DAYS = 10
NOW = FIRST + timedelta(days=DAYS + 2)
USUAL = [ConfirmedShare(labeled=n, rows=1000) for n in (21, 18, 25, 19, 22, 16, 24, 20, 20)]
GIVEN = ClassPriorEstimate.given(0.05)


def findings(labeled, prior=GIVEN, before=USUAL, purity=1.0):
    now = ConfirmedShare(labeled=labeled, rows=1000)
    return [one.sentence for one in assumed_prior_findings(prior, now, before, label_purity=purity)]


def test_a_share_that_moved_is_told_with_what_it_was():
    assert findings(22) == []
    (said,) = findings(2)
    assert said == (
        "The class prior of 0.05 is assumed and not estimated, and 0.2% of the rows are "
        "confirmed, but 2.06% were in the 9 windows compared with: either the share of positives "
        "that gets confirmed went from 41.1% to 4%, or positives are less frequent than assumed "
        "and every estimate computed with it is wrong."
    )


def test_more_confirmed_than_assumed_positive_is_reported():
    (said, moved) = findings(90)
    assert said == (
        "The class prior of 0.05 is assumed and not estimated, and 9% of the rows are "
        "confirmed, which is more than this share of positives. The class prior is too low now, "
        "and every estimate computed with it is wrong."
    )
    assert "went from 41.1% to 180%" in moved
    assert findings(90, before=[]) == [said]
    assert findings(90, before=[], purity=0.5) == []
    assert findings(90, before=[], prior=ClassPriorEstimate.given((0.05, 0.02, 0.09))) == []


def test_of_a_measured_prior_nothing_is_said():
    assert (
        findings(90, prior=ClassPriorEstimate(value=0.05, low=0.01, high=0.09, method="auto")) == []
    )


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Ten days with a class prior that is given; on the last nearly all positives are confirmed."""
    folder = tmp_path_factory.mktemp("shop")
    path = write_shop(folder, days=DAYS)
    labels = pd.read_parquet(folder / "confirmations.parquet")
    scored = pd.read_parquet(folder / "predictions.parquet")
    last = scored[scored["scored_at"] >= FIRST + timedelta(days=DAYS - 1)]
    more = last[np.random.default_rng(1).random(len(last)) < 0.35]
    more = pd.DataFrame({"prediction_id": more["prediction_id"], "confirmed_at": more["scored_at"]})
    unseen = more[~more["prediction_id"].isin(labels["prediction_id"])]
    pd.concat([labels, unseen]).to_parquet(folder / "confirmations.parquet")
    text = yaml.safe_load(path.read_text())
    monitor = text["monitors"]["card-fraud"]
    monitor |= {
        "class_prior": 0.5,
        "panes": [],
        "rules": [
            {"metric": "class_prior", "above": 0.3},
            {"metric": "labeled_positives", "above": 100},
        ],
    }
    monitor["reference"] = {"start": FIRST.date(), "end": (FIRST + timedelta(days=DAYS - 1)).date()}
    path.write_text(yaml.safe_dump(text, sort_keys=False))
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: NOW, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
        start = FIRST + timedelta(days=DAYS - 1)
        (found,) = jobs.ledger.evaluations("card-fraud", start=start)
        asked = {
            "window_key": found.window_key, "revision": found.revision,
            "model_version": "", "segment": "",
        }  # fmt: skip
        page = window_files_of(jobs.monitors, jobs.ledger, asked)["report.html"]
        quiet = [
            one["sentence"]
            for day in range(DAYS - 1)
            for each in jobs.ledger.evaluations("card-fraud", start=FIRST + timedelta(days=day))
            for one in each.evaluation["warnings"]
            if one["name"] == "assumed_prior"
        ]
        causes = [one.transition.cause for one in jobs.ledger.alerts.history("card-fraud")]
    return path, page, quiet, causes


def printed(path, *arguments):
    done = CliRunner(env={"COLUMNS": "400", "NO_COLOR": "1"}).invoke(
        app, [*arguments, "--config", str(path)]
    )
    return done.stdout


SAID = "The class prior of 0.5 is assumed and not estimated, and"


def test_quiet_windows_are_silent(shop):
    assert shop[2] == []


def test_insights_check_and_the_report_warn(shop):
    path, page, _, _ = shop
    text = printed(path, "insights")
    assert f"doubtful: {SAID}" in text
    assert "class_prior        0.500 assumed\n" in text
    told = json.loads(printed(path, "check", "--json"))["monitors"]["card-fraud"]["warnings"]
    assert any(one.startswith(SAID) for one in told)
    assert any(
        one.startswith(
            "rule 'class_prior' tests the class prior, which is assumed and not estimated, so the "
            "rule never fires; write class_prior: auto"
        )
        for one in told
    )
    assert SAID in page


def test_a_message_says_what_is_doubtful(shop):
    (cause,) = shop[3]
    assert cause["doubt"].startswith(SAID)
    found = dict(details(alert(cause=cause)))
    assert found["Doubtful"].startswith(SAID)

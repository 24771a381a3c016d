"""`pumonitor compare --verdicts`: models of a file of which a queue reviewed some rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from tests.reviews.two_models import shop

SHOP = shop(1, third=True)
MODELS = ("champion", "challenger")
REVIEWED = ("--verdicts", "verdict", "--blocks")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "scored.parquet"
    words = {1.0: "fraud", 0.0: "ok"}
    pd.DataFrame(
        {
            **SHOP.scores,
            "chargeback": SHOP.complained.astype(int),
            "verdict": [words.get(verdict, "") for verdict in SHOP.verdicts],
            "reason": np.where(np.isnan(SHOP.verdicts), "", "score"),
            "why": np.where(np.isnan(SHOP.verdicts), "", "top of the day"),
            "declined": 0,
        }
    ).to_parquet(path)
    return path


def run(file, *options, scores=MODELS):
    thresholds = ",".join(f"{name}={SHOP.thresholds[name]}" for name in scores)
    asked = ("--labels", "chargeback", "--scores", ",".join(scores), "--threshold", thresholds)
    words = ("--word", "fraud=1", "--word", "ok=0") if "--verdicts" in options else ()
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["compare", str(file), *asked, *words, *options])


def told(done):
    return " ".join(done.output.replace("│", " ").split())


def test_json_is_that_of_the_library(file):
    reason = ("--chosen-by", "why", "--word", "top of the day=score")
    options = ("--complaint-rate", "0.4,0.6", *reason, "--stopped", "declined")
    done = run(file, *REVIEWED, *options, "--json")
    assert done.exit_code == 0, done.output
    expected = pumonitor.compare(
        SHOP.complained,
        {name: SHOP.scores[name] for name in MODELS},
        threshold={name: SHOP.thresholds[name] for name in MODELS},
        reviews=pumonitor.Reviews(SHOP.verdicts, blocks=True, chosen_by="score"),
        complaint_rate=(0.4, 0.6),
        rng=0,
    ).to_dict()
    found = json.loads(done.stdout)
    for part in ("models", "differences", "leads", "class_prior"):
        assert found[part] == expected[part], part
    assert found["settings"]["reviews"]["complaint_rate"] == [0.4, 0.6]


def test_the_table_says_who_is_better_and_who_filled_the_queue(file):
    done = run(file, *REVIEWED)
    assert done.exit_code == 0, done.output
    text = told(done)
    assert "F1: challenger is better than champion; the difference is" in text
    assert "The review queue was filled by the score of champion." in text
    known = int((SHOP.verdicts == 1).sum()), int(SHOP.complained.sum())
    assert f"({known[0]} found by review, {known[1]} complained)" in text
    assert "challenger: Another score filled the queue, which reviewed" in text
    assert "(random in --chosen-by)" in text


def test_a_detection_rate_is_that_of_the_queue(file):
    whole, missing = (
        json.loads(run(file, *REVIEWED, *more, "--json").stdout)["models"]["champion"]
        for more in ((), ("--detection-rate", "0.7"))
    )
    assert missing["precision"]["value"] > 1.15 * whole["precision"]["value"]


@pytest.mark.parametrize("ranked_by", ["champion", "third"])
def test_a_column_names_the_score_of_the_queue(file, ranked_by):
    seen = run(file, *REVIEWED, "--json", scores=("champion", "challenger"))
    scores = ("champion", "challenger") if ranked_by == "champion" else ("third", "challenger")
    named = run(file, *REVIEWED, "--ranked-by", "champion", "--json", scores=scores)
    assert named.exit_code == 0, named.output
    found = json.loads(named.stdout)
    assert list(found["models"]) == list(scores)
    assert found["settings"]["ranked_by"] == ("champion" if ranked_by == "champion" else None)
    if ranked_by == "champion":
        assert found == json.loads(seen.stdout)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--verdicts", "verdict"), "say --blocks if a positive verdict stops"),
        (("--no-blocks",), "give --verdicts as well"),
        (
            (
                *REVIEWED,
                "--class-prior",
                "0.02",
                "--propensity",
                "0.5",
                "--sample-weight",
                "reason",
            ),
            "leave out --class-prior, --propensity, --sample-weight, or --verdicts",
        ),
        ((*REVIEWED, "--label-frequency", "0.5"), "leave out --label-frequency, or --verdicts"),
        ((*REVIEWED, "--label-purity", "0.9"), "scenario with a --label-purity of 1"),
        ((*REVIEWED, "--complaint-rate", "0.9,1.5"), "--complaint-rate is the share of unreviewed"),
        ((*REVIEWED, "--detection-rate", "1.5"), "--detection-rate is a share of the positives"),
        ((*REVIEWED, "--stopped", "reason"), "--stopped has 400 of 20000 values that are not True"),
        (
            ("--verdicts", "reason", "--blocks"),
            "('score'): say what each means, --word 'score=...' with 1, 0 or 'undecided'",
        ),
    ],
)
def test_what_is_wrong_is_said_of_options(file, options, said):
    done = run(file, *options)
    assert done.exit_code == 2
    assert said in told(done)


def test_the_score_of_the_queue_is_asked_for_by_its_option(file):
    done = run(file, *REVIEWED, scores=("third", "challenger"))
    assert done.exit_code == 2
    assert "say which model's score filled the queue, --ranked-by third, or give" in told(done)
    assert "why each was, --chosen-by" in told(done)

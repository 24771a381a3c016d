"""`pumonitor evaluate --verdicts`: a file with what a queue found beside complaints."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app

RUNNER = CliRunner()
ROWS = 20_000
ASKED = ("--labels", "chargeback", "--scores", "score", "--threshold", "2")


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The file, and recall and class prior of its rows."""
    rng = np.random.default_rng(4)
    is_fraud = rng.random(ROWS) < 0.02
    score = rng.normal(2.3 * is_fraud)
    in_queue = score >= np.quantile(score, 0.98)
    frame = pd.DataFrame(
        {
            "score": score,
            "champion": score,
            "chargeback": (is_fraud & ~in_queue & (rng.random(ROWS) < 0.6)).astype(int),
            "verdict": np.where(in_queue, is_fraud.astype(int).astype(str), ""),
            "reason": np.where(in_queue, "score", ""),
            "declined": 0,
        }
    )
    file = tmp_path_factory.mktemp("shop") / "scored.parquet"
    frame.to_parquet(file)
    flagged = score >= 2
    return file, {
        "recall": (flagged & is_fraud).sum() / is_fraud.sum(),
        "class_prior": is_fraud.mean(),
    }


def run(file, *options):
    return RUNNER.invoke(app, ["evaluate", str(file), *ASKED, *options])


def test_estimates_are_by_reviews_and_hold_the_truth(shop):
    file, truth = shop
    done = run(file, "--verdicts", "verdict", "--blocks", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    estimates = found["estimates"]
    for name, value in truth.items():
        assert estimates[name]["method"] == "reviews"
        assert estimates[name]["low"] < value < estimates[name]["high"]
    assert found["reviews"]["blocks"] is True
    assert sum(found["reviews"]["rows"].values()) == ROWS


def test_words_of_a_column_are_read(shop, tmp_path):
    frame = pd.read_parquet(shop[0])
    words = {"1": "Fraud", "0": "ok", "": ""}
    frame.assign(verdict=frame.verdict.map(words)).to_parquet(tmp_path / "words.parquet")
    plain = json.loads(run(shop[0], "--verdicts", "verdict", "--blocks", "--json").stdout)
    asked = ("--verdicts", "verdict", "--blocks", "--json", "--word", "fraud=1")
    refused = run(tmp_path / "words.parquet", *asked)
    assert refused.exit_code == 2
    assert "('ok'): say what each means" in refused.output
    read = run(tmp_path / "words.parquet", *asked, "--word", "ok=0")
    assert json.loads(read.stdout)["estimates"] == plain["estimates"]


def test_all_columns_of_a_queue_are_read(shop):
    file, _ = shop
    plain, named = (
        json.loads(run(file, "--verdicts", "verdict", "--blocks", "--json", *more).stdout)
        for more in ((), ("--chosen-by", "reason", "--stopped", "declined"))
    )
    assert named["estimates"] == plain["estimates"]
    ranked = run(file, "--verdicts", "verdict", "--blocks", "--json", "--ranked-by", "champion")
    assert ranked.exit_code == 0, ranked.output
    stated = json.loads(
        run(
            file, "--verdicts", "verdict", "--blocks", "--json", "--complaint-rate", "0.55,0.65"
        ).stdout
    )
    assert stated["reviews"]["complaint_rate"] == [0.55, 0.65]


def test_a_detection_rate_is_that_of_the_queue(shop):
    asked = ("--verdicts", "verdict", "--blocks", "--json")
    all_found, some_missed = (
        json.loads(run(shop[0], *asked, *more).stdout)["estimates"]
        for more in ((), ("--detection-rate", "0.7"))
    )
    # Three in ten of the flagged positives are missed: more are there than are seen.
    assert some_missed["precision"]["value"] > 1.15 * all_found["precision"]["value"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--verdicts", "verdict"), "say --blocks if a positive verdict stops"),
        (("--blocks",), "give --verdicts as well"),
        (("--verdicts", "verdict", "--blocks", "--complaint-rate", "0.5"), "must be LOW,HIGH"),
        (("--verdicts", "verdict", "--blocks", "--class-prior", "0.02"), "leave out --class-prior"),
        (("--verdicts", "verdict", "--blocks", "--calibrated-scores"), "out --calibrated-scores"),
        (
            ("--verdicts", "verdict", "--blocks", "--min-propensity", "0.1", "--propensity", "0.5"),
            "leave out --propensity, --min-propensity, or --verdicts",
        ),
        (
            ("--verdicts", "verdict", "--blocks", "--stopped", "reason"),
            "--stopped has 400 of 20000 values that are not True",
        ),
    ],
)
def test_what_is_missing_or_too_much_is_said(shop, options, said):
    done = run(shop[0], *options)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())


def test_verdicts_below_rows_that_were_passed_over_ask_for_options(shop, tmp_path):
    frame = pd.read_parquet(shop[0])
    other = np.random.default_rng(0).normal(size=ROWS)
    frame.assign(score=other).to_parquet(tmp_path / "other.parquet")
    done = run(tmp_path / "other.parquet", "--verdicts", "verdict", "--blocks")
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert "say why each row was reviewed, --chosen-by, with score, random" in said
    assert "name them, --stopped. If another score filled the queue" in said
    assert "give that score: --ranked-by" in said
    assert "Reviews(" not in said


def test_a_warning_names_options(shop, tmp_path):
    frame = pd.read_parquet(shop[0])
    merged = frame.assign(chargeback=np.maximum(frame.chargeback, frame.verdict == "1"))
    merged.to_parquet(tmp_path / "merged.parquet")
    done = run(tmp_path / "merged.parquet", "--verdicts", "verdict", "--blocks")
    said = " ".join(done.output.split())
    assert "Only if these cases did complain all the same, say --no-blocks." in said


def test_confirmed_positives_are_told_apart(shop, tmp_path):
    frame = pd.read_parquet(shop[0])
    both = frame.index[frame.verdict == "1"][:5]
    frame.loc[both, "chargeback"] = 1
    frame.to_parquet(tmp_path / "both.parquet")
    page = tmp_path / "report.html"
    done = run(
        tmp_path / "both.parquet", "--verdicts", "verdict", "--no-blocks", "--report", str(page)
    )
    reviewed, complained = int((frame.verdict == "1").sum()) - 5, int(frame.chargeback.sum()) - 5
    words = f"({reviewed} found by review, {complained} complained, 5 both)"
    assert f"{reviewed + complained + 5} confirmed positive {words}" in " ".join(
        done.output.split()
    )
    assert f"confirmed positives {words}" in page.read_text(encoding="utf-8")


def test_the_report_draws_where_the_positives_are(shop, tmp_path):
    page = tmp_path / "report.html"
    done = run(shop[0], "--verdicts", "verdict", "--blocks", "--report", str(page))
    assert done.exit_code == 0, done.output
    written = page.read_text(encoding="utf-8")
    assert "Found by review" in written
    assert "Where the positives are" in written
    assert "Nobody sees a change of that slope" in written


def test_chances_of_random_reviews_are_read(shop, tmp_path):
    frame = pd.read_parquet(shop[0])
    drawn = (np.arange(ROWS) % 100 == 0) & (frame["reason"] == "")
    chance = np.where(np.arange(ROWS) % 200 == 0, "0.5", "0.02")
    frame["reason"] = frame["reason"].mask(drawn, "random")
    frame["verdict"] = frame["verdict"].mask(drawn, "0")
    frame["chance"] = np.where(drawn, chance, "")
    frame.to_parquet(tmp_path / "drawn.parquet")
    asked = ("--verdicts", "verdict", "--blocks", "--chosen-by", "reason", "--json")
    plain, weighted = (
        json.loads(run(tmp_path / "drawn.parquet", *asked, *more).stdout)["reviews"]["rows"]
        for more in ((), ("--probability", "chance"))
    )
    # Weighted rows are known, and leave their bin.
    assert weighted["known_negative"] - plain["known_negative"] == drawn.sum()
    wrong = run(tmp_path / "drawn.parquet", *asked, "--probability", "declined")
    assert wrong.exit_code == 2
    assert "--probability must be above 0 and at most 1" in " ".join(wrong.output.split())

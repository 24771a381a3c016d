"""Estimates by value on the command line, in the report and in MLflow."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.names import VALUE
from pumonitor.report.html import render_html
from pumonitor.report.verdict import verdict
from pumonitor.text import count_text
from tests.values.valued_rows import shop

SHOP = shop(5, rows=3000)
FRAME = pd.DataFrame(
    {
        "chargeback": SHOP.complained.astype(int),
        "score": SHOP.scores,
        "verdict": SHOP.verdicts,
        "amount": SHOP.amounts,
        "gaps": np.where(np.arange(3000) < 4, np.nan, SHOP.amounts),
        "words": np.where(np.arange(3000) == 7, "EUR 12", "1.5"),
    }
)
USUAL = ("--labels", "chargeback", "--scores", "score", "--threshold", 2, "--verdicts", "verdict")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("valued") / "scored.parquet"
    FRAME.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def evaluation():
    return pumonitor.evaluate(
        SHOP.complained,
        SHOP.scores,
        threshold=2.0,
        reviews=SHOP.reviews,
        value=SHOP.amounts,
        value_unit="EUR",
        rng=0,
    )


def run(file, *arguments):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["evaluate", str(file), *map(str, (*USUAL, *arguments))])


def test_the_command_says_what_the_library_says(file, evaluation):
    result = run(file, "--blocks", "--value", "amount", "--value-unit", "EUR", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    for name in VALUE:
        assert found["estimates"][name]["high"] == pytest.approx(evaluation[name].high)
    assert found["settings"]["value_unit"] == "EUR"


def test_the_table_has_amounts_in_their_unit(file):
    printed = run(file, "--blocks", "--value", "amount", "--value-unit", "EUR").stdout
    assert "By value" in printed
    assert "EUR of positives missed" in printed
    assert "Recall by value" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--value", "words"), "--value holds 'EUR 12', which is no number, and 1 of 3000 rows"),
        (("--value", "gaps"), "--value is missing in 4 of 3000 rows, first at row 0"),
        (("--value-unit", "EUR"), "--value-unit says what value is in: give --value as well"),
        (("--value", "amuont"), "did you mean 'amount'?"),
    ],
)
def test_a_column_that_is_no_value_is_named(file, arguments, message):
    result = run(file, "--blocks", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_sentences_and_report_name_what_is_missed(evaluation):
    sentence = next(text for text in verdict(evaluation) if "worth" in text)
    low, high = evaluation["missed_value"].low, evaluation["missed_value"].high
    assert f"EUR ({count_text(low)} to {count_text(high)}). It finds " in sentence
    page = render_html(evaluation)
    assert "EUR of positives missed" in page
    assert sentence in page

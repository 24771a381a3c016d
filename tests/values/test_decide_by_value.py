"""`decide` by what each row is worth: equal to an evaluation, to sums, and true."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor import Reviews
from pumonitor.cli.app import app
from pumonitor.names import VALUE
from tests.values.valued_rows import shop

SHOP = shop(5)
COST = 6.0


def by_reviews(threshold=2.0, *, made=SHOP, **settings):
    return pumonitor.decide(
        made.complained,
        made.scores,
        threshold=threshold,
        reviews=made.reviews,
        value=made.amounts,
        **settings,
    )


def by_fair_labels(threshold=2.0, *, made=SHOP, **settings):
    return pumonitor.decide(
        made.confirmed,
        made.scores,
        threshold=threshold,
        class_prior=0.03,
        value=made.amounts,
        **settings,
    )


def test_at_the_present_threshold_it_is_the_evaluation():
    evaluations = {
        by_reviews: pumonitor.evaluate(
            SHOP.complained, SHOP.scores, threshold=2.0, reviews=SHOP.reviews, value=SHOP.amounts
        ),
        by_fair_labels: pumonitor.evaluate(
            SHOP.confirmed, SHOP.scores, threshold=2.0, class_prior=0.03, value=SHOP.amounts
        ),
    }
    for decided, evaluation in evaluations.items():
        now = decided().now
        for name in VALUE:
            assert now[name] == evaluation[name]
        assert "money" not in now.estimates


def test_where_every_row_is_reviewed_money_is_a_sum_at_every_threshold():
    found = pumonitor.decide(
        SHOP.complained & False,
        SHOP.scores,
        threshold=2.0,
        other_threshold=1.5,
        reviews=Reviews(SHOP.is_positive.astype(float), blocks=True),
        value=SHOP.amounts,
        cost=COST,
    )

    def money(threshold):
        flagged = SHOP.scores >= threshold
        return SHOP.worth(flagged) - COST * flagged.sum()

    for outcome in (found.now, found.chosen, found.best):
        assert outcome["money"].displayed == pytest.approx((money(outcome.threshold),) * 3)
    curve = found.curves["money_by_threshold"]
    assert curve.y == pytest.approx([money(threshold) for threshold in curve.x])
    assert found.best["money"].value == pytest.approx(max(curve.y))
    assert found.choice.criterion == "money"


def test_a_higher_threshold_catches_less_and_what_is_caught_and_missed_is_everything():
    for decided in (by_reviews, by_fair_labels):
        found = decided(cost=COST)
        caught, missed = (found.curves[f"{name}_by_threshold"] for name in VALUE[2:])
        assert np.all(np.diff(caught.y) <= 1e-9)
        assert np.all(np.diff(missed.low) >= -1e-9)
        assert found.best["money"].value >= max(found.curves["money_by_threshold"].y) * 0.8


def test_a_dear_positive_is_worth_a_review_that_a_cheap_one_is_not():
    # Positives of low scores are a hundred times dearer.
    dear = np.where(SHOP.scores < 2.0, 100.0, 1.0) * SHOP.amounts
    common = {"threshold": 2.0, "reviews": SHOP.reviews, "cost": COST}
    plain = pumonitor.decide(SHOP.complained, SHOP.scores, value=SHOP.amounts, **common)
    moved = pumonitor.decide(SHOP.complained, SHOP.scores, value=dear, **common)
    assert moved.best.threshold < plain.best.threshold - 0.5


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("valued") / "scored.parquet"
    words = np.where(np.arange(len(SHOP.scores)) == 7, "EUR 12", "1.5")
    columns = {"label": SHOP.confirmed.astype(int), "score": SHOP.scores, "amount": SHOP.amounts}
    # Rows of about the same score are of one card.
    card = np.argsort(np.argsort(SHOP.scores)) // 40
    pd.DataFrame(columns | {"words": words, "card": card}).to_parquet(path)
    return path


def run(file, *arguments):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    given = ("--labels", "label", "--scores", "score", "--threshold", 2, "--class-prior", "0.03")
    return runner.invoke(app, ["decide", str(file), *map(str, (*given, *arguments))])


def test_the_command_says_what_the_library_says(file):
    result = run(file, "--value", "amount", "--value-unit", "EUR", "--cost", COST, "--json")
    assert result.exit_code == 0, result.stderr
    expected = by_fair_labels(cost=COST, value_unit="EUR", rng=0).to_dict()
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))


def test_entities_widen_what_is_missed(file):
    given = ("--value", "amount", "--cost", COST, "--json")
    plain, shared = (
        json.loads(run(file, *given, *more).stdout)["now"]["estimates"]["missed_value"]
        for more in ((), ("--entity", "card"))
    )
    assert shared["high"] - shared["low"] > 1.2 * (plain["high"] - plain["low"])


def test_the_table_is_in_the_unit(file):
    printed = run(file, "--value", "amount", "--value-unit", "EUR", "--cost", COST).stdout
    assert "EUR of positives missed" in printed
    assert "Recall by value" in printed
    assert " EUR\n" in printed.replace(" EUR ", " EUR\n")
    assert "lower bound of money" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--value", "words"), "--value holds 'EUR 12', which is no number, and 1 of 6000 rows"),
        (("--value", "amuont"), "did you mean 'amount'?"),
        (("--value", "amount", "--propensity", "0.5"), "leave out --propensity, or --value"),
        (("--value", "amount", "--cost", "-1"), "cost must satisfy 0 <= cost, got -1"),
        (("--value-unit", "EUR"), "--value-unit says what value is in: give --value as well"),
    ],
)
def test_what_cannot_be_used_is_named(file, arguments, message):
    result = run(file, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())

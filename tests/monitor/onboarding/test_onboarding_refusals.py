"""Tables, columns and options from which no monitor can be made are refused by name."""

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.onboarded import Options
from pumonitor.monitor.onboarding.onboarding import onboard
from tests.monitor.onboarding.onboarded_tables import monitor_of, written

pytestmark = pytest.mark.usefixtures("unsearched_labels")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(score="scor"), "--score: .* has no column 'scor'; did you mean 'score'"),
        (Options(id="key"), "--id: .* has no column 'key'; its columns are prediction_id"),
        (Options(id="prediction_id", positives_id="x"), "--positives-id: .* has no column 'x'"),
        (Options(window="1day"), "a window's length must be"),
        (Options(maturity="long"), "--maturity must be a number with s, min, h, d or w"),
        (Options(time="country"), "column 'country' holds no times"),
        (
            Options(label="confirmed_at"),
            "label column 'confirmed_at' .* has .* rows that are not 1",
        ),
        (Options(name="a b"), "has a name with other characters than"),
        (Options(zone="Berlin"), "did you mean 'Europe/Berlin'"),
        (Options(predictions="nothing.csv"), "there is no file nothing.csv"),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_its_option(tmp_path, both, options, message):
    folder = written(tmp_path, *both)
    with pytest.raises(InputError, match=message):
        monitor_of(onboard([folder], options), tmp_path)


def test_confirmations_about_nothing_are_refused(tmp_path, both):
    predictions, positives = both
    folder = written(tmp_path, predictions, positives.assign(prediction_id="q1"))
    with pytest.raises(InputError, match=r"no column of .*predictions.csv has unique values"):
        onboard([folder], Options(name="a"))
    with pytest.raises(InputError, match=r"none of the .* confirmed positives .* check --id"):
        onboard([folder], Options(name="a", id="prediction_id"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "there are no CSV, Parquet or JSON Lines file"),
        (("a.csv", "b.csv", "c.csv"), "give them with --predictions and --positives"),
        (("only.csv",), "give them with --predictions and --positives"),
    ],
)
def test_a_folder_without_two_tables_says_what_is_there(tmp_path, names, message):
    for name in names:
        (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(InputError, match=message):
        onboard([str(tmp_path)], Options())


def test_empty_tables_are_refused(tmp_path, both):
    predictions, positives = both
    folder = written(tmp_path, predictions.iloc[:0], positives)
    with pytest.raises(InputError, match="has no rows"):
        onboard([folder], Options(name="a"))


def test_labels_in_words_are_no_confirmations(tmp_path, both):
    predictions, positives = both
    words = ["yes", "maybe", *["yes"] * (len(positives) - 2)]
    folder = written(
        tmp_path,
        predictions,
        positives.assign(verdict=words),
        names=("predictions.parquet", "confirmed.parquet"),
    )
    with pytest.raises(InputError) as caught:
        onboard([folder], Options(name="a"))
    assert f"label column 'verdict' of {folder}" in str(caught.value)
    assert f"has {len(positives)} rows that are not 1, -1 or 0" in str(caught.value)
    assert "label: {column: verdict, positive: [WORD], negative: [WORD]" in str(caught.value)
    assert "--label none" in str(caught.value)
    assert onboard([folder], Options(name="a", label="none")).label is None


def test_a_constant_score_is_refused(tmp_path, both):
    predictions, positives = both
    folder = written(tmp_path, predictions.assign(score=0.5), positives)
    with pytest.raises(
        InputError, match=r"score column 'score' of .* is 0\.5 in all rows: a const"
    ):
        onboard([folder], Options(name="a"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maturity": "999999999d"}, "--maturity is longer than 100 years"),
        ({"window": "99999999999d"}, "--window is longer than 100 years"),
    ],
)
def test_lengths_beyond_a_calendar_are_refused(tmp_path, both, options, message):
    with pytest.raises(InputError, match=message):
        onboard([written(tmp_path, *both)], Options(name="a", **options))

"""What is found out from two files, and what has to be asked."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.configuration_text import configuration_text
from pumonitor.monitor.onboarding.onboarded import Options
from pumonitor.monitor.onboarding.onboarding import onboard
from pumonitor.monitor.onboarding.proposals import reference_windows
from pumonitor.monitor.onboarding.table_samples import Extent
from pumonitor.monitor.rules.windows.windows import WindowGrid
from tests.monitor.onboarding.onboarded_tables import monitor_of, written
from tests.monitor.onboarding_tables import tables

pytestmark = pytest.mark.usefixtures("unsearched_labels")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_plain_tables_need_no_answer(tmp_path, both, ending):
    folder = written(tmp_path, *both, names=(f"scored.{ending}", f"frauds.{ending}"))
    found = onboard([folder], Options(name="fraud"))
    assert (found.id, found.positives_id) == ("prediction_id", "prediction_id")
    assert (found.time, found.score, found.known_at) == ("scored_at", "score", "confirmed_at")
    assert (found.label, found.model_version, found.propensity) == (None, None, None)
    assert (found.time_zone, found.known_zone, found.zone) == ("UTC", "UTC", "UTC")
    assert (found.score_scale, found.threshold) == ("probability", 0.5)
    assert found.segments == ("country",)
    only = monitor_of(found, tmp_path)
    assert only.predictions.source.location == str(tmp_path / f"scored.{ending}")
    assert only.positives.source.location == str(tmp_path / f"frauds.{ending}")


def test_windows_have_a_hundred_confirmations_where_the_data_allow_it(tmp_path):
    expected = {400: "1w", 7000: "1w", 60_000: "1d"}
    for rows, window in expected.items():
        folder = tmp_path / str(rows)
        folder.mkdir()
        found = onboard([written(folder, *tables(rows=rows, days=30))], Options(name="a"))
        assert found.window == window, rows
        few = [note for note in found.notes if "intervals will be wide" in note]
        assert bool(few) is (rows < 60_000)


def test_maturity_is_the_time_in_which_nineteen_of_twenty_had_come(tmp_path):
    # Exponential delays with a mean of 2 days: 95% within 6.0 days.
    folder = written(tmp_path, *tables(rows=30_000, days=90, delay_days=2.0))
    found = onboard([folder], Options(name="a"))
    assert found.maturity in {timedelta(days=6), timedelta(days=7)}


def test_the_reference_is_whole_windows_whose_labels_are_in(tmp_path, both):
    found = onboard([written(tmp_path, *both)], Options(name="a", window="1w", maturity="10d"))
    # 2026 begins on a Thursday. Weeks from 5 January on end before 1 March less ten days: six.
    assert found.reference == ("2026-01-05", "2026-01-26")
    assert any("A reference of 3 windows is too short" in note for note in found.notes)
    days = onboard([str(tmp_path)], Options(name="a", window="1d", maturity="10d"))
    # Of 49 days a third.
    assert days.reference == ("2026-01-01", "2026-01-17")
    hours = onboard([str(tmp_path)], Options(name="a", window="6h", maturity="10d"))
    assert hours.reference == ("2026-01-01T00:00", "2026-01-17T12:00")
    # A day less, and five windows are left: half of them are fewer than a reference needs.
    few = onboard([str(tmp_path)], Options(name="a", window="1w", maturity="15d"))
    assert few.reference is None
    assert "5 windows are mature yet: when there are 6, add a reference" in " ".join(few.notes)
    late = onboard([str(tmp_path)], Options(name="a", window="1mo", maturity="60d"))
    assert late.reference is None
    assert any("No window is mature yet" in note for note in late.notes)
    assert monitor_of(late, tmp_path).reference is None


def test_times_with_a_zone_need_none_and_naive_ones_get_the_one_named(tmp_path, both):
    predictions, positives = both
    # Nanoseconds with a zone, as pandas wrote them for years, are a type of their own in DuckDB.
    zoned = predictions.assign(scored_at=predictions["scored_at"].dt.tz_localize("UTC"))
    zoned["scored_at"] = zoned["scored_at"].dt.as_unit("ns")
    folder = written(tmp_path, zoned, positives, names=("p.parquet", "c.parquet"))
    found = onboard([folder], Options(name="a", zone="Europe/Berlin", window="1d", maturity="5d"))
    assert (found.time_zone, found.known_zone) == (None, "Europe/Berlin")
    only = monitor_of(found, tmp_path)
    assert only.predictions.time_zone is None
    assert only.positives.time_zone == "Europe/Berlin"
    # The first prediction is at 00:15 UTC of 1 January, 01:15 in Berlin: the day is not whole.
    assert found.reference[0] == "2026-01-02"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_confirmations_may_have_a_date_alone(tmp_path, both, ending):
    predictions, positives = both
    dated = positives.assign(confirmed_at=positives["confirmed_at"].dt.date)
    folder = written(tmp_path, predictions, dated, names=(f"p.{ending}", f"c.{ending}"))
    found = onboard([folder], Options(name="a"))
    assert (found.known_at, found.known_zone) == ("confirmed_at", "UTC")
    monitor_of(found, tmp_path)


@pytest.mark.parametrize(("unit", "per_second"), [("s", 1), ("ms", 1_000), ("us", 1_000_000)])
def test_integers_are_times_in_the_unit_that_fits(tmp_path, both, unit, per_second):
    predictions, positives = both

    def since_1970(column):
        return column.astype("datetime64[ns]").astype("int64") // (1_000_000_000 // per_second)

    folder = written(
        tmp_path,
        predictions.assign(scored_at=since_1970(predictions["scored_at"])),
        positives.assign(confirmed_at=since_1970(positives["confirmed_at"])),
    )
    found = onboard([folder], Options(name="a"))
    assert (found.time_unit, found.known_unit, found.time_zone) == (unit, unit, None)
    assert 5 <= found.maturity.days <= 15
    assert monitor_of(found, tmp_path).predictions.time_unit == unit


def test_scores_of_any_size_are_unbounded(tmp_path, both):
    predictions, positives = both
    logit = predictions.assign(score=np.log(predictions["score"] / (1 - predictions["score"])))
    found = onboard([written(tmp_path, logit, positives)], Options(name="a"))
    assert (found.score_scale, found.threshold) == ("unbounded", 0.0)
    assert monitor_of(found, tmp_path).score_scale == "unbounded"


def test_other_names_are_found_by_what_the_columns_hold(tmp_path, both):
    predictions, positives = both
    predictions = predictions.rename(
        columns={"prediction_id": "txn", "scored_at": "when", "score": "p_hat"}
    ).assign(champion="v1", model_version="v7")
    positives = positives.rename(columns={"prediction_id": "transaction", "confirmed_at": "seen"})
    positives = positives.assign(verdict=1, review_propensity=0.5)
    names = ("first.csv", "second.csv")
    found = onboard([written(tmp_path, predictions, positives, names=names)], Options(name="a"))
    assert (found.id, found.positives_id) == ("txn", "transaction")
    assert (found.time, found.score, found.known_at) == ("when", "p_hat", "seen")
    assert (found.label, found.model_version) == ("verdict", "model_version")
    assert found.propensity == "review_propensity"
    only = monitor_of(found, tmp_path)
    assert only.positives.id == "transaction"


def test_tables_in_the_wrong_order_are_turned(tmp_path, both):
    written(tmp_path, *both, names=("b.csv", "a.csv"))
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    found = onboard(files, Options(name="a"))
    assert found.predictions == files[1]
    assert found.positives == files[0]


def test_parts_in_folders_are_one_pattern(tmp_path, both):
    predictions, positives = both
    for number in range(3):
        written(
            tmp_path,
            predictions.iloc[number::3],
            positives.iloc[number::3],
            names=(f"predictions/2026-0{number + 1}.parquet", f"confirmed/part-{number}.csv"),
        )
    found = onboard([str(tmp_path)], Options(name="a"))
    assert Path(found.predictions).name == "*.parquet"
    only = monitor_of(found, tmp_path)
    assert only.predictions.source.path.written == "predictions/*.parquet"
    assert only.positives.source.path.written == "confirmed/part-*.csv"


def test_two_times_that_may_be_meant_are_asked_about(tmp_path, both):
    predictions, positives = both
    predictions = predictions.rename(columns={"scored_at": "alpha"})
    predictions["beta"] = predictions["alpha"]
    folder = written(tmp_path, predictions, positives)
    with pytest.raises(InputError, match=r"it is unclear which column of .* is the time .*--time"):
        onboard([folder], Options(name="a"))
    asked = []

    def answer(question):
        asked.append(question.what)
        return question.proposal or "beta"

    found = onboard([folder], Options(), ask=answer)
    assert found.time == "beta"
    assert "time" in asked
    assert asked[-1] == "name"


def test_wishes_are_not_asked_about(tmp_path, both):
    options = Options(
        id="prediction_id", time="scored_at", score="amount", known_at="confirmed_at",
        label="none", window="1d", maturity="20d", threshold=0.8, zone="UTC", name="a",
        known_prior="none", label_origin="complaints",
    )  # fmt: skip
    found = onboard([written(tmp_path, *both)], options, ask=pytest.fail)
    assert (found.score, found.score_scale) == ("amount", "unbounded")
    assert (found.window, found.maturity, found.threshold) == ("1d", timedelta(days=20), 0.8)


def test_labels_of_zero_are_said(tmp_path, both):
    predictions, positives = both
    folder = written(
        tmp_path, predictions, positives.assign(label=[0, *[1] * (len(positives) - 1)])
    )
    found = onboard([folder], Options(name="a"))
    assert found.label == "label"
    assert any("1 rows of" in note and "are 0" in note for note in found.notes)


def test_names_that_yaml_would_read_otherwise_are_quoted(tmp_path, both):
    predictions, positives = both
    odd = {"prediction_id": "${ID}: #1", "scored_at": "true", "score": "score, 'raw'"}
    folder = written(
        tmp_path, predictions.rename(columns=odd), positives.rename(columns=odd),
        names=("p: 1.parquet", "c #2.parquet"),
    )  # fmt: skip
    found = onboard([folder], Options(name="null", time="true", score="score, 'raw'"))
    only = monitor_of(found, tmp_path)
    assert only.predictions.id == "${ID}: #1"
    assert only.predictions.time == "true"
    assert only.predictions.score == "score, 'raw'"
    assert only.predictions.source.path.written == "p: 1.parquet"


def test_missing_scores_do_not_make_a_scale(tmp_path, both):
    predictions, positives = both
    predictions = predictions.assign(score=predictions["score"].where(predictions.index % 50 != 0))
    predictions.loc[7, "score"] = pd.NA
    found = onboard([written(tmp_path, predictions, positives)], Options(name="a"))
    assert found.score_scale == "probability"


@pytest.mark.parametrize("name", ["mdl_ver", "model", "version", "ModelVersion", "clf_id", "ver"])
def test_a_model_version_is_found_under_many_names(tmp_path, both, name):
    predictions, positives = both
    predictions = predictions.assign(app_version="9", **{name: "7"})
    found = onboard([written(tmp_path, predictions, positives)], Options(name="a"))
    assert found.model_version == name


def test_a_model_version_under_any_name_can_be_said_and_left_out(tmp_path, both):
    predictions, positives = both
    folder = written(tmp_path, predictions.assign(champion="7", model="8"), positives)
    assert (
        onboard([folder], Options(name="a", model_version="champion")).model_version == "champion"
    )
    assert onboard([folder], Options(name="a", model_version="none")).model_version is None
    with pytest.raises(InputError, match="--model-version"):
        onboard([folder], Options(name="a", model_version="champoin"))


@pytest.mark.parametrize(
    ("every", "days", "count"),
    [("1d", 6, 3), ("1d", 16, 8), ("1d", 20, 8), ("1d", 60, 20), ("1d", 400, 30), ("1h", 100, 672)],
)
def test_the_reference_has_enough_windows_and_leaves_enough(every, days, count):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    end = (start + timedelta(days=days)).timestamp()
    extent = Extent(
        predictions=1000,
        first=start.timestamp(),
        last=end,
        last_known=end,
        least_score=0.0,
        greatest_score=1.0,
        confirmations=100,
        matched=100,
        delays={},
    )
    found = reference_windows(extent, grid=WindowGrid(every=every), maturity=timedelta())
    assert len(found.reference) == count
    assert found.reference == found.windows[:count]


def test_the_file_says_how_the_reference_was_chosen(tmp_path, both):
    found = onboard([written(tmp_path, *both)], Options(name="a", window="1w", maturity="10d"))
    text = configuration_text(found, folder=tmp_path)
    assert "# the first 3 of 6 windows whose labels are mature: more than a third" in text


def test_confirmations_long_before_their_predictions_are_said_and_make_no_maturity(tmp_path, both):
    predictions, confirmed = both
    early = confirmed.copy()
    early.loc[::3, "confirmed_at"] -= pd.Timedelta(days=30)
    found = onboard([written(tmp_path, predictions, early)], Options(name="fraud"))
    count = (early.confirmed_at - confirmed.confirmed_at < pd.Timedelta(0)).sum()
    (note,) = [note for note in found.notes if "are not counted" in note]
    assert note.startswith(f"{count} of {len(early)} confirmations were known more than a day")
    plain = onboard([written(tmp_path, predictions, confirmed)], Options(name="fraud"))
    assert abs(found.maturity - plain.maturity) <= timedelta(days=2)


def test_predictions_that_are_there_twice_are_said(tmp_path, both):
    predictions, confirmed = both
    twice = pd.concat([predictions, predictions])
    found = onboard(
        [written(tmp_path, twice, confirmed)], Options(name="fraud", id="prediction_id")
    )
    (note,) = [note for note in found.notes if "repeat an id" in note]
    assert re.match(r"About (4[5-9]|5[0-5])% of the predictions repeat an id", note)


def test_many_ids_that_differ_are_not_said_to_be_repeated(tmp_path, both):
    """Of these DuckDB's estimate is that a tenth is there more than once."""
    predictions, confirmed = both
    many = pd.concat([predictions] * (60_000 // len(predictions) + 1)).head(60_000)
    many = many.assign(prediction_id=[f"p{place}" for place in range(len(many))])
    known = confirmed.assign(prediction_id=many["prediction_id"].head(len(confirmed)).to_numpy())
    found = onboard([written(tmp_path, many, known)], Options(name="fraud", id="prediction_id"))
    assert not [note for note in found.notes if "repeat an id" in note]

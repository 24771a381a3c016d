"""What a monitor cannot use: one message that names source, column, number and remedy."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pandas as pd
import polars as pl
import pytest

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = START + 20 * DAY
PREDICTIONS = PredictionColumns(id="id", time="made", score="score")
LABELS = LabelColumns(id="id", known_at="known", label="label", propensity="rate")


def request(start=START, end=START + DAY):
    return CountRequest(
        window=Window(start=start, end=end, index=0), as_of=(end, end + 9 * DAY), threshold=0.5
    )


def made(**columns):
    given = {
        "id": [1, 2, 3, 4],
        "made": [START + timedelta(hours=hour) for hour in (1, 2, 3, 4)],
        "score": [0.9, 0.8, 0.2, 0.1],
    }
    return pd.DataFrame(given | columns)


def known(**columns):
    given = {
        "id": [1, 2, 3],
        "known": [START + 2 * DAY] * 3,
        "label": [1, 1, -1],
        "rate": [0.5, 0.5, None],
    }
    return pd.DataFrame(given | columns)


def csv(folder, frame, name):
    frame.to_csv(folder / name, index=False)
    return folder / name


def counts(predictions, positives, prediction_columns=PREDICTIONS, label_columns=LABELS, **options):
    source = open_source(
        predictions, prediction_columns, positives, label_columns, clock=lambda: NOW, **options
    )
    with closing(source):
        return source.counts(request())


def described(predictions, positives, prediction_columns=PREDICTIONS, label_columns=LABELS):
    source = open_source(
        predictions, prediction_columns, positives, label_columns, clock=lambda: NOW
    )
    with closing(source):
        return source.describe()


def message_of(work, *arguments, **options):
    with pytest.raises(InputError) as caught:
        work(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_good_rows_behind_all_that_follows():
    found = counts(made(), known())
    assert found.found.predictions == 4
    assert found.history.tolist() == [4, 1, 7, 7]
    described(made(), known())


# Scores


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (
            [0.9, float("nan"), 0.2, float("nan")],
            "has 2 values that are infinite or NaN in 4 rows from 2026-01-05T00:00:00+00:00 to "
            "2026-01-06T00:00:00+00:00: 'nan' (2 times); clip the scores, or drop the rows",
        ),
        ([0.9, float("inf"), 0.2, 0.1], "has 1 values that are infinite or NaN in 4 rows"),
        (
            [0.9, 1.5, -1e300, 0.1],
            "has 2 values below 0 or above 1 in 4 rows from 2026-01-05T00:00:00+00:00 to "
            "2026-01-06T00:00:00+00:00: '-1e+300' (1 times), '1.5' (1 times); write probabilities, "
            "or say score_scale: unbounded",
        ),
    ],
)
def test_scores_that_rank_nothing(tmp_path, scores, expected):
    # Statistics of Parquet leave NaN out: they must not answer for the rows.
    pl.DataFrame(
        {"id": [1, 2, 3, 4], "made": made()["made"].dt.to_pydatetime().tolist(), "score": scores}
    ).write_parquet(tmp_path / "p.parquet")
    message = message_of(counts, tmp_path / "p.parquet", known())
    assert message.startswith(f"score column 'score' of predictions {tmp_path / 'p.parquet'} ")
    assert expected in message


def test_missing_scores():
    message = message_of(counts, made(score=pl.Series([0.9, None, 0.2, 0.1]).to_list()), known())
    # pandas has only NaN for a missing number.
    assert "score column 'score' of the data frame of predictions has 1 values" in message


def test_missing_and_written_out_scores_of_a_csv(tmp_path):
    file = csv(tmp_path, made(score=["0.9", "high", None, "0,1"]), "p.csv")
    message = message_of(counts, file, known())
    assert "has 3 values that are missing or no numbers in 4 rows" in message
    assert "'0,1' (1 times)" in message
    assert "'high' (1 times)" in message
    assert "missing (1 times)" in message


def test_text_scores_of_a_typed_table():
    message = message_of(counts, made(score=["high", "low", "low", "low"]), known())
    assert message == (
        "score column 'score' of the data frame of predictions is stored as VARCHAR: name the "
        "column that holds the model's score, as numbers"
    )


def test_any_finite_score_if_they_are_unbounded():
    found = counts(made(score=[1e300, -1e300, 0.0, 7.0]), known(), score_scale="unbounded")
    assert found.rows.sum() == 4


# Ids


def test_missing_ids(tmp_path):
    file = csv(tmp_path, made(id=["a", None, None, "d"]), "p.csv")
    message = message_of(counts, file, known(id=["a", "b", "c"]))
    assert f"id column 'id' of predictions {file} has 2 ids that are missing or not text" in message
    assert "every row needs the id of its prediction" in message


def test_missing_ids_of_labels(tmp_path):
    file = csv(tmp_path, known(id=["a", None, "c"]), "l.csv")
    message = message_of(counts, made(id=["a", "b", "c", "d"]), file)
    assert f"id column 'id' of positives {file} has 1 ids that are missing" in message


def test_whole_numbers_against_text():
    message = message_of(counts, made(), known(id=["1", "2", "3"]))
    assert message == (
        "ids of the data frame of predictions are BIGINT in column 'id', those of the data frame "
        "of positives are VARCHAR in column 'id': no label would be found; cast one of them to the "
        "other's type"
    )


def test_cells_of_a_csv_are_whole_numbers_if_the_other_table_has_them(tmp_path):
    labels = csv(tmp_path, known(), "l.csv")
    assert counts(made(), labels).found.label_rows == 3
    labels = csv(tmp_path, known(id=["1", "2.0", "7.6"]), "l.csv")
    message = message_of(counts, made(), labels)
    assert "has 2 ids that are missing or not whole numbers in 3 rows: '2.0' (1 times)" in message


def test_ids_in_floating_point():
    message = message_of(counts, made(id=[1.0, 2.0, None, 4.0]), known())
    assert "id column 'id' of the data frame of predictions is stored as DOUBLE" in message
    assert "a floating-point number loses digits: cast it" in message


def test_ids_of_mixed_types():
    message = message_of(counts, made(id=[1, "b", 3, 4]), known())
    assert "the data frame of predictions mixes types in a column" in message


# Columns


def test_an_absent_column_with_the_nearest_name():
    columns = PredictionColumns(id="id", time="made", score="scores")
    assert "has no column 'scores'; did you mean 'score'?" in message_of(
        counts, made(), known(), columns
    )


def test_an_absent_column_of_a_file(tmp_path):
    file = csv(tmp_path, made(), "p.csv")
    columns = PredictionColumns(id="id", time="made", score="score", segments=("country",))
    message = message_of(counts, file, known(), columns)
    assert "has no column 'country'" in message
    assert "its columns are 'id', 'made', 'score'" in message
    pl.from_pandas(made()).write_parquet(tmp_path / "p.parquet")
    message = message_of(counts, tmp_path / "p.parquet", known(), columns)
    assert "has no column 'country' (segment); its columns are 'id', 'made', 'score'" in message


def test_a_column_that_stands_twice(tmp_path):
    (tmp_path / "p.csv").write_text("id,made,score,score\n1,2026-01-05T01:00Z,0.5,0.6\n")
    message = message_of(counts, tmp_path / "p.csv", known())
    assert "p.csv has 2 columns named 'score'" in message
    frame = made()
    frame.insert(0, "score ", frame["score"])
    frame.columns = ["score", *frame.columns[1:]]
    assert "two columns of one name" in message_of(counts, frame, known())


def test_one_column_for_two_things():
    columns = PredictionColumns(id="id", time="made", score="id")
    assert "predictions name the column 'id' twice" in message_of(counts, made(), known(), columns)


def test_a_column_of_numbers_for_segments():
    columns = PredictionColumns(id="id", time="made", score="score", segments=("amount",))
    message = message_of(counts, made(amount=[1.5, 2.5, 3.5, 4.5]), known(), columns)
    assert "segment column 'amount'" in message
    assert "is stored as DOUBLE: name a column of categories, as text" in message


def test_a_segment_for_every_row():
    rows = 1001
    frame = pd.DataFrame(
        {"id": range(rows), "made": [START] * rows, "score": 0.5, "who": map(str, range(rows))}
    )
    columns = PredictionColumns(id="id", time="made", score="score", segments=("who",))
    message = message_of(counts, frame, known(), columns)
    assert "segment column 'who'" in message
    assert "has 1001 values in one window, and 1000 are counted at most" in message


def test_categories_and_nullable_types_are_read():
    frame = made(kind=["a", "b", "a", None]).astype({"kind": "category", "id": "Int64"})
    columns = PredictionColumns(id="id", time="made", score="score", segments=("kind",))
    assert set(counts(frame, known(), columns).segments["kind"]) == {"", "a", "b"}


# Labels


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["1", None, "-1"], "missing (1 times)"),
        (["1", "2", "2"], "'2' (2 times)"),
        (["yes", "1", "1"], "'yes' (1 times)"),
    ],
)
def test_labels_that_mean_nothing(tmp_path, values, shown):
    file = csv(tmp_path, known(label=values, rate=0.5), "l.csv")
    message = message_of(counts, made(), file)
    assert message.startswith(f"label column 'label' of positives {file} has ")
    assert "values other than 1, 0 and -1 in 3 rows" in message
    assert shown in message
    assert message.endswith("-1 for a confirmed negative, 0 to take an earlier row back")


def test_labels_that_are_true_or_false(tmp_path):
    truth = known(label=[True, True, False])
    expected = counts(made(), known(label=[1, 1, 0])).history.tolist()
    assert counts(made(), truth).history.tolist() == expected
    assert counts(made(), csv(tmp_path, truth, "l.csv")).history.tolist() == expected


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.5, None])
def test_propensities_on_positives(rate):
    message = message_of(counts, made(), known(rate=[0.5, rate, None]))
    assert (
        "propensity column 'rate' of the data frame of positives has 1 values on positives that "
        "are not above 0 and at most 1 in 3 rows"
    ) in message


def test_no_label_yet(tmp_path):
    found = counts(made(), str(tmp_path / "confirmed-*.parquet"))
    assert found.found.label_rows == 0
    assert found.history.tolist() == [4, 4, 4, 4]
    assert described(made(), str(tmp_path / "confirmed-*.parquet")).labels == 0
    assert counts(made(), known().head(0)).found.label_rows == 0


def test_a_file_of_labels_by_name_must_be_there(tmp_path):
    assert "there is no file" in message_of(counts, made(), tmp_path / "confirmed.parquet")


def test_labels_without_time_count_at_every_moment():
    found = counts(made(), known(), label_columns=LabelColumns(id="id"))
    assert found.history.tolist() == [4, 8, 8, 8]
    assert (found.found.early_labels, found.delays.sum()) == (0, 0)


# Sources


def test_no_predictions(tmp_path):
    assert "no file matches" in message_of(counts, str(tmp_path / "p*.parquet"), known())
    (tmp_path / "empty.csv").write_text("")
    assert "is empty (0 bytes)" in message_of(counts, tmp_path / "empty.csv", known())
    message = message_of(described, made().head(0), known())
    assert message.startswith("the data frame of predictions has no rows: there is nothing to")
    assert counts(made().head(0), known()).rows.tolist() == []


def test_something_else_than_a_table():
    message = message_of(counts, 5, known())
    assert "the data frame of predictions is int, and what is read is a path" in message


def test_addresses_show_no_secret():
    message = message_of(counts, "ftp://me:canary@host/p.parquet?token=canary", known())
    assert "ftp://host/p.parquet is an address of the scheme ftp" in message
    assert "canary" not in message


# Time


def test_times_without_a_zone():
    naive = made(made=made()["made"].dt.tz_localize(None))
    message = message_of(counts, naive, known())
    assert re.search(
        r"time column 'made' of .* is stored as TIMESTAMP\S*, times without a", message
    )
    assert message.endswith("say the time_zone of predictions, for example time_zone: UTC")
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="UTC")
    assert counts(naive, known(), zoned).found.predictions == 4


def test_local_times_are_those_of_their_zone():
    local = made(made=made()["made"].dt.tz_convert("Asia/Tokyo").dt.tz_localize(None))
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Asia/Tokyo")
    assert counts(local, known(), zoned).found.predictions == 4


def test_text_without_an_offset(tmp_path):
    times = ["2026-01-05T01:00:00", "2026-01-05 02:00:00Z", "yesterday", "2026-01-05T04:00+01:00"]
    file = csv(tmp_path, made(made=times), "p.csv")
    message = message_of(counts, file, known())
    assert (
        "has 2 times that are missing, not in ISO 8601, or without an offset in 4 rows" in message
    )
    assert "'2026-01-05T01:00:00' (1 times), 'yesterday' (1 times)" in message
    assert "2026-01-31T08:30:00+00:00, or say the time_zone of predictions" in message


def test_text_with_a_zone_for_what_has_no_offset(tmp_path):
    times = ["2026-01-05T01:00:00", "2026-01-05 01:00:00Z", "2026-01-05", "2026-01-05T01:00-05:00"]
    file = csv(tmp_path, made(made=times), "p.csv")
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="America/New_York")
    source = open_source(file, zoned, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        assert source.span() == (START + timedelta(hours=1), START + timedelta(hours=6))


@pytest.mark.parametrize(("hour", "is_clear"), [("01:59", True), ("02:30", False), ("03:00", True)])
def test_a_local_time_that_comes_twice(hour, is_clear):
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    frame = made(made=[pd.Timestamp(f"2026-10-25 {hour}")] * 4)
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Europe/Berlin")
    source = open_source(frame, zoned, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        if is_clear:
            assert source.counts(request(start, start + DAY)).found.predictions == 4
            return
        message = message_of(source.counts, request(start, start + DAY))
    assert "has 4 times that are missing, or that the clocks of Europe/Berlin show twice" in message
    assert message.endswith("write such times in UTC")


def test_missing_times():
    times = [*made()["made"][:3], None]
    message = message_of(counts, made(made=times), known())
    assert "time column 'made'" in message
    assert "has 1 times that are missing or no times in 4 rows" in message
    assert "missing (1 times)" in message


def test_no_such_zone():
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Europe/Berln")
    message = message_of(counts, made(), known(), zoned)
    assert "which is no time zone; did you mean 'Europe/Berlin'?" in message


def test_whole_numbers_without_a_unit():
    seconds = [int(moment.timestamp()) for moment in made()["made"]]
    message = message_of(counts, made(made=seconds), known())
    assert "holds whole numbers such as 1767574800: say their time_unit" in message
    assert message.endswith("they look like seconds: time_unit: s")


def test_seconds_read_as_milliseconds():
    seconds = [int(moment.timestamp()) for moment in made()["made"]]
    columns = PredictionColumns(id="id", time="made", score="score", time_unit="ms")
    message = message_of(counts, made(made=seconds), known(), columns)
    assert "has 4 times of 4 looked at that are in the year 1970 when 1767574800 is read" in message
    assert message.endswith("they look like seconds: time_unit: s")


@pytest.mark.parametrize(
    ("unit", "per_second"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
)
def test_whole_numbers_in_their_unit(unit, per_second):
    since = [int(moment.timestamp()) * per_second for moment in made()["made"]]
    columns = PredictionColumns(id="id", time="made", score="score", time_unit=unit)
    source = open_source(made(made=since), columns, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        assert source.span() == (START + timedelta(hours=1), START + timedelta(hours=4))
        assert source.counts(request()).found.predictions == 4


def test_a_unit_for_what_is_no_whole_number():
    columns = PredictionColumns(id="id", time="made", score="score", time_unit="s")
    assert "a time_unit is for whole numbers: drop it" in message_of(
        counts, made(), known(), columns
    )


def test_times_ahead():
    later = made(made=[*made()["made"][:3], NOW + 3 * DAY])
    source = open_source(later, PREDICTIONS, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        message = message_of(source.span)
    assert message == (
        "time column 'made' of the data frame of predictions has 1 times more than a day ahead of "
        "now, the last 2026-01-28T00:00:00+00:00: check the clock that writes it, and its "
        "time_zone or time_unit"
    )
    message = message_of(described, made(), known(known=[START, NOW + 2 * DAY, START]))
    assert "known_at column 'known' of the data frame of positives has 1 times more than" in message
    # Clocks differ a little.
    described(made(made=[*made()["made"][:3], NOW + DAY / 2]), known())

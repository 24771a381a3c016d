"""What a monitor cannot use: one message that names source, column, number and remedy."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import timedelta

import pandas as pd
import polars as pl
import pytest

from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    SqlTable,
)
from tests.sources.small_tables import (
    DAY,
    START,
    counts,
    csv,
    described,
    known,
    made,
    message_of,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


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


@pytest.mark.parametrize("kind", ["parquet", "polars", "csv", "sqlite"])
def test_all_that_is_wrong_with_scores_is_told_at_once(tmp_path, kind):
    frame = pl.DataFrame(
        {
            "id": range(1, 8),
            "made": [START + timedelta(hours=hour) for hour in range(7)],
            "score": [0.9, float("nan"), float("inf"), 1.7, -0.2, None, 1.7],
        }
    )
    table: object = frame
    if kind == "parquet":
        frame.write_parquet(table := tmp_path / "p.parquet")
    elif kind == "csv":
        frame.write_csv(table := tmp_path / "p.csv")
    elif kind == "sqlite":
        # It has no NaN: what is none is missing there.
        frame = frame.with_columns(pl.col("score").fill_nan(float("inf")))
        url = f"sqlite:///{tmp_path / 'p.db'}"
        rows = frame.with_columns(pl.col("made").dt.strftime("%Y-%m-%dT%H:%M:%S%z"))
        rows.to_pandas().to_sql("made", url, index=False)
        table = SqlTable(url=url, table="made")
    # In a CSV file NaN stands for nothing.
    missing, infinite = (2, 1) if kind == "csv" else (1, 2)
    expected = (
        rf"score column 'score' of .* has {missing} values that are missing or no numbers in 7 "
        r"rows from 2026-01-05T00:00:00\+00:00 to 2026-01-06T00:00:00\+00:00: missing "
        rf"\({missing} times\); a row without a score was not scored; drop it or repair the "
        rf"scoring job\. It also has {infinite} values that are infinite or NaN: .*; clip the "
        r"scores, or drop the rows that were not scored\. It also has 3 values below 0 or above 1: "
        r"'1.7' \(2 times\), '-0.2' \(1 times\); write probabilities, or say score_scale: "
        r"unbounded"
    )
    assert re.fullmatch(expected, message_of(counts, table, known()))


def test_problems_of_several_columns_are_told_at_once(tmp_path):
    file = csv(tmp_path, known(id=["1", None, "3"], label=["1", "1", "2"]), "l.csv")
    assert message_of(counts, made(), file) == (
        f"id column 'id' of positives {file} has 1 ids that are missing or not whole numbers in 3 "
        "rows: missing (1 times); every row needs the id of its prediction. Label column 'label' "
        "has 1 values other than 1, 0 and -1: '2' (1 times); use 1 for a confirmed positive, -1 "
        "for a confirmed negative, 0 to retract an earlier row"
    )


def test_labels_of_long_before_their_prediction_do_not_count_and_are_counted():
    early = [START - 29 * DAY, START - timedelta(hours=20), START + 2 * DAY]
    found = counts(made(), known(known=early, label=[1, 1, 1], rate=[0.5] * 3))
    # Scores from the lowest: of ids 4, 3, 2 and 1.
    assert found.history.tolist() == [4, 7, 8, 4]
    assert (found.found.label_rows, found.found.early_labels, found.found.refused_labels) == (
        3,
        1,
        1,
    )
    assert found.found.predictions == found.rows.sum() == 4
    described_early = described(made(), known(known=early, label=[1, 1, 1], rate=[0.5] * 3))
    assert (described_early.confirmed, described_early.early, described_early.refused) == (3, 1, 1)
    assert min(described_early.delay_quantiles.values()) == -22 * 3600


def test_a_label_that_does_not_count_hides_none_that_does():
    labels = pd.DataFrame(
        {
            "id": [1, 1, 1, 2, 2],
            "known": [START - 9 * DAY, START + DAY / 2, START + 2 * DAY, START - 9 * DAY, START],
            "label": [-1, 1, 1, 1, 1],
            "rate": [None, 0.25, 0.5, 0.125, 0.5],
        }
    )
    found = counts(made(), labels)
    assert found.history.tolist() == [4, 4, 8, 8]
    assert found.propensity.tolist()[2:] == [0.5, 0.25]
    kept = asdict(found.found)
    assert (kept["refused_labels"], kept["retracted_labels"], kept["duplicate_labels"]) == (2, 0, 1)
    assert (kept["label_rows"], kept["early_labels"]) == (5, 1)


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


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"score": [0.9, float("nan"), 0.2, 0.1]},
            "score column 'score' of predictions {file} has 1 values that are missing or no "
            "numbers in 4 rows: missing (1 times); a row without a score was not scored; drop it "
            "or repair the scoring job",
        ),
        (
            {"score": [0.9, 80.0, 0.2, 0.1]},
            "score column 'score' of predictions {file} has 1 values below 0 or above 1 in 4 rows: "
            "'80.0' (1 times); write probabilities, or say score_scale: unbounded",
        ),
        (
            {"id": ["a", None, "c", "d"]},
            "id column 'id' of predictions {file} has 1 ids that are missing or not text in 4 "
            "rows: missing (1 times); every row needs the id of its prediction",
        ),
    ],
)
def test_a_look_at_the_tables_finds_what_a_window_would_be_refused_for(tmp_path, columns, expected):
    file = csv(tmp_path, made(**columns), "p.csv")
    labels = known(id=["a", "b", "c"]) if "id" in columns else known()
    assert message_of(described, file, labels) == expected.format(file=file)


def test_any_finite_score_if_they_are_unbounded():
    found = counts(made(score=[1e300, -1e300, 0.0, 7.0]), known(), score_scale="unbounded")
    assert found.rows.sum() == 4


# Ids


# Columns


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
    assert message.endswith("-1 for a confirmed negative, 0 to retract an earlier row")


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


def test_a_table_without_rows_needs_no_types(tmp_path):
    empty = pd.DataFrame({"id": [], "known": [], "label": [], "rate": []})
    pl.DataFrame(schema=dict.fromkeys(empty.columns, pl.Float64)).write_parquet(
        tmp_path / "l.parquet"
    )
    for labels in (empty, tmp_path / "l.parquet"):
        assert counts(made(), labels).found.label_rows == 0
        assert described(made(), labels).labels == 0
    message = message_of(described, pd.DataFrame({"id": [], "made": [], "score": []}), known())
    assert "has no rows: there is nothing to monitor" in message


def test_one_row():
    one = counts(made().head(1), known().head(1))
    assert (one.rows.tolist(), one.history.tolist()) == ([1], [7])
    assert described(made().head(1), known().head(1)).predictions == 1


def test_something_else_than_a_table():
    message = message_of(counts, 5, known())
    assert "the data frame of predictions is int, but it must be a path" in message


def test_addresses_show_no_secret():
    message = message_of(counts, "ftp://me:canary@host/p.parquet?token=canary", known())
    assert "ftp://host/p.parquet is an address of the scheme ftp" in message
    assert "canary" not in message

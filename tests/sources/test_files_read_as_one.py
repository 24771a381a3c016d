"""Files read as one table: a column is there in all of them and means the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest

from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from tests.sources.small_tables import (
    LABELS,
    PREDICTIONS,
    START,
    counts,
    message_of,
    opened,
    request,
)

ALL_COLUMNS = PredictionColumns(
    id="id", time="made", score="score", model_version="version", segments=("country",)
)
MADE = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "made": [datetime(2026, 1, 5, hour, tzinfo=UTC) for hour in (1, 2, 3, 4)],
        "score": [0.9, 0.8, 0.2, 0.1],
        "version": ["7", "7", "8", "8"],
        "country": ["DE", "FR", "DE", "FR"],
    }
)
KNOWN = pl.DataFrame(
    {
        "id": [1, 2, 3],
        "known": [START, START, START],
        "label": [1, 1, -1],
        "rate": [0.5, 0.5, 0.5],
    }
)


def written(folder, first, second, name="p"):
    """Two files and the pattern of both."""
    first.write_parquet(folder / f"{name}-1.parquet")
    second.write_parquet(folder / f"{name}-2.parquet")
    return str(folder / f"{name}-*.parquet")


def halves(table, column, dtype, folder, name="p"):
    second = table.tail(2).with_columns(pl.col(column).cast(dtype))
    return written(folder, table.head(2), second, name)


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("id", "id"),
        ("made", "time"),
        ("score", "score"),
        ("version", "model_version"),
        ("country", "segment"),
    ],
)
@pytest.mark.parametrize("vanished", [1, 2])
def test_a_column_that_a_file_lacks_is_not_read_as_missing(tmp_path, column, role, vanished):
    parts = [MADE.head(2), MADE.tail(2)]
    parts[vanished - 1] = parts[vanished - 1].drop(column)
    pattern = written(tmp_path, *parts)
    message = message_of(counts, pattern, KNOWN, ALL_COLUMNS)
    assert message.startswith(
        f"p-{vanished}.parquet of predictions {pattern} has no column '{column}' ({role})"
    )


@pytest.mark.parametrize(
    ("column", "role"), [("known", "known_at"), ("label", "label"), ("rate", "propensity")]
)
def test_a_column_that_a_file_of_labels_lacks(tmp_path, column, role):
    pattern = written(tmp_path, KNOWN.head(2), KNOWN.tail(1).drop(column), "l")
    message = message_of(counts, MADE, pattern)
    assert message.startswith(
        f"l-2.parquet of positives {pattern} has no column '{column}' ({role})"
    )


@pytest.mark.parametrize(
    ("column", "dtype", "stored"),
    [
        ("id", pl.String, "BIGINT"),
        ("id", pl.Float64, "BIGINT"),
        ("score", pl.String, "DOUBLE"),
        ("made", pl.Int64, "TIMESTAMP WITH TIME ZONE"),
        ("made", pl.Date, "TIMESTAMP WITH TIME ZONE"),
    ],
)
def test_types_that_do_not_agree(tmp_path, column, dtype, stored):
    pattern = halves(MADE, column, dtype, tmp_path)
    role = "time" if column == "made" else column
    message = message_of(counts, pattern, KNOWN)
    assert message.startswith(f"{role} column '{column}' of predictions {pattern} is stored as ")
    assert f"{stored} in 1 of 2 files (such as p-1.parquet)" in message
    assert "in 1 of 2 files (such as p-2.parquet)" in message
    assert message.endswith("): write it with one type in all of them")


def test_the_rarest_type_is_told_first(tmp_path):
    for number in range(5):
        MADE.write_parquet(tmp_path / f"p-{number}.parquet")
    MADE.with_columns(pl.col("id").cast(pl.String)).write_parquet(tmp_path / "p-9.parquet")
    message = message_of(counts, str(tmp_path / "p-*.parquet"), KNOWN)
    assert (
        "is stored as VARCHAR in 1 of 6 files (such as p-9.parquet) and as BIGINT in 5 of 6 files"
    ) in message


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        ("id", pl.Int32),
        ("score", pl.Float32),
        ("score", pl.Decimal(6, 3)),
        ("version", pl.Int64),
        ("country", pl.Categorical),
        ("made", pl.Datetime("ns", "UTC")),
        ("made", pl.Datetime("ms", "Asia/Tokyo")),
    ],
)
def test_types_that_mean_the_same_agree(tmp_path, column, dtype):
    found = counts(halves(MADE, column, dtype, tmp_path), KNOWN, ALL_COLUMNS)
    expected = counts(MADE, KNOWN, ALL_COLUMNS)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.model_version.tolist() == expected.model_version.tolist()
    assert found.segments["country"].tolist() == expected.segments["country"].tolist()
    assert found.history.tolist() == expected.history.tolist()


def test_labels_that_are_true_or_false_in_some_files(tmp_path):
    labels = written(
        tmp_path, KNOWN.head(1), KNOWN.tail(2).with_columns(label=pl.Series([True, False])), "l"
    )
    expected = counts(MADE, KNOWN.with_columns(label=pl.Series([1, 1, 0])))
    assert counts(MADE, labels).history.tolist() == expected.history.tolist()


def test_scores_in_32_bits_beside_scores_in_64_meet_the_same_threshold(tmp_path):
    """0.5 has the same digits in both, 0.7 has not."""
    table = MADE.with_columns(score=pl.Series([0.7, 0.1, 0.7, 0.1]))
    with opened(halves(table, "score", pl.Float32, tmp_path), KNOWN, PREDICTIONS, LABELS) as source:
        found = source.counts(replace(request(), threshold=0.7))
    above = found.cell % 2 == 1
    assert found.rows[above].sum() == 2
    assert found.upper[above].tolist() == [0.7] * int(above.sum())


def test_a_file_without_rows_has_no_say_about_types(tmp_path):
    nothing = pl.DataFrame(schema=dict.fromkeys(KNOWN.columns, pl.Float64))
    labels = written(tmp_path, nothing, KNOWN, "l")
    expected = counts(MADE, KNOWN)
    assert counts(MADE, labels).history.tolist() == expected.history.tolist()
    # Nor has one whose column holds nothing, of which a job knew no type.
    labels = written(
        tmp_path, KNOWN.head(2), KNOWN.tail(1).with_columns(rate=pl.lit(None)), "unknown"
    )
    columns = LabelColumns(id="id", known_at="known", label="label", propensity="rate")
    assert counts(MADE, labels, PREDICTIONS, columns).history.tolist() == expected.history.tolist()


@pytest.mark.parametrize("kept", [0.5, 0.95])
def test_a_file_that_is_cut_off_is_named(tmp_path, kept):
    pattern = written(tmp_path, MADE, MADE)
    file = tmp_path / "p-2.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(kept * len(whole))])
    message = message_of(counts, pattern, KNOWN)
    assert message.startswith(
        f"p-2.parquet of predictions {pattern} cannot be read: No magic bytes"
    )
    assert message.endswith(
        "it is cut off, or still being written: write it again, and rename it into place when it "
        "is complete. It may have rows of this window, which waits for it"
    )


def test_a_file_with_a_broken_footer_is_named(tmp_path):
    pattern = written(tmp_path, MADE, MADE)
    file = tmp_path / "p-1.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-60] + b"\xff" * 52 + whole[-8:])
    message = message_of(counts, pattern, KNOWN)
    assert message.startswith(f"p-1.parquet of predictions {pattern} cannot be read: ")
    assert "; it is damaged: write it again. It may have rows of this window" in message


def test_a_line_that_cannot_be_read_is_named_with_its_file(tmp_path):
    MADE.write_csv(tmp_path / "p-1.csv")
    (tmp_path / "p-2.csv").write_text("id,made,score,country\n1,2026-01-05T01:00Z,0.5\n")
    message = message_of(counts, str(tmp_path / "p-*.csv"), KNOWN)
    assert "cannot be read: p-2.csv, Line: 2" in message
    assert "Expected Number of Columns: 4 Found: 3" in message


def test_a_column_that_a_later_csv_lacks(tmp_path):
    MADE.write_csv(tmp_path / "p-1.csv")
    MADE.drop("score").write_csv(tmp_path / "p-2.csv")
    pattern = str(tmp_path / "p-*.csv")
    assert message_of(counts, pattern, KNOWN).startswith(
        f"p-2.csv of predictions {pattern} has no column 'score' (score)"
    )

"""Columns that are absent, stand twice, or hold what they should not."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pumonitor.sources.column_types.monitored_tables import (
    PredictionColumns,
)
from tests.sources.small_tables import (
    START,
    counts,
    csv,
    known,
    made,
    message_of,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


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
    assert message_of(counts, frame, known()) == (
        "the data frame of predictions has several columns named 'score': rename all but one"
    )


def test_columns_that_differ_in_case_only(tmp_path):
    (tmp_path / "p.csv").write_text(
        "Score,id,made,score\n0.9,1,2026-01-05T01:00Z,0.1\n0.9,2,2026-01-05T02:00Z,0.2\n"
    )
    assert counts(tmp_path / "p.csv", known()).upper.tolist() == [0.1, 0.2]
    pl.from_pandas(made(Score=0.5)).write_parquet(tmp_path / "p.parquet")
    assert message_of(counts, tmp_path / "p.parquet", known()) == (
        f"predictions {tmp_path / 'p.parquet'} has columns 'score' (score) and 'Score', which "
        "differ in case only: rename one of them"
    )
    columns = PredictionColumns(id="id", time="made", score="score", segments=("Score",))
    assert message_of(counts, made(Score="a"), known(), columns) == (
        "predictions name the columns 'score' and 'Score', which differ in case only: rename one"
    )


def test_names_of_columns_that_are_no_text():
    frame = made().set_axis([0, 1, 2], axis=1)
    assert message_of(counts, frame, known()) == (
        "the data frame of predictions has no column 'id'; its columns are 0, 1, 2"
    )


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


@pytest.mark.parametrize("value", ["a\0b", "b\0"])
@pytest.mark.parametrize("role", ["segment", "model_version"])
def test_text_with_a_nul_character(role, value):
    frame = made(which=["b", value, "b", value])
    columns = {"segments": ("which",)} if role == "segment" else {"model_version": "which"}
    message = message_of(
        counts, frame, known(), PredictionColumns(id="id", time="made", score="score", **columns)
    )
    assert message == (
        f"{role} column 'which' of the data frame of predictions has 2 values that hold a NUL "
        "character in 4 rows from 2026-01-05T00:00:00+00:00 to 2026-01-06T00:00:00+00:00: "
        f"{value!r} (2 times); databases do not store it: remove it where the rows are written"
    )


def test_categories_arrow_and_nullable_types_are_read():
    plain = made(kind=["a", "b", "a", None])
    polars = pl.from_pandas(plain)
    columns = PredictionColumns(id="id", time="made", score="score", segments=("kind",))
    for frame in (
        plain.astype({"kind": "category", "id": "Int64", "score": "Float64"}),
        plain.convert_dtypes(dtype_backend="pyarrow"),
        polars.with_columns(pl.col("kind").cast(pl.Categorical)),
        polars.with_columns(pl.col("kind").cast(pl.Enum(["a", "b"]))),
        polars.with_columns(pl.col("kind").cast(pl.Categorical)).to_arrow(),
        polars.lazy(),
    ):
        found = counts(frame, known(), columns)
        assert set(found.segments["kind"]) == {"", "a", "b"}
        assert (found.found.predictions, found.found.label_rows) == (4, 3)


def test_a_type_that_is_not_read():
    table = pa.table(
        {
            "id": [1],
            "made": [START],
            "score": pa.array([0.5], pa.float32()).cast(pa.float16()),
        }
    )
    message = message_of(counts, table, known())
    assert "a column of a type that is not read here: cast it; there are 'id' int64" in message
    assert message.endswith("'score' halffloat")

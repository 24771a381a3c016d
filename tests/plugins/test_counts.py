import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pumonitor_mlflow.counts import as_score_table

from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

COUNTS = {
    "lower": [0.5, 0.0, 0.9],
    "upper": [0.8, 0.4, 0.9],
    "labeled": [3, 1, 7],
    "unlabeled": [20, 90, 2],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_counts_is_read_in_any_order(frame: type) -> None:
    table = as_score_table(frame(COUNTS))
    assert table.lower.tolist() == [0.0, 0.5, 0.9]
    assert table.labeled.tolist() == [1, 3, 7]
    assert (table.n_labeled, table.n_unlabeled, table.n_negative) == (11, 112, 0)


def test_confirmed_negatives_may_be_counted_too() -> None:
    table = as_score_table(pd.DataFrame({**COUNTS, "negative": [0, 4, 1]}))
    assert table.negative.tolist() == [4, 0, 1]


def test_a_score_table_is_taken_as_it_is_and_its_dict_reads_back() -> None:
    table = ScoreTable.from_counts([1, 4], [9, 1], edges=[0.0, 0.5, 1.0])
    assert as_score_table(table) is table
    assert as_score_table(table.to_dict()).labeled.tolist() == [1, 4]


def test_missing_columns_are_named_beside_those_there_are() -> None:
    frame = pd.DataFrame({"bin": [1], "labeled": [2], "unlabeled": [3]})
    with pytest.raises(
        InputError, match="table lacks the columns lower, upper: it has bin, labeled, unlabeled"
    ):
        as_score_table(frame)


def test_columns_of_no_meaning_are_refused() -> None:
    with pytest.raises(
        InputError,
        match="unknown columns: country; if they divide the cells, sum the counts over them",
    ):
        as_score_table(pd.DataFrame({**COUNTS, "country": ["at", "at", "at"]}))


def test_a_missing_count_is_refused_rather_than_taken_for_zero() -> None:
    frame = pd.DataFrame({**COUNTS, "labeled": [3, None, 7]})
    with pytest.raises(InputError, match="labeled must be counts >= 0: 1 of 3 cells are not"):
        as_score_table(frame)


def test_anything_else_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a ScoreTable, a mapping or a data frame .* int"):
        as_score_table(12)

"""Every format gives the table that the same rows give in memory."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from pumonitor import ScoreTable
from pumonitor.sources import read_score_table

THRESHOLD = 0.5
LABELS = [1, 0, 0, 1, 0, 0, 1, 0, -1, 0]
SCORES = [0.9, 0.8, 0.75, 0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.125]


def same_tables(left: ScoreTable, right: ScoreTable) -> bool:
    columns = ("lower", "upper", "labeled", "unlabeled", "negative")
    return all(np.array_equal(getattr(left, c), getattr(right, c)) for c in columns)


@pytest.fixture
def expected() -> ScoreTable:
    return ScoreTable.from_arrays(LABELS, SCORES, thresholds=[THRESHOLD])


def read(path, **options) -> ScoreTable:
    return read_score_table(
        path, **{"labels": "y", "scores": "s", "threshold": THRESHOLD} | options
    )


def csv_text(delimiter: str = ",") -> str:
    lines = [f"id{delimiter}y{delimiter}s"]
    lines += [
        f"a{i}{delimiter}{y}{delimiter}{s}"
        for i, (y, s) in enumerate(zip(LABELS, SCORES, strict=True))
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_with_any_usual_delimiter(tmp_path, expected, delimiter):
    file = tmp_path / "scored.csv"
    file.write_text(csv_text(delimiter))
    assert same_tables(read(file), expected)


def test_compressed_csv_with_windows_line_ends_and_byte_order_mark(tmp_path, expected):
    file = tmp_path / "scored.csv.gz"
    file.write_bytes(gzip.compress(b"\xef\xbb\xbf" + csv_text().replace("\n", "\r\n").encode()))
    assert same_tables(read(file), expected)
    first_column = tmp_path / "bom.csv"
    first_column.write_bytes(b"\xef\xbb\xbfy,s\n1,0.9\n0,0.4\n1,0.3\n")
    assert read(first_column).n_labeled == 2


@pytest.mark.parametrize(
    ("label_type", "score_type"),
    [
        (pa.int64(), pa.float64()),
        (pa.int8(), pa.float32()),
        (pa.float32(), pa.decimal128(9, 4)),
    ],
)
def test_parquet_with_any_numeric_types(tmp_path, label_type, score_type):
    labels, scores = [1, 0, 1, 0, -1], [0.5, 0.25, 0.75, 0.5, 0.125]
    columns = {"y": pa.array(labels).cast(label_type), "s": pa.array(scores).cast(score_type)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "scored.parquet")
    expected = ScoreTable.from_arrays(labels, scores, thresholds=[THRESHOLD])
    assert same_tables(read(tmp_path / "scored.parquet"), expected)


def test_booleans_are_labels_in_parquet_and_in_csv(tmp_path):
    pa.parquet.write_table(
        pa.table({"y": [True, False, True], "s": [0.9, 0.2, 0.4]}), tmp_path / "scored.parquet"
    )
    (tmp_path / "scored.csv").write_text("y,s\nTrue,0.9\nfalse,0.2\nTRUE,0.4\n")
    assert same_tables(read(tmp_path / "scored.parquet"), read(tmp_path / "scored.csv"))


def test_float32_scores_meet_the_threshold_as_in_numpy(tmp_path):
    scores = pa.array([0.7, 0.6, 0.7, 0.9], type=pa.float32())
    pa.parquet.write_table(pa.table({"y": [1, 1, 0, 0], "s": scores}), tmp_path / "a.parquet")
    for max_rows in (100, 0):
        table = read(tmp_path / "a.parquet", threshold=0.7, max_rows_exact=max_rows)
        first = table.index_of_threshold(0.7)
        assert (table.labeled[first:].sum(), table.unlabeled[first:].sum()) == (1, 2)


def test_a_glob_reads_files_of_different_layout_as_one_table(tmp_path, expected):
    rows = list(zip(LABELS, SCORES, strict=True))
    (tmp_path / "part1.csv").write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in rows[:4]))
    (tmp_path / "part2.csv").write_text("s;x;y\n" + "".join(f"{s};;{y}\n" for y, s in rows[4:]))
    assert same_tables(read(tmp_path / "part*.csv"), expected)


def test_a_name_with_brackets_is_meant_literally(tmp_path, expected):
    (tmp_path / "scored[1].csv").write_text(csv_text())
    assert same_tables(read(tmp_path / "scored[1].csv"), expected)


def test_column_names_are_identifiers_not_sql(tmp_path):
    name = "a \"quoted\" 'name'); DROP TABLE x; --"
    pa.parquet.write_table(
        pa.table({"y": [1, 0, 1], name: [0.9, 0.2, 0.4]}), tmp_path / "scored.parquet"
    )
    assert read(tmp_path / "scored.parquet", scores=name).n_labeled == 2


def test_columns_that_differ_by_case_are_told_apart(tmp_path):
    columns = [pa.array([1, 0, 1]), pa.array([0.1, 0.2, 0.3]), pa.array([7.0, 8.0, 9.0])]
    pa.parquet.write_table(pa.table(columns, names=["y", "s", "S"]), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").upper[-1] == 0.3
    assert read(tmp_path / "a.parquet", scores="S").upper[-1] == 9.0


def test_a_nested_column_does_not_shift_the_others(tmp_path):
    table = pa.table({"x": [{"a": 1, "b": 2}] * 3, "y": [1, 0, 1], "s": [0.9, 0.2, 0.4]})
    pa.parquet.write_table(table, tmp_path / "nested.parquet")
    assert read(tmp_path / "nested.parquet").n_labeled == 2


def test_weights_and_propensities_are_read_exactly(tmp_path):
    weights = [1.5, 2.0, 1.0, 0.5, 3.0, 1.0, 2.5, 1.0, 1.0, 0.25]
    chances = [0.5, None, None, 0.25, None, None, 1.0, None, None, None]
    columns = {"y": LABELS, "s": SCORES, "w": weights, "e": chances}
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    known = [1.0 if chance is None else chance for chance in chances]
    expected = ScoreTable.from_arrays(
        LABELS, SCORES, thresholds=[THRESHOLD], sample_weight=weights, propensity=known
    )
    exact = read(tmp_path / "a.parquet", sample_weight="w", propensity="e")
    binned = read(tmp_path / "a.parquet", sample_weight="w", propensity="e", max_rows_exact=0)
    for table in (exact, binned):
        assert same_tables(table, expected)
        np.testing.assert_array_equal(table.labeled_squares, expected.labeled_squares)
        np.testing.assert_array_equal(table.labeled_cross, expected.labeled_cross)
        np.testing.assert_array_equal(table.labeled_mass_squares, expected.labeled_mass_squares)
        np.testing.assert_array_equal(table.unlabeled_squares, expected.unlabeled_squares)
        np.testing.assert_array_equal(table.negative_squares, expected.negative_squares)


def test_progress_is_reported_to_the_end_of_each_step(tmp_path):
    (tmp_path / "scored.csv").write_text(csv_text())
    seen: list[tuple[str, float]] = []
    read(tmp_path / "scored.csv", progress=lambda step, done: seen.append((step, done)))
    finished = [step for step, done in seen if done == 1.0]
    assert finished == ["Checking rows", "Reading rows"]


def test_doctest_example_path_objects_and_strings_are_equal(tmp_path, expected):
    (tmp_path / "scored.csv").write_text(csv_text())
    assert same_tables(read(str(tmp_path / "scored.csv")), read(Path(tmp_path) / "scored.csv"))
    assert same_tables(read(tmp_path / "scored.csv"), expected)

"""Rows keep their order, whatever the files' types are for one score or the other."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pumonitor.errors import InputError
from pumonitor.sources.one_table.scored_rows import read_scored_rows


def test_rows_of_many_files_and_types_stay_together(tmp_path):
    rng = np.random.default_rng(1)
    labels, old, new = [], [], []
    # The types of `new` alternate from file to file, those of `old` do not.
    for part, kind in enumerate([np.float64, np.float32, np.float64, np.float32]):
        size = 50_000 + part
        labels.append(rng.integers(-1, 2, size))
        old.append(rng.normal(size=size))
        new.append(rng.normal(size=size).astype(kind))
        table = pa.table({"y": labels[-1], "old": old[-1], "new": new[-1]})
        pa.parquet.write_table(table, tmp_path / f"{part}.parquet", row_group_size=7000)
    rows = read_scored_rows(tmp_path / "*.parquet", labels="y", thresholds={"old": 0.5, "new": 0.5})
    assert np.array_equal(rows.labels, np.concatenate(labels))
    assert np.array_equal(rows.scores["old"], np.concatenate(old))
    assert np.array_equal(rows.scores["new"], np.concatenate(new).astype(float))
    assert rows.sample_weight is None
    assert rows.propensity is None


def test_csv_rows_with_weights(tmp_path):
    file = tmp_path / "scored.csv"
    file.write_text("y,a,b,w,e\n1,0.1,0.2,2,0.5\n0,0.3,0.4,1,\n1,0.6,0.5,3,0.25\n")
    rows = read_scored_rows(
        file,
        labels="y",
        thresholds={"b": 0.5, "a": 0.5},
        sample_weight="w",
        propensity="e",
    )
    assert list(rows.scores) == ["b", "a"]
    assert rows.scores["a"].tolist() == [0.1, 0.3, 0.6]
    assert rows.sample_weight.tolist() == [2, 1, 3]
    assert rows.propensity[[0, 2]].tolist() == [0.5, 0.25]
    assert np.isnan(rows.propensity[1])


def test_each_threshold_is_met_by_its_own_32_bit_scores(tmp_path):
    file = tmp_path / "scored.parquet"
    narrow = np.array([0.7, 0.1, 0.9, 0.2], dtype=np.float32)
    pa.parquet.write_table(pa.table({"y": [1, 0, 1, 0], "a": narrow, "b": narrow[::-1]}), file)
    rows = read_scored_rows(file, labels="y", thresholds={"a": 0.7, "b": 0.1})
    assert (rows.scores["a"] >= 0.7).tolist() == [True, False, True, False]
    assert (rows.scores["b"] >= 0.1).tolist() == [True, True, True, True]


def test_32_bit_scores_without_a_threshold_stay_as_they_are(tmp_path):
    file = tmp_path / "scored.parquet"
    narrow = np.array([0.7, 0.1, 0.9, 0.2], dtype=np.float32)
    pa.parquet.write_table(pa.table({"y": [1, 0, 1, 0], "a": narrow, "b": narrow}), file)
    rows = read_scored_rows(file, labels="y", thresholds={"a": 0.7, "b": None})
    assert rows.scores["a"][0] == 0.7
    assert np.array_equal(rows.scores["b"], narrow.astype(float))


def test_a_missing_score_of_the_second_model_is_refused(tmp_path):
    file = tmp_path / "scored.csv"
    file.write_text("y,a,b\n1,0.1,0.2\n0,0.3,\n1,0.6,0.5\n")
    with pytest.raises(InputError, match=r"scores column 'b' of .* has 1 missing values"):
        read_scored_rows(file, labels="y", thresholds={"a": 0.5, "b": 0.5})

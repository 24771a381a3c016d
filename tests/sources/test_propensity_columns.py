"""Propensities in files: the same table as from arrays, whole or by score bin."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.sources import read_score_table

THRESHOLD = 0.5
LABELS = np.array([1, 0, 1, 0, 1, 0, 0, -1, 1, 0])
SCORES = np.array([0.9, 0.8, 0.7, 0.65, 0.6, 0.45, 0.4, 0.35, 0.3, 0.1])
CHANCE = [0.9, 0.5, 0.02, 0.0, 0.5, 0.25, 0.0, 0.5, 0.05, 0.1]
WEIGHT = [1.0, 2.0, 3.0, 1.0, 1.0, 2.5, 1.5, 1.0, 2.0, 1.0]
SETTINGS = {"detection_rate": 0.8, "min_propensity": 0.1}


def write(folder, chance):
    columns = {"y": LABELS, "s": SCORES, "w": WEIGHT, "e": pa.array(chance, pa.float64())}
    pa.parquet.write_table(pa.table(columns), folder / "a.parquet")
    return folder / "a.parquet"


def read(file, **options):
    return read_score_table(file, labels="y", scores="s", threshold=THRESHOLD, **options)


@pytest.mark.parametrize("max_rows", [100, 0])
def test_a_column_with_zeros_gives_the_table_of_the_arrays(tmp_path, max_rows):
    file = write(tmp_path, CHANCE)
    options = {"sample_weight": "w", "propensity": "e", "max_rows_exact": max_rows}
    found = read(file, **options, **SETTINGS)
    expected = ScoreTable.from_arrays(
        LABELS, SCORES, thresholds=[THRESHOLD], sample_weight=WEIGHT, propensity=CHANCE, **SETTINGS
    )
    assert found.labeled.tolist() == pytest.approx(expected.labeled.tolist(), abs=1e-12)
    assert found.labeled_cross.tolist() == pytest.approx(expected.labeled_cross.tolist(), abs=1e-12)
    assert found.propensities.lifted == expected.propensities.lifted == 2
    assert found.propensities.largest_weight == pytest.approx(30.0)
    assert found.propensities.min_propensity == 0.1
    assert found.chances.expected.tolist() == pytest.approx(expected.chances.expected.tolist())
    assert found.chances.reviewable.tolist() == expected.chances.reviewable.tolist()
    assert found.never_reviewed_share == pytest.approx(2.5 / 8.0)


@pytest.mark.parametrize("max_rows", [100, 0])
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_what_is_not_known_of_all_rows_is_not_reported(tmp_path, max_rows, missing):
    chance = [*CHANCE[:5], missing, *CHANCE[6:]]
    found = read(write(tmp_path, chance), propensity="e", max_rows_exact=max_rows)
    assert found.never_reviewed_share is None
    assert found.labeled.sum() == pytest.approx(1 / 0.9 + 50 + 2 + 20)


@pytest.mark.parametrize("max_rows", [100, 0])
def test_one_number_serves_all_rows(tmp_path, max_rows):
    found = read(write(tmp_path, CHANCE), propensity=0.5, max_rows_exact=max_rows)
    assert found.labeled.sum() == 8
    assert found.labeled_mass.sum() == 4
    assert found.chances.expected.sum() == pytest.approx(2.5)


def test_a_labeled_row_of_propensity_0_is_refused_in_words(tmp_path):
    file = write(tmp_path, [0.9, 0.5, 0.0, *CHANCE[3:]])
    with pytest.raises(InputError) as refused:
        read(file, propensity="e")
    said = str(refused.value)
    assert "propensity column 'e'" in said
    assert "1 labeled rows of propensity 0 in 10 rows" in said
    assert "first in row 3; a row that had no chance of being labeled was labeled" in said

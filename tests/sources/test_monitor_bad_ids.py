"""Ids of predictions and labels that cannot be matched, or only just."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import pandas as pd
import pytest

from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
)
from tests.sources.small_tables import (
    PREDICTIONS,
    START,
    counts,
    csv,
    known,
    made,
    message_of,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


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


def test_ids_beyond_64_bits(tmp_path):
    file = csv(tmp_path, made(id=[2**63, 2, 3, 4]), "p.csv")
    message = message_of(counts, file, known())
    assert "has 1 ids that are missing or not whole numbers in 4 rows" in message
    assert "'9223372036854775808' (1 times)" in message
    assert message.endswith("must fit into 64 bits with their sign: cast both ids to text")


def test_keys_that_do_not_fit_are_counted_and_nothing_is_lost_or_counted_twice():
    """Repeated and contradicting predictions, many labels each, early and orphaned ones."""
    hours = [START + timedelta(hours=hour) for hour in range(24)]
    predictions = pd.DataFrame(
        {
            "id": [1, 1, 1, 2, 3, 4],
            "made": [hours[1], hours[2], hours[3], hours[4], hours[5], hours[6]],
            "score": [0.9, 0.9, 0.4, 0.8, 0.2, 0.1],
        }
    )
    labels = pd.DataFrame(
        {
            "id": [1, 1, 2, 2, 3, 77, 78],
            "known": [hours[10], hours[11], hours[2], hours[12], hours[13], hours[14], hours[15]],
            "label": [1, 1, 1, 1, -1, 1, 1],
        }
    )
    columns = LabelColumns(id="id", known_at="known", label="label")
    found = counts(predictions, labels, PREDICTIONS, columns)
    # One row for each of the ids 1 to 4: the first of id 1, with 0.9.
    assert found.rows.tolist() == [1, 1, 1, 1]
    assert found.lower.tolist() == [0.1, 0.2, 0.8, 0.9]
    # Unlabeled, confirmed negative, positive, positive at both moments asked for.
    assert found.history.tolist() == [4, 0, 8, 8]
    assert asdict(found.found) == {
        "predictions": 4,
        "duplicate_predictions": 1,
        "conflicting_predictions": 1,
        "label_rows": 5,
        "duplicate_labels": 2,
        "conflicting_labels": 0,
        "retracted_labels": 0,
        "early_labels": 1,
        "refused_labels": 0,
        "late_labels": 0,
        "orphan_labels": 2,
    }


def test_ids_with_a_nul_character_are_told_apart():
    frame, labels = made(id=["a", "a\0", "a\0b", "c"]), known(id=["a\0", "a\0b", "x"])
    found = counts(frame, labels).found
    assert (found.predictions, found.duplicate_predictions, found.label_rows) == (4, 0, 2)

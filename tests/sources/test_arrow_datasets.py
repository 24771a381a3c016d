"""Arrow datasets give the counts of their rows, and read no more files than a window needs."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from tests.sources.lake_tables import arrow_of, delta_table
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

START = datetime(2026, 3, 10, tzinfo=UTC)
DAY = timedelta(days=1)


def dataset(folder, *tables):
    """Each table a file."""
    folder.mkdir()
    for place, table in enumerate(tables):
        pq.write_table(table, folder / f"{place}.parquet")
    return ds.dataset(folder)


def test_counts_are_those_of_frames(tmp_path):
    made, known = predictions(), labels()
    rows = arrow_of(made)
    half = rows.num_rows // 2
    datasets = (
        dataset(tmp_path / "made", rows.slice(0, half), rows.slice(half)),
        dataset(tmp_path / "known", arrow_of(known)),
    )
    with closing(opened(made, known)) as source:
        expected, span, described = source.counts(REQUEST), source.span(), source.describe()
    for tables in (datasets, (datasets[0], known), (made, datasets[1])):
        with closing(opened(*tables)) as source:
            counts, seen = source.counts(REQUEST), source.describe()
            assert_equal(counts, expected)
            assert source.span() == span
            assert (seen.predictions, seen.labels) == (described.predictions, described.labels)
        # Nothing tells which rows these files hold now.
        assert set(counts.versions) == {"read_by"}


def day(number: int, unit: str) -> pa.Table:
    at = START + number * DAY
    kind = {
        "us": pa.timestamp("us", "UTC"),
        "s": pa.timestamp("s", "Europe/Berlin"),
        "naive": pa.timestamp("ms"),
        "date": pa.date32(),
        "whole": pa.int64(),
    }[unit]
    value = int(at.timestamp()) if unit == "whole" else at
    if unit in {"naive", "date"}:
        value = at.replace(tzinfo=None)
    return pa.table(
        {
            "id": pa.array([number], pa.int64()),
            "at": pa.array([value], kind),
            "score": [0.1 * number],
        }
    )


@pytest.mark.parametrize("unit", ["us", "s", "naive", "date", "whole"])
def test_files_of_other_days_are_passed_over(tmp_path, unit):
    made = dataset(tmp_path / "made", *(day(number, unit) for number in range(6)))
    known = pa.table({"id": pa.array([2], pa.int64()), "at": pa.array([START + 9 * DAY])})
    columns = PredictionColumns(
        id="id",
        time="at",
        score="score",
        time_zone="UTC" if unit in {"naive", "date"} else None,
        time_unit="s" if unit == "whole" else None,
    )
    request = CountRequest(
        window=Window(start=START + 2 * DAY, end=START + 4 * DAY, index=0),
        as_of=(START + 30 * DAY,),
        threshold=0.5,
    )
    source = open_source(made, columns, known, LabelColumns(id="id", known_at="at"), orphans="skip")
    # Reading any of the others would fail.
    for number in (0, 5):
        file = tmp_path / "made" / f"{number}.parquet"
        whole = file.read_bytes()
        file.write_bytes(b"PAR1" + b"\0" * 40 + whole[44:])
    with closing(source):
        counts = source.counts(request)
    assert counts.lower.tolist() == pytest.approx([0.2, 0.3])
    assert counts.history.sum() > 0


def test_files_of_a_table_of_a_lake_are_refused_with_its_line(tmp_path):
    delta_table(tmp_path / "made", arrow_of(predictions()))
    parts = ds.dataset([str(one) for one in (tmp_path / "made").glob("*.parquet")])
    with pytest.raises(InputError, match=r"the Arrow dataset of predictions.*delta://"):
        opened(parts, labels())

"""Rows of Iceberg that are deleted by their values do not count, and all others do."""

from __future__ import annotations

import math
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyiceberg.types import LongType, StringType

from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.opening import open_source
from pumonitor.sources.reach import session
from tests.sources.iceberg_commits import NEW, Deleted, commit, deletion_vector
from tests.sources.lake_tables import iceberg_catalog, iceberg_table

START = datetime(2026, 3, 10, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    return iceberg_catalog(tmp_path / "lake", monkeypatch)


def made(ids, *, day=0, score=0.5):
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "at": pa.array([START + day * DAY] * len(ids), pa.timestamp("us", "UTC")),
            "score": pa.array([score] * len(ids), pa.float64()),
        }
    )


def by_id(*ids, fields=(1,), **how):
    return Deleted(rows=pa.table({"key": pa.array(ids, pa.int64())}), fields=fields, **how)


def rows_of(address, *names, **how):
    read = pa.table(open_lake(address).load(names or ["id"], **how))
    return sorted(zip(*(read[name].to_pylist() for name in read.column_names), strict=True))


def ids_of(address, **how):
    return [one for (one,) in rows_of(address, **how)]


@pytest.mark.parametrize("counted", [True, False])
def test_rows_are_deleted_from_what_was_there_before(catalog, counted):
    address = iceberg_table(catalog, "made", made([1, 2, 3, 2]), files=2)
    table = catalog.load_table("fraud.made")
    commit(table, values=[by_id(2, 9)], counted=counted)
    assert ids_of(address) == [1, 3]
    table.append(made([2]))
    assert ids_of(address) == [1, 2, 3]
    commit(table, values=[by_id(3), by_id(1)])
    assert ids_of(address) == [2]


def test_what_is_written_together_with_a_delete_stays(catalog):
    """A row is replaced in one commit, again and again: only the newest counts."""
    address = iceberg_table(catalog, "made", made([1, 2, 3], score=0.1), files=1)
    table = catalog.load_table("fraud.made")
    for score in (0.2, 0.3):
        commit(table, rows=made([1, 3, 4], score=score), values=[by_id(1, 3, 4)])
    assert rows_of(address, "id", "score") == [(1, 0.3), (2, 0.1), (3, 0.3), (4, 0.3)]


def test_a_row_that_is_written_twice_in_one_commit_is_deleted_by_position(catalog):
    """Flink deletes what came before by value, and what its own commit wrote by position."""
    address = iceberg_table(catalog, "made", made([1, 2], score=0.1), files=1)
    table = catalog.load_table("fraud.made")
    both = pa.concat_tables([made([1], score=0.2), made([1], score=0.3)])
    commit(table, rows=both, values=[by_id(1)], positions={NEW: [0]})
    assert rows_of(address, "id", "score") == [(1, 0.3), (2, 0.1)]


def test_both_kinds_of_deletes_hit_the_same_file(catalog):
    address = iceberg_table(catalog, "made", made([1, 2, 3, 4, 5]), files=1)
    table = catalog.load_table("fraud.made")
    commit(table, positions={0: [0, 1]})
    commit(table, values=[by_id(2, 3)], positions={0: [4]})
    assert ids_of(address) == [4]


MOMENT = datetime(2026, 3, 10, 1, 2, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "kept", "gone"),
    [
        (pa.int32(), [1, 3], [2]),
        (pa.int64(), [2**62 + 1], [2**62, None]),
        (pa.string(), ["a", "A ", "A", "á", "0"], ["a ", "", None]),
        (pa.bool_(), [False], [True]),
        (pa.date32(), [date(2026, 3, 11)], [date(2026, 3, 10), None]),
        (pa.time64("us"), [MOMENT.time()], [MOMENT.replace(microsecond=5).time()]),
        (pa.timestamp("us", "UTC"), [MOMENT], [MOMENT + timedelta(microseconds=1), None]),
        (pa.timestamp("us"), [datetime(1969, 1, 1)], [datetime(9999, 12, 31), None]),  # noqa: DTZ001
        (pa.decimal128(30, 2), [Decimal("1.01")], [Decimal("1.00"), Decimal("-0.01")]),
        (pa.binary(), [b"\xff", b"a"], [b"", b"\xff\x00", None]),
        (pa.binary(3), [b"abc"], [b"abd"]),
        (pa.uuid(), [bytes(16)], [bytes(15) + b"\x01", None]),
        (pa.float64(), [0.0, 0.1 + 0.2, None], [-0.0, 0.3, math.nan, 5e-324]),
        (pa.float32(), [0.0, 0.25], [-0.0, 0.5, math.nan, None]),
    ],
)
def test_values_of_each_type(catalog, kind, kept, gone):
    """Missing values are deleted by missing ones, and zeros by zeros of their sign."""
    values = pa.array([*kept, *gone], kind)
    address = iceberg_table(
        catalog, "made", pa.table({"id": range(len(values)), "key": values}), files=1
    )
    table = catalog.load_table("fraud.made")
    commit(table, values=[Deleted(rows=pa.table({"key": pa.array(gone, kind)}), fields=[2])])
    assert ids_of(address) == list(range(len(kept)))
    # Also where the column is asked for itself.
    read = pa.table(open_lake(address).load(["key"]))["key"].to_pylist()
    assert sorted(map(repr, read)) == sorted(map(repr, pa.array(kept, kind).to_pylist()))


def test_several_columns_are_compared_together(catalog):
    rows = pa.table({"id": [1, 1, 2, 2], "part": ["a", None, "a", None], "score": [0.5] * 4})
    address = iceberg_table(catalog, "made", rows, files=1)
    table = catalog.load_table("fraud.made")
    values = pa.table({"x": pa.array(["a", None], pa.string()), "y": pa.array([1, 2], pa.int64())})
    commit(table, values=[Deleted(rows=values, fields=[2, 1])])
    assert rows_of(address, "id", "score", "part") == [(1, 0.5, None), (2, 0.5, "a")]


def test_columns_that_are_not_compared_say_nothing(catalog):
    """Flink writes whole rows; their times are no range of what they delete."""
    address = iceberg_table(catalog, "made", made([1, 2]), files=1)
    table = catalog.load_table("fraud.made")
    later = made([1], day=30).rename_columns(["a", "b", "c"])
    commit(table, values=[Deleted(rows=later, fields=[1, 2, 3], compared=[1])])
    assert ids_of(address) == [2]
    assert ids_of(address, time="at", bounds=(START, START + DAY)) == [2]


def test_columns_of_other_names_and_types_by_now(catalog):
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "other": ["a", "b", "c"]})
    address = iceberg_table(catalog, "made", rows, files=1)
    table = catalog.load_table("fraud.made")
    early = pa.table({"id": pa.array([1], pa.int32())})
    commit(table, values=[Deleted(rows=early, fields=[1])])
    with table.update_schema() as update:
        update.update_column("id", LongType())
    with table.update_schema() as update:
        update.rename_column("id", "case")
    with table.update_schema() as update:
        update.rename_column("other", "id")
    commit(table, values=[by_id(3)])
    assert rows_of(address, "case", "id") == [(2, "b")]


def test_a_column_that_was_dropped_is_still_compared(catalog):
    """Even where a column of its name has come back."""
    rows = pa.table({"id": [1, 2], "key": ["a", "b"]})
    address = iceberg_table(catalog, "made", rows, files=1)
    table = catalog.load_table("fraud.made")
    commit(table, values=[Deleted(rows=pa.table({"key": ["a"]}), fields=[2])])
    with table.update_schema() as update:
        update.delete_column("key")
    assert ids_of(address) == [2]
    with table.update_schema() as update:
        update.add_column("key", StringType())
    table.append(pa.table({"id": [3], "key": ["a"]}))
    assert rows_of(address, "id") == [(2,), (3,)]
    assert pa.table(open_lake(address).load(["key"]))["key"].to_pylist() in (
        [None, "a"],
        ["a", None],
    )


def test_a_column_that_came_later_is_missing_in_older_rows(catalog):
    address = iceberg_table(catalog, "made", pa.table({"id": [1, 2]}), files=1)
    table = catalog.load_table("fraud.made")
    with table.update_schema() as update:
        update.add_column("key", StringType())
    table.append(pa.table({"id": [3, 4], "key": ["a", None]}))
    gone = pa.table({"key": pa.array([None], pa.string())})
    commit(table, values=[Deleted(rows=gone, fields=[2])])
    assert ids_of(address) == [3]


@pytest.fixture
def parted(catalog):
    """Rows of two countries, a partition each, on which 1 and 2 are in both."""
    rows = pa.table({"id": [1, 2, 1, 2, 7], "country": ["DE", "DE", "FR", "FR", None]})
    table = catalog.create_table("fraud.made", rows.schema)
    with table.update_spec() as update:
        update.add_identity("country")
    table.append(rows)
    return table


def test_a_delete_holds_in_its_own_partition(parted):
    spec = parted.metadata.default_spec_id
    commit(parted, values=[by_id(1, partition=("DE",), spec=spec)])
    found = [(1, "FR"), (2, "DE"), (2, "FR"), (7, None)]
    address = "iceberg://lake/fraud.made"
    assert sorted(rows_of(address, "id", "country"), key=str) == found
    commit(parted, values=[by_id(7, partition=(None,), spec=spec)])
    assert ids_of(address) == [1, 2, 2]


def test_a_delete_without_partition_holds_everywhere(parted):
    spec = parted.metadata.default_spec_id
    one_here = by_id(2, partition=("FR",), spec=spec)
    commit(parted, values=[by_id(1, spec=0), one_here])

    assert sorted(rows_of("iceberg://lake/fraud.made", "id", "country"), key=str) == [
        (2, "DE"),
        (7, None),
    ]


def test_deletes_of_a_partition_that_was_given_up_hold_in_no_other(parted):
    """Its number differs, even where values are the same."""
    before = parted.metadata.default_spec_id
    with parted.update_spec() as update:
        update.add_identity("id")
    parted.append(pa.table({"id": [2], "country": ["DE"]}))
    commit(parted, values=[by_id(2, partition=("DE",), spec=before)])
    found = sorted(rows_of("iceberg://lake/fraud.made", "id", "country"), key=str)
    assert found == [(1, "DE"), (1, "FR"), (2, "DE"), (2, "FR"), (7, None)]


def test_time_still_prunes_files_and_a_scan_says_what_is_read(catalog, tmp_path):
    rows = pa.concat_tables([made([1, 2], day=day) for day in (0, 5, 9)])
    address = iceberg_table(catalog, "made", rows, files=3)
    table = catalog.load_table("fraud.made")
    commit(table, values=[by_id(2)])
    bounds = (START, START + DAY)
    deletes = next(tmp_path.rglob("deletes-*.parquet")).stat().st_size
    of_window = open_lake(address).scan(["id"], "at", bounds)
    assert [(one.read, one.of) for one in of_window.parts] == [(1, 3)]
    whole = open_lake(address).scan(["id"], "at", None)
    assert of_window.read > deletes
    assert whole.read - deletes == 3 * (of_window.read - deletes)
    for file in tmp_path.rglob("*.parquet"):
        if "deletes" not in file.name and file.stat().st_size and _day(file) > START + DAY:
            file.unlink()
    assert ids_of(address, time="at", bounds=bounds) == [1]


def _day(file):
    import pyarrow.parquet as pq

    return pq.read_table(file)["at"][0].as_py()


def test_deletes_that_are_older_than_all_rows_are_not_read(catalog, tmp_path):
    address = iceberg_table(catalog, "made", made([1]), files=1)
    table = catalog.load_table("fraud.made")
    commit(table, rows=made([2], day=5), values=[by_id(1, 2)])
    next(tmp_path.rglob("deletes-*.parquet")).unlink()
    later = (START + 4 * DAY, START + 6 * DAY)
    assert ids_of(address, time="at", bounds=later) == [2]


def test_few_rows_are_in_memory_at_a_time(catalog, monkeypatch):
    """The rows stream by; what is held are the deleted values."""
    monkeypatch.setattr(session, "_MEMORY_LIMIT", "40MB")
    rows = 400_000
    numbers = np.arange(rows)
    at = round(START.timestamp() * 1e6) + numbers % 86_400 * 1_000_000
    table = pa.table(
        {
            "id": pa.array([f"id-{number:060d}" for number in numbers]),
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "score": numbers % 1000 / 1000,
        }
    )
    address = iceberg_table(catalog, "made", table, files=2)
    gone = pa.table({"id": table["id"].take(numbers[::400])})
    commit(catalog.load_table("fraud.made"), values=[Deleted(rows=gone, fields=[1])])
    known = table.slice(0, 1000).select(["id", "at"])
    source = open_source(
        address,
        PredictionColumns(id="id", time="at", score="score"),
        known,
        LabelColumns(id="id", known_at="at"),
    )
    with closing(source):
        seen = source.describe()
    assert (seen.predictions, seen.confirmed) == (rows - 1000, 1000 - 3)


def test_rows_come_before_the_last_file_is_opened(catalog, tmp_path):
    address = iceberg_table(catalog, "made", made(range(600_000)), files=3)
    commit(catalog.load_table("fraud.made"), values=[by_id(9)])
    stream = iter(open_lake(address).version.batches(["id"], None))
    next(stream)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    with pytest.raises(FileNotFoundError):
        list(stream)


@pytest.mark.parametrize("seed", range(6))
def test_rows_after_many_commits_are_those_of_a_list(catalog, seed):
    """Upserts, deletes by value and by position in any order, held to a list of rows."""
    rng = np.random.default_rng(seed)
    address = iceberg_table(catalog, "made", made([0, 1, 2], score=0.0), files=1)
    table = catalog.load_table("fraud.made")
    files = [[(0, 0.0), (1, 0.0), (2, 0.0)]]
    alive = [set(files[0])]
    for round_ in range(1, 9):
        gone = rng.integers(0, 8, rng.integers(1, 4)).tolist()
        alive = [{row for row in one if row[0] not in gone} for one in alive]
        ids = rng.integers(0, 8, rng.integers(1, 5)).tolist()
        # Rows of one commit are told apart by their scores.
        new = [(one, round_ + place / 8) for place, one in enumerate(ids)]
        files.append(new)
        dropped = int(rng.integers(len(new)))
        alive.append(set(new) - {new[dropped]})
        rows = pa.concat_tables([made([one], score=score) for one, score in new])
        commit(table, rows=rows, values=[by_id(*gone)], positions={NEW: [dropped]})
    left = sorted(row for one in alive for row in one)
    assert rows_of(address, "id", "score") == left
    assert 0 < len(left) < sum(map(len, files)) - 8


def test_deletion_vectors_are_applied(catalog, tmp_path):
    """Tables of version 3, as Spark writes them, beside deletes by value."""
    address = iceberg_table(catalog, "made", made([1, 2, 3, 4, 5]), files=1)
    table = catalog.load_table("fraud.made")
    commit(table, more=[deletion_vector(table, [0, 3])], values=[by_id(5)])
    file = Path(table.metadata_location.removeprefix("file://"))
    file.write_text(
        file.read_text().replace('"format-version":2', '"format-version":3,"next-row-id":0')
    )
    assert '"format-version":3' in file.read_text()
    assert ids_of(address) == [2, 3]

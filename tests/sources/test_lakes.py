"""Tables of lakes give the very counts of their rows in DuckDB's own hands."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.types import StringType

from pumonitor.errors import InputError, SourceError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.one_table.files import read_score_table
from pumonitor.sources.one_table.scored_rows import read_scored_rows
from pumonitor.sources.opening import open_source
from pumonitor.sources.reach import session
from tests.sources.iceberg_commits import commit, delete_by_position, deletion_vector
from tests.sources.lake_tables import (
    arrow_of,
    delete_by_vector,
    delta_table,
    iceberg_catalog,
    iceberg_table,
)
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

DAY = timedelta(days=1)
START = datetime(2026, 3, 10, tzinfo=UTC)
LATER = START + 30 * DAY


@pytest.mark.parametrize("text_ids", [pytest.param(False, marks=pytest.mark.slow), True])
def test_counts_are_those_of_frames(lake, text_ids):
    made, known = predictions(text_ids=text_ids), labels(text_ids=text_ids)
    with closing(opened(made, known)) as source:
        expected, span, described = source.counts(REQUEST), source.span(), source.describe()
    of_lake = lake("made", arrow_of(made)), lake("known", arrow_of(known))
    for tables in (of_lake, (of_lake[0], known), (made, of_lake[1])):
        with closing(opened(*tables)) as source:
            counts, seen = source.counts(REQUEST), source.describe()
            assert_equal(counts, expected)
            assert source.span() == span
        assert seen.delay_quantiles == described.delay_quantiles
        assert (seen.predictions, seen.labels) == (described.predictions, described.labels)
        named = {"predictions": tables[0], "positives": tables[1]}
        found = {role: one["table"] for role, one in counts.versions.items() if role != "read_by"}
        assert found == {role: one for role, one in named.items() if isinstance(one, str)}


DAY_ZERO = CountRequest(
    window=Window(start=START, end=START + DAY, index=0),
    as_of=(START + DAY, START + 2 * DAY),
    threshold=0.7,
    delay_edges=(3600.0,),
)


COLUMNS = PredictionColumns(id="id", time="at", score="score")
NO_LABELS = pa.table(
    {"id": pa.array([], pa.int64()), "at": pa.array([], pa.timestamp("us", "UTC"))}
)


def ids_of_the_window(address, columns=COLUMNS, **how):
    known = LabelColumns(id="id", known_at="at")
    with closing(open_source(address, columns, NO_LABELS, known, **how)) as source:
        counts = source.counts(DAY_ZERO)
        return counts.found.predictions, counts.lower.tolist()


def days(first: int, last: int, *, kind=None) -> pa.Table:
    """A row a day, whose score says which day; the window is of day 0."""
    numbers = list(range(first, last))
    at = [START + number * DAY for number in numbers]
    if kind == "date":
        times = pa.array([one.date() for one in at], pa.date32())
    elif kind == "seconds":
        times = pa.array([round(one.timestamp()) for one in at], pa.int64())
    elif kind == "local":
        times = pa.array([one.replace(tzinfo=None) for one in at], pa.timestamp("us"))
    else:
        times = pa.array(at, pa.timestamp("us", "UTC"))
    return pa.table({"id": numbers, "at": times, "score": [0.5 + one / 64 for one in numbers]})


@pytest.mark.parametrize("kind", [None, "date", "seconds", "local"])
def test_files_beyond_the_window_are_not_opened(lake, tmp_path, kind):
    address = lake("made", days(-10, 20, kind=kind), files=3)
    keep = {"date": {"time_zone": "UTC"}, "local": {"time_zone": "UTC"}}.get(kind, {})
    keep |= {"time_unit": "s"} if kind == "seconds" else {}
    columns = PredictionColumns(id="id", time="at", score="score", **keep)
    table, known = open_lake(address), LabelColumns(id="id", known_at="at")
    bounds = (START, START + DAY)
    if kind == "seconds":
        bounds = tuple(round(one.timestamp()) for one in bounds)
    elif kind is not None:
        bounds = tuple(one.replace(tzinfo=None) for one in bounds)
    files = sorted(
        path for path in tmp_path.rglob("*.parquet") if times_of(path).intersects(bounds) is False
    )
    assert len(files) == 2
    for file in files:
        file.unlink()
    read = pa.table(table.load(["id", "at"], time="at", bounds=bounds))
    assert 0 in read["id"].to_pylist()
    if kind == "seconds":
        # The first look at whole numbers is at any of them.
        return
    with closing(open_source(address, columns, NO_LABELS, known, orphans="skip")) as source:
        assert source.counts(DAY_ZERO).lower.tolist() == [0.5]


class times_of:  # noqa: N801 (reads as a question)
    def __init__(self, path):
        column = pq.read_table(path)["at"]
        self.low, self.high = pc.min(column).as_py(), pc.max(column).as_py()

    def intersects(self, bounds):
        low, high = bounds
        if isinstance(self.low, date) and not isinstance(self.low, datetime):
            low, high = low.date(), high.date()
        return self.low <= high and self.high >= low


def test_statistics_that_are_cut_off_to_milliseconds_lose_no_row(lake):
    """The only row of a file, at the last microsecond of a millisecond within the window."""
    late = START + timedelta(microseconds=999)
    rows = pa.table({"id": [1], "at": pa.array([late], pa.timestamp("us", "UTC")), "score": [0.5]})
    table = open_lake(lake("made", rows))
    for since in (0, 1, 500, 999):
        bounds = (START + timedelta(microseconds=since), START + DAY)
        assert pa.table(table.load(["id"], time="at", bounds=bounds)).num_rows == 1


def test_deleted_rows_are_not_counted(tmp_path, monkeypatch):
    rows = days(0, 1)
    rows = pa.concat_tables([rows.set_column(0, "id", pa.array([one])) for one in range(6)])
    address = delta_table(tmp_path / "d", rows, files=2)
    DeltaTable(tmp_path / "d").delete("id = 5")
    assert ids_of_the_window(address)[0] == 5
    delete_by_vector(tmp_path / "d", [0])
    assert ids_of_the_window(address)[0] == 4
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    address = iceberg_table(catalog, "made", rows, files=2)
    table = catalog.load_table("fraud.made")
    delete_by_position(table, [0, 2], of_file=0)
    delete_by_position(table, [1], of_file=1)
    assert ids_of_the_window(address)[0] == 3
    table.delete("id == 0")
    remaining = ids_of_the_window(address)[0]
    assert remaining == len(table.scan().to_arrow())


def test_deletion_vectors_are_applied(tmp_path, monkeypatch):
    """Tables of version 3, as Spark writes them."""
    catalog = iceberg_catalog(tmp_path, monkeypatch)
    address = iceberg_table(catalog, "made", pa.table({"id": [1, 2, 3]}), files=1)
    table = catalog.load_table("fraud.made")
    commit(table, more=[deletion_vector(table, [0])])
    file = Path(table.metadata_location.removeprefix("file://"))
    file.write_text(
        file.read_text().replace('"format-version":2', '"format-version":3,"next-row-id":0')
    )
    assert '"format-version":3' in file.read_text()
    assert pa.table(open_lake(address).load(["id"]))["id"].to_pylist() == [2, 3]


def test_columns_that_came_later_or_have_other_names_by_now(tmp_path, monkeypatch):
    old, new = days(-5, 0), days(0, 5).append_column("country", pa.array(["DE"] * 5))
    write_deltalake(tmp_path / "d", old)
    write_deltalake(tmp_path / "d", new, mode="append", schema_mode="merge")
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    iceberg_table(catalog, "made", old.rename_columns(["id", "at", "rate"]))
    table = catalog.load_table("fraud.made")
    with table.update_schema() as update:
        update.add_column("country", StringType())
        update.rename_column("rate", "score")
    table.append(new)
    columns = PredictionColumns(id="id", time="at", score="score", segments=("country",))
    for address in (f"delta://{tmp_path / 'd'}", "iceberg://lake/fraud.made"):
        assert ids_of_the_window(address, columns) == (1, [0.5])
        with closing(
            open_source(address, columns, NO_LABELS, LabelColumns(id="id", known_at="at"))
        ) as source:
            early = CountRequest(
                window=Window(start=START - DAY, end=START, index=0),
                as_of=(START,),
                threshold=0.7,
            )
            counts = source.counts(early)
            assert counts.segments["country"].tolist() == [""]
            assert counts.lower.tolist() == [0.5 - 1 / 64]


def test_partitions_are_read_as_the_rows_that_they_are(tmp_path, monkeypatch):
    """A partition's value stands in no file of Delta."""
    old = days(-1, 0).set_column(
        1, "at", pa.array([datetime(1969, 12, 31, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    )
    rows = pa.concat_tables([old, days(-1, 3)])
    countries = ["DE", None, "a b", "Å/land", "DE"]
    rows = rows.append_column("country", pa.array(countries))
    delta_table(tmp_path / "d", rows, files=2, partition_by=["country"])
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    table = catalog.create_table("fraud.made", rows.schema)
    with table.update_spec() as update:
        update.add_identity("country")
    table.append(rows)
    columns = PredictionColumns(id="id", time="at", score="score", segments=("country",))
    known = LabelColumns(id="id", known_at="at")
    for address in (f"delta://{tmp_path / 'd'}", "iceberg://lake/fraud.made"):
        for start, country in ((START, "a b"), (START - DAY, ""), (START + DAY, "Å/land")):
            request = replace(
                DAY_ZERO, window=Window(start=start, end=start + DAY, index=0), as_of=(LATER,)
            )
            with closing(open_source(address, columns, NO_LABELS, known)) as source:
                assert source.counts(request).segments["country"].tolist() == [country]
        assert pa.table(open_lake(address).load(["id"])).num_rows == rows.num_rows


def test_what_is_committed_meanwhile_changes_nothing(tmp_path, monkeypatch):
    write_deltalake(tmp_path / "d", days(0, 1))
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    iceberg_table(catalog, "made", days(0, 1))
    known = LabelColumns(id="id", known_at="at")
    for address in (f"delta://{tmp_path / 'd'}", "iceberg://lake/fraud.made"):
        with closing(open_source(address, COLUMNS, NO_LABELS, known)) as source:
            before = source.counts(DAY_ZERO)
            other = days(0, 1).set_column(2, "score", pa.array([0.9]))
            if address.startswith("delta"):
                write_deltalake(tmp_path / "d", other, mode="overwrite")
            else:
                catalog.load_table("fraud.made").overwrite(other)
            after = source.counts(DAY_ZERO)
            assert_equal(after, before)
            assert after.versions["predictions"] == before.versions["predictions"]
        assert ids_of_the_window(address) == (1, [0.9])


def test_the_version_of_a_moment(tmp_path, monkeypatch):
    write_deltalake(tmp_path / "d", days(0, 1))
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    iceberg_table(catalog, "made", days(0, 1), files=1)
    table = catalog.load_table("fraud.made")
    first = table.current_snapshot().timestamp_ms
    commit = DeltaTable(tmp_path / "d").history()[0]["timestamp"]
    with table.update_schema() as update:
        update.rename_column("score", "rate")
    table.append(days(0, 1).set_column(2, "rate", pa.array([0.9])))
    write_deltalake(tmp_path / "d", days(1, 2).set_column(1, "at", days(0, 1)["at"]), mode="append")
    for address, then in (
        (f"delta://{tmp_path / 'd'}", commit),
        ("iceberg://lake/fraud.made", first),
    ):
        moment = datetime.fromtimestamp(then / 1000, UTC)
        assert ids_of_the_window(address, as_of=moment) == (1, [0.5])
        with pytest.raises(InputError) as caught:
            ids_of_the_window(address, as_of=moment - timedelta(milliseconds=1))
        assert f"{address} keeps no version as old as " in str(caught.value)
        assert "leave out --as-of" in str(caught.value)


def test_files_that_are_deleted_while_they_are_read(lake, tmp_path):
    address = lake("made", days(0, 30), files=3)
    known = LabelColumns(id="id", known_at="at")
    with closing(open_source(address, COLUMNS, NO_LABELS, known)) as source:
        for file in tmp_path.rglob("*.parquet"):
            file.unlink()
        with pytest.raises(SourceError) as caught:
            source.counts(DAY_ZERO)
    message = str(caught.value)
    assert message.startswith(f"{address} cannot be read: files of its ")
    assert "were deleted while it was read" in message


def test_few_rows_are_in_memory_at_a_time(lake, tmp_path, monkeypatch):
    """Half a million predictions, and what DuckDB holds are the labels and a few batches."""
    monkeypatch.setattr(session, "_MEMORY_LIMIT", "40MB")
    rows = 500_000
    numbers = np.arange(rows)
    at = round(START.timestamp() * 1e6) + numbers % 86_400 * 1_000_000
    made = pa.table(
        {
            "id": pa.array([f"id-{number:040d}" for number in numbers]),
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "score": numbers % 1000 / 1000,
        }
    )
    known = made.slice(0, 1000).select(["id", "at"])
    columns = LabelColumns(id="id", known_at="at")
    # Of files DuckDB knows how many rows they have, and would take the stream for the smaller one.
    pq.write_table(known, tmp_path / "known.parquet")
    of_labels = str(tmp_path / "known.parquet")
    with closing(open_source(lake("made", made, files=2), COLUMNS, of_labels, columns)) as source:
        seen = source.describe()
    assert (seen.predictions, seen.labels, seen.confirmed) == (rows, 1000, 1000)


def test_batches_are_read_one_after_the_other(lake, tmp_path):
    """Later files may be gone by the time the first rows arrive."""
    table = open_lake(lake("made", days(0, 9), files=3))
    stream = iter(table.version.batches(["id"], None))
    next(stream)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    if "iceberg" in table.name:
        with pytest.raises(FileNotFoundError):
            list(stream)


def test_the_commands_about_one_table_read_lakes_like_files(lake, tmp_path):
    rng = np.random.default_rng(3)
    label = rng.choice([1, 0, 0, 0], 400)
    table = pa.table(
        {
            "confirmed": label,
            "old": np.round(rng.random(400) * 0.7 + 0.3 * label, 6),
            "new": np.round(rng.random(400) * 0.5 + 0.5 * label, 6).astype(np.float32),
            "weight": rng.integers(1, 4, 400).astype(float),
            "other": [f"é{n}" for n in range(400)],
        }
    )
    address = lake("scored", table)
    pq.write_table(table, tmp_path / "scored.parquet")
    read = [
        read_score_table(
            one, labels="confirmed", scores="new", threshold=0.7, sample_weight="weight"
        )
        for one in (address, tmp_path / "scored.parquet")
    ]
    for name in ("lower", "upper", "labeled", "unlabeled"):
        np.testing.assert_array_equal(getattr(read[0], name), getattr(read[1], name))
    thresholds = {"old": 0.5, "new": 0.7}
    # Scores are read apart; a row's stay beside each other, in whatever order.
    both = [
        read_scored_rows(one, labels="confirmed", thresholds=thresholds, texts=["other"])
        for one in (address, tmp_path / "scored.parquet")
    ]
    rows = [
        sorted(zip(one.texts["other"], one.labels, *one.scores.values(), strict=True))
        for one in both
    ]
    assert rows[0] == rows[1]
    with pytest.raises(InputError, match=r"has no column 'nw'.*did you mean 'new'"):
        read_score_table(address, labels="confirmed", scores="nw")

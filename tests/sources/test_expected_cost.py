"""What counting a window reads is told before it is done, and limited."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from pumonitor.errors import InputError
from pumonitor.ports import Window
from pumonitor.scans import Parts, Scan
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.opening import open_source
from tests.sources.lake_tables import arrow_of
from tests.sources.monitored import DAY, LABELS, NOW, PREDICTIONS, REQUEST, START, assert_equal
from tests.sources.monitored import labels as made_labels
from tests.sources.monitored import predictions as made_predictions

ROWS = 3000
GROUP = 250
# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


@pytest.fixture(scope="module")
def made():
    return made_predictions(ROWS).sort_values("scored_at", ignore_index=True)


@pytest.fixture(scope="module")
def known():
    return made_labels()


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    """Three files by time, each with row groups by time."""
    found = tmp_path_factory.mktemp("scored")
    table = arrow_of(made)
    for number in range(3):
        part = table.slice(number * ROWS // 3, ROWS // 3 if number < 2 else None)
        pq.write_table(part, found / f"{number}.parquet", row_group_size=GROUP)
    return found


def opened(predictions, known, **options):
    return open_source(predictions, PREDICTIONS, known, LABELS, clock=lambda: NOW, **options)


def bytes_within(folder, first, last):
    """Of the named columns, by the footers alone; and in how many files and row groups."""
    named = {"prediction id", "scored_at", "score", "version", "country", "Channel"}
    read, files, groups = 0, set(), 0
    for file in sorted(folder.glob("*.parquet")):
        metadata = pq.ParquetFile(file).metadata
        for number in range(metadata.num_row_groups):
            columns = [
                metadata.row_group(number).column(place) for place in range(metadata.num_columns)
            ]
            (time,) = [one for one in columns if one.path_in_schema == "scored_at"]
            if time.statistics.max < first or time.statistics.min > last:
                continue
            read += sum(one.total_compressed_size for one in columns if one.path_in_schema in named)
            files.add(file)
            groups += 1
    return read, len(files), groups


@pytest.mark.parametrize("kind", ["files", "dataset"])
def test_of_parquet_files_it_is_the_row_groups_of_the_window(folder, known, kind):
    pattern = str(folder / "*.parquet")
    place = pattern if kind == "files" else ds.dataset(str(folder), format="parquet")
    read, files, groups = bytes_within(folder, START, START + DAY)
    every = bytes_within(folder, START - 9 * DAY, START + 9 * DAY)
    with closing(opened(place, known)) as source:
        scan, whole = source.scan(REQUEST), source.scan_of_all()
    assert scan == Scan(
        read=read,
        parts=(
            Parts(named="files", read=files, of=3),
            Parts(named="row groups", read=groups, of=every[2]),
        ),
    )
    # The window is the second of three days: neither all nothing, nor everything.
    assert 0 < read < whole.read == every[0]


def test_a_window_without_rows_reads_nothing(folder, known):
    away = Window(start=START + 30 * DAY, end=START + 31 * DAY, index=0)
    request = replace(REQUEST, window=away, as_of=(away.end,))
    with closing(opened(str(folder / "*.parquet"), known)) as source:
        assert source.scan(request).read == 0


def test_row_groups_without_times_are_counted_as_read(tmp_path, known, made):
    table = arrow_of(made)
    times = table["scored_at"].to_pylist()
    # A time that is missing is of any window, and is told of each.
    times[-1] = None
    place = table.schema.get_field_index("scored_at")
    missing = pa.array(times, type=table.schema.field(place).type)
    table = table.set_column(place, table.schema.field(place), missing)
    pq.write_table(table, tmp_path / "p.parquet", row_group_size=GROUP)
    early = Window(start=START - DAY, end=START, index=0)
    request = replace(REQUEST, window=early, as_of=(early.end,))
    read, _, groups = bytes_within(tmp_path, early.start, early.end)
    with closing(opened(str(tmp_path / "p.parquet"), known)) as source:
        scan = source.scan(request)
    assert scan.parts[1].read == groups + 1
    assert scan.read > read


def test_of_text_files_it_is_all_of_them(tmp_path, made, known):
    made.to_csv(tmp_path / "p.csv", index=False)
    size = (tmp_path / "p.csv").stat().st_size
    with closing(opened(str(tmp_path / "p.csv"), known)) as source:
        assert source.scan(REQUEST) == Scan(read=size, parts=(Parts(named="files", read=1, of=1),))


def test_of_frames_nothing_is_read(made, known):
    with closing(opened(made, known)) as source:
        assert source.scan(REQUEST) == Scan(read=0)


def test_of_a_lake_it_is_the_files_whose_statistics_leave_room(lake, made, known):
    table = arrow_of(made)
    address = lake("made", table.slice(0, ROWS // 3 - 100))
    late = Window(start=START + DAY + timedelta(hours=12), end=START + 2 * DAY, index=0)
    request = replace(REQUEST, window=late, as_of=(late.end,))
    with closing(opened(address, known)) as source:
        assert source.scan(request).parts == (Parts(named="files", read=0, of=3),)
        assert source.scan(request).read == 0
        whole = source.scan_of_all()
    assert whole.parts == (Parts(named="files", read=3, of=3),)
    assert whole.read > 1000


def test_of_a_file_of_a_database_it_is_at_most_the_file(tmp_path, made, known):
    plain = made.assign(scored_at=made["scored_at"].astype(str).str.replace(" ", "T"))
    driver = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    plain.to_sql("p", driver, index=False)
    driver.dispose()
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.register("given", made)
        connection.execute("CREATE TABLE p AS SELECT * FROM given")
    for scheme, file in (("sqlite", "a.db"), ("duckdb", "a.duckdb")):
        table = SqlTable(url=f"{scheme}:///{tmp_path / file}", table="p")
        with closing(opened(table, known)) as source:
            assert source.scan(REQUEST) == Scan(read=(tmp_path / file).stat().st_size)


def test_postgresql_tells_by_its_plan_and_leaves_out_partitions(postgres, made, known):
    url = postgres.new_database()
    driver = sqlalchemy.create_engine(url)
    with driver.begin() as connection:
        execute = partial(connection.exec_driver_sql)
        execute(
            'CREATE TABLE p ("prediction id" bigint, scored_at timestamptz, score double precision,'
            ' version text, country text, "Channel" bigint) PARTITION BY RANGE (scored_at)'
        )
        for number in range(-1, 3):
            low, high = START + number * DAY, START + (number + 1) * DAY
            execute(
                f"CREATE TABLE p_{number + 1} PARTITION OF p "
                f"FOR VALUES FROM ('{low.isoformat()}') TO ('{high.isoformat()}')"
            )
        made.to_sql("p", connection, index=False, if_exists="append")
        (bytes_of_the_day,) = execute("SELECT pg_relation_size('p_1')").one()
    with driver.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("ANALYZE")
    driver.dispose()
    query = "SELECT * FROM p WHERE scored_at >= :start AND scored_at < :end"
    for place in (SqlTable(url=url, table="p"), SqlQuery(url=url, query=query)):
        with closing(opened(place, known, max_bytes=10**9)) as source:
            request = replace(REQUEST, as_of=(START + DAY,))
            scan = source.scan(request)
            counted = source.counts(request)
        assert not scan.is_most
        # Labels without prediction are looked for among all ids, beside the window's rows.
        assert scan.parts[0].of == 4
        assert scan.read >= bytes_of_the_day
        assert counted.versions["read_by"]["engine"] == "postgresql"
    only_window = replace(REQUEST, as_of=(START + DAY,))
    options = {"orphans": "skip"}
    with closing(opened(SqlTable(url=url, table="p"), known, **options)) as source:
        assert source.scan(only_window).parts == (Parts(named="partitions", read=1, of=4),)


def test_what_would_read_more_than_the_limit_is_not_begun(folder, made, known):
    pattern = str(folder / "*.parquet")
    with closing(opened(pattern, known)) as source:
        counts, scan = source.counts(REQUEST), source.scan(REQUEST)
    with closing(opened(pattern, known, max_bytes=scan.read)) as source:
        assert_equal(source.counts(REQUEST), counts)
    with closing(opened(pattern, known, max_bytes=scan.read - 1)) as source:
        with pytest.raises(InputError) as refused:
            source.counts(REQUEST)
        # Footers tell the first and the last prediction: that reads nothing.
        assert source.span() is not None
        with pytest.raises(InputError, match="looking at all rows would read"):
            source.describe()
    said = str(refused.value)
    assert said.startswith(f"counting the window from {START:%Y-%m-%d %H:%M} UTC would read ")
    assert scan.said in said
    assert "max_bytes is" in said
    assert "nothing was read" in said
    assert "'scored_at'" in said


def test_of_several_windows_fewer_are_counted_at_once_within_the_limit(folder, known):
    pattern = str(folder / "*.parquet")
    quarter = timedelta(hours=6)
    requests = [
        replace(
            REQUEST,
            window=Window(start=START + n * quarter, end=START + (n + 1) * quarter, index=n),
        )
        for n in range(4)
    ]
    with closing(opened(pattern, known)) as source:
        alone = [source.counts(one) for one in requests]
        most = max(source.scan(one).read for one in requests)
        together = list(source.counts_of_many(requests))
    assert {one.versions["read_by"].get("windows") for one in together} == {"4"}
    # Enough for any window, and for the ids that are looked for, but not for all four.
    with closing(opened(pattern, known, max_bytes=most)) as source:
        counted = list(source.counts_of_many(requests))
    for one, other in zip(counted, alone, strict=True):
        assert_equal(one, other)
    assert {one.versions["read_by"].get("windows") for one in counted} == {None}
    with closing(opened(pattern, known, max_bytes=10)) as source:
        refused = list(source.counts_of_many(requests))
    assert [f"{START + n * quarter:%H:%M} UTC" in str(one) for n, one in enumerate(refused)] == [
        True
    ] * 4


def test_a_limit_that_cannot_be_kept_is_refused(known, made, monkeypatch):
    with closing(opened(made, known, max_bytes=10)) as source:
        monkeypatch.setattr(source._engine, "expected", lambda *_, **__: None)
        with pytest.raises(InputError, match="duckdb does not tell what a statement would read"):
            source.counts(REQUEST)

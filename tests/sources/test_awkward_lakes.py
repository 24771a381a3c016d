"""Awkward rows of lakes are counted, or complained of, as the same rows in Parquet files are."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from tests.sources.lake_tables import delta_table, iceberg_catalog, iceberg_table
from tests.sources.monitored import assert_equal

DAY = timedelta(days=1)
START = datetime(2026, 3, 10, tzinfo=UTC)
IDS = ["a", "a ", " a", "A", "á", "a\u0301", "", "0", "00", "e1", "\u2028"]
SCORES = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 0.5, 0.7, 1 - 2**-53, 1.0]


AWKWARD = CountRequest(
    window=Window(start=START, end=START + DAY, index=0),
    as_of=(START + DAY, START + 2 * DAY),
    threshold=0.7,
    delay_edges=(3600.0,),
)


def moments(low: datetime, high: datetime) -> st.SearchStrategy[datetime]:
    return st.datetimes(low.replace(tzinfo=None), high.replace(tzinfo=None))


near = moments(START - DAY, START + 2 * DAY)
# Beyond the window nothing is counted, but a file's range must not mislead who prunes.
anywhere = st.one_of(
    near,
    near,
    near,
    st.just(datetime.fromisoformat("1969-12-31T23:59:59.999999")),
    st.just(datetime.fromisoformat("9999-12-31T23:59:59.999999")),
    st.just(START.replace(tzinfo=None)),
    st.just((START + DAY).replace(tzinfo=None)),
    st.just((START + timedelta(microseconds=999)).replace(tzinfo=None)),
)
made_rows = st.lists(
    st.tuples(
        st.sampled_from(IDS),
        anywhere,
        st.sampled_from(SCORES),
        st.sampled_from(["v1", "V1", "v1 ", None]),
        st.sampled_from([None, "DE", "de", "Åland", ""]),
    ),
    min_size=1,
    max_size=30,
)
known_rows = st.lists(
    st.tuples(st.sampled_from(IDS), near, st.sampled_from([1, -1, 0, 1.0])), max_size=20
)


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    made=made_rows,
    known=known_rows,
    files=st.integers(1, 3),
    kind=st.sampled_from([pa.timestamp("us", "UTC"), pa.timestamp("us")]),
)
def test_awkward_rows_are_counted_as_in_parquet(
    tmp_path_factory, monkeypatch, made, known, files, kind
):
    """Odd ids, scores and times, repeated and contradicting rows, in any split into files."""
    folder = tmp_path_factory.mktemp("awkward")
    columns = list(zip(*made, strict=True))
    rows = pa.table(
        {
            "id": pa.array(columns[0], pa.string()),
            "at": pa.array(columns[1], pa.timestamp("us")).cast(kind, safe=False),
            "score": pa.array(columns[2], pa.float64()),
            "version": pa.array(columns[3], pa.string()),
            "country": pa.array(columns[4], pa.string()),
        }
    )
    of_labels = list(zip(*known, strict=True)) or [(), (), ()]
    said = pa.table(
        {
            "case": pa.array(of_labels[0], pa.string()),
            "at": pa.array(of_labels[1], pa.timestamp("us")).cast(kind, safe=False),
            "label": pa.array(of_labels[2], pa.float64()),
        }
    )
    for name, table in (("made", rows), ("known", said)):
        pq.write_table(table, folder / f"{name}.parquet")
    expected = awkwardly_counted(
        str(folder / "made.parquet"), str(folder / "known.parquet"), zoned=kind.tz is not None
    )
    catalog = iceberg_catalog(folder / "lake", monkeypatch)
    for write, place in ((delta_table, folder), (iceberg_table, catalog)):
        addresses = [
            write(place / name, table, files=files)
            if write is delta_table
            else write(place, name, table, files=files)
            for name, table in (("made", rows), ("known", said))
        ]
        found = awkwardly_counted(*addresses, zoned=kind.tz is not None)
        if isinstance(expected, str):
            # The same complaint, of a table of another name.
            assert complaint(found) == complaint(expected)
        else:
            assert_equal(found, expected)


def complaint(message):
    return message.partition(" has ")[2]


def awkwardly_counted(made, known, *, zoned):
    """The counts, or what is said of rows that cannot be counted."""
    zone = {} if zoned else {"time_zone": "Europe/Berlin", "ambiguous": "later"}
    try:
        source = open_source(
            made,
            PredictionColumns(
                id="id",
                time="at",
                score="score",
                model_version="version",
                segments=("country",),
                **zone,
            ),
            known,
            LabelColumns(id="case", known_at="at", label="label", **zone),
        )
        with closing(source):
            return source.counts(AWKWARD)
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("column", ["id", "at", "score", "version", "country"])
def test_a_missing_value_means_what_it_means_in_parquet(lake, tmp_path, column):
    """In every column; also where its file is beyond the window."""
    at = [START, START + 40 * DAY, START + timedelta(hours=1)]
    rows = pa.table(
        {
            "id": ["a", "b", "c"],
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "score": [0.1, 0.2, 0.3],
            "version": ["v", "v", "v"],
            "country": ["DE", "FR", "DE"],
        }
    )
    place = rows.schema.names.index(column)
    missing = pa.array([None, rows[column][1].as_py(), rows[column][2].as_py()], rows[column].type)
    rows = rows.set_column(place, column, missing)
    said = pa.table(
        {"case": ["c"], "at": pa.array([START + DAY], pa.timestamp("us", "UTC")), "label": [1.0]}
    )
    pq.write_table(rows, tmp_path / "made.parquet")
    pq.write_table(said, tmp_path / "known.parquet")
    expected = awkwardly_counted(
        str(tmp_path / "made.parquet"), str(tmp_path / "known.parquet"), zoned=True
    )
    found = awkwardly_counted(lake("made", rows), lake("known", said), zoned=True)
    if isinstance(expected, str):
        assert complaint(found) == complaint(expected)
        assert f"column '{column}' of predictions " in found
    else:
        assert_equal(found, expected)


@pytest.mark.parametrize("bad", ["id", "score"])
def test_rows_that_cannot_be_used_are_named_beside_labels_without_prediction(lake, bad):
    """Looking for the latter leaves only ids at hand."""
    rows = pa.table(
        {
            "id": pa.array([1, None if bad == "id" else 2], pa.int64()),
            "at": pa.array([START, START], pa.timestamp("us", "UTC")),
            "score": [0.1, 1.5 if bad == "score" else 0.2],
        }
    )
    said = pa.table(
        {"id": [9], "at": pa.array([START], pa.timestamp("us", "UTC")), "chance": [0.5]}
    )
    made = PredictionColumns(id="id", time="at", score="score")
    known = LabelColumns(id="id", known_at="at", propensity="chance")
    address = lake("made", rows)
    with (
        closing(open_source(address, made, lake("known", said), known)) as source,
        pytest.raises(InputError) as caught,
    ):
        source.counts(AWKWARD)
    assert f"column '{bad}' of predictions {address} has 1 " in str(caught.value)

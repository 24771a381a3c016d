"""The same data give the same counts, to the last row, wherever they lie."""

# ruff: noqa: S608 (the tables are ours)

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy

from pumonitor._score_grid import ScoreGrid
from pumonitor.sources.column_types.dialects import DuckDB
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.windows import different_ids
from tests.oracles import counted_windows
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


@pytest.fixture(scope="module", params=["whole numbers", "text"])
def text_ids(request):
    return request.param == "text"


@pytest.fixture(scope="module")
def frames(text_ids):
    return predictions(text_ids=text_ids), labels(text_ids=text_ids)


@pytest.fixture(scope="module")
def expected(frames):
    with closing(opened(*frames)) as source:
        return source.counts(REQUEST), source.span(), source.describe().delay_quantiles


def assert_same(made, known, expected):
    with closing(opened(made, known)) as source:
        counts, span, delays = source.counts(REQUEST), source.span(), source.describe()
    assert (span, delays.delay_quantiles) == expected[1:]
    assert_equal(counts, expected[0])


def test_counts_are_those_of_going_through_rows_one_at_a_time(frames, expected):
    made, known = frames
    counts = expected[0]
    grid = ScoreGrid()
    made = made.astype({"country": object}).where(made.notna(), "")
    oracle = counted_windows.count(
        [
            {
                "id": row[0],
                "time": row[1].to_pydatetime(),
                "score": row[2],
                "version": row[3],
                "segments": (row[4], str(row[5])),
            }
            for row in made.itertuples(index=False)
        ],
        [
            {"id": row[0], "known": row[1].to_pydatetime(), "label": row[2], "propensity": row[3]}
            for row in known.itertuples(index=False)
        ],
        start=REQUEST.window.start,
        end=REQUEST.window.end,
        as_of=REQUEST.as_of,
        delay_edges=REQUEST.delay_edges,
    )
    cells: Counter[tuple[object, ...]] = Counter()
    for (version, country, channel, score, history, propensity), rows in oracle.rows.items():
        cell = 2 * int(grid.index(np.array([score]))[0]) + int(score >= REQUEST.threshold)
        cells[version, country, channel, cell, history, propensity] += rows
    propensity = [None if np.isnan(one) else one for one in counts.propensity]
    keys = zip(
        counts.model_version,
        counts.segments["country"],
        counts.segments["Channel"],
        counts.cell,
        counts.history,
        propensity,
        strict=True,
    )
    assert dict(zip(keys, counts.rows, strict=True)) == cells
    delays = Counter({place: int(n) for place, n in np.ndenumerate(counts.delays) if n})
    assert delays == oracle.delays
    found = {field.name: getattr(counts.found, field.name) for field in fields(counts.found)}
    assert found == {"late_labels": 0, **oracle.found}
    # The data show everything that is counted.
    assert all(value > 0 for name, value in found.items() if name != "late_labels")


def test_labels_without_prediction_are_told_with_what_their_ids_lack(expected, text_ids):
    found = expected[0].unmatched
    if not text_ids:
        # Numbers have one spelling, and there may have been older predictions.
        assert found is None
        return
    assert (found.unmatched, found.repaired, found.tried) == (17, 17, 17)
    assert found.repair == "put 'Case-' before the ids of the labels, as predictions have it"
    assert found.examples[0].isdigit()


def test_least_and_largest_scores_are_in_their_cells(expected):
    counts = expected[0]
    grid = ScoreGrid()
    above = counts.cell % 2
    assert (grid.index(counts.lower) == counts.cell // 2).all()
    assert (grid.index(counts.upper) == counts.cell // 2).all()
    assert ((counts.lower >= REQUEST.threshold) == above).all()
    assert ((counts.upper >= REQUEST.threshold) == above).all()


def test_rows_are_sorted_by_bytes_and_not_by_a_language(expected):
    counts = expected[0]
    rows = list(
        zip(
            counts.model_version.tolist(),
            counts.segments["country"].tolist(),
            counts.segments["Channel"].tolist(),
            counts.cell.tolist(),
            counts.history.tolist(),
            strict=True,
        )
    )
    assert rows == sorted(rows)
    assert {"v10", "v9"} == set(counts.model_version.tolist())
    assert {"", "DE", "de", "Åland"} < set(counts.segments["country"].tolist())


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_files(frames, expected, tmp_path, kind):
    written = [
        write(frame, tmp_path / f"{name}.{kind}") for frame, name in zip(frames, "pl", strict=True)
    ]
    assert_same(*written, expected)


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_many_files(frames, expected, tmp_path, kind):
    for frame, name in zip(frames, "pl", strict=True):
        for place in range(3):
            part = frame.iloc[place::3]
            # Columns in another order, one without a value in a whole file.
            part = part[part.columns[::-1]] if place else part
            write(part, tmp_path / f"{name}{place}.{kind}")
    assert_same(tmp_path / f"p*.{kind}", str(tmp_path / f"l*.{kind}"), expected)


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=100)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        path.write_text("\n".join(json.dumps(row) for row in plain(frame)))
    return path


def plain(frame):
    """Rows of what JSON and SQLite have: numbers, text and nothing."""
    return [
        {
            name: value.isoformat() if isinstance(value, pd.Timestamp) else value
            for name, value in row.items()
            if value is not None and value == value  # noqa: PLR0124 (all but NaN)
        }
        for row in frame.to_dict("records")
    ]


@pytest.mark.parametrize("repeated", [True, False])
def test_ids_that_are_looked_at_in_parts(frames, expected, monkeypatch, repeated):
    """As those of windows above eight million rows are."""
    made, known = frames
    if not repeated:
        made = made.drop_duplicates("prediction id")
        with closing(opened(made, known)) as source:
            whole = source.counts(REQUEST)
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", 100)
    with closing(opened(made, known)) as source:
        assert_equal(source.counts(REQUEST), expected[0] if repeated else whole)


def test_ids_that_share_a_hash_are_told_apart(frames, expected, monkeypatch):
    monkeypatch.setattr(DuckDB, "hashed_id", "(hash({}) % 50)")
    with closing(opened(*frames)) as source:
        assert_equal(source.counts(REQUEST), expected[0])


def test_polars(frames, expected):
    assert_same(*map(pl.from_pandas, frames), expected)


def test_polars_lazily(frames, expected):
    assert_same(*(pl.from_pandas(frame).lazy() for frame in frames), expected)


def test_arrow(frames, expected):
    assert_same(*(pl.from_pandas(frame).to_arrow() for frame in frames), expected)


@pytest.fixture(scope="module")
def sqlite(frames, tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'store.db'}"
    engine = sqlalchemy.create_engine(url)
    for frame, name in zip(frames, ("predictions", "labels"), strict=True):
        rows = pd.DataFrame(plain(frame), columns=frame.columns)
        rows.to_sql(name, engine, index=False)
    engine.dispose()
    return url


@pytest.fixture(scope="module")
def warehouse(frames, postgresql, text_ids):
    schema = "scoring text" if text_ids else "scoring"
    engine = sqlalchemy.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f'CREATE SCHEMA "{schema}"'))
    for frame, name in zip(frames, ("predictions", "labels"), strict=True):
        frame.to_sql(name, engine, schema=schema, index=False)
    engine.dispose()
    return postgresql, schema


def test_sqlite(sqlite, expected):
    assert_same(
        SqlTable(url=sqlite, table="predictions"), SqlTable(url=sqlite, table="labels"), expected
    )


def test_sqlite_by_queries(sqlite, expected):
    made = SqlQuery(
        url=sqlite,
        query="select *, unixepoch(scored_at) as since from predictions "
        "where since >= unixepoch(:start) and since <= unixepoch(:end)",
    )
    known = SqlQuery(
        url=sqlite,
        query="select * from labels where unixepoch(confirmed_at) <= unixepoch(:as_of)",
    )
    assert_same(made, known, expected)


def test_postgresql(warehouse, expected):
    url, schema = warehouse
    assert_same(
        SqlTable(url=url, table=f"{schema}.predictions"),
        SqlTable(url=url, table=f"{schema}.labels"),
        expected,
    )


def test_postgresql_by_queries(warehouse, expected):
    url, schema = warehouse
    made = SqlQuery(
        url=url,
        query=f"SELECT *, ':start' AS note FROM \"{schema}\".predictions -- the day\n"
        "WHERE scored_at >= :start AND scored_at < :end",
    )
    known = SqlQuery(url=url, query=f'SELECT * FROM "{schema}".labels WHERE confirmed_at <= :as_of')
    assert_same(made, known, expected)


def test_labels_travel_to_postgresql(warehouse, frames, expected, tmp_path):
    url, schema = warehouse
    made = SqlTable(url=url, table=f"{schema}.predictions")
    assert_same(made, write(frames[1], tmp_path / "labels.csv"), expected)


def test_labels_travel_from_postgresql_to_files(warehouse, frames, expected, tmp_path):
    url, schema = warehouse
    known = SqlTable(url=url, table=f"{schema}.labels")
    assert_same(write(frames[0], tmp_path / "made.parquet"), known, expected)


def test_labels_travel_to_sqlite(sqlite, frames, expected):
    assert_same(SqlTable(url=sqlite, table="predictions"), frames[1], expected)

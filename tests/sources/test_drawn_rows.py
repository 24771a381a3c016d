"""Cases of an audit: every engine draws the rows that Python would, and gives away no others."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy

from pumonitor.audit.ordering import draw_key
from pumonitor.audit.requests import BinRequest, BinRows, CaseRequest, DrawnRow
from pumonitor.errors import InputError
from pumonitor.sources.column_types.monitored_tables import SqlTable
from tests.sources.monitored import REQUEST, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

EDGES = (0.05, 0.2, 0.7)
BINS = BinRequest(
    window=REQUEST.window,
    as_of=REQUEST.as_of[-1],
    model_version="v10",
    threshold=0.7,
    edges=EDGES,
)
CASES = CaseRequest(
    window=BINS.window,
    as_of=BINS.as_of,
    model_version="v10",
    threshold=0.7,
    edges=EDGES,
    seed="march-2026",
    shares=(0.2, 0.1, 1.0, 0.5),
    confirmed_share=0.3,
    columns=("country", "Channel"),
)


@pytest.fixture(scope="module", params=[True, False], ids=["text", "integer"])
def frames(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, pd.DataFrame]:
    # Propensities are no matter here.
    known = labels(text_ids=request.param)
    return predictions(text_ids=request.param), known


def expected(frames: Any) -> tuple[BinRows, list[DrawnRow]]:
    """The same in Python, from the rows."""
    made, known = frames
    start, end = (pd.Timestamp(one) for one in (BINS.window.start, BINS.window.end))
    inside = made[(made["scored_at"] >= start) & (made["scored_at"] < end)]
    inside = inside.sort_values(["scored_at", "score"], kind="stable")
    first = inside.drop_duplicates("prediction id").set_index("prediction id")
    confirmed = set()
    until = known[known["confirmed_at"] <= pd.Timestamp(BINS.as_of)]
    for one, rows in until.groupby("case"):
        if one in first.index:
            made_at = first.loc[one, "scored_at"]
            rows = rows[rows["confirmed_at"] >= made_at - pd.Timedelta(days=1)]  # noqa: PLW2901
            last = rows[rows["confirmed_at"] == rows["confirmed_at"].max()]
            if len(last) and last["label"].min() == last["label"].max() == 1:
                confirmed.add(one)
    of_version = first[first["version"] == "v10"]
    place = np.searchsorted(EDGES, of_version["score"], side="right")
    rows, drawn, labeled = np.zeros(4, int), [], np.zeros(4, int)
    for (one, row), where in zip(of_version.iterrows(), place, strict=True):
        rows[where] += 1
        labeled[where] += one in confirmed
        key = draw_key(CASES.seed, str(one))
        share = CASES.confirmed_share if one in confirmed else CASES.shares[where]
        if int(key[:16], 16) < share * 2**64:
            shown = ("" if pd.isna(row["country"]) else row["country"], str(row["Channel"]))
            drawn.append(
                DrawnRow(
                    id=str(one),
                    key=key,
                    bin=int(where),
                    is_confirmed=one in confirmed,
                    shown=shown,
                    segments=(f"country={shown[0]}", f"Channel={shown[1]}"),
                )
            )
    counted = BinRows(rows=tuple(rows.tolist()), labeled=tuple(labeled.tolist()))
    return counted, sorted(drawn, key=lambda one: one.key)


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "parquet", "json", "csv", "sqlite", "postgresql"]
)
def test_every_engine_draws_what_python_draws(
    frames: Any, tmp_path: Any, request: pytest.FixtureRequest, kind: str
) -> None:
    counted, drawn = expected(frames)
    with closing(opened(*stored(frames, kind, tmp_path, request))) as source:
        assert source.bins(BINS) == counted
        assert list(source.draw(CASES)) == drawn
    assert 0 < sum(one.is_confirmed for one in drawn) < len(drawn) < sum(counted.rows) / 2


@pytest.mark.slow
def test_spark_draws_the_same(frames: Any, spark: Any, tmp_path: Any) -> None:
    read = []
    for name, frame in zip(("p", "l"), frames, strict=True):
        pl.from_pandas(frame).write_parquet(tmp_path / f"{name}.parquet")
        read.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
    counted, drawn = expected(frames)
    with closing(opened(*read)) as source:
        assert source.bins(BINS) == counted
        assert list(source.draw(CASES)) == drawn


def test_no_column_and_no_share_gives_nothing_away(frames: Any) -> None:
    with closing(opened(*frames)) as source:
        none = replace(CASES, shares=(0.0,) * 4, confirmed_share=0.0, columns=())
        assert source.draw(none) == ()
        alone = source.draw(replace(CASES, columns=()))
    assert {one.shown for one in alone} == {()}
    assert {one.segments[1] for one in alone} == {"Channel=1", "Channel=2"}


def test_seeds_and_columns_that_cannot_be_used_are_refused(frames: Any) -> None:
    with closing(opened(*frames)) as source:
        with pytest.raises(InputError, match="a seed must have 1 to 200 letters"):
            source.draw(replace(CASES, seed="it's"))
        with pytest.raises(InputError, match=r"no column 'contry'.*did you mean 'country'"):
            source.draw(replace(CASES, columns=("contry",)))


def test_ids_with_blanks_are_refused() -> None:
    made, known = predictions(text_ids=True), labels(text_ids=True)
    made["prediction id"] = made["prediction id"] + " "
    with (
        closing(opened(made, known)) as source,
        pytest.raises(InputError, match="begins or ends with blanks"),
    ):
        source.draw(replace(CASES, shares=(1.0,) * 4))


def stored(frames: Any, kind: str, folder: Any, request: pytest.FixtureRequest) -> list[Any]:
    """Both tables where an engine finds them."""
    if kind == "pandas":
        return list(frames)
    url = f"sqlite:///{folder / 'store.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql")
    tables: list[Any] = []
    text = frames[0]["prediction id"].dtype.kind not in "iu"
    for name, frame in zip(("drawn_made", "drawn_known"), frames, strict=True):
        path = folder / f"{name}.{kind}"
        if kind == "polars":
            tables.append(pl.from_pandas(frame).lazy())
        elif kind == "parquet":
            frame.to_parquet(path)
            tables.append(path)
        elif kind == "csv":
            frame.to_csv(path, index=False)
            tables.append(path)
        elif kind == "json":
            frame.to_json(path, orient="records", lines=True, date_format="iso", date_unit="us")
            tables.append(path)
        else:
            table = f"{name}_{'text' if text else 'integer'}"
            engine = sqlalchemy.create_engine(url)
            times = {"scored_at", "confirmed_at"} & set(frame) if kind == "sqlite" else set()
            iso = {name: [one.isoformat() for one in frame[name]] for name in times}
            frame.assign(**iso).to_sql(table, engine, index=False, if_exists="replace")
            engine.dispose()
            tables.append(SqlTable(url=url, table=table))
    return tables

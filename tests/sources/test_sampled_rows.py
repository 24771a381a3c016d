"""Rows with their features: the same sample in every engine, at every moment and on every day."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy

from pumonitor.errors import InputError
from pumonitor.ports import PredictionSource, SampledRows, SampleRequest
from pumonitor.sources.column_types.monitored_tables import SqlTable
from pumonitor.sources.opening import open_source
from tests.sources.monitored import LABELS, NOW, PREDICTIONS, REQUEST, labels, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

FEATURES = ("amount", "visits", "member", "country")
COLUMNS = replace(PREDICTIONS, features=FEATURES, group="customer")
ALL = SampleRequest(window=REQUEST.window, as_of=REQUEST.as_of, rows=10_000, labels=10_000)
FEW = replace(ALL, rows=100, labels=30)


def with_features() -> pd.DataFrame:
    """Features of an id are the same wherever it stands."""
    frame = predictions(text_ids=True)
    ids = frame["prediction id"].str.removeprefix("Case-").astype(int).to_numpy()
    rng = np.random.default_rng(3)
    size = int(ids.max()) + 1
    amount = np.round(rng.normal(10, 4, size), 3)
    amount[rng.random(size) < 0.1] = np.nan
    customer = np.array([f"c{one}" for one in rng.integers(0, 200, size)], dtype=object)
    customer[rng.random(size) < 0.1] = None
    return frame.assign(
        amount=amount[ids],
        visits=rng.integers(0, 9, size)[ids],
        member=(rng.random(size) < 0.4)[ids],
        customer=customer[ids],
    )


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return with_features(), labels(text_ids=True)


def opened(made: object, known: object, **changes: Any) -> PredictionSource:
    columns = replace(COLUMNS, **changes)
    return open_source(made, columns, known, LABELS, clock=lambda: NOW)


def sampled(made: object, known: object, request: SampleRequest) -> SampledRows:
    with closing(opened(made, known)) as source:
        return source.sample(request)


@pytest.fixture(scope="module")
def expected(frames: Any) -> tuple[SampledRows, SampledRows]:
    return sampled(*frames, ALL), sampled(*frames, FEW)


def test_with_room_for_all_they_are_the_rows_that_are_counted(frames: Any, expected: Any) -> None:
    with closing(opened(*frames)) as source:
        counts = source.counts(REQUEST)
    rows = expected[0]
    every = rows.is_sampled
    cells = Counter(
        zip(
            rows.model_version[every].tolist(),
            rows.segments["country"][every].tolist(),
            rows.history[every].tolist(),
            strict=True,
        )
    )
    counted: Counter[Any] = Counter()
    for version, country, history, number in zip(
        counts.model_version.tolist(),
        counts.segments["country"].tolist(),
        counts.history.tolist(),
        counts.rows.tolist(),
        strict=True,
    ):
        counted[version, country, history] += number
    assert cells == counted
    unlabeled = sum(int(3**place) for place in range(len(ALL.as_of)))
    # Those that something was said of stand there a second time, even where it was taken back.
    said = Counter(rows.history[~every].tolist())
    assert said[unlabeled] > 0
    in_all = Counter(rows.history[every].tolist())
    assert all(said[one] == in_all[one] for one in in_all if one != unlabeled)


def test_a_sample_is_those_of_least_hash_with_the_values_of_their_rows(
    frames: Any, expected: Any
) -> None:
    made, _ = frames
    source = made.drop_duplicates("prediction id").set_index("prediction id")
    rows, few = expected
    hashed = [hashlib.sha256(one.encode()).hexdigest() for one in source.index]
    source["hashed"] = hashed
    start, end = (pd.Timestamp(one) for one in (ALL.window.start, ALL.window.end))
    inside = made[(made["scored_at"] >= start) & (made["scored_at"] < end)]
    wanted = source.loc[inside["prediction id"].unique()].sort_values("hashed").head(100)
    drawn = few.is_sampled
    assert drawn.sum() == 100
    assert (~drawn).sum() == 30
    assert Counter(few.features["visits"][drawn]) == Counter(wanted["visits"].astype(float))
    amounts = np.sort(wanted["amount"].to_numpy())
    np.testing.assert_array_equal(np.sort(few.features["amount"][drawn]), amounts)
    told = Counter(few.features["member"][drawn].tolist())
    assert told == Counter("true" if one else "false" for one in wanted["member"])
    assert few.features["country"][drawn].tolist().count(None) == wanted["country"].isna().sum()
    known = Counter(one for one in few.key[drawn].tolist() if one.startswith("c"))
    assert known == Counter(wanted["customer"].dropna())
    alone = sorted(one for one in few.key[drawn].tolist() if one.startswith("row Case-"))
    assert alone == sorted("row " + one for one in wanted.index[wanted["customer"].isna()])
    assert set(rows.key.tolist()) > set(few.key.tolist())


def test_what_becomes_known_later_does_not_change_the_sample(frames: Any) -> None:
    early = sampled(*frames, replace(FEW, as_of=ALL.as_of[:1]))
    late = sampled(*frames, FEW)
    for one, other in zip(
        (early.key[early.is_sampled], early.features["amount"][early.is_sampled]),
        (late.key[late.is_sampled], late.features["amount"][late.is_sampled]),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    # The first digit is the state at the first moment.
    assert (early.history[early.is_sampled] == late.history[late.is_sampled] % 3).all()


@pytest.mark.parametrize("kind", ["parquet", "json", "csv", "polars", "sqlite", "postgresql"])
def test_every_engine_gives_the_same(
    frames: Any, expected: Any, tmp_path: Any, request: pytest.FixtureRequest, kind: str
) -> None:
    tables: list[Any] = []
    url = f"sqlite:///{tmp_path / 'store.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql")
    for name, frame in zip(("features_made", "features_known"), frames, strict=True):
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            frame.to_parquet(path)
        elif kind == "csv":
            frame.to_csv(path, index=False)
        elif kind == "json":
            # Pandas writes ten decimals.
            pl.from_pandas(frame).write_ndjson(path)
        elif kind != "polars":
            engine = sqlalchemy.create_engine(url)
            times = {"scored_at", "confirmed_at"} & set(frame) if kind == "sqlite" else set()
            text = {name: [one.isoformat() for one in frame[name]] for name in times}
            plain = frame.assign(**text)
            plain.to_sql(name, engine, index=False)
            engine.dispose()
        tables.append(
            pl.from_pandas(frame).lazy()
            if kind == "polars"
            else SqlTable(url=url, table=name)
            if kind in {"sqlite", "postgresql"}
            else path
        )
    for asked, wanted in zip((ALL, FEW), expected, strict=True):
        assert_same(sampled(*tables, asked), wanted, kind)


@pytest.mark.slow
def test_spark_gives_the_same(frames: Any, expected: Any, spark: Any, tmp_path: Any) -> None:
    read = []
    for name, frame in zip(("p", "l"), frames, strict=True):
        pl.from_pandas(frame).write_parquet(tmp_path / f"{name}.parquet")
        read.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
    assert_same(sampled(*read, FEW), expected[1], "spark")


def assert_same(found: SampledRows, wanted: SampledRows, kind: str) -> None:
    for name in ("key", "model_version", "score", "history", "propensity", "is_sampled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    for name, values in wanted.segments.items():
        assert found.segments[name].tolist() == values.tolist()
    for name, values in wanted.features.items():
        held = found.features[name]
        if kind == "csv" and name in {"amount", "visits"}:
            held = np.array([np.nan if one is None else float(one) for one in held.tolist()])
        if kind == "csv" and name == "member":
            held = np.array([one.lower() for one in held.tolist()], dtype=object)
        if kind == "sqlite" and name == "member":
            held = np.where(held == 1, "true", "false").astype(object)
        np.testing.assert_array_equal(held, values, err_msg=name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": (), "group": None}, "predictions name no features"),
        ({"features": ("amout",)}, "no column 'amout'.*did you mean 'amount'"),
        ({"features": ("scored_at",)}, "the column 'scored_at' twice"),
        ({"features": ("amount",), "group": "amount"}, "the column 'amount' twice"),
        (
            {"features": ("when",)},
            "feature column 'when' .* is stored as TIMESTAMP.*: features are",
        ),
        ({"group": "visitors"}, r"no column 'visitors'"),
    ],
)
def test_columns_that_cannot_be_read_stop_nothing_else(
    frames: Any, tmp_path: Any, changes: dict[str, Any], message: str
) -> None:
    made, known = frames
    path = tmp_path / "made.parquet"
    made.assign(when=made["scored_at"]).to_parquet(path)
    with closing(opened(path, known, **changes)) as source:
        assert source.counts(REQUEST).found.predictions > 0
        with pytest.raises(InputError, match=message):
            source.sample(FEW)
        assert source.counts(REQUEST).found.predictions > 0

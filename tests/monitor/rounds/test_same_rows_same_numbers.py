"""The same rows come to the same stored results, whatever holds them and counts them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import duckdb
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import SETTLED, write_shop
from tests.sources.lake_tables import arrow_of, delta_table, iceberg_catalog, iceberg_table

pytestmark = [
    pytest.mark.usefixtures("unsearched_labels"),
    # Arrow reads pandas in a way that pandas announces to change.
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

FILES = {"predictions": "predictions.parquet", "positives": "confirmations.parquet"}


def written(folder, *, name="card-fraud", **sources):
    """The shop, whose provisional windows, segments and versions draw more than others."""
    folder.mkdir(exist_ok=True)
    path = write_shop(folder, class_prior=0.1, panes="[1d]", with_segments=True, with_versions=True)
    text = path.read_text(encoding="utf-8").replace("  card-fraud:", f"  {name}:")
    for role, source in sources.items():
        text = text.replace(f"source: {FILES[role]}", f"source: {source}")
    path.write_text(text, encoding="utf-8")
    return path


def stored(path, *, name="card-fraud"):
    """Every number of every result, and nothing of where it came from."""
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
        return [
            row.model_copy(update={"monitor": ""})
            for row in jobs.ledger.results(name, revisions="all")
        ]


def in_files(folder, tables, _):
    for role, rows in tables.items():
        rows.to_parquet(folder / FILES[role])
    return {}


def in_duckdb(folder, tables, _):
    with closing(duckdb.connect(str(folder / "shop.duckdb"))) as database:
        for role, rows in tables.items():
            database.from_arrow(arrow_of(rows)).create(role)
    return {role: f"{{url: 'duckdb:///{folder}/shop.duckdb', table: {role}}}" for role in tables}


def in_sqlite(folder, tables, _):
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        for role, rows in tables.items():
            moments = rows.select_dtypes("datetimetz")
            as_text = moments.apply(lambda one: one.dt.strftime("%Y-%m-%d %H:%M:%S.%f+00:00"))
            rows.assign(**as_text).to_sql(role, database, index=False)
    return {role: f"{{url: 'sqlite:///{folder}/shop.db', table: {role}}}" for role in tables}


def in_delta(folder, tables, _):
    return {role: delta_table(folder / role, arrow_of(rows)) for role, rows in tables.items()}


def in_iceberg(folder, tables, monkeypatch):
    catalog = iceberg_catalog(folder / "lake", monkeypatch)
    return {role: iceberg_table(catalog, role, arrow_of(rows)) for role, rows in tables.items()}


@pytest.fixture(scope="module")
def of_files(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("files"))
    return path.parent, stored(path)


@pytest.mark.parametrize("put", [in_files, in_duckdb, in_sqlite, in_delta, in_iceberg])
def test_results_do_not_depend_on_what_holds_the_rows(of_files, tmp_path, monkeypatch, put):
    """Each in another order than the first: nothing is close, all is equal."""
    folder, expected = of_files
    shuffled = {
        role: pd.read_parquet(folder / file).sample(frac=1.0, random_state=3)
        for role, file in FILES.items()
    }
    here = tmp_path / "shop"
    written(here)
    path = written(here, **put(here, shuffled, monkeypatch))
    if put is in_files:
        in_files(here, shuffled, monkeypatch)
    found = stored(path)
    assert len({(one.window_start, one.state, one.segment) for one in found}) > 20
    assert found == expected


def test_nor_on_what_a_monitor_is_called(of_files, tmp_path):
    path = written(tmp_path / "shop", name="fraud-again")
    assert stored(path, name="fraud-again") == of_files[1]


@pytest.mark.parametrize("prior", ["0.1", pytest.param("auto", marks=pytest.mark.slow)])
def test_nor_on_settings_that_do_not_matter_to_a_window(tmp_path, prior):
    """Another pane between two says no other number of the rest."""
    found = []
    for place, panes in enumerate(("[0d]", "[0d, 1d]")):
        (tmp_path / str(place)).mkdir()
        path = write_shop(tmp_path / str(place), class_prior=prior, panes=panes)
        found.append(
            {
                (one.window_start, one.metric): one.model_copy(update={"revision": 0})
                for one in stored(path)
                if one.state == "mature"
            }
        )
    assert found[0]
    assert found[0] == found[1]

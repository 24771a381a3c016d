"""A look at many predictions takes memory for those that were confirmed, not for all."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from pumonitor.errors import SourceError
from pumonitor.ports import SourceDescription
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from pumonitor.sources.reach import session


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A million predictions, a fiftieth of them confirmed a day later."""
    folder = tmp_path_factory.mktemp("many")
    with duckdb.connect() as connection:
        scored = connection.query(
            "SELECT 'id-' || lpad(i::VARCHAR, 12, '0') AS id, i % 1000 / 1000 AS score, "
            "TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(i * 5) AS scored_at "
            "FROM range(1000000) AS rows(i)"
        )
        scored.write_parquet(str(folder / "scored.parquet"), row_group_size=20_000)
        confirmed = connection.query(
            "SELECT 'id-' || lpad((i * 50)::VARCHAR, 12, '0') AS id, "
            "TIMESTAMPTZ '2026-01-02 00:00:00+00' + to_seconds(i * 250) AS confirmed_at "
            "FROM range(20000) AS rows(i)"
        )
        confirmed.write_parquet(str(folder / "confirmed.parquet"))
    return folder


def look(folder: Path) -> SourceDescription:
    source = open_source(
        str(folder / "scored.parquet"),
        PredictionColumns(id="id", time="scored_at", score="score"),
        str(folder / "confirmed.parquet"),
        LabelColumns(id="id", known_at="confirmed_at"),
    )
    try:
        return source.describe()
    finally:
        source.close()


def test_a_million_predictions_are_looked_at_in_the_memory_of_their_confirmed_ones(
    folder, monkeypatch
):
    monkeypatch.setattr(session, "_MEMORY_LIMIT", "40MB")
    seen = look(folder)
    assert (seen.predictions, seen.labels) == (1_000_000, 20_000)
    assert set(seen.delay_quantiles.values()) == {86_400.0}


def test_too_little_memory_is_said_with_what_to_do(folder, monkeypatch):
    monkeypatch.setattr(session, "_MEMORY_LIMIT", "2MB")
    with pytest.raises(SourceError) as caught:
        look(folder)
    message = str(caught.value)
    # Either is too large for it; which is read first is a matter of threads.
    assert re.search(
        r"(predictions \S*/scored|positives \S*/confirmed)\.parquet needs more than the 2MB of "
        r"memory allowed",
        message,
    )
    assert "smaller row groups" in message

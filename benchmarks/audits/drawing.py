"""How long it takes to draw 300 cases of ten million rows, in DuckDB, from Parquet files."""

# ruff: noqa: S608 (all values are numbers and paths of its own)

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from pumonitor.audit.ordering import draw_key
from pumonitor.audit.requests import BinRequest, CaseRequest
from pumonitor.ports import Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

__all__ = ["time_to_draw"]

CASES: Final = 300
_DAYS: Final = 10
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def time_to_draw(rows: int) -> tuple[float, float, float, bool]:
    """Seconds to draw, with those of the processor; seconds to count the bins before.

    The last is whether Python draws the same cases.

    The rows have text ids; a hundredth of them are confirmed.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), rows)
        source = open_source(
            f"{folder}/predictions.parquet",
            PredictionColumns(id="id", time="time", score="score"),
            f"{folder}/confirmations.parquet",
            LabelColumns(id="id", known_at="known"),
        )
        edges = tuple(np.linspace(0, 1, 15)[1:-1].tolist())
        with closing(source):
            began = time.monotonic()
            counted = [source.bins(_of_day(day, edges)) for day in range(_DAYS)]
            middle, used = time.monotonic(), time.process_time()
            unlabeled = sum(np.subtract(one.rows, one.labeled).astype(float) for one in counted)
            wanted = CASES / (len(edges) + 1)
            shares = tuple((wanted + 6 * np.sqrt(wanted) + 20) / unlabeled)
            found = [row for day in range(_DAYS) for row in source.draw(_cases(day, edges, shares))]
            ended, used = time.monotonic(), time.process_time() - used
    same = all(draw_key("seed", row.id) == row.key for row in found)
    by_bin = np.bincount([row.bin for row in found], minlength=len(edges) + 1)
    return ended - middle, used, middle - began, same and bool((by_bin >= wanted).all())


def _write(folder: Path, rows: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 'order-' || range AS id, TIMESTAMPTZ '2026-01-01 00:00:00+00' + "
            f"INTERVAL (range * {_DAYS * 86_400} // {rows}) SECOND AS time, "
            "(hash(range) % 1000003) / 1000003.0 AS score "
            f"FROM range({rows})) TO '{folder}/predictions.parquet' (ROW_GROUP_SIZE 100000)"
        )
        connection.execute(
            "COPY (SELECT 'order-' || range * 97 AS id, TIMESTAMPTZ '2026-01-12 00:00:00+00' AS "
            f"known FROM range({rows // 97})) TO '{folder}/confirmations.parquet'"
        )


def _of_day(day: int, edges: tuple[float, ...]) -> BinRequest:
    start = _START + timedelta(days=day)
    return BinRequest(
        window=Window(start=start, end=start + timedelta(days=1), index=day),
        as_of=_START + timedelta(days=30),
        model_version="",
        threshold=0.5,
        edges=edges,
    )


def _cases(day: int, edges: tuple[float, ...], shares: tuple[float, ...]) -> CaseRequest:
    of_day = _of_day(day, edges)
    return CaseRequest(
        window=of_day.window,
        as_of=of_day.as_of,
        model_version="",
        threshold=0.5,
        edges=edges,
        seed="seed",
        shares=shares,
    )

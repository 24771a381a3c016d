"""Days of generated predictions, and what is asked of them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from benchmarks.monitoring.backfill import FIRST, family
from pumonitor.ports import CountRequest, PredictionSource, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

__all__ = ["LABELS", "PREDICTIONS", "Spent", "measured", "opened", "requests", "whole"]

PREDICTIONS: Final = PredictionColumns(id="id", time="scored_at", score="score")
LABELS: Final = LabelColumns(id="id", known_at="confirmed_at")
_DAY: Final = timedelta(days=1)
_AGES: Final = (0.0, 2.5, 5.0, 7.5, 10.0)
_EDGES: Final = tuple(10 * 86_400 * step / 24 for step in range(1, 25))


@dataclass(slots=True)
class Spent:
    """Seconds of a stretch of work: of all cores, and by the clock."""

    cpu: float = 0.0
    wall: float = 0.0


@contextmanager
def measured() -> Iterator[Spent]:
    """What is spent within it, by this process and those that it has started (Linux)."""
    spent = Spent()
    cpu, wall = _cpu(), time.perf_counter()
    yield spent
    spent.cpu, spent.wall = _cpu() - cpu, time.perf_counter() - wall


def _cpu() -> float:
    ticks = 0
    for pid in family(os.getpid()):
        try:
            told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(told[11]) + int(told[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def opened(folder: Path) -> PredictionSource:
    """The files that `benchmarks.monitoring.backfill.write` has written."""
    return open_source(
        str(folder / "predictions" / "*.parquet"),
        PREDICTIONS,
        str(folder / "confirmations" / "*.parquet"),
        LABELS,
    )


def requests(days: int) -> list[CountRequest]:
    """A request for each of the first days, with five panes."""
    return [_request(day, 1) for day in range(days)]


def whole(days: int, moment_of: int) -> CountRequest:
    """All of the first days as one window, as known at one moment after so many days."""
    request = _request(0, days)
    as_of = (FIRST + moment_of * _DAY,)
    return CountRequest(window=request.window, as_of=as_of, threshold=0.5)


def _request(day: int, days: int) -> CountRequest:
    start = FIRST + day * _DAY
    window = Window(start=start, end=start + days * _DAY, index=day)
    return CountRequest(
        window=window,
        as_of=tuple(window.end + age * _DAY for age in _AGES),
        threshold=0.5,
        delay_edges=_EDGES,
    )

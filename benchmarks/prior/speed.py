"""Seconds of every estimator from tables of many rows, and how they grow with the rows."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import pandas as pd

from benchmarks.prior.runs import RUNNABLE, value_from_table
from benchmarks.prior.synthetic import normal_sample
from benchmarks.prior.tables import FigureTable, watched
from pumonitor import ScoreTable
from pumonitor.prior import METHODS, estimate_from_table

__all__ = ["SIZES", "speed_table", "speed_tables"]

SIZES: Final = (100_000, 1_000_000, 10_000_000)
_PRIOR = 0.1
_ENOUGH = 1.0  # seconds after which a measurement is not repeated
_RUNS = 5


def speed_tables(
    *, sizes: Sequence[int] = SIZES, methods: Sequence[str] = RUNNABLE
) -> Iterator[FigureTable]:
    """One table: a row per method, a column per number of rows."""
    yield speed_table(sizes, methods)


def speed_table(sizes: Sequence[int] = SIZES, methods: Sequence[str] = RUNNABLE) -> FigureTable:
    """Value alone and with its interval, by the number of unlabeled rows; a tenth is labeled."""
    columns: dict[str, dict[str, float]] = {}
    for size in sizes:
        sample = normal_sample(_PRIOR, 0, labeled=size // 10, unlabeled=size)
        made = seconds_of(partial(ScoreTable.from_arrays, sample.labels, sample.scores))
        tables = {"ranks": ScoreTable.from_arrays(sample.labels, sample.scores)}
        assert sample.probabilities is not None
        tables["probabilities"] = ScoreTable.from_arrays(sample.labels, sample.probabilities)
        del sample
        gc.collect()
        alone, whole = {"table from arrays": made}, {"table from arrays": math.nan}
        for method in watched(methods, f"{size:,} unlabeled rows"):
            of_probabilities = method in METHODS and METHODS[method].reads == "probabilities"
            table = tables["probabilities" if of_probabilities else "ranks"]
            alone[method] = math.nan
            if method in METHODS:
                alone[method] = seconds_of(partial(value_from_table, method, table))
            whole[method] = seconds_of(
                partial(estimate_from_table, table, method=method, scenario="case-control")
            )
        name = f"{size:.0e}".replace("e+0", "e")
        columns[name] = alone
        columns[f"{name} with interval"] = whole
    frame = pd.DataFrame(columns)
    frame.columns = [f"{name} seconds" for name in frame.columns]
    return FigureTable(
        title="Seconds from a table, by unlabeled rows (a tenth as many labeled)",
        frame=frame.rename_axis("method").reset_index(),
        notes=(
            "The table itself, from arrays in memory, is the first row and in no other; of the "
            "rest, only joining the cells of the table to 512 takes longer with more rows.",
            "The fastest of up to 5 calls, one where a call takes more than a second.",
        ),
    )


def seconds_of(function: Callable[[], object]) -> float:
    """The fastest of a few calls, of one if that takes long."""
    fastest, spent = math.inf, 0.0
    for _ in range(_RUNS):
        started = time.perf_counter()
        function()
        taken = time.perf_counter() - started
        fastest, spent = min(fastest, taken), spent + taken
        if spent > _ENOUGH:
            break
    return fastest

"""A table of counts in Spark's catalog, to which Spark appends the sets that it counts."""

# ruff: noqa: S608 (names reach SQL only quoted by the dialect, values as whole numbers)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, PredictionSource, Window
from pumonitor.sources.column_types.spark_dialect import Spark
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.counted.rows import refuse_problems
from pumonitor.sources.counted.schema import (
    FIELDS,
    FOUND,
    GROUP,
    PROBLEM,
    TOTALS,
    VERSION,
    CountedSettings,
    fields_of,
    moments_text,
)
from pumonitor.sources.counted.statement import set_statement, table_definition
from pumonitor.sources.windows.counts_query import MOST_GROUPS, Statement
from pumonitor.sources.windows.counts_source import CountedSource
from pumonitor.sources.windows.counts_spark import SparkEngine
from pumonitor.text import moment_text

SetKey = tuple[int, int, str, str]
"""Start and end of a window, moments and settings: what two sets of the same have in common."""


def spark_counts_table(
    source: PredictionSource, table: str, score_scale: Literal["probability", "unbounded"]
) -> SparkCountsTable:
    """The table of a source whose rows are in Spark; one that is not there is made.

    Raises
    ------
    InputError
        If rows are elsewhere.
    SourceError
        If Spark fails.
    """
    engine = source.engine if isinstance(source, CountedSource) else None
    if not isinstance(source, CountedSource) or not isinstance(engine, SparkEngine):
        msg = (
            "predictions and positives must be in Spark, which counts them into its own table: "
            "data frames, or url: sc://HOST:PORT with table: in the configuration"
        )
        raise InputError(msg)
    return SparkCountsTable(source, engine, table, score_scale=score_scale)


class SparkCountsTable:
    """Sets of counts of one monitor, each written by one statement as one file.

    Parameters
    ----------
    source : CountedSource
    engine : SparkEngine
        Its own.
    table : str
        With dots between its parts.
    score_scale : {"probability", "unbounded"}
    """

    def __init__(
        self,
        source: CountedSource,
        engine: SparkEngine,
        table: str,
        *,
        score_scale: Literal["probability", "unbounded"],
    ) -> None:
        self._source = source
        self._engine = engine
        self._name = f"the table {table}"
        self._segments = source.segments
        self._score_scale = score_scale
        dialect = Spark()
        self._sql = ".".join(map(dialect.named, table.split(".")))
        made = table_definition(table, segments=len(self._segments), dialect=dialect)
        self._engine.run(Statement(sql=made), about=self._name)

    def _key(self, request: CountRequest) -> SetKey:
        """What tells the set of a request from others."""
        window = request.window
        return (
            microseconds(window.start),
            microseconds(window.end),
            moments_text(request.as_of),
            self._settings(request).text,
        )

    def _sets(self, since: datetime) -> frozenset[SetKey]:
        """Sets of windows from a time on that are whole and can be read by a monitor."""
        found = self._engine.rows(
            Statement(
                sql="SELECT window_start, window_end, moments, settings FROM (SELECT "
                "window_start, window_end, moments, settings, counted_at, "
                f"sum(CASE WHEN kind = '{FOUND}' THEN 1 ELSE 0 END) AS totals, "
                f"sum(CASE WHEN kind = '{PROBLEM}' THEN 1 ELSE 0 END) AS problems, "
                f"sum(CASE WHEN kind = '{GROUP}' THEN n ELSE 0 END) AS counted, "
                f"max(CASE WHEN name = '{TOTALS[0]}' THEN n END) AS predictions "
                f"FROM {self._sql} WHERE window_start >= {microseconds(since)} "
                f"AND format = {VERSION} "
                "GROUP BY window_start, window_end, moments, settings, counted_at) AS sets "
                f"WHERE totals = {len(TOTALS)} AND problems = 0 AND counted = predictions"
            ),
            about=self._name,
        )
        return frozenset((int(row[0]), int(row[1]), str(row[2]), str(row[3])) for row in found)

    def write(self, requests: Sequence[CountRequest], *, again: bool = False) -> list[Window]:
        """Count windows one by one, those whose set is there only if asked to count them again.

        Returns
        -------
        list of Window
            Those that were counted.

        Raises
        ------
        InputError
            If rows cannot be used, which the set says to the monitor as well.
        SourceError
            If Spark fails.
        """
        there = frozenset[SetKey]()
        if requests and not again:
            there = self._sets(min(request.window.start for request in requests))
        waiting = [request for request in requests if self._key(request) not in there]
        for request in waiting:
            self._write(request)
        return [request.window for request in waiting]

    def _write(self, request: CountRequest) -> None:
        counted_at = datetime.now(UTC)
        about = f"the window from {moment_text(request.window.start)}"
        query = self._source.query_of([request])
        # The first row of each id takes sorting, which is for windows in which ids are repeated.
        (rows, *_), *_ = self._engine.rows(query.rows(), about=about)
        (different,), *_ = self._engine.rows(query.ids(), about=about)
        asked = set_statement(
            replace(query, repeats=rows != different),
            request,
            self._settings(request),
            counted_at=counted_at,
            rules=self._source.rules,
        )
        names = [field.name for field in fields_of(len(self._segments))]
        order = ["kind", "model_version", *names[len(FIELDS) :], "cell", "history"]
        # One task writes it, so one file holds it; sorted it takes half of the space.
        self._engine.run(
            Statement(
                sql=f"INSERT INTO {self._sql} ({', '.join(names)}) SELECT {', '.join(names)} "
                f"FROM (SELECT /*+ REPARTITION(1) */ * FROM ({asked.sql}) AS counted) AS whole "
                f"SORT BY {', '.join(order)}",
                values=asked.values,
            ),
            about=about,
        )
        self._check(request, counted_at, about=about)

    def _check(self, request: CountRequest, counted_at: datetime, *, about: str) -> None:
        """Refuse what the set says of rows that cannot be used, or of too many groups."""
        told = self._engine.columns(
            Statement(
                sql=f"SELECT kind, name, CASE WHEN kind = '{PROBLEM}' THEN cell ELSE 0 END "
                f"AS cell, CASE WHEN kind = '{PROBLEM}' THEN sum(n) ELSE count(*) END AS n "
                f"FROM {self._sql} WHERE window_start = {microseconds(request.window.start)} "
                f"AND counted_at = {microseconds(counted_at)} "
                f"AND kind IN ('{PROBLEM}', '{GROUP}') "
                f"GROUP BY kind, name, CASE WHEN kind = '{PROBLEM}' THEN cell ELSE 0 END"
            ),
            about=self._name,
        )
        refuse_problems(told, about=about)
        groups = sum(
            int(n) for kind, n in zip(told["kind"], told["n"], strict=True) if kind == GROUP
        )
        if groups > MOST_GROUPS:
            msg = f"{about} has more than {MOST_GROUPS} groups of rows: name fewer segments"
            raise InputError(msg)

    def _settings(self, request: CountRequest) -> CountedSettings:
        return CountedSettings.of(
            request,
            score_scale=self._score_scale,
            segments=self._segments,
            states=self._source.states,
            ranked_by=self._source.ranked_by,
            value=self._source.value,
        )

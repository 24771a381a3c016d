"""Read tables in files: their columns from a few thousand rows, their extent from all rows."""

# ruff: noqa: S608 (names and paths reach SQL only through `quoted` and `text`)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.table_samples import ColumnSample, Extent, Kind, TableSample
from pumonitor.sources.column_types.monitored_tables import LabelWords
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER
from pumonitor.sources.lakes.addresses import is_lake_address
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.lakes.table import LakeRows, LakeTable, saying_why
from pumonitor.sources.lakes.views import NOT_FOR_STREAMS, show_rows
from pumonitor.sources.reach.places import Place, connect, files_of, no_files, place_of_files
from pumonitor.sources.reach.remote_files import RemoteFiles
from pumonitor.sources.reach.session import (
    READ_EXACTLY,
    Progress,
    Session,
    number,
    quoted,
    text,
)

_SAMPLE_ROWS: Final = 5_000
_HELD_BYTES: Final = 50_000_000
_DELAY_LEVELS: Final = (0.5, 0.95)
_ONE_IN: Final = 64
"""The share of ids that are looked at one by one for repeated ones."""
_ENOUGH: Final = 1_000
"""Rows of such ids; if there are fewer, all are looked at."""
_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("integer", re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")),
    ("float", re.compile(r"FLOAT|DOUBLE|DECIMAL\(.*\)")),
    ("moment", re.compile(r"TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS")),
    ("naive", re.compile(r"TIMESTAMP(_NS|_MS|_S)?|DATE")),
    ("truth", re.compile(r"BOOLEAN")),
    ("text", re.compile(r"VARCHAR|UUID|ENUM\(.*\)")),
)
_READERS: Final = {
    "parquet": "read_parquet({files}, hive_partitioning = false, union_by_name = true)",
    "json": "read_json({files}, union_by_name = true)",
    "csv": "read_csv({files}, header = true, union_by_name = true)",
}
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class TableReader:
    """Queries both tables through one connection that can read nothing else.

    Parameters
    ----------
    session : Session
    register : callable
        Makes rows of a lake's table a view of a name.
    """

    def __init__(self, session: Session, register: Callable[[str, LakeRows], object]) -> None:
        self._session = session
        self._register = register
        self._lakes: dict[str, LakeTable] = {}
        self._tables = 0

    def table(self, place: Place | LakeTable) -> TableSample:
        """Describe the columns of a table from a sample of its rows."""
        if isinstance(place, LakeTable):
            relation = f"lake_{len(self._lakes)}"
            self._lakes[relation] = place
            self._read_only(relation, place.version.schema.names)
        else:
            files = files_of(place, self._session)
            if not files:
                raise no_files(place)
            relation = self._held(place, files)
        described = self._rows(f"DESCRIBE SELECT * FROM {relation}")
        kinds = {str(name): _kind(str(kind)) for name, kind, *_ in described}
        measures = [
            f"count({quoted(name)}), count(DISTINCT {quoted(name)}), "
            + (
                f"min({quoted(name)})::DOUBLE, max({quoted(name)})::DOUBLE"
                if kind in {"integer", "float", "truth"}
                else "NULL, NULL"
            )
            for name, kind in kinds.items()
        ]
        (found,) = self._rows(
            f"SELECT count(*), {', '.join(measures)} "
            f"FROM (SELECT * FROM {relation} LIMIT {_SAMPLE_ROWS})",
            step=f"Looking at {place.name}",
        )
        rows = int(found[0])
        if rows == 0:
            msg = f"{place.name} has no rows, so no configuration can be proposed"
            raise InputError(msg)
        columns = []
        for at, (name, kind) in enumerate(kinds.items()):
            present, distinct, least, greatest = found[1 + 4 * at : 5 + 4 * at]
            columns.append(
                ColumnSample(
                    name=name,
                    kind=kind,
                    missing=rows - present,
                    distinct=distinct,
                    rows=rows,
                    least=least,
                    greatest=greatest,
                )
            )
        return TableSample(name=place.name, relation=relation, columns=tuple(columns))

    def _held(self, place: Place, files: Sequence[str]) -> str:
        """Keep the rows in memory if they are few, so that text is not parsed for every query."""
        listed = ", ".join(map(text, files))
        relation = _READERS[place.kind].format(files=f"[{listed}]")
        if place.kind == "parquet":
            return relation
        # Of their content nothing is read.
        ((size,),) = self._rows(f"SELECT sum(size) FROM read_blob([{listed}])")
        if size > _HELD_BYTES:
            return relation
        self._tables += 1
        name = f"look_{self._tables}"
        self._rows(
            f"CREATE TEMP TABLE {name} AS SELECT * FROM {relation}",
            step=f"Reading {place.name}",
        )
        return name

    def zeros(self, table: TableSample, column: ColumnSample) -> tuple[int, int]:
        """Number of labels that are 0, and of those that are neither 1, 0 nor -1 or are missing."""
        self._read_only(table.relation, [column.name])
        value = _label(column.name)
        (found,) = self._rows(
            f"SELECT count(*) FILTER (WHERE {value} = 0), "
            f"count(*) FILTER (WHERE coalesce({value} NOT IN (0, 1, -1), true)) "
            f"FROM {table.relation}"
        )
        return int(found[0]), int(found[1])

    def words(self, table: TableSample, column: ColumnSample, *, most: int) -> dict[str, int]:
        """Rows by value as text, the most frequent first; "" stands for a missing one."""
        self._read_only(table.relation, [column.name])
        word = f"coalesce(CAST({quoted(column.name)} AS VARCHAR), '')"
        rows = self._rows(
            f"SELECT {word} AS word, count(*) AS n FROM {table.relation} GROUP BY word "
            f"ORDER BY n DESC, word LIMIT {most}"
        )
        return {str(word): int(count) for word, count in rows}

    def overlap(
        self, predictions: TableSample, column: str, positives: TableSample, other: str
    ) -> float:
        """Share of a sample of the positives' ids that occur among the predictions."""
        self._read_only(predictions.relation, [column])
        self._read_only(positives.relation, [other])
        ids = f"CAST({quoted(other)} AS VARCHAR)"
        ((share,),) = self._rows(
            f"WITH wanted AS (SELECT DISTINCT {ids} AS id FROM {positives.relation} LIMIT 1000) "
            f"SELECT count(*) FILTER (WHERE id IN (SELECT CAST({quoted(column)} AS VARCHAR) "
            f"FROM {predictions.relation})) / count(*) FROM wanted"
        )
        return float(share)

    def extent(
        self,
        predictions: TableSample,
        positives: TableSample,
        *,
        ids: tuple[str, str],
        time: ColumnSample,
        score: str,
        known_at: ColumnSample | None,
        label: str | None,
        label_words: LabelWords | None = None,
    ) -> Extent:
        """Count both tables as a whole: rows, times, delays."""
        of_positives = [ids[1], "" if known_at is None else known_at.name, label or ""]
        self._read_only(predictions.relation, [ids[0], time.name, score])
        self._read_only(positives.relation, [name for name in of_positives if name])
        moment = _seconds(time)
        known = "NULL::DOUBLE" if known_at is None else _seconds(known_at)
        count, first, last, least, greatest, repeated, missing, infinite = self._predicted(
            predictions, ids[0], moment, score
        )
        positive = "" if label is None else f"WHERE {_label(label, label_words)} = 1"
        ((confirmations, last_known),) = self._rows(
            f"SELECT count(*), max({known}) FROM {positives.relation} {positive}"
        )
        matched, refused, delays = self._delays(
            f"(SELECT moment, known - moment AS delay FROM "
            f"(SELECT CAST({quoted(ids[1])} AS VARCHAR) AS id, {known} AS known "
            f"FROM {positives.relation} {positive}) JOIN "
            f"(SELECT CAST({quoted(ids[0])} AS VARCHAR) AS id, {moment} AS moment "
            f"FROM {predictions.relation}) USING (id))",
            half=(first + last) / 2,
        )
        return Extent(
            predictions=count,
            confirmations=confirmations,
            matched=matched,
            first=first,
            last=last,
            last_known=last if last_known is None else last_known,
            least_score=least,
            greatest_score=greatest,
            refused=refused,
            repeated=repeated,
            missing_scores=missing,
            infinite_scores=infinite,
            delays=delays,
        )

    def _predicted(
        self, predictions: TableSample, id_: str, moment: str, score: str
    ) -> tuple[Any, ...]:
        """Rows, first and last time, least and greatest score, repeated ids, unusable scores."""
        value = f"CAST({quoted(score)} AS DOUBLE)"
        # NaN is the greatest number here.
        usable = f"FILTER (WHERE isfinite({value}))"
        # All rows of an id are among them or none is. DuckDB's own estimate of different ids may be
        # off by a tenth, and would find repeated ids where there are none.
        some = f"FILTER (WHERE isfinite({value}) AND hash({quoted(id_)}) % {_ONE_IN} = 0)"
        (found,) = self._rows(
            f"SELECT count(*) {usable}, min({moment}) {usable}, max({moment}) {usable}, "
            f"min({value}) {usable}, max({value}) {usable}, "
            f"count(*) FILTER (WHERE {value} IS NULL), "
            f"count(*) FILTER (WHERE NOT isfinite({value})), "
            f"count(*) {some}, count(DISTINCT hash({quoted(id_)})) {some} "
            f"FROM {predictions.relation}",
            step="Reading predictions",
        )
        *measures, missing, infinite, rows, ids = found
        if measures[0] == 0 or measures[1] is None:
            msg = f"{predictions.name} has no row with a time and a finite score"
            raise InputError(msg)
        if rows < _ENOUGH:
            (found,) = self._rows(
                f"SELECT count(*) {usable}, count(DISTINCT {quoted(id_)}) {usable} "
                f"FROM {predictions.relation}",
                step="Reading predictions",
            )
            rows, ids = found
        return *measures, 1 - ids / rows, missing, infinite

    def _delays(self, joined: str, *, half: float) -> tuple[int, int, dict[float, float]]:
        """Matched confirmations, those known before their prediction, and quantiles of delays.

        Delays are of predictions made until `half`, as later ones may still be confirmed.
        """
        clocks = CLOCKS_DIFFER.total_seconds()
        early = f"FILTER (WHERE moment <= {number(half)} AND delay >= {number(-clocks)})"
        measures = [f"count(*) FILTER (WHERE delay < {number(-clocks)})"]
        measures += [f"quantile_cont(delay, {level}) {early}" for level in _DELAY_LEVELS]
        ((matched, refused, *quantiles),) = self._rows(
            f"SELECT count(*), {', '.join(measures)} FROM {joined}", step="Reading confirmations"
        )
        delays = {
            level: seconds
            for level, seconds in zip(_DELAY_LEVELS, quantiles, strict=True)
            if seconds is not None
        }
        return matched, refused, delays

    def share_at_or_above(self, predictions: TableSample, score: str, threshold: float) -> float:
        """Share of the predictions with a finite score that score at or above a threshold."""
        self._read_only(predictions.relation, [score])
        usable = f"isfinite(CAST({quoted(score)} AS DOUBLE))"
        ((share,),) = self._rows(
            f"SELECT count(*) FILTER (WHERE {usable} AND {quoted(score)} >= {number(threshold)}) "
            f"/ count(*) FILTER (WHERE {usable}) FROM {predictions.relation}"
        )
        return float(share)

    def _read_only(self, relation: str, names: Sequence[str]) -> None:
        """Of a lake's table, have no other columns read than those asked about next."""
        if relation in self._lakes:
            self._register(relation, self._lakes[relation].load(names))

    def _rows(self, sql: str, *, step: str = "") -> list[tuple[Any, ...]]:
        with saying_why(self._lakes.values()):
            return self._session.rows(sql, step=step)


@contextmanager
def open_tables(
    paths: Sequence[str], *, progress: Progress | None = None
) -> Iterator[tuple[TableReader, tuple[Place | LakeTable, ...]]]:
    """Open a connection that can read these tables and nothing else."""
    places = tuple(map(_place, paths))
    files = [place for place in places if not isinstance(place, LakeTable)]
    connection = connect(files, without=(*READ_EXACTLY, *NOT_FOR_STREAMS))
    try:
        name = " and ".join(place.name for place in places)
        session = Session(connection, name=name, progress=progress)
        yield TableReader(session, partial(show_rows, connection)), places
    finally:
        connection.close()


def _place(path: str) -> Place | LakeTable:
    if is_lake_address(path):
        return open_lake(path)
    place = place_of_files(path)
    if isinstance(place, RemoteFiles) and place.files != (place.name,):
        msg = (
            f"{place.name} contains a password or signature, which must not be in the "
            "configuration: give files without one, and afterwards put the whole address in the "
            "environment and write source: ${NAME}"
        )
        raise InputError(msg)
    return place


def _kind(type_name: str) -> Kind:
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(type_name)), "other")


def _seconds(column: ColumnSample) -> str:
    name = quoted(column.name)
    if column.kind in {"moment", "naive"}:
        # Nanoseconds have types of their own, for which there is no epoch().
        kind = "TIMESTAMPTZ" if column.kind == "moment" else "TIMESTAMP"
        return f"epoch(CAST({name} AS {kind}))"
    if column.time_unit is None:
        msg = (
            f"column {column.name!r} holds no times: write them like 2026-01-31 08:30:00 or "
            "2026-01-31, or as an integer since 1970"
        )
        raise InputError(msg)
    return f"({name} / {_PER_SECOND[column.time_unit]}.0)"


def _label(name: str, words: LabelWords | None = None) -> str:
    """SQL of a label as a number, whatever its type."""
    if words is not None:
        positive = ", ".join(map(text, words.positive))
        return f"CASE WHEN CAST({quoted(name)} AS VARCHAR) IN ({positive}) THEN 1 END"
    word = f"lower(CAST({quoted(name)} AS VARCHAR))"
    return f"CASE {word} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE try_cast({word} AS DOUBLE) END"

"""Read tables in files: their columns from a few thousand rows, their extent from all rows."""

# ruff: noqa: S608 (names and paths reach SQL only through `quoted` and `text`)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from pumonitor.errors import InputError, did_you_mean
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER
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

__all__ = ["ColumnSample", "Extent", "Kind", "TableReader", "TableSample", "open_tables"]

Kind = Literal["integer", "float", "moment", "naive", "truth", "text", "other"]

_SAMPLE_ROWS: Final = 5_000
_HELD_BYTES: Final = 50_000_000
_DELAY_LEVELS: Final = (0.5, 0.95)
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
_EPOCH_UNITS: Final = (("s", 1e9, 5e9), ("ms", 1e12, 5e12), ("us", 1e15, 5e15), ("ns", 1e18, 5e18))
"""Since 2001 and until 2128."""

_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSample:
    """Type and values of a column, from a sample.

    Attributes
    ----------
    name : str
    kind : str
        "moment" is a time with its zone, "naive" one without, or a date.
    missing : int
        Of `rows`.
    distinct : int
    rows : int
    least, greatest : float or None
        Of numbers.
    """

    name: str
    kind: Kind
    missing: int
    distinct: int
    rows: int
    least: float | None = None
    greatest: float | None = None

    @property
    def is_unique(self) -> bool:
        """Whether no value is missing or occurs twice."""
        return self.rows > 0 and self.distinct == self.rows

    @property
    def time_unit(self) -> str | None:
        """The unit in which integers are times since 1970, if they can be."""
        if self.kind != "integer" or self.least is None or self.greatest is None:
            return None
        return next(
            (
                unit
                for unit, low, high in _EPOCH_UNITS
                if low <= self.least and self.greatest <= high
            ),
            None,
        )

    @property
    def is_time(self) -> bool:
        """Whether the column can hold times."""
        return self.kind in {"moment", "naive"} or self.time_unit is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample:
    """A table: its path and its columns."""

    name: str
    relation: str
    columns: tuple[ColumnSample, ...]

    def column(self, name: str, *, option: str) -> ColumnSample:
        """The column of that name.

        Raises
        ------
        InputError
            With the nearest names, if there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        hint = did_you_mean(name, names) or f"; its columns are {', '.join(names)}"
        msg = f"{option}: {self.name} has no column {name!r}{hint}"
        raise InputError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Numbers of rows and times of both tables; seconds since 1970, naive times read as UTC.

    Attributes
    ----------
    predictions, confirmations : int
        Rows.
    matched : int
        Confirmations whose prediction is there.
    first, last : float
        Predictions.
    last_known : float
        Confirmations.
    least_score, greatest_score : float
    delays : mapping of float to float
        Quantiles of the seconds from a prediction of the earlier half to its confirmation; only
        confirmations that count.
    refused : int
        Matched confirmations that were known more than a day before their prediction was made.
    repeated : float
        Approximate share of the predictions that repeat an id.
    missing_scores, infinite_scores : int
        Predictions that are not counted: without a score, or with one that is infinite or NaN.
    """

    predictions: int
    confirmations: int
    matched: int
    first: float
    last: float
    last_known: float
    least_score: float
    greatest_score: float
    delays: dict[float, float]
    refused: int = 0
    repeated: float = 0.0
    missing_scores: int = 0
    infinite_scores: int = 0


class TableReader:
    """Queries both tables through one connection that can read nothing else."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tables = 0

    def table(self, place: Place) -> TableSample:
        """Describe the columns of a table from a sample of its rows."""
        files = files_of(place, self._session)
        if not files:
            raise no_files(place)
        relation = self._held(place, files)
        described = self._session.rows(f"DESCRIBE SELECT * FROM {relation}")
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
        (found,) = self._session.rows(
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
        ((size,),) = self._session.rows(f"SELECT sum(size) FROM read_blob([{listed}])")
        if size > _HELD_BYTES:
            return relation
        self._tables += 1
        name = f"look_{self._tables}"
        self._session.rows(
            f"CREATE TEMP TABLE {name} AS SELECT * FROM {relation}",
            step=f"Reading {place.name}",
        )
        return name

    def zeros(self, table: TableSample, column: ColumnSample) -> tuple[int, int]:
        """Number of labels that are 0, and of those that are neither 1, 0 nor -1 or are missing."""
        value = _label(column.name)
        (found,) = self._session.rows(
            f"SELECT count(*) FILTER (WHERE {value} = 0), "
            f"count(*) FILTER (WHERE coalesce({value} NOT IN (0, 1, -1), true)) "
            f"FROM {table.relation}"
        )
        return int(found[0]), int(found[1])

    def overlap(
        self, predictions: TableSample, column: str, positives: TableSample, other: str
    ) -> float:
        """Share of a sample of the positives' ids that occur among the predictions."""
        ids = f"CAST({quoted(other)} AS VARCHAR)"
        ((share,),) = self._session.rows(
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
    ) -> Extent:
        """Count both tables as a whole: rows, times, delays."""
        moment = _seconds(time)
        known = "NULL::DOUBLE" if known_at is None else _seconds(known_at)
        count, first, last, least, greatest, repeated, missing, infinite = self._predicted(
            predictions, ids[0], moment, score
        )
        positive = "" if label is None else f"WHERE {_label(label)} = 1"
        ((confirmations, last_known),) = self._session.rows(
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
        (found,) = self._session.rows(
            f"SELECT count(*) {usable}, min({moment}) {usable}, max({moment}) {usable}, "
            f"min({value}) {usable}, max({value}) {usable}, "
            f"1 - approx_count_distinct({quoted(id_)}) {usable} / count(*) {usable}, "
            f"count(*) FILTER (WHERE {value} IS NULL), "
            f"count(*) FILTER (WHERE NOT isfinite({value})) FROM {predictions.relation}",
            step="Reading predictions",
        )
        count, first, *_ = found
        if count == 0 or first is None:
            msg = f"{predictions.name} has no row with a time and a finite score"
            raise InputError(msg)
        return found

    def _delays(self, joined: str, *, half: float) -> tuple[int, int, dict[float, float]]:
        """Matched confirmations, those known before their prediction, and quantiles of delays.

        Delays are of predictions made until `half`, as later ones may still be confirmed.
        """
        clocks = CLOCKS_DIFFER.total_seconds()
        early = f"FILTER (WHERE moment <= {number(half)} AND delay >= {number(-clocks)})"
        measures = [f"count(*) FILTER (WHERE delay < {number(-clocks)})"]
        measures += [f"quantile_cont(delay, {level}) {early}" for level in _DELAY_LEVELS]
        ((matched, refused, *quantiles),) = self._session.rows(
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
        usable = f"isfinite(CAST({quoted(score)} AS DOUBLE))"
        ((share,),) = self._session.rows(
            f"SELECT count(*) FILTER (WHERE {usable} AND {quoted(score)} >= {number(threshold)}) "
            f"/ count(*) FILTER (WHERE {usable}) FROM {predictions.relation}"
        )
        return float(share)


@contextmanager
def open_tables(
    paths: Sequence[str], *, progress: Progress | None = None
) -> Iterator[tuple[TableReader, tuple[Place, ...]]]:
    """Open a connection that can read these files and nothing else."""
    places = tuple(map(_place, paths))
    connection = connect(places, without=READ_EXACTLY)
    try:
        name = " and ".join(place.name for place in places)
        yield TableReader(Session(connection, name=name, progress=progress)), places
    finally:
        connection.close()


def _place(path: str) -> Place:
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


def _label(name: str) -> str:
    """SQL of a label as a number, whatever its type."""
    word = f"lower(CAST({quoted(name)} AS VARCHAR))"
    return f"CASE {word} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE try_cast({word} AS DOUBLE) END"

"""A source that has no rows: windows that a job of the user's own has counted."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the engine, values as whole numbers)

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from pumonitor.errors import InputError
from pumonitor.ports import (
    CountRequest,
    PredictionSource,
    Progress,
    SampledRows,
    SampleRequest,
    SourceDescription,
    WindowCounts,
)
from pumonitor.sources.column_types.column_kinds import Relation
from pumonitor.sources.column_types.monitored_tables import SqlTable
from pumonitor.sources.column_types.time_columns import from_microseconds, microseconds
from pumonitor.sources.counted.place import place_of_counts
from pumonitor.sources.counted.rows import counts_in
from pumonitor.sources.counted.schema import (
    FOUND,
    VERSION,
    CountedSettings,
    fields_of,
    moments_text,
)
from pumonitor.sources.engines.registry import open_engine
from pumonitor.sources.windows.answers import numbers_of
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    from pumonitor.audit.requests import BinRequest, BinRows, CaseRequest, DrawnRow

_ROLE = "counts"


def open_counted(
    address: str,
    *,
    segments: Sequence[str],
    score_scale: Literal["probability", "unbounded"],
    timeout: float,
    as_of: datetime | None = None,
    states: int | None = None,
    ranked_by: str | None = None,
    value: str | None = None,
) -> CountedTable:
    """Open a table of counts.

    Raises
    ------
    InputError
        If there is none, or its columns are others.
    SourceError
        If it cannot be read.
    """
    place = place_of_counts(address)
    engine: Engine
    if isinstance(place, SqlTable):
        engine = open_engine(place.url, timeout=timeout, as_of=as_of)
    else:
        engine = DuckDBEngine({_ROLE: place}, as_of=as_of)
    try:
        names = [field.name for field in fields_of(len(segments))]
        relation = engine.relation(
            place, role=_ROLE, columns=dict.fromkeys(names, "shown"), parameters={}
        )
        _check_columns(relation, names)
    except BaseException:
        engine.close()
        raise
    return CountedTable(
        engine,
        relation,
        segments=segments,
        score_scale=score_scale,
        states=states,
        ranked_by=ranked_by,
        value=value,
    )


class CountedTable(PredictionSource):
    """Reads sets of counts by window and moments; nothing is known of single rows."""

    def __init__(
        self,
        engine: Engine,
        relation: Relation,
        *,
        segments: Sequence[str],
        score_scale: Literal["probability", "unbounded"],
        states: int | None = None,
        ranked_by: str | None = None,
        value: str | None = None,
    ) -> None:
        self._engine = engine
        self._relation = relation
        self._segments = tuple(segments)
        self._score_scale: Literal["probability", "unbounded"] = score_scale
        self._states, self._ranked_by, self._value = states, ranked_by, value

    def counts(self, request: CountRequest, *, progress: Progress | None = None) -> WindowCounts:
        """Counts of one window at several moments, of the set that was counted last.

        Raises
        ------
        InputError
            If the table has no set of this window, of these moments, or of these settings, or one
            that is not whole or of another version.
        SourceError
            If it cannot be read.
        """
        del progress
        settings = CountedSettings.of(
            request,
            score_scale=self._score_scale,
            segments=self._segments,
            states=self._states,
            ranked_by=self._ranked_by,
            value=self._value,
        )
        start, end = microseconds(request.window.start), microseconds(request.window.end)
        within = f"{self._sql('window_start')} = {start} AND {self._sql('window_end')} = {end}"
        with self._engine.snapshot():
            self._load(bounds=(start, start + 1))
            counted_at = self._last(request, settings, within)
            columns = self._read(f"{within} AND {self._sql('counted_at')} = {counted_at}")
        is_of = columns["moments"] == moments_text(request.as_of)
        whole = {name: values[is_of] for name, values in columns.items()}
        about = f"the set of {self._relation.name} about {_shown(request)}"
        return counts_in(whole, request, settings, about=about)

    def set_aside(self) -> tuple[str, ...]:
        """Nothing: who counted rows left none out."""
        return ()

    def span(self) -> tuple[datetime, datetime] | None:
        """From the start of the first window that was counted to the end of the last."""
        with self._engine.snapshot():
            self._load()
            ((first, last),) = self._rows(
                f"SELECT min({self._sql('window_start')}) AS first_start, "
                f"max({self._sql('window_end')}) AS last_end FROM {self._relation.sql} AS source"
            )
        if first is None:
            return None
        return from_microseconds(int(first)), from_microseconds(int(last))

    def describe(self) -> SourceDescription:
        """What the table says of itself; its sample has no rows of predictions."""
        span = self.span()
        with self._engine.snapshot():
            self._load()
            told = self._rows(
                f"SELECT {self._sql('name')}, {self._sql('window_start')}, "
                f"max({self._sql('n')}) AS n FROM {self._relation.sql} AS source "
                f"WHERE {self._sql('kind')} = '{FOUND}' "
                f"GROUP BY {self._sql('name')}, {self._sql('window_start')}"
            )
        totals = {
            name: sum(int(row[2]) for row in told if row[0] == name)
            for name in ("predictions", "label_rows")
        }
        types = {name: column.type for name, column in self._relation.columns.items()}
        return SourceDescription(
            engine="counts",
            columns=types,
            label_columns=types,
            sample=(),
            label_sample=(),
            predictions=totals["predictions"],
            labels=totals["label_rows"],
            first=None if span is None else span[0],
            last=None if span is None else span[1],
        )

    def sample(self, request: SampleRequest) -> SampledRows:
        """Refused: there are no rows."""
        del request
        self._refuse("an auxiliary score is trained on rows: leave out features")

    def bins(self, request: BinRequest) -> BinRows:
        """Refused: there are no rows."""
        del request
        self._refuse("an audit is drawn from rows: leave out audits")

    def draw(self, request: CaseRequest) -> tuple[DrawnRow, ...]:
        """Refused: there are no rows."""
        del request
        self._refuse("an audit is drawn from rows: leave out audits")

    def close(self) -> None:
        """Let go of files and connections."""
        self._engine.close()

    def _load(self, *, bounds: tuple[int, int] | None = None) -> None:
        """Have all sets ready, or those of windows that start there: a lake skips other files."""
        names = [field.name for field in fields_of(len(self._segments))]
        self._engine.load(self._relation, names, time="window_start", bounds=bounds)

    def _refuse(self, why: str) -> NoReturn:
        msg = f"{self._relation.name} holds counts and no rows: {why}, or name the rows themselves"
        raise InputError(msg)

    def _last(self, request: CountRequest, settings: CountedSettings, within: str) -> int:
        """When the set that stands was counted."""
        name, shown = self._relation.name, _shown(request)
        names = ("format", "settings", "moments", "counted_at")
        chosen = ", ".join(f"{self._sql(one)}" for one in names)
        sets = self._rows(
            f"SELECT DISTINCT {chosen} FROM {self._relation.sql} AS source WHERE {within}"
        )
        if not sets:
            msg = f"{name} has no counts of {shown}: run the job that counts it"
            raise InputError(msg)
        others = sorted({int(one[0]) for one in sets} - {VERSION})
        if others:
            msg = (
                f"{name} has counts of {shown} in version {others[0]} of the table, and version "
                f"{VERSION} is read: let the job and the monitor use the same pumonitor"
            )
            raise InputError(msg)
        wanted = moments_text(request.as_of)
        known = sorted({str(one[2]) for one in sets})
        if wanted not in known:
            there = "; ".join(_shown_moments(one) for one in known[:3])
            msg = (
                f"{name} has no counts of {shown} as known at {_shown_moments(wanted)}, but at "
                f"{there}: run the job that counts it before the monitor, with the monitor's "
                "configuration"
            )
            raise InputError(msg)
        alike = [one for one in sets if str(one[2]) == wanted]
        last = max(int(one[3]) for one in alike)
        found = next(str(one[1]) for one in alike if int(one[3]) == last)
        if found != settings.text:
            msg = (
                f"{name} has counts of {shown} of other settings: {_difference(found, settings)}; "
                "run the job with the monitor's configuration"
            )
            raise InputError(msg)
        return last

    def _read(self, within: str) -> dict[str, Any]:
        fields = fields_of(len(self._segments))
        chosen = ", ".join(f"{self._sql(one.name)} AS {one.name}" for one in fields)
        found = self._engine.columns(
            Statement(sql=f"SELECT {chosen} FROM {self._relation.sql} AS source WHERE {within}"),
            about=self._relation.name,
        )
        kinds: Mapping[str, Any] = {"bigint": np.int64, "double": np.float64}
        return {
            one.name: numbers_of(found[one.name], kinds[one.type])
            if one.type in kinds
            else np.asarray(found[one.name], dtype=np.str_)
            for one in fields
        }

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._engine.rows(Statement(sql=sql), about=self._relation.name)

    def _sql(self, name: str) -> str:
        return self._relation.columns[name].sql


def _check_columns(relation: Relation, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in relation.columns]
    if missing:
        msg = (
            f"{relation.name} is no table of counts of version {VERSION} with so many segments: it "
            f"lacks the columns {', '.join(missing)}"
        )
        raise InputError(msg)


def _shown(request: CountRequest) -> str:
    window = request.window
    return f"the window from {window.start.isoformat()} to {window.end.isoformat()}"


def _shown_moments(moments: str) -> str:
    return ", ".join(from_microseconds(int(one)).isoformat() for one in moments.split(","))


def _difference(found: str, settings: CountedSettings) -> str:
    """Which setting differs, and how."""
    try:
        there = json.loads(found)
        wanted = json.loads(settings.text)
        return ", ".join(
            f"{name} is {there.get(name)!r} there and {value!r} here"
            for name, value in (dict.fromkeys(there) | wanted).items()
            if there.get(name) != value
        )
    except (ValueError, AttributeError):
        return f"they cannot be read: {found[:60]!r}"

"""Engines that are broken in one way each: the kit must see every one of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import DuckDB
from pumonitor.sources.engines.duckdb_file import DuckDBFile
from pumonitor.sources.engines.registry import EngineKind
from pumonitor.sources.windows.counts_query import Statement

__all__ = ["MUTANTS", "Mutant", "kind_of", "open_mutant"]


class _CutTimes(DuckDB):
    """Times as an engine has them that knows no microseconds."""

    __slots__ = ()
    unit = 1_000_000

    def _cut(self, clock: str) -> str:
        return f"({clock} - (({clock} % {self.unit}) + {self.unit}) % {self.unit})"

    def clock(self, raw: str, kind: Kind) -> str:
        return self._cut(DuckDB.clock(self, raw, kind))


class _CutToMilliseconds(_CutTimes):
    __slots__ = ()
    unit = 1_000


class _TowardZero(DuckDB):
    """Whole milliseconds before 1970 are the ones after the moment, not before."""

    __slots__ = ()

    def clock(self, raw: str, kind: Kind) -> str:
        clock = DuckDB.clock(self, raw, kind)
        return f"CASE WHEN {clock} < 0 THEN -1000 * (-{clock} // 1000) ELSE {clock} END"


class _InAnotherZone(DuckDB):
    """Moments are read on the clock of a session that is not in UTC."""

    __slots__ = ()

    def clock(self, raw: str, kind: Kind) -> str:
        local = f"timezone('America/New_York', {raw})" if kind == "moment" else raw
        return DuckDB.clock(self, local, "naive")


class _SinglePrecision(DuckDB):
    __slots__ = ()

    def number(self, raw: str, kind: Kind) -> str:
        return f"CAST(CAST({raw} AS FLOAT) AS DOUBLE)"


class _Rounding(DuckDB):
    """A cast to whole numbers that rounds, as most engines' does."""

    __slots__ = ()
    floor = "CAST({} AS BIGINT)"


class _IgnoringCase(DuckDB):
    __slots__ = ()

    def category(self, raw: str, kind: Kind) -> str:
        return f"({DuckDB.category(self, raw, kind)} COLLATE NOCASE)"


class _WithoutTrailingBlanks(DuckDB):
    __slots__ = ()

    def category(self, raw: str, kind: Kind) -> str:
        return f"rtrim({DuckDB.category(self, raw, kind)}, ' ')"


class _ShortCounts(DuckDB):
    __slots__ = ()
    counted = "CAST(count(*) AS INTEGER)"


class _ShortNumbers(DuckDB):
    __slots__ = ()

    def key(self, raw: str, kind: Kind, key: Any) -> str:
        if key == "integer":
            return f"CAST(try_cast({raw} AS INTEGER) AS BIGINT)"
        return DuckDB.key(self, raw, kind, key)


def _without_the_last(sql: str) -> str:
    """Windows end a microsecond too early."""
    return re.sub(
        r"< '(\d{4}-[^']*)'", r"< CAST('\1' AS TIMESTAMPTZ) - INTERVAL 1 MICROSECOND", sql
    )


def _with_the_next(sql: str) -> str:
    """The moment at which a window ends is taken for one of its own."""
    return re.sub(r" < '(\d{4}-[^']*)'", r" <= '\1'", sql)


def _inner_joins(sql: str) -> str:
    """Rows without a label are lost."""
    return sql.replace("LEFT JOIN", "JOIN")


def _nothing(sql: str) -> str:
    return sql


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """What is broken, and a case that sees it."""

    dialect: type[DuckDB] = DuckDB
    rewritten: Callable[[str], str] = _nothing
    seen_by: str


MUTANTS: Final[dict[str, Mutant]] = {
    "seconds": Mutant(dialect=_CutTimes, seen_by="labels a microsecond apart"),
    "milliseconds": Mutant(dialect=_CutToMilliseconds, seen_by="labels a microsecond apart"),
    "toward_zero": Mutant(dialect=_TowardZero, seen_by="labels known before 1970"),
    "zone": Mutant(dialect=_InAnotherZone, seen_by="delays of labels"),
    "single": Mutant(dialect=_SinglePrecision, seen_by="ties at cell edges"),
    "rounding": Mutant(dialect=_Rounding, seen_by="ties at cell edges"),
    "case": Mutant(dialect=_IgnoringCase, seen_by="text ids: blanks"),
    "blanks": Mutant(dialect=_WithoutTrailingBlanks, seen_by="text ids: blanks"),
    "int32_counts": Mutant(dialect=_ShortCounts, seen_by="counts and times beyond 32 bits"),
    "int32_ids": Mutant(dialect=_ShortNumbers, seen_by="whole-number ids"),
    "last_row": Mutant(rewritten=_without_the_last, seen_by="moments to the microsecond"),
    "next_row": Mutant(rewritten=_with_the_next, seen_by="moments to the microsecond"),
    "inner_joins": Mutant(rewritten=_inner_joins, seen_by="ties at cell edges"),
}


class _MutantEngine(DuckDBFile):
    def __init__(self, mutant: Mutant, *, timeout: float) -> None:
        super().__init__("duckdb://", timeout=timeout)
        self.dialect = mutant.dialect()
        self._mutant = mutant

    def _sql(self, statement: Statement) -> str:
        return self._mutant.rewritten(super()._sql(statement))


def open_mutant(url: str, *, timeout: float, as_of: datetime | None = None) -> _MutantEngine:
    """mutant://NAME"""
    del as_of
    return _MutantEngine(MUTANTS[url.partition("://")[2]], timeout=timeout)


def kind_of(opens: str) -> EngineKind:
    """How the registry finds them; the dialect stays DuckDB's."""
    return EngineKind(
        name="mutant", title="Mutant", example="mutant://NAME", opens=opens, spoken="duckdb"
    )

"""Small tables of generated rows, as Arrow for DuckDB and as a query for the engine at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT_HAS_TIMES: Final[frozenset[Kind]] = frozenset({"moment", "naive", "date"})
_SOME: Final[Mapping[Kind, Any]] = {
    "integer": 1,
    "number": 1.0,
    "single": 1.0,
    "text": "a",
    "boolean": True,
    "moment": datetime(2026, 3, 10, tzinfo=UTC),
    "naive": datetime(2026, 3, 10),  # noqa: DTZ001 (without a zone on purpose)
    "date": date(2026, 3, 10),
}
"""A value of each kind."""
_BOUNDED: Final = {
    "predictions": " WHERE :start < :end",
    "positives": " WHERE :as_of IS NOT NULL",
    "reviews": " WHERE :as_of IS NOT NULL",
}
"""What lets all rows through, and has the parameters that a query must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTable:
    """Rows that are written into the query that reads them.

    Attributes
    ----------
    role : {"predictions", "positives", "reviews"}
    kinds : mapping of str to str
        What kind of values each column holds, as `Column.kind`.
    rows : tuple of tuple
        Plain values in the order of the columns, None where missing.
    """

    role: str
    kinds: Mapping[str, Kind]
    rows: tuple[tuple[Any, ...], ...]

    def with_rows(self, rows: Sequence[tuple[Any, ...]]) -> GivenTable:
        """The same columns with other rows."""
        return replace(self, rows=tuple(rows))

    def not_held(self, dialect: Dialect) -> str:
        """Why an engine has no such table; "" if it can."""
        for name, kind in self.kinds.items():
            if kind not in dialect.types:
                return f"no value of its SQL is of the kind {kind}"
            if kind in _TEXT_HAS_TIMES:
                place = list(self.kinds).index(name)
                years = [row[place].year for row in self.rows if row[place] is not None]
                low, high = dialect.years
                if years and not low <= min(years) <= max(years) <= high:
                    return f"its times are of the years {low} to {high}"
        return ""

    def arrow(self) -> pa.Table:
        """The table as Arrow."""
        import pyarrow as pa

        types = {
            "integer": pa.int64(),
            "number": pa.float64(),
            "single": pa.float32(),
            "text": pa.string(),
            "boolean": pa.bool_(),
            "moment": pa.timestamp("us", tz="UTC"),
            "naive": pa.timestamp("us"),
            "date": pa.date32(),
        }
        columns = zip(*self.rows, strict=True) if self.rows else [() for _ in self.kinds]
        return pa.table(
            {
                name: pa.array(list(values), type=types[kind])
                for (name, kind), values in zip(self.kinds.items(), columns, strict=True)
            }
        )

    def query(self, dialect: Dialect) -> str:
        """One SELECT that gives the rows, in an engine's SQL."""
        rows = [
            [
                dialect.literal(value, kind)
                for value, kind in zip(row, self.kinds.values(), strict=True)
            ]
            for row in self.rows
        ]
        nothing = ""
        if not rows:
            # Not NULL: of a column that may hold none, engines take the least of nothing for 0.
            rows = [[dialect.literal(_SOME[kind], kind) for kind in self.kinds.values()]]
            nothing = " AND 1 = 0"
        names = [dialect.quoted(name) for name in self.kinds]
        return (
            f"SELECT * FROM ({dialect.given(names, rows)}) AS rows_given"  # noqa: S608
            f"{_BOUNDED[self.role]}{nothing}"
        )

    def shown(self) -> str:
        """The rows for people, a line each."""
        lines = [
            ", ".join(f"{name}={_plain(row[at])}" for at, name in enumerate(self.kinds))
            for row in self.rows
        ]
        return "\n".join(lines) or "(no rows)"


def _plain(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return repr(value)

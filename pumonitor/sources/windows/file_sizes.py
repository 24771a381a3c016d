"""How much of files would be read: row groups by their statistics, other files whole."""

# ruff: noqa: S608 (names, paths and bounds reach SQL only through the dialect and `text`)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from pumonitor.scans import Parts, Scan
from pumonitor.sources.column_types.column_kinds import Column
from pumonitor.sources.column_types.dialects import DuckDB
from pumonitor.sources.reach.session import Session, text
from pumonitor.sources.windows.counts_engine import LASTING

_DIALECT: Final = DuckDB()


def ends_in_footers(files: Sequence[str], columns: Mapping[str, Column]) -> dict[str, str]:
    """The `ends` of a `Relation` of Parquet files; no ends where a row group does not tell them."""
    listed = ", ".join(map(text, files))
    known = "count(*) = count(stats_min_value) AND count(*) = count(stats_null_count)"

    def end(which: str, column: Column) -> str:
        return f"CASE WHEN {known} THEN {which}(TRY_CAST(stats_{which}_value AS {column.type})) END"

    return {
        name: "(SELECT coalesce(sum(num_values), 0) AS n, "
        "coalesce(sum(num_values - stats_null_count), 0) AS timed, "
        f"{end('min', column)} AS least, {end('max', column)} AS most "
        f"FROM parquet_metadata([{listed}]) WHERE path_in_schema = {text(name)})"
        for name, column in columns.items()
        if column.kind == "moment"
    }


class Sizes(Protocol):
    """What is known of the sizes of a table's parts."""

    def scan(self, names: Sequence[str], time: str, bounds: Sequence[object] | None) -> Scan | None:
        """What would be read of some columns, between bounds of a time; None if not known."""


class InMemory:
    """Rows that are here: nothing is read."""

    def scan(self, names: Sequence[str], time: str, bounds: Sequence[object] | None) -> Scan:
        """Nothing."""
        del names, time, bounds
        return Scan(read=0)


class WholeFiles:
    """Files that are read from end to end, such as CSV and JSON.

    Parameters
    ----------
    files : sequence of str
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def scan(self, names: Sequence[str], time: str, bounds: Sequence[object] | None) -> Scan | None:
        """All of them; None if one is on another machine, which is not asked for its size."""
        del names, time, bounds
        if any("://" in one for one in self._files):
            return None
        number = len(self._files)
        return Scan(
            read=sum(Path(one).stat().st_size for one in self._files),
            parts=(Parts(named="files", read=number, of=number),),
        )


class ParquetSizes:
    """Parquet files, whose footers say what each row group holds.

    Footers are read when the first question is asked, and kept.

    Parameters
    ----------
    session : Session
    files : sequence of str
    columns : mapping of str to Column
        Those that may be asked about.
    number : int
        Tells its table of footers from those of others.
    """

    def __init__(
        self,
        session: Session,
        files: Sequence[str],
        columns: Mapping[str, Column],
        *,
        number: int,
    ) -> None:
        self._session = session
        self._files = files
        self._columns = columns
        self._table = f"{LASTING}_footers_{number}"
        self._is_read = False

    def scan(self, names: Sequence[str], time: str, bounds: Sequence[object] | None) -> Scan:
        """Compressed bytes of the columns, in row groups that may hold a time within bounds."""
        table = self._footers()
        kept = "true" if bounds is None else self._may_hold(time, bounds)
        listed = ", ".join(map(text, names))
        ((read, files, groups, of_groups),) = self._session.rows(
            f"WITH kept AS (SELECT file_name, row_group_id FROM {table} WHERE "
            f"path_in_schema = {text(time)} AND {kept}) SELECT "
            f"(SELECT coalesce(sum(total_compressed_size), 0) FROM {table} SEMI JOIN kept "
            f"USING (file_name, row_group_id) WHERE path_in_schema IN ({listed})), "
            "(SELECT count(DISTINCT file_name) FROM kept), (SELECT count(*) FROM kept), "
            f"(SELECT count(*) FROM {table} WHERE path_in_schema = {text(time)})"
        )
        return Scan(
            read=int(read),
            parts=(
                Parts(named="files", read=int(files), of=len(self._files)),
                Parts(named="row groups", read=int(groups), of=int(of_groups)),
            ),
        )

    @property
    def columns(self) -> Mapping[str, Column]:
        """Those that may be asked about."""
        return self._columns

    def files_within(self, time: str, bounds: Sequence[object] | None) -> list[str]:
        """Files that may hold a time within bounds."""
        kept = "true" if bounds is None else self._may_hold(time, bounds)
        rows = self._session.rows(
            f"SELECT DISTINCT file_name FROM {self._footers()} WHERE path_in_schema = {text(time)} "
            f"AND {kept} ORDER BY file_name"
        )
        return [str(file) for (file,) in rows]

    def _may_hold(self, time: str, bounds: Sequence[object]) -> str:
        """Whether a row group's statistics leave room for a time within bounds, or without one."""
        column = self._columns[time]
        low, high = (_DIALECT.bound(one, column.kind, upper=one is bounds[1]) for one in bounds)
        least, most = (f"TRY_CAST(stats_{end}_value AS {column.type})" for end in ("min", "max"))
        return (
            f"(coalesce({most} >= {low}, true) AND coalesce({least} <= {high}, true) "
            "OR stats_null_count > 0)"
        )

    def _footers(self) -> str:
        if not self._is_read:
            listed = ", ".join(map(text, self._files))
            named = ", ".join(map(text, self._columns))
            self._session.rows(
                f"CREATE TEMP TABLE {self._table} AS SELECT file_name, row_group_id, "
                "path_in_schema, total_compressed_size, stats_min_value, stats_max_value, "
                "stats_null_count "
                f"FROM parquet_metadata([{listed}]) WHERE path_in_schema IN ({named})"
            )
            self._is_read = True
        return self._table

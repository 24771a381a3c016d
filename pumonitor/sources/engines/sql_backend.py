"""What databases that SQLAlchemy connects to differ by, beside their SQL."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import Dialect

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import URL, Connection

    from pumonitor.sources.windows.counts_engine import Reading

LABELS_TABLE: Final = "pumonitor_labels"
"""The temporary table of labels that came from another engine, all that is ever written."""


class SqlBackend(ABC):
    """A database as most are; each says in what it is another.

    Attributes
    ----------
    dialect : Dialect
    driver : str
        Of SQLAlchemy, for URLs that name none; "" for SQLAlchemy's own choice.
    sample_rows : int
        Rows that are looked at for the types of a table's columns: 0 where the database knows them.
    begin : tuple of str
        Statements that begin a transaction that only reads.
    before_labels : tuple of str
        Statements after which a temporary table may be written.
    after_labels : tuple of str
        Statements that follow when it has been.
    holds_nul : bool
        Whether text may hold a NUL character.
    version_query : str
        SELECT of the server's version.
    """

    dialect: Dialect
    driver: ClassVar[str] = ""
    sample_rows: ClassVar[int] = 0
    begin: ClassVar[tuple[str, ...]] = ()
    before_labels: ClassVar[tuple[str, ...]] = ()
    after_labels: ClassVar[tuple[str, ...]] = ()
    holds_nul: ClassVar[bool] = True
    version_query: ClassVar[str] = "SELECT version()"

    def connect_to(self, url: URL, *, timeout: float) -> tuple[URL, dict[str, Any]]:
        """The URL and the driver's arguments, with a limit of time for each statement."""
        del timeout
        return url, {}

    def prepare(self, connection: Connection, *, timeout: float) -> None:
        """Settings of a new connection."""
        del connection, timeout

    def answered(self, cursor: Any) -> None:
        """Is called with the driver's cursor when an answer is there, before it is fetched."""
        del cursor

    def fetched(self, cursor: Any) -> None:
        """Is called with the driver's cursor when all rows of the answer were fetched."""
        del cursor

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """What would be read; None where the database does not tell."""
        del connection, reading
        return None

    def begins(self) -> None:  # noqa: B027 (most have nothing to do)
        """Is called when a snapshot begins: what is told from now on is about it."""

    def spent(self, connection: Connection) -> Mapping[str, str]:
        """What is told of the statements since a snapshot began, which is about to end."""
        del connection
        return {}

    def statement_begins(self, *, timeout: float) -> None:
        """Is called before each statement."""
        del timeout

    @abstractmethod
    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """What the database calls the type of each column of an answer, and what kind it is."""

    def column_names(self, described: Sequence[Sequence[Any]], *, of_query: bool) -> list[str]:
        """Names as they were written: some databases rename one that stands twice."""
        del of_query
        return [str(one[0]) for one in described]

    def stored_name(self, told: object) -> str:
        """A column's name as the driver tells it."""
        return str(told)

    def shown_name(self, stored: str) -> str:
        """A column's name as people write it."""
        return stored

    def labels_table(self, kind: str) -> str:
        """The statement that makes the temporary table, for ids of a kind ("integer", "text")."""
        id_type = "BIGINT" if kind == "integer" else "TEXT"
        return (
            f"CREATE TEMPORARY TABLE {LABELS_TABLE} (id {id_type}, known BIGINT, label SMALLINT, "
            f"propensity {self.dialect.double})"
        )

    def version(self, told: str) -> str:
        """The version in what the server tells: its first word that begins with a digit."""
        found = re.search(r"\d[\w.]*", told)
        return found[0] if found else told

    def words(self, error: Any) -> str:
        """What a driver's error says, in its first line."""
        lines = str(error).strip().splitlines()
        return lines[0] if lines else ""

    def is_late(self, error: Any) -> bool:
        """Whether a driver's error says that a statement took too long."""
        del error
        return False

    def is_locked(self, said: str) -> float | None:
        """Seconds for which a lock was waited for in vain, if that is what went wrong."""
        del said
        return None

    def is_mistake(self, error: Any, said: str) -> bool:
        """Whether the query or the data are at fault, not the database."""
        del error, said
        return False


def answered_rows(
    connection: Connection, sql: str, values: Mapping[str, object] | None = None
) -> list[dict[str, Any]]:
    """Rows of an answer by the names of their columns, in small letters."""
    import sqlalchemy

    result = connection.execute(sqlalchemy.text(sql), dict(values or {}))
    names = [str(name).lower() for name in result.keys()]  # noqa: SIM118 (of columns)
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def ids_with_nul(labels: pa.Table) -> int:
    """How many text ids hold a NUL character."""
    import pyarrow.compute as pc

    return int(pc.sum(pc.match_substring(labels["id"], "\0")).as_py() or 0)

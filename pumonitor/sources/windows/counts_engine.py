"""What the monitor asks of an engine that holds predictions or labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from pumonitor.ports import Progress
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation, RelationPart
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "LASTING",
    "RECEIVED_COLUMNS",
    "Engine",
    "EngineRemarks",
    "LoadsNothing",
    "Reading",
    "TakesTables",
    "TellsCost",
    "received",
    "stepping",
]

RECEIVED_COLUMNS: Final = ("id", "known", "label", "propensity")
"""Columns of labels that came from another engine; `known` in microseconds."""
LASTING: Final = "pumonitor_held"
"""What names begin with of tables that are kept for all windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRemarks:
    """What is to be said of engines beside what they count.

    Attributes
    ----------
    unverified : mapping of str to str
        Name and version of one whose counts were never compared; empty if there is none.
    doubts : tuple of str
        Why counts may be wrong.
    limits : tuple of str
        What the engines do not ensure.
    """

    unverified: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is about to be read of predictions.

    Attributes
    ----------
    statement : Statement
        What an engine is asked.
    relation : Relation
        The predictions.
    names : tuple of str
        Columns that are read of them.
    time : str
        Column of their times.
    bounds : sequence of object or None
        The stretch of time in terms of this column; None for all of it.
    """

    statement: Statement
    relation: Relation
    names: tuple[str, ...]
    time: str
    bounds: Sequence[object] | None


@runtime_checkable
class TellsCost(Protocol):
    """An engine that tells what reading costs, before and after."""

    def expected(self, reading: Reading, *, about: str) -> Scan | None:
        """What would be read; None where nothing tells."""

    def spent(self) -> Mapping[str, str]:
        """What was told of the statements since the last snapshot began."""


@runtime_checkable
class NamesDamagedFiles(Protocol):
    """An engine that reads files, and finds the one that is damaged."""

    def damaged_file(
        self, relation: Relation, time: str, bounds: Sequence[object] | None
    ) -> str | None:
        """The first file with rows between bounds of a time that cannot be read; None: unknown."""


class LoadsNothing:
    """Of an engine that reads rows where they lie."""

    def load(
        self,
        relation: Relation,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> None:
        """Nothing has to be loaded first."""


class Engine(Protocol):
    """Reads tables and answers statements."""

    @property
    def dialect(self) -> Dialect:
        """How its SQL is written."""

    def version(self) -> str:
        """Version of what answers, such as "16.2"."""

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table with its columns.

        Parameters
        ----------
        table : object
            As the engine takes it: a `SqlTable` or `SqlQuery`, a path, a frame.
        role : str
            What it is called in messages: "predictions", "positives".
        columns : mapping of str to str
            What each column that is read means, by its name.
        parameters : mapping of str to object
            Of a query: values that let every row through.

        Raises
        ------
        InputError
            If there is no such table, or if the query cannot be used.
        """

    def load(
        self,
        relation: Relation,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> None:
        """Get ready for questions about some columns of some rows.

        Only an engine that has to load rows first does anything.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Until it ends, all statements see the same rows, as far as the engine can."""

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer; `about` names in messages what was being read."""

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer, as sequences or numpy arrays."""

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Hold an answer as a table of this name; False where the engine may not write.

        Until the snapshot ends, or the engine is closed if its name begins with `LASTING`.
        """

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Take labels from another engine: id, known, label, propensity."""

    def close(self) -> None:
        """Let go of everything."""


@runtime_checkable
class TakesTables(Engine, Protocol):
    """An engine elsewhere that small tables can be sent to, for its next statements to read."""

    @property
    def most_labels(self) -> int:
        """Rows of labels that may come here and their ids go back; 0 where labels are too large."""

    def send(self, name: str, table: pa.Table) -> None:
        """Have a table under this name until the snapshot ends."""


def received(
    name: str, sql: str, key: Key, dialect: Dialect, *, parts: tuple[RelationPart, ...] = ()
) -> Relation:
    """Describe labels that came from another engine."""
    kinds: tuple[Kind, ...] = (key, "integer", "integer", "number")
    return Relation(
        name=name,
        sql=sql,
        columns={
            column: Column(
                name=column,
                type=kind,
                kind=kind,
                sql=f"source.{dialect.quoted(column)}",
            )
            for column, kind in zip(RECEIVED_COLUMNS, kinds, strict=True)
        },
        parts=parts,
    )


@contextmanager
def stepping(progress: Progress | None, step: str) -> Iterator[None]:
    """Say that a step begins and that it is done, for engines that tell nothing between."""
    if progress is None or not step:
        yield
        return
    progress(step, 0.0)
    yield
    progress(step, 1.0)

"""What the monitor asks of an engine that holds predictions or labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MOST_WINDOWS", "RECEIVED_COLUMNS", "Engine", "received", "stepping"]

RECEIVED_COLUMNS: Final = ("id", "known", "label", "propensity")
"""Columns of labels that came from another engine; `known` in microseconds."""
MOST_WINDOWS: Final = 64
"""That are counted by one statement: their answers are held together."""


class Engine(Protocol):
    """Reads tables and answers statements."""

    @property
    def dialect(self) -> Dialect:
        """How its SQL is written."""

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

    def keep(self, name: str, statement: Statement, *, about: str, for_long: bool = False) -> bool:
        """Hold an answer as a table of this name; False where the engine may not write.

        Until the snapshot ends, or for long: until the engine is closed.
        """

    def windows_at_once(self, relation: Relation) -> int:
        """Of how many windows rows of this table may be read by one statement, at least 1."""

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Take labels from another engine: id, known, label, propensity."""

    def close(self) -> None:
        """Let go of everything."""


def received(name: str, sql: str, key: Key, dialect: Dialect) -> Relation:
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

"""What engines share whose answers are Arrow and which hold nothing between statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pumonitor.ports import Progress
from pumonitor.sources.engines.arrow_answers import columns_of, rows_of
from pumonitor.sources.windows.counts_engine import LoadsNothing, stepping
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowEngine(LoadsNothing, ABC):
    """Asks statement by statement; each sees the rows of its own moment."""

    @abstractmethod
    def _answer(self, statement: Statement, about: str) -> pa.Table:
        """The answer to one statement; errors are in our words."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """There is none: each statement sees the rows of its own moment."""
        yield

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with stepping(progress, step):
            return rows_of(self._answer(statement, about))

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with stepping(progress, step):
            return columns_of(self._answer(statement, about))

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Nothing is held or written."""
        del name, statement, about
        return False

"""Predictions and labels in Spark data frames, counted by Spark."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, SourceError
from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.dialects import Spark
from pumonitor.sources.windows.counts_engine import MOST_WINDOWS, received, stepping
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SparkEngine", "is_spark_frame"]

_KINDS: Final[dict[str, Kind]] = {
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "float": "single",
    "double": "number",
    "string": "text",
    "boolean": "boolean",
    "timestamp": "moment",
    "timestamp_ntz": "naive",
    "date": "date",
    "void": "empty",
}


def is_spark_frame(table: object) -> bool:
    """Whether this is a Spark data frame, of a session here or elsewhere."""
    return type(table).__module__.partition(".")[0] == "pyspark" and hasattr(table, "sparkSession")


class SparkEngine:
    """Runs the count query in the session of the frames."""

    def __init__(self, session: Any) -> None:
        self.dialect = Spark()
        self._session = session
        self._views: list[str] = []
        self._kept: dict[str, Any] = {}

    def relation(self, frame: Any, *, role: str) -> Relation:
        """A frame with its columns."""
        name = f"the data frame of {role}"
        header = list(frame.columns)
        doubled = [one for one in header if header.count(one) > 1]
        if doubled:
            msg = f"{name} has {header.count(doubled[0])} columns named '{doubled[0]}': rename one"
            raise InputError(msg)
        view = f"pumonitor_{role}_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        return Relation(
            name=name,
            sql=view,
            columns={
                column: Column(
                    name=column,
                    type=kind,
                    kind=_kind(kind),
                    sql=f"source.{self.dialect.quoted(column)}",
                )
                for column, kind in frame.dtypes
            },
        )

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

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Spark has none: frames are read anew for every statement."""
        try:
            yield
        finally:
            for view, frame in self._kept.items():
                frame.unpersist()
                self._session.catalog.dropTempView(view)
            self._kept.clear()

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with stepping(progress, step):
            return [tuple(row) for row in self._collected(statement, about)[1]]

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with stepping(progress, step):
            names, rows = self._collected(statement, about)
        columns = zip(*rows, strict=True) if rows else [() for _ in names]
        return dict(zip(names, columns, strict=True))

    def keep(self, name: str, statement: Statement, *, about: str, for_long: bool = False) -> bool:
        """Nothing is left in the memory of a cluster."""
        del name, statement, about, for_long
        return False

    def windows_at_once(self, relation: Relation) -> int:
        """As many as anywhere: its rows stay where they are."""
        del relation
        return MOST_WINDOWS

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Take labels from another engine."""
        kind = "BIGINT" if key == "integer" else "STRING"
        frame = self._session.createDataFrame(
            [tuple(row.values()) for row in labels.to_pylist()],
            schema=f"id {kind}, known BIGINT, label INT, propensity DOUBLE",
        )
        view = f"pumonitor_labels_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        return received(name, view, key, self.dialect)

    def close(self) -> None:
        """Forget the views; the session is the user's."""
        for view in self._views:
            self._session.catalog.dropTempView(view)
        self._views.clear()

    def _collected(self, statement: Statement, about: str) -> tuple[list[str], list[Any]]:
        from pyspark.errors import PySparkException

        frame = self._answer(statement, about)
        try:
            return list(frame.columns), frame.collect()
        except PySparkException as error:
            raise _in_our_words(error, about) from None

    def _answer(self, statement: Statement, about: str) -> Any:
        from pyspark.errors import PySparkException

        try:
            return self._session.sql(statement.sql)
        except PySparkException as error:
            raise _in_our_words(error, about) from None


def _in_our_words(error: Exception, about: str) -> SourceError:
    return SourceError(f"{about} cannot be read: {str(error).strip().splitlines()[0]}")


def _kind(name: str) -> Kind:
    if name.startswith("decimal"):
        return "integer" if name.endswith(",0)") else "number"
    if name.startswith(("varchar", "char")):
        return "text"
    return _KINDS.get(name, "other")

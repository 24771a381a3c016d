"""Predictions and labels in Spark data frames, counted by Spark."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError, SourceError
from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.spark_dialect import Spark
from pumonitor.sources.windows.counts_engine import LoadsNothing, received, stepping
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.spark_watch import (
    GivenUpError,
    answered_in_time,
    try_for_seconds,
)

if TYPE_CHECKING:
    import pyarrow as pa

_Answer = TypeVar("_Answer")

_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_FEWEST_PARTITIONS: Final = 8
_BYTES_IN_PARTITION: Final = 32 * 2**20
_MOST_SENT: Final = 256 * 2**20
"""Bytes of labels that are sent to every machine; Spark refuses more than 8 GB."""
_MOST_LABELS: Final = 2_000_000
"""As many as are grouped here at once: text ids of twice as many fill the memory allowed."""
"""Rows that come here."""
_FAST_GROUPS: Final = "spark.sql.codegen.aggregate.fastHashMap.capacityBit"
"""Binary digits of how many groups a task holds in the faster of Spark's maps, by default 16."""
_DIGITS: Final = "20"
"""Cells of eight windows, which one task reads of days of a million rows."""
_SIZE: Final = re.compile(r"sizeInBytes=([0-9.]+) ([KMGTPE]?i?B)")
_DETAILS: Final = re.compile(r'^\s*details = "(.+)"$', re.MULTILINE)
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

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


class SparkEngine(LoadsNothing):
    """Runs the count query in the session of the frames.

    Parameters
    ----------
    session : SparkSession
    timeout : float
        Seconds for one statement.
    """

    def __init__(self, session: Any, *, timeout: float = 600.0) -> None:
        self.dialect = Spark()
        self._session = session
        self._timeout = timeout
        self._given_up = ""
        self._try_as_before = try_for_seconds(session)
        self._views: list[str] = []
        self._sizes: dict[str, int] = {}
        self._kept: dict[str, str] = {}

    def version(self) -> str:
        """Version of the session's Spark."""
        return str(self._session.version)

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A frame with its columns."""
        del columns, parameters
        return self.of_frame(table, role=role, name=f"the data frame of {role}")

    def of_frame(self, frame: Any, *, role: str, name: str) -> Relation:
        """A frame under a name of its own, with its columns."""
        return self._in_time(partial(self._registered, frame, role=role, name=name), name)

    def _registered(self, frame: Any, *, role: str, name: str) -> Relation:
        header = list(frame.columns)
        doubled = [one for one in header if header.count(one) > 1]
        if doubled:
            msg = f"{name} has {header.count(doubled[0])} columns named '{doubled[0]}': rename one"
            raise InputError(msg)
        view = f"pumonitor_{role}_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        size = self._size_of(view)
        if size is not None:
            self._sizes[view] = size
        if role == "positives":
            self.dialect = Spark(few_labels=size is not None and size <= _MOST_SENT)
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

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Spark has none: frames are read anew for every statement."""
        try:
            yield
        finally:
            self._forget(self._kept.values())
            self._kept.clear()

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        columns = self.columns(statement, about=about, progress=progress, step=step)
        return list(zip(*(values.tolist() for values in columns.values()), strict=True))

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        return self._in_time(
            partial(self._columns, statement, about, progress=progress, step=step), about
        )

    def _columns(
        self, statement: Statement, about: str, *, progress: Progress | None, step: str
    ) -> Mapping[str, Any]:
        with (
            _told_in_our_words(about),
            stepping(progress, step),
            self._set_for(statement),
        ):
            found = self._arrow(self._answer(statement, about))
        return {
            name: _array(column)
            for name, column in zip(found.column_names, found.itercolumns(), strict=True)
        }

    def run(self, statement: Statement, *, about: str) -> None:
        """Run a statement that answers nothing."""
        self._in_time(partial(self._run, statement, about), about)

    def _run(self, statement: Statement, about: str) -> None:
        with _told_in_our_words(about, cannot_be="written"), self._set_for(statement):
            self._answer(statement, about)

    def _in_time(self, ask: Callable[[], _Answer], about: str) -> _Answer:
        if self._given_up:
            raise GivenUpError(self._given_up)
        try:
            return answered_in_time(self._session, ask, about=about, timeout=self._timeout)
        except GivenUpError as error:
            self._given_up = str(error)
            raise

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Nothing is left in the memory of a cluster."""
        del name, statement, about
        return False

    @property
    def most_labels(self) -> int:
        """Rows of labels that may come here and their ids go back; 0 where labels are too large."""
        return _MOST_LABELS if self.dialect.few_labels else 0

    def send(self, name: str, table: pa.Table) -> None:
        """Have a table go from here to where predictions are, whenever a statement reads it."""
        with _told_in_our_words("ids of labels", cannot_be="sent to Spark"):
            self._kept[name] = self._sent(table)

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Take labels from another engine, as Arrow, to be sent to where predictions are."""
        import pyarrow as pa

        view = self._sent(labels.set_column(2, "label", labels["label"].cast(pa.int32())))
        self._views.append(view)
        self.dialect = Spark(few_labels=labels.nbytes <= _MOST_SENT)
        return received(name, view, key, self.dialect)

    def close(self) -> None:
        """Forget the views; the session is the user's.

        A server that is gone is still given up soon: ending the session asks it, and so does a
        process that ends, which would take ten minutes.
        """
        has_answered = self._forget((*self._views, *self._kept.values()))
        self._views.clear()
        self._kept.clear()
        if has_answered:
            self._try_as_before()

    def _forget(self, views: Iterable[str]) -> bool:
        """Whether the session's server answers; one that is gone has forgotten them by itself."""
        from pyspark.errors import PySparkException

        try:
            for view in views:
                self._session.catalog.dropTempView(view)
        except (PySparkException, OSError, RuntimeError, ValueError):
            return False
        return True

    def _sent(self, table: pa.Table) -> str:
        """The view of a small table that goes from here to where predictions are."""
        from pyspark.sql.pandas.types import from_arrow_schema

        if table.num_rows == 0:
            # Of a table without rows Spark Connect does not read the types.
            frame = self._session.createDataFrame([], from_arrow_schema(table.schema))
        else:
            try:
                frame = self._session.createDataFrame(table)
            except (TypeError, ValueError):
                # Before its version 4 it takes no Arrow table.
                frame = self._session.createDataFrame(table.to_pandas())
        view = f"pumonitor_sent_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(view)
        return view

    @staticmethod
    def _arrow(frame: Any) -> pa.Table:
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        if hasattr(frame, "toArrow"):
            return frame.toArrow()
        # Before its version 4 it has no such method.
        rows = frame.collect()
        return pa.Table.from_pylist([row.asDict() for row in rows], to_arrow_schema(frame.schema))

    @contextmanager
    def _set_for(self, statement: Statement) -> Iterator[None]:
        """Settings of the session that fit a statement, as long as it runs.

        As many partitions of what is moved as its size asks for, never more than were set. At 200,
        Spark's default, a window of a million rows took minutes on one machine: each partition is a
        task with files of its own, also where it holds a few rows. And the faster map for groups, a
        few megabytes, is made large enough: else most groups are in another, which takes twice the
        time.
        """
        conf = self._session.conf
        most = conf.get(_PARTITIONS)
        before = {_PARTITIONS: most, _FAST_GROUPS: _setting(conf, _FAST_GROUPS)}
        wanted = {_FAST_GROUPS: _DIGITS}
        partitions = self._partitions_of(statement)
        if partitions is not None and most.isdigit() and partitions < int(most):
            wanted = {_PARTITIONS: str(partitions)} | wanted
        _set(conf, wanted)
        try:
            yield
        finally:
            _set(conf, {name: before[name] for name in wanted})

    def _partitions_of(self, statement: Statement) -> int | None:
        read = sum(size for view, size in self._sizes.items() if view in statement.sql)
        return None if read == 0 else max(_FEWEST_PARTITIONS, read // _BYTES_IN_PARTITION)

    def _size_of(self, view: str) -> int | None:
        """Bytes of a frame as Spark's own plan expects them; None where it does not say.

        Planning alone, no job: it is the size of files, or of what a query keeps at most.
        """
        from pyspark.errors import PySparkException

        try:
            asked = f"EXPLAIN COST SELECT * FROM {view}"  # noqa: S608 (the view is ours)
            plan = self._session.sql(asked).collect()[0][0]
        except PySparkException:
            return None
        found = _SIZE.search(plan)
        return None if found is None else int(float(found[1]) * 1024 ** _UNITS.index(found[2]))

    def _answer(self, statement: Statement, about: str) -> Any:
        sql = statement.sql
        for name, view in self._kept.items():
            sql = sql.replace(name, view)
        with _told_in_our_words(about):
            return self._session.sql(sql)


def _setting(conf: Any, name: str) -> str | None:
    """What a session has set; None where it has not, or does not tell."""
    from pyspark.errors import PySparkException

    try:
        found: str | None = conf.get(name, None)
    except PySparkException:
        return None
    return found


def _set(conf: Any, values: Mapping[str, str | None]) -> None:
    """Settings of a session, as far as it lets them be set: none of ours is needed."""
    from pyspark.errors import PySparkException

    with suppress(PySparkException):
        for name, value in values.items():
            if value is None:
                conf.unset(name)
            else:
                conf.set(name, value)


def _array(column: Any) -> NDArray[Any]:
    """A column of an answer, masked where it is null."""
    import pyarrow as pa

    column = column.combine_chunks()
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if is_number and column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return np.ma.MaskedArray(column.fill_null(0).to_numpy(zero_copy_only=False), missing)
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found


@contextmanager
def _told_in_our_words(about: str, *, cannot_be: str = "read") -> Iterator[None]:
    """Also what is asked of the session itself, which may be on a server."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise in_our_words(error, about, cannot_be=cannot_be) from None


def in_our_words(error: Exception, about: str, *, cannot_be: str = "read") -> SourceError:
    """What Spark says, in one line; of a server that is gone, what the connection says."""
    said = str(error).strip()
    told = _DETAILS.search(said)
    return SourceError(
        f"{about} cannot be {cannot_be}: {told[1] if told else said.splitlines()[0]}"
    )


def _kind(name: str) -> Kind:
    if name.startswith("decimal"):
        return "integer" if name.endswith(",0)") else "number"
    if name.startswith(("varchar", "char")):
        return "text"
    return _KINDS.get(name, "other")

"""Tables of a Spark server that speaks Spark Connect, counted there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.column_types.column_kinds import Relation
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.windows.contained_sql import WRITTEN_OUT, check_query, written_out
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_spark import SparkEngine, in_our_words
from pumonitor.sources.windows.spark_watch import try_for_seconds

if TYPE_CHECKING:
    from collections.abc import Callable


def open_spark_connect(
    url: str, *, timeout: float, as_of: datetime | None = None
) -> SparkConnectEngine:
    """Connect to a server: sc://HOST:PORT/;token=${TOKEN}.

    Raises
    ------
    SourceError
        If it does not answer.
    """
    # Its tables name their versions themselves.
    del as_of
    from pyspark.sql import SparkSession

    return SparkConnectEngine(
        lambda: SparkSession.builder.remote(url).create(), url=url, timeout=timeout
    )


class SparkConnectEngine(SparkEngine):
    """A session of its own on the server, which ends with it.

    Parameters
    ----------
    connect : callable
        Starts the session.
    url : str
        Of the server; what follows its address may be secret, and stands in no message.
    timeout : float
        Seconds for one statement.
    """

    def __init__(self, connect: Callable[[], Any], *, url: str, timeout: float = 600.0) -> None:
        from pyspark.errors import PySparkException

        session: Any = None
        try:
            session = connect()
            try_for_seconds(session)
            # Nothing is asked of the server before.
            str(session.version)
        except (PySparkException, OSError, RuntimeError) as error:
            if session is not None:
                # Else it stays this thread's session, which MLflow asks for a registry and waits.
                _end(session)
            place, secrets = _place_and_secrets(url)
            said = str(in_our_words(error, f"the Spark server {place}"))
            for secret in secrets:
                said = said.replace(secret, "***")
            raise SourceError(said) from None
        super().__init__(session, timeout=timeout)

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table or view by its name, or a query."""
        del columns
        from pyspark.errors import PySparkException

        if isinstance(table, SqlTable):
            name = f"{role} {table.table}"
            try:
                return self.of_frame(self._session.table(table.table), role=role, name=name)
            except PySparkException as error:
                raise InputError(str(in_our_words(error, name))) from None
        if not isinstance(table, SqlQuery):
            raise TypeError(type(table))
        name = f"the query of {role}"
        query = check_query(
            table.query, dialect="spark", parameters=parameters, name=name, placeholder=WRITTEN_OUT
        )
        sql = written_out(query, parameters, self.dialect.constant)
        relation = self.of_frame(self._session.sql(sql), role=role, name=name)
        if sql == query:
            return relation
        # With parameters it is another query for every window: the view told its columns.
        return Relation(
            name=name, sql=f"({query})", columns=relation.columns, parameters=parameters
        )

    def close(self) -> None:
        """Forget the views, and end the session; a server that is gone has ended it."""
        super().close()
        _end(self._session)

    def _answer(self, statement: Statement, about: str) -> Any:
        sql = written_out(statement.sql, statement.values, self.dialect.constant)
        return super()._answer(Statement(sql=sql), about)


def _end(session: Any) -> None:
    """End a session; a server that is gone has ended it."""
    from pyspark.errors import PySparkException

    # A channel that was closed is a ValueError.
    with suppress(PySparkException, OSError, RuntimeError, ValueError):
        session.stop()


def _place_and_secrets(url: str) -> tuple[str, list[str]]:
    """Host and port, and all else that the address says, however it may be repeated."""
    rest = url.partition("://")[2]
    user, _, place = re.split(r"[/;?#]", rest, maxsplit=1)[0].rpartition("@")
    after = rest.partition(place)[2] if place else rest
    parts = [user, after, *re.split(r"[;&?]", after)]
    parts += [one.partition("=")[2] for one in parts] + [user.partition(":")[2]]
    found = {form for one in parts if len(one) > 1 for form in (one, unquote(one))}
    return f"sc://{place}", sorted(found, key=len, reverse=True)

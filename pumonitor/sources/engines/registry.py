"""From the scheme of a URL to the engine that reads it, which is loaded when it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import ExtraMissingError, InputError, did_you_mean

if TYPE_CHECKING:
    from pumonitor.sources.windows.counts_engine import Engine

GROUP: Final = "pumonitor.engines"
"""Entry points of this group name an `EngineKind` each; others add their engines so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """What is known of an engine before it is loaded.

    Attributes
    ----------
    name : str
        The scheme of its URLs, without a driver ("postgresql" of postgresql+psycopg://).
    title : str
        What people call it.
    example : str
        A URL.
    opens : str
        "module:function"; called with a URL, `timeout` (seconds for one statement) and `as_of` (a
        moment or None: tables that keep versions are read as of then), it returns an `Engine`.
    spoken : str
        The dialect in which sqlglot reads a user's query.
    extra : str
        Of `pip install 'pumonitor[EXTRA]'`; "" if nothing more is needed.
    needs : tuple of str
        Modules that come with the extra.
    read_only : str
        What keeps its sessions from writing; "" if nothing but the rights of the user does.
    snapshot : str
        What makes all statements about one window see the same rows; "" if nothing does.
    dialect : str
        The name of its dialect, if that is not its own.
    was_run : bool
        Whether its counts were compared with DuckDB's on the real thing. Where they were not, what
        it counts is labeled so until somebody has run `pumonitor engines verify` on it.
    """

    name: str
    title: str
    example: str
    opens: str
    spoken: str
    extra: str = ""
    needs: tuple[str, ...] = ()
    read_only: str = ""
    snapshot: str = ""
    dialect: str = ""
    was_run: bool = True

    def open(self, url: str, *, timeout: float, as_of: datetime | None = None) -> Engine:
        """Load the engine and connect it.

        Raises
        ------
        ExtraMissingError
            If its package is not installed.
        """
        missing = [one for one in self.needs if _is_missing(one)]
        if missing:
            msg = (
                f"{self.name}:// needs {', '.join(missing)}, which {_is(missing)} not installed: "
                f"pip install 'pumonitor[{self.extra}]'"
            )
            raise ExtraMissingError(msg)
        module, _, function = self.opens.partition(":")
        opened: Any = getattr(import_module(module), function)(url, timeout=timeout, as_of=as_of)
        return opened  # type: ignore[no-any-return]


_OWN: Final = (
    EngineKind(
        name="postgresql",
        title="PostgreSQL",
        example="postgresql+psycopg://USER:${PASSWORD}@HOST/NAME",
        opens="pumonitor.sources.engines.postgresql:open_postgresql",
        spoken="postgres",
        extra="postgres",
        read_only="read-only transactions",
        snapshot="one transaction at REPEATABLE READ",
    ),
    EngineKind(
        name="sqlite",
        title="SQLite",
        example="sqlite:///FILE",
        opens="pumonitor.sources.engines.sqlite:open_sqlite",
        spoken="sqlite",
        read_only="the file is opened read-only",
        snapshot="one transaction",
    ),
    EngineKind(
        name="duckdb",
        title="DuckDB",
        example="duckdb:///FILE",
        opens="pumonitor.sources.engines.duckdb_file:open_duckdb",
        spoken="duckdb",
        read_only="the file is attached read-only",
        snapshot="nobody can write while it is open",
    ),
    EngineKind(
        name="mariadb",
        title="MariaDB",
        example="mariadb://USER:${PASSWORD}@HOST/NAME",
        opens="pumonitor.sources.engines.mariadb:open_mariadb",
        spoken="mysql",
        extra="mariadb",
        needs=("pymysql",),
        read_only="read-only transactions",
        snapshot="one transaction, for tables of InnoDB",
    ),
    EngineKind(
        name="clickhouse",
        title="ClickHouse",
        example="clickhouse://USER:${PASSWORD}@HOST:8123/NAME",
        opens="pumonitor.sources.engines.clickhouse:open_clickhouse",
        spoken="clickhouse",
        read_only="the setting readonly of each statement",
    ),
    EngineKind(
        name="chdb",
        title="ClickHouse, embedded",
        example="chdb:///FOLDER",
        opens="pumonitor.sources.engines.clickhouse:open_chdb",
        spoken="clickhouse",
        extra="chdb",
        needs=("chdb",),
        read_only="the setting readonly of each statement",
    ),
    EngineKind(
        name="sc",
        title="Spark Connect",
        example="sc://HOST:15002",
        opens="pumonitor.sources.engines.spark_connect:open_spark_connect",
        spoken="spark",
        extra="spark",
        dialect="pyspark",
        needs=("pyspark", "grpc"),
    ),
    EngineKind(
        name="snowflake",
        title="Snowflake",
        example=("snowflake://USER:${PASSWORD}@ACCOUNT/DATABASE/SCHEMA?warehouse=NAME&role=NAME"),
        opens="pumonitor.sources.engines.snowflake:open_snowflake",
        spoken="snowflake",
        extra="snowflake",
        needs=("snowflake.sqlalchemy",),
        was_run=False,
    ),
    EngineKind(
        name="bigquery",
        title="BigQuery",
        example="bigquery://PROJECT/DATASET",
        opens="pumonitor.sources.engines.bigquery:open_bigquery",
        spoken="bigquery",
        extra="bigquery",
        needs=("sqlalchemy_bigquery",),
        was_run=False,
    ),
    EngineKind(
        name="redshift",
        title="Redshift",
        example="redshift://USER:${PASSWORD}@HOST:5439/NAME",
        opens="pumonitor.sources.engines.redshift:open_redshift",
        spoken="redshift",
        extra="redshift",
        needs=(
            "sqlalchemy_redshift",
            "redshift_connector",
        ),
        was_run=False,
    ),
    EngineKind(
        name="trino",
        title="Trino",
        example="trino://USER:${PASSWORD}@HOST:443/CATALOG/SCHEMA",
        opens="pumonitor.sources.engines.trino:open_trino",
        spoken="trino",
        extra="trino",
        needs=("trino",),
        was_run=False,
    ),
    EngineKind(
        name="databricks",
        title="Databricks SQL",
        example=(
            "databricks://token:${DATABRICKS_TOKEN}@HOST"
            "?http_path=/sql/1.0/warehouses/ID&catalog=NAME&schema=NAME"
        ),
        opens="pumonitor.sources.engines.databricks:open_databricks",
        spoken="databricks",
        extra="databricks",
        needs=("databricks.sqlalchemy",),
        was_run=False,
    ),
)


def scheme_of(url: str) -> str:
    """The scheme of a URL, without the driver.

    Examples
    --------
    >>> scheme_of("postgresql+psycopg://me@host/scores"), scheme_of("no url")
    ('postgresql', '')
    """
    scheme, mark, _ = url.partition("://")
    return scheme.partition("+")[0].lower() if mark else ""


def engine_kinds() -> Mapping[str, EngineKind]:
    """All engines by name: the ones of this package, then those that other packages add."""
    own = {one.name: one for one in _OWN}
    others = {name: kind for name, kind in _of_others().items() if name not in own}
    return own | others


def engine_kind(name: str) -> EngineKind | None:
    """The engine of this name; None if there is none."""
    own = next((one for one in _OWN if one.name == name), None)
    # Entry points are looked up for names that are not known here alone: it takes a while.
    return own or _of_others().get(name)


def open_engine(url: str, *, timeout: float, as_of: datetime | None = None) -> Engine:
    """Connect to the database that a URL names.

    Parameters
    ----------
    url : str
    timeout : float
        Seconds that one statement may take.
    as_of : datetime, optional
        Tables that keep versions are read as of then.

    Raises
    ------
    InputError
        If it is no URL, or of a kind that is not read.
    ExtraMissingError
        If the engine's package is not installed.
    SourceError
        If the database cannot be reached.
    """
    name = scheme_of(url)
    if not name:
        msg = (
            "the url of a database is not one: write it like "
            "postgresql+psycopg://user:password@host/database or sqlite:///file.db"
        )
        raise InputError(msg)
    kind = engine_kind(name)
    if kind is None:
        known = engine_kinds()
        hint = did_you_mean(name, known)
        msg = f"databases of the kind {name} are not read: {', '.join(known)} are{hint}"
        raise InputError(msg)
    return kind.open(url, timeout=timeout, as_of=as_of)


def _of_others() -> dict[str, EngineKind]:
    from importlib.metadata import entry_points

    found: dict[str, EngineKind] = {}
    for point in entry_points(group=GROUP):
        kind = point.load()
        if not isinstance(kind, EngineKind) or kind.name != point.name:
            msg = (
                f"the entry point {point.name} of {GROUP} is {point.value}, which must be an "
                f"EngineKind of the name {point.name}"
            )
            raise InputError(msg)
        found[kind.name] = kind
    return found


def _is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:
        # Not even the package that it would be in is there.
        return True


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"

"""Statements for a ClickHouse server, by its HTTP interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.engines.clickhouse_transport import ClickHouseError, told

if TYPE_CHECKING:
    import pyarrow as pa

_PORTS: Final = {"http": 8123, "https": 8443}
_SECONDS_TO_CONNECT: Final = 30
_BEYOND_THE_LIMIT: Final = 30
"""Seconds more than the limit after which a server that says nothing is given up."""
_LABELS: Final = "pumonitor_labels"
_TYPES: Final = {"int64": "Int64", "string": "String", "double": "Float64"}
_SETTING_REFUSED: Final = 164


class HttpTransport:
    """Posts statements that only read, and takes Arrow.

    Parameters
    ----------
    url : str
        clickhouse://USER:PASSWORD@HOST:8123/NAME; clickhouse+https:// for a server with TLS.
    timeout : float
        Seconds for one statement.
    """

    def __init__(self, url: str, *, timeout: float) -> None:
        import requests

        parts = urlsplit(url)
        protocol = parts.scheme.partition("+")[2] or "http"
        if protocol not in _PORTS or not parts.hostname or parse_qs(parts.query):
            msg = (
                "the url of a ClickHouse server must be clickhouse://USER@HOST:8123/NAME, or "
                "clickhouse+https://USER@HOST:8443/NAME, with nothing after a question mark"
            )
            raise InputError(msg)
        self._shown = f"{parts.hostname}:{parts.port or _PORTS[protocol]}"
        self._address = f"{protocol}://{self._shown}/"
        self._database = unquote(parts.path.strip("/")) or "default"
        self._timeout = timeout
        self._http = requests.Session()
        self._http.headers["X-ClickHouse-User"] = unquote(parts.username or "default")
        self._http.headers["X-ClickHouse-Key"] = unquote(parts.password or "")
        self._secrets = [one for one in (parts.password, unquote(parts.password or "")) if one]
        self._labels: bytes | None = None
        self._structure = ""

    def ask(self, sql: str, settings: Mapping[str, str | int]) -> pa.Table:
        """The answer to one statement."""
        import pyarrow as pa
        import requests

        parameters: dict[str, str | int] = {
            **settings,
            "database": self._database,
            "default_format": "ArrowStream",
            # Errors in the middle of an answer would come after a good status.
            "wait_end_of_query": 1,
            "readonly": 2,
        }
        sent: dict[str, Any] = {"data": sql.encode()}
        if self._labels is not None and _LABELS in sql:
            parameters[f"{_LABELS}_format"] = "ArrowStream"
            parameters[f"{_LABELS}_structure"] = self._structure
            sent = {"data": {"query": sql}, "files": {_LABELS: (_LABELS, self._labels)}}
        try:
            answer = self._http.post(
                self._address,
                params=parameters,
                timeout=(_SECONDS_TO_CONNECT, self._timeout + _BEYOND_THE_LIMIT),
                **sent,
            )
        except requests.RequestException as error:
            msg = f"the clickhouse database at {self._shown} cannot be reached: {_reason(error)}"
            raise SourceError(msg) from None
        if not answer.ok:
            raise self._refused(answer.text)
        return pa.ipc.open_stream(answer.content).read_all()

    def receive(self, labels: pa.Table) -> str:
        """Keep them to be sent with each statement that reads them."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, labels.schema) as writer:
            writer.write_table(labels)
        self._labels = sink.getvalue().to_pybytes()
        self._structure = ", ".join(
            f"{field.name} Nullable({_TYPES[str(field.type)]})" for field in labels.schema
        )
        return _LABELS

    def close(self) -> None:
        """Let go of everything."""
        self._http.close()

    def _refused(self, said: str) -> ClickHouseError:
        for secret in self._secrets:
            said = said.replace(secret, "***")
        error = told(said)
        if error.code == _SETTING_REFUSED and "setting" in str(error):
            return ClickHouseError(
                f"{error}; counts need settings of their own: give the user a profile with "
                "readonly = 2, which lets them be set and still writes nothing",
                code=error.code,
            )
        return error


def _reason(error: Exception) -> str:
    """The last cause, which names neither address nor credentials."""
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    return str(cause) or type(cause).__name__

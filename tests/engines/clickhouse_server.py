"""As much of ClickHouse's HTTP interface as is used here, on top of its embedded library.

It stands in for a server: statements are run by the real engine, but settings, rights, credentials
and the table that travels with a statement are read by this file.
"""

from __future__ import annotations

import re
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from werkzeug.formparser import parse_form_data

__all__ = ["PASSWORD", "USER", "ClickHouseServer"]

USER, PASSWORD = "monitor", "canary"
_SETTINGS = re.compile(
    r"(join_use_nulls|cast_keep_nullable|aggregate_functions_null_for_empty|session_timezone"
    r"|prefer_column_name_to_alias|output_format_\w+|max_execution_time)$"
)


class ClickHouseServer:
    """Answers on loopback until it is closed; `asked` holds the parameters of each request."""

    def __init__(self, folder: Path) -> None:
        import chdb

        self.asked: list[dict[str, str]] = []
        self._lock = Lock()
        self._connection: Any = chdb.connect(str(folder / "db"))
        self._received = tempfile.TemporaryDirectory()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer._answer(self)

            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def address(self, password: str = PASSWORD) -> str:
        """URL of its database."""
        return f"clickhouse://{USER}:{password}@127.0.0.1:{self._server.server_port}/default"

    def run(self, sql: str) -> None:
        """A statement that may write."""
        with self._lock:
            self._connection.query(sql)

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(20)
        self._connection.close()
        self._received.cleanup()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        parameters = {
            name: values[-1] for name, values in parse_qs(urlsplit(request.path).query).items()
        }
        self.asked.append(parameters)
        sql = self._statement(request, parameters)
        given = (request.headers["X-ClickHouse-User"], request.headers["X-ClickHouse-Key"])
        if given != (USER, PASSWORD):
            said = f"Code: 516. DB::Exception: {given[0]}: Authentication failed with {given[1]}."
            return self._send(request, 403, said.encode())
        try:
            with self._lock:
                for name, value in parameters.items():
                    if _SETTINGS.match(name):
                        self._connection.query(f"SET {name} = '{value}'")
                answer = self._connection.query(sql, parameters["default_format"]).bytes()
        except Exception as error:  # noqa: BLE001 (the library has no type of its own for it)
            return self._send(request, 500, str(error).encode())
        return self._send(request, 200, answer)

    def _statement(self, request: BaseHTTPRequestHandler, parameters: dict[str, str]) -> str:
        if "multipart" not in request.headers.get("Content-Type", ""):
            return request.rfile.read(int(request.headers["Content-Length"])).decode()
        _, form, files = parse_form_data(
            {
                "wsgi.input": request.rfile,
                "CONTENT_LENGTH": request.headers["Content-Length"],
                "CONTENT_TYPE": request.headers["Content-Type"],
                "REQUEST_METHOD": "POST",
            }
        )
        sql = str(form["query"])
        for name, sent in files.items():
            file = Path(self._received.name) / name
            sent.save(file)
            sent.close()
            kind, structure = parameters[f"{name}_format"], parameters[f"{name}_structure"]
            table = f"file('{file}', {kind}, '{structure}')"
            sql = re.sub(rf"\b{name}\b(?! AS \()", table, sql)
        return sql

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

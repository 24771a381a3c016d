"""One request to an application in this process, and its answer: WSGI or ASGI."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote

_OF_THE_LENGTH: Final = frozenset({"content-length", "transfer-encoding"})
"""The body has been read whole, so its length is known."""

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Message = MutableMapping[str, Any]
AsgiApp = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[Message]],
        Callable[[Message], Awaitable[None]],
    ],
    Awaitable[None],
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, as both kinds of application can be asked.

    Attributes
    ----------
    method, path, query : str
        The path is decoded, the query is not.
    headers : sequence of (str, str)
        Names in lower case.
    body : bytes
    scheme : str
    host, client : tuple of (str, int)
        Of the server and of the client.
    prefix : str
        Part of the address before the path.
    also : mapping
        Entries of the WSGI environment for the application that is asked.
    """

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    scheme: str = "http"
    host: tuple[str, int] = ("localhost", 80)
    client: tuple[str, int] = ("127.0.0.1", 0)
    prefix: str = ""
    also: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_wsgi(cls, environ: Mapping[str, Any]) -> Request:
        """Without its body."""
        headers = [
            (name[5:].replace("_", "-").lower(), str(value))
            for name, value in environ.items()
            if name.startswith("HTTP_")
        ]
        if environ.get("CONTENT_TYPE"):
            headers.append(("content-type", environ["CONTENT_TYPE"]))
        return cls(
            method=environ["REQUEST_METHOD"],
            path=_decoded(environ.get("SCRIPT_NAME", "")) + _decoded(environ.get("PATH_INFO", "")),
            query=environ.get("QUERY_STRING", ""),
            headers=headers,
            scheme=environ.get("wsgi.url_scheme", "http"),
            host=(environ.get("SERVER_NAME", ""), int(environ.get("SERVER_PORT") or 80)),
            client=(environ.get("REMOTE_ADDR", ""), int(environ.get("REMOTE_PORT") or 0)),
        )

    @classmethod
    def of_asgi(cls, scope: Mapping[str, Any]) -> Request:
        """Without its body."""
        return cls(
            method=scope["method"],
            path=scope["path"],
            query=scope.get("query_string", b"").decode("latin-1"),
            headers=[
                (name.decode("latin-1").lower(), value.decode("latin-1"))
                for name, value in scope["headers"]
            ],
            scheme=scope.get("scheme", "http"),
            host=tuple(scope.get("server") or ("localhost", 80)),
            client=tuple(scope.get("client") or ("127.0.0.1", 0)),
        )

    def below(self, prefix: str, **also: Any) -> Request:
        """The same for an application that stands below a prefix of the path."""
        return replace(self, path=self.path[len(prefix) :] or "/", prefix=prefix, also=also)

    def environ(self) -> dict[str, Any]:
        """The WSGI environment (PEP 3333)."""
        found = {
            "REQUEST_METHOD": self.method,
            "SCRIPT_NAME": _encoded(self.prefix),
            "PATH_INFO": _encoded(self.path),
            "QUERY_STRING": self.query,
            "SERVER_NAME": self.host[0],
            "SERVER_PORT": str(self.host[1] or ""),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": self.client[0],
            "CONTENT_LENGTH": str(len(self.body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": self.scheme,
            "wsgi.input": io.BytesIO(self.body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            **self.also,
        }
        for name, value in self.headers:
            if name == "content-type":
                found["CONTENT_TYPE"] = value
            elif name not in _OF_THE_LENGTH:
                found["HTTP_" + name.upper().replace("-", "_")] = value
        return found

    def scope(self) -> dict[str, Any]:
        """The ASGI scope."""
        headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in self.headers
            if name not in _OF_THE_LENGTH
        ]
        length = (b"content-length", str(len(self.body)).encode())
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": self.scheme,
            "path": self.path,
            "raw_path": quote(self.path).encode("ascii"),
            "query_string": self.query.encode("latin-1"),
            "root_path": "",
            "headers": [*headers, length],
            "server": self.host,
            "client": self.client,
            "state": {},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer.

    Attributes
    ----------
    status : int
    reason : str
    headers : sequence of (str, str)
    body : bytes
    """

    status: int
    reason: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


def ask_wsgi(app: WsgiApp, request: Request) -> Answer:
    """Ask a WSGI application."""
    begun: list[tuple[str, list[tuple[str, str]]]] = []
    written: list[bytes] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        begun.append((status, headers))
        return written.append

    parts = app(request.environ(), start_response)
    try:
        written.extend(parts)
    finally:
        close = getattr(parts, "close", None)
        if close is not None:
            close()
    status, headers = begun[-1]
    code, _, reason = status.partition(" ")
    return Answer(status=int(code), reason=reason, headers=headers, body=b"".join(written))


async def ask_asgi(app: AsgiApp, request: Request) -> Answer:
    """Ask an ASGI application."""
    sent: list[Message] = []
    unread = [request.body]

    async def receive() -> Message:
        if not unread:
            # The caller stays until it is answered; applications wait here for it to leave.
            await asyncio.Event().wait()
        return {"type": "http.request", "body": unread.pop(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(request.scope(), receive, send)
    start = next(one for one in sent if one["type"] == "http.response.start")
    return Answer(
        status=start["status"],
        headers=[
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in start.get("headers", ())
        ],
        body=b"".join(one.get("body", b"") for one in sent if one["type"] == "http.response.body"),
    )


def _decoded(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")


def _encoded(text: str) -> str:
    return text.encode("utf-8").decode("latin-1")

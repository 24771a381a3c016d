"""An archive on this machine: serves bytes over HTTP, and misbehaves as it is told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Archive:
    """Its files, and how it treats requests.

    Attributes
    ----------
    files : dict of str to bytes
        By path.
    ranges : bool
        Whether it honours a range; if not it sends the whole file.
    with_length : bool
        Whether it says how long the answer is.
    cut_after : list of int
        Bytes after which the connection is dropped, one for each of the next requests.
    silent : threading.Event or None
        It sends nothing until this is set.
    status : int
        Of every answer, if not 200.
    asked : list of str
        The range of each request, empty without one.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    with_length: bool = True
    cut_after: list[int] = field(default_factory=list)
    silent: threading.Event | None = None
    status: int = 200
    asked: list[str] = field(default_factory=list)


@contextmanager
def archive_server() -> Iterator[Archive]:
    """Start it; it ends with the block."""
    archive = Archive()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(archive))
    server.daemon_threads = True
    archive.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield archive
    finally:
        if archive.silent is not None:
            archive.silent.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(archive: Archive) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            archive.asked.append(wanted)
            if archive.silent is not None:
                archive.silent.wait()
            content = archive.files.get(self.path)
            if archive.status != 200 or content is None:
                self.send_error(archive.status if archive.status != 200 else 404)
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            if not archive.ranges:
                start = 0
            if start and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                last = len(content) - 1
                self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
            if archive.with_length:
                self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            end = start + archive.cut_after.pop(0) if archive.cut_after else len(content)
            self.wfile.write(content[start:end])

        def log_message(self, *_: object) -> None:
            pass

    return Handler

"""Webhooks over TLS: connected by the address that was judged, verified by the name."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.failures import DestinationDownError
from tests.monitor.delivery.notifications.alerts import alert, outgoing
from tests.monitor.delivery.notifications.conftest import QUICK, Clock


def certificate(folder: Path, name: str) -> Path:
    """A certificate of `name` that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(pem)
    )
    return file


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, list[str]]]:
    """Port of a server that is `localhost`, and what names it was asked for by."""
    names: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            names.append(self.headers["Host"].partition(":")[0])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    file = certificate(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients hang up here
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    yield server.server_address[1], names
    server.shutdown()
    server.server_close()


def test_the_name_is_what_is_verified(served: tuple[int, list[str]], clock: Clock) -> None:
    port, names = served

    def send(host: str) -> None:
        WebhookSink(
            f"https://{host}:{port}/in", allow_private=True, limits=QUICK, clock=clock
        ).send(outgoing(alert()))

    send("localhost")
    assert names == ["localhost"]
    with pytest.raises(DestinationDownError, match="cannot be reached"):
        send("127.0.0.1")
    assert names == ["localhost"]


def test_who_is_not_vouched_for_is_sent_nothing(
    served: tuple[int, list[str]],
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port, names = served
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate(tmp_path, "elsewhere")))
    with pytest.raises(DestinationDownError, match="cannot be reached"):
        WebhookSink(
            f"https://localhost:{port}/in", allow_private=True, limits=QUICK, clock=clock
        ).send(outgoing(alert()))
    assert names == []

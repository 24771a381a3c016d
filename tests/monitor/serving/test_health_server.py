"""Who is answered by the health server, and that nobody can hold it up."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.serving.health import health_server

TOKEN = "a-token-of-some-length"  # noqa: S105
NAMES = "/healthz, /readyz, /metrics\n"


def serving(address="127.0.0.1:0", **options):
    return health_server(address, ready=lambda: None, metrics=lambda: b"numbers\n", **options)


def asked(port, path="/healthz", *, at="127.0.0.1", **headers):
    connection = http.client.HTTPConnection(at, port, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    said = answer.status, answer.read().decode()
    connection.close()
    return said


def test_this_machine_is_answered():
    with serving() as port:
        assert asked(port) == (200, "alive\n")
        assert asked(port, "/readyz") == (200, "ready\n")
        assert asked(port, "/metrics") == (200, "numbers\n")
        assert asked(port, "/other") == (404, NAMES)


@pytest.mark.parametrize("address", [":0", "localhost:0", "127.0.0.2:0"])
def test_other_names_of_this_machine_need_no_token(address):
    at = {":0": "127.0.0.1", "localhost:0": "localhost"}.get(address, "127.0.0.2")
    with serving(address) as port:
        assert asked(port, at=at) == (200, "alive\n")


def test_an_address_of_ipv6_stands_in_brackets():
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with serving("[::1]:0") as port:
        assert asked(port, at="::1") == (200, "alive\n")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("8080", "a health address is HOST:PORT"),
        ("::1:8080", "for example 127.0.0.1:8080 or [::1]:8080, got '::1:8080'"),
        ("[127.0.0.1]:8080", "a health address is HOST:PORT"),
        ("127.0.0.1:99999", "a health address is HOST:PORT"),
        ("127.0.0.1:" + "9" * 5000, "(5,010 characters)'"),
        ("127.0.0.1:-1", "a health address is HOST:PORT"),
        ("no such host:1", "cannot be used"),
    ],
)
def test_addresses_that_are_none_are_refused(address, message):
    with pytest.raises(InputError) as caught, serving(address):
        pass
    assert message in str(caught.value)


# Who may ask


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_an_address_that_others_can_ask_needs_a_token(address):
    with pytest.raises(InputError) as caught, serving(address):
        pass
    assert str(caught.value).startswith(
        f"the health address {address} can be reached from other machines: set the "
        "environment variable PUMONITOR_HEALTH_TOKEN to a token"
    )


def test_serve_refuses_it_before_it_works(tmp_path):
    (tmp_path / "pumonitor.yaml").write_text(
        "state: sqlite:///state.db\nmonitors:\n  a:\n    predictions: {source: p.csv, id: i, "
        "time: t, score: s}\n    positives: {source: l.csv, id: i}\n    window: 1d\n"
        "    maturity: 1d\n    threshold: 0.5\n"
    )
    runner = CliRunner(env={"PUMONITOR_HEALTH_TOKEN": ""})
    arguments = ["serve", "--config", str(tmp_path / "pumonitor.yaml"), "--health", "0.0.0.0:0"]
    done = runner.invoke(app, arguments)
    assert done.exit_code == 2
    assert "can be reached from other machines: set the environment" in done.stderr


def test_a_short_token_is_refused():
    with (
        pytest.raises(InputError, match="must have 16 or more plain characters, got 6"),
        serving(
            "0.0.0.0:0",
            token="secret",  # noqa: S106
        ),
    ):
        pass


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/other"])
def test_with_a_token_every_request_bears_it(path):
    with serving("0.0.0.0:0", token=TOKEN) as port:
        assert asked(port, path)[0] == 401
        wrong = [f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer", "ü"]
        for one in wrong:
            assert asked(port, path, Authorization=one.encode("latin-1")) == (
                401,
                "Authorization: Bearer TOKEN is needed\n",
            )
        expected = 404 if path == "/other" else 200
        assert asked(port, path, Authorization=f"Bearer {TOKEN}")[0] == expected
        assert asked(port, path, Authorization=f"bearer {TOKEN}", Host="pod.x:1")[0] == expected


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org:80", "10.0.0.1", "", "[x]"])
def test_a_host_that_is_not_this_machine_is_not_answered(host):
    with serving() as port:
        assert asked(port, "/metrics", Host=host) == (
            421,
            "the Host header has an unknown host name\n",
        )


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080"])
def test_the_names_of_this_machine_are(host):
    with serving() as port:
        assert asked(port, "/metrics", Host=host) == (200, "numbers\n")


# Who is in the way


def half(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    # The server may have closed it already.
    with suppress(ConnectionError):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    return connection


def is_closed(connection):
    with suppress(ConnectionResetError):
        return connection.recv(1) == b""
    return True


def test_half_requests_hold_few_threads_and_not_for_long():
    before = threading.active_count()
    with ExitStack() as stack, serving(seconds_per_request=1.0) as port:
        # So many connections may wait to be taken up as there are here, whatever the system.
        halves = [stack.enter_context(half(port)) for _ in range(100)]
        # Those one too many are closed at once.
        assert sum(is_closed(one) for one in halves[50:]) == 50
        assert threading.active_count() - before <= 34
        # The others when their time is over, and then there is room again.
        assert all(is_closed(one) for one in halves[:50])
        assert asked(port) == (200, "alive\n")
    assert threading.active_count() - before <= 34


def test_a_request_that_trickles_is_cut_off():
    with serving(seconds_per_request=0.3) as port, half(port) as connection:
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < 8:
                connection.sendall(b"X-A: b\r\n")
                connection.settimeout(0.05)
                with suppress(TimeoutError):
                    if connection.recv(1) == b"":
                        break
        assert time.monotonic() - began < 4
        assert asked(port) == (200, "alive\n")


def test_a_state_database_that_is_lost_is_not_ready_and_the_log_says_why(tmp_path, caplog):
    state = tmp_path / "state.db"
    with (
        Ledger.open(f"sqlite:///{state}") as ledger,
        health_server("127.0.0.1:0", ready=ledger.ready) as port,
    ):
        assert asked(port, "/readyz") == (200, "ready\n")
        state.rename(tmp_path / "backup.db")
        for _ in range(3):
            assert asked(port, "/readyz") == (503, "no state database\n")
        assert asked(port, "/healthz") == (200, "alive\n")
        assert not state.exists()
        with Ledger.open(f"sqlite:///{state}"):
            assert asked(port, "/readyz") == (503, "no state database\n")
    (line,) = caplog.messages
    assert "state.db is lost (No such file or directory) while it was open: stop all" in line


def test_what_fails_otherwise_is_no_lost_database_and_the_log_says_what(caplog):
    def fails():
        raise ZeroDivisionError("in a metric")

    with health_server("127.0.0.1:0", ready=lambda: None, metrics=fails) as port:
        assert asked(port, "/metrics") == (
            500,
            "ZeroDivisionError; the log of pumonitor serve says more\n",
        )
    assert caplog.messages == ["/metrics failed unexpectedly: ZeroDivisionError: in a metric"]


def test_wrong_tokens_are_logged_once_a_minute_without_themselves(caplog):
    with serving(token=TOKEN) as port:
        for _ in range(3):
            asked(port, "/metrics", Authorization="Bearer kanarienvogel")
        asked(port, "/metrics", Authorization=f"Bearer {TOKEN}")
    assert caplog.messages == ["health: a wrong token from 127.0.0.1 for '/metrics'"]

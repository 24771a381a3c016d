"""The pages behind their own server."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
import waitress.channel
import waitress.server

from pumonitor.errors import InputError
from pumonitor.monitor.dashboard import server
from pumonitor.monitor.dashboard.server import Served, _serving, pages_server
from tests.monitor.monitored_shop import write_shop


def test_pages_are_served_under_our_own_name_alone(shop):
    with pages_server("127.0.0.1:0", shop.monitors, shop.ledger, clock=lambda: shop.now) as url:
        with urlopen(url, timeout=10) as answer:  # noqa: S310
            assert b"card-fraud" in answer.read()
            assert answer.headers["Server"] == "pumonitor"
        port = int(re.search(r":(\d+)/", url)[1])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("GET", "/", headers={"Host": "evil.example"})
            assert connection.getresponse().status == 421


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("0.0.0.0:8090", "can be reached from other machines"),
        ("[::]:8090", "can be reached from other machines"),
        ("8090", "a pages address is HOST:PORT"),
        ("localhost:99999", "a pages address is HOST:PORT"),
        ("no-such-host.invalid:80", "cannot be used"),
    ],
)
def test_an_address_that_cannot_be_used_says_why(shop, address, reason):
    with (
        pytest.raises(InputError, match=re.escape(reason)),
        pages_server(address, shop.monitors, shop.ledger),
    ):
        pass


def test_a_port_that_is_taken_says_so(shop):
    with pages_server("127.0.0.1:0", shop.monitors, shop.ledger) as url:
        port = re.search(r":(\d+)/", url)[1]
        with (
            pytest.raises(InputError, match="cannot be used"),
            pages_server(f"127.0.0.1:{port}", shop.monitors, shop.ledger),
        ):
            pass


def test_an_answer_that_has_begun_is_sent_to_its_end():
    """It is longer than what a connection holds while nobody reads."""
    begun, sent = threading.Event(), 12 << 20

    def app(environ, start_response):
        start_response("200 OK", [("Content-Length", str(sent))])
        begun.set()
        return [b"x" * sent]

    listening = socket.create_server(("127.0.0.1", 0))
    with listening, contextlib.ExitStack() as serving:
        serving.enter_context(_serving(app, listening))
        with socket.create_connection(listening.getsockname(), timeout=10) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert begun.wait(10)
            end = threading.Thread(target=serving.close)
            end.start()
            received = b""
            while part := client.recv(1 << 16):
                received += part
            end.join()
    assert len(received.partition(b"\r\n\r\n")[2]) == sent


def answering(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def answered(place) -> bytes:
    with socket.create_connection(place, timeout=5) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return client.makefile("rb").read()


def test_connections_that_are_held_and_not_used_keep_nobody_out_for_long(monkeypatch):
    """A minute passes on the server's clock alone."""
    passed = [0.0]
    clock = SimpleNamespace(time=lambda: time.time() + passed[0])
    for module in (waitress.server, waitress.channel):
        monkeypatch.setattr(module, "time", clock)
    # One of so many is the socket that listens, one wakes the thread.
    monkeypatch.setattr(server, "_CONNECTIONS", 6)
    monkeypatch.setattr(server, "_LONGEST_WAIT", 0.05)
    listening = socket.create_server(("127.0.0.1", 0))
    with listening, _serving(answering, listening), contextlib.ExitStack() as held:
        place = listening.getsockname()
        clients = [held.enter_context(socket.create_connection(place, 5)) for _ in range(4)]
        for one in clients:
            one.sendall(b"GET / HTTP/1.1\r\n\r\n")
            received = b""
            while not received.endswith(b"ok"):
                received += one.recv(1000)
        with socket.create_connection(place, timeout=0.2) as late:
            late.sendall(b"GET / HTTP/1.0\r\n\r\n")
            with pytest.raises(TimeoutError):
                late.recv(1)
            passed[0] = 61.0
            late.settimeout(5)
            assert late.recv(1000).startswith(b"HTTP/1.0 200")
        assert clients[0].recv(1) == b""


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\n"])
def test_a_request_that_drips_is_cut_off(monkeypatch, sent):
    for name, value in (("_LONGEST_REQUEST", 0.3), ("_LONGEST_WAIT", 0.05)):
        monkeypatch.setattr(server, name, value)
    listening = socket.create_server(("127.0.0.1", 0))
    with listening, _serving(answering, listening):
        with socket.create_connection(listening.getsockname(), timeout=0.02) as client:
            client.sendall(sent + (b"Content-Length: 9999\r\n\r\n" if b"POST" in sent else b""))
            until = time.monotonic() + 5
            received = None
            while received is None and time.monotonic() < until:
                with contextlib.suppress(TimeoutError):
                    received = client.recv(1)
                with contextlib.suppress(OSError):
                    client.sendall(b"x")
            assert received == b""
        assert answered(listening.getsockname()).endswith(b"ok")


def test_more_files_than_select_takes_are_no_end():
    listening = socket.create_server(("127.0.0.1", 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("this process may not have so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    with contextlib.ExitStack() as kept:
        kept.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1030):
            kept.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        kept.enter_context(listening)
        kept.enter_context(_serving(answering, listening))
        assert answered(listening.getsockname()).endswith(b"ok")


def test_the_command_serves_until_it_is_stopped(tmp_path):
    write_shop(tmp_path, days=1)
    command = Path(sys.executable).with_name("pumonitor")
    process = subprocess.Popen(
        [command, "pages", "--address", "127.0.0.1:0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        url = re.search(r"http://\S+", process.stdout.readline())[0]
        with urlopen(url, timeout=10) as answer:  # noqa: S310
            assert b"no results yet" in answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.stdout.close()


def asked(url: str, address: str, **headers: str) -> tuple[int, str]:
    port = int(re.search(r":(\d+)/", url)[1])
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", address, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Location", "") + answer.read().decode()


def test_under_names_of_hosts_everybody_signs_in(shop):
    served = Served(host_names=("a.example.org",))
    text = shop.ledger.tokens.create("alice", "read", by="test")[1]
    with pages_server("0.0.0.0:0", shop.monitors, shop.ledger, served=served) as url:
        assert asked(url, "/", Host="a.example.org")[0] == 303
        assert asked(url, "/", Host="localhost")[0] == 421
        bearer = {"Host": "a.example.org:80", "Authorization": f"Bearer {text}"}
        assert asked(url, "/", **bearer)[0] == 200


@pytest.mark.parametrize(("trusted", "is_believed"), [("127.0.0.1", True), ("192.0.2.1", False)])
def test_forwarded_names_are_believed_of_the_trusted_proxy_alone(shop, trusted, is_believed):
    served = Served(host_names=("a.example.org",), trusted_proxy=trusted)
    with pages_server("127.0.0.1:0", shop.monitors, shop.ledger, served=served) as url:
        status, _ = asked(url, "/", Host="inside", **{"X-Forwarded-Host": "a.example.org"})
        assert (status == 303) is is_believed

"""Whole answers: pages and API through the application, and by 20 readers at once of a real server.

CPU of the process that answers, the statements of each answer, and what readers wait.
"""

from __future__ import annotations

import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.pages.made_up_details import RULE_KEY, start_of
from benchmarks.pages.made_up_ledger import Extent, monitor_name
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.api.operations import READS
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.kept import Kept
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.ledger.ledger import Ledger

if TYPE_CHECKING:
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from benchmarks.pages.watched import Watched

__all__ = ["addresses", "by_many_readers", "by_number_of_monitors", "through_the_application"]

_READERS: Final = 20
_EACH: Final = 2
_MONITOR: Final = """\
  {name}:
    predictions: {{source: p.parquet, id: id, time: t, score: s}}
    positives: {{source: c.parquet, id: id, known_at: k}}
    window: 1d
    maturity: 10d
    threshold: 0.5
    rules:
      - {{metric: f1, below: 0.5}}
"""


def configuration_text(extent: Extent, *, state: str, monitors: int | None = None) -> str:
    """Of so many monitors of the ledger, by default of all."""
    first = extent.monitors // 2
    numbers = [first, *(number for number in range(extent.monitors) if number != first)]
    names = (monitor_name(number) for number in sorted(numbers[:monitors]))
    return f"state: {state}\nmonitors:\n" + "".join(_MONITOR.format(name=name) for name in names)


def addresses(extent: Extent) -> dict[str, str]:
    """What is asked, by what it is called: every page, and every reading operation of the API."""
    one = f"/monitors/{monitor_name(extent.monitors // 2)}"
    earlier = f"{extent.now:%Y-%m-%d}"
    window, large = (
        f"{one}/windows/{start_of(extent, rows):%Y-%m-%dT%H:%M:%SZ}" for rows in (20_000, 200_000)
    )
    before = f"until={start_of(extent, 20_000):%Y-%m-%dT%H:%M:%SZ}"
    v1 = "/api/v1"
    return {
        "page: overview": "/",
        "page: a monitor": one,
        "page: a monitor, 1,000 windows": f"{one}?windows=1000",
        "page: a monitor as of an earlier day": f"{one}?as_of={earlier}",
        "page: a window of 20,000 rows": window,
        "page: a window of 200,000 rows": large,
        "page: alerts": "/alerts",
        "page: alerts of a monitor": f"/alerts?monitor={one.rpartition('/')[2]}",
        "page: an alert": f"{one}/alerts/{RULE_KEY}?version=7",
        "page: decide on 20,000 rows": f"{one}/decide",
        "page: decide on 200,000 rows": f"{one}/decide?{before}&value=50&cost=4",
        "page: rules to try out": f"{one}/simulate",
        "CSV: a monitor": f"{one}/results.csv",
        "CSV: a window": f"{window}/results.csv",
        "API: listMonitors": f"{v1}/monitors",
        "API: getMonitor": f"{v1}{one}",
        "API: getSeries, 1,000 windows": f"{v1}{one}/series?windows=1000",
        "API: listWindows, 100": f"{v1}{one}/windows?limit=100",
        "API: getWindow": f"{v1}{window}",
        "API: getDecision on 200,000 rows": f"{v1}{one}/decide?{before}&value=50&cost=4",
        "API: listConfigurations": f"{v1}{one}/configurations",
        "API: listResults, 1,000": f"{v1}/results?limit=1000",
        "API: listResults, 1,000 of a metric": f"{v1}/results?limit=1000&metric=f1",
        "API: listAlerts": f"{v1}/alerts",
        "API: listIncidents": f"{v1}/incidents",
        "API: listHistory": f"{v1}/alerts/history",
        "API: listSilences": f"{v1}/silences",
        "API: listNotes": f"{v1}/notes",
        "API: getHealth": f"{v1}/health",
    }


def made_when_asked(extent: Extent) -> dict[str, str]:
    """What computes for longer, on purpose, and has no goal."""
    one = f"/monitors/{monitor_name(extent.monitors // 2)}"
    large = f"{one}/windows/{start_of(extent, 200_000):%Y-%m-%dT%H:%M:%SZ}"
    return {
        "a rule tried out on 1,000 windows": f"{one}/simulate?rule=%7Bmetric: f1, below: 0.5%7D",
        "the report of a window of 200,000 rows": f"{large}/report.html",
    }


def configured_monitors(extent: Extent, *, monitors: int | None = None) -> dict[str, Monitor]:
    """Settings of so many monitors, by default of all."""
    text = configuration_text(extent, state="sqlite:///unused.db", monitors=monitors)
    return read_configuration_text(text, path=Path("pumonitor.yaml")).configuration.monitors


def client_of(ledger: Ledger, extent: Extent, *, monitors: int | None = None) -> FlaskClient:
    """Asks the application, which keeps nothing that it has computed.

    Parameters
    ----------
    ledger : Ledger
    extent : Extent
    monitors : int, optional
        How many are configured, one of them that of `addresses`; by default all.
    """
    site = Site(
        monitors=configured_monitors(extent, monitors=monitors),
        ledger=ledger,
        clock=lambda: extent.now,
        kept=Kept(most=0),
    )
    return make_app(site, is_host=lambda host: True).test_client()


def asked(client: FlaskClient, address: str, **headers: str) -> TestResponse:
    """The answer.

    Raises
    ------
    RuntimeError
        If it is an error.
    """
    answer = client.get(address, headers=headers)
    if answer.status_code not in {200, 304}:
        msg = f"{address} answered {answer.status_code}: {answer.text[:300]}"
        raise RuntimeError(msg)
    return answer


def through_the_application(ledger: Ledger, extent: Extent, watched: Watched) -> None:
    """Each answer in this process."""
    client = client_of(ledger, extent)
    missing = [one.id for one in READS if not any(one.id in what for what in addresses(extent))]
    if missing:
        msg = f"nothing asks for {', '.join(missing)}"
        raise RuntimeError(msg)
    for what, address in addresses(extent).items():
        watched.read(what, partial(asked, client, address))
    tag = asked(client, "/api/v1/monitors").headers["ETag"]
    unchanged = "API: listMonitors, unchanged (304)"
    watched.read(unchanged, lambda: asked(client, "/api/v1/monitors", If_None_Match=tag))
    monitors = configured_monitors(extent)
    scrape = exposition(ledger, monitors=monitors, clock=lambda: extent.now)
    watched.read(f"scrape of /metrics, {len(scrape()) / 1000:,.0f} kB", scrape)
    for what, address in made_when_asked(extent).items():
        watched.read(what, partial(asked, client, address), repeats=3)


def by_number_of_monitors(ledger: Ledger, extent: Extent, watched: Watched) -> None:
    """Statements of each answer with one, some and all of the monitors configured.

    Raises
    ------
    RuntimeError
        If there are more of them for more monitors.
    """
    numbers = sorted({1, max(extent.monitors // 5, 1), extent.monitors})
    clients = [client_of(ledger, extent, monitors=number) for number in numbers]
    print(f"{'SQL statements, by number of monitors':<58}", *(f"{one:8}" for one in numbers))
    growing = []
    for what, address in addresses(extent).items():
        found = [watched.statements(partial(asked, client, address)) for client in clients]
        print(f"{what:<58}", *(f"{one:8}" for one in found))
        if found[-1] > found[0]:
            growing.append(what)
    if growing:
        msg = f"statements grow with monitors: {', '.join(growing)}"
        raise RuntimeError(msg)


def by_many_readers(state: str, extent: Extent) -> None:
    """20 readers at once of `pumonitor pages`: its CPU and what they wait, in milliseconds."""
    import psutil

    print(
        f"{f'{_READERS} readers at once of pumonitor pages':<58} {'CPU':>8} {'wait':>8} {'p95':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        text = configuration_text(extent, state=state)
        (Path(folder) / "pumonitor.yaml").write_text(text, encoding="utf-8")
        server = subprocess.Popen(
            [Path(sys.executable).with_name("pumonitor"), "pages", "--address", "127.0.0.1:0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            assert server.stdout is not None
            found = re.search(r":(\d+)/", server.stdout.readline())
            assert found is not None
            process = psutil.Process(server.pid)
            _ask(int(found[1]), ["/api/v1/health"])
            memory = [process.memory_info().rss / 1e6]
            every = list(addresses(extent).values())
            _ask(int(found[1]), (every * 200)[:200])
            memory.append(process.memory_info().rss / 1e6)
            for what, address in addresses(extent).items():
                _ask(int(found[1]), [address] * 2)
                used = sum(process.cpu_times()[:2])
                with ThreadPoolExecutor(_READERS) as readers:
                    waits = readers.map(
                        lambda _, address=address: _ask(int(found[1]), [address] * _EACH),
                        range(_READERS),
                    )
                    waited = sorted(one for some in waits for one in some)
                cpu = 1000 * (sum(process.cpu_times()[:2]) - used) / len(waited)
                p95 = waited[int(0.95 * (len(waited) - 1))]
                print(f"{what:<58} {cpu:8.1f} {statistics.median(waited):8.1f} {p95:8.1f}")
            memory.append(process.memory_info().rss / 1e6)
            whens = ("one request", "200 requests", "all these readers")
            for when, held in zip(whens, memory, strict=True):
                print(f"{f'MB of memory after {when}':<58} {held:8.0f}")
        finally:
            server.terminate()
            server.wait(timeout=60)


def _ask(port: int, asked: Iterable[str]) -> list[float]:
    waited = []
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        for address in asked:
            started = time.perf_counter()
            connection.request("GET", address)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, (address, answer.status)
            waited.append(1000 * (time.perf_counter() - started))
    return waited

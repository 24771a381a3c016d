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
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from benchmarks.pages.made_up_ledger import Extent, monitor_name
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger

__all__ = ["addresses", "by_many_readers", "configuration_text", "through_the_application"]

_READERS: Final = 20
_EACH: Final = 5
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


def configuration_text(extent: Extent, *, state: str) -> str:
    """Of all monitors of the ledger."""
    names = (monitor_name(number) for number in range(extent.monitors))
    return f"state: {state}\nmonitors:\n" + "".join(_MONITOR.format(name=name) for name in names)


def addresses(extent: Extent) -> dict[str, str]:
    """What is asked, by what it is called."""
    one = monitor_name(extent.monitors // 2)
    start = f"{extent.now.replace(hour=0, minute=0):%Y-%m-%d}"
    window = f"{extent.now.year}-{extent.now.month:02}-01T00:00:00Z"
    v1 = "/api/v1"
    return {
        "page: overview": "/",
        "page: a monitor": f"/monitors/{one}",
        "page: a monitor, 1,000 windows": f"/monitors/{one}?windows=1000",
        "page: a monitor as of an earlier day": f"/monitors/{one}?as_of={start}",
        "page: alerts": "/alerts",
        "page: a window": f"/monitors/{one}/windows/{window}",
        "badge": f"/monitors/{one}/badge.svg",
        "API: monitors": f"{v1}/monitors",
        "API: a monitor": f"{v1}/monitors/{one}",
        "API: a series of 1,000 windows": f"{v1}/monitors/{one}/series?windows=1000",
        "API: 100 windows": f"{v1}/monitors/{one}/windows?limit=100",
        "API: 1,000 results": f"{v1}/results?limit=1000",
        "API: 1,000 results of a metric": f"{v1}/results?limit=1000&metric=f1",
        "API: alerts": f"{v1}/alerts",
        "API: health": f"{v1}/health",
    }


def through_the_application(
    ledger: Ledger, extent: Extent, read: Callable[[str, Callable[[], Any]], None]
) -> None:
    """Each answer in this process.

    Parameters
    ----------
    ledger : Ledger
    extent : Extent
    read : callable
        Times a read and prints what it takes.
    """
    text = configuration_text(extent, state="sqlite:///unused.db")
    monitors = read_configuration_text(text, path=Path("pumonitor.yaml")).configuration.monitors
    site = Site(monitors=monitors, ledger=ledger, clock=lambda: extent.now)
    client = make_app(site, is_host=lambda host: True).test_client()

    def asked(address: str, **headers: str) -> Any:
        answer = client.get(address, headers=headers)
        assert answer.status_code in {200, 304}, (address, answer.status_code, answer.text[:300])
        return answer

    for what, address in addresses(extent).items():
        read(what, lambda address=address: asked(address))
    tag = asked("/api/v1/monitors").headers["ETag"]
    read("API: monitors, unchanged (304)", lambda: asked("/api/v1/monitors", If_None_Match=tag))


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

"""A plugin of pytest: which lines each test runs, and how long it takes.

Each process of pytest writes a coverage file and a list of times into the folder that
`MUTATION_COVER` names. Lines that run while fixtures of several tests are set up count for the test
that set them up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

# Servers that one test starts for all: what it costs a test that is run alone, in seconds.
_SERVERS = {"postgres": 3.0, "mlflow_server": 6.0, "browser": 5.0, "spark": 10.0}


class Contexts:
    """Measures one process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._times: dict[str, float] = {}
        self._coverage = Coverage(
            data_file=str(folder / "lines"),
            data_suffix=f"{os.getpid()}",
            include=json.loads(os.environ["MUTATION_INCLUDE"]),
            config_file=False,
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        needs = getattr(item, "fixturenames", ())
        self._times[item.nodeid] = sum(_SERVERS.get(name, 0.0) for name in needs)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid in self._times:
            self._times[report.nodeid] += report.duration
            if not report.passed:
                # Skipped or failing without a fault: it proves nothing.
                self._times[report.nodeid] = float("inf")

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        path = self._folder / f"times.{os.getpid()}.json"
        path.write_text(json.dumps(self._times), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    folder = os.environ.get("MUTATION_COVER")
    # The process that hands tests out to workers runs none itself.
    is_worker = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if folder and is_worker:
        config.pluginmanager.register(Contexts(Path(folder)), "mutation-contexts")

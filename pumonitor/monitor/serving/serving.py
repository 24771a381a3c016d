"""Run the service: start the health server, wait for the state database, run rounds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from functools import partial
from threading import Event

from pumonitor.monitor.app import open_jobs, utc_now
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.dashboard.server import Served, pages_server
from pumonitor.monitor.delivery.sending.sender import Delivery
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database.errors import StateUnavailableError
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.serving.health import health_server
from pumonitor.monitor.serving.scheduler import Service
from pumonitor.monitor.serving.turns import Turns
from pumonitor.monitor.serving.waiting_for_state import opened_in_time
from pumonitor.monitor.signals import stop_on_signals
from pumonitor.monitor.windows.input_findings import summed_up

_log = logging.getLogger("pumonitor")


def serve_until_stopped(
    configuration: Configuration,
    *,
    workers: int | None = None,
    health: str | None = None,
    health_token: str | None = None,
    pages: str | None = None,
    served: Served | None = None,
) -> None:
    """Run the rounds of all monitors until SIGTERM, SIGHUP or Ctrl-C; then it ends within 18 s.

    If the state database cannot be reached at the start, the service waits for it. Until then
    /healthz answers 200 and /readyz 503.

    Parameters
    ----------
    configuration : Configuration
    workers : int, optional
        Number of threads that do rounds; by default `workers_for` the configuration.
    health : str, optional
        Address of /healthz, /readyz and /metrics.
    health_token : str, optional
        Token that requests to it must send.
    pages : str, optional
        Address of the pages, once the state database is there.
    served : Served, optional
        How they are served.
    """
    stopped = Event()
    opened: list[Jobs] = []
    with stop_on_signals("SIGTERM", "SIGINT", "SIGHUP") as stop, ExitStack() as stack:
        stop.calls(stopped.set)
        if health is not None:
            addresses = configuration.page_addresses
            port = stack.enter_context(
                _health(health, opened, token=health_token, addresses=addresses)
            )
            _log.info("health on port %d", port)
        jobs = opened_in_time(
            lambda: stack.enter_context(open_jobs(configuration)), stopped=stopped
        )
        if jobs is not None:
            opened.append(jobs)
            if pages is not None:
                shown = pages_server(pages, configuration.monitors, jobs.ledger, served=served)
                _log.info("pages at %s", stack.enter_context(shown))
            turns = turns_of(configuration)
            others = [
                stack.enter_context(open_jobs(configuration, deliver=False))
                for _ in range((workers or workers_for(configuration)) - 1)
            ]
            service = Service(
                jobs.monitors,
                workers=[partial(_work, one, turns) for one in (jobs, *others)],
                turns=turns,
                tidy=jobs.tidy,
                failing=lambda: _failing(jobs),
            )
            for worker in (jobs, *others):
                stop.calls(worker.stop)
            stop.calls(service.stop, give_back=jobs.give_back)
            if not stopped.is_set():
                jobs.start_delivering(_log_delivery)
                service.serve()
    _log.info("stopped")


def _health(
    address: str,
    opened: Sequence[Jobs],
    *,
    token: str | None,
    addresses: PageAddresses | None,
) -> AbstractContextManager[int]:
    """Start the health server, which reads the state database once it is opened."""

    def jobs() -> Jobs:
        if not opened:
            msg = "waiting for the state database"
            raise StateUnavailableError(msg)
        return opened[0]

    def ready() -> None:
        jobs().ledger.ready()

    def metrics() -> bytes:
        return exposition(jobs().ledger, monitors=jobs().monitors, clock=utc_now, pages=addresses)()

    return health_server(address, ready=ready, metrics=metrics, token=token)


def turns_of(configuration: Configuration) -> Turns:
    """Turns of the monitors, with the limit of each server."""
    # Files of this machine share its cores and its memory.
    return Turns(_servers(configuration), at_once=configuration.at_once, limits={"": 1})


def workers_for(configuration: Configuration) -> int:
    """As many workers as one server can hold, and one more if there are others."""
    servers = set().union(*_servers(configuration).values())
    return 1 if len(servers) == 1 else configuration.at_once + 1


def _servers(configuration: Configuration) -> dict[str, frozenset[str]]:
    """Monitor to its servers; files beside them must not make files of others wait for these."""
    both = {
        name: {one.predictions.source.server, one.positives.source.server}
        for name, one in configuration.monitors.items()
    }
    return {name: frozenset(of - {""} or of) for name, of in both.items()}


def _failing(jobs: Jobs) -> list[str]:
    backlogs = jobs.ledger.backlogs(now=utc_now())
    return [name for name, one in backlogs.items() if one.failing and name in jobs.monitors]


def _work(jobs: Jobs, turns: Turns, name: str) -> None:
    # What it finds is sent by threads of its own. On other servers others work.
    done = jobs.run(only=name, beside=turns.beside(name), budget=timedelta())
    _log.info("%s: %d collected, %d evaluated", name, done.collected, done.evaluated)
    for said in (*done.notes, *summed_up(done.findings)):
        _log.warning("%s", said)
    for failure in done.failures:
        _log.error("%s", failure)


def _log_delivery(name: str, one: Delivery) -> None:
    _log.info("%s: %d delivered, %d failed", name, one.delivered, one.failed)
    if one.reason:
        _log.warning("%s: %s", name, one.reason)

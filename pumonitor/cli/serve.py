"""`pumonitor serve`: a service with its own schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages

if TYPE_CHECKING:
    from pumonitor.sinks.delivery import Delivery

__all__ = ["serve"]


def serve(
    *,
    config: Config = DEFAULT_CONFIG,
    health: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Answer /healthz, /readyz and /metrics there, for example :8080.",
        ),
    ] = None,
) -> None:
    """Work through what is due now, then whenever the schedule of a monitor says so.

    Ends gently on SIGTERM or Ctrl-C: the window that is being worked on is finished. Any number of
    services and runs may share a state database.

    Example: pumonitor serve --config pumonitor.yaml --health 127.0.0.1:8080
    """
    import logging
    from contextlib import ExitStack
    from datetime import timedelta

    with errors_as_messages(), ExitStack() as stack:
        from pumonitor.service.app import open_jobs, utc_now
        from pumonitor.service.config_file import read_configuration
        from pumonitor.service.exposition import exposition
        from pumonitor.service.health import health_server
        from pumonitor.service.scheduler import Service

        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        for chatty in ("apscheduler", "alembic"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        log = logging.getLogger("pumonitor")
        file = read_configuration(config)
        jobs = stack.enter_context(open_jobs(file.configuration))

        def work(name: str) -> None:
            done = jobs.run(only=name, budget=timedelta())
            log.info("%s: %d collected, %d evaluated", name, done.collected, done.evaluated)
            for failure in done.failures:
                log.error("%s", failure)

        def told(name: str, one: Delivery) -> None:
            log.info("%s: %d delivered, %d failed", name, one.delivered, one.failed)
            if one.reason:
                log.warning("%s: %s", name, one.reason)

        service = Service(jobs.monitors, work=work, tidy=jobs.forget_delivered)
        service.stop_on_signals(jobs.stop)
        if health is not None:
            address = health if not health.startswith(":") else f"127.0.0.1{health}"
            numbers = exposition(jobs.ledger, monitors=tuple(jobs.monitors), clock=utc_now)
            port = stack.enter_context(
                health_server(address, ready=jobs.ledger.ready, metrics=numbers)
            )
            log.info("health on port %d", port)
        jobs.start_delivering(told)
        service.serve()
        log.info("stopped")

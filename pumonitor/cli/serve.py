"""`pumonitor serve`: run as a service with its own schedule."""

from __future__ import annotations

from typing import Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.pages_options import HostNames, PlainHttp, TrustedProxy, served_as


def serve(
    *,
    config: Config = DEFAULT_CONFIG,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Number of threads that do rounds. By default one; if tables are on several "
            "servers one more than at_once in the configuration, so that a server that does not "
            "answer delays no other monitor.",
        ),
    ] = None,
    health: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address that answers /healthz, /readyz and /metrics, for example :8080 for "
            "this machine alone; other addresses need a token.",
        ),
    ] = None,
    health_token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="PUMONITOR_HEALTH_TOKEN",
            help="Token that requests must carry, as Authorization: Bearer TOKEN. Other users "
            "of the machine can read options: set the environment variable instead, or "
            "PUMONITOR_HEALTH_TOKEN_FILE to a file that holds it.",
        ),
    ] = None,
    pages: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Address at which the pages are served, for example :8090 for this machine alone; "
            "other addresses need --host-names.",
        ),
    ] = None,
    host_names: HostNames = None,
    plain_http: PlainHttp = False,
    trusted_proxy: TrustedProxy = None,
) -> None:
    """Work through what is due now, then whenever the schedule of a monitor says so.

    Results and alerts are sent as soon as they are there, to each destination by itself. A state
    database that cannot be reached at the start is waited for: /healthz answers, /readyz does not.
    Ends within 18 seconds of SIGTERM, SIGHUP or Ctrl-C: the window and the request at hand are
    finished, or given back to others. Any number of services and runs may share a state database.

    Example: pumonitor serve --config pumonitor.yaml --health 127.0.0.1:8080
    """
    import logging

    with errors_as_messages():
        from pumonitor.cli.terminal import OneLineFormatter
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.serving.serving import serve_until_stopped

        served = served_as(host_names, plain_http=plain_http, trusted_proxy=trusted_proxy)
        handler = logging.StreamHandler()
        handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(message)s"))
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        for chatty in ("apscheduler", "alembic"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        serve_until_stopped(
            read_configuration(config).configuration,
            workers=workers,
            health=health,
            health_token=health_token or _token_of_file(),
            pages=pages,
            served=served,
        )


def _token_of_file() -> str | None:
    """The token in the file that a variable names, as container platforms mount secrets."""
    import os

    from pumonitor.errors import InputError
    from pumonitor.monitor.config.values.variables import replace_variables

    name = "PUMONITOR_HEALTH_TOKEN"
    if f"{name}_FILE" not in os.environ:
        return None
    found = replace_variables(f"${{{name}}}", os.environ)
    if name in found.missing:
        msg = f"the health address {found.missing[name]}"
        raise InputError(msg)
    return found.text

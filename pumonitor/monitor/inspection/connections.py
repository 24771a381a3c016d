"""Check within seconds whether servers and databases of a configuration can be reached."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

from pumonitor.errors import InputError, SourceError
from pumonitor.masks import without_password
from pumonitor.monitor.config.sections.destinations import KINDS, Destination
from pumonitor.monitor.delivery.mlflow.credentials import HOW_TO_SIGN_IN, Credentials

__all__ = ["check_destination", "check_state_database", "check_tracking"]

_SECONDS: Final = 5


def check_state_database(address: str) -> str:
    """Connect to the state database; a SQLite file is not created.

    Raises
    ------
    SourceError
        If it cannot be reached.
    InputError
        If the address cannot be read or its driver is not installed.
    """
    from sqlalchemy import create_engine, exc, text

    shown = without_password(address)
    dialect, _, path = address.partition(":///")
    if dialect.startswith("sqlite"):
        file = Path(path.partition("?")[0])
        if path and path != ":memory:" and not file.exists():
            return _to_be_made(file, shown)
    arguments: dict[str, Any] = {"timeout": _SECONDS} if dialect.startswith("sqlite") else {}
    if not arguments:
        arguments = {"connect_timeout": _SECONDS}
    try:
        engine = create_engine(address, connect_args=arguments)
    except (exc.ArgumentError, exc.NoSuchModuleError, ImportError, ValueError) as error:
        msg = f"{shown} cannot be used: {_first_line(error)}"
        raise InputError(msg) from None
    try:
        with engine.connect() as connection:
            # A file of SQLite's is not looked into before its tables are asked for.
            table = "sqlite_master" if dialect.startswith("sqlite") else "pg_database"
            connection.execute(text(f"SELECT count(*) FROM {table}"))  # noqa: S608
    except exc.SQLAlchemyError as error:
        msg = f"{shown} cannot be reached: {_first_line(getattr(error, 'orig', None) or error)}"
        raise SourceError(msg) from None
    finally:
        engine.dispose()
    return f"{shown} answers"


def check_tracking(address: str) -> str:
    """Ask an MLflow server or registry, with our credentials; or check that a store can be created.

    Raises
    ------
    SourceError
        If it does not answer, or refuses the credentials.
    InputError
        If the file of a credential cannot be read.
    """
    shown = without_password(address)
    if address.startswith(("http://", "https://")):
        return _ask_server(address, shown)
    if address.startswith("sqlite:///"):
        file = Path(address.partition(":///")[2])
        return f"{shown} is there" if file.exists() else _to_be_made(file, shown)
    if "://" in address or ":/" in address or address in {"databricks", "uc", "databricks-uc"}:
        return f"{shown} is not checked"
    return f"{shown} is there" if Path(address).exists() else _to_be_made(Path(address), shown)


def _ask_server(address: str, shown: str) -> str:
    own = Credentials.known(address)
    status = _status_of(address, shown, "GET", "/health")
    if status >= 400:
        msg = f"{shown} answers {status} to /health: check the address" + (
            ", and --allowed-hosts of the server" if status == 403 else ""
        )
        raise SourceError(msg)
    if {"MLFLOW_TRACKING_AUTH", "MLFLOW_TRACKING_AWS_SIGV4"} & set(os.environ):
        return f"{shown} answers; its credentials, of a kind of their own, were not tried"
    # Its health is open to everybody.
    path = "/api/2.0/mlflow/experiments/search"
    status = _status_of(address, shown, "POST", path, authorization=own.authorization)
    if status == 401:
        why = f"refuses {own.shown}" if own.authorization else "wants a user, and none is known"
        msg = f"{shown} {why} (401): {HOW_TO_SIGN_IN}"
        raise SourceError(msg)
    if status == 403:
        msg = (
            f"{shown} does not let {own.shown} read experiments (403): give it the rights to make "
            "and edit those whose names begin with pumonitor/"
        )
        raise SourceError(msg)
    if status >= 400:
        msg = f"{shown} is up, and answers {status} to {path}: check that it is an MLflow server"
        raise SourceError(msg)
    return f"{shown} answers" + (f" {own.shown}" if own.authorization else "")


def _status_of(address: str, shown: str, method: str, path: str, *, authorization: str = "") -> int:
    """Status of an answer of an MLflow server."""
    import requests

    is_insecure = os.environ.get("MLFLOW_TRACKING_INSECURE_TLS", "").lower() in {"true", "1"}
    try:
        answer = requests.request(
            method,
            f"{address.rstrip('/')}{path}",
            json={"max_results": 1} if method == "POST" else None,
            headers={"Authorization": authorization} if authorization else {},
            timeout=_SECONDS,
            allow_redirects=False,
            verify=not is_insecure and (os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH") or True),
        )
    except requests.RequestException as error:
        # The exception's own text has the whole address in it.
        msg = f"{shown} does not answer ({type(error).__name__}): is the MLflow server up?"
        raise SourceError(msg) from None
    return answer.status_code


def check_destination(destination: Destination) -> str:
    """Resolve the host name of a destination; nothing is sent.

    Raises
    ------
    SourceError
        If its name is not known.
    """
    parts = urlsplit(destination.address)
    if destination.kind == "apprise":
        # What stands where a host does may be a token.
        return f"apprise, {parts.scheme}: not checked, because this command sends nothing"
    if not KINDS[destination.kind].is_web:
        return f"{destination.kind}: not checked, because this command sends nothing"
    host = parts.hostname
    if not host:
        msg = f"the {destination.kind} address has no host"
        raise InputError(msg)
    try:
        within_seconds(lambda: socket.getaddrinfo(host, parts.port or parts.scheme))
    except (OSError, UnicodeError, TimeoutError) as error:
        msg = f"{destination.kind}: the host {host} was not found ({_first_line(error)})"
        raise SourceError(msg) from None
    return f"{destination.kind} at {host}: the host was found; nothing was sent"


def within_seconds(work: Callable[[], Any], *, seconds: float = _SECONDS) -> Any:
    """Run a function that has no time limit; after `seconds` give up waiting for it."""
    results: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=1)

    def run() -> None:
        try:
            results.put((work(), None))
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            results.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        result, error = results.get(timeout=seconds)
    except Empty:
        msg = f"no answer in {seconds:g} s"
        raise TimeoutError(msg) from None
    if error is not None:
        raise error
    return result


def _to_be_made(path: Path, shown: str) -> str:
    folder = path.absolute().parent
    if not folder.is_dir():
        msg = f"{shown} cannot be created: the directory {folder} does not exist"
        raise SourceError(msg)
    if not os.access(folder, os.W_OK):
        msg = f"{shown} does not exist, and {folder} cannot be written to"
        raise SourceError(msg)
    return f"{shown} will be created"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__

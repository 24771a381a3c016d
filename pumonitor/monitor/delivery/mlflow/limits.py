"""Time limits of MLflow's client, set during a call and restored after it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pumonitor.monitor.delivery.mlflow.credentials import credentials_from_files

# MLflow reads its limits from the environment, at each request: two threads cannot have their own.
_ENVIRONMENT = threading.RLock()
_CHATTY = ("alembic", "mlflow.store.db.utils")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one request to MLflow.

    Its own defaults block a call to a server that is down for 247 seconds.

    Attributes
    ----------
    timeout_seconds : int
        Limit for connecting, and between two parts of an answer.
    retries : int
        Further attempts within a call, without a wait; the outbox waits longer between messages.

    Examples
    --------
    >>> import os
    >>> with Limits(timeout_seconds=3).applied():
    ...     os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"]
    '3'
    """

    timeout_seconds: int = 10
    retries: int = 1

    def __post_init__(self) -> None:
        if self.timeout_seconds < 1 or self.retries < 0:
            msg = (
                "timeout_seconds must be >= 1 and retries >= 0, got "
                f"{self.timeout_seconds} and {self.retries}"
            )
            raise ValueError(msg)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Context in which MLflow keeps the limits, sends no usage data and logs no migrations.

        Credentials in files that variables with ``_FILE`` name are read.

        One thread at a time; the environment and the loggers are as before afterwards.
        """
        with _ENVIRONMENT, self.around_threads():
            yield

    @contextmanager
    def around_threads(self) -> Iterator[None]:
        """The same while threads work: inside this context `applied` changes nothing.

        Reading the environment in one thread while another changes it may end the process.
        """
        wanted = self._variables()
        before = {
            name: os.environ.get(name)
            for name, value in wanted.items()
            if os.environ.get(name) != value
        }
        levels = {name: logging.getLogger(name).level for name in _CHATTY}
        os.environ.update({name: wanted[name] for name in before})
        for name in _CHATTY:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def _variables(self) -> dict[str, str]:
        return {
            "MLFLOW_HTTP_REQUEST_TIMEOUT": str(self.timeout_seconds),
            "MLFLOW_HTTP_REQUEST_MAX_RETRIES": str(self.retries),
            "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "0",
            "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER": "0",
            # Else an answer of 503 decides how many minutes the client sleeps.
            "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
            **credentials_from_files(os.environ),
        }

"""Classify MLflow's errors: the server is down, or the message is at fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pumonitor.monitor.delivery.sending.failures import (
    DestinationDownError,
    MessageRefusedError,
    presentable,
)

_AT_FAULT = frozenset({400, 409, 413, 422})
_RETRIED_STATUS = re.compile(r"too many (\d+) error responses")


def meaning(
    error: Exception, *, takes_writes: Callable[[], bool]
) -> DestinationDownError | MessageRefusedError | None:
    """Delivery error for an exception of MLflow's client; None for pumonitor's own exceptions.

    Parameters
    ----------
    error : Exception
    takes_writes : callable
        Called after an internal error of the server, which has no cause: returns whether the server
        accepts a harmless write. If it does, the message is at fault.
    """
    if isinstance(error, DestinationDownError | MessageRefusedError):
        return error
    status = _status(error)
    if status is None:
        return None
    reason = presentable(f"MLflow: {error}")
    if status in _AT_FAULT or (status == 500 and takes_writes()):
        return MessageRefusedError(reason)
    return DestinationDownError(reason)


def is_missing(error: Exception) -> bool:
    """Whether MLflow says that there is no such thing."""
    return getattr(error, "error_code", "") == "RESOURCE_DOES_NOT_EXIST"


def _status(error: Exception) -> int | None:
    """HTTP status of an error, or the nearest one; 503 without an answer, None for other errors."""
    import requests
    from mlflow.exceptions import MlflowException

    for cause in _causes(error):
        if isinstance(cause, requests.RequestException):
            retried = _RETRIED_STATUS.search(str(cause))
            if retried:
                return int(retried[1])
            return 503 if cause.response is None else int(cause.response.status_code)
    if isinstance(error, MlflowException):
        return int(error.get_http_status_code())  # type: ignore[no-untyped-call]  # MLflow's
    # A disk that is full, an artifact folder that may not be written.
    return 503 if isinstance(error, OSError) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

"""HTTP requests to destinations: allowed addresses, time limits, and the meaning of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Literal

import requests
from urllib3 import HTTPResponse
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
)

from pumonitor.monitor.delivery.http.guarded_connection import (
    Deadline,
    PrivateAddressError,
    guarded_session,
)
from pumonitor.monitor.delivery.http.quiet_logs import suppressed_logs
from pumonitor.monitor.delivery.sending.failures import (
    DestinationDownError,
    MessageRefusedError,
    presentable,
)
from pumonitor.ports import Clock

_TRIED_AGAIN: Final = frozenset({408, 425, 429})
_NOT_SENT: Final = (ConnectTimeoutError, NameResolutionError, NewConnectionError, SSLError)
_OPENING: Final = 300
"""Most characters of an answer that an error message quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the time and answer size of one request.

    Attributes
    ----------
    connect, read : float
        Seconds until there is a connection, and between two parts of the answer.
    total : float
        Seconds in all.
    answer : int
        Bytes of an answer that are read.
    longest_wait : timedelta
        Longest wait that a destination can ask for; after it the destination is tried again.
    """

    connect: float = 5.0
    read: float = 15.0
    total: float = 60.0
    answer: int = 1_000_000
    longest_wait: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answer of a destination: a status of 200 to 299, and its body if that was requested.

    `body` is b"" if it was not requested.
    """

    status: int
    body: bytes = b""


class Requests:
    """Sends requests to one destination.

    No redirect is followed, no proxy and no password file of the environment is used. Errors hold
    neither the address nor, once masked, any secret.

    Parameters
    ----------
    name : str
        What errors call the destination, such as "the webhook".
    allow_private : bool
        Whether addresses of private networks and of this machine may be connected to. The check is
        made on the connected address, so it also holds for a name that resolves to another address
        the second time.
    mask : callable
        Hides secrets in text.
    clock : Clock
    limits : Limits, optional
    """

    def __init__(
        self,
        name: str,
        *,
        allow_private: bool,
        mask: Callable[[str], str],
        clock: Clock,
        limits: Limits | None = None,
    ) -> None:
        self._name = name
        self._allow_private = allow_private
        self._mask = mask
        self._clock = clock
        self._limits = limits or Limits()

    def post(self, address: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post a body.

        Raises
        ------
        DestinationDownError
            If the destination does not answer, or is unavailable. If the answer is lost, the body
            may have arrived; send it again with the same key.
        MessageRefusedError
            If the destination refuses the request.
        """
        return self._request("POST", address, body, headers, read_answer=False)

    def get(self, address: str, headers: Mapping[str, str]) -> Answer:
        """Get a resource, including the body of the answer.

        Raises
        ------
        DestinationDownError, MessageRefusedError
            As `post`.
        """
        return self._request("GET", address, None, headers, read_answer=True)

    def _request(
        self,
        method: Literal["GET", "POST"],
        address: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        read_answer: bool,
    ) -> Answer:
        limits = self._limits
        try:
            with (
                suppressed_logs(),
                Deadline(limits.total) as deadline,
                guarded_session(allow_private=self._allow_private, deadline=deadline) as session,
                session.request(
                    method,
                    address,
                    data=body,
                    # An answer that unpacks to a thousand times its size is not asked for.
                    headers={**headers, "Accept-Encoding": "identity", "Connection": "close"},
                    timeout=(limits.connect, limits.read),
                    allow_redirects=False,
                    stream=True,
                ) as response,
            ):
                if deadline.is_over:
                    # What was cut off in its headers looks whole.
                    raise TimeoutError
                if 200 <= response.status_code < 300:
                    answer = self._whole(response) if read_answer else b""
                    return Answer(status=response.status_code, body=answer)
                raise self._meaning(response)
        except PrivateAddressError as error:
            msg = (
                f"{self._name} is at {error.address}, which is not a public address: add "
                "allow_private: true if that is intended"
            )
            raise DestinationDownError(msg) from None
        except (requests.RequestException, HTTPError, OSError) as error:
            # Their own text has the address in it.
            raise DestinationDownError(self._not_answered(error, method)) from None
        except ValueError as error:
            msg = f"the address of {self._name} cannot be used ({type(error).__name__})"
            raise DestinationDownError(msg) from None

    def _whole(self, response: requests.Response) -> bytes:
        read = _read(response, self._limits.answer + 1)
        if len(read) > self._limits.answer:
            msg = f"{self._name} answers with more than {self._limits.answer:,} bytes"
            raise DestinationDownError(msg)
        return read

    def _meaning(self, response: requests.Response) -> DestinationDownError | MessageRefusedError:
        status = response.status_code
        if 300 <= status < 400:
            return MessageRefusedError(
                f"{self._name} answers {status}, a redirect, which is not followed: configure the "
                "address to which it redirects",
                for_good=True,
            )
        reason = f"{self._name} answers {status}{self._opening(response)}"
        if status in _TRIED_AGAIN or not 400 <= status < 500:
            asked = retry_after(
                response.headers.get("Retry-After"),
                now=self._clock(),
                longest=self._limits.longest_wait,
            )
            return DestinationDownError(reason, retry_after=asked)
        return MessageRefusedError(reason, for_good=True)

    def _opening(self, response: requests.Response) -> str:
        """Beginning of an error answer, for the message."""
        try:
            text = _read(response, 4 * _OPENING).decode(errors="replace")
        except (requests.RequestException, HTTPError, OSError):
            return ""
        shown = presentable(self._mask("".join(c if c.isprintable() else " " for c in text)))
        return f": {shown[:_OPENING]}" if shown else ""

    def _not_answered(self, error: Exception, method: str) -> str:
        cause = _innermost(error)
        what = self._mask(type(cause).__name__)
        if any(isinstance(one, _NOT_SENT) for one in _causes(error)):
            return f"{self._name} cannot be reached ({what})"
        if method == "GET":
            return f"{self._name} does not answer ({what})"
        return (
            f"{self._name} did not answer after the message was sent ({what}): the message may "
            "have arrived, and it is sent again with the same key"
        )


def retry_after(given: str | None, *, now: datetime, longest: timedelta) -> timedelta | None:
    """Waiting time that a Retry-After header asks for, in seconds or as a date; None without one.

    Examples
    --------
    >>> from datetime import timezone
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    >>> hour = timedelta(hours=1)
    >>> print(retry_after("90", now=noon, longest=hour))
    0:01:30
    >>> print(retry_after("Thu, 01 Jan 2026 12:05:00 GMT", now=noon, longest=hour))
    0:05:00
    >>> print(retry_after("999999", now=noon, longest=hour))
    1:00:00
    >>> retry_after("tomorrow", now=noon, longest=hour)
    """
    text = (given or "").strip()
    if text.isascii() and text.isdecimal():
        # Longer numbers than this are above any limit, and would overflow.
        return min(timedelta(seconds=int(text[:9])), longest)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        return None
    return min(max(moment - now, timedelta()), longest)


def _read(response: requests.Response, most: int) -> bytes:
    raw: HTTPResponse = response.raw
    return raw.read(most, decode_content=False)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        wrapped = error.reason if isinstance(error, MaxRetryError) else error.args[:1]
        inner = wrapped[0] if isinstance(wrapped, tuple) and wrapped else wrapped
        known = inner if isinstance(inner, BaseException) else None
        error = known or error.__cause__ or error.__context__


def _innermost(error: Exception) -> BaseException:
    """The original exception, without those that packages wrapped around it."""
    causes = list(_causes(error))
    wrappers = (requests.RequestException, MaxRetryError)
    named = [one for one in causes if not isinstance(one, wrappers)]
    return named[0] if named else causes[-1]

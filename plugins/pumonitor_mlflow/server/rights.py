"""Which monitors a caller may see: those whose experiment the wrapped application shows them."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from threading import Lock
from typing import Any, Final

from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_PREFIX
from pumonitor_mlflow.server.exchange import Answer, Request

__all__ = ["Asking", "Remembered", "Seen", "asking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a caller may see.

    Attributes
    ----------
    everything : bool
        Of an administrator, or where there are no accounts: also monitors without an experiment.
    experiments : frozenset of (str, str)
        Monitor and id of the experiments of that name that they may read. The name alone proves
        nothing: anyone may be allowed to create an experiment.
    """

    everything: bool = False
    experiments: frozenset[tuple[str, str]] = frozenset()


Asking = Generator[Request, Answer, Seen | Answer]
"""Yields what to ask, takes the answers, returns what may be seen or the answer that refused."""

_MOST_PAGES: Final = 20
_SEARCH: Final = "/api/2.0/mlflow/experiments/search"
_WHO: Final = "/api/2.0/mlflow/users/current"
_OF_MONITORS: Final = f"name LIKE '{EXPERIMENT_PREFIX}%'"
_AT_ONCE: Final = 1000
_SECONDS: Final = 30.0
_MOST_CALLERS: Final = 1000
# All others may say who asks, of which workspace, and by which name of this machine.
_OF_THE_MESSAGE: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "cache-control", "connection"),
        *("content-length", "content-type", "expect", "if-modified-since", "if-none-match"),
        *("keep-alive", "origin", "pragma", "range", "referer", "te", "trailer"),
        *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user"),
        *("transfer-encoding", "upgrade", "upgrade-insecure-requests"),
    }
)


def asking(request: Request, *, static_prefix: str, has_accounts: bool) -> Asking:
    """Ask the wrapped application for the experiments of monitors, as the caller.

    The caller's headers go with it, so whatever signs people in there decides here as well. Hosts
    are checked there too.

    Parameters
    ----------
    request : Request
    static_prefix : str
        Before every path of the wrapped application.
    has_accounts : bool
        Whether it signs people in.
    """
    read: frozenset[tuple[str, str]] = frozenset()
    page: str | None = None
    for _ in range(_MOST_PAGES):
        answer = yield _as_caller(
            request,
            static_prefix + _SEARCH,
            {"filter": _OF_MONITORS, "max_results": _AT_ONCE}
            | ({} if page is None else {"page_token": page}),
        )
        if answer.status != HTTPStatus.OK:
            return answer
        found = _read_json(answer)
        if found is None:
            # A page to sign in, perhaps: it is not for us to say who may see what.
            return Answer(status=HTTPStatus.BAD_GATEWAY, reason="Bad Gateway")
        read |= {
            (one["name"].removeprefix(EXPERIMENT_PREFIX), str(one["experiment_id"]))
            for one in found.get("experiments", [])
        }
        page = found.get("next_page_token") or None
        if page is None:
            break
    if not has_accounts:
        return Seen(everything=True, experiments=read)
    who = yield _as_caller(request, static_prefix + _WHO)
    known = _read_json(who) if who.status == HTTPStatus.OK else None
    user = (known or {}).get("user", {})
    return Seen(everything=user.get("is_admin") is True, experiments=read)


def _read_json(answer: Answer) -> dict[str, Any] | None:
    """The object in an answer; None if it is something else."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _as_caller(request: Request, path: str, asked: Mapping[str, Any] | None = None) -> Request:
    """A question with the headers that say who asks; with something asked, a POST."""
    headers = [one for one in request.headers if one[0] not in _OF_THE_MESSAGE]
    return replace(
        request,
        method="GET" if asked is None else "POST",
        path=path,
        query="",
        headers=[*headers, ("content-type", "application/json"), ("accept", "application/json")],
        body=b"" if asked is None else json.dumps(asked).encode(),
        prefix="",
        also={},
    )


class Remembered:
    """What callers may see, for half a minute: a password is hashed slowly at every question.

    Callers are known by a hash with a key of this process: no password is kept.

    Parameters
    ----------
    clock : callable, optional
        Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._lock = Lock()
        self._known: OrderedDict[bytes, tuple[float, Seen]] = OrderedDict()

    def get(self, request: Request) -> Seen | None:
        """What was found for this caller; None if nothing is known or it is too old."""
        with self._lock:
            until, seen = self._known.get(self._caller(request), (0.0, Seen()))
        return seen if self._clock() < until else None

    def put(self, request: Request, seen: Seen) -> None:
        """Remember it."""
        with self._lock:
            self._known[self._caller(request)] = self._clock() + _SECONDS, seen
            while len(self._known) > _MOST_CALLERS:
                self._known.popitem(last=False)

    def _caller(self, request: Request) -> bytes:
        headers = sorted(one for one in request.headers if one[0] not in _OF_THE_MESSAGE)
        who = json.dumps([request.client[0], headers])
        return hmac.digest(self._key, who.encode(), hashlib.sha256)

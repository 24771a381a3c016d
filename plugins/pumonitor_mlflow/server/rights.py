"""Which monitors a caller may see and change: what the wrapped application lets them do.

They see those whose experiment it shows them, and change those whose experiment they may edit.
"""

from __future__ import annotations

import base64
import binascii
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
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_PREFIX
from pumonitor_mlflow.server.exchange import Answer, Request


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
    name : str
        Who they are; "" where that is not known.
    workspaces : frozenset of (str, str)
        Id of each experiment and its workspace, where workspaces were asked one by one.
    """

    everything: bool = False
    experiments: frozenset[tuple[str, str]] = frozenset()
    name: str = ""
    workspaces: frozenset[tuple[str, str]] = frozenset()

    def workspace(self, experiment: str) -> str | None:
        """The workspace of an experiment; None where the request says it, or there are none."""
        return dict(self.workspaces).get(experiment)


Known = TypeVar("Known")

Asking = Generator[Request, Answer, Seen | Answer]
"""Yields what to ask, takes the answers, returns what may be seen or the answer that refused."""

_MOST_PAGES: Final = 20
_SEARCH: Final = "/api/2.0/mlflow/experiments/search"
_EDIT: Final = "/api/2.0/mlflow/experiments/update"
_WHO: Final = "/api/2.0/mlflow/users/current"
_IS_IT: Final = "/api/2.0/mlflow/users/get"
_WORKSPACES: Final = "/api/3.0/mlflow/workspaces"
_OF_WORKSPACE: Final = "x-mlflow-workspace"
_MOST_WORKSPACES: Final = 100
_NOT_SIGNED_IN: Final = "somebody in MLflow"
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
# What proxies number or time each request with says nothing of who asks.
_NEW_EACH_TIME: Final = frozenset(
    {
        *("b3", "baggage", "cf-ray", "priority", "traceparent", "tracestate", "uber-trace-id"),
        *("x-amzn-trace-id", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid"),
        *("x-cloud-trace-context", "x-correlation-id", "x-request-id", "x-request-start"),
    }
)


def asking(
    request: Request, *, api_prefix: str, has_accounts: bool, has_workspaces: bool = False
) -> Asking:
    """Ask the wrapped application for the experiments of monitors, as the caller.

    The caller's headers go with it, so whatever signs people in there decides here as well. Hosts
    are checked there too. A browser that opens a page names no workspace, so each that the caller
    may see is asked for.

    Parameters
    ----------
    request : Request
    api_prefix : str
        Before every path of the wrapped application's API.
    has_accounts : bool
        Whether it signs people in.
    has_workspaces : bool
        Whether its experiments are in workspaces.
    """
    names = (yield from _workspaces(request, api_prefix)) if has_workspaces else []
    read: frozenset[tuple[str, str]] = frozenset()
    places: frozenset[tuple[str, str]] = frozenset()
    asked: list[str | None] = [*names] or [None]
    for name in asked:
        found = yield from _search(in_workspace(request, name), api_prefix)
        if not isinstance(found, Answer):
            read |= found
            places |= {(one, name) for _, one in found if name is not None}
        elif name is None or found.status != HTTPStatus.FORBIDDEN:
            return found
    if not has_accounts:
        return Seen(everything=True, experiments=read, name=_NOT_SIGNED_IN)
    user = yield from _user(request, api_prefix)
    return Seen(
        everything=user.get("is_admin") is True,
        experiments=read,
        name=str(user.get("username") or ""),
        workspaces=places,
    )


def in_workspace(request: Request, name: str | None) -> Request:
    """The request as if it named a workspace; None leaves it as it is."""
    if name is None:
        return request
    return replace(request, headers=[*request.headers, (_OF_WORKSPACE, name)])


def _workspaces(request: Request, prefix: str) -> Generator[Request, Answer, list[str]]:
    """Those that the caller may see; none where the request names one, or they are not listed."""
    if dict(request.headers).get(_OF_WORKSPACE):
        return []
    answer = yield _as_caller(request, prefix + _WORKSPACES)
    found = _read_json(answer) if answer.status == HTTPStatus.OK else None
    names = sorted(str(one["name"]) for one in (found or {}).get("workspaces", []))
    return names[:_MOST_WORKSPACES]


def _search(
    request: Request, prefix: str
) -> Generator[Request, Answer, frozenset[tuple[str, str]] | Answer]:
    """Monitor and id of the experiments that the caller may read; an answer is a refusal."""
    read: frozenset[tuple[str, str]] = frozenset()
    page: str | None = None
    for _ in range(_MOST_PAGES):
        answer = yield _as_caller(
            request,
            prefix + _SEARCH,
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
    return read


def _user(request: Request, prefix: str) -> Generator[Request, Answer, dict[str, Any]]:
    """Who asks, as the wrapped application knows them; empty if it does not say."""
    who = yield _as_caller(request, prefix + _WHO)
    claimed = _claimed_name(request)
    if who.status != HTTPStatus.OK and claimed:
        # Older versions only say whether a name is that of the caller.
        who = yield _as_caller(request, prefix + _IS_IT, query=urlencode({"username": claimed}))
    found = _read_json(who) if who.status == HTTPStatus.OK else None
    user = (found or {}).get("user")
    return user if isinstance(user, dict) else {}


def _claimed_name(request: Request) -> str:
    """The name with which the caller signs in; "" without one."""
    kind, _, value = dict(request.headers).get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[0]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def asking_to_edit(
    request: Request, experiment: str, *, api_prefix: str
) -> Generator[Request, Answer, bool | None]:
    """Ask the wrapped application whether the caller may edit an experiment.

    It is told to rename the experiment without being told the new name. Who may not edit it is
    refused before that is noticed; to all others it complains of the name, and changes nothing.

    Parameters
    ----------
    request : Request
    experiment : str
        Its id.
    api_prefix : str
        Before every path of the wrapped application's API.

    Returns
    -------
    bool or None
        None if it does not say, as it fails.
    """
    answer = yield _as_caller(request, api_prefix + _EDIT, {"experiment_id": experiment})
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    found = _read_json(answer) or {}
    return answer.status == HTTPStatus.BAD_REQUEST and "new_name" in str(found.get("message", ""))


def _read_json(answer: Answer) -> dict[str, Any] | None:
    """The object in an answer; None if it is something else."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _as_caller(
    request: Request, path: str, asked: Mapping[str, Any] | None = None, *, query: str = ""
) -> Request:
    """A question with the headers that say who asks; with something asked, a POST."""
    headers = [one for one in request.headers if one[0] not in _OF_THE_MESSAGE]
    return replace(
        request,
        method="GET" if asked is None else "POST",
        path=path,
        query=query,
        headers=[*headers, ("content-type", "application/json"), ("accept", "application/json")],
        body=b"" if asked is None else json.dumps(asked).encode(),
        prefix="",
        also={},
    )


class Remembered(Generic[Known]):
    """What was found about callers, for half a minute: a password is hashed at every question.

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
        self._known: OrderedDict[bytes, tuple[float, Known]] = OrderedDict()

    def get(self, request: Request, about: str = "") -> Known | None:
        """What was found for this caller; None if nothing is known or it is too old."""
        with self._lock:
            until, found = self._known.get(self._caller(request, about), (0.0, None))
        return found if self._clock() < until else None

    def put(self, request: Request, found: Known, about: str = "") -> None:
        """Remember it."""
        with self._lock:
            self._known[self._caller(request, about)] = self._clock() + _SECONDS, found
            while len(self._known) > _MOST_CALLERS:
                self._known.popitem(last=False)

    def _caller(self, request: Request, about: str) -> bytes:
        unsaid = _OF_THE_MESSAGE | _NEW_EACH_TIME
        headers = sorted(one for one in request.headers if one[0] not in unsaid)
        who = json.dumps([request.client[0], headers, about])
        return hmac.digest(self._key, who.encode(), hashlib.sha256)

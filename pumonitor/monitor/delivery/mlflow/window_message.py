"""Results of one window: the payload of a message to MLflow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args

from pumonitor.monitor.delivery.mlflow.slugs import slug
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.plain_values import plain_fields
from pumonitor.ports import State, Window

FILE_NAMES = frozenset({"evaluation.json", "report.html"})
"""The only files of a window that are sent; MLflow takes names that lead out of its folder."""

_SUMMARY = re.compile(r"summary-\d{4}-\d\d\.html")
_DATASET = ("name", "digest")
_TAG_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")


def folder_of(name: str, *, of_window: str) -> str | None:
    """Folder of a file in a run; None for a file that is not sent.

    Parameters
    ----------
    name : str
    of_window : str
        Folder of the window's own files.
    """
    if name in FILE_NAMES:
        return of_window
    return "pumonitor/summaries" if _SUMMARY.fullmatch(name) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMessage:
    """A pane of a window of one series, for people to find in MLflow.

    Attributes
    ----------
    monitor : str
    model_version : str
        "" where the predictions have no such column.
    segment : str
        ``column=value``, "" for all rows.
    window : Window
    state : {"provisional", "mature", "final"}
    revision : int
        Number of the pane, then of corrections; later ones are larger.
    as_of : datetime
        Labels known later do not count.
    metrics : mapping
        By name a number, None, or a mapping of ``value``, ``low``, ``high``, ``infeasible``.
    verdict : str or None
        State of the model in one word; used if `segment` is "".
    tags : mapping of str to str
        Further tags of the run, from its newest pane; used if `segment` is "".
    files : mapping of str to str
        Texts by file name (`FILE_NAMES`).
    report : JSON value
        Argument for the sink's `read_files`, which returns further files; None for none.
    configuration : str
        Hash of the monitor's configuration; each configuration has a run of its own.
    age : str
        Of the labels of a provisional pane, as durations are written: "7d".
    parameters : mapping of str to str
        Of the run.
    description : str
        Description of the run in Markdown.
    model : str or None
        Link to the registry: ``models:/name@alias`` or ``models:/name/3``.
    dataset : tuple of str or None
        Name and digest of the data, for links from a logged model.

    Examples
    --------
    >>> payload = {
    ...     "monitor": "card-fraud", "model_version": "7", "segment": "",
    ...     "window": {"start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z",
    ...                "index": 20454},
    ...     "state": "mature", "revision": 3, "as_of": "2026-02-01T00:00:00Z",
    ...     "metrics": {"auc": {"value": 0.9, "low": 0.85, "high": 0.93}},
    ... }
    >>> message = WindowMessage.from_payload(payload)
    >>> message.timestamp, WindowMessage.from_payload(message.to_payload()) == message
    (1767312000003, True)
    """

    monitor: str
    model_version: str
    segment: str
    window: Window
    state: State
    revision: int
    as_of: datetime
    metrics: Mapping[str, Any] = field(default_factory=dict)
    verdict: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    report: Any = None
    configuration: str = ""
    age: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    model: str | None = None
    dataset: tuple[str, str] | None = None

    @property
    def timestamp(self) -> int:
        """Timestamp for MLflow in milliseconds; each revision has a later one.

        At an equal time MLflow would show the larger of two values and not the newer one.
        """
        return round(self.window.end.timestamp() * 1000) + self.revision

    @property
    def group(self) -> str:
        """Prefix of the names of its metrics.

        Each pane of a window has its own prefix, so that each metric has one point per step. ``pu``
        is the prefix of mature panes.
        """
        if self.state == "mature":
            return "pu"
        if self.state == "final":
            return "pu_final"
        return f"pu_after_{slug(self.age)}" if self.age else "pu_provisional"

    @property
    def position(self) -> str:
        """Sort key: by the moment of the pane, then by window and revision."""
        return f"{_text(self.as_of)} {_text(self.window.end)} {self.revision:06d}"

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values."""
        start, end = _text(self.window.start), _text(self.window.end)
        dataset = None if self.dataset is None else dict(zip(_DATASET, self.dataset, strict=True))
        return plain_fields(self) | {
            "window": {"start": start, "end": end, "index": self.window.index},
            "as_of": _text(self.as_of),
            "dataset": dataset,
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> WindowMessage:
        """Read `to_payload`'s values; keys whose default is empty may be missing.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be; the message says what.
        """
        window = _of(payload, "window", Mapping)
        state = _of(payload, "state", str)
        if state not in get_args(State):
            msg = f"'state' must be one of {', '.join(get_args(State))}, got {state!r:.80}"
            raise MessageRefusedError(msg)
        dataset = payload.get("dataset")
        return cls(
            **{name: _of(payload, name, str) for name in ("monitor", "model_version", "segment")},
            window=Window(
                start=_time(window, "start"), end=_time(window, "end"), index=_of(window, "index")
            ),
            state=state,
            revision=_of(payload, "revision"),
            as_of=_time(payload, "as_of"),
            metrics=_optional(payload, "metrics"),
            verdict=payload.get("verdict"),
            tags=_tags(_optional(payload, "tags")),
            files=_files(_optional(payload, "files")),
            report=payload.get("report"),
            **{name: payload.get(name) or "" for name in ("configuration", "age", "description")},
            parameters=_parameters(_optional(payload, "parameters")),
            model=payload.get("model"),
            dataset=None
            if dataset is None
            else tuple(_of(dataset, name, str) for name in _DATASET),
        )


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _of(values: Mapping[str, Any], name: str, kind: type = int) -> Any:
    given = values.get(name)
    if not isinstance(given, kind) or isinstance(given, bool):
        msg = f"the message's {name!r} must be {kind.__name__}, got {given!r:.80}"
        raise MessageRefusedError(msg)
    return given


def _optional(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    given: Mapping[str, Any] = _of(values, name, Mapping) if values.get(name) is not None else {}
    return given


def _time(values: Mapping[str, Any], name: str) -> datetime:
    text = _of(values, name, str)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        msg = f"the message's {name!r} must be a time with its zone, got {text!r:.80}"
        raise MessageRefusedError(msg)
    return moment.astimezone(UTC)


def _tags(given: Mapping[str, Any]) -> Mapping[str, str]:
    for name, value in given.items():
        if not _TAG_NAME.fullmatch(name) or not isinstance(value, str):
            msg = f"tag {name!r:.80}: a name has letters, digits, '_', '.' and '-', a value is text"
            raise MessageRefusedError(msg)
    return given


def _parameters(given: Mapping[str, Any]) -> Mapping[str, str]:
    for name, value in given.items():
        if not _TAG_NAME.fullmatch(name) or not isinstance(value, str):
            msg = f"parameter {name!r:.80}: a name has letters, digits, '_', '.' and '-', a value "
            raise MessageRefusedError(f"{msg}is text")
    return given


def _files(given: Mapping[str, Any]) -> Mapping[str, str]:
    for name, text in given.items():
        if name not in FILE_NAMES or not isinstance(text, str):
            msg = f"file {name!r:.80}: only texts {', '.join(sorted(FILE_NAMES))} are sent"
            raise MessageRefusedError(msg)
    return given

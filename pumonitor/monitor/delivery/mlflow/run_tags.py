"""Tags and parameters that a message adds to its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pumonitor.monitor.delivery.mlflow.model_link import STATUS_TAG
from pumonitor.monitor.delivery.mlflow.runs import POSITION_TAG, RUN_KEY_TAG, run_key
from pumonitor.monitor.delivery.mlflow.slugs import segment_slug
from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError

if TYPE_CHECKING:
    from mlflow.entities import Run

_LONGEST_PARAMETER: Final = 500
"""What every version of MLflow takes."""


def key_of(window: WindowMessage) -> str:
    """Of the run that the window is written to."""
    return run_key(window.monitor, window.model_version, window.configuration)


def tags_of(run: Run, window: WindowMessage, *, is_newest: bool) -> dict[str, str]:
    """Tags to set: the run's key if it is missing, and those of the newest pane."""
    tags: dict[str, str] = {}
    if is_newest:
        tags = {f"pumonitor.{name}": value for name, value in window.tags.items()}
        tags |= {
            POSITION_TAG: window.position,
            "pumonitor.state": window.state,
            "pumonitor.as_of": window.as_of.isoformat(),
            "pumonitor.window_start": window.window.start.isoformat(),
            "pumonitor.window_end": window.window.end.isoformat(),
        }
        if window.verdict is not None:
            tags[STATUS_TAG] = window.verdict
    if window.segment:
        tags[_segment_tag(window)] = window.segment
    tags[RUN_KEY_TAG] = key_of(window)
    return changed(run, tags)


def missing_parameters(run: Run, window: WindowMessage) -> dict[str, str]:
    """Parameters of the message that the run lacks; MLflow never changes one."""
    return {
        name: text[:_LONGEST_PARAMETER]
        for name, text in window.parameters.items()
        if name not in run.data.params
    }


def changed(run: Run, tags: Mapping[str, str]) -> dict[str, str]:
    """Those tags that the run lacks or has with another value."""
    return {name: value for name, value in tags.items() if run.data.tags.get(name) != value}


def _segment_tag(window: WindowMessage) -> str:
    return f"pumonitor.segment.{segment_slug(window.segment)}"


def refuse_collision(run: Run, window: WindowMessage) -> None:
    """Refuse two segments with the same slug, which would become one series of points."""
    known = run.data.tags.get(_segment_tag(window)) if window.segment else None
    if known is not None and known != window.segment:
        msg = (
            f"segments {known!r} and {window.segment!r} would both be "
            f"pu/{segment_slug(window.segment)}: rename a value"
        )
        raise MessageRefusedError(msg)

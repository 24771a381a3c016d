"""Set the status of runs: finished when complete, running again when a newer window arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.mlflow.runs import POSITION_TAG, RUN_KEY_TAG, LongRuns, run_key
from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_ENDED_TAG: Final = "pumonitor.ended_at"
_REASON_TAG: Final = "pumonitor.end_reason"
_TAKEN_OVER_TAG: Final = "pumonitor.taken_over"
_RUNNING: Final = "RUNNING"
_FINISHED: Final = "FINISHED"


def finish(client: MlflowClient, runs: LongRuns, end: RunEnd) -> None:
    """Finish the runs of a message, except those that already hold a newer window.

    Results of windows that were evaluated before may still be written to them late.
    """
    key = None
    if end.model_version is not None:
        key = run_key(end.monitor, end.model_version, end.configuration or "")
    for run in runs.all_of(end.monitor):
        tags = run.data.tags
        if key is not None and tags[RUN_KEY_TAG] != key:
            continue
        if run.info.status == _RUNNING and tags.get(POSITION_TAG, "") <= end.position:
            _end(client, run, end)


def keep_open(client: MlflowClient, runs: LongRuns, run: Run, window: WindowMessage) -> bool:
    """Open the run again if the window is newer than its end; finish those of other configurations.

    Runs of the same model version under other configurations end where this one begins or goes on.
    Returns whether anything was changed.
    """
    tags = run.data.tags
    if run.info.status != _RUNNING:
        if window.position <= tags.get(_ENDED_TAG, ""):
            return False
        client.update_run(run.info.run_id, status=_RUNNING)
        client.set_tag(run.info.run_id, _TAKEN_OVER_TAG, "no", synchronous=True)
    elif tags.get(_TAKEN_OVER_TAG) == "yes":
        return False
    end = RunEnd(
        monitor=window.monitor,
        model_version=window.model_version,
        configuration=None,
        as_of=window.as_of,
        reason=f"the configuration is {window.configuration[:8]} now",
    )
    for other in runs.all_of(window.monitor):
        same = other.data.tags.get("pumonitor.model_version") == window.model_version
        of_other = other.data.tags[RUN_KEY_TAG] != tags[RUN_KEY_TAG]
        if same and of_other and other.info.status == _RUNNING:
            _end(client, other, end)
    client.set_tag(run.info.run_id, _TAKEN_OVER_TAG, "yes", synchronous=True)
    return True


def _end(client: MlflowClient, run: Run, end: RunEnd) -> None:
    run_id = run.info.run_id
    # What it holds already does not open it again when it is sent late.
    ended = max(end.position, run.data.tags.get(POSITION_TAG, ""))
    client.set_tag(run_id, _ENDED_TAG, ended, synchronous=True)
    client.set_tag(run_id, _REASON_TAG, end.reason, synchronous=True)
    moment = max(round(end.as_of.timestamp() * 1000), run.info.start_time)
    client.set_terminated(run_id, status=_FINISHED, end_time=moment)

"""Find or create the one run of a monitor, model version and configuration."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pumonitor.monitor.delivery.mlflow.failures import is_missing
from pumonitor.monitor.delivery.mlflow.slugs import slug
from pumonitor.monitor.delivery.sending.failures import DestinationDownError
from pumonitor.monitor.delivery_ports import RunIds
from pumonitor.ports import Clock

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Run

__all__ = ["EXPERIMENT_PREFIX", "POSITION_TAG", "RUN_KEY_TAG", "LongRuns", "log_points", "run_key"]

EXPERIMENT_PREFIX = "pumonitor/"
EXPERIMENT_KEY = "experiment "
RUN_KEY_TAG = "pumonitor.run_key"
POSITION_TAG = "pumonitor.position"

_BATCH = 1000  # Metrics, parameters and tags that MLflow takes in one request.
_BESIDE_POINTS = 100  # Parameters and tags; it takes 100 of each.
_CANDIDATES = 100


def run_key(monitor: str, model_version: str, configuration: str = "") -> str:
    """Hash of monitor, version and configuration: quotes in names would break MLflow's filters.

    Examples
    --------
    >>> run_key("card-fraud", "7")
    'ed73af787c2fb9caa2108154e4c52231'
    """
    parts = [monitor, model_version, *([configuration] if configuration else ())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def experiment_id(client: MlflowClient, monitor: str) -> str:
    """Id of the monitor's experiment, which is made if there is none."""
    from mlflow.exceptions import MlflowException

    name = EXPERIMENT_PREFIX + monitor
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            location = _artifact_location(client.tracking_uri, name)
            return str(client.create_experiment(name, artifact_location=location))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        # Another writer was quicker.
        experiment = client.get_experiment_by_name(name)
    if experiment is None or experiment.lifecycle_stage != "active":
        msg = (
            f"MLflow: the experiment {name!r} is deleted: restore it in the MLflow server or "
            "remove it for good (mlflow gc)"
        )
        raise DestinationDownError(msg)
    return str(experiment.experiment_id)


def experiment_key(monitor: str) -> str:
    """Key under which the id of a monitor's experiment is stored beside those of its runs."""
    return EXPERIMENT_KEY + monitor


def log_points(
    client: MlflowClient,
    run_id: str,
    points: Sequence[Metric],
    *,
    parameters: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> None:
    """Log points in as few requests as MLflow allows; parameters and tags with the last of them.

    MLflow stores tags after all else of a request: one that is there says that the points are.
    """
    from mlflow.entities import Param, RunTag

    params = [Param(*each) for each in (parameters or {}).items()]
    run_tags = [RunTag(*each) for each in (tags or {}).items()]
    if len(params) + len(run_tags) > _BESIDE_POINTS:
        client.log_batch(run_id, params=params, synchronous=True)
        params = []
    rest = list(points)
    while len(rest) + len(params) + len(run_tags) > _BATCH:
        client.log_batch(run_id, metrics=rest[:_BATCH], synchronous=True)
        del rest[:_BATCH]
    if rest or params or run_tags:
        client.log_batch(run_id, metrics=rest, params=params, tags=run_tags, synchronous=True)


class LongRuns:
    """Runs by monitor, model version and configuration; a run is created if no tag matches.

    MLflow's tags are not unique, so two runs can get the same key: two processes may create one
    each, or the server may carry out a request after its client gave up. `settle` is called after
    writing. It copies points and files of newer runs into the oldest, then deletes the newer ones.
    A process that writes to a deleted run gets an error and writes again, so nothing is lost.

    Parameters
    ----------
    client : MlflowClient
    run_ids : RunIds
        Stores the ids of runs that were found.
    clock : Clock
        For the start of new runs.
    """

    def __init__(self, client: MlflowClient, *, run_ids: RunIds, clock: Clock) -> None:
        self._client = client
        self._run_ids = run_ids
        self._clock = clock

    def find(self, monitor: str, model_version: str, configuration: str = "") -> Run:
        """The run to write to; created if there is none."""
        key = run_key(monitor, model_version, configuration)
        remembered = self._run_ids.get(key)
        run = self.active(remembered) if remembered else None
        if run is None:
            experiment = experiment_id(self._client, monitor)
            candidates = self._candidates(experiment, key)
            run = (
                candidates[0]
                if candidates
                else self._made(experiment, monitor, model_version, configuration)
            )
            self._run_ids.set(key, run.info.run_id)
        if self._run_ids.get(experiment_key(monitor)) != run.info.experiment_id:
            self._run_ids.set(experiment_key(monitor), run.info.experiment_id)
        return run

    def active(self, run_id: str) -> Run | None:
        """The run if it is active; None if it was deleted or belongs to another server."""
        from mlflow.exceptions import MlflowException

        try:
            run = self._client.get_run(run_id)
        except MlflowException as error:
            if is_missing(error):
                return None
            raise
        return run if run.info.lifecycle_stage == "active" else None

    def all_of(self, monitor: str) -> list[Run]:
        """All runs of a monitor; none where nothing was ever written."""
        experiment = self._client.get_experiment_by_name(EXPERIMENT_PREFIX + monitor)
        if experiment is None:
            return []
        found: list[Run] = []
        token = None
        while True:
            page = self._client.search_runs(
                [experiment.experiment_id], max_results=_CANDIDATES, page_token=token
            )
            found += page
            token = page.token
            if not token:
                return [run for run in found if RUN_KEY_TAG in run.data.tags]

    def settle(self, run: Run, *, key: str) -> bool:
        """Whether the run written to is the oldest; newer ones of its key are merged into it."""
        if not self._others(run, key=key):
            return True
        candidates = self._candidates(run.info.experiment_id, key)
        winner = candidates[0].info.run_id if candidates else ""
        if winner != run.info.run_id:
            self._run_ids.set(key, winner)
        for ghost in candidates[1:]:
            self._merge(ghost, into=candidates[0])
        return bool(winner == run.info.run_id)

    def _others(self, run: Run, *, key: str) -> bool:
        """Whether other runs have its key; with a run MLflow reads all metrics that it has."""
        own, experiment = run.info.run_id, run.info.experiment_id
        wanted = f"tags.`{RUN_KEY_TAG}` = '{key}' and attributes.run_id != '{own}'"
        return bool(self._client.search_runs([experiment], filter_string=wanted, max_results=1))

    def _candidates(self, experiment_id: str, key: str) -> list[Run]:
        found = self._client.search_runs(
            [experiment_id],
            filter_string=f"tags.`{RUN_KEY_TAG}` = '{key}'",
            max_results=_CANDIDATES,
        )
        return sorted(found, key=lambda run: (run.info.start_time, run.info.run_id))

    def _made(
        self, experiment_id: str, monitor: str, model_version: str, configuration: str
    ) -> Run:
        short = f" [{configuration[:8]}]" if configuration else ""
        return self._client.create_run(
            experiment_id,
            start_time=round(self._clock().timestamp() * 1000),
            run_name=f"{monitor} {model_version}".strip() + short,
            tags={
                RUN_KEY_TAG: run_key(monitor, model_version, configuration),
                "pumonitor.monitor": monitor,
                "pumonitor.model_version": model_version,
                "pumonitor.configuration": configuration,
                "mlflow.user": "pumonitor",
            },
        )

    def _merge(self, ghost: Run, *, into: Run) -> None:
        run_id = into.info.run_id
        for name in ghost.data.metrics:
            log_points(
                self._client, run_id, self._client.get_metric_history(ghost.info.run_id, name)
            )
        newer = ghost.data.tags.get(POSITION_TAG, "") > into.data.tags.get(POSITION_TAG, "")
        for name, value in ghost.data.tags.items():
            if name.startswith("pumonitor.") and (newer or name not in into.data.tags):
                self._client.set_tag(run_id, name, value, synchronous=True)
        self._copy_files(ghost.info.run_id, run_id)
        self._delete(ghost.info.run_id)

    def _delete(self, run_id: str) -> None:
        from mlflow.exceptions import MlflowException

        try:
            self._client.delete_run(run_id)
        except MlflowException:
            # Another writer was quicker, and has copied it too.
            if self.active(run_id) is not None:
                raise

    def _copy_files(self, source: str, target: str) -> None:
        missing = set(self._file_paths(source)) - set(self._file_paths(target))
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted(missing):
                local = self._client.download_artifacts(source, path, folder)
                self._client.log_artifact(target, local, str(PurePosixPath(path).parent))

    def _file_paths(self, run_id: str, folder: str | None = None) -> Iterator[str]:
        for entry in self._client.list_artifacts(run_id, folder):
            if entry.is_dir:
                yield from self._file_paths(run_id, entry.path)
            else:
                yield entry.path


def _artifact_location(tracking_uri: str, experiment: str) -> str | None:
    """Artifact folder beside a database file; MLflow's default is in the working directory."""
    if not tracking_uri.startswith("sqlite:///"):
        return None
    database = Path(urlsplit(tracking_uri).path[1:])
    return (database.resolve().parent / "mlartifacts" / slug(experiment)).as_uri()

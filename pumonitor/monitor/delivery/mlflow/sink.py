"""MLflow as a destination: a long run per model version and configuration, a step per window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pumonitor.monitor.delivery.mlflow.failures import meaning
from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.messages_together import messages_together
from pumonitor.monitor.delivery.mlflow.metric_values import metric_values
from pumonitor.monitor.delivery.mlflow.model_link import (
    linked_version,
    logged_model_id,
    tag_verdict,
)
from pumonitor.monitor.delivery.mlflow.notes import NOTE_TAG, OWN_TAG, described, own_mark
from pumonitor.monitor.delivery.mlflow.page_links import link_experiment, page_tags
from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.mlflow.run_status import finish, keep_open
from pumonitor.monitor.delivery.mlflow.run_tags import (
    changed,
    key_of,
    missing_parameters,
    refuse_collision,
    tags_of,
)
from pumonitor.monitor.delivery.mlflow.runs import (
    POSITION_TAG,
    LongRuns,
    log_points,
)
from pumonitor.monitor.delivery.mlflow.slugs import segment_slug
from pumonitor.monitor.delivery.mlflow.window_message import FILE_NAMES, WindowMessage, folder_of
from pumonitor.monitor.delivery.mlflow.window_points import LatestFlags, points_of
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage, RunIds
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.ports import Clock

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Run
    from mlflow.entities.model_registry import ModelVersion

DESTINATION = "mlflow"
FILES_DESTINATION = "mlflow-files"
"""For messages of files alone: their store may be down when that of metrics is not."""

ReadFiles = Callable[[Any], Mapping[str, str]]
"""From a message's `report` to texts by file name."""

_Windows = Sequence[tuple[WindowMessage, Mapping[str, float]]]
"""Windows, each with the points to be written of it."""


@dataclass(slots=True)
class _Row:
    """What MLflow has said while messages are sent one after another.

    Attributes
    ----------
    runs : dict of str to (Run, LatestFlags)
        By the run's key, with what was written to them since.
    versions : dict
        Model and version of messages to the version of the registry and the logged model's id.
    unsettled : dict of str to Run
        Runs that were written to since it was last asked whether others have their key.
    has_answered : bool
        Whether MLflow has answered.
    """

    runs: dict[str, tuple[Run, LatestFlags]] = field(default_factory=dict)
    versions: dict[tuple[str, str], tuple[ModelVersion | None, str | None]] = field(
        default_factory=dict
    )
    unsettled: dict[str, Run] = field(default_factory=dict)
    has_answered: bool = False


_ROUNDS = 3
_ASKED_TAG = "pumonitor.asked"


def lane(monitor: str, model_version: str) -> str:
    """Lane of the outbox: messages of one run are delivered in order.

    Examples
    --------
    >>> lane("card-fraud", "7")
    'card-fraud/7'
    """
    return f"{monitor}/{model_version}"


class MlflowSink:
    """Writes windows to MLflow; sending a message again changes nothing.

    Metrics of a window are points of the run at step = the window's index and timestamp = its end
    in milliseconds + revision, which MLflow stores once however often they are logged. The panes of
    a window have names of their own (`WindowMessage.group`), so that each series has one point per
    step; a correction of a pane adds a second, later point. After writing, runs with the same key
    are merged into the oldest one.

    Parameters
    ----------
    tracking_uri : str
        As MLflow takes it; the process's own tracking URI is not touched.
    run_ids : RunIds
        Stores ids of runs for later processes.
    registry_uri : str, optional
        Where the models of links are registered, `tracking_uri` by default.
    read_files : callable, optional
        Makes the files of a message's `report`.
    pages : PageAddresses, optional
        Of the pages that runs and experiments link to.
    limits : Limits, optional
    clock : Clock, optional
        For the start of new runs.

    Examples
    --------
    >>> class InMemory(dict):
    ...     def set(self, key, value): self[key] = value
    >>> sink = MlflowSink("http://localhost:5000", run_ids=InMemory())
    >>> sink.send(message)  # doctest: +SKIP
    """

    def __init__(
        self,
        tracking_uri: str,
        *,
        run_ids: RunIds,
        registry_uri: str | None = None,
        read_files: ReadFiles | None = None,
        pages: PageAddresses | None = None,
        limits: Limits | None = None,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        # MLflow's stores would load it in the thread that sends, while another one builds
        # statements: SQLAlchemy then asks its own half-loaded module, and fails.
        import_module("sqlalchemy.orm")
        self._tracking_uri = tracking_uri
        self._registry_uri = registry_uri or tracking_uri
        self._run_ids = run_ids
        self._read_files = read_files
        self._pages = pages
        self._linked: set[str] = set()
        self._row: _Row | None = None
        self._limits = limits or Limits()
        self._clock = clock

    def send(self, message: OutboxMessage) -> None:
        """Write the window to MLflow; returns once it is stored.

        Raises
        ------
        DestinationDownError
            If MLflow cannot be written to now.
        MessageRefusedError
            If MLflow works but refuses the message, or the message is not valid.
        """
        if RunEnd.is_in(message.payload):
            end = RunEnd.from_payload(message.payload)
            with self._asking(None):
                finish(self._client, self._runs, end)
            return
        window = WindowMessage.from_payload(message.payload)
        has_answered = self._row is not None and self._row.has_answered
        if window.report is not None and not has_answered:
            # A report takes seconds to make: not for a server that is down.
            with self._asking(window):
                self._client.search_experiments(max_results=1)
        values = _values(window)
        files = self._files(window)
        with self._asking(window):
            self._deliver([(window, values)], files)

    def together(self, messages: Sequence[OutboxMessage]) -> int:
        """How many of the first messages are points of one run, up to eight requests, or a file."""
        return messages_together([message.payload for message in messages])

    def send_together(self, messages: Sequence[OutboxMessage]) -> None:
        """Write points of one run by as few requests as MLflow allows; of reports the last.

        Raises
        ------
        DestinationDownError, MessageRefusedError
            As `send` does.
        """
        windows = [WindowMessage.from_payload(message.payload) for message in messages]
        if windows[-1].report is not None:
            self.send(messages[-1])
            return
        written = [(window, _values(window)) for window in windows]
        with self._asking(windows[0]):
            self._deliver(written, {})

    @contextmanager
    def in_a_row(self) -> Iterator[None]:
        """Context of messages that are sent one after another, until `settle` says that they stay.

        Inside it a run is read once, and what is written to it is remembered: with a run MLflow
        reads all of its metrics, which takes longer than to write a window. And it is asked once
        for all of them whether the run is the only one of its key.
        """
        self._row = _Row()
        try:
            yield
        finally:
            self._row = None

    def settle(self) -> None:
        """Return once it is sure that what was written in this row stays.

        Raises
        ------
        DestinationDownError
            If it is to be written again, or MLflow does not answer.
        """
        row = self._row or _Row()
        while row.unsettled:
            key, run = row.unsettled.popitem()
            with self._asking(None):
                is_settled = self._runs.settle(run, key=key)
            if not is_settled:
                row.runs.pop(key, None)
                msg = "MLflow: the run was merged into an older one, and is written to once more"
                raise DestinationDownError(msg)

    @contextmanager
    def _asking(self, window: WindowMessage | None) -> Iterator[None]:
        """Context for requests to MLflow: sets time limits and translates errors."""
        with self._limits.applied():
            try:
                yield
            except Exception as error:
                failure = meaning(error, takes_writes=lambda: self._takes_writes(window))
                if failure is None or failure is error:
                    raise
                # Without its causes, whose texts may hold credentials.
                raise failure from None

    @cached_property
    def _client(self) -> MlflowClient:
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=self._tracking_uri, registry_uri=self._registry_uri)

    @cached_property
    def _runs(self) -> LongRuns:
        return LongRuns(self._client, run_ids=self._run_ids, clock=self._clock)

    def _find(self, window: WindowMessage) -> tuple[Run, LatestFlags]:
        key = key_of(window)
        if self._row is not None and key in self._row.runs:
            return self._row.runs[key]
        run = self._runs.find(window.monitor, window.model_version, window.configuration)
        found = run, LatestFlags(run)
        if self._row is not None:
            self._row.runs[key] = found
        return found

    def _forget(self, window: WindowMessage) -> None:
        """Read the run anew for the next message."""
        if self._row is not None:
            self._row.runs.pop(key_of(window), None)

    def _version(self, window: WindowMessage) -> tuple[ModelVersion | None, str | None]:
        """The version of the registry that a message is linked to, and its logged model."""
        if window.model is None:
            return None, None
        asked = window.model, window.model_version
        if self._row is not None and asked in self._row.versions:
            return self._row.versions[asked]
        version = linked_version(self._client, window.model, model_version=window.model_version)
        found = version, None if version is None else logged_model_id(self._client, version)
        if self._row is not None:
            self._row.versions[asked] = found
        return found

    def _files(self, window: WindowMessage) -> dict[str, str]:
        if window.report is None:
            return dict(window.files)
        if self._read_files is None:
            msg = "the message refers to a report, which this sink cannot read"
            raise MessageRefusedError(msg)
        files = {**window.files, **self._read_files(window.report)}
        unknown = sorted(name for name in files if folder_of(name, of_window="") is None)
        if unknown:
            msg = f"file {unknown[0]!r:.80}: only {', '.join(sorted(FILE_NAMES))} are sent"
            raise MessageRefusedError(msg)
        return files

    def _deliver(self, windows: _Windows, files: Mapping[str, str]) -> None:
        """Write windows of one run, of which no two have points of the same name."""
        from mlflow.exceptions import MlflowException

        first, _ = windows[0]
        version, model_id = self._version(first)
        for _ in range(_ROUNDS):
            run, flags = self._find(first)
            try:
                verdict = self._write(run, flags, windows, files, model_id=model_id)
            except MlflowException:
                # Was it deleted meanwhile? Then the next round finds another.
                self._forget(first)
                if self._runs.active(run.info.run_id) is not None:
                    raise
                continue
            except Exception:
                self._forget(first)
                raise
            if self._stays(run, key_of(first)):
                self._link_experiment(first.monitor)
                if version is not None and verdict is not None:
                    tag_verdict(self._client, version, verdict)
                return
            self._forget(first)
        msg = (
            "MLflow: the run of this monitor was lost repeatedly: stop the other program that "
            "deletes or creates its runs"
        )
        raise DestinationDownError(msg)

    def _stays(self, run: Run, key: str) -> bool:
        """Whether a run is the one of its key; in a row `settle` says so."""
        if self._row is None:
            return self._runs.settle(run, key=key)
        self._row.has_answered = True
        self._row.unsettled[key] = run
        return True

    def _write(
        self,
        run: Run,
        flags: LatestFlags,
        windows: _Windows,
        files: Mapping[str, str],
        *,
        model_id: str | None,
    ) -> str | None:
        """Write all of the messages; return the verdict if one is the run's newest of all rows."""
        run_id = run.info.run_id
        points: list[Metric] = []
        tags: dict[str, str] = {}
        parameters: dict[str, str] = {}
        verdict = None
        for window, values in windows:
            refuse_collision(run, window)
            taken_back = dict.fromkeys(flags.taken_back(window, values), 0.0)
            written = points_of(window, {**values, **taken_back}, model_id=model_id)
            # What fails is forgotten, and the run is read anew.
            flags.note(written)
            points += written
            newest = not window.segment and window.position >= run.data.tags.get(POSITION_TAG, "")
            if newest:
                verdict = window.verdict or verdict
            new = {**self._description(run, window), **tags_of(run, window, is_newest=newest)}
            missing = missing_parameters(run, window)
            tags |= new
            parameters |= missing
            # For the next of them and, if it is kept, for the next message.
            run.data.tags.update(new)
            run.data.params.update(missing)
        # Reports are sent late, and say nothing of what goes on.
        is_changed = any(
            keep_open(self._client, self._runs, run, window) for window, values in windows if values
        )
        for name, text in files.items():
            folder = folder_of(name, of_window=_folder(windows[0][0]))
            self._upload(run_id, f"{folder}/{name}", text)
        log_points(self._client, run_id, points, parameters=parameters, tags=tags)
        if is_changed:
            self._forget(windows[0][0])
        return verdict

    def _description(self, run: Run, window: WindowMessage) -> dict[str, str]:
        """Tags that renew the run's description and its link."""
        found = dict(run.data.tags)
        if window.description:
            found[NOTE_TAG] = described(
                found.get(NOTE_TAG, ""), window.description, own=found.get(OWN_TAG)
            )
            found[OWN_TAG] = own_mark(window.description)
        if self._pages is not None:
            page = self._pages.monitor(window.monitor, version=window.model_version)
            found |= page_tags(found, page)
        return changed(run, found)

    def _link_experiment(self, monitor: str) -> None:
        """Link the experiment and its runs to the pages, once in the life of this sink."""
        from mlflow.exceptions import MlflowException

        if self._pages is None or monitor in self._linked:
            return
        self._linked.add(monitor)
        # Who may write runs and nothing else has a link less.
        with suppress(MlflowException):
            link_experiment(self._client, self._runs, monitor, self._pages)

    def _upload(self, run_id: str, path: str, text: str) -> None:
        try:
            self._client.log_text(run_id, text, path)
        except Exception as error:
            # The store of files works apart from that of tags: a tag taken would say nothing of it.
            failure = meaning(error, takes_writes=lambda: False)
            if failure is None:
                raise
            raise failure from None

    def _takes_writes(self, window: WindowMessage | None) -> bool:
        """Whether MLflow accepts a tag on the message's run."""
        if window is None:
            return False
        try:
            run, _ = self._find(window)
            now = self._clock().isoformat()
            self._client.set_tag(run.info.run_id, _ASKED_TAG, now, synchronous=True)
        except Exception:  # noqa: BLE001  # whatever it is, the answer is no
            return False
        return True


def _values(window: WindowMessage) -> dict[str, float]:
    return metric_values(window.metrics, segment=window.segment, group=window.group)


def _folder(window: WindowMessage) -> str:
    start = window.window.start.astimezone(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    below = f"/{segment_slug(window.segment)}" if window.segment else ""
    return f"pumonitor/windows/{start}{below}"

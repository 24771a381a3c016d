"""Points of a window's metrics, with the flags of earlier windows that they take back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage
from pumonitor.views.numbers import INFEASIBLE, UNDEFINED

if TYPE_CHECKING:
    from mlflow.entities import Metric, Run


class LatestFlags:
    """The latest point of each flag of a run.

    MLflow says with a run at which step and time its latest points are, so no history is asked for:
    one request for each flag and message would take longer than all others together.

    Parameters
    ----------
    run : Run
        As it was just read.
    """

    def __init__(self, run: Run) -> None:
        # `run.data.metrics` has values alone.
        self._latest = {
            point.key: (point.step, point.timestamp, point.value)
            for point in run.data.to_proto().metrics
            if point.key.endswith((UNDEFINED, INFEASIBLE))
        }

    def taken_back(self, window: WindowMessage, values: Mapping[str, float]) -> list[str]:
        """Flags to reset to 0: MLflow would show the 1 of an earlier window as the latest value."""
        here = (window.window.index, window.timestamp)
        names = {key.removesuffix(UNDEFINED) for key in values}
        flags = {name + ending for name in names for ending in (UNDEFINED, INFEASIBLE)}
        again = []
        for flag in sorted(flags - set(values)):
            step, timestamp, value = self._latest.get(flag, (0, 0, 0.0))
            if value == 1 and (step, timestamp) < here:
                again.append(flag)
        return again

    def note(self, points: Iterable[Metric]) -> None:
        """Remember points that were written."""
        for point in points:
            if point.key.endswith((UNDEFINED, INFEASIBLE)):
                written = (point.step, point.timestamp, point.value)
                self._latest[point.key] = max(written, self._latest.get(point.key, written))


def points_of(
    window: WindowMessage, values: Mapping[str, float], *, model_id: str | None
) -> list[Metric]:
    """Points of all values, linked to a logged model and to the window's data."""
    from mlflow.entities import Metric

    name, digest = window.dataset or (None, None)
    return [
        Metric(
            key,
            value,
            window.timestamp,
            window.window.index,
            model_id=model_id,
            dataset_name=name,
            dataset_digest=digest,
        )
        for key, value in values.items()
    ]

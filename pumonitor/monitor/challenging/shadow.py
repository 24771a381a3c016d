"""Score the rows of a mature window by a challenger, beside the scores that were used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.gate import PairedLabels
from pumonitor.monitor.challenging.challengers import Challenger, ColumnChallenger
from pumonitor.monitor.config.sections.challengers import Challengers, Features
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.windows.opening import place_of
from pumonitor.ports import Pane, PredictionSource, SampledRows, SampleRequest

__all__ = ["FeatureRows", "feature_rows", "opened_with", "paired_labels"]

_ROWS: Final = 200_000
_LABELS: Final = 50_000
"""Rows that stand for a window, and at most so many of its labels."""

FeatureRows = tuple[SampledRows, Mapping[str, NDArray[Any]]]
"""Rows of a window, and their columns."""


def opened_with(
    monitor: Monitor,
    columns: Sequence[str],
    open_source: Callable[[Monitor], PredictionSource],
) -> PredictionSource:
    """The monitor's tables, whose rows come with the deployed score and these columns."""
    settings = monitor.challengers
    wanted = dict.fromkeys([monitor.predictions.score, *columns])
    predictions = monitor.predictions.model_copy(
        update={
            "features": tuple(wanted),
            "group": settings.entity if settings is not None else None,
        }
    )
    return open_source(monitor.model_copy(update={"predictions": predictions}))


def feature_rows(
    monitor: Monitor,
    pane: Pane,
    columns: Sequence[str],
    *,
    open_source: Callable[[Monitor], PredictionSource],
    rows: int = _ROWS,
    labels: int = _LABELS,
) -> FeatureRows:
    """Rows of a window with columns, from the predictions or the table of features.

    Parameters
    ----------
    monitor : Monitor
    pane : Pane
        Labels are those known at its moment.
    columns : sequence of str
    open_source : callable
    rows, labels : int
        At most so many of all rows, and of those with a label.

    Raises
    ------
    InputError
        If a column is missing, or a row has no features.
    SourceError
        If a table cannot be read.
    """
    features = _features(monitor)
    own = () if features.source is not None else columns
    source = opened_with(monitor, own, open_source)
    try:
        sampled = source.sample(
            SampleRequest(window=pane.window, as_of=(pane.as_of,), rows=rows, labels=labels)
        )
    finally:
        source.close()
    found = dict(sampled.features)
    if features.source is not None and columns:
        # Engines are loaded with it.
        from pumonitor.sources.rows_by_id import read_rows_by_id

        found |= read_rows_by_id(
            str(place_of(features.source)),
            sampled.id,
            id_column=features.id or monitor.predictions.id,
            columns=columns,
        )
    return sampled, found


def paired_labels(
    monitor: Monitor,
    challenger: Challenger,
    pane: Pane,
    *,
    open_source: Callable[[Monitor], PredictionSource],
) -> PairedLabels:
    """What the labels of a window say of a challenger and the champion.

    Raises
    ------
    InputError
        If rows cannot be used, or the challenger cannot score them.
    SourceError
        If a table cannot be read.
    """
    settings = monitor.challengers or Challengers(models={})
    columns = challenger.columns()
    if isinstance(challenger, ColumnChallenger):
        rows, found = _rows_of_column(monitor, pane, columns, open_source)
    else:
        rows, found = feature_rows(monitor, pane, columns, open_source=open_source)
    labels = (rows.history % 3 - 1).astype(np.int8)
    return PairedLabels.of_window(
        labels,
        np.asarray(found[monitor.predictions.score], dtype=np.float64),
        # A model need not know what to do with no rows at all.
        challenger.scores(found) if len(rows.id) else np.zeros(0),
        capacity=settings.gate.capacity,
        entity=rows.key if settings.entity is not None else None,
        propensity=rows.propensity if monitor.positives.propensity is not None else None,
        is_sampled=rows.is_sampled,
    )


def _rows_of_column(
    monitor: Monitor,
    pane: Pane,
    columns: Sequence[str],
    open_source: Callable[[Monitor], PredictionSource],
) -> FeatureRows:
    """Rows with a column of the predictions, wherever features are."""
    if monitor.challengers is not None and monitor.challengers.features is not None:
        without = monitor.challengers.model_copy(update={"features": None})
        monitor = monitor.model_copy(update={"challengers": without})
    return feature_rows(monitor, pane, columns, open_source=open_source)


def _features(monitor: Monitor) -> Features:
    settings = monitor.challengers
    return (settings.features if settings is not None else None) or Features()

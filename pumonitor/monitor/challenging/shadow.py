"""Score the rows of a mature window by a challenger, beside the scores that were used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.gate import PairedLabels, ReviewedPair
from pumonitor.monitor.challenging.challengers import Challenger, ColumnChallenger
from pumonitor.monitor.challenging.reviewed import reviewed_pair
from pumonitor.monitor.config.sections.challengers import Features, Gate
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.opening import place_of
from pumonitor.ports import Pane, PredictionSource, SampledRows, SampleRequest
from pumonitor.reviews.bins import labels_of_kinds
from pumonitor.sources.windows.both_channels import BOTH_CHANNELS

_ROWS: Final = 200_000
_LABELS: Final = 50_000
"""Rows that stand for a window, and at most so many of its labels."""

FeatureRows = tuple[SampledRows, Mapping[str, NDArray[Any]]]
"""Rows of a window, and their columns."""


def _opened_with(
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
    also: Sequence[str] = (),
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
    also : sequence of str
        Columns of the predictions, wherever features are.
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
    source = _opened_with(monitor, (*own, *also), open_source)
    try:
        sampled = _each_once(
            source.sample(
                SampleRequest(window=pane.window, as_of=(pane.as_of,), rows=rows, labels=labels)
            )
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
            known_at=features.known_at,
            made=sampled.made,
            times=monitor.predictions,
        )
    return sampled, found


def _each_once(rows: SampledRows) -> SampledRows:
    """Without the second copy of labeled rows that were drawn for the window as well."""
    kept = rows.is_sampled | ~np.isin(rows.id, rows.id[rows.is_sampled])

    def of(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {name: one[kept] for name, one in columns.items()}

    return SampledRows(
        id=rows.id[kept],
        key=rows.key[kept],
        made=rows.made[kept],
        model_version=rows.model_version[kept],
        segments=of(rows.segments),
        score=rows.score[kept],
        history=rows.history[kept],
        propensity=rows.propensity[kept],
        is_sampled=rows.is_sampled[kept],
        features=of(rows.features),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """Rows of a window with the scores of both models.

    Attributes
    ----------
    id, entity : ndarray of str, shape (rows,)
    labels : ndarray of int, shape (rows,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    propensity : ndarray of float, shape (rows,)
    is_sampled : ndarray of bool, shape (rows,)
        Rows that stand for the window; the others are there for their label.
    champion, challenger : ndarray of float, shape (rows,)
    states : ndarray of int, shape (rows,)
        With reviews, the state that both channels say of each row.
    stopped : ndarray of bool, shape (rows,)
        With reviews, which were declined outright.
    columns : mapping of str to ndarray
    """

    id: NDArray[np.str_]
    entity: NDArray[np.str_]
    labels: NDArray[np.int8]
    propensity: NDArray[np.float64]
    is_sampled: NDArray[np.bool_]
    champion: NDArray[np.float64]
    challenger: NDArray[np.float64]
    states: NDArray[np.int64]
    stopped: NDArray[np.bool_]
    columns: Mapping[str, NDArray[Any]]


def scored_rows(
    monitor: Monitor,
    challenger: Challenger,
    pane: Pane,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    also: Sequence[str] = (),
) -> ScoredRows:
    """Rows of a window with the scores of the champion and of a challenger.

    Parameters
    ----------
    monitor : Monitor
    challenger : Challenger
    pane : Pane
    open_source : callable
    also : sequence of str
        Further columns of the predictions.

    Raises
    ------
    InputError
        If rows cannot be used, or the challenger cannot score them.
    SourceError
        If a table cannot be read.
    """
    columns, how = challenger.columns(), HowReviewed.of(monitor)
    is_column = isinstance(challenger, ColumnChallenger)
    if how is not None and how.ranked_by is not None:
        also = (*also, how.ranked_by)
    rows, found = feature_rows(
        monitor,
        pane,
        () if is_column else columns,
        also=(*also, *columns) if is_column else also,
        open_source=open_source,
    )
    states, stopped = rows.history, np.zeros(len(rows.id), dtype=bool)
    labels = (rows.history % 3 - 1).astype(np.int8)
    if how is not None:
        known = how.kinds(rows, 0)
        states, stopped = BOTH_CHANNELS.of_histories(rows.history, 0), known.stopped
        labels = labels_of_kinds(known.kinds)
    return ScoredRows(
        id=rows.id,
        entity=rows.key,
        labels=labels,
        states=states,
        stopped=stopped,
        propensity=rows.propensity,
        is_sampled=rows.is_sampled,
        # Not of all columns: a table of features may have one of this name.
        champion=np.asarray(rows.features[monitor.predictions.score], dtype=np.float64),
        # A model need not know what to do with no rows at all.
        challenger=challenger.scores(found) if len(rows.id) else np.zeros(0),
        columns=found,
    )


def paired_labels(
    monitor: Monitor,
    challenger: Challenger,
    pane: Pane,
    *,
    open_source: Callable[[Monitor], PredictionSource],
) -> PairedLabels | ReviewedPair:
    """What the labels of a window say of a challenger and the champion, or reviews and complaints.

    Raises
    ------
    InputError
        If rows cannot be used, or the challenger cannot score them.
    SourceError
        If a table cannot be read.
    """
    settings = monitor.challengers
    gate = settings.gate if settings is not None else Gate()
    found = scored_rows(monitor, challenger, pane, open_source=open_source)
    how = HowReviewed.of(monitor)
    entity = found.entity if settings is not None and settings.entity is not None else None
    if how is not None:
        stands = found.is_sampled
        ranked_by = None if how.ranked_by is None else found.columns[how.ranked_by][stands]
        return reviewed_pair(
            how,
            states=found.states[stands],
            stopped=found.stopped[stands],
            probability=found.propensity[stands],
            champion=found.champion[stands],
            challenger=found.challenger[stands],
            ranked_by=ranked_by,
            capacity=gate.capacity,
            entity=None if entity is None else entity[stands],
        )
    return PairedLabels.of_window(
        found.labels,
        found.champion,
        found.challenger,
        capacity=gate.capacity,
        entity=entity,
        propensity=found.propensity if monitor.positives.propensity is not None else None,
        least_propensity=gate.least_propensity,
        is_sampled=found.is_sampled,
    )


def _features(monitor: Monitor) -> Features:
    settings = monitor.challengers
    return (settings.features if settings is not None else None) or Features()

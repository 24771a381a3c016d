"""Entities of the labeled rows of a window, for the tables that its panes are evaluated from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

import numpy as np

from pumonitor._entities import LabeledEntities, rank_design_effect
from pumonitor.errors import InputError
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.sampled_series import of_series, state_at
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.ports import Pane, PredictionSource, SampledRows, SampleRequest, Window
from pumonitor.reviews.bins import labels_of_kinds

_MOST_LABELS: Final = 1_000_000
_MOMENTS: Final = 8
"""Of one request."""


def with_entities(
    tables: Sequence[SeriesTable],
    panes: Sequence[Pane],
    window: Window,
    source: PredictionSource,
    reviews: HowReviewed | None = None,
) -> tuple[SeriesTable, ...]:
    """The tables of these panes with the entities of their labeled rows; others as they are.

    What of it is stored are numbers of entities and scores, and no id. With reviews labeled rows
    are all that are known to be positive.

    Raises
    ------
    InputError
        If a window has more labels than are read one by one.
    SourceError
        If a table cannot be read.
    """
    tables_by_pane: dict[int, list[SeriesTable]] = {pane.number: [] for pane in panes}
    for first in range(0, len(panes), _MOMENTS):
        some = panes[first : first + _MOMENTS]
        rows = source.sample(
            SampleRequest(
                window=window,
                as_of=tuple(pane.as_of for pane in some),
                rows=0,
                labels=_MOST_LABELS,
            )
        )
        if len(rows.id) >= _MOST_LABELS:
            msg = (
                f"a window has {_MOST_LABELS:,} labels or more, whose entities are not read one by "
                "one: make windows shorter, or leave out predictions.entity"
            )
            raise InputError(msg)
        for moment, pane in enumerate(some):
            tables_by_pane[pane.number] = [
                _with_entities(table, rows, moment, reviews)
                for table in tables
                if table.pane == pane.number
            ]
    kept = [table for table in tables if table.pane not in tables_by_pane]
    return (*kept, *(table for of_pane in tables_by_pane.values() for table in of_pane))


def _with_entities(
    series: SeriesTable, rows: SampledRows, moment: int, reviews: HowReviewed | None
) -> SeriesTable:
    if series.table is None:
        return series
    groups = None if reviews is None else reviews.kinds(rows, moment)
    label = state_at(rows, moment) if groups is None else labels_of_kinds(groups.kinds)
    is_labeled = of_series(rows, series) & np.equal(label, 1)
    entities = LabeledEntities.of_rows(rows.key[is_labeled], rows.score[is_labeled])
    # Other entities are other data, though every row is counted as before.
    shared = np.concatenate([entities.entity.astype(np.float64), entities.scores])
    digest = sha256(series.digest.encode() + shared.astype("<f8").tobytes()).hexdigest()
    reviewed = series.table.reviewed
    queue_cell = None if groups is None else groups.queue_cell
    if queue_cell is not None and reviewed is not None and reviewed.queue is not None:
        cells = queue_cell[is_labeled].astype(np.int64)
        effect = rank_design_effect(rows.key[is_labeled], cells)
        reviewed = replace(reviewed, queue=replace(reviewed.queue, design_effect=effect))
    table = replace(series.table, entities=entities, reviewed=reviewed)
    return replace(series, table=table, digest=digest)

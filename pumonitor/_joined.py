"""Cells of tables put together: of two tables, or of neighbours in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._entities import LabeledEntities
from pumonitor._propensities import Propensities
from pumonitor._score_columns import ScoreColumns
from pumonitor._weights import Weights

_Table = TypeVar("_Table", bound=ScoreColumns)


def added(one: _Table, other: _Table) -> _Table:
    """The table of both sets of rows: cells in ascending order, those that overlap as one."""
    weights = chances = reviewed = entities = values = None
    if one.weights is not None or other.weights is not None:
        weights = _moments(one).followed_by(_moments(other))
    if one.chances is not None and other.chances is not None:
        chances = one.chances.followed_by(other.chances)
    if one.reviewed is not None and other.reviewed is not None:
        reviewed = one.reviewed.followed_by(other.reviewed)
    if one.entities is not None or other.entities is not None:
        entities = entities_of(one).followed_by(entities_of(other))
    if one.values is not None and other.values is not None:
        values = one.values.followed_by(other.values)
    lower = np.concatenate([one.lower, other.lower])
    upper = np.concatenate([one.upper, other.upper])
    both = replace(
        one,
        lower=lower,
        upper=upper,
        labeled=np.concatenate([one.labeled, other.labeled]),
        unlabeled=np.concatenate([one.unlabeled, other.unlabeled]),
        negative=np.concatenate([one.negative, other.negative]),
        n_labeled=one.n_labeled + other.n_labeled,
        n_unlabeled=one.n_unlabeled + other.n_unlabeled,
        n_negative=one.n_negative + other.n_negative,
        weights=weights,
        propensities=_joint_propensities(one, other),
        chances=chances,
        reviewed=reviewed,
        entities=entities,
        values=values,
    )
    order = np.lexsort((upper, lower))
    ordered = _changed(both, lambda column: column[order], lower=lower[order], upper=upper[order])
    reach = np.maximum.accumulate(ordered.upper)
    starts = np.flatnonzero(np.concatenate([[True], ordered.lower[1:] > reach[:-1]]))
    return _grouped(ordered, starts)


def compressed(table: _Table, max_cells: int, *, thresholds: Iterable[float]) -> _Table:
    """At most `max_cells` cells, each with about the same share of the rows of either kind."""
    if max_cells < 2:
        msg = f"max_cells must satisfy max_cells >= 2, got {max_cells}"
        raise ValueError(msg)
    if len(table) <= max_cells:
        return table
    others = table.unlabeled + table.negative
    mass = table.labeled / table.labeled.sum() + others / max(others.sum(), 1.0)
    middle = np.cumsum(mass) - 0.5 * mass
    group = np.minimum((middle / mass.sum() * max_cells).astype(np.intp), max_cells - 1)
    begins = np.concatenate([[True], group[1:] != group[:-1]])
    for threshold in thresholds:
        index = table.index_of_threshold(threshold)
        if index < len(table):
            begins[index] = True
    return _grouped(table, np.flatnonzero(begins))


def _moments(table: ScoreColumns) -> Weights:
    """Of a table without weights too, where each row weighs 1."""
    if table.weights is not None:
        return table.weights
    return Weights(
        labeled_squares=table.labeled_squares,
        labeled_mass=table.labeled_mass,
        labeled_mass_squares=table.labeled_mass_squares,
        labeled_cross=table.labeled_cross,
        unlabeled_squares=table.unlabeled_squares,
        negative_squares=table.negative_squares,
    )


def entities_of(table: ScoreColumns) -> LabeledEntities:
    """Of a table without entities too, whose labeled rows are each one of their own."""
    if table.entities is not None:
        return table.entities
    return LabeledEntities.of_rows(np.arange(table.n_labeled), np.zeros(table.n_labeled))


def _joint_propensities(one: ScoreColumns, other: ScoreColumns) -> Propensities | None:
    """Rows of a table without propensities count by their weight, as with a propensity of 1."""
    if one.propensities is None and other.propensities is None:
        return None

    def known(table: ScoreColumns) -> Propensities:
        return table.propensities or Propensities(
            lifted=0,
            largest_weight=table.largest_weight_share * float(table.labeled.sum()),
            min_propensity=None,
            detection_rate=None,
        )

    return known(one).with_those_of(known(other))


def _grouped(table: _Table, starts: NDArray[np.intp]) -> _Table:
    return _changed(
        table,
        lambda column: np.add.reduceat(column, starts),
        lower=table.lower[starts],
        upper=np.maximum.reduceat(table.upper, starts),
    )


def _changed(
    table: _Table,
    change: Callable[[FloatArray], FloatArray],
    *,
    lower: FloatArray,
    upper: FloatArray,
) -> _Table:
    """The same rows in other cells: the change made to every column of sums."""
    return replace(
        table,
        lower=lower,
        upper=upper,
        labeled=change(table.labeled),
        unlabeled=change(table.unlabeled),
        negative=change(table.negative),
        weights=None if table.weights is None else table.weights.map(change),
        chances=None if table.chances is None else table.chances.map(change),
        reviewed=None if table.reviewed is None else table.reviewed.map(change),
    )

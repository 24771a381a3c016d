"""Make tables of the auxiliary score from sampled rows with features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.results.auxiliary import AuxiliarySeries
from pumonitor.monitor.windows.evaluation.sampled_series import of_series, state_at
from pumonitor.ports import SampledRows
from pumonitor.tables import ScoreTable

FloatArray = NDArray[np.float64]

_MOST_CELLS: Final = 512
_FEWEST_SAMPLED: Final = 100


def auxiliary_series_of(
    rows: SampledRows,
    scores: FloatArray,
    stored: Sequence[StoredSeries],
    *,
    moment: int,
    score_hash: str,
) -> list[AuxiliarySeries]:
    """Auxiliary table of each series of a pane.

    Parameters
    ----------
    rows : SampledRows
        Sampled rows of the window.
    scores : ndarray of shape (rows,)
        Auxiliary scores.
    stored : sequence of StoredSeries
        Series of the pane, with their numbers of rows.
    moment : int
        Position of the pane's moment among those requested with the sample.
    score_hash : str
        Hash of the auxiliary score.
    """
    state = state_at(rows, moment)
    found = []
    for one in stored:
        here = of_series(rows, one)
        found_series = AuxiliarySeries(
            model_version=one.model_version, segment=one.segment, hash=score_hash
        )
        totals = {1: one.delays["labeled"], 0: one.delays["unlabeled"], -1: one.delays["negative"]}
        try:
            table = table_of(
                state[here],
                scores[here],
                rows.is_sampled[here],
                rows.propensity[here],
                totals=totals,
            )
        except TooFewPositivesError:
            found.append(found_series)
        except InputError as error:
            found.append(replace(found_series, hash=None, reason=str(error)))
        else:
            found.append(replace(found_series, table=table))
    return found


def table_of(
    state: NDArray[np.int64],
    scores: FloatArray,
    is_sampled: NDArray[np.bool_],
    propensity: FloatArray,
    *,
    totals: dict[int, int],
) -> ScoreTable:
    """Score table of the auxiliary score, each sampled row weighted by the rows it represents.

    Parameters
    ----------
    state : ndarray of int, shape (rows,)
        1, 0 or -1.
    scores : ndarray of shape (rows,)
    is_sampled : ndarray of bool, shape (rows,)
        Whether the row was drawn from all rows. Rows without a label count if they were drawn; rows
        with a label count if they were not, because all of them were read.
    propensity : ndarray of shape (rows,)
        NaN where there is none.
    totals : dict of int to int
        Number of all rows in each state.

    Raises
    ------
    TooFewPositivesError
        If fewer than two are confirmed.
    InputError
        If too few of the rows were sampled.
    """
    counts = is_sampled == (state == 0)
    state, scores, propensity = state[counts], scores[counts], propensity[counts]
    weight = np.ones(len(state))
    for one, total in totals.items():
        held = int(np.count_nonzero(state == one))
        if held < min(total, _FEWEST_SAMPLED if one == 0 else 1):
            what = {1: "confirmed", 0: "unlabeled", -1: "negative"}[one]
            msg = (
                f"{held} of its {total} {what} rows are among those sampled with their features, "
                "which is too few"
            )
            raise InputError(msg)
        if held:
            weight[state == one] = total / held
    labeled = state == 1
    has_propensities = bool(labeled.any() and np.isfinite(propensity[labeled]).all())
    table = ScoreTable.from_arrays(
        state,
        scores,
        sample_weight=None if (weight == 1).all() else weight,
        propensity=np.where(labeled, propensity, np.nan) if has_propensities else None,
    )
    return table.compress(_MOST_CELLS)

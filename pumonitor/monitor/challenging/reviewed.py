"""Two models on the rows of a window with reviews, as `pumonitor.compare` reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.gate import ReviewedPair
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.reviews.front_door import reviewed_models
from pumonitor.reviews.given import Reviews
from pumonitor.reviews.states import are_drawn, said_of_states

FloatArray = NDArray[np.float64]
_FEWEST = 2
"""Rows known to be positive, without which there is no estimate."""
_MOST_UNEVEN = 0.05
"""By how much more rows of one model than of the other may be flagged where scores tie."""


def reviewed_pair(
    how: HowReviewed,
    *,
    states: NDArray[np.int64],
    stopped: NDArray[np.bool_],
    probability: FloatArray,
    champion: FloatArray,
    challenger: FloatArray,
    ranked_by: FloatArray | None,
    capacity: float,
    entity: NDArray[np.str_] | None = None,
) -> ReviewedPair:
    """What reviews and complaints say of a challenger and the champion.

    Positives are estimated along the score that filled the queue, the champion's unless another is
    given, and placed along both scores with shared draws.

    Parameters
    ----------
    how : HowReviewed
    states : ndarray of shape (n,)
        What both channels say of each row.
    stopped : ndarray of bool of shape (n,)
    probability : ndarray of shape (n,)
        With which rows that were reviewed at random were drawn, where a table says it.
    champion, challenger : ndarray of shape (n,)
    ranked_by : ndarray of shape (n,), optional
    capacity : float
        Share of the rows that either model flags.
    entity : ndarray of str of shape (n,), optional

    Raises
    ------
    InputError
        If so many scores tie at the cut that both cannot flag alike many rows, or scores or reviews
        cannot be used.
    """
    scores = {"champion": champion, "challenger": challenger}
    complained, verdicts, reasons = said_of_states(states)
    positive = complained | np.equal(verdicts, 1)
    has_verdict = np.any(np.equal(verdicts, 0) | np.equal(verdicts, 1))
    if int(positive.sum()) < _FEWEST or not has_verdict:
        return ReviewedPair.of_draws({}, positives=int(positive.sum()), total=0, rows=len(states))
    thresholds = {name: _cut(values, capacity) for name, values in scores.items()}
    flagged = {name: int((scores[name] >= cut).sum()) for name, cut in thresholds.items()}
    if max(flagged.values()) > (1 + _MOST_UNEVEN) * min(flagged.values()) + 1:
        msg = (
            f"at a capacity of {capacity:g} rows that score alike make the champion flag "
            f"{flagged['champion']} and the challenger {flagged['challenger']} of {len(states)} "
            "rows: choose another capacity in gate, or let scores have more digits"
        )
        raise InputError(msg)
    chance = np.where(are_drawn(states), probability, np.nan)
    is_told = np.equal(verdicts, 1) | np.equal(verdicts, 0)
    models = reviewed_models(
        complained.astype(np.int8),
        scores,
        reviews=Reviews(
            verdicts,
            chosen_by=reasons,
            probability=chance if np.any(is_told & ~np.isnan(chance)) else None,
            stopped=stopped,
            blocks=how.blocks,
            detection_rate=how.detection_rate,
            ranked_by="champion" if ranked_by is None else ranked_by,
        ),
        complaint_rate=how.complaint_rate,
        thresholds={name: (cut,) for name, cut in thresholds.items()},
        confidence_level=0.95,
        class_prior="auto",
        scenario="single-training-set",
        label_purity=1.0,
        entity=entity,
        given={},
    )
    return ReviewedPair.of_draws(
        models.draws("challenger", "champion", ("recall", "aul")),
        positives=int(positive.sum()),
        total=float(np.median(models.by_queue[0].positives.sum(axis=1))),
        rows=len(states),
    )


def _cut(scores: FloatArray, capacity: float) -> float:
    """The lowest of the highest rows, a share of all."""
    taken = max(round(capacity * len(scores)), 1)
    return float(np.partition(scores, -taken)[-taken])

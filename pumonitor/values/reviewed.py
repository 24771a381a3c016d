"""Rows with reviews: what their positives are worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import KINDS, POSITIVE
from pumonitor.reviews.models import ReviewedModels
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.positives import ValuedRows

FloatArray = NDArray[np.float64]

_SILENT: Final = ("open_silent", "undecided_silent", "stopped")
_BY_RULE: Final = ("known_positive", "known_negative")


def draws_with_reviews(values: FloatArray, models: ReviewedModels, name: str) -> list[ValueDraws]:
    """Draws of what the positives of each score bin are worth, by what undecided rows may be.

    Parameters
    ----------
    values : ndarray of shape (n,)
    models : ReviewedModels
    name : str
        The model.

    Notes
    -----
    Rules often choose what is worth much, and what is stopped outright often is: neither tells
    what the positives of their score are worth.
    """
    kinds, reading = models.kinds, models.readings[name]
    errs = bool(np.any(reading.by_queue.s < 1))
    is_own = models.ranked_by == name
    rows = ValuedRows(
        values=values,
        bin_of_row=models.rows.bin_of_row,
        is_known=_among(kinds, POSITIVE),
        is_silent=_among(kinds, (*_SILENT, *(("cleared_silent",) if errs else ()))),
        is_fair=~_among(kinds, (*_BY_RULE, "stopped")),
        bin_of_model=None if is_own else models.bins_of_row[name],
        normal_of_model=None if is_own else reading.counts.bins.normal_score,
    )
    counts = models.rows.counts
    known = np.sum([getattr(counts, kind) for kind in POSITIVE], axis=0)
    return [
        rows.draws(
            posterior.positives - known,
            reading.counts.bins,
            above=counts.bins.above,
            unfair=counts.stopped * posterior.p.mean(axis=0),
            method=reading.method,
        )
        for posterior in models.by_queue
    ]


def _among(kinds: NDArray[np.intp], names: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.isin(kinds, [KINDS.index(name) for name in names])

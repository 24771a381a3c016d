"""Rows with reviews: what their positives are worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._valued import ValuedRows
from pumonitor.reviews.counts import KINDS, POSITIVE
from pumonitor.reviews.reading import ReviewedEstimates
from pumonitor.values.estimates import ValueDraws
from pumonitor.values.positives import BinnedRows

_SILENT: Final = ("open_silent", "undecided_silent", "stopped")
_BY_RULE: Final = ("known_positive", "known_negative")


def draws_with_reviews(valued: ValuedRows, reading: ReviewedEstimates) -> list[ValueDraws]:
    """Draws of what the positives of each score bin are worth, by what undecided rows may be.

    Parameters
    ----------
    valued : ValuedRows
    reading : ReviewedEstimates
        Of these rows.

    Notes
    -----
    Rules often choose what is worth much, and what is stopped outright often is: neither tells
    what the positives of their score are worth.
    """
    errs = bool(np.any(reading.by_queue[0].s < 1))
    counts, bins = reading.by_queue[0].counts, reading.counts.bins
    bin_of_model = None
    if valued.queue_score is not None:
        bin_of_model = bins.bin_of(valued.score)
    rows = BinnedRows(
        valued=valued,
        bins=bins,
        bin_of_row=counts.bins.bin_of(
            valued.score if valued.queue_score is None else valued.queue_score
        ),
        is_known=_among(valued.state, POSITIVE),
        is_silent=_among(valued.state, (*_SILENT, *(("cleared_silent",) if errs else ()))),
        is_fair=~_among(valued.state, (*_BY_RULE, "stopped")),
        bin_of_model=bin_of_model,
    )
    known = np.sum([getattr(counts, kind) for kind in POSITIVE], axis=0)
    return [
        rows.draws(
            posterior.positives - known,
            above=counts.bins.above,
            unfair=counts.stopped * posterior.p.mean(axis=0),
            method=reading.method,
        )
        for posterior in reading.by_queue
    ]


def _among(kinds: NDArray[np.int64], names: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.isin(kinds, [KINDS.index(name) for name in names])

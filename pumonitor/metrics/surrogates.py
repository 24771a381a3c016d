"""How many of the hidden positives can be among the flagged rows (Claesen et al. 2015).

The hidden positives are taken to be ranked like the known ones. A band on the share of known
positives at or above each threshold then bounds how many of K hidden ones are there: equations
8 to 13, made as tight as the rows allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCounts:
    """Fewest and most hidden positives at or above each threshold, thresholds descending.

    Attributes
    ----------
    low, high : ndarray of shape (thresholds,) or (counts, thresholds)
        A row for each number of hidden positives, where there are several.
    """

    low: FloatArray
    high: FloatArray


def hidden_counts(
    unlabeled_above: FloatArray,
    share_low: FloatArray,
    share_high: FloatArray,
    *,
    hidden: FloatArray | float,
) -> HiddenCounts:
    """Bounds on the number of hidden positives flagged, at every threshold.

    Parameters
    ----------
    unlabeled_above : ndarray of shape (thresholds,)
        Unlabeled rows at or above each threshold, from 0 (above all scores) to all of them.
    share_low, share_high : ndarray of shape (thresholds,) or (counts, thresholds)
        Band on the share of the hidden positives at or above it.
    hidden : float or ndarray of shape (counts, 1)
        K, the hidden positives in all.

    Notes
    -----
    The published assignment at one threshold: theta = share * K surrogate positives above, no more
    than there are rows (first corner case), no fewer than do not fit below (second). Counts of
    rows further bound one another: between two thresholds their number cannot fall, nor grow by
    more than the rows in between. Theta is not rounded here; the paper rounds outwards.

    Examples
    --------
    >>> found = hidden_counts(np.array([0.0, 1.0, 5.0, 9.0]), np.array([0.0, 0.4, 0.6, 1.0]),
    ...                       np.array([0.3, 0.7, 0.9, 1.0]), hidden=4.0)
    >>> found.low.tolist(), found.high.tolist()
    ([0.0, 1.0, 2.4, 4.0], [0.0, 1.0, 3.6, 4.0])
    """
    rows = float(unlabeled_above[-1])
    forced = np.maximum(hidden - (rows - unlabeled_above), 0.0)
    possible = np.minimum(unlabeled_above, hidden)
    high = np.clip(share_high * hidden, forced, possible)
    low = np.clip(share_low * hidden, forced, possible)
    # No faster than one per row: count - rows cannot grow from one threshold to the next.
    high = unlabeled_above + np.minimum.accumulate(high - unlabeled_above, axis=-1)
    less = np.maximum.accumulate((low - unlabeled_above)[..., ::-1], axis=-1)[..., ::-1]
    low = unlabeled_above + less
    # No falling.
    high = np.minimum.accumulate(high[..., ::-1], axis=-1)[..., ::-1]
    low = np.maximum.accumulate(low, axis=-1)
    return HiddenCounts(low=np.minimum(low, high), high=high)

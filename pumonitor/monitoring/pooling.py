"""The class prior of a window, with what earlier windows of its series say about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pumonitor.prior import pool_class_priors
from pumonitor.results import ClassPriorEstimate

__all__ = ["EarlierPrior", "pooled_class_prior"]

_MOST_WINDOWS: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierPrior:
    """What an earlier window of the series says of its class prior by itself.

    Attributes
    ----------
    index : int
        The window's.
    estimate : ClassPriorEstimate
        As it was known at the moment at which the later window is looked at.
    """

    index: int
    estimate: ClassPriorEstimate


def pooled_class_prior(
    own: ClassPriorEstimate | None,
    *,
    index: int,
    earlier: Sequence[EarlierPrior] = (),
    confidence_level: float = 0.95,
) -> ClassPriorEstimate | None:
    """Class prior of a window from its own rows and the windows before it.

    A day with 20 confirmed positives tells its class prior to no better than some hundredths; the
    days before say most of what there is to know, as long as priors drift slowly. A prior that
    jumps is followed late where the windows are small: `own_share` in the diagnostics says how far
    the value follows the window itself.

    Parameters
    ----------
    own : ClassPriorEstimate or None
        From the window's own rows; None where they are too few.
    index : int
        The window's. Distances between windows are differences of their indices.
    earlier : sequence of EarlierPrior
        Windows before it, in any order; the nearest 25 count. The reference window is one of them
        where its prior was estimated in the same way.
    confidence_level : float

    Returns
    -------
    ClassPriorEstimate or None
        The own one if there is no earlier one, or if it was given and not estimated; None if
        there is neither.

    Raises
    ------
    ValueError
        If an earlier window is not earlier.

    Notes
    -----
    `pumonitor.prior.pool_class_priors`, where each window's estimate is its own. Labeled rows are
    not shared between windows (`pumonitor.prior.pool_tables`): that takes positives to score as
    they did, which is what a monitor is there to doubt. `python -m benchmarks.monitoring.pooling`:
    with 20 labeled rows a window the error is .012 (alone .040, shared as well .009); after AUC
    fell from .92 to .84 these intervals hold the prior in all windows and shared ones in 13%;
    after a jump of the prior from .05 to .15 these do in 85% of the next six.

    Examples
    --------
    >>> days = [(0.10, 0.05, 0.17), (0.11, 0.08, 0.16)]
    >>> earlier = [
    ...     EarlierPrior(index=at, estimate=ClassPriorEstimate.given(day))
    ...     for at, day in enumerate(days)
    ... ]
    >>> own = ClassPriorEstimate(value=0.14, low=0.06, high=0.25, method="auto")
    >>> pooled = pooled_class_prior(own, index=2, earlier=earlier)
    >>> 0.1 < pooled.value < 0.14, pooled.high - pooled.low < 0.19
    (True, True)
    """
    if any(one.index >= index for one in earlier):
        latest = max(one.index for one in earlier)
        msg = f"earlier windows must be before window {index}, got window {latest}"
        raise ValueError(msg)
    if not earlier or (own is not None and own.method.startswith("given")):
        return own
    nearest = sorted(earlier, key=lambda one: one.index)[-_MOST_WINDOWS:]
    pooled = pool_class_priors(
        [*(one.estimate for one in nearest), own],
        times=[*(one.index for one in nearest), index],
        confidence_level=confidence_level,
    ).estimates[-1]
    if own is None or pooled is None:
        return pooled
    # What is confirmed in these very rows is no opinion of earlier windows.
    confirmed = 0.0 if math.isnan(own.least) else own.least
    return replace(
        pooled,
        value=max(pooled.value, confirmed),
        high=max(pooled.high, confirmed),
        least=own.least,
    )

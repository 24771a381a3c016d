"""How many cases to draw from each score bin: Neyman's allocation for the metrics asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray, IntArray
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditDesign
from pumonitor.audit.metrics import metric_draws
from pumonitor.errors import InputError, no_such

BELOW_THE_THRESHOLD: Final = 1.3
"""By how much today's estimate of hidden positives below the threshold is lifted."""

SPREAD: Final = 0.15
"""Share of the cases that is spread without regard to the estimate: half by size, half evenly."""

_ZERO: Final = 1e-9


def expected_shares(
    bins: ScoreBins, *, label_frequency: float, lifted: float = BELOW_THE_THRESHOLD
) -> FloatArray:
    """q: share of positives among the unlabeled rows of each bin, as estimated before the audit.

    The odds of a hidden positive are those of a confirmed one times (1 - c) / c.

    Parameters
    ----------
    bins : ScoreBins
    label_frequency : float
        Today's estimate of c; it must satisfy 0 < c < 1.
    lifted : float
        By how much to lift the share below the threshold.
    """
    if not 0 < label_frequency < 1:
        msg = f"label_frequency must satisfy 0 < label_frequency < 1, got {label_frequency:g}"
        raise ValueError(msg)
    missed = (1 - label_frequency) / label_frequency
    share = missed * (bins.labeled + 0.05) / np.maximum(bins.unlabeled, 1)
    share = np.where(bins.above, share, lifted * share)
    return np.clip(share, 1e-6, 0.98)


def design_audit(
    bins: ScoreBins,
    *,
    cases: int,
    label_frequency: float,
    metrics: Sequence[str] = ("f1",),
    seed: str = "",
    drawn: ArrayLike = 0,
    above: float | None = None,
) -> AuditDesign:
    """Spread `cases` over the bins so that the metrics come out as narrow as they can.

    Parameters
    ----------
    bins : ScoreBins
    cases : int
        In all, those drawn before among them; at most as many as there are unlabeled rows.
    label_frequency : float
        Today's estimate of c. A wrong one costs width, not coverage.
    metrics : sequence of str
        Whose squared relative errors are summed.
    seed : str
        Key of the order within bins.
    drawn : array-like of shape (bins,), optional
        Cases drawn before: they stay, and more are added where they are missing most.
    above : float, optional
        Share of the cases at or above the threshold, as far as there are rows. Without it cases are
        on either side as the metrics want them.

    Raises
    ------
    InputError
        If cases < 1, or below those drawn before, or a metric is not known.
    ValueError
        Unless 0 < above < 1.

    Notes
    -----
    With U_b unlabeled rows, the share q_b of positives among them and g_b the derivative of the
    metric's logarithm in the number of positives, the error is about the sum of
    U_b^2 q_b (1 - q_b) g_b^2 / m_b: least with m_b proportional to U_b sqrt(q_b (1 - q_b)) g_b
    (Neyman 1934). Cases go one after the other to the bin that is farthest below its due, so that
    an audit of more cases holds one of fewer.
    """
    before = np.broadcast_to(np.asarray(drawn, dtype=np.int64), bins.rows.shape)
    if cases < 1 or cases < before.sum():
        msg = f"cases must be at least 1 and those drawn before ({before.sum()}), got {cases}"
        raise InputError(msg)
    weight = _weights(bins, expected_shares(bins, label_frequency=label_frequency), metrics)
    most = bins.unlabeled
    if above is None:
        planned = _apportioned(weight, most, min(cases, int(most.sum())), before)
        return AuditDesign(bins=bins, planned=planned, seed=seed)
    planned = np.zeros_like(most)
    for side, wanted in _by_side(bins, before, cases=cases, above=above):
        planned[side] = _apportioned(weight[side], most[side], wanted, before[side])
    return AuditDesign(bins=bins, planned=planned, seed=seed)


def _by_side(
    bins: ScoreBins, before: IntArray, *, cases: int, above: float
) -> list[tuple[NDArray[np.bool_], int]]:
    """Cases on either side of the threshold; where one has too few rows the other has more."""
    if not 0 < above < 1:
        msg = f"above must satisfy 0 < above < 1, got {above:g}: it is a share of the cases"
        raise ValueError(msg)
    sides = (bins.above, ~bins.above)
    most, drawn = ([int(one[side].sum()) for side in sides] for one in (bins.unlabeled, before))
    cases = min(cases, sum(most))
    # Of cases drawn otherwise before, one side may have more than its share already.
    upper = min(max(round(above * cases), drawn[0], cases - most[1]), most[0], cases - drawn[1])
    return [(sides[0], upper), (sides[1], cases - upper)]


def _weights(bins: ScoreBins, share: FloatArray, metrics: Sequence[str]) -> FloatArray:
    """Which share of the cases each bin is due."""
    unlabeled = bins.unlabeled.astype(float)
    wanted = unlabeled * np.sqrt(share * (1 - share) * _squared_slopes(bins, share, metrics))
    total = wanted.sum()
    by_size, evenly = unlabeled / unlabeled.sum(), (unlabeled > 0) / (unlabeled > 0).sum()
    spread = 0.5 * (by_size + evenly)
    return np.asarray(spread if total == 0 else SPREAD * spread + (1 - SPREAD) * wanted / total)


def _squared_slopes(bins: ScoreBins, share: FloatArray, metrics: Sequence[str]) -> FloatArray:
    """Squares of the relative change of each metric with a positive more in a bin, summed."""
    positives = bins.labeled + share * bins.unlabeled
    step = 1e-4 * positives.sum()
    moved = positives + step * np.vstack([np.eye(len(positives)), -np.eye(len(positives))])
    values = metric_draws(bins, moved)
    unknown = sorted(set(metrics) - set(values))
    if unknown:
        raise InputError(no_such("metric of an audit", unknown[0], values))
    sizes = np.abs(np.stack([values[name] for name in metrics]))
    # What is undefined or 0 whatever is found, as specificity where all rows are flagged, is left
    # out; so is what rounding leaves of such a 0.
    logs = np.log(np.where((sizes > _ZERO) & np.isfinite(sizes), sizes, 1.0))
    up, down = logs[:, : len(positives)], logs[:, len(positives) :]
    slopes = (up - down) / (2 * step)
    return np.asarray((slopes**2).sum(axis=0))


def _apportioned(weight: FloatArray, most: IntArray, cases: int, before: IntArray) -> IntArray:
    """Whole cases by the divisor method of Webster, which never takes one back."""
    taken = np.minimum(before, most).astype(np.int64)
    due = np.where(taken < most, weight / (taken + 0.5), -1.0)
    for _ in range(cases - int(taken.sum())):
        place = int(np.argmax(due))
        taken[place] += 1
        due[place] = weight[place] / (taken[place] + 0.5) if taken[place] < most[place] else -1
    return taken

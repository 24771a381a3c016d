"""How wide the intervals of an audit will be, before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pumonitor.audit.allocation import expected_shares
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore
from pumonitor.audit.metrics import metric_draws

__all__ = ["planned_widths", "simple_widths"]

AUDITS: Final = 15


def planned_widths(
    design: AuditDesign,
    *,
    label_frequency: float,
    metrics: Sequence[str] = ("f1",),
    believed: FrequencyByScore = UNKNOWN,
    audits: int = AUDITS,
    seed: int = 0,
) -> Mapping[str, float]:
    """Median width of the 95% intervals over simulated audits of this design.

    Wrong as far as today's estimate of c is: with twice as many hidden positives as planned the
    intervals of shares are wider.

    Parameters
    ----------
    design : AuditDesign
    label_frequency : float
        Today's estimate of c.
    metrics : sequence of str
    believed : FrequencyByScore
        As in `estimate_audit`.
    audits : int
        How many are simulated, about a tenth of a second each.
    seed : int
    """
    rng = np.random.default_rng(seed)
    share = expected_shares(design.bins, label_frequency=label_frequency, lifted=1.0)
    widths: dict[str, list[float]] = {name: [] for name in metrics}
    for run in range(audits):
        found = rng.binomial(design.planned, share)
        counts = AuditCounts.of(design.bins, decided=design.planned, positive=found)
        drawn = estimate_audit(counts, believed=believed, draws=1000, seed=seed + run).metrics()
        for name in metrics:
            low, high = np.nanquantile(drawn[name], [0.025, 0.975])
            widths[name].append(float(high - low))
    return {name: float(np.median(found)) for name, found in widths.items()}


def simple_widths(
    bins: ScoreBins, *, cases: int, label_frequency: float, metrics: Sequence[str] = ("f1",)
) -> Mapping[str, float]:
    """Width of the 95% intervals of cases drawn from all rows alike and read without confirmations.

    By the asymptotic variance, which is too narrow where few positives are found. What is
    expected in each bin is what the plan expects; cases are post-stratified at the threshold, as
    anybody would.

    Parameters
    ----------
    bins : ScoreBins
    cases : int
    label_frequency : float
        Today's estimate of c.
    metrics : sequence of str

    Notes
    -----
    With g_b the derivative of the metric in the positives of bin b, the error of one case is the
    variance of N g_b y within a side of the threshold, y being 1 for a positive.
    """
    rows = bins.rows.astype(float)
    hidden = expected_shares(bins, label_frequency=label_frequency, lifted=1.0)
    positives = bins.labeled + hidden * bins.unlabeled
    step = 1e-4 * positives.sum()
    moved = step * np.eye(len(rows))
    up, down = (metric_draws(bins, positives + way * moved) for way in (1, -1))
    widths = {}
    for name in metrics:
        slope = rows.sum() * (up[name] - down[name]) / (2 * step)
        variance = 0.0
        for side in (bins.above, ~bins.above):
            if not side.any():
                continue
            size = rows[side].sum()
            mean = float(slope[side] @ positives[side] / size)
            square = float(slope[side] ** 2 @ positives[side] / size)
            variance += size / rows.sum() * (square - mean**2)
        widths[name] = float(2 * 1.96 * np.sqrt(variance / cases))
    return widths

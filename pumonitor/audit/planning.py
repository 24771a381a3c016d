"""How wide the intervals of an audit will be, before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pumonitor.audit.allocation import expected_shares
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore

__all__ = ["planned_widths"]

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

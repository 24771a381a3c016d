"""An audit of twelve bins that tests share."""

from __future__ import annotations

import numpy as np

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts

ROWS = np.array([5000, 4000, 3000, 2500, 2000, 1500, 900, 500, 250, 150, 120, 80])
CONFIRMED = np.array([2, 2, 1, 3, 13, 10, 14, 18, 14, 16, 15, 14])
FOUND = np.array([0, 0, 0, 0, 0, 0, 1, 3, 7, 9, 14, 24])


def bins(rows=ROWS, labeled=CONFIRMED, *, above=4, concordance=0.6):
    """Score bins, the highest `above` of which are predicted positive."""
    count = len(rows)
    return ScoreBins(
        edges=np.arange(1.0, count),
        above=np.arange(count) >= count - above,
        rows=np.asarray(rows),
        labeled=np.asarray(labeled),
        rank=np.linspace(-0.95, 0.95, count),
        concordance=np.full(count, concordance),
        concordance_error=np.zeros(count),
    )


def counts(*, found=FOUND, decided=25, undecided=0, **changed):
    """Counts of the audit: 25 verdicts a bin."""
    return AuditCounts.of(bins(**changed), decided=decided, positive=found, undecided=undecided)

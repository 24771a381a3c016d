"""What a window with reviews says of a challenger where its labels say little."""

from __future__ import annotations

import numpy as np

from pumonitor.monitor.challenging.reviewed import reviewed_pair
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.reviews.states import states_of

ROWS = 400


def test_complaints_without_any_verdict_are_no_evidence_and_no_error():
    scores = np.linspace(0, 1, ROWS)
    complains = np.arange(ROWS) % 40 == 0
    nobody_looked = np.full(ROWS, -2)
    states = states_of(complained=complains, verdict=nobody_looked, reason=np.zeros(ROWS, int))
    pair = reviewed_pair(
        HowReviewed(blocks=True),
        states=states,
        stopped=np.zeros(ROWS, dtype=bool),
        probability=np.full(ROWS, np.nan),
        champion=scores,
        challenger=scores[::-1],
        ranked_by=None,
        capacity=0.05,
    )
    assert pair.positives == complains.sum()
    assert not len(pair.differences("recall"))

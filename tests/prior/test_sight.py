"""How soon a change of a followed class prior is seen is told of what was stored as well."""

from __future__ import annotations

import numpy as np

from pumonitor.prior.followed.sight import windows_until_seen
from pumonitor.prior.over_time import Cells, Level, Summariser


def test_a_summariser_that_was_stored_tells_how_soon_a_change_is_seen():
    rng = np.random.default_rng(1)

    def day():
        positive = rng.random(2000) < 0.1
        scores = np.sort(rng.normal(size=2000) + 2.0 * positive)
        labeled = rng.random(2000) < 0.3 * (scores > 1.5)
        return Cells.of_counts(scores, labeled, np.ones(2000))

    made = Summariser.learned([day() for _ in range(10)])
    stored = Summariser.from_bytes(made.to_bytes())
    assert stored.founding == ()
    level = Level.given(0.1, 0.08, 0.12)
    for ratio in (2.0, 0.5):
        soon, known = (
            windows_until_seen(one, level, ratio, odds=9.0, windows=10) for one in (stored, made)
        )
        # What is stored no longer says how much windows differ by themselves.
        assert 2 <= soon <= known <= 6

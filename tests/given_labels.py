"""Evaluations without the search for mistaken labels, for tests that repeat them very often."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pumonitor import ScoreTable
from pumonitor.prior.labels.label_noise import estimate_label_purity


@contextmanager
def labels_as_given() -> Iterator[None]:
    """Scores are not searched for mistaken labels, which takes much of the time.

    Where `label_purity` is a number what they show goes to `settings` and into a warning, and
    changes no estimate: `test_given_labels.py` holds all of them to that.
    """
    nothing_seen = estimate_label_purity(ScoreTable.from_counts([5, 5], [5, 5], edges=[0, 1, 2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pumonitor.prior.assumed.estimate_label_purity", lambda *_, **__: nothing_seen
        )
        patch.setattr("pumonitor.monitor.windows.evaluate.search_together", lambda tables: None)
        yield

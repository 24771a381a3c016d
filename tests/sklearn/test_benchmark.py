"""The benchmark of learners runs, and says what it claims to."""

from __future__ import annotations

import pytest

from benchmarks import datasets
from benchmarks.challengers.sections import Extent, figure_3, learners

needs_data = pytest.mark.skipif(
    not datasets.available("concrete"), reason="the data set concrete is not there"
)


@pytest.mark.slow
@needs_data
def test_quick_benchmark_has_a_row_for_each_claim():
    extent = Extent(seeds=1, sets=("concrete",))
    told = {row.what: row for row in (*figure_3(extent), *learners(extent))}
    claimed = [row for row in told.values() if row.claimed]
    assert len(claimed) == 11
    auc = {
        what.rpartition(": ")[2]: float(row.measured)
        for what, row in told.items()
        if what.startswith("100 confirmed")
    }
    assert len(auc) == 12
    assert auc["challenger"] > auc["trees, scikit-learn's defaults"]
    assert 0.7 < auc["PU_AUL"] < 0.95

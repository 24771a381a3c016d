"""How benchmarks tell that two engines counted the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.monitoring.spark import is_equal
from tests.monitor.counted_rows import counted, some_rows


def test_counts_are_the_same_where_every_number_and_segment_is() -> None:
    counts = counted(some_rows(0, rows=50))
    countries = counts.segments["country"]
    assert is_equal(counts, replace(counts, versions={"read_by": {"engine": "another"}}))
    assert is_equal(counts, replace(counts, segments={"country": countries.copy()}))
    assert not is_equal(counts, replace(counts, segments={"country": np.flip(countries)}))
    assert not is_equal(counts, replace(counts, segments={"channel": countries}))
    assert not is_equal(counts, replace(counts, rows=counts.rows + 1))

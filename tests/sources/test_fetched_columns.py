"""A large answer of a database takes the memory of its numbers, not that of Python's own."""

from __future__ import annotations

import tracemalloc
from contextlib import closing

import numpy as np
import pytest

from pumonitor.sources.engines.registry import open_engine
from pumonitor.sources.windows.answers import numbers_of
from pumonitor.sources.windows.counts_query import Statement

ROWS = 40_000
NUMBERED = f"""
    WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < {ROWS - 1})
    SELECT i + 9007199254740993 AS large, i * 0.5 AS half, i * 7 AS seven, i * 11 AS eleven,
        CASE WHEN i % 3 = 0 THEN NULL ELSE i * 0.25 END AS some,
        CASE WHEN i % 2 = 0 THEN 'DE' ELSE 'Åland' END AS country
    FROM numbers
"""  # noqa: S608 (ours)


@pytest.fixture
def engine():
    with closing(open_engine("sqlite://", timeout=60.0)) as opened, opened.snapshot():
        yield opened


def test_an_answer_is_held_in_columns(engine):
    tracemalloc.start()
    try:
        found = engine.columns(Statement(sql=NUMBERED), about="numbers")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Six columns of eight bytes, twice as their parts are put together, and one part as rows.
    assert peak < 2 * 6 * 8 * ROWS + 8 * 2**20
    place = np.arange(ROWS)
    # To the last digit, also above what a double holds.
    assert numbers_of(found["large"], np.int64).tolist() == (place + 9007199254740993).tolist()
    assert numbers_of(found["half"], np.float64).tolist() == (place * 0.5).tolist()
    assert np.isnan(numbers_of(found["some"], np.float64)).tolist() == (place % 3 == 0).tolist()
    assert set(found["country"]) == {"DE", "Åland"}


def test_an_answer_without_rows_has_its_columns(engine):
    empty = engine.columns(Statement(sql=f"{NUMBERED} WHERE 0"), about="none")
    assert list(empty) == ["large", "half", "seven", "eleven", "some", "country"]
    assert {len(values) for values in empty.values()} == {0}

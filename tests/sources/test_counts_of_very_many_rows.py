"""Counts as if there were 5e12 rows: nothing overflows, no sum depends on its order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.scale import exact
from pumonitor.sources.counted.rows import counts_in, rows_of
from pumonitor.sources.counted.schema import CountedSettings
from pumonitor.sources.windows.answers import numbers_of
from tests.sources.monitored import NOW, REQUEST, assert_equal

WITHIN = 1e-9


@pytest.fixture(scope="module")
def small():
    return exact.scaled_counts(exact.ROWS // exact.TIMES, groups=4_000)


@pytest.fixture(scope="module")
def large(small):
    return exact.many_times(small, exact.TIMES)


@pytest.fixture(scope="module")
def evaluated(large):
    return exact.evaluated(large)


def test_no_row_is_lost(large):
    table = exact.table_of(large)
    assert sum(int(one) for one in (*table.labeled, *table.unlabeled)) == exact.ROWS


def test_metrics_are_those_of_fractions(large, evaluated):
    wanted = exact.exact(exact.table_of(large), class_prior=exact.CLASS_PRIOR)
    for name, value in wanted.items():
        assert abs(Fraction(evaluated[name].value) - value) <= WITHIN, name


def test_the_order_of_groups_plays_no_part(large, evaluated):
    assert exact.by_order(evaluated, exact.evaluated(exact.shuffled(large))) == 0


def test_errors_shrink_with_the_root_of_the_rows(small, evaluated):
    assert exact.by_size(evaluated, exact.evaluated(small), exact.TIMES) <= WITHIN


def test_a_table_of_counts_holds_them(large):
    settings = CountedSettings.of(REQUEST, score_scale="probability", segments=())
    request = replace(REQUEST, as_of=REQUEST.as_of[:1])
    # Of groups with the same keys, as the engine's answers have none, one of each.
    _, first = np.unique(3 * large.cell + large.history, return_index=True)
    names = ("model_version", "cell", "lower", "upper", "history", "propensity", "rows")
    counts = replace(
        large,
        **{name: getattr(large, name)[first] for name in names},
        delays=np.full((1, 4), 2**62, dtype=np.int64),
    )
    found = replace(counts.found, predictions=int(counts.rows.sum()))
    counts = replace(counts, found=found)
    rows = rows_of(counts, request, settings, counted_at=NOW)
    columns = {name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names}
    assert_equal(counts_in(columns, request, settings, about="counts"), counts)


@pytest.mark.parametrize("exactly", [2**53 + 1, 2**63 - 1, -(2**63)])
def test_whole_numbers_of_64_bits_pass_unchanged(exactly):
    """A double would round them."""
    given = pa.array([exactly], pa.int64()).to_numpy()
    for values in (given, [exactly], np.ma.MaskedArray(given, [False])):
        assert numbers_of(values, np.int64).tolist() == [exactly]

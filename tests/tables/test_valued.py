"""Cells of values: the same in SQL as by hand, and near to the value."""

import duckdb
import numpy as np
import pytest

from pumonitor._valued import ValuedRows, value_cell_sql, values_of_cells


def cells_in_sql(values):
    sql = value_cell_sql("v", floor="CAST(floor({}) AS BIGINT)", constant=lambda x: f"{x:.17e}")
    query = f"SELECT {sql} AS cell FROM (SELECT unnest(?::DOUBLE[]) AS v)"  # noqa: S608
    rows = duckdb.execute(query, [list(values)])
    return np.array([cell for (cell,) in rows.fetchall()])


def test_a_cell_stands_for_the_nearest_of_its_numbers():
    rng = np.random.default_rng(1)
    values = np.exp(rng.uniform(np.log(0.001), np.log(9e14), 3000))
    found = values_of_cells(cells_in_sql(values))
    assert np.max(np.abs(found / values - 1)) < 1 / 63
    mantissa, power = np.frexp(values)
    assert found.tolist() == np.ldexp(np.floor(mantissa * 64 + 0.5), power - 6).tolist()


def test_whole_numbers_and_little_ones_stay_what_they_are():
    values = [*map(float, range(65)), 2.0**40, 0.5, 0.0009]
    assert values_of_cells(cells_in_sql(values)).tolist() == [*values[:-1], 0.0]


@pytest.mark.parametrize("with_score", [True, False])
def test_rows_of_two_tables_follow_each_other(with_score):
    rows = ValuedRows.of_rows(
        np.array([1.0, 2.0]),
        np.array([1, 0]),
        np.array([0.5, 0.1]),
        np.ones(2) if with_score else None,
    )
    both = rows.followed_by(rows)
    assert both.worth.tolist() == [1.0, 2.0, 1.0, 2.0]
    assert (both.queue_score is not None) == with_score

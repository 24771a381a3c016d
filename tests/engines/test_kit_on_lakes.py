"""The conformance kit on tables of lakes: rows that were deleted or replaced change no number."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pumonitor.conformance.cases import all_cases
from pumonitor.conformance.outcome import outcome_of
from tests.sources.iceberg_commits import NEW, commit
from tests.sources.lake_tables import delete_by_vector, delta_table, iceberg_catalog

CASES = {case.name: case for case in all_cases()}
A_FEW = ("labels a microsecond apart", "ties at cell edges", "text ids: blanks", "at all")
TIMEOUT = 120.0


def cases(*, slow):
    """A few in every run, and all in the long ones."""
    if slow:
        return [pytest.param(name, marks=pytest.mark.slow) for name in CASES]
    return [name for name in CASES if any(one in name for one in A_FEW)]


def shuffled(rows: pa.Table) -> pa.Table:
    """The values of each column, of which no row has those it had."""
    return pa.table(
        {
            name: pa.concat_arrays([column[place:], column[:place]])
            for place, (name, column) in enumerate(
                zip(rows.column_names, (one.combine_chunks() for one in rows.columns), strict=True)
            )
        }
    )


def iceberg_with_deletes(catalog, name, rows):
    """Rows behind and beside others that are deleted by their positions."""
    wrong = shuffled(rows)
    table = catalog.create_table(f"fraud.{name}", rows.schema)
    table.append(wrong)
    if rows.num_rows:
        numbers = range(rows.num_rows)
        both = pa.concat_tables([wrong, rows])
        commit(table, rows=both, positions={0: numbers, NEW: numbers})
    return f"iceberg://lake/fraud.{name}"


def delta_with_vectors(folder, rows):
    """Rows behind others that a vector deletes."""
    # The writer keeps the order of rows within a chunk, and takes chunks in any.
    both = pa.concat_tables([shuffled(rows), rows]).combine_chunks()
    address = delta_table(folder, both, files=1)
    if rows.num_rows:
        delete_by_vector(folder, list(range(rows.num_rows)))
    return address


@pytest.fixture
def written(request, tmp_path, monkeypatch):
    """Writes a table of a case."""
    if request.param == "delta":
        return lambda given: delta_with_vectors(tmp_path / given.role, given.arrow())
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    return lambda given: iceberg_with_deletes(catalog, given.role, given.arrow())


@pytest.mark.parametrize("written", ["delta", "iceberg"], indirect=True)
@pytest.mark.parametrize("name", [*cases(slow=False), *cases(slow=True)])
def test_a_case_counts_as_its_rows_do(written, name):
    case = CASES[name]
    plain = {role: table.arrow() for role, table in case.tables.items()}
    tables = {
        role: written(given) if role in case.in_engine else given.arrow()
        for role, given in case.tables.items()
    }
    found = outcome_of(case, tables, timeout=TIMEOUT)
    expected = outcome_of(case, plain, timeout=TIMEOUT)
    assert found.difference(expected) == ""


def test_the_rows_that_are_deleted_would_be_seen():
    case = CASES["ties at cell edges"]
    plain = {role: table.arrow() for role, table in case.tables.items()}
    made = shuffled(case.predictions.arrow())
    found = outcome_of(case, plain | {"predictions": made}, timeout=TIMEOUT)
    expected = outcome_of(case, plain, timeout=TIMEOUT)
    assert found.difference(expected)

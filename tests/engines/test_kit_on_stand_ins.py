"""The conformance kit on stand-ins for warehouses; `translated.py` says what they can show."""

from __future__ import annotations

import pytest

from pumonitor.conformance.cases import all_cases
from pumonitor.conformance.outcome import outcome_of
from pumonitor.conformance.verification import _in_terms_of
from pumonitor.sources.column_types.monitored_tables import SqlQuery
from pumonitor.sources.column_types.warehouses import WAREHOUSES
from tests.sources.translated import Translated

CASES = {case.name: case for case in all_cases()}
IN_PARTS = ("bigquery", "trino", "databricks")
"""Sessions without tables of their own: many labels are written into several statements."""
A_FEW = ("ties at cell edges", "text ids with labels elsewhere")
TIMEOUT = 120.0
NOT_SHOWN = {
    ("text with offsets", "databricks"): "DuckDB casts no text with a blank before its offset; "
    "Spark does, and this case agrees there",
}


def in_arrow(case):
    return {role: table.arrow() for role, table in case.tables.items()}


# That of Snowflake is fakesnow, in a file of its own.
@pytest.mark.parametrize("warehouse", sorted(set(WAREHOUSES) - {"snowflake"}))
@pytest.mark.parametrize(
    "name", [one if one in A_FEW else pytest.param(one, marks=pytest.mark.slow) for one in CASES]
)
def test_a_case_counts_as_in_the_embedded_engine(monkeypatch, warehouse, name):
    dialect = WAREHOUSES[warehouse]()
    case = _in_terms_of(dialect, CASES[name])
    tables = case.tables
    if why := "".join(one.not_held(dialect) for one in tables.values()):
        pytest.skip(why)
    if why := NOT_SHOWN.get((name, warehouse)):
        pytest.skip(why)
    monkeypatch.setattr(
        "pumonitor.sources.opening.open_engine", lambda *_, **__: Translated(warehouse, {})
    )
    places = {
        role: SqlQuery(url=f"{warehouse}://x", query=given.query(dialect))
        if role in case.in_engine
        else given.arrow()
        for role, given in tables.items()
    }
    found = outcome_of(case, places, timeout=TIMEOUT)
    expected = outcome_of(case, in_arrow(case), timeout=TIMEOUT)
    assert found.agrees_with(expected), found.difference(expected)


@pytest.mark.parametrize("warehouse", IN_PARTS)
@pytest.mark.parametrize(
    ("name", "parts"),
    # Each statement is translated anew, which takes longer than all else.
    [
        (A_FEW[1], 6),
        pytest.param(A_FEW[1], 50, marks=pytest.mark.slow),
        *(pytest.param(one, 5, marks=pytest.mark.slow) for one in CASES),
    ],
)
def test_labels_in_many_statements_count_as_in_one(monkeypatch, warehouse, name, parts):
    """All cases with their labels elsewhere, however few of them are in a part."""
    dialect = WAREHOUSES[warehouse]()
    case = _in_terms_of(dialect, CASES[name])
    if why := case.predictions.not_held(dialect):
        pytest.skip(why)
    if why := NOT_SHOWN.get((name, warehouse)):
        pytest.skip(why)
    engine = Translated(warehouse, {}, label_parts=parts)
    monkeypatch.setattr("pumonitor.sources.opening.open_engine", lambda *_, **__: engine)
    made = SqlQuery(url=f"{warehouse}://x", query=case.predictions.query(dialect))
    found = outcome_of(case, in_arrow(case) | {"predictions": made}, timeout=TIMEOUT)
    expected = outcome_of(case, in_arrow(case), timeout=TIMEOUT)
    assert found.agrees_with(expected), found.difference(expected)

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
A_FEW = ("ties at cell edges", "text ids with labels elsewhere")
TIMEOUT = 120.0
NOT_SHOWN = {
    ("text with offsets", "databricks"): "DuckDB casts no text with a blank before its offset; "
    "Spark does, and this case agrees there",
}


# That of Snowflake is fakesnow, in a file of its own.
@pytest.mark.parametrize("warehouse", sorted(set(WAREHOUSES) - {"snowflake"}))
@pytest.mark.parametrize(
    "name", [one if one in A_FEW else pytest.param(one, marks=pytest.mark.slow) for one in CASES]
)
def test_a_case_counts_as_in_the_embedded_engine(monkeypatch, warehouse, name):
    dialect = WAREHOUSES[warehouse]()
    case = _in_terms_of(dialect, CASES[name])
    tables = {one.role: one for one in (case.predictions, case.positives)}
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
    found = outcome_of(case, places["predictions"], places["positives"], timeout=TIMEOUT)
    expected = outcome_of(
        case, tables["predictions"].arrow(), tables["positives"].arrow(), timeout=TIMEOUT
    )
    assert found.agrees_with(expected), found.difference(expected)

import pytest, sys
from pumonitor.conformance import verify
from tests.sources.translated import WAREHOUSES, Translated

@pytest.mark.parametrize("name", ["trino", "redshift", "bigquery", "snowflake"])
def test_kit(name, monkeypatch):
    monkeypatch.setattr("pumonitor.conformance.verification.open_engine", lambda *a, **k: Translated(name, {}))
    monkeypatch.setattr("pumonitor.sources.opening.open_engine", lambda *a, **k: Translated(name, {}))
    def told(one): print(name, one.name, one.status, one.detail[:300], round(one.seconds,1), flush=True)
    found = verify(f"{name}://x", told=told)

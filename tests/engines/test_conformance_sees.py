"""The conformance kit sees each engine that is broken in one way, and shows few rows."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pumonitor.conformance import verification, verify
from pumonitor.sources.engines import clickhouse, registry
from tests.engines import mutants

SHOWN_BY_FEW_ROWS = {"case", "last_row", "toward_zero"}


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Mutants are an engine that another package adds."""
    monkeypatch.setattr(mutants.EngineKind, "open", _opened, raising=True)
    monkeypatch.setattr(
        registry, "_of_others", lambda: {"mutant": mutants.kind_of("tests.engines.mutants:open")}
    )


_PLAIN = mutants.EngineKind.open


def _opened(kind, url, *, timeout, as_of=None):
    if kind.name == "mutant":
        return mutants.open_mutant(url, timeout=timeout, as_of=as_of)
    return _PLAIN(kind, url, timeout=timeout, as_of=as_of)


@pytest.mark.parametrize("name", list(mutants.MUTANTS))
def test_a_mutant_is_seen(monkeypatch, name):
    mutant = mutants.MUTANTS[name]
    if name not in SHOWN_BY_FEW_ROWS:
        # Both engines are asked up to 60 times for it.
        monkeypatch.setattr(verification, "_TRIES", 0)
    found = verify(f"mutant://{name}", only=mutant.seen_by)
    assert [one.status for one in found.cases] == ["differs"]
    assert not found.is_verified
    assert found.cases[0].detail
    if name in SHOWN_BY_FEW_ROWS:
        assert len(found.cases[0].example.splitlines()) <= 7


def test_a_mutant_that_fails_is_no_difference_in_counts(monkeypatch):
    """The example of an engine whose SQL does not run is not searched row by row for another."""
    monkeypatch.setitem(
        mutants.MUTANTS,
        "broken",
        mutants.Mutant(rewritten=lambda sql: sql.replace("GROUP BY", "GROOP BY"), seen_by=""),
    )
    (found,) = verify("mutant://broken", only="the largest doubles").cases
    assert found.status == "differs"
    assert found.detail.startswith("failed: ")


@pytest.mark.skipif(find_spec("chdb") is None, reason="no chdb: pip install 'pumonitor[chdb]'")
@pytest.mark.parametrize(
    ("setting", "value", "only"),
    [
        ("join_use_nulls", 0, "no labels at all"),
        ("cast_keep_nullable", 0, "delays of labels"),
        # Not aggregate_functions_null_for_empty: all that is aggregated may be null already. The
        # whole kit without it, on 26.9.2, agrees as with it. It stays, for what may be written.
    ],
)
def test_a_setting_of_clickhouse_that_is_off_is_seen(monkeypatch, setting, value, only):
    monkeypatch.setitem(clickhouse.SETTINGS, setting, value)
    found = verify("chdb://", only=only)
    assert "differs" in [one.status for one in found.cases]

"""What read a window, in words, from what is stored with its counts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pumonitor.monitor.inspection.read_by import newest_counts, read_by_said
from pumonitor.monitor.inspection.reading_cost import past_readings


def test_a_lake_and_an_unverified_engine_are_named():
    versions = {
        "read_by": {"engine": "duckdb", "version": "2.0.0", "seconds": "75"},
        "predictions": {"table": "delta://lake", "version": "7", "id": "x"},
        "positives": {"table": "iceberg://c/n.t", "snapshot": "42"},
        "unverified_engine": {"name": "trino", "version": "481"},
    }
    assert read_by_said({"predictions": 1, "versions": versions}) == [
        ("Read by", "duckdb 2.0.0, in 1.2 minutes"),
        ("Predictions from", "delta://lake, version 7"),
        ("Labels from", "iceberg://c/n.t, snapshot 42"),
        ("Engine not verified", "trino 481: its counts may differ from DuckDB's"),
    ]


@pytest.mark.parametrize("counts", [None, {}, {"predictions": 3}, {"versions": {}}])
def test_of_earlier_releases_nothing_is_said(counts):
    assert read_by_said(counts) == []


def test_what_a_driver_tells_moves_no_terminal():
    told = {"engine": "x", "version": "1\x1b[31m", "query_ids": "a\nb"}
    assert read_by_said({"versions": {"read_by": told}}) == [
        ("Read by", r"x 1\x1b[31m"),
        ("Queries", r"a\nb"),
    ]


def window(key, *panes):
    told = tuple(
        SimpleNamespace(counts=None if one is None else {"versions": {"read_by": one}})
        for one in panes
    )
    return SimpleNamespace(window_key=key, panes=told)


def ledger(*records):
    return SimpleNamespace(windows_before=lambda *_, **__: (list(records), False))


def told(seconds, engine="bigquery", **more):
    return {"engine": engine, "version": "1", "seconds": str(seconds), **more}


def test_the_newest_counts_are_those_of_the_last_collected_pane():
    found = window("a", told(1), told(2), None)
    assert newest_counts(found)["versions"]["read_by"]["seconds"] == "2"
    assert newest_counts(window("a", None)) is None


def test_windows_that_were_counted_together_share_what_it_took():
    # Two panes of one claim are one reading; ten windows together took a tenth each.
    together = told(20, windows="10", bytes="1000")
    records = (
        window("new", told(3, engine="trino", bytes="300"), None),
        window("b", together, together),
        window("c", told(1, bytes="50")),
    )
    past = past_readings(ledger(*records), "fraud")
    assert (past.readings, past.engine, past.seconds, past.read) == (3, "trino", 2.0, 100.0)


def test_without_any_reading_there_is_nothing_to_go_by():
    assert past_readings(ledger(), "fraud") is None
    earlier = SimpleNamespace(window_key="a", panes=(SimpleNamespace(counts={"predictions": 1}),))
    assert past_readings(ledger(earlier), "fraud") is None

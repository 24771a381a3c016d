"""What read a window, in words: engine, seconds, bytes, queries, and versions of tables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.plain_text import one_line
from pumonitor.text import size_text, span_text

_TABLES: Final = {"predictions": "Predictions from", "positives": "Labels from"}


def newest_counts(record: WindowRecord) -> Mapping[str, Any] | None:
    """The counts of the newest pane that was collected; None without any."""
    return next((pane.counts for pane in reversed(record.panes) if pane.counts is not None), None)


def read_by_said(counts: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What is stored of reading a pane, under headings; nothing of panes of earlier releases.

    Parameters
    ----------
    counts : mapping or None
        Of the pane.

    Examples
    --------
    >>> told = {"engine": "bigquery", "version": "service", "seconds": "2.104", "bytes": "77000"}
    >>> read_by_said({"versions": {"read_by": {**told, "query_ids": "job_1"}}})
    [('Read by', 'bigquery service, in 2.1 seconds, 77 kB'), ('Queries', 'job_1')]
    """
    versions: Mapping[str, Mapping[str, str]] = (counts or {}).get("versions") or {}
    found = []
    if read_by := versions.get("read_by"):
        parts = [f"{read_by.get('engine', '')} {read_by.get('version', '')}".strip()]
        if "seconds" in read_by:
            parts.append(f"in {span_text(timedelta(seconds=float(read_by['seconds'])))}")
        if read_by.get("bytes"):
            parts.append(size_text(int(read_by["bytes"])))
        if "windows" in read_by:
            parts.append(f"{read_by['windows']} windows together")
        found.append(("Read by", ", ".join(parts)))
        if read_by.get("query_ids"):
            found.append(("Queries", read_by["query_ids"]))
    for role, heading in _TABLES.items():
        if table := versions.get(role):
            which = [f"{name} {table[name]}" for name in ("version", "snapshot") if name in table]
            found.append((heading, ", ".join([table.get("table", ""), *which])))
    if unverified := versions.get("unverified_engine"):
        said = f"{unverified['name']} {unverified['version']}: its counts may differ from DuckDB's"
        found.append(("Engine not verified", said))
    return [(heading, one_line(said)) for heading, said in found]
